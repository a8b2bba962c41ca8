// Weights that no longer change, and which class their scores mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "settings.h"

namespace markone {

// One weight vector serves two classes; more classes have one each, padded to whole registers.
inline std::size_t columns_of(std::size_t classes) {
    return classes <= 2 ? 1 : classes;
}
inline std::size_t stride_of(std::size_t classes) {
    return classes <= 2 ? 1 : (classes + 3) / 4 * 4;
}

template <class T>
struct weights {
    std::size_t features;
    std::size_t classes;
    table<T> w;           // features x stride
    std::vector<T> bias;  // stride

    weights(std::size_t features, std::size_t classes)
        : features(features), classes(classes), w(features * stride_of(classes)), bias(stride_of(classes)) {}

    // From a matrix without padding, features x columns.
    weights(const T* matrix, std::size_t features, const T* from_bias, std::size_t classes)
        : features(features), classes(classes), bias(stride_of(classes)) {
        std::copy_n(from_bias, columns(), bias.begin());
        if (stride() == columns()) {
            w.assign(matrix, matrix + features * columns());
            return;
        }
        w.resize(features * stride());
        for (std::size_t i = 0; i < features; ++i)
            std::copy_n(matrix + i * columns(), columns(), w.data() + i * stride());
    }

    std::size_t columns() const { return columns_of(classes); }
    std::size_t stride() const { return stride_of(classes); }
};

// The class of highest score; `ties` picks among equals. A single score is for the second class when positive.
template <class T>
std::int64_t winner(const T* scores, std::size_t columns, tie ties) {
    const auto beats = [&](T one, T other) { return ties == tie::positive ? one >= other : one > other; };
    if (columns == 1) return beats(scores[0], 0);
    std::size_t best = 0;
    for (std::size_t k = 1; k < columns; ++k)
        if (beats(scores[k], scores[best])) best = k;
    return static_cast<std::int64_t>(best);
}

}  // namespace markone

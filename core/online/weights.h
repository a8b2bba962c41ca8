// Weights that no longer change, and which class their scores mean.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "online/settings.h"

namespace markone {

// One weight vector serves two classes; more classes have one each, padded to whole registers.
inline std::size_t columns_of(std::size_t classes) {
    return classes <= 2 ? 1 : classes;
}
inline std::size_t stride_for(std::size_t columns) {
    return columns == 1 ? 1 : (columns + 3) / 4 * 4;
}
inline std::size_t stride_of(std::size_t classes) {
    return stride_for(columns_of(classes));
}

template <class T>
struct weights {
    std::size_t features;
    std::size_t classes;
    std::size_t vectors;  // one for two classes, unless each class is a label that a row may have or not
    table<T> w;           // features x stride, or nothing where they are kept elsewhere
    std::vector<T> bias;  // stride
    std::shared_ptr<const T> kept;

    weights(std::size_t features, std::size_t classes)
        : features(features),
          classes(classes),
          vectors(columns_of(classes)),
          w(features * stride_of(classes)),
          bias(stride_of(classes)) {}

    // From a matrix of features x columns, which is kept as it is unless its rows need padding.
    weights(std::shared_ptr<const T> matrix, std::size_t features, std::span<const T> from_bias, std::size_t classes)
        : features(features), classes(classes), vectors(from_bias.size()), bias(from_bias.begin(), from_bias.end()) {
        bias.resize(stride());
        if (vectors == 1) {
            kept = std::move(matrix);
            return;
        }
        w.resize(features * stride());
        for (std::size_t i = 0; i < features; ++i)
            std::copy_n(matrix.get() + i * columns(), columns(), w.data() + i * stride());
    }

    const T* data() const { return kept ? kept.get() : w.data(); }
    std::size_t columns() const { return vectors; }
    std::size_t stride() const { return stride_for(vectors); }
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

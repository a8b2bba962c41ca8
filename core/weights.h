// Weights that no longer change.
#pragma once

#include <cstddef>
#include <vector>

#include "memory.h"

namespace markone {

// What a score of 0, or two equal best scores, means: the first class, the last class, or (while learning) a mistake
// whatever the label, and the first class when an answer is needed.
enum class tie { negative, error, positive };

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

    std::size_t columns() const { return columns_of(classes); }
    std::size_t stride() const { return stride_of(classes); }
};

}  // namespace markone

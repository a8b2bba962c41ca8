// Checks of a saved state, which is not trusted. The whole state is checked before any of it is used, so that a learner
// is never partly restored. Values that become places in memory are checked in a private copy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "python/numpy.h"

namespace markone {

inline void need(bool holds, const char* problem) {
    if (!holds) throw std::invalid_argument(problem);
}

// An array of a state with exactly this type and number of dimensions.
template <class T, std::size_t dimensions>
array<T, dimensions> array_of(const nb::dict& state, const char* name) {
    array<T, dimensions> found;
    need(state.contains(name) && nb::try_cast(state[name], found, false),
         "an array of the state is missing, or of another type");
    return found;
}

// A private copy of an array of a state.
template <class T>
std::vector<T> copied(const nb::dict& state, const char* name) {
    const auto from = array_of<T, 1>(state, name);
    return {from.data(), from.data() + from.size()};
}

template <class Array>
auto entries_of(const Array& from) {
    return std::span(from.data(), from.size());
}

template <class Numbers>
void need_finite(const Numbers& numbers) {
    need(std::ranges::all_of(numbers, [](auto number) { return std::isfinite(number); }),
         "the state contains NaN or infinity");
}

template <class Numbers>
void need_no_negative(const Numbers& numbers) {
    need(std::ranges::all_of(numbers, [](auto number) { return number >= 0; }),
         "the state contains negative numbers where there can be none");
}

}  // namespace markone

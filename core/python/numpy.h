// Arrays between Python and the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "rows/row_builder.h"

namespace markone {

namespace nb = nanobind;

template <class T, std::size_t dimensions>
using array = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <class T, std::size_t dimensions>
using changeable = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <class T>
using numpy = nb::ndarray<nb::numpy, T>;

template <class T>
std::span<const T> view(const array<T, 1>& from) {
    return {from.data(), from.size()};
}

// An array that owns the memory of a vector.
template <class T>
numpy<T> own(std::unique_ptr<T[]> memory, std::initializer_list<std::size_t> shape) {
    T* data = memory.release();
    return numpy<T>(data, shape, nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}
template <class T>
numpy<T> own(std::vector<T>&& numbers) {
    auto* kept = new std::vector<T>(std::move(numbers));
    return numpy<T>(kept->data(), {kept->size()},
                    nb::capsule(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); }));
}

// Rows as three arrays: where each starts, features, values.
using row_arrays = std::tuple<numpy<std::int64_t>, numpy<std::uint32_t>, numpy<float>>;
inline row_arrays own(growing_rows&& rows) {
    return {own(std::move(rows.indptr)), own(std::move(rows.indices)), own(std::move(rows.values))};
}

}  // namespace markone

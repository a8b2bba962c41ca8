// Arrays between Python and the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "rows/row_builder.h"

namespace markone {

namespace nb = nanobind;

// Numbers that are only read. An array that another process has sent, or that is a view of bytes, may begin at any
// address; the core then gets a copy of it, because it reads numbers only where their type allows.
template <class T, std::size_t dimensions>
class array : public nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu> {
  public:
    using as_given = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
    array() = default;
    explicit array(as_given&& from) : as_given(std::move(from)) {}
};
template <class T>
bool is_aligned(const T* at) {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0;
}
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

namespace nanobind::detail {

template <class T, std::size_t dimensions>
struct type_caster<markone::array<T, dimensions>> {
    using Value = markone::array<T, dimensions>;
    using as_given = make_caster<typename Value::as_given>;
    template <class>
    using Cast = Value;
    static constexpr auto Name = as_given::Name;

    as_given caster;

    bool from_python(handle from, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!caster.from_python(from, flags, cleanup)) return false;
        if (markone::is_aligned(caster.value.data())) return true;
        const object copy = steal(PyObject_CallMethod(from.ptr(), "copy", nullptr));
        if (!copy.is_valid()) PyErr_Clear();
        return copy.is_valid() && caster.from_python(copy, flags, cleanup) && markone::is_aligned(caster.value.data());
    }
    template <class>
    bool can_cast() const {
        return true;
    }
    explicit operator Value() { return Value(std::move(caster.value)); }
};

}  // namespace nanobind::detail

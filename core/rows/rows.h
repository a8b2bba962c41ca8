// Examples as rows of numbers, in arrays that others own: one row, sparse or dense, and blocks of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "base/portable.h"

namespace markone {

// Prefetches the cache lines of an array, but of a long one only the first: the hardware then sees where it goes on.
template <class Number>
MARKONE_INLINE void prefetch_lines(const Number* first, std::size_t count) {
    constexpr std::size_t line = 64, most = 128 * line;
    if (count == 0) return;  // the pointer of an empty array may be null
    const char* const begin = reinterpret_cast<const char*>(first);
    const char* const end = begin + std::min(count * sizeof(Number), most);
    prefetch(begin);
    prefetch(end - 1);
    for (const char* at = begin + line; at < end; at += line) prefetch(at);
}

// Values are of type T, but may be stored as another type that represents them exactly: whole numbers as bytes.
template <class T, class Stored = T>
struct sparse_row {
    using scalar = T;

    const std::uint32_t* index;
    const Stored* values;
    std::size_t count;

    MARKONE_INLINE std::size_t size() const { return count; }
    MARKONE_INLINE std::size_t feature(std::size_t i) const { return index[i]; }
    MARKONE_INLINE T value(std::size_t i) const { return static_cast<T>(values[i]); }
    MARKONE_INLINE void prefetch() const {
        prefetch_lines(index, count);
        prefetch_lines(values, count);
    }
};

template <class T>
struct dense_row {
    using scalar = T;

    const T* values;
    std::size_t count;

    MARKONE_INLINE std::size_t size() const { return count; }
    MARKONE_INLINE std::size_t feature(std::size_t i) const { return i; }
    MARKONE_INLINE T value(std::size_t i) const { return values[i]; }
    MARKONE_INLINE void prefetch() const { prefetch_lines(values, count); }
};

// A CSR matrix: row i has indptr[i+1] - indptr[i] features, and all features' numbers are less than `columns`.
template <class T, class Stored = T>
struct sparse_rows {
    std::span<const std::int64_t> indptr;
    std::span<const std::uint32_t> indices;
    std::span<const Stored> values;
    std::size_t columns;

    std::size_t size() const { return indptr.size() - 1; }
    std::size_t width() const { return columns; }
    std::size_t stored() const { return static_cast<std::size_t>(indptr.back() - indptr.front()); }
    MARKONE_INLINE sparse_row<T, Stored> operator[](std::size_t i) const {
        const auto begin = static_cast<std::size_t>(indptr[i]), end = static_cast<std::size_t>(indptr[i + 1]);
        return {indices.data() + begin, values.data() + begin, end - begin};
    }
    MARKONE_INLINE void prefetch_place(std::size_t i) const { prefetch(indptr.data() + i); }
};

// Rows of whole numbers from 0 to 255, such as counts of words: a byte each instead of four or eight.
template <class T>
using counted_rows = sparse_rows<T, std::uint8_t>;

template <class T>
struct dense_rows {
    const T* values;
    std::size_t count;
    std::size_t columns;

    std::size_t size() const { return count; }
    std::size_t width() const { return columns; }
    std::size_t stored() const { return count * columns; }
    MARKONE_INLINE dense_row<T> operator[](std::size_t i) const { return {values + i * columns, columns}; }
    MARKONE_INLINE void prefetch_place(std::size_t) const {}  // is computed
};

// The smallest and the largest of the stored values of rows, and 0.
template <class T>
struct value_range {
    T least = 0, most = 0;
};

// Checks that no row reaches outside its indices, and no index beyond the width.
template <class T>
MARKONE_INLINE void check_places(const sparse_rows<T>& rows) {
    if (rows.indptr.empty()) throw std::invalid_argument("the arrays of a sparse matrix do not match");
    std::int64_t before = 0;
    for (const std::int64_t at : rows.indptr) {
        if (at < before) throw std::invalid_argument("the row starts of a sparse matrix are not in order");
        before = at;
    }
    if (static_cast<std::size_t>(before) > rows.indices.size())
        throw std::invalid_argument("a sparse matrix ends after its values");
    const auto first = static_cast<std::size_t>(rows.indptr.front());
    std::uint32_t highest = 0;
    for (const std::uint32_t index : rows.indices.subspan(first, rows.stored())) highest = std::max(highest, index);
    if (rows.stored() > 0 && highest >= rows.columns) throw std::out_of_range("a feature's number is beyond the width");
}

}  // namespace markone

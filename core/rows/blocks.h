// Rows in arrays of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/memory.h"
#include "online/loops.h"
#include "python/numpy.h"

namespace markone {

// The values of a block once more, as bytes, if all of them are whole numbers from 0 to 255. Learning reads them
// instead, because passes over many rows are as fast as memory is read. Results do not change, because the numbers are
// the same. Threads may share a block, and the first one that asks makes the bytes.
template <class T>
class counted_values {
  public:
    // How many bytes may be read beyond the last value.
    static constexpr std::size_t padding = 8;

    // Makes the bytes, unless somebody has tried before, and returns whether there are any.
    bool make(const sparse_rows<T>& rows) {
        std::call_once(tried, [&] {
            bytes.resize(rows.values.size() + padding);
            if (!write_counts(rows.values, bytes.data())) table<std::uint8_t>().swap(bytes);
            made.store(!bytes.empty(), std::memory_order_release);
        });
        return made.load(std::memory_order_acquire);
    }
    std::optional<counted_rows<T>> rows(const sparse_rows<T>& rows) const {
        if (!made.load(std::memory_order_acquire)) return {};
        return counted_rows<T>{rows.indptr, rows.indices, {bytes.data(), rows.values.size()}, rows.columns};
    }

  private:
    std::once_flag tried;
    std::atomic<bool> made = false;
    table<std::uint8_t> bytes;
};

// Blocks keep their arrays alive, and read only checked arrays. Row starts and feature numbers are places in memory,
// and must not change after their check. Arrays of SciPy, with signed numbers of 32 or 64 bits, belong to the user, who
// may change them in another thread, so a block copies them. Our own arrays, with row starts of 64 bits and unsigned
// feature numbers of 32 bits, belong to nobody else, and are read in place. Values are always read in place, because no
// place in memory depends on them.
template <class T>
struct sparse_block {
    std::shared_ptr<void> kept;
    array<T, 1> values;
    table<std::int64_t> starts;
    table<std::uint32_t> numbers;
    sparse_rows<T> rows;
    value_range<T> range;
    mutable counted_values<T> counted;

    // Whether some row names a feature twice: looked up once, because the numbers do not change.
    bool names_twice() const {
        std::call_once(looked, [&] { twice = markone::names_twice(rows); });
        return twice;
    }

    template <class Start, class Index>
    sparse_block(array<Start, 1> indptr, array<Index, 1> indices, array<T, 1> values, std::size_t width)
        : kept(std::make_shared<std::pair<array<Start, 1>, array<Index, 1>>>(indptr, indices)), values(values) {
        rows.values = view(values);
        rows.columns = width;
        nb::gil_scoped_release unlocked;
        if constexpr (std::is_unsigned_v<Index>) {
            rows.indptr = view(indptr);
            rows.indices = view(indices);
        } else {
            starts.assign(indptr.data(), indptr.data() + indptr.size());
            rows.indptr = starts;
            copy_numbers(indices, width);
            rows.indices = numbers;
        }
        check(rows, &range);
    }

  private:
    mutable std::once_flag looked;
    mutable bool twice = false;

    // A negative number becomes a huge one, which is rejected.
    void copy_numbers(const array<std::int32_t, 1>& indices, std::size_t) {
        const auto* const first = reinterpret_cast<const std::uint32_t*>(indices.data());
        numbers.assign(first, first + indices.size());
    }
    void copy_numbers(const array<std::int64_t, 1>& indices, std::size_t width) {
        numbers.reserve(indices.size());
        for (const std::int64_t& from : view(indices)) {
            const auto number = static_cast<std::uint64_t>(read_once(from));
            if (number >= width) throw std::out_of_range("a feature's number is beyond the width");
            numbers.push_back(static_cast<std::uint32_t>(number));
        }
    }
};
template <class T>
struct dense_block {
    array<T, 2> values;
    dense_rows<T> rows;
    value_range<T> range;
    explicit dense_block(array<T, 2> values) : values(values), rows{values.data(), values.shape(0), values.shape(1)} {
        nb::gil_scoped_release unlocked;
        check(rows, &range);
    }
};

}  // namespace markone

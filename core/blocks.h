// Rows as Python holds them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "loops.h"
#include "numpy.h"

namespace markone {

// Blocks keep the arrays that they look at alive, and look at none that was not checked. Row starts and feature numbers
// come as SciPy has them, in 32 or 64 bits, signed; what is not as the loops want it is copied.
template <class T>
struct sparse_block {
    std::shared_ptr<void> kept;
    array<T, 1> values;
    std::vector<std::int64_t> starts;
    std::vector<std::uint32_t> numbers;
    sparse_rows<T> rows;

    template <class Start, class Index>
    sparse_block(array<Start, 1> indptr, array<Index, 1> indices, array<T, 1> values, std::size_t width)
        : kept(std::make_shared<std::pair<array<Start, 1>, array<Index, 1>>>(indptr, indices)), values(values) {
        rows.values = view(values);
        rows.columns = width;
        nb::gil_scoped_release unlocked;
        if constexpr (sizeof(Start) == 8) {
            rows.indptr = view(indptr);
        } else {
            starts.assign(indptr.data(), indptr.data() + indptr.size());
            rows.indptr = starts;
        }
        if constexpr (sizeof(Index) == 4) {
            // A negative number becomes a huge one, and is refused with it.
            rows.indices = {reinterpret_cast<const std::uint32_t*>(indices.data()), indices.size()};
        } else {
            numbers.reserve(indices.size());
            for (const Index number : view(indices)) {
                if (number < 0 || static_cast<std::size_t>(number) >= width)
                    throw std::out_of_range("a feature's number is beyond the width");
                numbers.push_back(static_cast<std::uint32_t>(number));
            }
            rows.indices = numbers;
        }
        check(rows);
    }
};
template <class T>
struct dense_block {
    array<T, 2> values;
    dense_rows<T> rows;
    explicit dense_block(array<T, 2> values) : values(values), rows{values.data(), values.shape(0), values.shape(1)} {
        nb::gil_scoped_release unlocked;
        check(rows);
    }
};

}  // namespace markone

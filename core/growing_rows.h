// Rows as they are made: a block's arrays, growing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace markone {

struct growing_rows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::uint32_t> indices;
    std::vector<float> values;

    void add(std::uint32_t index, float value) {
        indices.push_back(index);
        values.push_back(value);
    }
    void end_row() { indptr.push_back(static_cast<std::int64_t>(indices.size())); }
};

// Adds to a row what may be in it already: a small table of where each feature of the row is.
class row_counter {
  public:
    // `most` is how often `add` may be called until the next row.
    void begin_row(std::size_t most, const growing_rows& rows) {
        begin = rows.indices.size();
        if (places.size() < 2 * most || ++row == 0) {
            std::size_t size = 64;
            while (size < 2 * most) size *= 2;
            places.assign(std::max(size, places.size()), {});
            row = 1;
        }
    }

    void add(std::uint32_t index, float value, growing_rows& rows) {
        const std::size_t mask = places.size() - 1;
        std::size_t at = (index * std::size_t{0x9e3779b97f4a7c15} >> 32) & mask;
        for (; places[at].row == row; at = (at + 1) & mask) {
            const std::size_t there = begin + places[at].offset;
            if (rows.indices[there] == index) {
                rows.values[there] += value;
                return;
            }
        }
        places[at] = {row, static_cast<std::uint32_t>(rows.indices.size() - begin)};
        rows.add(index, value);
    }

  private:
    struct place {
        std::uint32_t row = 0, offset = 0;
    };

    std::vector<place> places;
    std::uint32_t row = 0;  // what is marked otherwise is empty
    std::size_t begin = 0;
};

}  // namespace markone

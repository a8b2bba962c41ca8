// Rows while they are built: the growing arrays of a block; and the values that counts become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/logarithm.h"
#include "base/portable.h"

namespace markone {

struct growing_rows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::uint32_t> indices;
    std::vector<float> values;

    void add(std::uint32_t index, float value) {
        indices.push_back(index);
        values.push_back(value);
    }
    // Reserves room for values and rows. Unused room is never touched.
    void reserve(std::size_t count, std::size_t rows) {
        indptr.reserve(rows + 1);
        indices.reserve(count);
        values.reserve(count);
    }
    void end_row() { indptr.push_back(static_cast<std::int64_t>(indices.size())); }
};

// Counts features in a row. It notes the last position of each feature, which shows whether it is already in this row.
class row_counter {
  public:
    void begin_row(std::size_t features, const growing_rows& rows) {
        if (notes.size() < features) notes.resize(features);
        begin = rows.indices.size();
    }

    // Prefetches the feature's note, if there is one.
    void expect(std::uint32_t index) const {
        if (index < notes.size()) prefetch(notes.data() + index);
    }

    // Counts one more occurrence.
    void count(std::uint32_t index, growing_rows& rows) { count_at(notes[index], index, begin, rows); }

    // The same with a note that the caller stores, for a row that starts at `begin`.
    static void count_at(std::uint32_t& note, std::uint32_t index, std::size_t begin, growing_rows& rows) {
        if (note >= begin && note < rows.indices.size() && rows.indices[note] == index) {
            rows.values[note] += 1;
            return;
        }
        note = static_cast<std::uint32_t>(rows.indices.size());
        rows.add(index, 1);
    }

  private:
    std::vector<std::uint32_t> notes;  // by feature; notes of earlier rows are harmless
    std::size_t begin = 0;
};

enum class counted_as : std::uint8_t { count, binary, log };

// The value that a count becomes.
struct valuation {
    counted_as value = counted_as::count;
    std::span<const float> weights;  // by feature; empty if all are 1

    float operator()(std::uint32_t feature, float count) const {
        const float plain = value == counted_as::count    ? count
                            : value == counted_as::binary ? 1.0f
                                                          : static_cast<float>(logarithm_of_one_and(count));
        return weights.empty() ? plain : plain * weights[feature];
    }
    bool changes() const { return value != counted_as::count || !weights.empty(); }
};

}  // namespace markone

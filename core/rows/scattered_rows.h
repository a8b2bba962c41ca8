// Weights in training, in sparse rows that are found by keys: a feature of a tagger
// has weights for three or four of fifty tags.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/portable.h"
#include "rows/keyed_rows.h"

namespace markone {

// A weight with its sum for averaging: after step T the average of all weights is w - u / T, where u is the sum of
// each change times the number of steps before it.
class scattered_rows {
  public:
    struct entry {
        float w;
        std::uint32_t column;
    };

    std::size_t size() const { return numbers.size(); }
    std::span<const std::uint64_t> keys() const { return numbers.keys(); }
    std::uint32_t find(std::uint64_t key) const { return numbers.find(key); }

    // The weights of a row in the order in which they first changed, with their sums for averaging.
    std::span<const entry> weights(std::uint32_t row) const {
        return std::span<const entry>(entries).subspan(rows[row].begin, rows[row].size);
    }
    std::span<const double> sums(std::uint32_t row) const {
        return std::span<const double>(u).subspan(rows[row].begin, rows[row].size);
    }

    void add(std::uint32_t row, float* scores) const { add(extent_of(row), scores); }

    // The same in steps, each of which prefetches the memory for the next one.
    struct extent {
        std::uint32_t begin = 0;
        std::uint16_t size = 0, room = 0;
    };
    void expect(std::uint32_t row) const { prefetch(&rows[row]); }
    extent extent_of(std::uint32_t row) const {
        prefetch(entries.data() + rows[row].begin);
        return rows[row];
    }
    void add(extent where, float* scores) const {
        const entry* const end = entries.data() + where.begin + where.size;
        for (const entry* one = entries.data() + where.begin; one != end; ++one) scores[one->column] += one->w;
    }

    // The row of a key; a new row is empty. Callers can prefetch its place first.
    void expect_key(std::uint64_t key) const { numbers.expect(key); }
    std::uint32_t row_of(std::uint64_t key) {
        const std::uint32_t row = numbers.find_or_add(key);
        if (row == rows.size()) rows.push_back({});
        return row;
    }
    void reserve(std::size_t keys) {
        numbers.reserve(keys);
        rows.reserve(keys);
    }
    void expect_sums(std::uint32_t row) const { prefetch(u.data() + rows[row].begin); }
    void move(std::uint32_t row, std::uint32_t column, float amount, double steps_before) {
        const std::size_t at = place(row, column);
        entries[at].w += amount;
        u[at] += double{amount} * steps_before;
    }
    // The weight of a column, which is 0 if it has never changed.
    float weight(std::uint32_t row, std::uint32_t column) const {
        for (const entry& one : weights(row))
            if (one.column == column) return one.w;
        return 0;
    }
    // Moves a weight to the mean of partitions, which have done some of all `steps`; `met` is their part of the sum of
    // all weights that were met, as far as it is not the sum of the weight before.
    void mix(std::uint32_t row, std::uint32_t column, float after, double met, double steps) {
        const std::size_t at = place(row, column);
        u[at] += steps * (double{after} - double{entries[at].w}) - met;
        entries[at].w = after;
    }
    void forget_sums() { std::fill(u.begin(), u.end(), 0.0); }
    // Restores a saved state.
    void put(std::uint32_t row, std::uint32_t column, float weight, double sum) {
        put_at(row, place(row, column) - rows[row].begin, weight, sum);
    }
    // The same for a weight that is there, by its position in the row.
    void put_at(std::uint32_t row, std::size_t position, float weight, double sum) {
        const std::size_t at = rows[row].begin + position;
        entries[at].w = weight;
        u[at] = sum;
    }

  private:
    static constexpr std::uint16_t first_room = 2;  // for the right and the wrong tag of its first mistake; there are
                                                    // far fewer columns than the type allows

    void make_room(std::size_t count) {
        check_numbers(entries.size() + count, "too many weights");
        entries.resize(entries.size() + count);
        u.resize(entries.size());
    }
    std::size_t place(std::uint32_t row, std::uint32_t column) {
        extent& where = rows[row];
        for (std::size_t at = where.begin; at < std::size_t{where.begin} + where.size; ++at)
            if (entries[at].column == column) return at;
        if (where.size == where.room) {  // it moves to a larger room
            const auto to = static_cast<std::uint32_t>(entries.size());
            const auto room = where.room == 0 ? first_room : static_cast<std::uint16_t>(2 * where.room);
            make_room(room);
            std::copy_n(entries.begin() + where.begin, where.size, entries.begin() + to);
            std::copy_n(u.begin() + where.begin, where.size, u.begin() + to);
            where = {to, where.size, room};
        }
        const std::size_t at = std::size_t{where.begin} + where.size++;
        entries[at] = {0, column};
        u[at] = 0;
        return at;
    }

    row_numbers numbers;
    table<extent> rows;
    table<entry> entries;
    table<double> u;
};

}  // namespace markone

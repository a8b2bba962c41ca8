// Rows as many runs read them at once (replica_simd.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "rows/rows.h"

namespace markone {

// Eight entries of a row: of floats, a line of the cache.
template <class T>
struct eight {
    std::uint32_t feature[8] = {};
    T value[8] = {};
};
template <class T>
using panel = std::span<const eight<T>>;

// Rows in panels: dense ones without their zeros, which add nothing, and with new numbers for the features. The
// commonest come first, so that most of what is read stays near, and those that one row alone has stand side by side.
//
// Each entry goes to the partial sum that a learner would add it to: in a panel, sum i takes the i-th of each eight. A
// row has one panel, or four of them for 32 sums. For several weight vectors there are two sums: of the even entries
// and of the odd ones. Gaps are filled with feature 0, which no row has.
template <class T>
class panels {
  public:
    template <class Rows>
    panels(const Rows& rows, std::size_t columns) : sums(partial_sums(rows, columns)) {
        number_features(rows);
        starts.reserve(rows.size() * per_row() + 1);
        starts.push_back(0);
        std::vector<std::vector<std::size_t>> entries(sums);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (auto& of_sum : entries) of_sum.clear();
            const auto x = rows[i];
            std::size_t position = 0;
            for (std::size_t j = 0; j < x.size(); ++j) {
                if (is_entry(x, j)) entries[position % sums].push_back(j);
                position += is_entry(x, j) || columns == 1;
            }
            for (std::size_t first = 0; first < sums; first += 8) add(x, entries, first);
        }
    }

    std::vector<std::uint32_t> old;  // the feature's old number, by its new one; feature 0 has none
    std::size_t sums;                // partial sums: 8 or 32, or 2

    std::size_t features() const { return old.size(); }
    std::size_t per_row() const { return sums <= 8 ? 1 : sums / 8; }
    std::uint32_t number(std::size_t old_number) const { return numbers[old_number]; }
    MARKONE_INLINE panel<T> of(std::size_t row, std::size_t number) const {
        const std::size_t at = row * per_row() + number;
        return {eights.data() + starts[at], starts[at + 1] - starts[at]};
    }
    // All panels of a row, as if they were one.
    MARKONE_INLINE panel<T> of(std::size_t row) const {
        const std::size_t begin = starts[row * per_row()], end = starts[(row + 1) * per_row()];
        return {eights.data() + begin, end - begin};
    }
    // Calls use(feature, value) for the entries of a row.
    template <class Use>
    void each(std::size_t row, Use use) const {
        for (const eight<T>& some : of(row))
            for (std::size_t i = 0; i < 8; ++i)
                if (some.feature[i] != 0) use(some.feature[i], some.value[i]);
    }

  private:
    static std::size_t partial_sums(const sparse_rows<T>&, std::size_t columns) { return columns > 1 ? 2 : 8; }
    static std::size_t partial_sums(const dense_rows<T>& rows, std::size_t columns) {
        return columns > 1 ? 2 : rows.width() < 64 ? 8 : 32;
    }
    // A sparse row keeps its zeros, and with them the order of features that it names twice.
    static bool is_entry(sparse_row<T>, std::size_t) { return true; }
    static bool is_entry(dense_row<T> x, std::size_t j) { return x.value(j) != 0; }

    template <class Rows>
    void number_features(const Rows& rows) {
        struct use {
            std::uint32_t feature, times;
        };
        numbers.resize(rows.width());
        std::vector<use> uses;  // in the order in which they are first met
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto x = rows[i];
            for (std::size_t j = 0; j < x.size(); ++j) {
                if (!is_entry(x, j)) continue;
                std::uint32_t& number = numbers[x.feature(j)];
                if (number == 0) {
                    uses.push_back({static_cast<std::uint32_t>(x.feature(j)), 0});
                    number = static_cast<std::uint32_t>(uses.size());
                }
                uses[number - 1].times += 1;
            }
        }
        std::ranges::stable_sort(uses, std::ranges::greater(), &use::times);
        old.push_back(0);
        for (const use& one : uses) {
            numbers[one.feature] = static_cast<std::uint32_t>(old.size());
            old.push_back(one.feature);
        }
    }

    template <class Row>
    void add(Row x, const std::vector<std::vector<std::size_t>>& entries, std::size_t first) {
        const std::size_t last = std::min(first + 8, sums);
        std::size_t longest = 0, place = 0;
        for (std::size_t i = first; i < last; ++i) longest = std::max(longest, entries[i].size());
        for (std::size_t step = 0; step < longest; ++step)
            for (std::size_t i = first; i < last; ++i, ++place) {
                if (place % 8 == 0) eights.emplace_back();
                if (step >= entries[i].size()) continue;
                eights.back().feature[place % 8] = numbers[x.feature(entries[i][step])];
                eights.back().value[place % 8] = x.value(entries[i][step]);
            }
        starts.push_back(eights.size());
    }

    std::vector<std::uint32_t> numbers;  // by the old number; 0 for a feature that no row has
    std::vector<std::size_t> starts;
    table<eight<T>> eights;
};

}  // namespace markone

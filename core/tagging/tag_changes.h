// What partitions of a tagger's training change in a pass, and how that is added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace markone {

// The place where a row first occurred, from which its name can be computed.
struct row_origin {
    std::uint32_t sentence = 0, token = 0, pattern = 0, tag1 = 0, tag2 = 0;
};

// What a partition has changed in a pass (online/mixing.h): for each weight, how far it has moved, and what that adds
// to the sum of all weights that were met. The order depends on the changes alone: first the features of tokens by
// their numbers, which stand for their keys, then those with previous tags by their keys, and columns in ascending
// order. The moves are multiplied by the partition's share.
struct tag_changes {
    std::vector<std::uint64_t> keys;
    std::vector<row_origin> origins;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::uint32_t> columns;
    std::vector<float> before;  // the weights from which they have moved
    std::vector<double> moved, met;
    double steps = 0;
    std::size_t local = 0;  // how many rows are features of tokens

    // The weight that is mixed with all changes.
    float after(std::size_t at) const { return static_cast<float>(double{before[at]} + moved[at]); }
};

// The changes of two sets of partitions together.
inline tag_changes merge(const tag_changes& a, const tag_changes& b) {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    tag_changes both;
    both.steps = a.steps + b.steps;
    const auto add_column = [&](std::uint32_t column, float before, double moved, double met) {
        both.columns.push_back(column);
        both.before.push_back(before);
        both.moved.push_back(moved);
        both.met.push_back(met);
    };
    const auto end_row = [&](const tag_changes& of, std::size_t row) {
        both.keys.push_back(of.keys[row]);
        both.origins.push_back(of.origins[row]);
        both.indptr.push_back(static_cast<std::int64_t>(both.columns.size()));
    };
    const auto copy_row = [&](const tag_changes& of, std::size_t row) {
        for (auto at = static_cast<std::size_t>(of.indptr[row]); at < static_cast<std::size_t>(of.indptr[row + 1]);
             ++at)
            add_column(of.columns[at], of.before[at], of.moved[at], of.met[at]);
        end_row(of, row);
    };
    const auto add_rows = [&](std::size_t i, std::size_t j) {
        auto at = static_cast<std::size_t>(a.indptr[i]), other = static_cast<std::size_t>(b.indptr[j]);
        const auto end = static_cast<std::size_t>(a.indptr[i + 1]),
                   end_of_other = static_cast<std::size_t>(b.indptr[j + 1]);
        while (at < end || other < end_of_other) {
            const std::uint32_t of_a = at < end ? a.columns[at] : none,
                                of_b = other < end_of_other ? b.columns[other] : none;
            const bool in_a = of_a <= of_b, in_b = of_b <= of_a;
            add_column(in_a ? of_a : of_b, in_a ? a.before[at] : b.before[other],
                       (in_a ? a.moved[at] : 0) + (in_b ? b.moved[other] : 0),
                       (in_a ? a.met[at] : 0) + (in_b ? b.met[other] : 0));
            at += in_a;
            other += in_b;
        }
        end_row(a, i);
    };
    const auto add_range = [&](std::size_t i, std::size_t end_i, std::size_t j, std::size_t end_j) {
        while (i < end_i || j < end_j) {
            if (j == end_j || (i < end_i && a.keys[i] < b.keys[j]))
                copy_row(a, i++);
            else if (i == end_i || b.keys[j] < a.keys[i])
                copy_row(b, j++);
            else
                add_rows(i++, j++);
        }
    };
    add_range(0, a.local, 0, b.local);
    both.local = both.keys.size();
    add_range(a.local, a.keys.size(), b.local, b.keys.size());
    return both;
}

}  // namespace markone

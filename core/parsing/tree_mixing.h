// Iterative parameter mixing of a parser's weights (online/mixing.h): what partitions have changed in a pass, and the
// mean of it. All partitions count alike.
//
// A partition starts as a copy of the base, with sums and steps of 0. Whatever it changes at a feature, the d and the r
// are known by the place that the feature has in the base, or by the key of a feature that the base does not have. So
// mixing needs no search for the first kind, and the features of the second kind are added in the order of the
// partitions. The features have the same places in the base for any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace markone {

template <class Number, class Sum, std::size_t count>
struct part_changes {
    struct change {
        std::uint64_t where;  // a place of the base, or a key
        std::array<Number, count> moved;
        std::array<Sum, count> sums;
        std::uint16_t label;
    };
    std::vector<change> known, added;

    // Adds a change of weights with the sums u after so many steps, unless nothing has changed.
    void add(bool is_known, std::uint64_t where, std::array<Number, count> moved, std::array<Sum, count> u,
             std::int64_t steps, std::uint16_t label = 0) {
        constexpr std::array<Number, count> nothing{};
        if (moved == nothing && u == std::array<Sum, count>{}) return;
        change one{where, moved, {}, label};
        for (std::size_t i = 0; i < count; ++i)
            one.sums[i] = static_cast<Sum>(moved[i]) * static_cast<Sum>(steps) - u[i];
        (is_known ? known : added).push_back(one);
    }
};

// The mean of what partitions have moved. A whole number is rounded to the nearest one, and halves away from 0.
inline std::int32_t mean_of_parts(std::int32_t sum, std::size_t partitions) {
    const auto n = static_cast<std::int32_t>(partitions);
    return sum >= 0 ? (2 * sum + n) / (2 * n) : -((n - 2 * sum) / (2 * n));
}
inline double mean_of_parts(double sum, std::size_t partitions) {
    return sum / static_cast<double>(partitions);
}

// Calls use(item) for all items, and expect(item) some items ahead, so that memory can be prefetched.
template <class Items, class Expect, class Use>
void each_ahead(const Items& items, Expect expect, Use use) {
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i + ahead < items.size()) expect(items[i + ahead]);
        use(items[i]);
    }
}

// Mixes weights with changes of all partitions, the known or the added ones. place(change) is where a change belongs,
// and expect(change) prefetches what is there.
//
//   w'  =  w + mean of all d,    u'  =  u + steps (w' - w) - sum of all r
template <class Weights, class Changes, class Place, class Expect>
void mix_changes(Weights& to, std::span<const Changes* const> all,
                 std::vector<typename Changes::change> Changes::* which, std::int64_t steps, Place place,
                 Expect expect) {
    auto& moved = to.moved_by_parts;
    moved.resize(to.places());
    for (const Changes* part : all)
        each_ahead(part->*which, expect, [&](const auto& one) {
            const std::size_t at = place(one);
            if (at >= moved.size()) throw std::invalid_argument("these are changes of other weights");
            for (std::size_t i = 0; i < one.moved.size(); ++i) moved[at][i] += one.moved[i];
            to.reduce_sum(at, one.sums);
        });
    for (const Changes* part : all)
        each_ahead(part->*which, expect, [&](const auto& one) {
            const std::size_t at = place(one);
            auto amounts = std::exchange(moved[at], {});  // zeros if another partition has changed it, too
            for (auto& amount : amounts) amount = mean_of_parts(amount, all.size());
            to.move(at, amounts, steps);
        });
}

// The same for all changes. Adding a feature may move others to other places, so the known ones come first. add(change)
// makes a feature, or finds it.
template <class Weights, class Changes, class Add>
void mix_partitions(Weights& to, std::span<const Changes* const> all, std::int64_t steps, Add add) {
    mix_changes(
        to, all, &Changes::known, steps, [](const auto& one) { return one.where; },
        [&](const auto& one) { to.expect_place(one.where); });
    const auto expect = [&](const auto& one) { to.expect(one.where); };
    for (const Changes* part : all) each_ahead(part->added, expect, add);
    mix_changes(to, all, &Changes::added, steps, add, expect);
}

}  // namespace markone

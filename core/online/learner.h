// The loop: score, step (step.h), average. Every online rule, two classes or many, sparse rows or dense.
//
//   for each example x of class y, importance h:
//       s      = scores of x                          score
//       w     += rate * pull * x                      step, towards y and away from its rival (rules.h)
//       w      = shrunk w                             penalty (penalty.h)
//       sum   += h * w                                average (state.h)
//
// No weight is touched whose feature is not in x.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "online/loops.h"
#include "online/rules.h"
#include "online/state.h"
#include "online/step.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

// A change of the weights: which columns move, each by a factor times the row.
template <class T>
struct change_one {
    static constexpr bool single = true, few = true;
    T factor;
    template <class F>
    MARKONE_INLINE void each(F f) const {
        f(std::size_t{0}, factor);
    }
    MARKONE_INLINE void multiply(T by) { factor *= by; }
};
template <class T>
struct change_pair {
    static constexpr bool single = false, few = true;
    std::size_t up, down;
    T factor;
    template <class F>
    MARKONE_INLINE void each(F f) const {
        f(up, factor);
        f(down, -factor);
    }
    MARKONE_INLINE void multiply(T by) { factor *= by; }
};
template <class T>
struct change_all {
    static constexpr bool single = false, few = false;
    T* factors;
    std::size_t count;
    template <class F>
    MARKONE_INLINE void each(F f) const {
        for (std::size_t k = 0; k < count; ++k) f(k, factors[k]);
    }
    MARKONE_INLINE void multiply(T by) {
        for (std::size_t k = 0; k < count; ++k) factors[k] *= by;
    }
};

// Moves the weights, and the sums that go with them. No rule is part of it, so that all of them share its code.
template <class T>
class mover {
  public:
    explicit mover(state<T>& now) : at(now), how(now.how) {}

    // Not inlined: most visits do not need it, and without it their loop keeps more in registers.
    template <class Change, class Row>
    MARKONE_NOINLINE void add(Row x, Change change) {
        if (at.adagrad())
            how.average ? add_as<true, true>(x, change) : add_as<false, true>(x, change);
        else
            how.average ? add_as<true, false>(x, change) : add_as<false, false>(x, change);
        if (!at.touched.empty()) touch(x, change);
    }

  protected:
    // How far to prefetch: soon enough to be there in time, and little enough to stay there.
    static constexpr std::size_t sums_ahead = 32;  // values of the row whose sums change

    state<T>& at;
    const settings how;

  private:
    template <bool averaging, bool adaptive, class Change, class Row>
    MARKONE_INLINE void add_as(Row x, Change change) {
        if (how.bias)
            change.each([&](std::size_t k, T factor) {
                nudge<averaging, adaptive>(at.bias.v.data(), at.bias.u.data(), at.bias.squares.data(), k, factor,
                                           at.time);
            });
        change.multiply(static_cast<T>(1 / at.scale));
        const std::size_t apart = Change::single ? 1 : at.stride();
        T* const v = at.weight.v.data();
        double* const u = at.weight.u.data();
        double* const squares = at.weight.squares.data();
        const double when = at.clock;
        // The product has just read the weights, but not their sums, which are farther away.
        const auto fetch = [&](std::size_t i) {
            if constexpr (averaging && Change::few && !std::is_same_v<Row, dense_row<T>>)
                if (i < x.size())
                    change.each([&](std::size_t k, T) { prefetch_to_write(u + x.feature(i) * apart + k); });
        };
        for (std::size_t i = 0; i < sums_ahead; ++i) fetch(i);
        for (std::size_t i = 0; i < x.size(); ++i) {
            fetch(i + sums_ahead);
            const std::size_t first = x.feature(i) * apart;
            const T value = x.value(i);
            change.each([&](std::size_t k, T factor) {
                nudge<averaging, adaptive>(v, u, squares, first + k, factor * value, when);
            });
        }
    }

    template <class Change, class Row>
    void touch(Row x, Change change) {
        const std::size_t apart = Change::single ? 1 : at.stride();
        std::uint8_t* const touched = at.touched.data();
        for (std::size_t i = 0; i < x.size(); ++i)
            change.each([&](std::size_t k, T) { touched[(x.feature(i) * apart + k) / state<T>::group] = 1; });
    }

    template <bool averaging, bool adaptive>
    MARKONE_INLINE void nudge(T* __restrict v, double* __restrict u, double* __restrict squares, std::size_t i, T step,
                              double when) const {
        if constexpr (adaptive) {
            squares[i] += static_cast<double>(step) * static_cast<double>(step);
            step = static_cast<T>(at.own_rate(squares[i]) * static_cast<double>(step));
        }
        const T before = v[i];
        const T after = before + step;
        v[i] = after;
        if constexpr (averaging) u[i] += when * (static_cast<double>(after) - static_cast<double>(before));
    }
};

// Whether visits need only what most runs need: no penalty, a constant rate, an importance of 1 for every row, and at
// least two classes.
template <class T>
bool is_plain(const state<T>& at, const visits& which) {
    const bool same_step = at.how.penalty == penalty::none && at.how.schedule == schedule::constant;
    return same_step && !which.importance && at.classes >= 2;
}

// A plain visit is little more than its products, so each rule has a loop of its own, without the rest: though its
// results would be the same, the rest would cost as much again. With any_rule, the learner is for all other visits.
template <class T, class Rule>
class learner : mover<T> {
    using mover<T>::at, mover<T>::how;
    static constexpr bool plain = !std::is_same_v<Rule, rules::any_rule<T>>;

  public:
    learner(state<T>& now, Rule rule) : mover<T>(now), rule(rule), all_scores(now.stride()) {}

    template <class Rows>
    tally learn(const Rows& rows, const visits& which) {
        noted = which.noted;
        at.stride() > 1 ? visit_all<true>(rows, which) : visit_all<false>(rows, which);
        return sums;
    }

  private:
    // How many rows ahead a row is prefetched in a random order: as many as have `values_ahead` values together, but
    // not more than it takes to have them in time.
    static constexpr std::size_t values_ahead = 768, most_rows_ahead = 12;

    template <class Rows>
    static std::size_t rows_ahead(const Rows& rows) {
        const std::size_t stored = std::max(rows.stored(), std::size_t{1});
        return std::clamp(values_ahead * rows.size() / stored, std::size_t{1}, most_rows_ahead);
    }

    // `many` says whether each class has a weight vector.
    template <bool many, class Rows>
    void visit_all(const Rows& rows, const visits& which) {
        const std::size_t all = rows.size(), count = which.count(all);
        const std::size_t soon = rows_ahead(rows), later = 2 * soon;
        tally seen = sums;  // in registers
        for (std::size_t i = 0; i < count; ++i) {
            // Rows in storage order are prefetched by the hardware. In another order, where a row is must be read
            // before the row itself.
            if (which.order && i + later < count) {
                const std::size_t row = which.row(i + later, all);
                rows.prefetch_place(row);
                prefetch(which.labels.data() + row);
            }
            if (which.order && i + soon < count) rows[which.row(i + soon, all)].prefetch();
            const std::size_t row = which.row(i, all), y = which.label(row, at.classes);
            const auto x = rows[row];
            const double importance = plain ? 1 : which.importance_of(row);
            if (importance == 0) continue;
            if constexpr (many)
                visit<many>(packed(x), seen, row, y, importance);
            else
                visit<many>(x, seen, row, y, importance);
        }
        sums = seen;
    }

    template <bool many, class Row>
    MARKONE_INLINE void visit(Row x, tally& seen, std::size_t row, std::size_t y, double importance) {
        seen.visits += 1;
        seen.importance += importance;
        if constexpr (plain) {
            seen.updates += step<many>(x, seen, {row, y, 1, how.eta});
            at.time += 1;
            at.clock += 1;
        } else {
            if (at.classes < 2) return at.pass_time(importance, at.rate());
            each_visit(rule, importance, [&](double part, double left) {
                if (at.settles())
                    for (std::size_t i = 0; i < x.size(); ++i) at.settle(x.feature(i));
                const markone::visit now{row, y, part, at.rate()};
                const bool moved = step<many>(x, seen, now);
                seen.updates += moved;
                const bool rests = rule.repeats && !moved && how.penalty == penalty::none;
                at.pass_time(rests ? left : part, now.rate);
                return !rests;
            });
        }
    }

    template <bool many, class Row>
    MARKONE_INLINE bool step(Row x, tally& seen, const markone::visit& now) {
        run<Row> one{*this, x, seen, now};
        if constexpr (many)
            return step_multiclass(rule, one, now, how.ties);
        else
            return step_binary(rule, one, now, how.ties);
    }

    // What step.h asks of a run.
    template <class Row>
    struct run {
        using number = T;
        using answer = bool;
        using place = std::size_t;
        static constexpr bool counts_loss = true;

        learner& by;
        const Row x;
        tally& seen;
        const markone::visit& now;

        MARKONE_INLINE T scaled(T product) const { return plain ? product : static_cast<T>(by.at.scale) * product; }
        MARKONE_INLINE T score() const { return scaled(dot(x, by.at.weight.v.data())) + by.at.bias.v[0]; }
        MARKONE_INLINE std::span<T> scores() const {
            T* const s = by.all_scores.data();
            dots(x, by.at.weight.v.data(), by.at.stride(), s);
            for (std::size_t k = 0; k < by.at.classes; ++k) s[k] = scaled(s[k]) + by.at.bias.v[k];
            return {s, by.at.classes};
        }
        MARKONE_INLINE T norm2() const { return length2(x) + static_cast<T>(by.how.bias); }
        MARKONE_INLINE static bool always(bool yes) { return yes; }
        MARKONE_INLINE static bool positive(std::size_t y) { return y == 1; }
        MARKONE_INLINE static std::size_t place_of(std::size_t k) { return k; }
        MARKONE_INLINE void note(bool wrong, T margin) const {
            seen.mistakes += wrong;
            if (wrong && by.noted != nullptr)
                by.noted->push_back({static_cast<std::int64_t>(now.row), static_cast<double>(margin)});
        }
        MARKONE_INLINE void add_loss(double loss) const { seen.loss += now.importance * loss; }
        MARKONE_INLINE static bool keep(T pull) { return pull != 0; }
        MARKONE_INLINE void move(T factor) const { by.add(x, change_one<T>{factor}); }
        MARKONE_INLINE void move_pair(std::size_t y, std::size_t rival, T factor) const {
            by.add(x, change_pair<T>{y, rival, factor});
        }
        MARKONE_INLINE void move_all() const { by.add(x, change_all<T>{by.all_scores.data(), by.at.classes}); }
    };

    const Rule rule;
    packer<T> packed;
    std::vector<T> all_scores;  // of the current example, then their pulls; with room for the padding
    tally sums;
    std::vector<mistake>* noted = nullptr;
};

// Calls `use` with a learner for these visits.
template <class T, class Use>
auto with_learner(state<T>& at, const visits& which, Use use) {
    if (!is_plain(at, which)) return use(learner(at, rules::any_rule<T>(at.how)));
    return rules::with_rule<T>(at.how, [&](const auto& rule) { return use(learner(at, rule)); });
}

}  // namespace markone::MARKONE_LEVEL

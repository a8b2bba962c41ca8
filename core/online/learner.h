// The loop: score, step, average. Every online rule, two classes or many, sparse rows or dense.
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
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "online/loops.h"
#include "online/rules.h"
#include "online/state.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

// A change of the weights: which columns move, each by a factor times the row.
template <class T>
struct change_one {
    static constexpr bool single = true;
    T factor;
    template <class F>
    MARKONE_INLINE void each(F f) const {
        f(std::size_t{0}, factor);
    }
    MARKONE_INLINE void multiply(T by) { factor *= by; }
};
template <class T>
struct change_pair {
    static constexpr bool single = false;
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
    static constexpr bool single = false;
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

template <class T, class Rule>
class learner {
  public:
    learner(state<T>& now, Rule rule) : at(now), how(now.how), rule(rule), scores(now.stride()) {}

    template <class Rows>
    tally learn(const Rows& rows, const visits& which) {
        noted = which.noted;
        const std::size_t all = rows.size(), count = which.count(all);
        for (std::size_t i = 0; i < count; ++i) {
            if (i + rows_ahead < count) rows[which.row(i + rows_ahead, all)].prefetch();
            const std::size_t row = which.row(i, all), y = which.label(row, at.classes);
            const double importance = which.importance_of(row);
            if (importance == 0) continue;
            if (at.stride() == 1)
                visit(rows[row], row, y, importance);
            else
                visit(packed(rows[row]), row, y, importance);
        }
        return sums;
    }

  private:
    static constexpr std::size_t rows_ahead = 4;  // soon enough for short rows, not too soon for long ones

    struct example {
        std::size_t row, y;
        double importance;
        double rate;
    };

    template <class Row>
    MARKONE_INLINE void visit(Row x, std::size_t row, std::size_t y, double importance) {
        sums.visits += 1;
        sums.importance += importance;
        if (at.classes < 2) return at.pass_time(importance, at.rate());
        const double whole = Rule::repeats ? 1 : importance;
        for (double left = importance; left > 0; left -= whole) {
            if (at.settles())
                for (std::size_t i = 0; i < x.size(); ++i) at.settle(x.feature(i));
            const example now{row, y, std::min(whole, left), at.rate()};
            const bool moved = step(x, now);
            sums.updates += moved;
            if (Rule::repeats && !moved && how.penalty == penalty::none) return at.pass_time(left, now.rate);
            at.pass_time(now.importance, now.rate);
        }
    }

    template <class Row>
    MARKONE_INLINE bool step(Row x, const example& now) {
        if constexpr (std::is_same_v<Row, sparse_row<T>>)
            if (at.stride() > 1) return step_multiclass(x, now);
        return step_binary(x, now);
    }

    // One weight vector, for the second class when positive and for the first when negative.
    template <class Row>
    MARKONE_INLINE bool step_binary(Row x, const example& now) {
        const bool positive = now.y == 1;
        const T sign = positive ? 1 : -1;
        const T margin = sign * (static_cast<T>(at.scale) * dot(x, at.weight.v.data()) + at.bias.v[0]);
        const bool wrong = is_mistake(margin, positive);
        sums.mistakes += wrong;
        if (wrong) note(now, margin);
        sums.loss += now.importance * static_cast<double>(rule.loss(margin));
        const T pull = rule.pull(margin, wrong, static_cast<T>(now.importance),
                                 [&] { return length2(x) + static_cast<T>(how.bias); });
        if (pull == 0) return false;
        add(x, change_one<T>{sign * static_cast<T>(now.rate) * pull});
        return true;
    }

    // A weight vector for each class; the rival is the best of the wrong ones.
    MARKONE_INLINE bool step_multiclass(sparse_row<T> x, const example& now) {
        const std::size_t y = now.y, classes = at.classes;
        T* s = scores.data();
        dots(x, at.weight.v.data(), at.stride(), s);
        for (std::size_t k = 0; k < classes; ++k) s[k] = static_cast<T>(at.scale) * s[k] + at.bias.v[k];
        std::size_t rival = y == 0 ? 1 : 0;
        for (std::size_t k = rival + 1; k < classes; ++k)
            if (k != y && (how.ties == tie::positive ? s[k] >= s[rival] : s[k] > s[rival])) rival = k;
        const T margin = s[y] - s[rival];
        const bool wrong = is_mistake(margin, rival < y);
        sums.mistakes += wrong;
        if (wrong) note(now, margin);

        if constexpr (Rule::target == rules::moves::pair) {
            sums.loss += now.importance * static_cast<double>(rule.loss(margin));
            const T pull = rule.pull(margin, wrong, static_cast<T>(now.importance),
                                     [&] { return 2 * (length2(x) + static_cast<T>(how.bias)); });
            if (pull == 0) return false;
            add(x, change_pair<T>{y, rival, static_cast<T>(now.rate) * pull});
        } else {
            const T top = std::max(s[y], s[rival]), right = s[y];
            T total = 0;
            for (std::size_t k = 0; k < classes; ++k) total += s[k] = exponential(s[k] - top);
            sums.loss += now.importance * (logarithm_of_any(double{total}) + static_cast<double>(top - right));
            const T step = static_cast<T>(now.rate * now.importance);
            for (std::size_t k = 0; k < classes; ++k) s[k] = step * (static_cast<T>(k == y) - s[k] / total);
            add(x, change_all<T>{s, classes});
        }
        return true;
    }

    MARKONE_INLINE void note(const example& now, T margin) {
        if (noted != nullptr) noted->push_back({static_cast<std::int64_t>(now.row), static_cast<double>(margin)});
    }

    MARKONE_INLINE bool is_mistake(T margin, bool rival_comes_first) const {
        if (margin != 0) return !(margin > 0);
        return how.ties == tie::error || (how.ties == tie::negative) == rival_comes_first;
    }

    template <class Change, class Row>
    MARKONE_INLINE void add(Row x, Change change) {
        if (at.adagrad())
            how.average ? add_as<true, true>(x, change) : add_as<false, true>(x, change);
        else
            how.average ? add_as<true, false>(x, change) : add_as<false, false>(x, change);
    }

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
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t first = x.feature(i) * apart;
            const T value = x.value(i);
            change.each([&](std::size_t k, T factor) {
                nudge<averaging, adaptive>(v, u, squares, first + k, factor * value, when);
            });
        }
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

    state<T>& at;
    const settings how;
    const Rule rule;
    packer<T> packed;
    std::vector<T> scores;  // of the current example, with room for the padding
    tally sums;
    std::vector<mistake>* noted = nullptr;
};

}  // namespace markone::MARKONE_LEVEL

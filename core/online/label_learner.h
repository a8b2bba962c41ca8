// Learners of two classes side by side: for each of some labels, whether a row has it.
//
// The weights of a feature for all labels are a line (line.h), which is fetched at once. Each label rounds as a learner
// does that is alone (learner.h), so that its weights have the same bits. There is no penalty, and the rate is
// constant, so that all labels share their clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "online/line.h"
#include "online/loops.h"
#include "online/rules.h"
#include "online/state.h"
#include "online/step.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

// How many partial sums a learner that is alone has for a row (arithmetic.h).
template <class T, class Stored>
MARKONE_INLINE std::size_t sums_of(sparse_row<T, Stored>) {
    return 8;
}
template <class T>
MARKONE_INLINE std::size_t sums_of(dense_row<T> x) {
    return x.size() < 64 ? 8 : 32;
}

// Some partial sums of a row times weights: as many as registers hold. `apart` is how many sums the row has.
template <class T, class Row>
MARKONE_INLINE void add_some_sums(Row x, std::size_t first, std::size_t apart, const T* weights, line<T>* out) {
    constexpr std::size_t lanes = line<T>::lanes, width = line<T>::width, registers = line<T>::registers;
    constexpr std::size_t many = 8 / registers;
    typename line<T>::pack sum[many][registers] = {};
    const auto add = [&](std::size_t i, std::size_t position) {
        const T* const from = weights + x.feature(position) * lanes;
        for (std::size_t r = 0; r < registers; ++r) {
            typename line<T>::pack some;
            load<width>(from + r * width, some);
            sum[i][r] += some * x.value(position);
        }
    };
    std::size_t at = first;
    for (; at + many <= x.size(); at += apart)
        for (std::size_t i = 0; i < many; ++i) add(i, at + i);
    for (std::size_t i = 0; at + i < x.size(); ++i) add(i, at + i);
    for (std::size_t i = 0; i < many; ++i)
        for (std::size_t r = 0; r < registers; ++r) out[i].part[r] = sum[i][r];
}

// The scores of a row for all labels, without the bias. Not inlined, as `dots` is not.
template <class T, class Row>
MARKONE_NOINLINE void dot_labels(Row x, const T* weights, line<T>& out) {
    constexpr std::size_t many = 8 / line<T>::registers;
    line<T> sums[32];
    const std::size_t count = sums_of(x);
    for (std::size_t first = 0; first < count; first += many) add_some_sums(x, first, count, weights, sums + first);
    count == 8 ? fold_lines<8>(sums) : fold_lines<32>(sums);
    out = sums[0];
}

template <class T, class Rule>
class label_learner {
  public:
    label_learner(state<T>& now, Rule rule, const label_sets& sets) : at(now), how(now.how), rule(rule), sets(sets) {
        for (std::size_t lane = 0; lane < lanes; ++lane) bit.set(lane, whole{1} << lane);
        used = answers(sets.labels < 32 ? (std::uint32_t{1} << sets.labels) - 1 : ~std::uint32_t{0});
    }

    template <class Rows>
    tally learn(const Rows& rows, const visits& which) {
        tally seen;
        const std::size_t all = rows.size(), count = which.count(all);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = which.row(i, all), set = which.label(row, sets.bits.size());
            if (i + rows_ahead < count) rows[which.row(i + rows_ahead, all)].prefetch();
            const double importance = which.importance_of(row);
            if (importance == 0) continue;
            seen.visits += 1;
            seen.importance += importance;
            visit_row(rows[row], row, set, importance);
        }
        for (std::size_t lane = 0; lane < sets.labels; ++lane) {
            seen.mistakes -= mistakes[lane];
            seen.updates -= updates[lane];
            seen.loss += losses[lane];
        }
        seen.importance *= static_cast<double>(sets.labels);
        return seen;
    }

  private:
    using whole = whole_like<T>;
    static constexpr std::size_t lanes = line<T>::lanes, width = line<T>::width;
    static constexpr std::size_t rows_ahead = 4, few = 2;
    static_assert(lanes == labels_together<T>);

    MARKONE_INLINE whole_line<T> answers(std::uint32_t bits) const {
        return (whole_line<T>(static_cast<whole>(bits)) & bit) != whole_line<T>(0);
    }

    template <class Row>
    MARKONE_INLINE void visit_row(Row x, std::size_t row, std::size_t set, double importance) {
        whole_line<T> still = used;
        double now = at.time;
        each_visit(rule, importance, [&](double part, double) {
            run<Row> some{*this, x, answers(sets.bits[set]), now, part, still};
            now += part;
            return step_binary(rule, some, visit{row, set, part, how.eta}, how.ties);
        });
        at.time += importance;
        at.clock += importance;
    }

    // What step.h asks of a run, here of all labels that are still at this row.
    template <class Row>
    struct run {
        using number = line<T>;
        using answer = whole_line<T>;
        static constexpr bool counts_loss = false;  // `note` does, one label after the other

        label_learner& by;
        const Row x;
        const whole_line<T> has;
        const double now, importance;
        whole_line<T>& still;

        MARKONE_INLINE line<T> score() const {
            line<T> products;
            dot_labels(x, by.at.weight.v.data(), products);
            return products + by.bias();
        }
        MARKONE_INLINE T norm2() const { return length2(x) + static_cast<T>(by.how.bias); }
        MARKONE_INLINE static answer always(bool yes) { return answer(yes ? -1 : 0); }
        MARKONE_INLINE answer positive(std::size_t) const { return has; }
        MARKONE_INLINE void note(const answer& wrong, const line<T>& margin) const {
            by.mistakes = by.mistakes + (wrong & still);
            for (std::size_t lane = 0; lane < lanes; ++lane)
                if (still[lane] != 0) by.losses[lane] += importance * static_cast<double>(by.rule.loss(margin[lane]));
        }
        MARKONE_INLINE bool keep(line<T>& pull) const {
            still = still & (pull != 0);
            if (!any(still)) return false;
            pull = choose(still, pull, line<T>(0));
            by.updates = by.updates + still;
            return true;
        }
        MARKONE_INLINE void move(const line<T>& factor) const { by.move(x, factor, now); }
    };

    MARKONE_INLINE line<T> bias() const {
        line<T> found;
        for (std::size_t r = 0; r < line<T>::registers; ++r) load<width>(at.bias.v.data() + r * width, found.part[r]);
        return found;
    }

    template <class Row>
    MARKONE_NOINLINE void move(Row x, const line<T>& factor, double now) {
        alignas(line<T>) T factors[lanes];
        std::memcpy(factors, factor.part, sizeof factors);
        std::size_t moving[lanes], count = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            moving[count] = lane;
            count += factors[lane] != 0;
        }
        if (how.bias) nudge_all(at.bias.v.data(), at.bias.u.data(), factors, 1, now);
        if (count > few) {
            each_feature(x, [&](T* v, double* u, T value) { nudge_all(v, u, factors, value, now); });
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {  // touches less memory
            const std::size_t lane = moving[i];
            const T by = factors[lane];
            each_feature(x, [&](T* v, double* u, T value) {
                const T before = v[lane], after = before + by * value;
                v[lane] = after;
                if (how.average) u[lane] += now * (static_cast<double>(after) - static_cast<double>(before));
            });
        }
    }

    template <class Row, class Use>
    MARKONE_INLINE void each_feature(Row x, Use use) const {
        T* const v = at.weight.v.data();
        double* const u = at.weight.u.data();  // null without averaging
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t first = x.feature(i) * lanes;
            use(v + first, how.average ? u + first : u, x.value(i));
        }
    }

    MARKONE_INLINE void nudge_all(T* __restrict v, double* __restrict u, const T* __restrict factors, T value,
                                  double when) const {
        alignas(line<T>) T before[lanes], after[lanes];
        std::memcpy(before, v, sizeof before);
        for (std::size_t lane = 0; lane < lanes; ++lane) after[lane] = before[lane] + factors[lane] * value;
        std::memcpy(v, after, sizeof after);
        if (!how.average) return;
        constexpr std::size_t wide = register_bytes / sizeof(double);
        for (std::size_t lane = 0; lane < lanes; lane += wide) {
            typename pack_of<double, wide>::type old, moved, sums;
            load<wide>(before + lane, old);
            load<wide>(after + lane, moved);
            load<wide>(u + lane, sums);
            sums += when * (moved - old);
            std::memcpy(u + lane, &sums, sizeof sums);
        }
    }

    state<T>& at;
    const settings how;
    const Rule rule;
    const label_sets sets;
    whole_line<T> bit, used;
    whole_line<T> mistakes{0}, updates{0};  // of each label, negative
    double losses[lanes] = {};
};

}  // namespace markone::MARKONE_LEVEL

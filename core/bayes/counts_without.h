// Leave-one-out for naive Bayes: the counts of a row are subtracted, and the row is scored with the remaining counts.
//
// The functions and the order of the operations are the same as if only the other rows had been counted. If the counts
// are exact, the scores have the same bits as those of a training without the row.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "bayes/counts.h"

namespace markone::bayes {

// If counts are not whole numbers, a count that should be 0 may be a rounding error.
MARKONE_INLINE double what_is_left(double all, double taken) {
    constexpr double rounding = 1e-12;
    const double left = all - taken;
    return left > rounding * all ? left : 0;
}

template <class T>
class without_row {
  public:
    without_row(const event_counts& from, std::span<const double> others, const smoothing& how,
                const std::optional<std::span<const double>>& priors, bool odds)
        : from(from),
          how(how),
          priors(priors),
          odds(odds),
          classes(from.classes),
          all(from, others, how, priors, false),
          reader(all.groups),
          scores(classes, odds),
          draw(classes),
          presence(classes),
          rows(classes),
          log(row_scores::stride_of(classes, odds)),
          of_numbers(all.of_numbers) {}

    // The scores of a row of class y and importance h, which must be one of the counted rows.
    template <class Row>
    void score(Row x, std::size_t y, double h, double* out) {
        events.clear();
        sums.assign(all.groups.groups.size(), 0);
        reader.read(
            x, [](std::size_t) {},
            [&](const event_group& group, std::size_t feature, T value) {
                const double times = times_in(group, static_cast<double>(value));
                events.push_back({&group, feature, times});
                sums[group.number] += times;
            });
        for (std::size_t k = 0; k < classes; ++k) rows[k] = k == y ? what_is_left(from.rows[k], h) : from.rows[k];
        std::vector<class_start> starts = starts_without(y, h);
        scores.clear();
        for (const event& one : events)
            if (one.group->kind == likelihood::bernoulli)
                add_presence(one, y, h, starts);
            else
                add_draw(one, y, h);
        add_numbers(y, h);
        scores.finish(starts, out);
    }

  private:
    struct event {
        const event_group* group;
        std::size_t feature;
        double times;
    };

    // If no event is impossible, and classes do not depend on each other, only the row's own class changes.
    bool others_stay() const { return !how.interpolates && how.k > 0; }

    // The starts of the classes without a row of class y. The features of the row are still counted for it;
    // `add_presence` corrects this.
    std::vector<class_start> starts_without(std::size_t y, double h) {
        const auto [at, is_new] = known_starts.try_emplace({y, h}, classes);
        std::vector<class_start>& starts = at->second;
        if (!is_new) return starts;
        set_priors(starts, priors, rows);
        if (others_stay())
            for (std::size_t k = 0; k < classes; ++k) starts[k].base = k == y ? 0 : all.starts[k].base;
        for (const event_group& group : all.groups.groups)
            if (group.kind == likelihood::bernoulli)
                for (std::size_t f = group.start; f < group.end; ++f) add_absent(f, y, 0, starts, 1);
        return starts;
    }

    // The absence of a feature, after this much is subtracted from class y; only for y if the others do not change.
    void add_absent(std::size_t f, std::size_t y, double taken, std::vector<class_start>& starts, int sign) {
        const double* const count = from.counts.data() + f * classes;
        const auto count_left = [&](std::size_t k) { return k == y ? what_is_left(count[k], taken) : count[k]; };
        const auto rows_left = [&](std::size_t k) { return rows[k]; };
        if (others_stay()) {
            presence.of_class(how, y, count_left(y), rows[y]);
            starts[y].add_absent(presence, y, sign);
            return;
        }
        presence.of(how, count_left, rows_left);
        for (std::size_t k = 0; k < classes; ++k) starts[k].add_absent(presence, k, sign);
    }

    void add_presence(const event& one, std::size_t y, double h, std::vector<class_start>& starts) {
        add_absent(one.feature, y, 0, starts, -1);
        add_absent(one.feature, y, h, starts, 1);
        const double* const before = all.logs.data() + one.feature * all.stride;
        const bool stay = others_stay();
        add(
            one, [&](std::size_t k) { return stay && k != y ? before[k] : presence.log(k); },
            [&](std::size_t k) { return stay ? 0 : presence.impossible(k); });
    }

    void add_draw(const event& one, std::size_t y, double h) {
        const double* const count = from.counts.data() + one.feature * classes;
        const double* const total = all.totals.data() + one.group->number * classes;
        const double in_row = sums[one.group->number];
        const auto count_left = [&](std::size_t k) {
            return k == y ? what_is_left(count[k], h * one.times) : count[k];
        };
        const auto total_left = [&](std::size_t k) { return k == y ? what_is_left(total[k], h * in_row) : total[k]; };
        if (others_stay()) {
            const double* const before = all.logs.data() + one.feature * all.stride;
            std::copy_n(before, classes, draw.log.data());
            draw.log[y] = logarithm(estimate(how, count_left(y), total_left(y), one.group->size, 0));
        } else {
            draw.of(how, count_left, total_left, one.group->size);
        }
        add(one, [&](std::size_t k) { return draw.log[k]; }, [&](std::size_t k) { return draw.impossible[k]; });
    }

    template <class Log, class Impossible>
    void add(const event& one, Log of, Impossible is_impossible) {
        if (odds)
            log[0] = of(1) - of(0);
        else
            for (std::size_t k = 0; k < classes; ++k) log[k] = of(k);
        scores.add(log.data(), one.times);
        for (std::size_t k = 0; k < classes; ++k) scores.impossible[k] += is_impossible(k);
    }

    // The term that is added to all variances depends on all numbers, so all are computed again.
    void add_numbers(std::size_t y, double h) {
        for (std::size_t n = 0; n < reader.numbers.size(); ++n) {
            if (reader.missing[n]) {
                of_numbers[n] = all.of_numbers[n];
                continue;
            }
            const number_sums taken = number_sums::of(reader.numbers[n]) * h;
            of_numbers[n].of(classes, [&](std::size_t k) {
                number_sums sums = number_sums::read(from.numbers.data() + n * number_planes * classes + k, classes);
                if (k != y) return sums;
                const double weight = what_is_left(sums.weight, h);
                return weight > 0 ? number_sums{weight, sums.sum - taken.sum, sums.squares - taken.squares}
                                  : number_sums{};
            });
        }
        const double more = added_variance(how, of_numbers);
        for (std::size_t n = 0; n < reader.numbers.size(); ++n)
            if (!reader.missing[n])
                for (std::size_t k = 0; k < classes; ++k)
                    scores.of_numbers[k] += bell::of(of_numbers[n], k, more)(static_cast<double>(reader.numbers[n]));
    }

    const event_counts from;
    const smoothing how;
    const std::optional<std::span<const double>> priors;
    const bool odds;
    const std::size_t classes;
    const event_tables all;
    event_reader<T> reader;
    row_scores scores;
    event_logs draw;
    presence_logs presence;
    std::vector<double> rows;  // the row counts without the row
    std::vector<double> log;
    std::vector<number_moments> of_numbers;
    std::vector<event> events;
    std::vector<double> sums;  // the sums of the row's events in each group
    std::map<std::pair<std::size_t, double>, std::vector<class_start>> known_starts;
};

// The leave-one-out scores of each row.
template <class T, class Rows>
void score_without(without_row<T>& by, const Rows& rows, const visits& which, std::size_t classes, std::size_t columns,
                   double* out) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        by.score(rows[i], which.label(i, classes), which.importance_of(i), out + i * columns);
}

}  // namespace markone::bayes

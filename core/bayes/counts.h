// Naive Bayes: events are counted in one pass, and the counts are the model.
//
//   log P(y, x) = log P(y) + sum over the events of x of log P(event | y)
//
// Features belong to groups, and all features of a group are the same kind of event:
//   multinomial   words at any position: one draw from the group for each occurrence
//   categorical   the values of a column: one draw for each row that has a value
//   bernoulli     each feature is present or absent, and both are events
//   gaussian      each feature is a number, which may be missing
// Features outside of all groups are ignored.
//
// Counts are doubles. Counts of whole numbers are exact, so the order of the rows does not matter, and rows can be
// counted in parts and subtracted again. For the same reason, sums of numbers use two doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/double_double.h"
#include "base/logarithm.h"
#include "base/memory.h"
#include "online/loops.h"
#include "rows/rows.h"

namespace markone::bayes {

enum class likelihood { multinomial, bernoulli, categorical, gaussian };

struct event_group {
    likelihood kind;
    std::size_t start, end;
    double size;                   // |X|, which may be larger than the number of features
    std::size_t number = 0;        // the number of the group, from 0
    std::size_t first_number = 0;  // in a gaussian group, the index of its first feature among all numbers

    MARKONE_INLINE bool has(std::size_t feature) const { return feature - start < end - start; }
};

// The groups in the order of their features. No feature is in two groups.
class event_groups {
  public:
    std::vector<event_group> groups;
    std::size_t features = 0;
    std::size_t numbers = 0;  // features of gaussian groups

    // If the feature missing.second is not 0, the number of the feature missing.first is missing.
    event_groups(std::vector<event_group> from, std::size_t width,
                 const std::vector<std::pair<std::size_t, std::size_t>>& missing)
        : groups(std::move(from)), features(width) {
        std::size_t end = 0;
        for (event_group& group : groups) {
            if (group.start < end || group.end <= group.start || group.end > features)
                throw std::invalid_argument(
                    "groups of features overlap, are empty or name features that are not there");
            if (!(group.size >= static_cast<double>(group.end - group.start) && std::isfinite(group.size)))
                throw std::invalid_argument("a group has more features than events");
            end = group.end;
            group.number = static_cast<std::size_t>(&group - groups.data());
            group.first_number = numbers;
            if (group.kind == likelihood::gaussian) numbers += group.end - group.start;
        }
        for (const auto& [number, indicator] : missing) {
            const event_group* group = find(number);
            if (group == nullptr || group->kind != likelihood::gaussian || indicator >= features)
                throw std::invalid_argument("what is missing is no number");
            const std::size_t place = group->first_number + number - group->start;
            indicators.emplace_back(indicator, place);
        }
        std::sort(indicators.begin(), indicators.end());
        if (indicators.empty()) return;
        silenced.assign(indicators.back().first - indicators.front().first + 1, numbers);
        for (const auto& [indicator, place] : indicators) {
            std::size_t& entry = silenced[indicator - indicators.front().first];
            if (entry != numbers) throw std::invalid_argument("a feature says of two numbers that they are missing");
            entry = place;
        }
    }

    const event_group* find(std::size_t feature) const {
        const auto after = std::upper_bound(groups.begin(), groups.end(), feature,
                                            [](std::size_t f, const event_group& group) { return f < group.start; });
        return after != groups.begin() && (after - 1)->has(feature) ? &*(after - 1) : nullptr;
    }

    // The only group, if it has all features and none of its numbers can be missing; else null. Nothing of a row then
    // needs to be looked up.
    const event_group* only() const {
        const bool all = groups.size() == 1 && groups[0].start == 0 && groups[0].end == features && indicators.empty();
        return all ? groups.data() : nullptr;
    }

    // The features that mark missing numbers, and the indices of these numbers, sorted.
    std::vector<std::pair<std::size_t, std::size_t>> indicators;

    // The index of the number that is missing if this feature is not 0; `numbers` for most features, which mark none.
    MARKONE_INLINE std::size_t missing_by(std::size_t feature) const {
        const std::size_t at = indicators.empty() ? 0 : feature - indicators.front().first;
        return at < silenced.size() ? silenced[at] : numbers;
    }

  private:
    std::vector<std::size_t> silenced;  // for each feature from the first indicator on
};

// Finds the events and the numbers of a row.
template <class T>
class event_reader {
  public:
    std::vector<T> numbers;
    std::vector<std::uint8_t> missing;

    explicit event_reader(const event_groups& all) : numbers(all.numbers), missing(all.numbers), all(all) {}

    // Calls event(group, feature, value) for each value that is not 0 and does not belong to a gaussian group. In a
    // sparse row, ahead(feature) is called some values earlier, to prefetch.
    template <class Ahead, class Event>
    MARKONE_INLINE void read(sparse_row<T> x, Ahead ahead, Event event) {
        static constexpr event_group none{likelihood::multinomial, 0, 0, 0};
        std::fill(numbers.begin(), numbers.end(), T(0));
        std::fill(missing.begin(), missing.end(), std::uint8_t{0});
        const event_group* group = &none;  // the last one found, because neighbours are usually in the same group
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (i + values_ahead < x.size()) ahead(x.feature(i + values_ahead));
            const std::size_t feature = x.feature(i);
            const T value = x.value(i);
            if (const std::size_t place = all.missing_by(feature); place < all.numbers) missing[place] |= value != 0;
            if (!group->has(feature)) {
                group = all.find(feature);
                if (group == nullptr) group = &none;
                if (group == &none) continue;
            }
            if (group->kind == likelihood::gaussian)
                numbers[group->first_number + feature - group->start] += value;
            else if (value != 0)
                event(*group, feature, value);
        }
    }
    template <class Ahead, class Event>
    MARKONE_INLINE void read(dense_row<T> x, Ahead, Event event) {
        std::fill(missing.begin(), missing.end(), std::uint8_t{0});
        for (const auto& [indicator, place] : all.indicators)
            missing[place] |= indicator < x.size() && x.value(indicator) != 0;
        for (const event_group& group : all.groups) {
            const std::size_t end = std::min(group.end, x.size());
            for (std::size_t feature = group.start; feature < end; ++feature)
                if (group.kind == likelihood::gaussian)
                    numbers[group.first_number + feature - group.start] = x.value(feature);
                else if (x.value(feature) != 0)
                    event(group, feature, x.value(feature));
        }
    }

  private:
    static constexpr std::size_t values_ahead = 16;

    const event_groups& all;
};

// How often an event occurs in a value that is not 0: words are counted, all other events occur once.
MARKONE_INLINE double times_in(const event_group& group, double value) {
    return group.kind == likelihood::multinomial ? value : 1;
}

// ---- counting

// The sums of a number: importance (one double), values and squares (two doubles each). Each is a plane with one double
// for each class.
constexpr std::size_t number_planes = 5;

struct number_sums {
    double weight = 0;
    twofold sum, squares;

    MARKONE_INLINE static number_sums read(const double* at, std::size_t classes) {
        return {at[0], {at[classes], at[2 * classes]}, {at[3 * classes], at[4 * classes]}};
    }
    MARKONE_INLINE void write(double* at, std::size_t classes) const {
        at[0] = weight;
        at[classes] = sum.high;
        at[2 * classes] = sum.low;
        at[3 * classes] = squares.high;
        at[4 * classes] = squares.low;
    }
    // The sums of a single value.
    template <class T>
    MARKONE_INLINE static number_sums of(T value) {
        const double x = value;
        return {1, {x, 0}, sizeof(T) == 4 ? twofold{x * x, 0} : multiply_exactly(x, x)};
    }
    MARKONE_INLINE number_sums operator*(double h) const { return {weight * h, sum * h, squares * h}; }
    MARKONE_INLINE number_sums operator+(const number_sums& more) const {
        return {weight + more.weight, sum + more.sum, squares + more.squares};
    }
};

struct event_counts {
    const event_groups& groups;
    std::size_t classes;
    std::span<double> rows;     // classes: the sum of the importance of their rows
    std::span<double> counts;   // features × classes
    std::span<double> numbers;  // numbers × planes × classes

    void check() const {
        if (classes == 0 || rows.size() != classes || counts.size() != groups.features * classes ||
            numbers.size() != groups.numbers * number_planes * classes)
            throw std::invalid_argument("the counts have the wrong shape");
    }
};

template <class Rows>
void check_visits(const Rows& rows, const visits& which, std::size_t features, std::size_t classes) {
    if (rows.width() > features) throw std::invalid_argument("rows are wider than the counts");
    check(which, rows.size(), classes);
}

struct unusable {
    std::size_t row, feature;
    double value;
};

// Finds the first value that is not a number of occurrences, or is too large for sums, in all rows or in those of an
// order. The rows are only looked at if the range of their values contains such a value.
template <class T, class Rows>
std::optional<unusable> find_unusable(const event_groups& groups, const Rows& rows, value_range<T> range,
                                      const std::optional<std::span<const std::int64_t>>& order, double largest) {
    const auto is_summed = [](const event_group& group) {
        return group.kind == likelihood::multinomial || group.kind == likelihood::gaussian;
    };
    if (std::none_of(groups.groups.begin(), groups.groups.end(), is_summed)) return std::nullopt;
    const bool has_words = std::any_of(groups.groups.begin(), groups.groups.end(),
                                       [](const event_group& group) { return group.kind == likelihood::multinomial; });
    const T most = static_cast<T>(std::min(largest, static_cast<double>(std::numeric_limits<T>::max())));
    const T least = has_words ? 0 : -most;
    if (range.least >= least && range.most <= most) return std::nullopt;
    for (std::size_t visit = 0; visit < (order ? order->size() : rows.size()); ++visit) {
        const std::size_t row = order ? static_cast<std::size_t>(read_once((*order)[visit])) : visit;
        if (row >= rows.size()) throw std::invalid_argument("the order names a row that is not there");
        const auto x = rows[row];
        unsigned unusual = 0;
        for (std::size_t i = 0; i < x.size(); ++i) unusual |= (x.value(i) < least) | (x.value(i) > most);
        if (unusual == 0) continue;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double value = static_cast<double>(x.value(i));
            const event_group* const group = groups.find(x.feature(i));
            if (group == nullptr || !is_summed(*group)) continue;
            if ((group->kind == likelihood::multinomial && value < 0) || std::abs(value) > largest)
                return unusable{row, x.feature(i), value};
        }
    }
    return std::nullopt;
}

// ---- estimating

struct smoothing {
    double k;            // Laplace: (c(x,y) + k) / (c(y) + k |X|); 0 is maximum likelihood
    double alpha;        // the weight of the class's own estimate: alpha P(x|y) + (1 - alpha) P(x)
    bool interpolates;   // uses alpha instead of k
    double of_variance;  // this share of the largest variance is added to each variance
};

// P(event | class). A class in which the group has no events has no own estimate: interpolation then uses that of all
// classes together, and with maximum likelihood every event is impossible in the class.
MARKONE_INLINE double estimate(const smoothing& how, double count, double total, double size, double general) {
    if (how.interpolates) return how.alpha * (total > 0 ? count / total : general) + (1 - how.alpha) * general;
    const double all = total + how.k * size;
    return all > 0 ? (count + how.k) / all : 0;
}

// The logarithms of the estimates for small whole counts, which most counts are. Only with Laplace smoothing, where
// they do not depend on other counts, and only if no event is impossible.
class small_counts {
  public:
    // count_of(k, c) is the count to estimate from where the class k has counted c, and total(k) all of its counts.
    template <class Count, class Total>
    small_counts(const smoothing& how, std::size_t classes, std::size_t features, Count count_of, Total total,
                 double size) {
        if (how.interpolates) return;
        const std::size_t most = std::min(features, std::size_t{256});
        for (std::size_t k = 0; k < classes; ++k)
            for (std::size_t c = 0; c < most; ++c) {
                const double p = estimate(how, count_of(k, static_cast<double>(c)), total(k), size, 0);
                if (!(p > 0)) return;
                logs.push_back(logarithm(p));
            }
        known = most;
    }

    bool exist() const { return known > 0; }
    // Whether the class's count is small and whole.
    MARKONE_INLINE bool has(double count) const {
        return count >= 0 && count < static_cast<double>(known) &&
               static_cast<double>(static_cast<std::int32_t>(count)) == count;
    }
    MARKONE_INLINE double operator()(std::size_t k, double count) const {
        return logs[k * known + static_cast<std::size_t>(count)];
    }

  private:
    std::size_t known = 0;
    std::vector<double> logs;  // classes × known
};

// The logarithms of an event's estimates, one for each class. An event that is impossible in a class gets 0 and a mark.
// An event that occurred in no class is ignored.
struct event_logs {
    std::vector<double> log;
    std::vector<std::int32_t> impossible;

    explicit event_logs(std::size_t classes) : log(classes), impossible(classes) {}

    template <class Count, class Total>
    MARKONE_INLINE void of(const smoothing& how, Count count, Total total, double size) {
        const std::size_t classes = log.size();
        double general = 0;
        if (how.interpolates) {
            double all_counts = 0, all = 0;
            for (std::size_t k = 0; k < classes; ++k) all_counts += count(k), all += total(k);
            general = all > 0 ? all_counts / all : 0;
        }
        bool seen = false;
        for (std::size_t k = 0; k < classes; ++k) {
            const double p = estimate(how, count(k), total(k), size, general);
            impossible[k] = !(p > 0);
            seen |= p > 0;
            log[k] = p > 0 ? logarithm(p) : 0;
        }
        if (!seen) std::fill(impossible.begin(), impossible.end(), 0);
    }

    // The same with the logarithms of small counts: `counted(k)` is what they were found by.
    template <class Counted, class Count, class Total>
    MARKONE_INLINE void of(const smoothing& how, const small_counts& known, Counted counted, Count count, Total total,
                           double size) {
        if (!known.exist()) return of(how, count, total, size);
        for (std::size_t k = 0; k < log.size(); ++k) {
            const double p = known.has(counted(k)) ? 1 : estimate(how, count(k), total(k), size, 0);
            impossible[k] = !(p > 0);
            log[k] = known.has(counted(k)) ? known(k, counted(k)) : p > 0 ? logarithm(p) : 0;
        }
    }
};

// Sums of logarithms in units of 2⁻⁶⁴. They do not depend on the order, and what was added can be subtracted.
using fixed = int128;
MARKONE_INLINE fixed to_fixed(double x) {
    return static_cast<fixed>(x * 0x1p64);
}
MARKONE_INLINE double from_fixed(fixed x) {
    return static_cast<double>(x) * 0x1p-64;
}

// The logarithms for a feature that is absent, and their change if it is present.
struct presence_logs {
    event_logs there, absent;

    explicit presence_logs(std::size_t classes) : there(classes), absent(classes) {}

    template <class Count, class Total>
    MARKONE_INLINE void of(const smoothing& how, Count count, Total total) {
        there.of(how, count, total, 2);
        // If importance is not a whole number, rounding may leave a small negative count.
        absent.of(how, [&](std::size_t k) { return std::max(0.0, total(k) - count(k)); }, total, 2);
    }
    // For a single class with Laplace smoothing, which does not depend on the other classes.
    MARKONE_INLINE void of_class(const smoothing& how, std::size_t k, double count, double total) {
        there.log[k] = logarithm(estimate(how, count, total, 2, 0));
        absent.log[k] = logarithm(estimate(how, std::max(0.0, total - count), total, 2, 0));
        there.impossible[k] = absent.impossible[k] = 0;
    }
    MARKONE_INLINE double log(std::size_t k) const { return there.log[k] - absent.log[k]; }
    MARKONE_INLINE std::int32_t impossible(std::size_t k) const { return there.impossible[k] - absent.impossible[k]; }
};

// The score of a class before any event: its prior, and the probability that all bernoulli features are absent.
struct class_start {
    double log_prior = 0;
    fixed base = 0;
    std::int64_t impossible = 0;

    MARKONE_INLINE void add_absent(const presence_logs& logs, std::size_t k, int sign = 1) {
        base += sign * to_fixed(logs.absent.log[k]);
        impossible += sign * logs.absent.impossible[k];
    }
};

// log P(y), from given probabilities or from the row counts of the classes. A class without rows is impossible.
inline void set_priors(std::vector<class_start>& classes, const std::optional<std::span<const double>>& given,
                       std::span<const double> rows) {
    double all = 0;
    for (const double some : rows) all += some;
    for (std::size_t k = 0; k < classes.size(); ++k) {
        const double p = given ? (*given)[k] : all > 0 ? rows[k] / all : 1 / static_cast<double>(classes.size());
        classes[k].log_prior = p > 0 ? logarithm(p) : -std::numeric_limits<double>::infinity();
        classes[k].impossible += !(p > 0);
    }
}

// ---- numbers

struct moments {
    bool known;
    double mean, variance;
};

inline moments moments_of(const number_sums& sums) {
    constexpr double rounding = 0x1p-98;  // a standard deviation below 2⁻⁴⁹ of the values is only rounding
    if (!(sums.weight > 0)) return {false, 0, 0};
    const twofold apart = sums.squares * sums.weight - square(sums.sum);
    const double variance = apart.high / sums.weight / sums.weight;
    const bool spread = variance > rounding * (sums.squares.high / sums.weight);
    return {true, sums.sum.high / sums.weight, spread ? variance : 0};
}

// The moments of a number in each class and in all classes.
struct number_moments {
    std::vector<moments> of_class;
    moments of_all;

    template <class Sums>
    void of(std::size_t classes, Sums sums) {
        of_class.resize(classes);
        number_sums all;
        for (std::size_t k = 0; k < classes; ++k) {
            const number_sums some = sums(k);
            of_class[k] = moments_of(some);
            all = all + some;
        }
        of_all = moments_of(all);
    }
};

// log of the normal density: constant + factor · (x - mean)². It is finite, however far x is from the mean.
MARKONE_INLINE double log_density(double x, double mean, double factor, double constant) {
    constexpr double lowest = -1e290;
    const double away = factor * ((x - mean) * (x - mean));
    return constant + (away > lowest ? away : lowest);
}

struct bell {
    double mean = 0, factor = 0, constant = 0;

    // A class without values of a number uses those of all classes. A number with a variance of 0 is ignored: it has
    // no bell.
    static bell of(const number_moments& number, std::size_t k, double more) {
        constexpr double narrowest = 1e-300, two_pi = 6.283185307179586;
        const moments& mine = number.of_class[k].known ? number.of_class[k] : number.of_all;
        if (!mine.known || (number.of_all.variance == 0 && more == 0)) return {};
        const double variance = std::max(mine.variance + more, narrowest);
        return {mine.mean, -0.5 / variance, -0.5 * logarithm(two_pi * variance)};
    }
    MARKONE_INLINE double operator()(double x) const { return log_density(x, mean, factor, constant); }
};

inline double added_variance(const smoothing& how, std::span<const number_moments> numbers) {
    double largest = 0;
    for (const number_moments& number : numbers) largest = std::max(largest, number.of_all.variance);
    return how.of_variance * largest;
}

// ---- scoring

// The scores of one row. The logarithms of its events are added in a fixed order, to the partial sums in turn.
class row_scores {
  public:
    std::vector<std::int64_t> impossible;  // the number of impossible events in each class
    std::vector<double> of_numbers;        // the sum over numbers in each class, padded to whole registers

    // A score for each class or, with `odds`, the score of the second class minus that of the first.
    row_scores(std::size_t classes, bool odds)
        : impossible(classes),
          of_numbers((classes + 3) / 4 * 4),
          odds(odds),
          stride(stride_of(classes, odds)),
          part(8 * stride) {
        if (odds && classes != 2) throw std::invalid_argument("odds are those of two classes");
    }

    static std::size_t stride_of(std::size_t classes, bool odds) { return odds ? 1 : (classes + 3) / 4 * 4; }

    void clear() {
        std::fill(part.begin(), part.end(), 0.0);
        std::fill(impossible.begin(), impossible.end(), 0);
        std::fill(of_numbers.begin(), of_numbers.end(), 0.0);
        events = 0;
    }
    // Ignored events, and events that do not occur, use no partial sum, so that scores are the same without them.
    MARKONE_INLINE void add(const double* log, double times) {
        if (stride == 1)
            add_odds(*log, times);
        else if (!is_ignored(log, stride))
            add_certain(log, times);
    }
    // The same for odds, without a branch.
    MARKONE_INLINE void add_odds(double log, double times) {
        part[events % 8] += times * log;
        events += (log != 0) & (times != 0);
    }
    // The same for all classes, for an event that is not ignored.
    MARKONE_INLINE void add_certain(const double* __restrict log, double times) {
        double* const __restrict to = part.data() + events % 2 * stride;
        for (std::size_t k = 0; k < stride; k += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) to[k + lane] += times * log[k + lane];
        events += times != 0;
    }
    static bool is_ignored(const double* log, std::size_t stride) {
        return std::all_of(log, log + stride, [](double one) { return one == 0; });
    }

    // If all classes are impossible, the prior decides.
    void finish(std::span<const class_start> classes, double* out) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        for (std::size_t width = lanes() / 2; width > 0; width /= 2)
            for (std::size_t i = 0; i < width * stride; ++i) part[i] += part[i + width * stride];
        bool possible = false;
        for (std::size_t k = 0; k < classes.size(); ++k) {
            impossible[k] += classes[k].impossible;
            possible |= impossible[k] == 0;
        }
        if (odds) {
            const class_start &first = classes[0], &second = classes[1];
            if (!possible)
                out[0] = second.log_prior - first.log_prior;
            else if (impossible[0] != 0 || impossible[1] != 0)
                out[0] = impossible[0] != 0 ? infinity : -infinity;
            else
                out[0] = part[0] + (of_numbers[1] - of_numbers[0]) +
                         ((second.log_prior - first.log_prior) + from_fixed(second.base - first.base));
            return;
        }
        for (std::size_t k = 0; k < classes.size(); ++k)
            if (!possible)
                out[k] = classes[k].log_prior;
            else if (impossible[k] != 0)
                out[k] = -infinity;
            else
                out[k] = part[k] + of_numbers[k] + (classes[k].log_prior + from_fixed(classes[k].base));
    }

  private:
    std::size_t lanes() const { return stride == 1 ? 8 : 2; }

    bool odds;
    std::size_t stride;
    std::vector<double> part;
    std::size_t events = 0;
};

// The logarithms of the estimates, computed from the counts.
class event_tables {
  public:
    const event_groups groups;
    const smoothing how;
    const std::size_t classes;
    const bool odds;
    const std::size_t stride;
    table<double> logs;                   // features × stride
    bool ignores_some = false;            // whether all logarithms of some feature are 0
    std::vector<std::int8_t> impossible;  // features × classes; empty if every event is possible
    std::vector<class_start> starts;      // by class
    std::vector<double> totals;           // groups × classes: the number of events
    std::vector<number_moments> of_numbers;
    std::vector<bell> bells;   // numbers × classes
    const std::size_t padded;  // the number of classes, rounded up to whole registers
    table<double> curves;      // the same bells, numbers × (mean, factor, constant) × padded

    // `others` are the events of pruned features, for each group and class.
    event_tables(const event_counts& from, std::span<const double> others, const smoothing& how,
                 const std::optional<std::span<const double>>& priors, bool odds)
        : groups(from.groups),
          how(how),
          classes(from.classes),
          odds(odds),
          stride(row_scores::stride_of(from.classes, odds)),
          logs(from.groups.features * stride),
          starts(from.classes),
          totals(others.begin(), others.end()),
          of_numbers(from.groups.numbers),
          bells(from.groups.numbers * from.classes),
          padded((from.classes + 3) / 4 * 4),
          curves(from.groups.numbers * 3 * padded) {
        from.check();
        if (others.size() != groups.groups.size() * classes || (priors && priors->size() != classes))
            throw std::invalid_argument("the counts have the wrong shape");
        set_priors(starts, priors, from.rows);
        for (const event_group& group : groups.groups)
            if (group.kind == likelihood::bernoulli)
                set_presence(group, from);
            else if (group.kind != likelihood::gaussian)
                set_draws(group, from);
        for (std::size_t n = 0; n < groups.numbers; ++n)
            of_numbers[n].of(classes, [&](std::size_t k) {
                return number_sums::read(from.numbers.data() + n * number_planes * classes + k, classes);
            });
        const double more = added_variance(how, of_numbers);
        for (std::size_t n = 0; n < groups.numbers; ++n)
            for (std::size_t k = 0; k < classes; ++k) {
                const bell found = bells[n * classes + k] = bell::of(of_numbers[n], k, more);
                double* const at = curves.data() + n * 3 * padded + k;
                at[0] = found.mean;
                at[padded] = found.factor;
                at[2 * padded] = found.constant;
            }
    }

  private:
    void set_draws(const event_group& group, const event_counts& from) {
        double* const total = totals.data() + group.number * classes;
        for (std::size_t f = group.start; f < group.end; ++f)
            for (std::size_t k = 0; k < classes; ++k) total[k] += from.counts[f * classes + k];
        event_logs found(classes);
        const auto total_of = [&](std::size_t k) { return total[k]; };
        const small_counts known(
            how, classes, group.end - group.start, [](std::size_t, double c) { return c; }, total_of, group.size);
        for (std::size_t f = group.start; f < group.end; ++f) {
            const double* const count = from.counts.data() + f * classes;
            const auto count_of = [&](std::size_t k) { return count[k]; };
            found.of(how, known, count_of, count_of, total_of, group.size);
            put(f, [&](std::size_t k) { return found.log[k]; }, [&](std::size_t k) { return found.impossible[k]; });
        }
    }
    void set_presence(const event_group& group, const event_counts& from) {
        presence_logs found(classes);
        const std::size_t features = group.end - group.start;
        const auto total_of = [&](std::size_t k) { return from.rows[k]; };
        const auto without = [&](std::size_t k, double c) { return std::max(0.0, from.rows[k] - c); };
        const small_counts there(how, classes, features, [](std::size_t, double c) { return c; }, total_of, 2);
        const small_counts absent(how, classes, features, without, total_of, 2);
        for (std::size_t f = group.start; f < group.end; ++f) {
            const double* const count = from.counts.data() + f * classes;
            const auto count_of = [&](std::size_t k) { return count[k]; };
            found.there.of(how, there, count_of, count_of, total_of, 2);
            found.absent.of(how, absent, count_of, [&](std::size_t k) { return without(k, count[k]); }, total_of, 2);
            for (std::size_t k = 0; k < classes; ++k) starts[k].add_absent(found, k);
            put(f, [&](std::size_t k) { return found.log(k); }, [&](std::size_t k) { return found.impossible(k); });
        }
    }
    template <class Log, class Impossible>
    void put(std::size_t f, Log log, Impossible is_impossible) {
        if (odds)
            logs[f] = log(1) - log(0);
        else
            for (std::size_t k = 0; k < classes; ++k) logs[f * stride + k] = log(k);
        ignores_some |= row_scores::is_ignored(logs.data() + f * stride, stride);
        for (std::size_t k = 0; k < classes; ++k)
            if (const std::int32_t mark = is_impossible(k); mark != 0) {
                if (impossible.empty()) impossible.resize(groups.features * classes);
                impossible[f * classes + k] = static_cast<std::int8_t>(mark);
            }
    }
};

// Counting and scoring, compiled for each level of processors (counting.cpp).
template <class Rows>
struct loops_of {
    // Adds the rows to the counts, and returns the sum of their importance.
    double (*count)(const event_counts& to, const Rows& rows, const visits& which);
    // Row i's scores go to out + i * columns, which are the classes or one for the odds.
    void (*score)(const event_tables& by, const Rows& rows, double* out);
};

}  // namespace markone::bayes

// Compiled once for each MARKONE_LEVEL: `baseline` for every processor, `v3` for x86-64-v3.
//
// The loops of naive Bayes over rows: counting and scoring. Most rows have one kind of event (`event_groups::only`),
// and their loops look nothing up. The others find the group of each value.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "bayes/counts.h"

namespace markone::MARKONE_LEVEL {

using namespace bayes;

template <class Rows>
loops_of<Rows> loops_of_events();

namespace {

constexpr std::size_t values_ahead = 16;

// Sums of numbers by class while rows are counted. The sums of one class are adjacent, so that they fill registers.
template <class T>
class number_adder {
  public:
    number_adder(std::size_t numbers, std::size_t classes) : numbers(numbers), planes(classes) {}

    // `missing` is null if no number can be missing.
    void add(const T* values, const std::uint8_t* missing, std::size_t y, double h) {
        if (numbers == 0) return;
        if (planes[y].empty()) planes[y].resize(number_planes * numbers);
        double* const __restrict at = planes[y].data();
        if (missing != nullptr)
            add_as(values, at, [&](number_sums one, std::size_t n) { return one * (missing[n] ? 0 : h); });
        else if (h != 1)
            add_as(values, at, [&](number_sums one, std::size_t) { return one * h; });
        else
            add_once<1>(std::span<const T* const, 1>(&values, 1), at);
    }

    // Adds rows of one class, which each count once and have no missing number, some at a time.
    void add_all(std::span<const T* const> rows, std::size_t y) {
        if (numbers == 0 || rows.empty()) return;
        if (planes[y].empty()) planes[y].resize(number_planes * numbers);
        std::size_t i = 0;
        for (; i + 8 <= rows.size(); i += 8) add_once(rows.subspan(i).template first<8>(), planes[y].data());
        for (; i < rows.size(); ++i) add_once(rows.subspan(i).template first<1>(), planes[y].data());
    }

    // Adds these sums to those of all rows that were counted before.
    void finish(std::span<double> to) const {
        const std::size_t classes = planes.size();
        for (std::size_t y = 0; y < classes; ++y) {
            if (planes[y].empty()) continue;
            for (std::size_t n = 0; n < numbers; ++n) {
                double* const at = to.data() + n * number_planes * classes + y;
                const number_sums more = number_sums::read(planes[y].data() + n, numbers);
                (number_sums::read(at, classes) + more).write(at, classes);
            }
        }
    }

  private:
    template <class Weighted>
    void add_as(const T* __restrict values, double* __restrict at, Weighted weighted) {
        for (std::size_t n = 0; n < numbers; ++n)
            (number_sums::read(at + n, numbers) + weighted(number_sums::of(values[n]), n)).write(at + n, numbers);
    }
    // With fewer additions: rows are added to each other first, and what is lost by rounding is kept.
    template <std::size_t count>
    void add_once(std::span<const T* const, count> rows, double* __restrict at) {
        const T* values[count];
        for (std::size_t i = 0; i < count; ++i) values[i] = rows[i];
        for (std::size_t n = 0; n < numbers; ++n)
            (number_sums::read(at + n, numbers) + sums_of<0, count>(values, n)).write(at + n, numbers);
    }
    // The sums of some rows, of which the second double may overlap the first.
    template <std::size_t first, std::size_t count>
    MARKONE_INLINE static number_sums sums_of(const T* const* values, std::size_t n) {
        if constexpr (count == 1) {
            return number_sums::of(values[first][n]);
        } else {
            const number_sums a = sums_of<first, count / 2>(values, n);
            const number_sums b = sums_of<first + count / 2, count / 2>(values, n);
            return {a.weight + b.weight, add_loosely(a.sum, b.sum), add_loosely(a.squares, b.squares)};
        }
    }
    MARKONE_INLINE static twofold add_loosely(twofold a, twofold b) {
        const twofold sum = add_exactly(a.high, b.high);
        return {sum.high, sum.low + (a.low + b.low)};
    }

    const std::size_t numbers;
    std::vector<std::vector<double>> planes;
};

// Calls use(feature, value) for each value of a row, and ahead(feature) some values earlier. Values that are prefetched
// may belong to the next row, up to `last`.
template <class T, class Ahead, class Use>
MARKONE_INLINE void each_value(sparse_row<T> x, const std::uint32_t* last, Ahead ahead, Use use) {
    const std::size_t known = static_cast<std::size_t>(last - x.index);
    const std::size_t with_next = std::min(x.size(), known - std::min(known, values_ahead));
    for (std::size_t i = 0; i < with_next; ++i) {
        ahead(std::size_t{x.index[i + values_ahead]});
        use(x.feature(i), x.value(i));
    }
    for (std::size_t i = with_next; i < x.size(); ++i) use(x.feature(i), x.value(i));
}
template <class T>
const std::uint32_t* last_index(const sparse_rows<T>& rows) {
    return rows.indices.data() + rows.indices.size();
}
template <class T>
const std::uint32_t* last_index(const dense_rows<T>&) {
    return nullptr;
}

// Calls use(row, class, importance) for each visit that counts, and returns the sum of their importance.
template <class Rows, class Use>
MARKONE_INLINE double each_visit(const event_counts& to, const Rows& rows, const visits& which, Use use) {
    const std::size_t visits = which.count(rows.size());
    double importance = 0;
    for (std::size_t i = 0; i < visits; ++i) {
        const std::size_t row = which.row(i, rows.size()), y = which.label(row, to.classes);
        const double h = which.importance_of(row);
        if (h == 0) continue;
        importance += h;
        to.rows[y] += h;
        use(row, y, h);
    }
    return importance;
}

// The counts of one class, which are adjacent meanwhile, so that they fill registers and caches. The sums have the same
// bits as in the table: each begins with what was counted before.
class counts_of_class {
  public:
    counts_of_class(const event_counts& all, std::size_t y) : all(all), y(y), plane(all.groups.features) {
        for (std::size_t f = 0; f < plane.size(); ++f) plane[f] = all.counts[f * all.classes + y];
    }
    double* data() { return plane.data(); }
    void finish() const {
        for (std::size_t f = 0; f < plane.size(); ++f) all.counts[f * all.classes + y] = plane[f];
    }

  private:
    const event_counts& all;
    const std::size_t y;
    table<double> plane;
};

// Adds an event for each value of a row to counts that are `step` apart. A value of 0 adds 0.
template <class T, class Times>
MARKONE_INLINE void count_row(sparse_row<T> x, const std::uint32_t* last, double* at, std::size_t step, double h,
                              Times times) {
    each_value(
        x, last, [&](std::size_t feature) { prefetch_to_write(at + feature * step); },
        [&](std::size_t feature, T value) { at[feature * step] += h * times(value); });
}
template <class T, class Times>
MARKONE_INLINE void count_row(dense_row<T> x, const std::uint32_t*, double* at_first, std::size_t step, double h,
                              Times times) {
    const T* const __restrict values = x.values;
    double* const __restrict at = at_first;
    if (step == 1)
        for (std::size_t f = 0; f < x.size(); ++f) at[f] += h * times(values[f]);
    else
        for (std::size_t f = 0; f < x.size(); ++f) at[f * step] += h * times(values[f]);
}

// Events of one kind. If there are many rows, those of one class are counted after those of another.
template <class T, class Rows, class Times>
double count_events(const event_counts& to, const Rows& rows, const visits& which, Times times) {
    struct visit {
        std::size_t row;
        double h;
    };
    const std::size_t classes = to.classes;
    const std::uint32_t* const last = last_index(rows);
    if (rows.stored() / rows.size() * which.count(rows.size()) < 2 * to.counts.size())
        return each_visit(to, rows, which, [&](std::size_t row, std::size_t y, double h) {
            count_row(rows[row], last, to.counts.data() + y, classes, h, times);
        });
    std::vector<std::vector<visit>> of_class(classes);
    const double importance =
        each_visit(to, rows, which, [&](std::size_t row, std::size_t y, double h) { of_class[y].push_back({row, h}); });
    for (std::size_t y = 0; y < classes; ++y) {
        if (of_class[y].empty()) continue;
        counts_of_class counts(to, y);
        for (std::size_t i = 0; i < of_class[y].size(); ++i) {
            if (i + 1 < of_class[y].size()) rows[of_class[y][i + 1].row].prefetch();
            count_row(rows[of_class[y][i].row], last, counts.data(), 1, of_class[y][i].h, times);
        }
        counts.finish();
    }
    return importance;
}

template <class T, class Rows>
double count(const event_counts& to, const Rows& rows, const visits& which) {
    to.check();
    check_visits(rows, which, to.groups.features, to.classes);
    const event_group* const only = to.groups.only();
    if (rows.size() == 0) return 0;
    if (only != nullptr && only->kind != likelihood::gaussian)
        return only->kind == likelihood::multinomial
                   ? count_events<T>(to, rows, which, [](T value) { return static_cast<double>(value); })
                   : count_events<T>(to, rows, which, [](T value) { return value != 0 ? 1.0 : 0.0; });
    number_adder<T> numbers(to.groups.numbers, to.classes);
    double importance = 0;
    if constexpr (std::is_same_v<Rows, dense_rows<T>>)
        if (only != nullptr && rows.width() == to.groups.features) {
            std::vector<std::vector<const T*>> of_class(to.classes);
            importance = each_visit(to, rows, which, [&](std::size_t row, std::size_t y, double h) {
                if (!which.importance)
                    of_class[y].push_back(rows[row].values);
                else
                    numbers.add(rows[row].values, nullptr, y, h);
            });
            for (std::size_t y = 0; y < to.classes; ++y) numbers.add_all(of_class[y], y);
            numbers.finish(to.numbers);
            return importance;
        }
    event_reader<T> reader(to.groups);
    double* const counts = to.counts.data();
    const std::size_t classes = to.classes;
    const bool any_missing = !to.groups.indicators.empty();
    importance = each_visit(to, rows, which, [&](std::size_t row, std::size_t y, double h) {
        reader.read(
            rows[row], [&](std::size_t feature) { prefetch_to_write(counts + feature * classes + y); },
            [&](const event_group& group, std::size_t feature, T value) {
                counts[feature * classes + y] += h * times_in(group, static_cast<double>(value));
            });
        numbers.add(reader.numbers.data(), any_missing ? reader.missing.data() : nullptr, y, h);
    });
    numbers.finish(to.numbers);
    return importance;
}

// ---- scoring

// Adds the log-densities of numbers to the scores of all classes.
template <class T>
void add_numbers(const event_tables& by, const T* values, const std::uint8_t* missing, double* __restrict to) {
    const std::size_t padded = by.padded;
    for (std::size_t n = 0; n < by.groups.numbers; ++n) {
        if (missing != nullptr && missing[n]) continue;
        const double x = static_cast<double>(values[n]);
        const double* const __restrict mean = by.curves.data() + n * 3 * padded;
        const double* const __restrict factor = mean + padded;
        const double* const __restrict constant = factor + padded;
        for (std::size_t k = 0; k < padded; ++k) to[k] += log_density(x, mean[k], factor[k], constant[k]);
    }
}

// The values of a dense row that are not 0, as a sparse row.
template <class T>
class thin_rows {
  public:
    explicit thin_rows(std::size_t width) : features(width), values(width) {}

    sparse_row<T> of(dense_row<T> x) {
        std::size_t found = 0;
        for (std::size_t f = 0; f < x.size(); ++f) {  // without a branch, which would often be guessed wrongly
            features[found] = static_cast<std::uint32_t>(f);
            values[found] = x.value(f);
            found += x.value(f) != 0;
        }
        return {features.data(), values.data(), found};
    }

  private:
    std::vector<std::uint32_t> features;
    std::vector<T> values;
};

// Adds the logarithms of a row's events to the scores, with `add(logarithms of the feature, times)`.
template <class T, class Times, class Add>
MARKONE_INLINE void add_row(const event_tables& by, sparse_row<T> x, const std::uint32_t* last, Times times, Add add) {
    const double* const logs = by.logs.data();
    const std::size_t stride = by.stride;
    each_value(
        x, last, [&](std::size_t feature) { prefetch_lines(logs + feature * stride, stride); },
        [&](std::size_t feature, T value) { add(logs + feature * stride, times(value)); });
}

template <class T, class Rows>
void score(const event_tables& by, const Rows& rows, double* out) {
    if (rows.width() > by.groups.features) throw std::invalid_argument("rows are wider than the counts");
    const event_group* const only = by.impossible.empty() ? by.groups.only() : nullptr;
    const std::size_t columns = by.odds ? 1 : by.classes, stride = by.stride;
    const double* const logs = by.logs.data();
    row_scores scores(by.classes, by.odds);
    const auto each_row = [&](auto add) {
        for (std::size_t row = 0; row < rows.size(); ++row, out += columns) {
            scores.clear();
            add(rows[row]);
            scores.finish(by.starts, out);
        }
    };
    if (only != nullptr && only->kind != likelihood::gaussian) {
        const auto add_all = [&](auto times, auto add) {
            if constexpr (std::is_same_v<Rows, dense_rows<T>>) {
                thin_rows<T> thin(rows.width());
                each_row([&](dense_row<T> x) {
                    const sparse_row<T> found = thin.of(x);
                    add_row(by, found, found.index + found.size(), times, add);
                });
            } else {
                each_row([&](sparse_row<T> x) { add_row(by, x, last_index(rows), times, add); });
            }
        };
        const auto add_as = [&](auto times) {
            if (by.odds)
                add_all(times, [&](const double* log, double some) { scores.add_odds(*log, some); });
            else if (by.ignores_some)
                add_all(times, [&](const double* log, double some) { scores.add(log, some); });
            else
                add_all(times, [&](const double* log, double some) { scores.add_certain(log, some); });
        };
        if (only->kind == likelihood::multinomial)
            add_as([](T value) { return static_cast<double>(value); });
        else
            add_as([](T value) { return value != 0 ? 1.0 : 0.0; });
        return;
    }
    if constexpr (std::is_same_v<Rows, dense_rows<T>>)
        if (only != nullptr && rows.width() == by.groups.features) {
            each_row([&](const auto& x) { add_numbers(by, x.values, nullptr, scores.of_numbers.data()); });
            return;
        }
    event_reader<T> reader(by.groups);
    each_row([&](const auto& x) {
        reader.read(
            x, [&](std::size_t feature) { prefetch(logs + feature * stride); },
            [&](const event_group& group, std::size_t feature, T value) {
                scores.add(logs + feature * stride, times_in(group, static_cast<double>(value)));
                if (by.impossible.empty()) return;
                for (std::size_t k = 0; k < by.classes; ++k)
                    scores.impossible[k] += by.impossible[feature * by.classes + k];
            });
        add_numbers(by, reader.numbers.data(), reader.missing.data(), scores.of_numbers.data());
    });
}

}  // namespace

template <>
loops_of<sparse_rows<float>> loops_of_events() {
    return {count<float, sparse_rows<float>>, score<float, sparse_rows<float>>};
}
template <>
loops_of<sparse_rows<double>> loops_of_events() {
    return {count<double, sparse_rows<double>>, score<double, sparse_rows<double>>};
}
template <>
loops_of<dense_rows<float>> loops_of_events() {
    return {count<float, dense_rows<float>>, score<float, dense_rows<float>>};
}
template <>
loops_of<dense_rows<double>> loops_of_events() {
    return {count<double, dense_rows<double>>, score<double, dense_rows<double>>};
}

}  // namespace markone::MARKONE_LEVEL

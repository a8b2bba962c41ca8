// Operations on rows between counting and training: renumbering of features, weighting of values, joining of rows,
// scaling to length 1; and counts of features in each class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/hash_table.h"
#include "base/portable.h"
#include "rows/row_builder.h"
#include "rows/rows.h"

namespace markone {

constexpr std::size_t values_ahead = 16;  // the data of a feature are prefetched this many values ahead

// Rows of finished features. Their memory may be larger than needed, because what is not written costs nothing.
struct refined_rows {
    std::vector<std::int64_t> indptr{0};
    std::unique_ptr<std::uint32_t[]> indices;
    std::unique_ptr<float[]> values;
    std::size_t stored = 0;
};

// Feature i becomes numbers[i], or is left out if that is npos; without numbers it is unchanged. Rows without values
// have the value 1 everywhere.
inline refined_rows refine(const sparse_rows<float>& from, std::span<const std::uint32_t> numbers,
                           const valuation& values) {
    refined_rows rows;
    rows.indptr.reserve(from.indptr.size());
    rows.indices = std::make_unique_for_overwrite<std::uint32_t[]>(from.stored() + 1);
    rows.values = std::make_unique_for_overwrite<float[]>(from.stored() + 1);
    const auto first = static_cast<std::size_t>(from.indptr.front()), end = first + from.stored();
    const std::size_t weighted = values.weights.empty() ? npos : values.weights.size();
    const bool counted = !from.values.empty();
    std::size_t count = 0;
    const auto fill = [&](auto value_of) {
        for (std::size_t row = 0; row < from.size(); ++row) {
            const auto stop = static_cast<std::size_t>(from.indptr[row + 1]);
            for (auto i = static_cast<std::size_t>(from.indptr[row]); i < stop; ++i) {
                std::uint32_t number = from.indices[i];
                if (!numbers.empty()) {
                    if (i + values_ahead < end) prefetch(numbers.data() + from.indices[i + values_ahead]);
                    number = numbers[number];
                }
                if (number != npos && number >= weighted) throw std::invalid_argument("a feature has no weight");
                // Always written, and overwritten next if it is left out, because a branch could not be predicted.
                rows.indices[count] = number;
                rows.values[count] = value_of(number == npos ? 0 : number, i);
                count += number != npos;
            }
            rows.indptr.push_back(static_cast<std::int64_t>(count));
        }
    };
    if (values.value == counted_as::binary && !values.weights.empty())  // usual, and nothing has to be computed
        fill([&](std::uint32_t number, std::size_t) { return values.weights[number]; });
    else
        fill([&](std::uint32_t number, std::size_t i) { return values(number, counted ? from.values[i] : 1); });
    rows.stored = count;
    return rows;
}

// Rows side by side: the features of each part come after all features of the parts before it.
inline void join(std::span<const sparse_rows<float>> parts, growing_rows& rows) {
    if (parts.empty()) throw std::invalid_argument("there are no rows to join");
    const std::size_t count = parts.front().size();
    std::size_t stored = 0, width = 0;
    for (const auto& part : parts) {
        if (part.size() != count) throw std::invalid_argument("the parts differ in rows");
        stored += part.stored();
        width += part.width();
    }
    check_numbers(width, "too many features");
    rows.reserve(stored, count);
    for (std::size_t row = 0; row < count; ++row) {
        std::size_t start = 0;
        for (const auto& part : parts) {
            const sparse_row<float> x = part[row];
            for (std::size_t i = 0; i < x.size(); ++i)
                rows.add(static_cast<std::uint32_t>(start + x.feature(i)), x.value(i));
            start += part.width();
        }
        rows.end_row();
    }
}

inline void take(const sparse_rows<float>& from, std::span<const std::int64_t> which, growing_rows& rows) {
    rows.indptr.reserve(which.size() + 1);
    for (const std::int64_t row : which) {
        if (row < 0 || static_cast<std::size_t>(row) >= from.size()) throw std::out_of_range("no such row");
        const sparse_row<float> x = from[static_cast<std::size_t>(row)];
        rows.indices.insert(rows.indices.end(), x.index, x.index + x.count);
        rows.values.insert(rows.values.end(), x.values, x.values + x.count);
        rows.end_row();
    }
}

// Dense rows without their zeros.
inline void thin(const dense_rows<float>& from, growing_rows& rows) {
    check_numbers(from.width(), "too many features");
    rows.indptr.reserve(from.size() + 1);
    for (std::size_t row = 0; row < from.size(); ++row) {
        const dense_row<float> x = from[row];
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x.value(i) != 0) rows.add(static_cast<std::uint32_t>(i), x.value(i));
        rows.end_row();
    }
}

// Divides a row by its length; a row of zeros is unchanged.
inline void to_unit_length(std::span<float> x) {
    double norm2 = 0;
    for (const float value : x) norm2 += double{value} * value;
    if (norm2 == 0) return;
    const double scale = 1 / std::sqrt(norm2);
    for (float& value : x) value = static_cast<float>(value * scale);
}
inline void to_unit_length(std::span<const std::int64_t> indptr, std::span<float> values) {
    for (std::size_t row = 0; row + 1 < indptr.size(); ++row)
        to_unit_length(values.subspan(static_cast<std::size_t>(indptr[row]),
                                      static_cast<std::size_t>(indptr[row + 1] - indptr[row])));
}

// Pairs of a feature and a class, sorted by feature.
struct chosen_pairs {
    std::span<const std::uint32_t> features, classes;
};

// Where the pairs of a feature begin. Few features are chosen: a bit for each feature stays in the caches, and places
// of other features are never touched, so they cost nothing.
class places_of_pairs {
  public:
    places_of_pairs(std::span<const std::uint32_t> features, std::size_t width)
        : is_chosen(width), places(std::make_unique_for_overwrite<std::size_t[]>(width)) {
        if (!std::ranges::is_sorted(features)) throw std::invalid_argument("the chosen features are not in order");
        if (!features.empty() && features.back() >= width) throw std::out_of_range("no such feature");
        for (std::size_t pair = features.size(); pair-- > 0;) {
            is_chosen[features[pair]] = true;
            places[features[pair]] = pair;
        }
    }

    bool has(std::size_t feature) const { return is_chosen[feature]; }
    std::size_t first(std::size_t feature) const { return places[feature]; }

  private:
    std::vector<bool> is_chosen;
    std::unique_ptr<std::size_t[]> places;
};

// The number of rows in which the feature of each pair is not 0: rows of its class, and all labelled rows.
template <class T>
void count_rows_with(const sparse_rows<T>& rows, std::span<const std::int32_t> labels, const chosen_pairs& chosen,
                     std::span<std::int64_t> inside, std::span<std::int64_t> total) {
    const std::size_t pairs = chosen.features.size();
    if (labels.size() != rows.size()) throw std::invalid_argument("labels and rows differ in number");
    if (chosen.classes.size() != pairs || inside.size() != pairs || total.size() != pairs)
        throw std::invalid_argument("the arrays of the chosen features do not match");
    const places_of_pairs places(chosen.features, rows.width());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (labels[row] < 0) continue;
        const auto label = static_cast<std::uint32_t>(labels[row]);
        const sparse_row<T> x = rows[row];
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (!places.has(x.feature(i)) || x.value(i) == 0) continue;
            for (std::size_t pair = places.first(x.feature(i)); pair < pairs && chosen.features[pair] == x.feature(i);
                 ++pair) {
                total[pair] += 1;
                inside[pair] += chosen.classes[pair] == label;
            }
        }
    }
}

// The sum of each feature's values in the rows of each class. If rows are counted instead of values, those of the first
// class are what remains of all rows, so that they need not be counted: with two classes, that saves half of the work.
class class_counts {
  public:
    // Rows without a class belong to none. `presence` counts rows instead of values, which the rows then need not have;
    // it must be the same in each call.
    void add(const sparse_rows<float>& rows, std::span<const std::int32_t> labels, bool presence) {
        if (labels.size() != rows.size()) throw std::invalid_argument("labels and rows differ in number");
        if (classes() > 0 && presence != by_rows) throw std::invalid_argument("values and rows cannot both be counted");
        by_rows = presence;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            if (labels[row] < 0 && !presence) continue;
            const auto label = static_cast<std::size_t>(std::max(labels[row], 0));
            if (labels[row] >= 0 && label >= by_class.size()) by_class.resize(label + 1);
            if (labels[row] == 0 && presence) continue;
            std::vector<std::uint32_t>& counts = labels[row] < 0 ? of_no_class : by_class[label];
            if (counts.size() < rows.width()) counts.resize(rows.width());
            const auto begin = static_cast<std::size_t>(rows.indptr[row]);
            const std::span<const std::uint32_t> x =
                rows.indices.subspan(begin, static_cast<std::size_t>(rows.indptr[row + 1]) - begin);
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (i + values_ahead < x.size()) prefetch_to_write(counts.data() + x[i + values_ahead]);
                counts[x[i]] += presence ? 1 : static_cast<std::uint32_t>(rows.values[begin + i]);
            }
        }
    }

    std::size_t classes() const { return by_class.size(); }

    // All counts: of the rows without a class, and then of each class.
    std::vector<std::vector<std::uint32_t>> all() const {
        std::vector<std::vector<std::uint32_t>> found = by_class;
        found.insert(found.begin(), of_no_class);
        return found;
    }

    // Adds all counts of other rows, whose feature i is numbers[i] here.
    void add_all(std::span<const std::span<const std::uint32_t>> counts, std::span<const std::uint32_t> numbers,
                 bool presence) {
        if (counts.empty()) throw std::invalid_argument("there are no counts");
        if (classes() > 0 && presence != by_rows) throw std::invalid_argument("values and rows cannot both be counted");
        by_rows = presence;
        if (by_class.size() + 1 < counts.size()) by_class.resize(counts.size() - 1);
        const std::size_t width = numbers.empty() ? 0 : 1 + std::size_t{*std::ranges::max_element(numbers)};
        for (std::size_t k = 0; k < counts.size(); ++k) {
            if (counts[k].size() > numbers.size()) throw std::invalid_argument("a feature has no number");
            std::vector<std::uint32_t>& to = k == 0 ? of_no_class : by_class[k - 1];
            if (!counts[k].empty() && to.size() < width) to.resize(width);
            for (std::size_t i = 0; i < counts[k].size(); ++i) to[numbers[i]] += counts[k][i];
        }
    }

    // The counts of some features, class by class. If rows were counted, `rows_with` are the rows with each of them.
    void write(std::span<const std::uint32_t> features, std::span<const std::uint32_t> rows_with,
               std::span<std::uint32_t> to) const {
        if (by_rows && rows_with.size() != features.size())
            throw std::invalid_argument("it is not known in how many rows each feature is");
        const auto write_one = [&](const std::vector<std::uint32_t>& counts, std::span<std::uint32_t> row) {
            for (std::size_t i = 0; i < features.size(); ++i)
                row[i] = features[i] < counts.size() ? counts[features[i]] : 0;
        };
        const auto row_of = [&](std::size_t k) { return to.subspan(k * features.size(), features.size()); };
        for (std::size_t k = 0; k < classes(); ++k) write_one(by_class[k], row_of(k));
        if (!by_rows || classes() == 0) return;
        const std::span<std::uint32_t> first = row_of(0);
        write_one(of_no_class, first);
        for (std::size_t i = 0; i < features.size(); ++i) {
            std::uint32_t others = first[i];
            for (std::size_t k = 1; k < classes(); ++k) others += row_of(k)[i];
            if (others > rows_with[i]) throw std::invalid_argument("a feature is in fewer rows than were counted");
            first[i] = rows_with[i] - others;
        }
    }

  private:
    std::vector<std::vector<std::uint32_t>> by_class;
    std::vector<std::uint32_t> of_no_class;
    bool by_rows = false;
};

// Counts the occurrences of columns, and appends those that are new to `order`, as they come.
inline void count_columns(std::span<const std::uint32_t> columns, std::span<std::int64_t> counts,
                          std::vector<std::uint32_t>& order) {
    for (const std::uint32_t& from : columns) {
        const std::uint32_t column = read_once(from);
        if (column >= counts.size()) throw std::out_of_range("there is no such column");
        if (counts[column]++ == 0) order.push_back(column);
    }
}

// Column i becomes numbers[i]. Returns whether all of these are numbers of features, and not `unknown`.
inline bool renumber(std::span<const std::uint32_t> columns, std::span<const std::uint32_t> numbers,
                     std::uint32_t unknown, std::uint32_t* out) {
    bool known = true;
    for (const std::uint32_t& from : columns) {
        const std::uint32_t column = read_once(from);
        if (column >= numbers.size()) throw std::out_of_range("there is no such column");
        const std::uint32_t number = numbers[column];
        known &= number != unknown;
        *out++ = number;
    }
    return known;
}

}  // namespace markone

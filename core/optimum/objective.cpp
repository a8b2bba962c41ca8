// Compiled once for each MARKONE_LEVEL, as loops.cpp is.
#include "optimum/objective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "optimum/cross_entropy.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

namespace {

template <class Row>
MARKONE_INLINE void add_scaled(Row x, double factor, double* to) {
    for (std::size_t i = 0; i < x.size(); ++i) to[x.feature(i)] += factor * static_cast<double>(x.value(i));
}

// The same for many columns at once, some packs of which stay in registers.
constexpr std::size_t wide = register_bytes / sizeof(double), most_packs = 16 / wide;

template <std::size_t packs, class T>
MARKONE_INLINE void dots_of_packs(sparse_row<T> x, const double* w, std::size_t stride, double* out) {
    column_sums<double, packs, wide> sums;
    std::size_t i = 0;
    for (; i + 2 <= x.size(); i += 2) {
        sums.add(0, w + x.feature(i) * stride, static_cast<double>(x.value(i)));
        sums.add(1, w + x.feature(i + 1) * stride, static_cast<double>(x.value(i + 1)));
    }
    if (i < x.size()) sums.add(0, w + x.feature(i) * stride, static_cast<double>(x.value(i)));
    sums.store(out);
}

template <std::size_t packs, class T>
MARKONE_INLINE void add_packs(sparse_row<T> x, const double* factors, std::size_t stride, double* to) {
    using pack = typename pack_of<double, wide>::type;
    pack by[packs];
    std::memcpy(by, factors, sizeof by);
    for (std::size_t i = 0; i < x.size(); ++i) {
        double* const at = to + x.feature(i) * stride;
        for (std::size_t p = 0; p < packs; ++p) {
            pack lanes;
            std::memcpy(&lanes, at + wide * p, sizeof lanes);
            lanes += by[p] * static_cast<double>(x.value(i));
            std::memcpy(at + wide * p, &lanes, sizeof lanes);
        }
    }
}

// Calls use.template operator()<packs>(first column) until all columns have been somebody's.
template <class Use>
MARKONE_INLINE void in_packs(std::size_t stride, Use use) {
    std::size_t first = 0;
    for (; first + wide * most_packs <= stride; first += wide * most_packs) use.template operator()<most_packs>(first);
    [&]<std::size_t... packs>(std::index_sequence<packs...>) {
        const std::size_t left = (stride - first) / wide;
        static_cast<void>(((left == packs + 1 && (use.template operator()<packs + 1>(first), true)) || ...));
    }(std::make_index_sequence<most_packs - 1>());
}

template <class T>
MARKONE_NOINLINE void wide_dots(sparse_row<T> x, const double* w, std::size_t stride, double* out) {
    in_packs(stride,
             [&]<std::size_t packs>(std::size_t first) { dots_of_packs<packs>(x, w + first, stride, out + first); });
}

template <class T>
MARKONE_NOINLINE void add_outer(sparse_row<T> x, const double* factors, std::size_t stride, double* to) {
    in_packs(stride,
             [&]<std::size_t packs>(std::size_t first) { add_packs<packs>(x, factors + first, stride, to + first); });
}

template <class T>
constexpr bool is_sparse = false;
template <class T>
constexpr bool is_sparse<sparse_rows<T>> = true;

// What does not depend on what the rows are made of.
class scored_objective : public objective {
  public:
    std::span<const double> shares() const override { return share; }

    // ---- by the scores

    judgement judge(const double* scores, double* pulls) override {
        judgement found;
        if (stride() == 1) {
            std::array<double, 256> losses;
            for (std::size_t begin = 0; begin < rows(); begin += losses.size()) {
                const std::size_t count = std::min(losses.size(), rows() - begin);
                std::int64_t mistakes = 0;
                for (std::size_t j = 0; j < count; ++j) {
                    const std::size_t i = begin + j;
                    const binary_point at = binary_cross_entropy(scores[i], seconds[i]);
                    losses[j] = share[i] * at.loss;
                    pulls[i] = share[i] * at.slope;
                    bends[i] = share[i] * at.curvature;
                }
                for (std::size_t i = begin; i < begin + count; ++i)
                    mistakes += !((labels[i] != 0 ? scores[i] : -scores[i]) > 0);
                found.loss += sum<8, double>(count, [&](std::size_t j) { return losses[j]; });
                found.mistakes += mistakes;
            }
            return found;
        }
        for (std::size_t i = 0; i < rows(); ++i) {
            const double* const s = scores + i * stride();
            double* const p = bends.data() + i * stride();
            found.loss += share[i] * softmax(s, classes, labels[i], p);
            for (std::size_t k = 0; k < stride(); ++k) pulls[i * stride() + k] = share[i] * p[k];
            pulls[i * stride() + labels[i]] -= share[i];
            bool wins = true;
            for (std::size_t k = 0; k < classes; ++k) wins &= k == labels[i] || s[labels[i]] > s[k];
            found.mistakes += !wins;
        }
        return found;
    }

    line_point along(const double* scores, const double* steps, double t) const override {
        line_point total;
        if (stride() == 1) {
            std::array<double, 256> loss, slope, curvature;
            for (std::size_t begin = 0; begin < rows(); begin += loss.size()) {
                const std::size_t count = std::min(loss.size(), rows() - begin);
                for (std::size_t j = 0; j < count; ++j) {
                    const std::size_t i = begin + j;
                    const binary_point at = binary_cross_entropy(scores[i] + t * steps[i], seconds[i]);
                    loss[j] = share[i] * at.loss;
                    slope[j] = share[i] * at.slope * steps[i];
                    curvature[j] = share[i] * at.curvature * (steps[i] * steps[i]);
                }
                total.loss += sum<8, double>(count, [&](std::size_t j) { return loss[j]; });
                total.slope += sum<8, double>(count, [&](std::size_t j) { return slope[j]; });
                total.curvature += sum<8, double>(count, [&](std::size_t j) { return curvature[j]; });
            }
            return total;
        }
        std::vector<double> s(classes), p(classes);
        for (std::size_t i = 0; i < rows(); ++i) {
            const double* const q = steps + i * stride();
            for (std::size_t k = 0; k < classes; ++k) s[k] = scores[i * stride() + k] + t * q[k];
            total.loss += share[i] * softmax(s.data(), classes, labels[i], p.data());
            double mean = 0, square = 0;
            for (std::size_t k = 0; k < classes; ++k) mean += p[k] * q[k];
            for (std::size_t k = 0; k < classes; ++k) square += p[k] * ((q[k] - mean) * (q[k] - mean));
            total.slope += share[i] * (mean - q[labels[i]]);
            total.curvature += share[i] * square;
        }
        return total;
    }

    double bend(const double* steps, double* out) const override {
        if (stride() == 1) {
            for (std::size_t i = 0; i < rows(); ++i) out[i] = bends[i] * steps[i];
            return sum_straight<double>(rows(), [&](std::size_t i) { return out[i] * steps[i]; });
        }
        double total = 0;
        for (std::size_t i = 0; i < rows(); ++i) total += bend_row(i, steps + i * stride(), out + i * stride());
        return total;
    }

    void sums(const double* pulls, double* out) const override {
        if (stride() == 1) {
            out[0] = sum_straight<double>(rows(), [&](std::size_t i) { return pulls[i]; });
            return;
        }
        std::fill_n(out, stride(), 0.0);
        for (std::size_t i = 0; i < rows(); ++i)
            for (std::size_t k = 0; k < stride(); ++k) out[k] += pulls[i * stride() + k];
    }

    double inner(std::span<const double> a, std::span<const double> b) const override {
        return sum_straight<double>(a.size(), [&](std::size_t i) { return a[i] * b[i]; });
    }

    void precondition(const double* r, double* out) const override {
        const std::size_t size = features + 1;
        std::vector<double> z(size);
        for (std::size_t k = 0; k < columns(); ++k) {
            const double* const L = factors[k].data();
            for (std::size_t f = 0; f < size; ++f) {
                const double known = sum_straight<double>(f, [&](std::size_t j) { return L[f * size + j] * z[j]; });
                z[f] = (r[f * stride() + k] - known) / L[f * size + f];
            }
            for (std::size_t f = size; f-- > 0;) {
                z[f] /= L[f * size + f];
                const double by = z[f];
                const double* const row = L + f * size;
                for (std::size_t j = 0; j < f; ++j) z[j] -= row[j] * by;
            }
            for (std::size_t f = 0; f < size; ++f) out[f * stride() + k] = z[f];
        }
    }

  protected:
    using objective::objective;

    // Finds the rows that count, among so many. Every constructor begins with it.
    void choose(const visits& which, std::size_t count_of_all) {
        if (classes < 2) throw std::invalid_argument("there are fewer than two classes");
        check_lengths(which, count_of_all);
        const std::size_t count = which.count(count_of_all);
        if (count > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("too many rows");
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = which.row(i, count_of_all), y = which.label(at, classes);
            const double h = which.importance_of(at);
            check_importance(h);
            if (h == 0) continue;
            chosen.push_back(at);
            labels.push_back(static_cast<std::uint32_t>(y));
            seconds.push_back(static_cast<double>(y));
            share.push_back(h);
        }
        importance = sum<8, double>(rows(), [&](std::size_t i) { return share[i]; });
        for (double& h : share) h /= importance;
        bends.resize(by_rows());
    }

    // A = L L', in place, row by row; only the lower half is read and written. Some rows go on together, so that the
    // rows before them are read from slow memory once for all of these.
    static void cholesky(double* A, std::size_t size) {
        constexpr std::size_t together = 8;
        for (std::size_t begin = 0; begin < size; begin += together) {
            const std::size_t end = std::min(begin + together, size);
            for (std::size_t j = 0; j < end; ++j) {
                const double* const other = A + j * size;
                for (std::size_t i = std::max(begin, j); i < end; ++i) {
                    double* const row = A + i * size;
                    const double known = sum_straight<double>(j, [&](std::size_t e) { return row[e] * other[e]; });
                    const double rest = row[j] - known;
                    // What rounding has made of a pivot that is hardly there must not be the root of a negative number.
                    row[j] = j < i ? rest / other[j] : std::sqrt(std::max(rest, 1e-14 * row[j]));
                }
            }
        }
    }

    // The bend of a row's own score of class k.
    MARKONE_INLINE double own_bend(std::size_t i, std::size_t k) const {
        const double p = bends[i * stride() + k];
        return stride() == 1 ? p : share[i] * p * (1 - p);
    }

    MARKONE_INLINE double bend_row(std::size_t i, const double* q, double* out) const {
        const double* const p = bends.data() + i * stride();
        double mean = 0, total = 0;
        for (std::size_t k = 0; k < stride(); ++k) mean += p[k] * q[k];
        for (std::size_t k = 0; k < stride(); ++k) out[k] = share[i] * p[k] * (q[k] - mean);
        for (std::size_t k = 0; k < stride(); ++k) total += out[k] * q[k];
        return total;
    }

    MARKONE_INLINE static double violation(double slope, double at, double price) {
        if (at > 0) return std::abs(slope + price);
        if (at < 0) return std::abs(slope - price);
        return std::max(std::abs(slope) - price, 0.0);
    }

    std::vector<std::size_t> chosen;
    std::vector<double> seconds;  // 1 for each row of the second class, 0 for the others
    std::vector<double> share;    // of the importance
    table<double> bends;          // two classes: h/H p (1 - p) of each row; more: the probabilities
    std::vector<table<double>> factors;
};

// What depends on the numbers in the rows, but not on how they are stored.
template <class T>
class columns_objective : public scored_objective {
  public:
    double kernel(const double* c, double* out) const override {
        double largest = 0;
        for (std::size_t i = 0; i < rows(); ++i)
            for (std::size_t k = 0; k < stride(); ++k) {
                const std::size_t at = i * stride() + k;
                out[at] = lone_length2[i] * c[at];
                largest = std::max(largest, lone_largest[i] * std::abs(c[at]));
            }
        if (stride() == 1) {
            for (std::size_t j = 0; j < turned.size(); ++j) {
                const sparse_row<T> column = turned[j];
                const double u = dot(column, c);
                largest = std::max(largest, std::abs(u));
                add_scaled(column, u, out);
            }
            return largest;
        }
        std::vector<double> u(stride());
        for (std::size_t j = 0; j < turned.size(); ++j) {
            const sparse_row<T> column = turned[j];
            wide_dots(column, c, stride(), u.data());
            for (const double entry : u) largest = std::max(largest, std::abs(entry));
            add_outer(column, u.data(), stride(), out);
        }
        return largest;
    }

    void combine(const double* c, double* w) const override {
        std::fill_n(w, features * stride(), 0.0);
        for (std::size_t j = 0; j < turned.size(); ++j) {
            double* const to = w + numbers[j] * stride();
            if (stride() == 1)
                to[0] = dot(turned[j], c);
            else
                wide_dots(turned[j], c, stride(), to);
        }
        for (const auto& [feature, row, value] : lone)
            for (std::size_t k = 0; k < stride(); ++k)
                w[feature * stride() + k] += static_cast<double>(value) * c[row * stride() + k];
    }

    void diagonal(std::span<const std::uint32_t> pairs, double* out) const override {
        for (std::size_t j = 0; j < pairs.size(); ++j) {
            const std::size_t k = pairs[j] % stride();
            with_column(pairs[j], [&](auto x) {
                out[j] = sum<4, double>(x.size(), [&](std::size_t e) {
                    const auto value = static_cast<double>(x.value(e));
                    return value * value * own_bend(x.feature(e), k);
                });
            });
        }
    }

    double sweep(std::span<const std::uint32_t> pairs, const model& at) const override {
        double worst = 0;
        for (std::size_t j = 0; j < pairs.size(); ++j) {
            const std::uint32_t pair = pairs[j];
            const std::size_t k = pair % stride();
            with_column(pair, [&](auto x) {
                const bool is_bias = pair / stride() == features;
                const double slope = at.gradient[pair] + slope_of_model(x, k, at);
                const double before = at.target[pair], curvature = at.diagonal[j];
                const double price = is_bias ? 0 : at.strength;
                worst = std::max(worst, violation(slope, before, price));
                if (!(curvature > 0)) return;
                // The least of slope z + curvature z^2 / 2 + price |before + z|.
                const double free = before - slope / curvature, cut = price / curvature;
                const double after = free > cut ? free - cut : free < -cut ? free + cut : 0;
                const double z = after - before;
                if (z == 0) return;
                at.target[pair] = after;
                for (std::size_t e = 0; e < x.size(); ++e) {
                    const std::size_t i = x.feature(e);
                    const double step = z * static_cast<double>(x.value(e));
                    at.steps[i * stride() + k] += step;
                    if (stride() > 1) at.means[i] += bends[i * stride() + k] * step;
                }
            });
        }
        return worst;
    }

    // ---- the preconditioner

    void curvatures(double* out) const override {
        std::fill_n(out, by_features(), 0.0);
        packer<T> packed;
        for (std::size_t i = 0; i < rows(); ++i) {
            const sparse_row<T> x = packed_row(i, packed);
            for (std::size_t k = 0; k < columns(); ++k) {
                const double d = own_bend(i, k);
                for (std::size_t e = 0; e < x.size(); ++e) {
                    const auto value = static_cast<double>(x.value(e));
                    out[x.feature(e) * stride() + k] += d * (value * value);
                }
                out[features * stride() + k] += d;
            }
        }
    }

    void factorise(std::size_t every, double strength, std::span<const penalty_entry> more) override {
        const std::size_t size = features + 1;
        factors.resize(columns());
        std::vector<double> exact(by_features());
        if (every > dense_sample) curvatures(exact.data());
        double sampled = 0;
        for (std::size_t i = 0; i < rows(); i += every) sampled += share[i];
        packer<T> packed;
        std::vector<std::pair<std::size_t, double>> x;  // the row, in order, and the bias's 1 at its end
        for (std::size_t k = 0; k < columns(); ++k) {
            table<double>& block = factors[k];
            block.assign(size * size, 0);
            // Without a penalty there is nothing but rows to hold a class's weights, be it told apart from all by far.
            double least = least_bend;
            if (strength == 0) {
                double most = 0;
                for (std::size_t i = 0; i < rows(); i += every) most = std::max(most, own_bend(i, k) / share[i]);
                least = least_of_most * most;
            }
            for (std::size_t i = 0; i < rows(); i += every) {
                const double d = own_bend(i, k);
                if (d < least * share[i]) continue;
                const sparse_row<T> from = packed_row(i, packed);
                x.clear();
                for (std::size_t e = 0; e < from.size(); ++e)
                    x.emplace_back(from.feature(e), static_cast<double>(from.value(e)));
                if (!std::is_sorted(x.begin(), x.end())) std::sort(x.begin(), x.end());
                x.emplace_back(features, 1.0);
                for (std::size_t a = 0; a < x.size(); ++a) {
                    double* const row = block.data() + x[a].first * size;
                    const double by = d / sampled * x[a].second;
                    for (std::size_t b = 0; b <= a; ++b) row[x[b].first] += by * x[b].second;
                }
            }
            for (std::size_t f = 0; f < size; ++f)
                // What few rows do not show of a feature, all rows show on the diagonal.
                block[f * size + f] = std::max(block[f * size + f], exact[f * stride() + k]);
            for (std::size_t f = 0; f < features; ++f) block[f * size + f] += strength;
            for (const penalty_entry& one : more) block[one.row * size + one.column] += one.value;
            double trace = 0;
            for (std::size_t f = 0; f < size; ++f) trace += block[f * size + f];
            const double ridge =
                std::max(1e-10 * trace / static_cast<double>(size), std::numeric_limits<double>::min());
            for (std::size_t f = 0; f < size; ++f) block[f * size + f] += ridge;
            cholesky(block.data(), size);
        }
    }

  protected:
    using scored_objective::scored_objective;

    // A row without its zeros.
    virtual sparse_row<T> packed_row(std::size_t i, packer<T>& packed) const = 0;

    struct entry {
        std::uint32_t feature, row;
        T value;
    };

    std::vector<std::int64_t> starts;
    std::vector<std::uint32_t> numbers;  // of the features that have a column
    table<std::uint32_t> turned_rows;
    table<T> turned_values;
    sparse_rows<T> turned;    // the columns, as rows
    std::vector<entry> lone;  // what is in columns that have one value
    std::vector<double> lone_length2, lone_largest;
    std::vector<T> ones;

  private:
    static constexpr double least_bend = 1e-3;      // of a row that is worth its share of a preconditioner
    static constexpr double least_of_most = 1e-6;   // the same, of the most that a row bends
    static constexpr std::size_t dense_sample = 4;  // one row of so many shows enough of every feature

    // Calls `use` with the column of a pair's feature; that of the bias has a 1 for every row.
    template <class Use>
    MARKONE_INLINE void with_column(std::uint32_t pair, Use use) const {
        const std::size_t f = pair / stride();
        if (f == features)
            use(dense_row<T>{ones.data(), ones.size()});
        else
            use(turned[f]);
    }

    template <class Column>
    MARKONE_INLINE double slope_of_model(Column x, std::size_t k, const model& at) const {
        if (stride() == 1)
            return sum<4, double>(x.size(), [&](std::size_t e) {
                const std::size_t i = x.feature(e);
                return static_cast<double>(x.value(e)) * (bends[i] * at.steps[i]);
            });
        return sum<4, double>(x.size(), [&](std::size_t e) {
            const std::size_t i = x.feature(e), own = i * stride() + k;
            return static_cast<double>(x.value(e)) * (share[i] * bends[own] * (at.steps[own] - at.means[i]));
        });
    }
};

template <class Rows>
using scalar_of = typename std::remove_cvref_t<decltype(std::declval<const Rows&>()[0])>::scalar;

template <class Rows>
class rows_objective final : public columns_objective<scalar_of<Rows>> {
    using T = scalar_of<Rows>;
    using base = columns_objective<T>;
    using base::bends, base::by_features, base::chosen, base::features, base::rows, base::stride;
    using base::lone, base::lone_largest, base::lone_length2, base::numbers, base::ones, base::starts;
    using base::turned, base::turned_rows, base::turned_values;

  public:
    rows_objective(const Rows& from, const visits& which, std::size_t classes)
        : base(from.width(), classes), all(from) {
        base::choose(which, from.size());
    }

    std::size_t stored() const override {
        std::size_t total = 0;
        for (const std::size_t row : chosen) {
            const auto x = all[row];
            if constexpr (is_sparse<Rows>)
                total += x.size();
            else
                total += x.size() - static_cast<std::size_t>(std::count(x.values, x.values + x.size(), T{0}));
        }
        return total;
    }

    // ---- by rows

    void score(const double* w, double* scores) const override {
        const double* const bias = w + features * stride();
        packer<T> packed;
        for (std::size_t i = 0; i < rows(); ++i) score_row(i, w, bias, packed, scores + i * stride());
    }

    void gather(const double* pulls, double* out) const override {
        std::fill_n(out, by_features(), 0.0);
        double* const bias = out + features * stride();
        packer<T> packed;
        for (std::size_t i = 0; i < rows(); ++i) add_row(i, pulls + i * stride(), packed, out, bias);
    }

    double product(const double* v, double* steps, double* out) const override {
        std::fill_n(out, by_features(), 0.0);
        const double* const from = v + features * stride();
        double* const bias = out + features * stride();
        double total = 0;
        packer<T> packed;
        std::vector<double> bent(stride());
        for (std::size_t i = 0; i < rows(); ++i) {
            double* const q = steps + i * stride();
            if (stride() == 1) {
                const auto x = all[chosen[i]];
                q[0] = dot(x, v) + from[0];
                const double r = bends[i] * q[0];
                total += r * q[0];
                add_scaled(x, r, out);
                bias[0] += r;
            } else {
                const sparse_row<T> x = packed(all[chosen[i]]);
                wide_dots(x, v, stride(), q);
                for (std::size_t k = 0; k < stride(); ++k) q[k] += from[k];
                total += base::bend_row(i, q, bent.data());
                add_outer(x, bent.data(), stride(), out);
                for (std::size_t k = 0; k < stride(); ++k) bias[k] += bent[k];
            }
        }
        return total;
    }

    // ---- by columns

    void turn(bool apart) override {
        std::vector<std::uint32_t> counts(features);
        each_value([&](std::size_t f) { prefetch_to_write(&counts[f]); },
                   [&](std::size_t f, std::size_t, T) { ++counts[f]; });
        std::vector<std::int64_t> places(features);
        starts.assign(1, 0);
        numbers.clear();
        std::int64_t total = 0;
        std::size_t few = 0;
        for (std::size_t f = 0; f < features; ++f) {
            places[f] = -1;
            if (apart && counts[f] < 2) {
                few += counts[f];
                continue;
            }
            places[f] = total;
            total += counts[f];
            starts.push_back(total);
            numbers.push_back(static_cast<std::uint32_t>(f));
        }
        turned_rows.resize(static_cast<std::size_t>(total));
        turned_values.resize(static_cast<std::size_t>(total));
        lone.clear();
        lone.reserve(few);
        lone_length2.assign(apart ? rows() : 0, 0);
        lone_largest.assign(apart ? rows() : 0, 0);
        const auto soon = [&](std::size_t f) {
            if (places[f] < 0) return;
            prefetch_to_write(turned_rows.data() + places[f]);
            prefetch_to_write(turned_values.data() + places[f]);
        };
        each_value(soon, [&](std::size_t f, std::size_t i, T value) {
            // Of dense rows there are as many values as are not 0, unless another thread changes them.
            if (!is_sparse<Rows> && counts[f]-- == 0)
                throw std::invalid_argument("the rows were changed while they were read");
            if (places[f] < 0) {
                lone.push_back({static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(i), value});
                lone_length2[i] += static_cast<double>(value) * static_cast<double>(value);
                lone_largest[i] = std::max(lone_largest[i], std::abs(static_cast<double>(value)));
            } else {
                const auto at = static_cast<std::size_t>(places[f]++);
                turned_rows[at] = static_cast<std::uint32_t>(i);
                turned_values[at] = value;
            }
        });
        turned = {starts, turned_rows, turned_values, rows()};
        ones.assign(rows(), T{1});
    }

  private:
    static constexpr std::size_t values_ahead = 24;

    sparse_row<T> packed_row(std::size_t i, packer<T>& packed) const override { return packed(all[chosen[i]]); }
    MARKONE_INLINE void score_row(std::size_t i, const double* w, const double* bias, packer<T>& packed,
                                  double* out) const {
        if (stride() == 1) {
            out[0] = dot(all[chosen[i]], w) + bias[0];
        } else {
            wide_dots(packed(all[chosen[i]]), w, stride(), out);
            for (std::size_t k = 0; k < stride(); ++k) out[k] += bias[k];
        }
    }
    MARKONE_INLINE void add_row(std::size_t i, const double* pulls, packer<T>& packed, double* out,
                                double* bias) const {
        if (stride() == 1)
            add_scaled(all[chosen[i]], pulls[0], out);
        else
            add_outer(packed(all[chosen[i]]), pulls, stride(), out);
        for (std::size_t k = 0; k < stride(); ++k) bias[k] += pulls[k];
    }
    // Calls soon(feature) some time before use(feature, row, value), so that it can prefetch what that needs.
    template <class Soon, class Use>
    void each_value(Soon soon, Use use) const {
        for (std::size_t i = 0; i < rows(); ++i) {
            const auto x = all[chosen[i]];
            for (std::size_t e = 0; e < x.size(); ++e) {
                if (is_sparse<Rows> && e + values_ahead < x.size()) soon(x.feature(e + values_ahead));
                if (is_sparse<Rows> || x.value(e) != 0) use(x.feature(e), i, x.value(e));
            }
        }
    }

    const Rows all;
};

}  // namespace

// `which` names the rows that are learned from.
template <class Rows>
std::unique_ptr<objective> make_objective(const Rows& rows, const visits& which, std::size_t classes) {
    return std::make_unique<rows_objective<Rows>>(rows, which, classes);
}
template std::unique_ptr<objective> make_objective(const sparse_rows<float>&, const visits&, std::size_t);
template std::unique_ptr<objective> make_objective(const sparse_rows<double>&, const visits&, std::size_t);
template std::unique_ptr<objective> make_objective(const dense_rows<float>&, const visits&, std::size_t);
template std::unique_ptr<objective> make_objective(const dense_rows<double>&, const visits&, std::size_t);

}  // namespace markone::MARKONE_LEVEL

// Compiled once for each MARKONE_LEVEL: `baseline` for every processor, `v3` for x86-64-v3.
#include "optimum/dual.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double still = 1e-12;        // slopes that are as good as none
constexpr double reach = 1.3;          // of a step, where the best for one example alone is 1
constexpr std::size_t rows_ahead = 4;  // rows are asked for so many visits before they are read
constexpr int halvings = 40;           // of that step, to find the best

// What two classes and many have in common, and sparse rows and dense ones.
class common_dual : public dual {
  protected:
    struct example {
        double length2;  // of the row, bias included
        double soft;     // 1 / 2C_i where the loss is squared: the slope of a multiplier rises by length2 + soft
        double cost;     // C_i
        double importance;
    };

    using dual::dual;

    // Finds the examples. Every constructor ends with it.
    template <class Rows>
    void take(const Rows& rows, const visits& which) {
        if (classes < 2) throw std::invalid_argument("there is nothing to tell apart");
        if (rows.width() > features) throw std::invalid_argument("rows are wider than the weights");
        check_lengths(which, rows.size());
        if (rows.size() > std::numeric_limits<std::uint32_t>::max()) throw std::length_error("too many rows");
        for (std::size_t j = 0; j < which.count(rows.size()); ++j) {
            const std::size_t row = which.row(j, rows.size()), y = which.label(row, classes);
            const double h = which.importance_of(row);
            check_importance(h);
            if (h == 0) continue;
            const auto x = rows[row];
            const double length2 =
                sum_straight<double>(x.size(), [&](std::size_t k) { return double{x.value(k)} * double{x.value(k)}; });
            const double cost = how.C * h, soft = how.squared ? 1 / (2 * cost) : 0;
            numbers.push_back(static_cast<std::uint32_t>(row));
            labels.push_back(static_cast<std::uint32_t>(y));
            examples.push_back({length2 + how.bias, soft, cost, h});
        }
        begin();
    }

  private:
    void begin() {
        const auto total = [&](auto f) { return sum_straight<double>(size(), f); };
        typical2 = total([&](std::size_t i) { return examples[i].importance * examples[i].length2; }) /
                   total([&](std::size_t i) { return examples[i].importance; });
        alpha.resize(size() * stride);
        best_scores.resize(size() * stride);
        wake_all();
        own = primal = cost_of_nothing();
    }

  protected:
    // The highest multiplier of the example, or of its right class.
    MARKONE_INLINE double cap(std::size_t i) const { return how.squared ? infinity : examples[i].cost; }
    MARKONE_INLINE double loss(double lack) const { return lack <= 0 ? 0 : how.squared ? lack * lack : lack; }
    MARKONE_INLINE double cost(std::size_t i, double lack) const {
        return lack <= 0 ? 0 : examples[i].cost * loss(lack);
    }
    // How fast the cost falls as the margin grows.
    MARKONE_INLINE double urge(std::size_t i, double lack) const {
        return lack <= 0 ? 0 : how.squared ? 2 * examples[i].cost * lack : examples[i].cost;
    }

  public:
    void set_C(double C) override {
        how.C = C;
        for (example& one : examples) {
            one.cost = C * one.importance;
            one.soft = how.squared ? 1 / (2 * one.cost) : 0;
        }
    }
    double cap_for(std::size_t i, double C) const override {
        return how.squared ? infinity : C * examples[i].importance;
    }
    void scale_to(double C) override {
        const double times = C / how.C;
        set_C(C);
        weigh();
        // The dual of t times the multipliers is t linear - t^2 square / 2.
        const double linear = pulls([](double a, double) { return a; });
        const double square = norm2 + pulls([](double a, double soft) { return soft * a * a; });
        const double t = times > 1 && square > 0 ? std::clamp(linear / square, 1.0, times) : times;
        for (double& a : alpha) a *= t;
        for (double& weight : w) weight *= t;
        if (!how.squared)
            for (std::size_t i = 0; i < size(); ++i) put_back(i);
        const sights seen = before;
        start_anew();
        before = {seen.most * t, seen.least * t, seen.gap};
    }

  protected:
    template <class Rows, class Visit>
    MARKONE_INLINE tally visit_next(const Rows& rows, std::size_t most, Visit visit) {
        tally sums;
        const std::size_t end = at + std::min(most, left());
        for (; at < end; ++at) {
            if (at + rows_ahead < order.size()) {
                const std::size_t soon = order[at + rows_ahead];
                rows[numbers[soon]].prefetch();
                prefetch(&examples[soon]);
                prefetch(&alpha[soon * stride]);
            }
            visit(order[at], sums);
        }
        if (left() == 0) end_pass();
        return sums;
    }
    MARKONE_INLINE void note(std::size_t i, double lack, bool mistake, tally& sums) const {
        sums.visits += 1;
        sums.importance += examples[i].importance;
        sums.mistakes += mistake;
        sums.loss += examples[i].importance * loss(lack);
    }

    // An example that did not move, or did.
    MARKONE_INLINE void nap(std::size_t i) {
        naps[i] = std::min(static_cast<std::uint8_t>(2 * naps[i] + (naps[i] == 0)), longest_nap);
        pauses[i] = visited + naps[i];
    }
    MARKONE_INLINE void stay(std::size_t i) {
        naps[i] = 0;
        pauses[i] = visited;
    }
    MARKONE_INLINE void rest(std::size_t i) { pauses[i] = visited + asleep; }
    MARKONE_INLINE void wake(std::size_t i) { pauses[i] = naps[i] = 0; }

    void end_pass() {
        for (std::uint8_t& pause : pauses) {
            const int sooner = pause != awake && pause != asleep;
            pause = static_cast<std::uint8_t>(pause - (pause >= visited ? visited : sooner));
        }
        if (partial) return;  // to look at all weights would take longer than the visits
        before = now;
        if (!part) weigh();  // the w of a part says nothing of all
    }
    void wake_all() {
        pauses.assign(size(), awake);
        naps.assign(size(), 0);
        rivals.assign(size() * words(), ~std::uint64_t{0});
        if (classes % 64 != 0)
            for (std::size_t i = 1; i <= rivals.size() / std::max(words(), std::size_t{1}); ++i)
                rivals[i * words() - 1] >>= 64 - classes % 64;
    }
    void start_anew() {
        wake_all();
        best.assign(best.size(), 0);
        best_scores.assign(best_scores.size(), 0);
        own = primal = cost_of_nothing();
        before = now = {};
        order.clear();
        at = 0;
        weigh();
    }

    // An example on the way from the best weights to w: its lack there, how fast that falls, and who is its rival.
    struct point {
        double lack, fall;
        std::size_t rival;
    };

    // Better best weights by way of w, by which the examples have these scores; `see(i, t)` is the point of an example
    // t of the way.
    template <class See>
    void improve(std::span<const double> scores, See see) {
        if (hard()) return scale_to_margin(scores, see);
        const auto total = [&](auto f) { return sum_straight<double>(w.size(), f); };
        const double across = total([&](std::size_t f) { return best[f] * (w[f] - best[f]); });
        const double along = total([&](std::size_t f) { return (w[f] - best[f]) * (w[f] - best[f]); });
        const double t = lowest(across, along, see);
        const double length2 = total([&](std::size_t f) { return best[f] * best[f]; });
        const double costs = sum<8, double>(size(), [&](std::size_t i) { return cost(i, see(i, t).lack); });
        const double found = length2 / 2 + t * (across + t * along / 2) + costs;
        own = norm2 / 2 + sum<8, double>(size(), [&](std::size_t i) { return cost(i, see(i, 1).lack); });
        if (!(found < primal)) return;
        primal = found;
        for (std::size_t f = 0; f < w.size(); ++f) best[f] += t * (w[f] - best[f]);
        for (std::size_t s = 0; s < scores.size(); ++s) best_scores[s] += t * (scores[s] - best_scores[s]);
    }

    // Adds the costs of an example on the way that `see(t)` shows.
    template <class See>
    MARKONE_INLINE void add_costs(std::size_t i, See see, std::span<double> costs) const {
        const double apart = longest_step / static_cast<double>(costs.size() - 1);
        if (see(0).lack <= 0 && see(longest_step).lack <= 0) return;  // nor between, because lacks are convex
        for (std::size_t j = 0; j < costs.size(); ++j) costs[j] += cost(i, see(static_cast<double>(j) * apart).lack);
    }

    // The smallest of all margins, which `see(i)` gives with the rival.
    template <class See>
    narrowest narrowest_of(See see) const {
        narrowest found{infinity, 0, 0};
        for (std::size_t i = 0; i < size(); ++i) {
            const narrowest here = see(i);
            if (here.margin < found.margin) found = here;
        }
        return found;
    }
    template <class Row>
    void write_row(Row x, double* out) const {
        std::fill_n(out, features, 0.0);
        for (std::size_t k = 0; k < x.size(); ++k) out[x.feature(k)] = double{x.value(k)};
        out[features] = how.bias;
    }

    std::vector<example> examples;

  private:
    // Where P is lowest, given the slope of |w|^2 / 2 at the start and its rise: by halving, from 0 to the longest
    // step. Lacks are convex, so that an example is on one line where its rival, and whether it lacks anything, are the
    // same at both ends; its part of the slope is then added up once for all, and few are left to look at again.
    template <class See>
    double lowest(double start, double rise, See see) const {
        struct bent {
            std::size_t i;
            point low, high;
            bool straight() const {
                return (low.lack <= 0 && high.lack <= 0) || (low.lack > 0 && high.lack > 0 && low.rival == high.rival);
            }
        };
        double low = 0, high = longest_step;
        const auto settle = [&](const bent& one) {
            if (one.low.lack <= 0) return;
            const double fall = one.low.fall;
            start -= urge(one.i, one.low.lack + low * fall) * fall;
            if (how.squared) rise += 2 * examples[one.i].cost * fall * fall;
        };
        std::vector<bent> left;
        for (std::size_t i = 0; i < size(); ++i) {
            const bent one{i, see(i, low), see(i, high)};
            if (one.straight())
                settle(one);
            else
                left.push_back(one);
        }
        std::vector<point> between;
        for (int halving = 0; halving < halvings; ++halving) {
            const double middle = (low + high) / 2;
            double slope = start + middle * rise;
            between.clear();
            for (const bent& one : left) {
                between.push_back(see(one.i, middle));
                slope -= urge(one.i, between.back().lack) * between.back().fall;
            }
            (slope < 0 ? low : high) = middle;
            std::size_t kept = 0;
            for (std::size_t j = 0; j < left.size(); ++j) {
                bent one = left[j];
                (slope < 0 ? one.low : one.high) = between[j];
                if (one.straight())
                    settle(one);
                else
                    left[kept++] = one;
            }
            left.resize(kept);
        }
        return low;
    }
    // A multiplier that was at its bound is there again, whatever rounding has made of it.
    void put_back(std::size_t i) {
        double& a = alpha[classes > 2 ? i * stride + labels[i] : i];
        if (std::abs(a - cap(i)) <= 4 * std::numeric_limits<double>::epsilon() * cap(i)) a = cap(i);
    }
    // Where all weights are 0, every lack is 1.
    double cost_of_nothing() const {
        return sum_straight<double>(size(), [&](std::size_t i) { return examples[i].cost; });
    }
    // A sum over the examples' multipliers, or those of their right classes.
    template <class F>
    double pulls(F f) const {
        const auto total = [&](auto a) {
            return sum_straight<double>(size(), [&](std::size_t i) { return f(a(i), examples[i].soft); });
        };
        return classes <= 2 ? total([&](std::size_t i) { return alpha[i]; })
                            : total([&](std::size_t i) { return alpha[i * stride + labels[i]]; });
    }
    // The length of w and the dual, from scratch.
    void weigh() {
        norm2 = sum_straight<double>(w.size(), [&](std::size_t f) { return w[f] * w[f]; });
        bound = how.squared ? pulls([](double a, double soft) { return a - soft * a * a / 2; })
                            : pulls([](double a, double) { return a; });
        bound -= norm2 / 2;
    }
    // A hard margin allows no lack: w is made as long as that takes.
    template <class See>
    void scale_to_margin(std::span<const double> scores, See see) {
        double margin = infinity;
        for (std::size_t i = 0; i < size(); ++i) margin = std::min(margin, 1 - see(i, 1).lack);
        own = margin >= 1 ? norm2 / 2 : infinity;
        if (!(margin > 0)) return;
        const double found = norm2 / (margin * margin) / 2;
        if (!(found < primal)) return;
        primal = found;
        for (std::size_t f = 0; f < w.size(); ++f) best[f] = w[f] / margin;
        for (std::size_t s = 0; s < scores.size(); ++s) best_scores[s] = scores[s] / margin;
    }
};

class dual_of_two : public common_dual {
  protected:
    using common_dual::common_dual;

    MARKONE_INLINE double sign(std::size_t i) const { return labels[i] == 1 ? 1 : -1; }
    MARKONE_INLINE double slope_at(std::size_t i, double margin) const {
        return margin - 1 + alpha[i] * examples[i].soft;
    }
    MARKONE_INLINE void wake_by(std::size_t i, double margin) {
        const double slope = slope_at(i, margin);
        if ((slope < 0 && alpha[i] < cap(i)) || (slope > 0 && alpha[i] > 0)) wake(i);
    }
    MARKONE_INLINE static point between(double from, double to, double t) {
        const double step = to - from;
        return {1 - (from + t * step), step, 0};
    }
    void measure_by(std::span<const double> margins) {
        for (std::size_t i = 0; i < size(); ++i) wake_by(i, margins[i]);
        const double* const from = best_scores.data();
        improve(margins, [&](std::size_t i, double t) { return between(from[i], margins[i], t); });
    }
};

template <class Rows>
class two_classes final : public dual_of_two {
  public:
    two_classes(const dual_settings& how, const Rows& rows, const visits& which, std::size_t features)
        : dual_of_two(how, features, 2), rows(rows) {
        take(rows, which);
    }

    tally learn(std::size_t most) override {
        return visit_next(rows, most, [&](std::size_t i, tally& sums) { visit(i, sums); });
    }

    void measure() override {
        std::vector<double> margins(size());
        for (std::size_t i = 0; i < size(); ++i) margins[i] = margin(i, rows[numbers[i]], w.data());
        measure_by(margins);
    }

    void measure_part(std::span<const double> from, std::span<const double> to, std::span<double> costs) override {
        for (std::size_t i = 0; i < size(); ++i) {
            const auto x = rows[numbers[i]];
            const double start = margin(i, x, from.data()), end = margin(i, x, to.data());
            wake_by(i, end);
            add_costs(i, [&](double t) { return between(start, end, t); }, costs);
        }
    }

    void start_at(std::span<const double> from) override {
        w.assign((features + 1) * stride, 0);
        for (std::size_t i = 0; i < size(); ++i) {
            alpha[i] = std::clamp(from[i], 0.0, cap(i));
            if (alpha[i] > 0) add(rows[numbers[i]], sign(i) * alpha[i]);
        }
        start_anew();
    }

    narrowest narrow(std::span<const double> weights) const override {
        return narrowest_of(
            [&](std::size_t i) { return narrowest{margin(i, rows[numbers[i]], weights.data()), i, 1 - labels[i]}; });
    }
    void write(std::size_t i, double* out) const override { write_row(rows[numbers[i]], out); }

  private:
    MARKONE_INLINE void visit(std::size_t i, tally& sums) {
        const auto x = rows[numbers[i]];
        const example& my = examples[i];
        const double here = margin(i, x, w.data()), lack = 1 - here, a = alpha[i], top = cap(i),
                     slope = slope_at(i, here);
        note(i, lack, !(here > 0), sums);
        now.gap += cost(i, lack) - a * lack + my.soft * a * a / 2;
        const double to = std::min(std::max(a - reach * slope / (spread * my.length2 + my.soft), 0.0), top);
        if (to == a || std::abs(slope) <= still) {
            const bool outside =
                a == 0 ? before.most > 0 && slope > before.most : a == top && before.least < 0 && slope < before.least;
            return outside ? rest(i) : nap(i);
        }
        if (to == infinity) {
            hopeless = true;
            return;
        }
        stay(i);
        now.most = std::max(now.most, slope);
        now.least = std::min(now.least, slope);
        alpha[i] = to;
        add(x, spread * sign(i) * (to - a));
        sums.updates += 1;
    }

    template <class Row>
    MARKONE_INLINE double margin(std::size_t i, Row x, const double* weights) const {
        return sign(i) * (dot(x, weights) + weights[features]);
    }
    template <class Row>
    MARKONE_INLINE void add(Row x, double step) {
        double* const to = w.data();
        for (std::size_t k = 0; k < x.size(); ++k) to[x.feature(k)] += step * double{x.value(k)};
        if (how.bias) to[features] += step;
    }

    const Rows& rows;
};

class dual_of_many : public common_dual {
  protected:
    dual_of_many(const dual_settings& how, std::size_t features, std::size_t classes)
        : common_dual(how, features, classes), s(stride), apart(stride), steps(stride), everyone(classes) {
        std::iota(everyone.begin(), everyone.end(), 0u);
        // No visit asks for memory, so that none can end half-way.
        some.reserve(classes);
        moved.reserve(classes);
    }

    // The slopes of an example's multipliers. Those above the lowest of the free ones would fall in its favour.
    struct view {
        double lowest = infinity;    // of those that may grow
        double highest = -infinity;  // of all
        double pressed = -infinity;  // the highest of those at their bound
        std::size_t free = 0;        // how many may grow
        double room() const { return highest - lowest; }
    };

    MARKONE_INLINE double slope_of(std::size_t i, std::size_t k, double score) const {
        return k == labels[i] ? score + examples[i].soft * alpha[i * stride + k] : score + 1;
    }
    view look(std::size_t i, const double* scores, const std::vector<std::uint32_t>& among) const {
        const double* const a = alpha.data() + i * stride;
        view seen;
        for (const std::uint32_t k : among) {
            const double slope = slope_of(i, k, scores[k]);
            if (a[k] < (k == labels[i] ? cap(i) : 0)) {
                seen.free += 1;
                seen.lowest = std::min(seen.lowest, slope);
            } else {
                seen.pressed = std::max(seen.pressed, slope);
            }
            seen.highest = std::max(seen.highest, slope);
        }
        return seen;
    }

    // The classes of an example that are not at rest, its own among them.
    MARKONE_INLINE void list_rivals(std::size_t i) {
        some.clear();
        for (std::size_t word = 0; word < words(); ++word)
            for (std::uint64_t bits = rivals[i * words() + word]; bits != 0; bits &= bits - 1)
                some.push_back(
                    static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(bits))));
    }

    // The best multipliers of an example with scores s, and the steps to them. With the slope of each at a = 0, and a
    // bend A (of the right class A + soft), they are
    //   a_k = min(bound_k, (level - slope_k) / A)        for the level at which they sum to 0.
    // The sum is a concave function of the level, so that Newton's steps, after the first, near it from below, and end
    // after as many as there are bounds to meet.
    void solve(std::size_t i, const view& seen) {
        double* const a = alpha.data() + i * stride;
        const std::size_t y = labels[i];
        const double bend = spread * examples[i].length2, bend_right = bend + examples[i].soft, top = cap(i);
        if (bend <= 0) return give_all(i);
        const double right = s[y] - bend * a[y];
        for (const std::uint32_t k : some) apart[k] = s[k] + 1 - bend * a[k];
        double level = (seen.lowest + seen.highest) / 2;
        std::size_t free_before = 0;
        bool inside = true;  // whether the right class is below its bound
        for (std::size_t tries = 0; tries <= some.size() + 1; ++tries) {
            inside = level - right < top * bend_right;
            std::size_t free = 0;
            double slopes = 0, highest = -infinity;
            for (const std::uint32_t k : some)
                if (k != y) {
                    highest = std::max(highest, apart[k]);
                    free += apart[k] > level;
                    slopes += apart[k] > level ? apart[k] : 0;
                }
            if (!inside && free == 0) {  // all are at their bounds, from where Newton sees nothing: start below
                level = std::min(right, highest - 1 - top * bend);
                continue;
            }
            if (free + inside * stride == free_before) break;
            free_before = free + inside * stride;
            const double count = static_cast<double>(free);
            level = inside ? (slopes / bend + right / bend_right) / (count / bend + 1 / bend_right)
                           : (slopes - top * bend) / count;
        }
        double others = 0;
        for (const std::uint32_t k : some) {
            if (k == y) continue;
            const double to = std::min(0.0, (level - apart[k]) / bend);
            others -= to;
            steps[k] = to - a[k];
            a[k] = to;
        }
        const double to = inside ? std::min(others, top) : top;
        steps[y] = to - a[y];
        a[y] = to;
        go_on(i);
    }

    // Goes on beyond the best multipliers, as far as the bounds allow.
    void go_on(std::size_t i) {
        double* const a = alpha.data() + i * stride;
        const auto bound_of = [&](std::size_t k) { return k == labels[i] ? cap(i) : 0; };
        double t = reach - 1;
        for (const std::uint32_t k : some)
            if (t * steps[k] > bound_of(k) - a[k]) t = (bound_of(k) - a[k]) / steps[k];
        if (t <= 0) return;
        for (const std::uint32_t k : some) {
            a[k] = std::min(a[k] + t * steps[k], bound_of(k));
            steps[k] *= 1 + t;
        }
    }

    // A row of nothing but zeros lacks 1 whatever the weights: all that its multiplier may be counts.
    void give_all(std::size_t i) {
        double* const a = alpha.data() + i * stride;
        const std::size_t y = labels[i];
        a[y] = how.squared ? 1 / examples[i].soft : cap(i);
        a[y == 0 ? 1 : 0] = -a[y];
        for (const std::uint32_t k : some) steps[k] = 0;
    }

    // Wakes an example, and those of its classes, that would move.
    void wake_by(std::size_t i, const double* scores) {
        const view seen = look(i, scores, everyone);
        if (seen.room() <= 0) return;
        wake(i);
        for (std::size_t k = 0; k < classes; ++k)
            if (slope_of(i, k, scores[k]) > seen.lowest) rivals[i * words() + k / 64] |= std::uint64_t{1} << k % 64;
    }
    MARKONE_INLINE point between(std::size_t i, const double* from, const double* to, double t) const {
        const std::size_t y = labels[i];
        const auto step = [&](std::size_t k) { return to[k] - from[k]; };
        const auto at = [&](std::size_t k) { return from[k] + t * step(k); };
        std::size_t rival = y == 0 ? 1 : 0;
        double top = at(rival);
        for (std::size_t k = rival + 1; k < classes; ++k)
            if (k != y && at(k) > top) {
                rival = k;
                top = at(k);
            }
        return {1 + top - at(y), step(y) - step(rival), rival};
    }
    // Wakes what would move, and finds better best weights, given the scores of all examples.
    void measure_by(std::span<const double> scores) {
        for (std::size_t i = 0; i < size(); ++i) wake_by(i, scores.data() + i * stride);
        const double* const from = best_scores.data();
        improve(scores,
                [&](std::size_t i, double t) { return between(i, from + i * stride, scores.data() + i * stride, t); });
    }

    // Takes over the multipliers of an example, cut to their bounds, and says whether any is not 0.
    bool start_row(std::size_t i, const double* from) {
        double* const a = alpha.data() + i * stride;
        const std::size_t y = labels[i];
        double others = 0;
        for (std::size_t k = 0; k < classes; ++k)
            if (k != y) others -= a[k] = std::min(from[k], 0.0);
        if (others > cap(i))
            for (std::size_t k = 0; k < classes; ++k)
                if (k != y) a[k] *= cap(i) / others;
        a[y] = std::min(others, cap(i));
        if (a[y] == 0) return false;
        some = everyone;
        steps.assign(a, a + stride);
        return true;
    }

    narrowest narrowest_rival(std::size_t i, const double* scores) const {
        narrowest here{infinity, i, 0};
        for (std::size_t k = 0; k < classes; ++k)
            if (k != labels[i] && scores[labels[i]] - scores[k] < here.margin)
                here = {scores[labels[i]] - scores[k], i, k};
        return here;
    }

    // Visits an example, whose row is x: packed, where rows are dense.
    template <class T>
    void visit(std::size_t i, sparse_row<T> x, tally& sums) {
        const std::size_t y = labels[i];
        const double* const a = alpha.data() + i * stride;
        list_rivals(i);
        score_some(x);
        double top = -infinity, product = 0;
        for (const std::uint32_t k : some) {
            if (k != y) top = std::max(top, s[k]);
            product += a[k] * s[k];
        }
        const double lack = 1 + top - s[y];
        note(i, lack, !(top < s[y]), sums);
        now.gap += cost(i, lack) + product - a[y] + examples[i].soft * a[y] * a[y] / 2;
        const view seen = look(i, s.data(), some);
        for (const std::uint32_t k : some)
            if (k != y && a[k] == 0 && slope_of(i, k, s[k]) < seen.lowest && seen.lowest < infinity)
                rivals[i * words() + k / 64] &= ~(std::uint64_t{1} << k % 64);
        if (seen.room() <= still) {
            if (seen.free == 1 && seen.lowest > seen.pressed) return rest(i);
            return nap(i);
        }
        if (examples[i].length2 == 0 && hard()) {
            hopeless = true;
            return;
        }
        now.most = std::max(now.most, seen.room());
        stay(i);
        solve(i, seen);
        add(x, spread);
        sums.updates += 1;
    }

    // The scores of those in `some`: one by one where they are few, so that less of the memory is visited.
    template <class T>
    void score_some(sparse_row<T> x) {
        switch (some.size()) {
            case 2: return score_each<2>(x);
            case 3: return score_each<3>(x);
            case 4: return score_each<4>(x);
            case 5: return score_each<5>(x);
            case 6: return score_each<6>(x);
            default: return score(x, w.data(), s.data());
        }
    }
    template <std::size_t count, class T>
    MARKONE_NOINLINE void score_each(sparse_row<T> x) {
        std::array<const double*, count> column;
        std::array<double, count> even{}, odd{};
        for (std::size_t j = 0; j < count; ++j) column[j] = w.data() + some[j];
        std::size_t k = 0;
        for (; k + 2 <= x.size(); k += 2) {
            const std::size_t one = x.feature(k) * stride, two = x.feature(k + 1) * stride;
            for (std::size_t j = 0; j < count; ++j) even[j] += column[j][one] * double{x.value(k)};
            for (std::size_t j = 0; j < count; ++j) odd[j] += column[j][two] * double{x.value(k + 1)};
        }
        if (k < x.size())
            for (std::size_t j = 0; j < count; ++j) even[j] += column[j][x.feature(k) * stride] * double{x.value(k)};
        for (std::size_t j = 0; j < count; ++j) s[some[j]] = even[j] + odd[j] + column[j][features * stride];
    }

    template <class T>
    MARKONE_INLINE void score(sparse_row<T> x, const double* weights, double* out) const {
        dots(x, weights, stride, out);
        const double* const bias = weights + features * stride;
        for (std::size_t k = 0; k < stride; ++k) out[k] += bias[k];
    }

    // Moves w by the steps of those in `some`, times the row, so many times as far.
    template <class T>
    void add(sparse_row<T> x, double times) {
        moved.clear();
        for (const std::uint32_t k : some)
            if (steps[k] != 0) moved.push_back(k);
        if (moved.size() == 2) {
            const std::size_t one = moved[0], two = moved[1];
            const double by_one = times * steps[one], by_two = times * steps[two];
            add_to(x, [&](double* to, double value) {
                to[one] += by_one * value;
                to[two] += by_two * value;
            });
        } else {
            add_to(x, [&](double* to, double value) {
                for (const std::uint32_t k : moved) to[k] += times * steps[k] * value;
            });
        }
    }
    template <class T, class Add>
    MARKONE_INLINE void add_to(sparse_row<T> x, Add add) {
        for (std::size_t j = 0; j < x.size(); ++j) add(w.data() + x.feature(j) * stride, double{x.value(j)});
        if (how.bias) add(w.data() + features * stride, 1);
    }

    // Of the example that is visited:
    std::vector<double> s;                   // scores
    std::vector<double> apart;               // the slopes that its multipliers would have at 0
    std::vector<double> steps;               // of its multipliers
    std::vector<std::uint32_t> some, moved;  // the classes that are not at rest, and those that move
    std::vector<std::uint32_t> everyone;     // all classes
};

template <class Rows>
class many_classes final : public dual_of_many {
    using scalar = typename std::remove_cvref_t<decltype(std::declval<const Rows&>()[0])>::scalar;

  public:
    many_classes(const dual_settings& how, const Rows& rows, const visits& which, std::size_t features,
                 std::size_t classes)
        : dual_of_many(how, features, classes), rows(rows) {
        take(rows, which);
        if (rows.size() > 0) packed(rows[0]);  // so that visits have its memory, too
    }

    tally learn(std::size_t most) override {
        return visit_next(rows, most, [&](std::size_t i, tally& sums) { visit(i, packed(rows[numbers[i]]), sums); });
    }

    void measure() override {
        std::vector<double> scores(size() * stride);
        for (std::size_t i = 0; i < size(); ++i) score(packed(rows[numbers[i]]), w.data(), scores.data() + i * stride);
        measure_by(scores);
    }

    void measure_part(std::span<const double> from, std::span<const double> to, std::span<double> costs) override {
        std::vector<double> start(stride), end(stride);
        for (std::size_t i = 0; i < size(); ++i) {
            const auto x = packed(rows[numbers[i]]);
            score(x, from.data(), start.data());
            score(x, to.data(), end.data());
            wake_by(i, end.data());
            add_costs(i, [&](double t) { return between(i, start.data(), end.data(), t); }, costs);
        }
    }

    void start_at(std::span<const double> from) override {
        w.assign((features + 1) * stride, 0);
        for (std::size_t i = 0; i < size(); ++i)
            if (start_row(i, from.data() + i * stride)) add(packed(rows[numbers[i]]), 1);
        start_anew();
    }

    narrowest narrow(std::span<const double> weights) const override {
        packer<scalar> packed;
        std::vector<double> scores(stride);
        return narrowest_of([&](std::size_t i) {
            score(packed(rows[numbers[i]]), weights.data(), scores.data());
            return narrowest_rival(i, scores.data());
        });
    }
    void write(std::size_t i, double* out) const override { write_row(rows[numbers[i]], out); }

  private:
    const Rows& rows;
    packer<scalar> packed;
};

template <class Rows>
std::unique_ptr<dual> make_dual(const dual_settings& how, const Rows& rows, const visits& which, std::size_t features,
                                std::size_t classes) {
    if (classes > 2) return std::make_unique<many_classes<Rows>>(how, rows, which, features, classes);
    return std::make_unique<two_classes<Rows>>(how, rows, which, features);
}
template std::unique_ptr<dual> make_dual(const dual_settings&, const sparse_rows<float>&, const visits&, std::size_t,
                                         std::size_t);
template std::unique_ptr<dual> make_dual(const dual_settings&, const sparse_rows<double>&, const visits&, std::size_t,
                                         std::size_t);
template std::unique_ptr<dual> make_dual(const dual_settings&, const dense_rows<float>&, const visits&, std::size_t,
                                         std::size_t);
template std::unique_ptr<dual> make_dual(const dual_settings&, const dense_rows<double>&, const visits&, std::size_t,
                                         std::size_t);

}  // namespace markone::MARKONE_LEVEL

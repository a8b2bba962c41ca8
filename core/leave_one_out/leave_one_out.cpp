// Compiled for every processor alone: what is hot in it is in loops.cpp and replicas.cpp.
#include "leave_one_out/leave_one_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "leave_one_out/replicas.h"
#include "online/rules.h"
#include "online/state.h"
#include "rows/arithmetic.h"

namespace markone {

namespace {

using MARKONE_LEVEL::length2;
using MARKONE_LEVEL::packer;

template <class T, class Rows>
class left_out_of final : public left_out<T> {
  public:
    left_out_of(const settings& how, const weights<T>& start, const Rows& rows, const course& run)
        : how(how),
          start(start),
          rows(rows),
          run(run),
          columns(columns_of(start.classes)),
          prepared(rows, columns),
          with_all(begin()) {
        look_at_rows();
        run_with_all();
    }

    std::vector<answer> free(std::span<const std::int64_t> asked) const override {
        std::vector<answer> answers;
        for (const std::int64_t row : asked) answers.push_back(free(static_cast<std::size_t>(row)));
        return answers;
    }

    std::vector<answer> retrain(std::span<const std::int64_t> asked) const override {
        const auto first_step = [&](std::size_t i) { return this->first_step[static_cast<std::size_t>(asked[i])]; };
        const auto pass = [&](std::size_t i) { return first_step(i) / static_cast<std::int64_t>(rows.size()); };
        std::vector<std::size_t> order(asked.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, first_step);

        std::vector<answer> answers(asked.size());
        leader before(*this);
        const auto some = make_replicas<T>({how, prepared, facts, run.orders, run.rests, columns});
        for (std::size_t first = 0, count; first < order.size(); first += count) {
            before.go_to(static_cast<std::size_t>(first_step(order[first])));
            // Those whose first steps are in one pass: none of them has a visit between the first of these and its own.
            std::vector<vacancy> together;
            for (count = 0; count < replicas<T>::most && first + count < order.size(); ++count) {
                if (pass(order[first + count]) != pass(order[first])) break;
                together.push_back(vacancy_of(static_cast<std::size_t>(asked[order[first + count]]), before.at));
            }
            some->begin(before.at, before.steps != before.steps_before_pass, together);
            some->go_on(before.made);
            for (std::size_t i = 0; i < count; ++i) answers[order[first + i]] = say(together[i].row, *some, i);
        }
        return answers;
    }

  private:
    static constexpr double rounding_unit = std::numeric_limits<T>::epsilon() / 2;  // the share that one can change
    static constexpr double largest_whole = 1 / double{std::numeric_limits<T>::epsilon()};  // so far they are exact

    state<T> begin() const {
        state<T> at(how, start.features, start.classes);
        std::copy_n(start.data(), at.weight.v.size(), at.weight.v.begin());
        std::ranges::copy(start.bias, at.bias.v.begin());
        return at;
    }

    visits labelled() const { return {run.which.labels, run.which.importance, {}}; }

    void look_at_rows() {
        packer<T> packed;
        const auto bias = static_cast<T>(how.bias);
        double most = 1;  // of the importance
        bool twice = false;
        if constexpr (std::is_same_v<Rows, sparse_rows<T>>) twice = names_twice(rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double absolute = bias, squares = bias;
            prepared.each(i, [&](std::size_t, T value) {
                const double size = std::abs(double{value});
                absolute += size;
                squares += size * size;
                whole = whole && size == std::floor(size);
                largest = std::max(largest, size);
            });
            const double importance = run.which.importance ? (*run.which.importance)[i] : 1;
            whole = whole && importance == std::floor(importance);
            most = std::max(most, importance);
            longest = std::max(longest, entries(i));
            facts.push_back({importance, (columns == 1 ? length2(rows[i]) : length2(packed(rows[i]))) + bias,
                             run.which.labels[i], absolute, twice ? absolute : std::sqrt(squares)});
        }
        // By these rules steps are then whole numbers, too. Values that stand for one feature can be larger together.
        const bool perceptron = how.rule == rules::perceptron<T>::name, hinge = how.rule == rules::hinge<T>::name;
        whole = whole && !twice && (perceptron || hinge) && how.eta == std::floor(how.eta);
        farthest = how.eta * (perceptron ? 2 : most);
        for (const T w : with_all.weight.v) whole = whole && w == 0;
        for (const T w : with_all.bias.v) whole = whole && w == 0;
    }

    // ---- the run with all rows

    void run_with_all() {
        const std::size_t n = rows.size();
        this->first_step.assign(n, -1);
        waited.resize(n);
        scores_in_wait.resize(n * columns);
        for (const T w : with_all.weight.v) peak_with_all = std::max(peak_with_all, std::abs(double{w}));
        for (const T w : with_all.bias.v) peak_with_all = std::max(peak_with_all, std::abs(double{w}));
        const auto through = keep_learning(with_all, rows, labelled());
        std::vector<double> scores(columns);
        tally so_far;
        for (std::size_t pass = 0; pass < run.orders.size(); pass += n) {
            const std::int64_t steps_before = steps_with_all;
            for (std::size_t i = pass; i < pass + n; ++i) {
                const auto row = static_cast<std::size_t>(run.orders[i]);
                const bool waits = this->first_step[row] < 0 && facts[row].importance > 0;
                if (waits && how.average) scores = scores_by(with_all, row);
                so_far = through->learn(run.orders.subspan(i, 1));
                if (so_far.updates > steps_with_all) {
                    if (waits) this->first_step[row] = static_cast<std::int64_t>(i);
                    note_peak(row);
                } else if (waits) {
                    waited[row] += facts[row].importance;
                    for (std::size_t k = 0; k < columns; ++k)
                        scores_in_wait[row * columns + k] += facts[row].importance * scores[k];
                }
                steps_with_all = so_far.updates;
            }
            if (run.rests && steps_with_all == steps_before) break;
        }
        if (!std::isfinite(so_far.loss) || !std::isfinite(with_all.norm2())) throw not_finite();
    }

    void note_peak(std::size_t row) {
        const std::size_t stride = with_all.stride();
        prepared.each(row, [&](std::size_t feature, T) {
            for (std::size_t k = 0; k < columns; ++k)
                peak_with_all =
                    std::max(peak_with_all, std::abs(double{with_all.weight.v[prepared.old[feature] * stride + k]}));
        });
        for (std::size_t k = 0; k < columns; ++k)
            peak_with_all = std::max(peak_with_all, std::abs(double{with_all.bias.v[k]}));
    }

    // It goes along with the replicas, up to where they part.
    struct leader {
        const left_out_of& all;
        state<T> at;
        std::unique_ptr<kept_learner<T>> through;
        std::size_t made = 0;  // visits
        std::int64_t steps = 0, steps_before_pass = 0;

        explicit leader(const left_out_of& all)
            : all(all), at(all.begin()), through(keep_learning(at, all.rows, all.labelled())) {}

        void go_to(std::size_t visit) {
            const std::size_t pass = visit - visit % all.rows.size();
            if (made < pass) {
                make_visits(pass);
                steps_before_pass = steps;
            }
            make_visits(visit);
        }

      private:
        void make_visits(std::size_t until) {
            if (made < until) steps = through->learn(all.run.orders.subspan(made, until - made)).updates;
            made = until;
        }
    };

    // The visits of the row before its first step have changed the time, and nothing else. Without them a step d is
    // noted with less of it:
    //   sum of time * d * x  =  u * x - sum over these visits of what the score has changed since
    vacancy vacancy_of(std::size_t row, const state<T>& at) const {
        vacancy one{row, waited[row], {}};
        if (!how.average) return one;
        const std::vector<double> now = scores_by(at, row);
        one.noted = sums_of(
            row, [&](std::size_t f, std::size_t k) { return at.weight.u[f * at.stride() + k]; },
            [&](std::size_t k) { return at.bias.u[k]; });
        for (std::size_t k = 0; k < columns; ++k)
            one.noted[k] -= one.missed * now[k] - scores_in_wait[row * columns + k];
        return one;
    }

    // ---- answers

    answer free(std::size_t row) const {
        const state<T>& at = with_all;
        if (!how.average)
            return exact_answer(
                row, [&](std::size_t f, std::size_t k) { return at.weight.v[f * at.stride() + k]; },
                [&](std::size_t k) { return at.bias.v[k]; });
        std::vector<double> scores = sums_of(
            row,
            [&](std::size_t f, std::size_t k) {
                const std::size_t i = f * at.stride() + k;
                return double{at.weight.v[i]} * at.clock - at.weight.u[i];
            },
            [&](std::size_t k) { return double{at.bias.v[k]} * at.time - at.bias.u[k]; });
        const double time = at.time - waited[row];
        for (std::size_t k = 0; k < columns; ++k) scores[k] = (scores[k] - scores_in_wait[row * columns + k]) / time;
        return judged(scores, std::vector<double>(columns, rounding(row, peak_with_all, steps_with_all)));
    }

    answer say(std::size_t row, const replicas<T>& of, std::size_t which) const {
        const auto w = [&](std::size_t f, std::size_t k) { return of.weight(which, prepared.number(f), k); };
        const auto b = [&](std::size_t k) { return of.bias(which, k); };
        if (!how.average) return exact_answer(row, w, b);

        const outcome found = of.outcome_of(which);
        const double peak = std::max(peak_with_all, std::sqrt(found.highest));
        std::vector<double> scores = sums_of(row, w, b), errors;
        for (std::size_t k = 0; k < columns; ++k) {
            scores[k] -= found.columns[k].noted / found.time;
            errors.push_back(rounding(row, peak, steps_with_all + found.steps));
            if (!is_exact(row, peak)) errors[k] += rounding_of_steps(row, found, k);
        }
        return judged(scores, errors);
    }

    // Whether the steps of a replica, which notes them as they are meant, are whole numbers that no rounding changes;
    // nor that of their products with the row.
    bool is_exact(std::size_t row, double peak) const {
        const double product = std::max(largest, 1.0) * facts[row].absolute;
        return whole && peak < largest_whole && std::max(farthest, 1.0) * product < largest_whole;
    }

    // The sum over a row of value times number, and the bias's, for each column.
    template <class Weight, class Bias>
    std::vector<double> sums_of(std::size_t row, Weight w, Bias b) const {
        std::vector<double> sums(columns);
        prepared.each(row, [&](std::size_t feature, T value) {
            for (std::size_t k = 0; k < columns; ++k) sums[k] += double{value} * double{w(prepared.old[feature], k)};
        });
        for (std::size_t k = 0; k < columns; ++k) sums[k] += double{b(k)};
        return sums;
    }

    std::vector<double> scores_by(const state<T>& at, std::size_t row) const {
        return sums_of(
            row, [&](std::size_t f, std::size_t k) { return at.weight.v[f * at.stride() + k]; },
            [&](std::size_t k) { return at.bias.v[k]; });
    }

    // What weights say of a row, as a model scores it.
    template <class Weight, class Bias>
    answer exact_answer(std::size_t row, Weight w, Bias b) const {
        const auto x = rows[row];
        weights<T> near(x.size(), start.classes);  // those of the row's features, in its order
        for (std::size_t j = 0; j < x.size(); ++j)
            if (x.value(j) != 0)
                for (std::size_t k = 0; k < columns; ++k) near.w[j * near.stride() + k] = w(x.feature(j), k);
        for (std::size_t k = 0; k < columns; ++k) near.bias[k] = b(k);
        std::vector<T> scores(columns);
        if constexpr (std::is_same_v<Rows, dense_rows<T>>) {
            score(near, dense_rows<T>{x.values, 1, x.size()}, scores.data());
        } else {
            std::vector<std::uint32_t> places(x.size());
            std::iota(places.begin(), places.end(), std::uint32_t{0});
            const std::array<std::int64_t, 2> ends{0, static_cast<std::int64_t>(x.size())};
            score(near, sparse_rows<T>{ends, places, {x.values, x.size()}, x.size()}, scores.data());
        }
        return {winner(scores.data(), columns, how.ties), true};
    }

    // How far rounding may have moved the score of a row by averaged weights, none of which ever was beyond the peak:
    // that of a learner, in rounding the weights and the score; and that of both, in sums of doubles.
    double rounding(std::size_t row, double peak, std::int64_t steps) const {
        const std::size_t passes = run.orders.size() / rows.size();
        const double additions = static_cast<double>(steps) + static_cast<double>(passes) + entries(row);
        const double in_double = 8 * additions * std::numeric_limits<double>::epsilon();
        return (2 * beyond_first_order * rounding_unit + in_double) * facts[row].absolute * peak;
    }

    // How far it may have moved what a replica has noted: the steps as they are meant, where a learner notes what is
    // left of them after rounding. A step d moves a weight to fl(w + fl(d)), which changes it by d, but for a rounding
    // of the new weight and one of d. Over all steps, the roundings of new weights, times the row, are at most
    //   length * sum of |weights moved| <= length * sqrt(steps * squares),
    // and `way` has those of d, and of its product with the row. Both were summed in T, where each of `many` roundings
    // can have made them smaller.
    double rounding_of_steps(std::size_t row, const outcome& found, std::size_t k) const {
        const auto steps = static_cast<double>(found.steps);
        const double many = steps + longest + 8, kept = 1 - many * rounding_unit;
        if (kept <= 0) return std::numeric_limits<double>::infinity();
        const outcome::column& of = found.columns[k];
        return beyond_first_order * rounding_unit / kept * facts[row].length * (std::sqrt(steps * of.squares) + of.way);
    }

    double entries(std::size_t row) const { return 8 * static_cast<double>(prepared.of(row).size()) + 8; }

    answer judged(const std::vector<double>& scores, const std::vector<double>& errors) const {
        if (columns == 1) return {scores[0] > 0, std::abs(scores[0]) > errors[0]};
        const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
        bool certain = true;
        for (std::size_t k = 0; k < columns; ++k)
            certain = certain && (k == best || scores[best] - scores[k] > errors[best] + errors[k]);
        return {static_cast<std::int64_t>(best), certain};
    }

    static constexpr double beyond_first_order = 1.02;  // roundings of roundings

    const settings how;
    const weights<T> start;
    const Rows rows;
    const course run;
    const std::size_t columns;
    const panels<T> prepared;
    std::vector<row_facts<T>> facts;
    bool whole = true;    // whether all numbers are whole
    double largest = 0;   // of the values' sizes
    double farthest = 0;  // that a pull can be, times the rate
    double longest = 0;   // of the rows, in entries

    state<T> with_all;
    std::int64_t steps_with_all = 0;
    double peak_with_all = 0;            // the largest weight that ever was
    std::vector<double> waited;          // by row: the time of its visits before its first step
    std::vector<double> scores_in_wait;  // by row and column: the sum of its scores in them
};

template <class T, class Rows>
std::shared_ptr<left_out<T>> leave_out(const settings& how, const weights<T>& start, const Rows& rows,
                                       const course& run) {
    if (rows.width() > start.features) throw std::invalid_argument("rows are wider than the weights");
    if (start.classes < 2) throw std::invalid_argument("there are fewer than two classes");
    check({run.which.labels, run.which.importance, run.orders}, rows.size(), start.classes);
    if (rows.size() == 0 || run.orders.size() % rows.size() != 0)
        throw std::invalid_argument("a pass does not visit each row once");
    if (how.schedule != schedule::constant || how.penalty != penalty::none)
        throw std::invalid_argument("a row that makes no step changes the steps of others");
    return std::make_shared<left_out_of<T, Rows>>(how, start, rows, run);
}

}  // namespace

std::shared_ptr<left_out<float>> leave_one_out(const settings& how, const weights<float>& start,
                                               const sparse_rows<float>& rows, const course& run) {
    return leave_out(how, start, rows, run);
}
std::shared_ptr<left_out<float>> leave_one_out(const settings& how, const weights<float>& start,
                                               const dense_rows<float>& rows, const course& run) {
    return leave_out(how, start, rows, run);
}
std::shared_ptr<left_out<double>> leave_one_out(const settings& how, const weights<double>& start,
                                                const sparse_rows<double>& rows, const course& run) {
    return leave_out(how, start, rows, run);
}
std::shared_ptr<left_out<double>> leave_one_out(const settings& how, const weights<double>& start,
                                                const dense_rows<double>& rows, const course& run) {
    return leave_out(how, start, rows, run);
}

}  // namespace markone

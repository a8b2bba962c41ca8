// Compiled once for each MARKONE_LEVEL, as loops.cpp is.
#include "leave_one_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "arithmetic.h"
#include "lanes.h"
#include "learner.h"
#include "rules.h"
#include "state.h"

namespace markone::MARKONE_LEVEL {

// Rules (rules.h) at many margins at once.
template <class T, class Pack, class Mask>
MARKONE_INLINE Pack pulls(const rules::perceptron<T>& rule, Pack margin, Mask wrong, T importance, T) {
    const Pack step = margin == 0 ? Pack{} + importance * rule.at_a_tie : Pack{} + importance * rule.far;
    return wrong ? step : Pack{};
}
template <class T, class Pack, class Mask>
MARKONE_INLINE Pack pulls(const rules::mira<T>& rule, Pack margin, Mask, T importance, T norm2) {
    const Pack left = 1 - margin, missing = left < 0 ? Pack{} : left;
    const Pack longest = Pack{} + importance * rule.C, whole = missing / norm2;
    return norm2 > 0 ? (missing == 0 ? Pack{} : whole < longest ? whole : longest) : Pack{};
}
template <class T, class Pack, class Mask>
MARKONE_INLINE Pack pulls(const rules::hinge<T>&, Pack margin, Mask, T importance, T) {
    return margin < 1 ? Pack{} + importance : Pack{};
}
template <class Rule, class T, class Pack, class Mask>
MARKONE_INLINE Pack pulls(const Rule& rule, Pack margin, Mask wrong, T importance, T norm2) {
    for (std::size_t i = 0; i < line<T>::width; ++i)
        margin[i] = rule.pull(margin[i], wrong[i] != 0, importance, [&] { return norm2; });
    return margin;
}

// What is known of a row before any run.
template <class T>
struct row_facts {
    double importance;
    T norm2;  // as the rules ask for it
    std::int32_t y;
    double absolute;  // the sum of the sizes of its values, and of the bias's 1
    double length;    // the root of the sum of their squares
};

template <class T, class Rule, class Rows>
class left_out_by final : public left_out<T> {
  public:
    left_out_by(const settings& how, const weights<T>& start, const Rows& rows, const course& run)
        : how(how),
          start(start),
          rows(rows),
          run(run),
          rule(how),
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
        replicas some(*this);
        for (std::size_t first = 0, count; first < order.size(); first += count) {
            // Those whose first steps are in one pass: none of them has a visit between the first of these and its own.
            std::vector<std::size_t> together;
            for (count = 0; count < lanes && first + count < order.size(); ++count) {
                if (pass(order[first + count]) != pass(order[first])) break;
                together.push_back(static_cast<std::size_t>(asked[order[first + count]]));
            }
            before.go_to(static_cast<std::size_t>(first_step(order[first])));
            some.begin(before, together);
            some.go_on(before.made);
            for (std::size_t i = 0; i < count; ++i) answers[order[first + i]] = some.say(i);
            some.forget();
        }
        return answers;
    }

  private:
    static constexpr std::size_t lanes = line<T>::lanes, registers = line<T>::registers;
    static constexpr double unit = std::numeric_limits<T>::epsilon();  // twice the share that a rounding can change
    static constexpr double largest_whole = 1 / unit;                  // up to here whole numbers are exact
    using pack = typename line<T>::pack;
    using walk = learner<T, Rule>;

    state<T> begin() const {
        state<T> at(how, start.features, start.classes);
        std::copy_n(start.data(), at.weight.v.size(), at.weight.v.begin());
        std::ranges::copy(start.bias, at.bias.v.begin());
        return at;
    }

    visits some_visits(std::size_t first, std::size_t count) const {
        return {run.which.labels, run.which.importance, run.orders.subspan(first, count)};
    }

    void look_at_rows() {
        packer<T> packed;
        const auto bias = static_cast<T>(how.bias);
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
            facts.push_back({importance, columns == 1 ? length2(rows[i]) + bias : 2 * (length2(packed(rows[i])) + bias),
                             run.which.labels[i], absolute, std::sqrt(squares)});
        }
        // The perceptron's steps are then whole numbers, too.
        whole = whole && std::is_same_v<Rule, rules::perceptron<T>> && how.eta == std::floor(how.eta);
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
        walk through(with_all, rule);
        packer<T> packed;
        std::vector<T> scores(with_all.stride());
        tally so_far;
        for (std::size_t pass = 0; pass < run.orders.size(); pass += n) {
            const std::int64_t steps_before = steps_with_all;
            for (std::size_t i = pass; i < pass + n; ++i) {
                const auto row = static_cast<std::size_t>(run.orders[i]);
                const bool waits = this->first_step[row] < 0 && facts[row].importance > 0;
                if (waits && how.average) score_now(row, packed, scores.data());
                so_far = through.learn(rows, some_visits(i, 1));
                if (so_far.updates > steps_with_all) {
                    if (waits) this->first_step[row] = static_cast<std::int64_t>(i);
                    note_peak(row);
                } else if (waits) {
                    waited[row] += facts[row].importance;
                    for (std::size_t k = 0; k < columns; ++k)
                        scores_in_wait[row * columns + k] += facts[row].importance * double{scores[k]};
                }
                steps_with_all = so_far.updates;
            }
            if (run.rests && steps_with_all == steps_before) break;
        }
        if (!std::isfinite(so_far.loss) || !std::isfinite(with_all.norm2())) throw not_finite();
    }

    void score_now(std::size_t row, packer<T>& packed, T* scores) const {
        if (columns == 1)
            scores[0] = dot(rows[row], with_all.weight.v.data());
        else
            dots(packed(rows[row]), with_all.weight.v.data(), with_all.stride(), scores);
        for (std::size_t k = 0; k < columns; ++k) scores[k] += with_all.bias.v[k];
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
        const left_out_by& all;
        state<T> at;
        walk through;
        std::size_t made = 0;  // visits
        std::int64_t steps = 0, steps_before_pass = 0;

        explicit leader(const left_out_by& all) : all(all), at(all.begin()), through(at, all.rule) {}

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
            if (made < until) steps = through.learn(all.rows, all.some_visits(made, until - made)).updates;
            made = until;
        }
    };

    // ---- runs side by side, each without a row of its own

    struct replicas {
        using doubles = std::array<double, lanes>;
        using number = whole_like<T>;

        // What a column is, beside its weights.
        struct column {
            line<T> bias, factor, scores;
            line<T> squares;  // the sum, over all steps, of the squares of the weights that they moved
            line<T> way;      // the length of all steps, each times the roundings of a product with its row
            doubles noted;    // what averaging notes (state.h), times the row that is left out
        };

        const left_out_by& all;
        const settings& how;
        table<line<T>> weight;  // by feature and column
        table<line<T>> own;     // by feature: its value in the row that is left out
        std::vector<column, table_allocator<column>> column_of;
        std::vector<std::int32_t> lane_of;  // by row: whose own it is, or -1
        std::vector<std::size_t> rows;
        std::vector<line<T>> sums;
        line<T> product;           // of a row with each of those that are left out
        line<T> highest;           // the largest of the squares that a step has moved
        whole_line<T> steps_here;  // in this pass, negative
        std::array<std::int64_t, lanes> steps{};
        doubles missed{};  // the time of the visits that are left out
        doubles end{};     // the time at which a replica came to rest
        double clock = 0;

        explicit replicas(const left_out_by& all)
            : all(all),
              how(all.how),
              weight(all.prepared.features() * all.columns),
              own(how.average ? all.prepared.features() : 0),
              column_of(all.columns),
              lane_of(all.rows.size(), -1),
              sums(std::max(all.prepared.sums, all.columns)) {}

        // Where the run with all rows is, just before the first step of the first of these rows.
        void begin(const leader& before, const std::vector<std::size_t>& left_out) {
            const state<T>& at = before.at;
            const std::size_t columns = all.columns;
            for (std::size_t f = 1; f < all.prepared.features(); ++f)
                for (std::size_t k = 0; k < columns; ++k)
                    weight[f * columns + k] = line<T>::all(at.weight.v[all.prepared.old[f] * at.stride() + k]);
            const line<T> none = line<T>::all(0);
            for (std::size_t k = 0; k < columns; ++k)
                column_of[k] = {line<T>::all(at.bias.v[k]), none, none, none, none, {}};
            highest = none;
            steps_here = whole_line<T>::all(before.steps == before.steps_before_pass ? 0 : -1);
            steps.fill(0);
            missed.fill(0);
            end.fill(0);
            clock = at.time;
            rows = left_out;
            for (std::size_t lane = 0; lane < rows.size(); ++lane) {
                lane_of[rows[lane]] = static_cast<std::int32_t>(lane);
                if (how.average) begin_average(at, lane);
            }
        }

        // All visits that are left, until no replica moves any more.
        void go_on(std::size_t visit) {
            const std::span<const std::int64_t> orders = all.run.orders;
            std::uint32_t running = (std::uint32_t{1} << rows.size()) - 1;
            while (visit < orders.size() && running != 0) {
                for (const std::size_t next = visit - visit % all.rows.size() + all.rows.size(); visit < next;
                     ++visit) {
                    if (visit + rows_ahead < orders.size())
                        prefetch(static_cast<std::size_t>(orders[visit + rows_ahead]));
                    visit_row(static_cast<std::size_t>(orders[visit]));
                }
                for (std::size_t lane = 0; lane < rows.size(); ++lane) {
                    if ((running >> lane & 1) != 0) end[lane] = clock - missed[lane];
                    if (all.run.rests && steps_here[lane] == 0) running &= ~(std::uint32_t{1} << lane);
                    steps[lane] -= steps_here[lane];
                }
                steps_here = whole_line<T>::all(0);
            }
        }

        answer say(std::size_t lane) const {
            const std::size_t row = rows[lane];
            const auto w = [&](std::size_t f, std::size_t k) {
                return weight[all.prepared.number(f) * all.columns + k][lane];
            };
            const auto b = [&](std::size_t k) { return column_of[k].bias[lane]; };
            if (!how.average) return all.exact_answer(row, w, b);

            const double peak = std::max(all.peak_with_all, std::sqrt(double{highest[lane]}));
            const bool exact =
                all.whole && peak < largest_whole && all.largest * all.facts[row].absolute < largest_whole;
            std::vector<double> scores = all.sums_of(row, w, b), errors;
            for (std::size_t k = 0; k < all.columns; ++k) {
                const column& of = column_of[k];
                scores[k] -= of.noted[lane] / end[lane];
                errors.push_back(all.rounding(row, peak, end[lane], all.steps_with_all + steps[lane]));
                // The steps are noted as they are meant; a learner notes what is left of them after rounding.
                if (!exact)
                    errors[k] +=
                        unit * all.facts[row].length *
                        (std::sqrt(static_cast<double>(steps[lane]) * double{of.squares[lane]}) + double{of.way[lane]});
            }
            return all.judged(scores, errors);
        }

        void forget() {
            for (const std::size_t row : rows) {
                lane_of[row] = -1;
                if (how.average)
                    all.prepared.each(row, [&](std::size_t feature, T) { own[feature] = line<T>::all(0); });
            }
        }

      private:
        static constexpr std::size_t rows_ahead = 4;

        // The visits of the row before its first step have changed the time, and nothing else. Without them a step d is
        // noted with less of it:
        //   sum of time * d * x  =  u * x - sum over these visits of what the score has changed since
        void begin_average(const state<T>& at, std::size_t lane) {
            const std::size_t row = rows[lane];
            all.prepared.each(
                row, [&](std::size_t feature, T value) { own[feature].set(lane, own[feature][lane] + value); });
            missed[lane] = all.waited[row];
            const std::vector<double> now = all.sums_of(
                row, [&](std::size_t f, std::size_t k) { return at.weight.v[f * at.stride() + k]; },
                [&](std::size_t k) { return at.bias.v[k]; });
            const std::vector<double> noted = all.sums_of(
                row, [&](std::size_t f, std::size_t k) { return at.weight.u[f * at.stride() + k]; },
                [&](std::size_t k) { return at.bias.u[k]; });
            for (std::size_t k = 0; k < all.columns; ++k)
                column_of[k].noted[lane] =
                    noted[k] - (missed[lane] * now[k] - all.scores_in_wait[row * all.columns + k]);
        }

        MARKONE_INLINE void prefetch(std::size_t row) const {
            const panel<T> x = all.prepared.of(row);
            prefetch_lines(x.data(), x.size());
            __builtin_prefetch(&all.facts[row]);
        }

        MARKONE_INLINE void visit_row(std::size_t row) {
            const row_facts<T>& of = all.facts[row];
            if (of.importance == 0) return;
            whole_line<T> still = whole_line<T>::all(-1);
            const std::int32_t lane = lane_of[row];
            if (lane >= 0) still.set(static_cast<std::size_t>(lane), 0);
            const double whole = Rule::repeats ? 1 : of.importance;
            double now = clock;
            for (double left = of.importance; left > 0; left -= whole) {
                const double part = std::min(whole, left);
                if (!(all.columns == 1 ? step_binary(row, part, now, still) : step_multiclass(row, part, now, still)))
                    break;
                now += part;
            }
            clock += of.importance;
            if (lane >= 0) missed[static_cast<std::size_t>(lane)] += of.importance;
        }

        // A visit to those replicas that are still at it: which of them moved, and whether any did.
        MARKONE_INLINE bool step_binary(std::size_t row, double importance, double now, whole_line<T>& still) {
            const row_facts<T>& of = all.facts[row];
            if (all.prepared.sums == 8) {
                dot_lines(all.prepared.of(row), weight.data(), sums[0]);
            } else {
                for (std::size_t i = 0; i < 4; ++i)
                    eight_sums(all.prepared.of(row, i), weight.data(), sums.data() + 8 * i);
                fold_lines<32>(sums.data());
            }
            const T sign = static_cast<T>(2 * of.y - 1), much = static_cast<T>(importance);
            const bool loses = how.ties == tie::error || (how.ties == tie::negative) == (of.y == 1);
            const whole_line<T> lost = whole_line<T>::all(-static_cast<number>(loses));
            column& one = column_of[0];
            line<T> pull;
            for (std::size_t r = 0; r < registers; ++r) {
                const pack margin = sign * (sums[0].part[r] + one.bias.part[r]);
                pull.part[r] = pulls(all.rule, margin, is_mistake(margin, lost.part[r]), much, of.norm2);
            }
            if (!settle(pull, still)) return false;
            const T far = sign * static_cast<T>(how.eta);
            for (std::size_t r = 0; r < registers; ++r) one.factor.part[r] = far * pull.part[r];
            multiply_own(row);
            move(row, 0, now);
            return true;
        }

        MARKONE_INLINE bool step_multiclass(std::size_t row, double importance, double now, whole_line<T>& still) {
            const row_facts<T>& of = all.facts[row];
            const std::size_t columns = all.columns;
            all_columns(all.prepared.of(row), weight.data(), columns, sums.data());
            for (std::size_t k = 0; k < columns; ++k)
                for (std::size_t r = 0; r < registers; ++r) sums[k].part[r] += column_of[k].bias.part[r];
            const auto y = static_cast<std::size_t>(of.y);
            const std::size_t first = y == 0 ? 1 : 0;
            line<T> best = sums[first], pull;
            whole_line<T> rival = whole_line<T>::all(static_cast<number>(first));
            for (std::size_t k = first + 1; k < columns; ++k) {
                if (k == y) continue;
                const whole_line<T> this_one = whole_line<T>::all(static_cast<number>(k));
                for (std::size_t r = 0; r < registers; ++r) {
                    const pack s = sums[k].part[r];
                    const auto better = how.ties == tie::positive ? s >= best.part[r] : s > best.part[r];
                    best.part[r] = better ? s : best.part[r];
                    rival.part[r] = better ? this_one.part[r] : rival.part[r];
                }
            }
            const T much = static_cast<T>(importance);
            if constexpr (Rule::target == rules::moves::pair) {
                for (std::size_t r = 0; r < registers; ++r) {
                    const pack margin = sums[y].part[r] - best.part[r];
                    const auto rival_comes_first = rival.part[r] < static_cast<number>(y);
                    const auto lost = how.ties == tie::error      ? rival_comes_first | ~rival_comes_first
                                      : how.ties == tie::negative ? rival_comes_first
                                                                  : ~rival_comes_first;
                    pull.part[r] = pulls(all.rule, margin, is_mistake(margin, lost), much, of.norm2);
                }
                if (!settle(pull, still)) return false;
                multiply_own(row);
                const T far = static_cast<T>(how.eta);
                const line<T>& up = column_of[y].factor;
                for (std::size_t r = 0; r < registers; ++r) column_of[y].factor.part[r] = far * pull.part[r];
                move(row, y, now);
                for (std::size_t k = 0; k < columns; ++k) {
                    if (k == y) continue;
                    whole_line<T> its;
                    for (std::size_t r = 0; r < registers; ++r) {
                        its.part[r] = still.part[r] & (rival.part[r] == static_cast<number>(k));
                        column_of[k].factor.part[r] = its.part[r] ? -up.part[r] : pack{};
                    }
                    if (any_of(its)) move(row, k, now);
                }
            } else {
                pull = line<T>::all(1);
                if (!settle(pull, still)) return false;
                multiply_own(row);
                const T far = static_cast<T>(how.eta * importance);
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const T top = std::max(sums[y][lane], best[lane]);
                    T total = 0;
                    for (std::size_t k = 0; k < columns; ++k) {
                        sums[k].set(lane, exponential(sums[k][lane] - top));
                        total += sums[k][lane];
                    }
                    for (std::size_t k = 0; k < columns; ++k)
                        column_of[k].factor.set(lane,
                                                pull[lane] * (far * (static_cast<T>(k == y) - sums[k][lane] / total)));
                }
                for (std::size_t k = 0; k < columns; ++k) move(row, k, now);
            }
            return true;
        }

        template <class Mask>
        MARKONE_INLINE static auto is_mistake(pack margin, Mask tie_is_lost) {
            return ~(margin > 0) & (tie_is_lost | (margin != 0));
        }

        // Takes away the pulls of replicas that are done with this row, and counts the others'.
        MARKONE_INLINE bool settle(line<T>& pull, whole_line<T>& still) {
            for (std::size_t r = 0; r < registers; ++r) {
                still.part[r] &= pull.part[r] != 0;
                pull.part[r] = still.part[r] ? pull.part[r] : pack{};
            }
            if (!any_of(still)) return false;
            for (std::size_t r = 0; r < registers; ++r) steps_here.part[r] += still.part[r];
            return true;
        }

        MARKONE_INLINE void multiply_own(std::size_t row) {
            if (!how.average) return;
            dot_lines(all.prepared.of(row), own.data(), product);
        }

        MARKONE_INLINE void move(std::size_t row, std::size_t k, double now) {
            column& of = column_of[k];
            const panel<T> x = all.prepared.of(row);
            line<T> squares;
            move_column(x, of.factor, weight.data() + k, all.columns, squares);
            if (how.bias)
                for (std::size_t r = 0; r < registers; ++r) of.bias.part[r] += of.factor.part[r];
            if (!how.average) return;
            const T one = static_cast<T>(how.bias);
            const T length = static_cast<T>(all.facts[row].length) * static_cast<T>(x.size() + 8);
            alignas(table_allocator<T>::cache_line) T changes[lanes];  // of the scores of the rows that are left out
            for (std::size_t r = 0; r < registers; ++r) {
                const pack by = of.factor.part[r], change = by * (product.part[r] + one);
                std::memcpy(changes + r * line<T>::width, &change, sizeof change);
                const pack moved = squares.part[r] + of.bias.part[r] * of.bias.part[r];
                const pack counted = by != 0 ? moved : pack{};
                of.squares.part[r] += counted;
                of.way.part[r] += size_of(by) * length;
                highest.part[r] = larger(highest.part[r], counted);
            }
            constexpr std::size_t wide = register_bytes / sizeof(double);
            for (std::size_t lane = 0; lane < lanes; lane += wide) {
                typename pack_of<double, wide>::type change, time, noted;
                load<wide>(changes + lane, change);
                load<wide>(missed.data() + lane, time);
                load<wide>(of.noted.data() + lane, noted);
                noted += (now - time) * change;
                std::memcpy(of.noted.data() + lane, &noted, sizeof noted);
            }
        }
    };

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
        return judged(scores, std::vector<double>(columns, rounding(row, peak_with_all, time, steps_with_all)));
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

    // What weights say of a row, as loops.cpp scores it.
    template <class Weight, class Bias>
    answer exact_answer(std::size_t row, Weight w, Bias b) const {
        const auto x = rows[row];
        const std::size_t stride = stride_of(start.classes);
        std::vector<T> near(x.size() * stride);  // the weights of the row's features, in its order
        for (std::size_t j = 0; j < x.size(); ++j)
            if (x.value(j) != 0)
                for (std::size_t k = 0; k < columns; ++k) near[j * stride + k] = w(x.feature(j), k);
        std::vector<std::uint32_t> places(x.size());
        std::iota(places.begin(), places.end(), std::uint32_t{0});
        std::vector<double> sums(stride);
        packer<T> packed;
        const auto here = [&] {
            if constexpr (std::is_same_v<Rows, dense_rows<T>>)
                return x;
            else
                return sparse_row<T>{places.data(), x.values, x.size()};
        }();
        if (columns == 1)
            sums[0] = exact_dot(here, near.data());
        else
            dots(packed(here), near.data(), stride, sums.data());
        std::vector<T> scores(columns);
        for (std::size_t k = 0; k < columns; ++k) scores[k] = static_cast<T>(sums[k] + double{b(k)});
        return {winner(scores.data(), columns, how.ties), true};
    }

    // How far rounding may have moved the score of a row by averaged weights, none of which ever was beyond the peak:
    // that of a learner, in rounding the weights and the score; and ours, in the scores before the first step; and
    // both, in sums of doubles.
    double rounding(std::size_t row, double peak, double time, std::int64_t steps) const {
        const double entries = 8 * static_cast<double>(prepared.of(row).size()) + 8;
        const double in_wait = entries * waited[row] / time;
        const double in_double = 8 * (static_cast<double>(steps) + entries) * std::numeric_limits<double>::epsilon();
        return (unit * (2 + in_wait) + in_double) * facts[row].absolute * peak;
    }

    answer judged(const std::vector<double>& scores, const std::vector<double>& errors) const {
        if (columns == 1) return {scores[0] > 0, std::abs(scores[0]) > errors[0]};
        const auto best = static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
        bool certain = true;
        for (std::size_t k = 0; k < columns; ++k)
            certain = certain && (k == best || scores[best] - scores[k] > errors[best] + errors[k]);
        return {static_cast<std::int64_t>(best), certain};
    }

    const settings how;
    const weights<T> start;
    const Rows rows;
    const course run;
    const Rule rule;
    const std::size_t columns;
    const panels<T> prepared;
    std::vector<row_facts<T>> facts;
    bool whole = true;   // whether all numbers are whole
    double largest = 0;  // of the values' sizes

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
    return rules::with_rule<T>(how, [&]<class Rule>(const Rule&) -> std::shared_ptr<left_out<T>> {
        return std::make_shared<left_out_by<T, Rule, Rows>>(how, start, rows, run);
    });
}

template <class T>
extern const left_out_loops<T> leaving_out = {leave_out<T, sparse_rows<T>>, leave_out<T, dense_rows<T>>};

const left_out_loops<float>& left_out_loops32() {
    return leaving_out<float>;
}
const left_out_loops<double>& left_out_loops64() {
    return leaving_out<double>;
}

}  // namespace markone::MARKONE_LEVEL

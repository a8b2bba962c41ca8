// Compiled once for each MARKONE_LEVEL, as loops.cpp is.
#include "leave_one_out/replicas.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/exponential.h"
#include "leave_one_out/replica_simd.h"
#include "online/rules.h"

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

// What they are, and how they move; whether they do is the rule's.
template <class T>
class common_replicas : public replicas<T> {
  public:
    explicit common_replicas(const common_course<T>& course)
        : of_all(course),
          how(course.how),
          weights(course.prepared.features() * course.columns),
          own(how.average ? course.prepared.features() : 0),
          column_of(course.columns),
          lane_of(course.facts.size(), -1),
          sums(std::max(course.prepared.sums, course.columns)) {}

    void begin(const state<T>& at, bool stepped, std::span<const vacancy> left_out) override {
        forget();
        const std::size_t columns = of_all.columns;
        for (std::size_t f = 1; f < of_all.prepared.features(); ++f)
            for (std::size_t k = 0; k < columns; ++k)
                weights[f * columns + k] = line<T>::all(at.weight.v[of_all.prepared.old[f] * at.stride() + k]);
        const line<T> none = line<T>::all(0);
        for (std::size_t k = 0; k < columns; ++k) column_of[k] = {line<T>::all(at.bias.v[k]), none, none, none, {}};
        highest = none;
        steps_here = whole_line<T>::all(stepped ? -1 : 0);
        steps.fill(0);
        missed.fill(0);
        end.fill(0);
        clock = at.time;
        for (std::size_t lane = 0; lane < left_out.size(); ++lane) {
            const vacancy& one = left_out[lane];
            rows.push_back(one.row);
            lane_of[one.row] = static_cast<std::int32_t>(lane);
            if (!how.average) continue;
            missed[lane] = one.missed;
            for (std::size_t k = 0; k < columns; ++k) column_of[k].noted[lane] = one.noted[k];
            of_all.prepared.each(
                one.row, [&](std::size_t feature, T value) { own[feature].set(lane, own[feature][lane] + value); });
        }
    }

    outcome outcome_of(std::size_t lane) const override {
        outcome found{end[lane], steps[lane], double{highest[lane]}, {}};
        for (const column& of : column_of)
            found.columns.push_back({of.noted[lane], double{of.squares[lane]}, double{of.way[lane]}});
        return found;
    }
    T weight(std::size_t lane, std::size_t feature, std::size_t k) const override {
        return weights[feature * of_all.columns + k][lane];
    }
    T bias(std::size_t lane, std::size_t k) const override { return column_of[k].bias[lane]; }

  protected:
    static constexpr std::size_t lanes = line<T>::lanes, registers = line<T>::registers, rows_ahead = 4;
    static_assert(lanes == replicas<T>::most);
    using pack = typename line<T>::pack;
    using number = whole_like<T>;
    using doubles = std::array<double, lanes>;

    // What a column is, beside its weights; the last three are those of an outcome.
    struct column {
        line<T> bias, factor;
        line<T> squares;
        line<T> way;
        doubles noted;
    };

    MARKONE_INLINE void prefetch(std::size_t row) const {
        const panel<T> x = of_all.prepared.of(row);
        prefetch_lines(x.data(), x.size());
        __builtin_prefetch(&of_all.facts[row]);
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
        dot_lines(of_all.prepared.of(row), own.data(), product);
    }

    MARKONE_INLINE void move(std::size_t row, std::size_t k, double now) {
        column& of = column_of[k];
        const panel<T> x = of_all.prepared.of(row);
        line<T> squares;
        move_column(x, of.factor, weights.data() + k, of_all.columns, squares);
        if (how.bias)
            for (std::size_t r = 0; r < registers; ++r) of.bias.part[r] += of.factor.part[r];
        if (!how.average) return;
        const T one = static_cast<T>(how.bias);
        const T length = static_cast<T>(of_all.facts[row].length) * static_cast<T>(x.size() + 8);
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

    const common_course<T> of_all;
    const settings& how;
    table<line<T>> weights;  // by feature and column
    table<line<T>> own;      // by feature: its value in the row that is left out
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

  private:
    void forget() {
        for (const std::size_t row : rows) {
            lane_of[row] = -1;
            if (how.average) of_all.prepared.each(row, [&](std::size_t feature, T) { own[feature] = line<T>::all(0); });
        }
        rows.clear();
    }
};

template <class T, class Rule>
class replicas_by final : public common_replicas<T> {
    using base = common_replicas<T>;
    using base::move, base::multiply_own, base::prefetch, base::settle;
    using base::of_all, base::how, base::weights, base::column_of, base::lane_of, base::rows, base::sums,
        base::steps_here;
    using base::steps, base::missed, base::end, base::clock, base::lanes, base::registers, base::rows_ahead;
    using typename base::column, typename base::number, typename base::pack;

  public:
    explicit replicas_by(const common_course<T>& course) : base(course), rule(course.how) {}

    void go_on(std::size_t visit) override {
        const std::span<const std::int64_t> orders = of_all.orders;
        std::uint32_t running = (std::uint32_t{1} << rows.size()) - 1;
        while (visit < orders.size() && running != 0) {
            for (const std::size_t next = visit - visit % of_all.facts.size() + of_all.facts.size(); visit < next;
                 ++visit) {
                if (visit + rows_ahead < orders.size()) prefetch(static_cast<std::size_t>(orders[visit + rows_ahead]));
                visit_row(static_cast<std::size_t>(orders[visit]));
            }
            for (std::size_t lane = 0; lane < rows.size(); ++lane) {
                if ((running >> lane & 1) != 0) end[lane] = clock - missed[lane];
                if (of_all.rests && steps_here[lane] == 0) running &= ~(std::uint32_t{1} << lane);
                steps[lane] -= steps_here[lane];
            }
            steps_here = whole_line<T>::all(0);
        }
    }

  private:
    MARKONE_INLINE void visit_row(std::size_t row) {
        const row_facts<T>& of = of_all.facts[row];
        if (of.importance == 0) return;
        whole_line<T> still = whole_line<T>::all(-1);
        const std::int32_t lane = lane_of[row];
        if (lane >= 0) still.set(static_cast<std::size_t>(lane), 0);
        const double whole = Rule::repeats ? 1 : of.importance;
        double now = clock;
        for (double left = of.importance; left > 0; left -= whole) {
            const double part = std::min(whole, left);
            if (!(of_all.columns == 1 ? step_binary(row, part, now, still) : step_multiclass(row, part, now, still)))
                break;
            now += part;
        }
        clock += of.importance;
        if (lane >= 0) missed[static_cast<std::size_t>(lane)] += of.importance;
    }

    // A visit to those replicas that are still at it: which of them moved, and whether any did.
    MARKONE_INLINE bool step_binary(std::size_t row, double importance, double now, whole_line<T>& still) {
        const row_facts<T>& of = of_all.facts[row];
        if (of_all.prepared.sums == 8) {
            dot_lines(of_all.prepared.of(row), weights.data(), sums[0]);
        } else {
            for (std::size_t i = 0; i < 4; ++i)
                eight_sums(of_all.prepared.of(row, i), weights.data(), sums.data() + 8 * i);
            fold_lines<32>(sums.data());
        }
        const T sign = static_cast<T>(2 * of.y - 1), much = static_cast<T>(importance);
        const bool loses = how.ties == tie::error || (how.ties == tie::negative) == (of.y == 1);
        const whole_line<T> lost = whole_line<T>::all(-static_cast<number>(loses));
        column& one = column_of[0];
        line<T> pull;
        for (std::size_t r = 0; r < registers; ++r) {
            const pack margin = sign * (sums[0].part[r] + one.bias.part[r]);
            pull.part[r] = pulls(rule, margin, is_mistake(margin, lost.part[r]), much, of.norm2);
        }
        if (!settle(pull, still)) return false;
        const T far = sign * static_cast<T>(how.eta);
        for (std::size_t r = 0; r < registers; ++r) one.factor.part[r] = far * pull.part[r];
        multiply_own(row);
        move(row, 0, now);
        return true;
    }

    MARKONE_INLINE bool step_multiclass(std::size_t row, double importance, double now, whole_line<T>& still) {
        const row_facts<T>& of = of_all.facts[row];
        const std::size_t columns = of_all.columns;
        all_columns(of_all.prepared.of(row), weights.data(), columns, sums.data());
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
                pull.part[r] = pulls(rule, margin, is_mistake(margin, lost), much, of.norm2);
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

    const Rule rule;
};

template <class T>
std::unique_ptr<replicas<T>> make(const common_course<T>& course) {
    std::unique_ptr<replicas<T>> made;
    rules::with_rule<T>(course.how, [&]<class Rule>(const Rule&) {
        made = std::make_unique<replicas_by<T, Rule>>(course);
        return true;
    });
    return made;
}

std::unique_ptr<replicas<float>> make_replicas(const common_course<float>& course) {
    return make(course);
}
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>& course) {
    return make(course);
}

}  // namespace markone::MARKONE_LEVEL

// Compiled once for each MARKONE_LEVEL, as loops.cpp is.
#include "leave_one_out/replicas.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "leave_one_out/replica_simd.h"
#include "online/rules.h"
#include "online/step.h"

namespace markone::MARKONE_LEVEL {

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
                weights[f * columns + k] = line<T>(at.weight.v[of_all.prepared.old[f] * at.stride() + k]);
        const line<T> none = line<T>(0);
        for (std::size_t k = 0; k < columns; ++k) column_of[k] = {line<T>(at.bias.v[k]), none, none, none, {}};
        highest = none;
        steps_here = whole_line<T>(stepped ? -1 : 0);
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
    static constexpr std::size_t lanes = line<T>::lanes, rows_ahead = 4;
    static_assert(lanes == replicas<T>::most);
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
        markone::prefetch(&of_all.facts[row]);
    }

    // Sets the pulls of replicas that are done with this row to 0, and counts the others as steps.
    MARKONE_INLINE bool settle(line<T>& pull, whole_line<T>& still) {
        still = still & (pull != 0);
        pull = choose(still, pull, line<T>(0));
        if (!any(still)) return false;
        steps_here = steps_here + still;
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
        if (how.bias) of.bias = of.bias + of.factor;
        if (!how.average) return;
        const T length = static_cast<T>(of_all.facts[row].length) * static_cast<T>(x.size() + 8);
        const line<T> counted = choose(of.factor != 0, squares + of.bias * of.bias, line<T>(0));
        of.squares = of.squares + counted;
        of.way = of.way + size_of(of.factor) * length;
        highest = larger(counted, highest);
        note_change(of.factor * (product + static_cast<T>(how.bias)), now, of.noted);
    }

    // What averaging notes of a change of the scores of the rows that are left out, at this time.
    MARKONE_INLINE void note_change(const line<T>& change_of_scores, double now, doubles& noted_so_far) const {
        alignas(table_allocator<T>::cache_line) T changes[lanes];
        std::memcpy(changes, change_of_scores.part, sizeof changes);
        constexpr std::size_t wide = register_bytes / sizeof(double);
        for (std::size_t lane = 0; lane < lanes; lane += wide) {
            typename pack_of<double, wide>::type change, time, noted;
            load<wide>(changes + lane, change);
            load<wide>(missed.data() + lane, time);
            load<wide>(noted_so_far.data() + lane, noted);
            noted += (now - time) * change;
            std::memcpy(noted_so_far.data() + lane, &noted, sizeof noted);
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
            if (how.average) of_all.prepared.each(row, [&](std::size_t feature, T) { own[feature] = line<T>(0); });
        }
        rows.clear();
    }
};

template <class T, class Rule>
class replicas_by final : public common_replicas<T> {
    using base = common_replicas<T>;
    using base::multiply_own, base::prefetch, base::settle;
    using base::of_all, base::how, base::weights, base::column_of, base::lane_of, base::rows, base::sums,
        base::steps_here;
    using base::steps, base::missed, base::end, base::clock, base::rows_ahead;

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
            steps_here = whole_line<T>(0);
        }
    }

  private:
    MARKONE_INLINE void visit_row(std::size_t row) {
        const row_facts<T>& of = of_all.facts[row];
        if (of.importance == 0) return;
        whole_line<T> still = whole_line<T>(-1);
        const std::int32_t lane = lane_of[row];
        if (lane >= 0) still.set(static_cast<std::size_t>(lane), 0);
        double now = clock;
        each_visit(rule, of.importance, [&](double part, double) {
            const visit one{row, static_cast<std::size_t>(of.y), part, how.eta};
            run some{*this, row, now, still};
            now += part;
            return of_all.columns == 1 ? step_binary(rule, some, one, how.ties)
                                       : step_multiclass(rule, some, one, how.ties);
        });
        clock += of.importance;
        if (lane >= 0) missed[static_cast<std::size_t>(lane)] += of.importance;
    }

    // What step.h asks of a run, here of all replicas that are still at this row.
    struct run {
        using number = line<T>;
        using answer = whole_line<T>;
        using place = whole_line<T>;
        static constexpr bool counts_loss = false;

        replicas_by& by;
        const std::size_t row;
        const double now;
        whole_line<T>& still;

        MARKONE_INLINE line<T> score() const {
            const panels<T>& prepared = by.of_all.prepared;
            line<T>* const sums = by.sums.data();
            if (prepared.sums == 8) {
                dot_lines(prepared.of(row), by.weights.data(), sums[0]);
            } else {
                for (std::size_t i = 0; i < 4; ++i) eight_sums(prepared.of(row, i), by.weights.data(), sums + 8 * i);
                fold_lines<32>(sums);
            }
            return sums[0] + by.column_of[0].bias;
        }
        MARKONE_INLINE std::span<line<T>> scores() const {
            const std::size_t columns = by.of_all.columns;
            all_columns(by.of_all.prepared.of(row), by.weights.data(), columns, by.sums.data());
            for (std::size_t k = 0; k < columns; ++k) by.sums[k] = by.sums[k] + by.column_of[k].bias;
            return {by.sums.data(), columns};
        }
        MARKONE_INLINE T norm2() const { return by.of_all.facts[row].norm2; }
        MARKONE_INLINE static answer always(bool yes) { return answer(yes ? -1 : 0); }
        MARKONE_INLINE static answer positive(std::size_t y) { return always(y == 1); }
        MARKONE_INLINE static place place_of(std::size_t k) { return place(static_cast<whole_like<T>>(k)); }
        MARKONE_INLINE static void note(const answer&, const line<T>&) {}
        MARKONE_INLINE bool keep(line<T>& pull) const {
            if (!by.settle(pull, still)) return false;
            by.multiply_own(row);
            return true;
        }
        MARKONE_INLINE void move(const line<T>& factor) const { move_column(0, factor); }
        MARKONE_INLINE void move_pair(std::size_t y, const place& rival, const line<T>& factor) const {
            move_column(y, factor);
            for (std::size_t k = 0; k < by.of_all.columns; ++k) {
                const answer loses = still & (rival == place_of(k));
                if (k != y && any(loses)) move_column(k, choose(loses, -factor, line<T>(0)));
            }
        }
        MARKONE_INLINE void move_all() const {
            for (std::size_t k = 0; k < by.of_all.columns; ++k) move_column(k, choose(still, by.sums[k], line<T>(0)));
        }

      private:
        MARKONE_INLINE void move_column(std::size_t k, const line<T>& factor) const {
            by.column_of[k].factor = factor;
            by.base::move(row, k, now);
        }
    };

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

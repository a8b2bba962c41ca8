// Iterative parameter mixing (McDonald, Hall and Mann 2010): in each pass, every partition of the rows learns on its
// own from the same weights, and then the weights are mixed:
//
//   w      <-  sum over partitions p of  share_p w_p
//   sum    <-  sum + sum over p of  (the sum of all weights that p met)
//
// In the terms of state.h, where w = scale * v and the sum of all w met is v * clock - u, a partition starts at the v
// and the scale of the base, with clock = u = 0. With d_p = v_p - v and r_p = d_p clock_p - u_p, mixing is
//
//   v'     =  v + sum of f_p d_p,       f_p = share_p scale_p / scale',   scale' = sum of share_p scale_p
//   clock' =  clock + sum of clock_p
//   u'     =  u + clock' (v' - v) - sum of r_p
//
// so that nothing has to be done for a weight that no partition has moved. The bias has the time as its clock.
//
// The partitions of a process are mixed where they are. What others have changed comes as lists. Both add up the same
// numbers in the same order, the fixed tree of engine.py, and so give the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/portable.h"
#include "online/state.h"

namespace markone {

// What a partition has changed in a pass: the d, the r and the increases of AdaGrad's squares, for the places of the
// tables where one of them is not 0, in order.
struct changes {
    std::vector<std::uint32_t> places;
    std::vector<double> moved, sums, squares;  // the last two where averaging, and where AdaGrad
};
struct changes_view {
    std::span<const std::uint32_t> places;
    std::span<const double> moved, sums, squares;

    void check(bool has_sums, bool has_squares) const {
        const auto fits = [&](std::span<const double> one, bool is_there) {
            return one.size() == (is_there ? places.size() : 0);
        };
        if (!fits(moved, true) || !fits(sums, has_sums) || !fits(squares, has_squares))
            throw std::invalid_argument("the arrays of the changes do not match");
    }
};

// The changes of a set of partitions, and the share by which its moves are multiplied; the rest is added as it is.
struct share_of_changes {
    changes_view of;
    double share;

    // What this adds to the number at place i of the changes, or nothing where the set has not changed it.
    double moved(std::size_t i, bool is_there) const { return is_there ? share * of.moved[i] : 0; }
    double sum(std::size_t i, bool is_there) const { return is_there ? of.sums[i] : 0; }
    double square(std::size_t i, bool is_there) const { return is_there ? of.squares[i] : 0; }
};

// Two sets of partitions, neighbours in the tree of sums.
struct pair_of_changes {
    share_of_changes a, b;

    bool has_sums() const { return !a.of.sums.empty() || !b.of.sums.empty(); }
    bool has_squares() const { return !a.of.squares.empty() || !b.of.squares.empty(); }

    void check() const {
        a.of.check(has_sums(), has_squares());
        b.of.check(has_sums(), has_squares());
    }

    // Calls use(place, i, in_a, j, in_b) for the places from `first` to before `last` that a or b have changed.
    template <class Use>
    void each(std::size_t first, std::size_t last, Use use) const {
        constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
        const auto start = [&](std::span<const std::uint32_t> places, std::size_t from) {
            return static_cast<std::size_t>(std::ranges::lower_bound(places, from) - places.begin());
        };
        std::size_t i = start(a.of.places, first), j = start(b.of.places, first);
        const std::size_t end_i = start(a.of.places, last), end_j = start(b.of.places, last);
        while (i < end_i || j < end_j) {
            const std::size_t of_a = i < end_i ? a.of.places[i] : none, of_b = j < end_j ? b.of.places[j] : none;
            const bool in_a = of_a <= of_b, in_b = of_b <= of_a;
            use(in_a ? of_a : of_b, i, in_a, j, in_b);
            i += in_a;
            j += in_b;
        }
    }
};

// What was done in the partitions together, or in one of them.
struct clocks {
    double scale, clock, time;
};

// The changes of two sets of partitions together.
inline changes merge(const pair_of_changes& both) {
    const auto& [a, b] = both;
    both.check();
    const std::size_t most = a.of.places.size() + b.of.places.size();
    changes found;
    found.places.reserve(most);
    found.moved.reserve(most);
    if (both.has_sums()) found.sums.reserve(most);
    if (both.has_squares()) found.squares.reserve(most);
    both.each(0, std::size_t{1} << 32, [&](std::size_t at, std::size_t i, bool in_a, std::size_t j, bool in_b) {
        found.places.push_back(static_cast<std::uint32_t>(at));
        found.moved.push_back(a.moved(i, in_a) + b.moved(j, in_b));
        if (both.has_sums()) found.sums.push_back(a.sum(i, in_a) + b.sum(j, in_b));
        if (both.has_squares()) found.squares.push_back(a.square(i, in_a) + b.square(j, in_b));
    });
    return found;
}

// A partition of this process, with its share of the scaled weights (the f of the head comment) and of the bias.
template <class T>
struct share_of_part {
    state<T>* part;
    double share, share_of_bias;
};

template <class T>
class mixing {
  public:
    using layers = typename state<T>::layers;
    static constexpr std::size_t group = state<T>::group;

    // Starts a partition, which has learned nothing, at the weights of the base, which must have no debts.
    static void start(state<T>& part, const state<T>& base) {
        check_alike(part, base);
        if (part.time > 0) throw std::invalid_argument("a partition starts with a new learner");
        part.weight.v = base.weight.v;
        part.weight.squares = base.weight.squares;
        part.touched.assign((base.weight.v.size() + state<T>::group - 1) / state<T>::group, 0);
        start_again(part, base);
    }

    // Does the same for a partition that has the weights of the base already, but not its bias and its clocks.
    static void start_again(state<T>& part, const state<T>& base) {
        check_alike(part, base);
        part.bias.v = base.bias.v;
        part.bias.u.assign(base.bias.u.size(), 0.0);
        part.bias.squares = base.bias.squares;
        set_clocks(part, base);
    }

    // Pays what a partition owes at the end of its pass, and returns how far its clocks have gone.
    static clocks finish(state<T>& part, const state<T>& base) {
        check_alike(part, base);
        part.settle_all();
        return {part.scale, part.clock, part.time - base.time};
    }

    // Returns what a partition has changed, and takes it back.
    static changes take(state<T>& part, const state<T>& base, changes& of_bias, clocks& when) {
        when = finish(part, base);
        changes found;
        for (std::size_t first = 0, number = 0; number < part.touched.size(); ++number, first += state<T>::group) {
            if (!part.touched[number]) continue;
            part.touched[number] = 0;
            take(part.weight, base.weight, part.clock, first, std::min(first + state<T>::group, part.weight.v.size()),
                 found);
        }
        take(part.bias, base.bias, part.time, 0, part.bias.v.size(), of_bias);
        set_clocks(part, base);
        return found;
    }

    // Mixes the bias, and sets the clocks, which are those of all partitions together. The weights come after it.
    static void mix_bias(state<T>& base, const pair_of_changes& all, const clocks& when) {
        go_on(base, when);
        mix(base.bias, {}, all, base.time, 0, base.bias.v.size());
    }
    static void mix_bias(state<T>& base, std::span<const share_of_part<T>> all, const clocks& when) {
        std::vector<source> from;
        for (const auto& [part, share, share_of_bias] : all) {
            check_alike(*part, base);
            from.push_back({&part->bias, share_of_bias, part->time});
        }
        go_on(base, when);
        tables_of_parts tables(base.bias, from, {}, base.time);
        for (std::size_t first = 0; first < base.bias.v.size(); first += group)
            tables.mix(first, std::min(group, base.bias.v.size() - first));
    }

    // Mixes the weights of a range of features, and gives the new ones to partitions that have the weights of the base.
    static void mix_weights(state<T>& base, std::span<state<T>* const> others, const pair_of_changes& all,
                            std::size_t first, std::size_t last) {
        std::vector<layers*> also;
        for (state<T>* const one : others) {
            check_alike(*one, base);
            also.push_back(&one->weight);
        }
        mix(base.weight, also, all, base.clock, first * base.stride(), std::min(last, base.features) * base.stride());
    }

    // How many groups of neighbouring weights there are.
    static std::size_t groups(const state<T>& base) { return (base.weight.v.size() + group - 1) / group; }

    // Mixes some groups of the weights of partitions, and gives the new ones to them, and to those that have not
    // learned. The sums of the partitions are 0 again.
    static void mix_groups(state<T>& base, std::span<const share_of_part<T>> all, std::span<state<T>* const> others,
                           std::size_t first, std::size_t last) {
        std::vector<source> from;
        std::vector<layers*> also;
        for (const auto& [part, share, share_of_bias] : all) {
            check_alike(*part, base);
            if (part->touched.size() != groups(base)) throw std::invalid_argument("a partition was not started");
            from.push_back({&part->weight, share, part->clock, part->touched.data()});
        }
        for (state<T>* const one : others) {
            check_alike(*one, base);
            also.push_back(&one->weight);
        }
        tables_of_parts tables(base.weight, from, also, base.clock);
        last = std::min(last, groups(base));
        // First some groups are found, so that the memory for the next ones can be fetched in time.
        constexpr std::size_t together = 256, ahead = 8;
        std::size_t found[together];
        for (std::size_t at = first; at < last;) {
            std::size_t count = 0;
            while (at < last && count < together) at = next_touched(from, at, last, found, count);
            for (std::size_t i = 0; i < std::min(count, ahead); ++i) tables.expect(found[i]);
            for (std::size_t i = 0; i < count; ++i) {
                if (i + ahead < count) tables.expect(found[i + ahead]);
                const std::size_t begin = found[i] * group, size = base.weight.v.size() - begin;
                if (size >= group)
                    tables.mix(begin, std::integral_constant<std::size_t, group>{});
                else
                    tables.mix(begin, size);
            }
        }
    }

  private:
    // What a partition has learned, its share, and its clock. All of the bias may have been touched.
    struct source {
        layers* from;
        double share, clock;
        std::uint8_t* touched = nullptr;

        bool has_touched(std::size_t number) const { return touched == nullptr || touched[number] != 0; }
    };

    // Adds the number of group `at` to those found if a partition has touched it, and returns the next one. Many groups
    // that nobody has touched are passed at once.
    static std::size_t next_touched(std::span<const source> from, std::size_t at, std::size_t last, std::size_t* found,
                                    std::size_t& count) {
        std::uint64_t many = 0;
        if (at + sizeof many <= last) {
            for (const source& part : from) {
                std::uint64_t of_part = 0;
                std::memcpy(&of_part, part.touched + at, sizeof of_part);
                many |= of_part;
            }
            if (many == 0) return at + sizeof many;
        }
        if (std::ranges::any_of(from, [&](const source& part) { return part.has_touched(at); })) found[count++] = at;
        return at + 1;
    }

    static void go_on(state<T>& base, const clocks& when) {
        base.scale = when.scale;
        base.clock += when.clock;
        base.time += when.time;
    }

    // A number after a move. One that does not move keeps its sign, even if it is 0: some ways of mixing visit it, and
    // others do not.
    template <class Number>
    static Number gone(Number before, double moved) {
        return moved == 0 ? before : static_cast<Number>(static_cast<double>(before) + moved);
    }

    // The tables of all partitions in a range of neighbours, which are mixed at once.
    class tables_of_parts {
      public:
        tables_of_parts(layers& base, std::span<const source> parts, std::span<layers* const> also, double clock)
            : base(base),
              parts(parts),
              also(also),
              clock(clock),
              averaging(!base.u.empty()),
              adaptive(!base.squares.empty()),
              moved(parts.size() * group),
              sums(moved.size()),
              squares(moved.size()) {}

        // Fetches the memory for a group.
        void expect(std::size_t number) const {
            expect(base, number, true);
            for (const source& part : parts) expect(*part.from, number, part.has_touched(number));
        }

        // Mixes a group. Its size is a number, or one that the compiler knows.
        template <class Size>
        void mix(std::size_t first, Size size) {
            for (std::size_t p = 0; p < parts.size(); ++p) take(p, first, size);
            add_up(moved, size);
            T* const v = base.v.data() + first;
            T after[group];
            for (std::size_t i = 0; i < size; ++i) after[i] = gone(v[i], moved[i]);
            if (averaging) {
                add_up(sums, size);
                double* const u = base.u.data() + first;
                for (std::size_t i = 0; i < size; ++i)
                    u[i] = gone(u[i], clock * (static_cast<double>(after[i]) - static_cast<double>(v[i])) - sums[i]);
            }
            put(&layers::v, first, after, size);
            if (!adaptive) return;
            add_up(squares, size);
            double all[group];
            for (std::size_t i = 0; i < size; ++i) all[i] = base.squares[first + i] + squares[i];
            put(&layers::squares, first, all, size);
        }

      private:
        // What a partition has changed.
        template <class Size>
        void take(std::size_t p, std::size_t first, Size size) {
            const source& part = parts[p];
            double *const d = moved.data() + p * group, *const r = sums.data() + p * group,
                          *const more = squares.data() + p * group;
            if (!part.has_touched(first / group)) {
                std::fill_n(d, group, 0.0);
                if (averaging) std::fill_n(r, group, 0.0);
                if (adaptive) std::fill_n(more, group, 0.0);
                return;
            }
            if (part.touched != nullptr) part.touched[first / group] = 0;
            const T *const before = base.v.data() + first, *const own = part.from->v.data() + first;
            for (std::size_t i = 0; i < size; ++i) d[i] = static_cast<double>(own[i]) - static_cast<double>(before[i]);
            if (averaging) {
                double* const u = part.from->u.data() + first;
                for (std::size_t i = 0; i < size; ++i) {
                    r[i] = d[i] * part.clock - u[i];
                    u[i] = 0;
                }
            }
            if (adaptive)
                for (std::size_t i = 0; i < size; ++i)
                    more[i] = part.from->squares[first + i] - base.squares[first + i];
            for (std::size_t i = 0; i < size; ++i) d[i] *= part.share;
        }

        void expect(const layers& one, std::size_t number, bool wholly) const {
            constexpr std::size_t line = table_allocator<T>::cache_line;
            const std::size_t first = number * group;
            for (std::size_t at = 0; at < group; at += line / sizeof(T)) prefetch_to_write(one.v.data() + first + at);
            if (!wholly || !averaging) return;
            for (std::size_t at = 0; at < group; at += line / sizeof(double))
                prefetch_to_write(one.u.data() + first + at);
        }

        // Adds neighbours, then neighbours of these sums, and so on; the sum is that of partition 0.
        template <class Size>
        void add_up(std::vector<double>& of, Size size) const {
            for (std::size_t apart = 1; apart < parts.size(); apart *= 2)
                for (std::size_t p = 0; p + apart < parts.size(); p += 2 * apart)
                    for (std::size_t i = 0; i < size; ++i) of[p * group + i] += of[(p + apart) * group + i];
        }

        template <class Number, class Size>
        void put(table<Number> layers::* which, std::size_t first, const Number* numbers, Size size) const {
            const auto to = [&](layers& one) { std::copy_n(numbers, std::size_t{size}, (one.*which).data() + first); };
            to(base);
            for (const source& part : parts) to(*part.from);
            for (layers* const one : also) to(*one);
        }

        layers& base;
        const std::span<const source> parts;
        const std::span<layers* const> also;
        const double clock;
        const bool averaging, adaptive;
        std::vector<double> moved, sums, squares;  // what each partition adds to the tables
    };

    static void check_alike(const state<T>& part, const state<T>& base) {
        if (part.features != base.features || part.classes != base.classes || part.how.average != base.how.average ||
            part.adagrad() != base.adagrad())
            throw std::invalid_argument("the partition has another shape than the weights");
        if (base.weight.v.size() > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("there are too many weights to learn in partitions");
    }

    static void set_clocks(state<T>& part, const state<T>& base) {
        part.scale = base.scale;
        part.clock = 0;
        part.time = base.time;
    }

    static void take(layers& part, const layers& base, double clock, std::size_t first, std::size_t last,
                     changes& found) {
        const bool averaging = !part.u.empty(), adaptive = !part.squares.empty();
        for (std::size_t at = first; at < last; ++at) {
            if (part.v[at] == base.v[at] && !(averaging && part.u[at] != 0) &&
                !(adaptive && part.squares[at] != base.squares[at]))
                continue;
            const double moved = static_cast<double>(part.v[at]) - static_cast<double>(base.v[at]);
            found.places.push_back(static_cast<std::uint32_t>(at));
            found.moved.push_back(moved);
            part.v[at] = base.v[at];
            if (averaging) {
                found.sums.push_back(moved * clock - part.u[at]);
                part.u[at] = 0;
            }
            if (adaptive) {
                found.squares.push_back(part.squares[at] - base.squares[at]);
                part.squares[at] = base.squares[at];
            }
        }
    }

    static void mix(layers& base, std::span<layers* const> also, const pair_of_changes& all, double clock,
                    std::size_t first, std::size_t last) {
        const auto& [a, b] = all;
        all.check();
        const bool averaging = all.has_sums(), adaptive = all.has_squares();
        if ((averaging && base.u.empty()) || (adaptive && base.squares.empty()))
            throw std::invalid_argument("the changes are not those of such weights");
        all.each(first, last, [&](std::size_t at, std::size_t i, bool in_a, std::size_t j, bool in_b) {
            if (at < first || at >= last) throw std::invalid_argument("the places of the changes are not in order");
            const double before = base.v[at];
            base.v[at] = gone(base.v[at], a.moved(i, in_a) + b.moved(j, in_b));
            if (averaging)
                base.u[at] = gone(
                    base.u[at], clock * (static_cast<double>(base.v[at]) - before) - (a.sum(i, in_a) + b.sum(j, in_b)));
            if (adaptive) base.squares[at] += a.square(i, in_a) + b.square(j, in_b);
            for (layers* const one : also) {
                one->v[at] = base.v[at];
                if (adaptive) one->squares[at] = base.squares[at];
            }
        });
    }
};

}  // namespace markone

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
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

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

template <class T>
class mixing {
  public:
    using layers = typename state<T>::layers;

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

    // Returns what a partition has changed, and takes it back.
    static changes take(state<T>& part, const state<T>& base, changes& of_bias, clocks& when) {
        check_alike(part, base);
        part.settle_all();
        when = {part.scale, part.clock, part.time - base.time};
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
        base.scale = when.scale;
        base.clock += when.clock;
        base.time += when.time;
        mix(base.bias, {}, all, base.time, 0, base.bias.v.size());
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

  private:
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
            base.v[at] = static_cast<T>(before + (a.moved(i, in_a) + b.moved(j, in_b)));
            if (averaging)
                base.u[at] += clock * (static_cast<double>(base.v[at]) - before) - (a.sum(i, in_a) + b.sum(j, in_b));
            if (adaptive) base.squares[at] += a.square(i, in_a) + b.square(j, in_b);
            for (layers* const one : also) {
                one->v[at] = base.v[at];
                if (adaptive) one->squares[at] = base.squares[at];
            }
        });
    }
};

}  // namespace markone

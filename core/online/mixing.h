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

    void check(std::size_t table_size) const {
        const auto fits = [&](std::span<const double> one) { return one.empty() || one.size() == places.size(); };
        if (moved.size() != places.size() || !fits(sums) || !fits(squares))
            throw std::invalid_argument("the arrays of the changes do not match");
        for (std::size_t i = 0; i < places.size(); ++i)
            if (places[i] >= table_size || (i > 0 && places[i] <= places[i - 1]))
                throw std::invalid_argument("the places of the changes are not in order, or not there");
    }
};

// What was done in the partitions together, or in one of them.
struct clocks {
    double scale, clock, time;
};

// The changes of two sets of partitions together: moves times the share of each, and the rest as it is.
inline changes merge(const changes_view& a, double of_a, const changes_view& b, double of_b) {
    const std::size_t most = a.places.size() + b.places.size();
    changes both;
    both.places.reserve(most);
    both.moved.reserve(most);
    if (!a.sums.empty() || !b.sums.empty()) both.sums.reserve(most);
    if (!a.squares.empty() || !b.squares.empty()) both.squares.reserve(most);
    const auto put = [](std::vector<double>& to, std::span<const double> x, std::span<const double> y, std::size_t i,
                        std::size_t j, bool in_x, bool in_y, double fx, double fy) {
        if (x.empty() && y.empty()) return;
        to.push_back((in_x ? fx * x[i] : 0) + (in_y ? fy * y[j] : 0));
    };
    std::size_t i = 0, j = 0;
    while (i < a.places.size() || j < b.places.size()) {
        const bool in_a = j == b.places.size() || (i < a.places.size() && a.places[i] <= b.places[j]);
        const bool in_b = i == a.places.size() || (j < b.places.size() && b.places[j] <= a.places[i]);
        both.places.push_back(in_a ? a.places[i] : b.places[j]);
        put(both.moved, a.moved, b.moved, i, j, in_a, in_b, of_a, of_b);
        put(both.sums, a.sums, b.sums, i, j, in_a, in_b, 1, 1);
        put(both.squares, a.squares, b.squares, i, j, in_a, in_b, 1, 1);
        i += in_a;
        j += in_b;
    }
    return both;
}

template <class T>
class mixing {
  public:
    using layers = typename state<T>::layers;

    // Starts a partition at the weights of the base, which must have no debts.
    static void start(state<T>& part, const state<T>& base) {
        check_alike(part, base);
        start(part.weight, base.weight);
        start(part.bias, base.bias);
        set_clocks(part, base);
    }

    // Does the same for a partition that was at the weights of the base before it was mixed with these changes.
    static void catch_up(state<T>& part, const state<T>& base, std::span<const std::uint32_t> places) {
        check_alike(part, base);
        for (const std::size_t at : places) {
            if (at >= base.weight.v.size()) throw std::invalid_argument("the changes are not there");
            part.weight.v[at] = base.weight.v[at];
            if (base.adagrad()) part.weight.squares[at] = base.weight.squares[at];
        }
        start(part.bias, base.bias);
        set_clocks(part, base);
    }

    // Returns what a partition has changed, and takes it back.
    static changes take(state<T>& part, const state<T>& base, changes& of_bias, clocks& when) {
        check_alike(part, base);
        part.settle_all();
        when = {part.scale, part.clock, part.time - base.time};
        changes found = take(part.weight, base.weight, part.clock, part.how);
        of_bias = take(part.bias, base.bias, part.time, part.how);
        set_clocks(part, base);
        return found;
    }

    // The clocks are those of all partitions together.
    static void mix(state<T>& base, const changes_view& all, const changes_view& of_bias, const clocks& when) {
        all.check(base.weight.v.size());
        of_bias.check(base.bias.v.size());
        base.scale = when.scale;
        base.clock += when.clock;
        base.time += when.time;
        mix(base.weight, all, base.clock);
        mix(base.bias, of_bias, base.time);
    }

  private:
    static void check_alike(const state<T>& part, const state<T>& base) {
        if (part.features != base.features || part.classes != base.classes || part.how.average != base.how.average ||
            part.adagrad() != base.adagrad())
            throw std::invalid_argument("the partition has another shape than the weights");
        if (base.weight.v.size() > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("there are too many weights to learn in partitions");
    }

    static void start(layers& part, const layers& base) {
        part.v = base.v;
        std::fill(part.u.begin(), part.u.end(), 0.0);
        part.squares = base.squares;
    }

    static void set_clocks(state<T>& part, const state<T>& base) {
        part.scale = base.scale;
        part.clock = 0;
        part.time = base.time;
    }

    static changes take(layers& part, const layers& base, double clock, const settings& how) {
        changes found;
        const bool averaging = how.average, adaptive = !part.squares.empty();
        for (std::size_t at = 0; at < part.v.size(); ++at) {
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
        return found;
    }

    static void mix(layers& base, const changes_view& all, double clock) {
        for (std::size_t i = 0; i < all.places.size(); ++i) {
            const std::size_t at = all.places[i];
            const double before = base.v[at];
            base.v[at] = static_cast<T>(before + all.moved[i]);
            if (!all.sums.empty()) base.u[at] += clock * (static_cast<double>(base.v[at]) - before) - all.sums[i];
            if (!all.squares.empty()) base.squares[at] += all.squares[i];
        }
    }
};

}  // namespace markone

// What a learner knows between two examples: its weights, the sums behind their average, its clocks, and what it still
// owes to a penalty. The loop that changes them is learner.h.
//
// Shrinking by L2 is one number: w = scale * v. Averaging keeps u beside v: a step d would be credited with all earlier
// visits, so u notes clock * d, and
//   sum of all w met = v * clock - u,      clock = sum of h * scale so far (just the number of visits without L2).
// The sums are doubles whatever the weights are, and a step is noted as it was after rounding, so the average is that
// of the weights which were really there, however long the run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "online/penalty.h"
#include "online/settings.h"
#include "online/weights.h"

namespace markone {

template <class T>
class state {
  public:
    static constexpr std::size_t most_features = std::size_t{1} << 31;
    static constexpr std::size_t longest_history = 1 << 16;  // of debts, before all weights are settled

    const settings how;
    std::size_t features = 0;
    std::size_t classes = 0;

    // By feature and class, `stride` apart. The bias is one such row of its own, which no penalty shrinks.
    struct layers {
        table<T> v;
        table<double> u;        // where averaging
        table<double> squares;  // where AdaGrad: sums of squared gradients
    };
    layers weight, bias;
    // Of a partition (mixing.h): per group of neighbouring weights, whether one of them may have changed in this pass.
    static constexpr std::size_t group = 8;
    table<std::uint8_t> touched;
    table<std::uint32_t> settled;  // per feature, the position in `owed` up to which it has paid
    debts owed;
    double scale = 1;
    double clock = 0;
    double time = 0;  // importance so far

    state(const settings& how, std::size_t features, std::size_t classes) : how(how) { grow(features, classes, {}); }

    std::size_t columns() const { return columns_of(classes); }
    std::size_t stride() const { return stride_of(classes); }
    // L2 at a common rate is the scale; everything else that shrinks is settled feature by feature.
    bool settles() const { return how.penalty == penalty::l1 || (how.penalty == penalty::l2 && adagrad()); }
    bool scales() const { return how.penalty == penalty::l2 && !adagrad(); }
    bool adagrad() const { return how.schedule == schedule::adagrad; }

    double rate() const {
        switch (how.schedule) {
            case schedule::constant: return how.eta;
            case schedule::sqrt: return how.eta / std::sqrt(1 + time);
            case schedule::inverse: return how.eta / (1 + how.eta * how.strength * time);
            case schedule::adagrad: return 1;  // each weight has its own
        }
        return 0;
    }
    double own_rate(double squares) const { return squares > 0 ? how.eta / std::sqrt(squares) : 0; }

    // Makes room for new features (at the end) and new classes: places[k] is where old class k goes. When two classes
    // that shared a vector part, each takes half of it, so that every difference of scores stays what it was.
    void grow(std::size_t new_features, std::size_t new_classes, std::span<const std::size_t> places);

    // An example of this importance has gone by, at this rate: the penalty is due, the clocks go on.
    void pass_time(double importance, double at_rate) {
        time += importance;
        if (scales()) {
            const paid all = shrink(scale, at_rate * how.strength, importance);
            scale = all.value;
            clock += all.sum;
            if (scale < smallest_scale) rescale();
        } else if (settles()) {
            owed.ask(importance, at_rate * how.strength);
            if (owed.now() == longest_history) settle_all();
        } else {
            clock += importance;
        }
    }

    // Pays what the weights of a feature owe.
    void settle(std::size_t f) {
        const auto now = static_cast<std::uint32_t>(owed.now());
        if (settled[f] == now) return;
        for (std::size_t at = f * stride(); at < f * stride() + columns(); ++at) {
            if (weight.v[at] == 0) continue;
            if (!touched.empty()) touched[at / group] = 1;
            const paid all = debt(at, settled[f]);
            weight.v[at] = static_cast<T>(all.value);
            if (how.average) weight.u[at] -= all.sum;
        }
        settled[f] = now;
    }

    // Pays what all weights owe.
    void settle_all() {
        for (std::size_t f = 0; f < settled.size(); ++f) settle(f);
        settled.assign(settled.size(), 0);
        owed.clear();
    }

    // The weights of a feature, or of the bias, as they are now or on average, with all debts paid: `columns` numbers.
    void read(std::size_t f, bool averaged, T* out) const {
        for (std::size_t k = 0; k < columns(); ++k) {
            const std::size_t at = f * stride() + k;
            const double v = weight.v[at];
            const paid all = settles() && v != 0 ? debt(at, settled[f]) : paid{v * scale, 0};
            out[k] = static_cast<T>(averaged && time > 0 ? (v * clock - weight.u[at] + all.sum) / time : all.value);
        }
    }
    void read_bias(bool averaged, T* out) const {
        for (std::size_t k = 0; k < columns(); ++k) {
            const double v = bias.v[k];
            out[k] = static_cast<T>(averaged && time > 0 ? (v * time - bias.u[k]) / time : v);
        }
    }

    weights<T> snapshot(bool averaged) const {
        weights<T> result(features, classes);
        for (std::size_t f = 0; f < features; ++f) read(f, averaged, result.w.data() + f * stride());
        read_bias(averaged, result.bias.data());
        return result;
    }

    // The squared length of the weights of a range of features as they are now; the bias belongs to the first one.
    // Partial sums need not wait for each other.
    double norm2(std::size_t first, std::size_t last) const {
        constexpr std::size_t lanes = 8;
        double part[lanes] = {}, bias_total = 0;
        const T* const v = weight.v.data();
        const std::size_t begin = first * stride(), end = std::max(begin, std::min(last, features) * stride()),
                          even = settles() ? begin : end - (end - begin) % lanes;
        for (std::size_t at = begin; at < even; at += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) part[lane] += square(v[at + lane]);
        for (std::size_t at = even; at < end; ++at)
            part[0] += square(settles() && v[at] != 0 ? debt(at, settled[at / stride()]).value : double{v[at]});
        if (first == 0)
            for (const double b : bias.v) bias_total += square(b);
        return scale * scale * std::accumulate(part, part + lanes, 0.0) + bias_total;
    }
    double norm2() const { return norm2(0, features); }

  private:
    static constexpr double smallest_scale = 1e-6;

    static double square(double v) { return v * v; }

    // How tables change when a learner grows.
    struct column_move {
        std::size_t from, to;
        double factor;
    };
    struct layout {
        std::size_t stride;
        bool is_old;  // the columns stay where they are
        const std::vector<column_move>& moves;
    };
    std::vector<column_move> moves_to(std::size_t new_classes, std::span<const std::size_t> places);
    template <class Number>
    table<Number> laid_out(table<Number>& numbers, std::size_t new_rows, const layout& to, bool has_sign) const;
    layers laid_out(layers& from, std::size_t new_rows, const layout& to) const;
    void put(layers& into, layers& laid, std::size_t new_rows, const layout& to) const;
    template <class Numbers>
    static void make_room(Numbers& numbers, std::size_t size) {
        if (size > numbers.capacity()) numbers.reserve(std::max(size, 2 * numbers.size()));
    }

    paid debt(std::size_t at, std::size_t from) const {
        const double v = weight.v[at];
        const double own = adagrad() ? own_rate(weight.squares[at]) : 1;
        return how.penalty == penalty::l1 ? owed.l1(v, own, from) : owed.l2(v, own * how.strength, from);
    }
    // Folds a small scale into the weights before it costs precision.
    void rescale() {
        std::fill(touched.begin(), touched.end(), std::uint8_t{1});
        for (std::size_t at = 0; at < weight.v.size(); ++at) {
            if (how.average) weight.u[at] -= weight.v[at] * clock;
            weight.v[at] = static_cast<T>(weight.v[at] * scale);
        }
        clock = 0;
        scale = 1;
    }
};

template <class T>
void state<T>::grow(std::size_t new_features, std::size_t new_classes, std::span<const std::size_t> places) {
    if (new_features < features || new_classes < classes) throw std::invalid_argument("a learner cannot shrink");
    if (new_features > most_features) throw std::invalid_argument("too many features");
    const std::vector<column_move> moves = moves_to(new_classes, places);
    const layout to{stride_of(new_classes), new_classes == classes && stride_of(new_classes) == stride(), moves};

    // First all room is made, so that a learner for which there is too little memory stays what it was.
    layers new_weight = laid_out(weight, new_features, to), new_bias = laid_out(bias, 1, to);
    if (settles()) make_room(settled, new_features);
    put(weight, new_weight, new_features, to);
    put(bias, new_bias, 1, to);
    if (settles()) settled.resize(new_features, static_cast<std::uint32_t>(owed.now()));
    touched.clear();
    features = new_features;
    classes = new_classes;
}

// Where the columns go. A vector that is split must not owe anything, and so all debts are paid first.
template <class T>
auto state<T>::moves_to(std::size_t new_classes, std::span<const std::size_t> places) -> std::vector<column_move> {
    std::vector<column_move> moves;
    if (new_classes == classes || new_classes <= 2) {
        for (std::size_t k = 0; k < columns(); ++k) moves.push_back({k, k, 1});
        return moves;
    }
    if (places.size() != classes) throw std::invalid_argument("every old class needs a place");
    std::vector<bool> taken(new_classes);
    for (const std::size_t place : places) {
        if (place >= new_classes || taken[place]) throw std::invalid_argument("a class has no place of its own");
        taken[place] = true;
    }
    settle_all();
    if (classes == 2) moves = {{0, places[0], -0.5}, {0, places[1], 0.5}};
    if (classes > 2)
        for (std::size_t k = 0; k < classes; ++k) moves.push_back({k, places[k], 1});
    return moves;
}

// A table in the new layout; an empty one where the layout stays, and the old table has room for more.
template <class T>
template <class Number>
table<Number> state<T>::laid_out(table<Number>& numbers, std::size_t new_rows, const layout& to, bool has_sign) const {
    if (to.is_old) {
        make_room(numbers, new_rows * to.stride);
        return {};
    }
    table<Number> laid(new_rows * to.stride);
    for (std::size_t row = 0; row < numbers.size() / stride(); ++row)
        for (const auto& [from, place, factor] : to.moves)
            laid[row * to.stride + place] = static_cast<Number>(has_sign ? factor : 1) * numbers[row * stride() + from];
    return laid;
}
template <class T>
auto state<T>::laid_out(layers& from, std::size_t new_rows, const layout& to) const -> layers {
    layers laid{laid_out(from.v, new_rows, to, true), {}, {}};
    if (how.average) laid.u = laid_out(from.u, new_rows, to, true);
    if (adagrad()) laid.squares = laid_out(from.squares, new_rows, to, false);
    return laid;
}

template <class T>
void state<T>::put(layers& into, layers& laid, std::size_t new_rows, const layout& to) const {
    if (!to.is_old) return std::swap(into, laid);
    into.v.resize(new_rows * to.stride);
    if (how.average) into.u.resize(new_rows * to.stride);
    if (adagrad()) into.squares.resize(new_rows * to.stride);
}

}  // namespace markone

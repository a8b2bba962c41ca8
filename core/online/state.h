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
            const paid all = debt(at, settled[f]);
            weight.v[at] = static_cast<T>(all.value);
            if (how.average) weight.u[at] -= all.sum;
        }
        settled[f] = now;
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

    // The squared length of the weights as they are now, bias included.
    double norm2() const {
        double total = 0, bias_total = 0;
        for (std::size_t f = 0; f < features * stride(); ++f) {
            double v = weight.v[f];
            if (settles() && v != 0) v = debt(f, settled[f / stride()]).value;
            total += v * v;
        }
        for (const double v : bias.v) bias_total += v * v;
        return scale * scale * total + bias_total;
    }

  private:
    static constexpr double smallest_scale = 1e-6;

    paid debt(std::size_t at, std::size_t from) const {
        const double v = weight.v[at];
        const double own = adagrad() ? own_rate(weight.squares[at]) : 1;
        return how.penalty == penalty::l1 ? owed.l1(v, own, from) : owed.l2(v, own * how.strength, from);
    }
    void settle_all() {
        for (std::size_t f = 0; f < settled.size(); ++f) settle(f);
        settled.assign(settled.size(), 0);
        owed.clear();
    }
    // Folds a small scale into the weights before it costs precision.
    void rescale() {
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
    struct column_move {
        std::size_t from, to;
        double factor;
    };
    std::vector<column_move> moves;
    if (new_classes == classes || new_classes <= 2) {
        for (std::size_t k = 0; k < columns(); ++k) moves.push_back({k, k, 1});
    } else {
        if (places.size() != classes) throw std::invalid_argument("every old class needs a place");
        std::vector<bool> taken(new_classes);
        for (const std::size_t place : places) {
            if (place >= new_classes || taken[place]) throw std::invalid_argument("a class has no place of its own");
            taken[place] = true;
        }
        settle_all();  // a vector that is split must not owe anything
        if (classes == 2) moves = {{0, places[0], -0.5}, {0, places[1], 0.5}};
        if (classes > 2)
            for (std::size_t k = 0; k < classes; ++k) moves.push_back({k, places[k], 1});
    }

    // First all room is made, so that a learner for which there is too little memory stays what it was.
    const std::size_t old_stride = stride(), new_stride = stride_of(new_classes);
    const bool same_layout = new_stride == old_stride && new_classes == classes;
    const auto make_room = [](auto& numbers, std::size_t size) {
        if (size > numbers.capacity()) numbers.reserve(std::max(size, 2 * numbers.size()));
    };
    const auto lay_out = [&]<class Number>(table<Number>& numbers, std::size_t new_rows, bool has_sign) {
        if (same_layout) {
            make_room(numbers, new_rows * new_stride);
            return table<Number>();
        }
        table<Number> laid(new_rows * new_stride);
        for (std::size_t row = 0; row < numbers.size() / old_stride; ++row)
            for (const auto& [from, to, factor] : moves)
                laid[row * new_stride + to] =
                    static_cast<Number>(has_sign ? factor : 1) * numbers[row * old_stride + from];
        return laid;
    };
    const auto lay_out_layers = [&](layers& from, std::size_t new_rows) {
        layers laid{lay_out(from.v, new_rows, true), {}, {}};
        if (how.average) laid.u = lay_out(from.u, new_rows, true);
        if (adagrad()) laid.squares = lay_out(from.squares, new_rows, false);
        return laid;
    };
    layers new_weight = lay_out_layers(weight, new_features), new_bias = lay_out_layers(bias, 1);
    if (settles()) make_room(settled, new_features);

    const auto put = [&](layers& to, layers& laid, std::size_t new_rows) {
        if (!same_layout) return std::swap(to, laid);
        to.v.resize(new_rows * new_stride);
        if (how.average) to.u.resize(new_rows * new_stride);
        if (adagrad()) to.squares.resize(new_rows * new_stride);
    };
    put(weight, new_weight, new_features);
    put(bias, new_bias, 1);
    if (settles()) settled.resize(new_features, static_cast<std::uint32_t>(owed.now()));
    features = new_features;
    classes = new_classes;
}

}  // namespace markone

// The multi-layer perceptron: layers of weights with a bend between them, taught by mini-batches.
//
//   a_0 = x                                 an example
//   z_l = a_(l-1) w_l + bias_l              each layer
//   a_l = bend(z_l)                         relu, tanh or sigmoid; the scores are the last z
//   loss = -ln softmax(z)_y                 for two classes -ln sigmoid(z) of the right one, from a single score
//
// and backwards, for a batch whose importances h sum to H:
//
//   d     = h / H (softmax(z) - [y])        how the loss changes with the scores
//   g_l   = a_(l-1)^T d_l + strength w_l    with the weights, which an optimizer then moves
//   d_l-1 = (d_l w_l^T) bend'(a_(l-1))      with the layer before
//
// A feature that is 0 in all rows of a batch is left alone by it: its weights neither move nor shrink, and its clock
// stands still. So text of a million features costs what its words cost, and rows are learned alike, to the bit, be
// they sparse or dense.
//
// Every sum is taken in one order, that of the inputs, whatever the registers' width: every machine computes the same.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "online/loops.h"
#include "rows/rows.h"

namespace markone {

enum class bend { relu, tanh, sigmoid };
enum class optimizer { sgd, adagrad, adam };

// Adam's memory: how much of the mean of the gradients, and of their squares, a step keeps.
constexpr double kept_of_mean = 0.9, kept_of_squares = 0.999;

// How far the 1st, 2nd, ... step of a weight goes; all later ones go as far as the last. Adam's means start at 0, and
// its first steps make up for that.
inline std::vector<float> rates_of(optimizer how, double eta) {
    if (how != optimizer::adam) return {static_cast<float>(eta)};
    std::vector<float> rates;
    double mean = 1, squares = 1;
    do {
        mean *= kept_of_mean;
        squares *= kept_of_squares;
        rates.push_back(static_cast<float>(eta * std::sqrt(1 - squares) / (1 - mean)));
    } while (squares > 1e-10);
    return rates;
}

// Columns are padded to whole registers; the padding is 0 and stays so.
inline std::size_t padded(std::size_t outputs) {
    return (outputs + 7) / 8 * 8;
}

// z = a w + bias. `w` has a row of padded(outputs) for each input.
struct layer {
    const float *w, *bias;
    std::size_t inputs, outputs;

    std::size_t stride() const { return padded(outputs); }
};

struct network {
    bend by;
    std::vector<layer> layers;

    std::size_t features() const { return layers.front().inputs; }
    std::size_t columns() const { return layers.back().outputs; }
};

// Numbers of a layer that an optimizer changes: for each weight one, and for each bias.
struct changing {
    float *w, *bias;
};

struct teaching {
    optimizer how;
    std::vector<float> rates;
    float strength;  // of the penalty strength / 2 |w|^2
    float dropout;   // the share of hidden units that a batch leaves out
    std::uint64_t seed;
    float bound;  // a feature's weights start between -bound and bound, when it is first met; until then they are 0
    std::vector<changing> weights;
    std::vector<changing> means;    // Adam's, of the gradients; null for others
    std::vector<changing> squares;  // Adam's mean and AdaGrad's sum of the gradients' squares; null for others
    std::uint32_t* met;             // the steps of each feature's weights: batches that it occurred in
    std::uint32_t* places;          // for each feature 0, while nobody is at work
    std::uint64_t steps;            // batches so far
};

// The loops, chosen as those of loops.h are.
struct network_loops {
    tally (*teach_sparse)(const network&, teaching&, const sparse_rows<float>&, const visits&,
                          std::span<const std::int64_t>);
    tally (*teach_dense)(const network&, teaching&, const dense_rows<float>&, const visits&,
                         std::span<const std::int64_t>);
    void (*score_sparse)(const network&, const sparse_rows<float>&, float*);
    void (*score_dense)(const network&, const dense_rows<float>&, float*);
    void (*score_sparse64)(const network&, const sparse_rows<double>&, float*);
    void (*score_dense64)(const network&, const dense_rows<double>&, float*);
};
const network_loops& fastest_network_loops();

// Makes a step for each batch: the visits before ends[0], from there to ends[1], and so on.
inline tally teach(const network& net, teaching& how, const sparse_rows<float>& rows, const visits& which,
                   std::span<const std::int64_t> ends) {
    return fastest_network_loops().teach_sparse(net, how, rows, which, ends);
}
inline tally teach(const network& net, teaching& how, const dense_rows<float>& rows, const visits& which,
                   std::span<const std::int64_t> ends) {
    return fastest_network_loops().teach_dense(net, how, rows, which, ends);
}

// Row i's scores go to out + i * columns. They do not depend on the other rows.
inline void score(const network& net, const sparse_rows<float>& rows, float* out) {
    fastest_network_loops().score_sparse(net, rows, out);
}
inline void score(const network& net, const dense_rows<float>& rows, float* out) {
    fastest_network_loops().score_dense(net, rows, out);
}
inline void score(const network& net, const sparse_rows<double>& rows, float* out) {
    fastest_network_loops().score_sparse64(net, rows, out);
}
inline void score(const network& net, const dense_rows<double>& rows, float* out) {
    fastest_network_loops().score_dense64(net, rows, out);
}

}  // namespace markone

// The multi-layer perceptron: layers of weights with an activation function ("bend"), trained with mini-batches.
//
//   a_0 = x                                 an example
//   z_l = a_(l-1) w_l + bias_l              each layer
//   a_l = bend(z_l)                         relu, tanh or sigmoid; the scores are the last z
//   loss = -ln softmax(z)_y                 for two classes -ln sigmoid(z) of the right one, from a single score
//
// and backwards, for a batch whose importances h sum to H:
//
//   d     = h / H (softmax(z) - [y])        the derivative of the loss by the scores
//   g_l   = a_(l-1)^T d_l + strength w_l    by the weights, which an optimizer then changes
//   d_l-1 = (d_l w_l^T) bend'(a_(l-1))      by the sums of the previous layer
//
// A batch does not change the weights of features that are 0 in all of its rows, and does not advance their step
// counts. The time for a text therefore depends on its words, and not on a million features, and sparse and dense rows
// give the same bits.
//
// Every sum is computed in the order of the inputs, for any width of registers, so all machines compute the same bits.
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

// Adam's decay rates: the share of the mean of the gradients, and of their squares, that a step keeps.
constexpr double kept_of_mean = 0.9, kept_of_squares = 0.999;

// The rates of the 1st, 2nd, ... step of a weight; all later steps have the last rate. They correct the bias of Adam's
// means, which start at 0.
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

// Columns are padded with 0 to whole registers, and the padding stays 0.
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

// Numbers of a layer that an optimizer changes: one for each weight and each bias.
struct changing {
    float *w, *bias;
};

struct teaching {
    optimizer how;
    std::vector<float> rates;
    float strength;  // of the penalty strength / 2 |w|^2
    float dropout;   // the share of hidden units that are left out in a batch
    std::uint64_t seed;
    float bound;  // a feature's weights are 0 until it first occurs; then they start between -bound and bound
    std::vector<changing> weights;
    std::vector<changing> means;    // Adam's means of the gradients; null for other optimizers
    std::vector<changing> squares;  // Adam's means and AdaGrad's sums of squared gradients; null for sgd
    std::uint32_t* met;             // the steps of each feature's weights: the batches in which it occurred
    std::uint32_t* places;          // work space, 0 for each feature between two calls
    std::uint64_t steps;            // the number of batches so far
};

// The loops, which are chosen by processor like those of loops.h.
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

// Makes a step for each batch: the visits before ends[0], then those before ends[1], and so on.
inline tally teach(const network& net, teaching& how, const sparse_rows<float>& rows, const visits& which,
                   std::span<const std::int64_t> ends) {
    return fastest_network_loops().teach_sparse(net, how, rows, which, ends);
}
inline tally teach(const network& net, teaching& how, const dense_rows<float>& rows, const visits& which,
                   std::span<const std::int64_t> ends) {
    return fastest_network_loops().teach_dense(net, how, rows, which, ends);
}

// Writes the scores of row i to out + i * columns. They do not depend on the other rows.
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

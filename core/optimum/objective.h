// Logistic regression as one function of all rows: what the solvers of learning/logistic.py are built from.
//
//   loss = sum over rows of h_i ln(1 + e^(-y_i s_i)) / H             for two classes, which share one weight vector
//   loss = sum over rows of h_i (ln sum_k e^(s_ik) - s_i(y_i)) / H   for more (softmax)
//
// with scores s = x w + bias, importance h and its sum H. Its derivatives by the scores of row i are
//   pull   r_i = h_i/H (p_i - [y_i])              the gradient is the sum of r_i x_i
//   bend   D_i = h_i/H (diag(p_i) - p_i p_i')     a product with the Hessian is the sum of (D_i x_i v) x_i
//
// Weights and gradients are doubles, (features + 1) x stride, feature-major (arithmetic.h), and the last row is the
// bias's. Scores, pulls and what else belongs to rows are rows x stride. The padding of a row is 0, and stays so.
//
// Rows of no importance are left out. Where there are more features than rows, all weights that gradients can lead to
// from 0 are sums of rows, w = X' c, and need not be written out: scores are X X' c. For this, and for steps along
// single weights, the rows are laid out by columns, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "online/loops.h"
#include "online/weights.h"
#include "rows/rows.h"

namespace markone {

struct judgement {
    double loss = 0;
    std::int64_t mistakes = 0;  // a tie is one
};

// The loss on a line through the scores.
struct line_point {
    double loss = 0, slope = 0, curvature = 0;
};

class objective {
  public:
    virtual ~objective() = default;

    std::size_t rows() const { return labels.size(); }
    std::size_t stride() const { return stride_of(classes); }
    std::size_t columns() const { return columns_of(classes); }
    // How many scores there are, and how many weights, those of the bias included.
    std::size_t by_rows() const { return rows() * stride(); }
    std::size_t by_features() const { return (features + 1) * stride(); }

    const std::size_t features, classes;
    double importance = 0;

    virtual std::size_t stored() const = 0;              // values that are not 0
    virtual std::span<const double> shares() const = 0;  // h_i/H of each row

    // The loss at these scores, and the pulls there; notes the bends for `bend`, `product` and `sweep`.
    virtual judgement judge(const double* scores, double* pulls) = 0;
    // The loss, its slope and curvature at scores + t steps.
    virtual line_point along(const double* scores, const double* steps, double t) const = 0;
    // out = D steps; the answer is steps D steps.
    virtual double bend(const double* steps, double* out) const = 0;

    // The sum over rows of each column, and the sum of products of two arrays, in an order that no machine changes.
    virtual void sums(const double* pulls, double* out) const = 0;
    virtual double inner(std::span<const double> a, std::span<const double> b) const = 0;

    // By rows: scores of weights, sums of rows, and both in one pass: steps = X v, out = X' D X v.
    virtual void score(const double* w, double* scores) const = 0;
    virtual void gather(const double* pulls, double* out) const = 0;
    virtual double product(const double* v, double* steps, double* out) const = 0;

    // Lays the rows out by columns. `apart` keeps features of a single row apart, which `kernel` then need not visit.
    virtual void turn(bool apart) = 0;
    // out = X X' c, in one pass; the answer is the largest entry of X' c.
    virtual double kernel(const double* c, double* out) const = 0;
    // w = X' c, without the bias.
    virtual void combine(const double* c, double* w) const = 0;

    // out[pair] = the Hessian's entry on its diagonal, for pairs = feature * stride + class.
    virtual void diagonal(std::span<const std::uint32_t> pairs, double* out) const = 0;

    // Coordinate descent (newGLMNET: Yuan, Ho & Lin 2012) on the quadratic model around the weights w at which the
    // loss was judged, with the penalty strength |w|: moves each pair of `target` to where the model is least.
    struct model {
        const double* gradient;  // at w, of every pair
        const double* diagonal;  // of the pairs in question
        double* target;          // where w would go
        double* steps;           // X (target - w)
        double* means;           // for each row, the mean of its steps by its probabilities; unused for two classes
        double strength;
    };
    // Visits the pairs once, and says how far the worst of them was from its condition of optimality.
    virtual double sweep(std::span<const std::uint32_t> pairs, const model& at) const = 0;

    // The Hessian's diagonal: how the loss bends along each weight.
    virtual void curvatures(double* out) const = 0;
    // An entry of a symmetric matrix, in its lower half: row >= column.
    struct penalty_entry {
        std::size_t row, column;
        double value;
    };
    // A preconditioner: for each class the Hessian's block, from one row of `every`, factorised (Cholesky). To each
    // block it adds strength on the diagonal, and `more`, the matrix of another penalty.
    virtual void factorise(std::size_t every, double strength, std::span<const penalty_entry> more) = 0;
    // Puts the solution of (block) out = r for each class to out.
    virtual void precondition(const double* r, double* out) const = 0;

  protected:
    objective(std::size_t features, std::size_t classes) : features(features), classes(classes) {}

    std::vector<std::uint32_t> labels;  // of the rows of some importance
};

}  // namespace markone

// Leave-one-out: what would be said of each row by weights that were learned from all others.
//
// The run without a row makes the visits of the run with all rows, in the same order, but for that row's own. So
//   - a row that never moved the weights changes nothing but the time that their average counts, and is free;
//   - any other changes nothing before its first step. From there on the run is made anew: a replica (replicas.h).
// The numbers of a replica are, to the bit, those of a learner (learner.h) that never saw the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "online/loops.h"
#include "online/settings.h"
#include "online/weights.h"
#include "rows/rows.h"

namespace markone {

// Passes over all rows, in orders that are known beforehand.
struct course {
    visits which;                          // labels and importance; the orders are below
    std::span<const std::int64_t> orders;  // each row once, then each row once again ...
    bool rests;                            // a pass without a step is the last one
};

// What the weights that never saw a row say of it. Where that hangs on a rounding error that is not known, the answer
// is not certain, and nobody but a learner can tell.
struct answer {
    std::int64_t winner;
    bool certain;
};

template <class T>
class left_out {
  public:
    virtual ~left_out() = default;

    // For each row, its first step in the run with all rows, as a number of visits before it; -1 for none.
    std::vector<std::int64_t> first_step;

    // Of rows that never made a step.
    virtual std::vector<answer> free(std::span<const std::int64_t> rows) const = 0;
    // Of rows that did; neighbours in the order of their first steps share most work. Several threads may ask at once.
    virtual std::vector<answer> retrain(std::span<const std::int64_t> rows) const = 0;
};

// The rows, and what the course points to, must live as long as what is returned.
std::shared_ptr<left_out<float>> leave_one_out(const settings&, const weights<float>& start, const sparse_rows<float>&,
                                               const course&);
std::shared_ptr<left_out<float>> leave_one_out(const settings&, const weights<float>& start, const dense_rows<float>&,
                                               const course&);
std::shared_ptr<left_out<double>> leave_one_out(const settings&, const weights<double>& start,
                                                const sparse_rows<double>&, const course&);
std::shared_ptr<left_out<double>> leave_one_out(const settings&, const weights<double>& start,
                                                const dense_rows<double>&, const course&);

}  // namespace markone

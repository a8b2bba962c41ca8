// Replicas: runs side by side over the same rows, each without a row of its own (leave_one_out.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "leave_one_out/replica_rows.h"
#include "online/settings.h"
#include "online/state.h"

namespace markone {

// What is known of a row before any run.
template <class T>
struct row_facts {
    double importance;
    T norm2;  // the squared length of the row, with the bias's 1, as a learner rounds it
    std::int32_t y;
    double absolute;  // the sum of the sizes of its values, and of the bias's 1
    double length;    // the root of the sum of their squares, or more where they stand for one feature
};

// What all replicas go over.
template <class T>
struct common_course {
    const settings& how;
    const panels<T>& prepared;
    const std::vector<row_facts<T>>& facts;
    std::span<const std::int64_t> orders;  // each row once, then each row once again ...
    bool rests;                            // a pass without a step is the last one
    std::size_t columns;
};

// A row that a replica leaves out.
struct vacancy {
    std::size_t row;
    double missed;              // the time of its visits so far
    std::vector<double> noted;  // by column: what averaging notes (state.h) without them, times the row
};

// What a replica has come to.
struct outcome {
    struct column {
        double noted;    // as above
        double squares;  // the sum, over all steps, of the squares of the weights that they moved
        double way;      // the length of all steps, each times the roundings of a product with its row
    };
    double time;
    std::int64_t steps;
    double highest;  // the largest of the squares that a step has moved
    std::vector<column> columns;
};

template <class T>
class replicas {
  public:
    static constexpr std::size_t most = table_allocator<T>::cache_line / sizeof(T);

    virtual ~replicas() = default;
    // Puts them where the run with all rows is, which has or has not made a step in this pass.
    virtual void begin(const state<T>& at, bool stepped, std::span<const vacancy> left_out) = 0;
    // All visits that are left, until no replica moves any more.
    virtual void go_on(std::size_t visit) = 0;
    virtual outcome outcome_of(std::size_t replica) const = 0;
    // By the feature's number in the panels.
    virtual T weight(std::size_t replica, std::size_t feature, std::size_t k) const = 0;
    virtual T bias(std::size_t replica, std::size_t k) const = 0;
};

// The fastest that this processor can run; what the course points to must live as long.
template <class T>
std::unique_ptr<replicas<T>> make_replicas(const common_course<T>& course);

}  // namespace markone

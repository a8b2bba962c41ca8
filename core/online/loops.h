// The loops over rows, compiled once for every processor and once more for those of x86-64-v3 (loops.cpp), and chosen
// when the program runs. The versions give the same bits: no sum's order depends on the width of a register
// (arithmetic.h), and the compiler may not fuse a multiplication with an addition (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "online/state.h"
#include "online/weights.h"
#include "rows/rows.h"

namespace markone {

// An example that was misclassified when it was visited.
struct mistake {
    std::int64_t row;
    double margin;  // before the step
};

// Which rows to visit: rows[order[i]] for each i, or every row in storage order. Labels and importance go by row.
struct visits {
    std::span<const std::int32_t> labels;
    std::optional<std::span<const double>> importance;  // 1 for all
    std::optional<std::span<const std::int64_t>> order;
    std::vector<mistake>* noted = nullptr;  // where somebody wants to know the mistakes of an online rule

    std::size_t count(std::size_t rows) const { return order ? order->size() : rows; }
    // The row of a visit, the class of a row and its importance. What is used as a place in memory is checked where it
    // is read: the arrays are Python's, and another thread may have changed them since they were looked at.
    MARKONE_INLINE std::size_t row(std::size_t visit, std::size_t rows) const {
        if (!order) return visit;
        const auto row = static_cast<std::size_t>(read_once((*order)[visit]));  // a negative one is huge
        if (row >= rows) throw std::invalid_argument("the order names a row that is not there");
        return row;
    }
    MARKONE_INLINE std::size_t label(std::size_t row, std::size_t classes) const {
        const auto y = static_cast<std::size_t>(read_once(labels[row]));
        if (y >= classes) throw std::invalid_argument("a label is no class");
        return y;
    }
    MARKONE_INLINE double importance_of(std::size_t row) const { return importance ? (*importance)[row] : 1; }
};

// How many labels a learner of labels has, as many as a line of the cache has numbers (label_learner.h). Its state is
// that of as many classes.
template <class T>
inline constexpr std::size_t labels_together = table_allocator<T>::cache_line / sizeof(T);

// For each set of labels, which of `labels` labels are in it, as bits. The label of a row is the number of its set.
struct label_sets {
    std::span<const std::uint32_t> bits;
    std::size_t labels;
};

// What happened on the way.
struct tally {
    std::int64_t visits = 0;
    std::int64_t mistakes = 0;
    std::int64_t updates = 0;
    double importance = 0;
    double loss = 0;  // each example's at the moment of its visit, times its importance
};

// Thrown for a value that learning cannot use.
struct not_finite : std::invalid_argument {
    not_finite() : std::invalid_argument("a value is not finite") {}
};

inline void check_lengths(const visits& which, std::size_t rows) {
    if (which.labels.size() != rows || (which.importance && which.importance->size() != rows))
        throw std::invalid_argument("labels or importance do not match the rows");
}
inline void check_importance(double h) {
    if (!(h >= 0 && h <= std::numeric_limits<float>::max()))
        throw std::invalid_argument("an importance is negative or not finite");
}

// What every loop that learns relies on.
inline void check(const visits& which, std::size_t rows, std::size_t classes) {
    check_lengths(which, rows);
    bool is_class = true, is_there = true;  // for all of them, because a loop that may end early is slower
    for (const std::int32_t label : which.labels) is_class &= static_cast<std::uint32_t>(label) < classes;
    if (!is_class) throw std::invalid_argument("a label is no class");
    if (which.importance)
        for (const double h : *which.importance) check_importance(h);
    if (which.order)
        for (const std::int64_t row : *which.order) is_there &= static_cast<std::uint64_t>(row) < rows;
    if (!is_there) throw std::invalid_argument("the order names a row that is not there");
}

// A learner for a few visits at a time: what it works with is checked once, when it begins.
template <class T>
class kept_learner {
  public:
    virtual ~kept_learner() = default;
    // The tally is that of all its visits so far. No row may be named that is not there.
    virtual tally learn(std::span<const std::int64_t> order) = 0;
};

template <class T>
struct loops {
    void (*check_sparse)(const sparse_rows<T>&, value_range<T>*);
    void (*check_dense)(const dense_rows<T>&, value_range<T>*);
    bool (*names_twice)(const sparse_rows<T>&);
    bool (*write_counts)(std::span<const T>, std::uint8_t*);
    tally (*learn_sparse)(state<T>&, const sparse_rows<T>&, const visits&);
    tally (*learn_counted)(state<T>&, const counted_rows<T>&, const visits&);
    tally (*learn_dense)(state<T>&, const dense_rows<T>&, const visits&);
    tally (*learn_labels_sparse)(state<T>&, const sparse_rows<T>&, const visits&, const label_sets&);
    tally (*learn_labels_counted)(state<T>&, const counted_rows<T>&, const visits&, const label_sets&);
    tally (*learn_labels_dense)(state<T>&, const dense_rows<T>&, const visits&, const label_sets&);
    std::unique_ptr<kept_learner<T>> (*keep_sparse)(state<T>&, const sparse_rows<T>&, const visits&);
    std::unique_ptr<kept_learner<T>> (*keep_dense)(state<T>&, const dense_rows<T>&, const visits&);
    void (*score_sparse)(const weights<T>&, const sparse_rows<T>&, T* out);
    void (*score_dense)(const weights<T>&, const dense_rows<T>&, T* out);
};

template <class T>
const loops<T>& fastest_loops();

// What every other loop relies on: no row reaches outside its arrays or its width, and every value is finite. Also
// finds the range of the values, if it is wanted.
template <class T>
void check(const sparse_rows<T>& rows, value_range<T>* range = nullptr) {
    fastest_loops<T>().check_sparse(rows, range);
}
template <class T>
void check(const dense_rows<T>& rows, value_range<T>* range = nullptr) {
    fastest_loops<T>().check_dense(rows, range);
}

// Whether some row names a feature twice. Its scores are right, but its length is not.
template <class T>
bool names_twice(const sparse_rows<T>& rows) {
    return fastest_loops<T>().names_twice(rows);
}

// Writes values as bytes, as far as they are whole numbers from 0 to 255, and returns whether all of them are.
template <class T>
bool write_counts(std::span<const T> values, std::uint8_t* out) {
    return fastest_loops<T>().write_counts(values, out);
}

// Visits the rows and learns from each. With fewer than two classes only time passes.
template <class T>
tally learn(state<T>& at, const sparse_rows<T>& rows, const visits& which) {
    return fastest_loops<T>().learn_sparse(at, rows, which);
}
template <class T>
tally learn(state<T>& at, const counted_rows<T>& rows, const visits& which) {
    return fastest_loops<T>().learn_counted(at, rows, which);
}
template <class T>
tally learn(state<T>& at, const dense_rows<T>& rows, const visits& which) {
    return fastest_loops<T>().learn_dense(at, rows, which);
}

// The same for some labels side by side. Mistakes, updates, importance and losses are the sums over the labels.
template <class T>
tally learn_labels(state<T>& at, const sparse_rows<T>& rows, const visits& which, const label_sets& sets) {
    return fastest_loops<T>().learn_labels_sparse(at, rows, which, sets);
}
template <class T>
tally learn_labels(state<T>& at, const counted_rows<T>& rows, const visits& which, const label_sets& sets) {
    return fastest_loops<T>().learn_labels_counted(at, rows, which, sets);
}
template <class T>
tally learn_labels(state<T>& at, const dense_rows<T>& rows, const visits& which, const label_sets& sets) {
    return fastest_loops<T>().learn_labels_dense(at, rows, which, sets);
}

// The state, the rows and what the visits point to must live as long as what is returned; the visits' order is not
// used.
template <class T>
std::unique_ptr<kept_learner<T>> keep_learning(state<T>& at, const sparse_rows<T>& rows, const visits& which) {
    return fastest_loops<T>().keep_sparse(at, rows, which);
}
template <class T>
std::unique_ptr<kept_learner<T>> keep_learning(state<T>& at, const dense_rows<T>& rows, const visits& which) {
    return fastest_loops<T>().keep_dense(at, rows, which);
}

// Row i's scores go to out + i * columns. They are summed in double, and rounded once.
template <class T>
void score(const weights<T>& by, const sparse_rows<T>& rows, T* out) {
    fastest_loops<T>().score_sparse(by, rows, out);
}
template <class T>
void score(const weights<T>& by, const dense_rows<T>& rows, T* out) {
    fastest_loops<T>().score_dense(by, rows, out);
}

}  // namespace markone

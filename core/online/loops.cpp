// Compiled once for each MARKONE_LEVEL: `baseline` for every processor, `v3` for x86-64-v3.
#include "online/loops.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>
#include <vector>

#include "online/label_learner.h"
#include "online/learner.h"
#include "online/rules.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

// The range of values, and the sum of their products with 0: 0 times infinity and 0 times nan are nan, and nan stays in
// the sum.
template <class T>
T find_range(std::span<const T> values, value_range<T>& range) {
    constexpr std::size_t lanes = 32;
    T least[lanes] = {}, most[lanes] = {}, products[lanes] = {};
    const auto take = [&](T value, std::size_t lane) {
        least[lane] = value < least[lane] ? value : least[lane];
        most[lane] = value > most[lane] ? value : most[lane];
        products[lane] += value * 0;
    };
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) take(values[i + lane], lane);
    for (std::size_t lane = 0; i < values.size(); ++i, ++lane) take(values[i], lane);
    range = {*std::min_element(least, least + lanes), *std::max_element(most, most + lanes)};
    return fold(products);
}

template <class T>
void check_values(std::span<const T> values, value_range<T>* range) {
    const T products = range != nullptr ? find_range(values, *range)
                                        : sum<32, T>(values.size(), [&](std::size_t i) { return values[i] * 0; });
    if (products != 0) throw not_finite();
}

// Rows whose features are in order, as most are, do not name any twice.
template <class T>
bool names_twice(const sparse_rows<T>& rows) {
    std::uint32_t falls = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto x = rows[i];
        for (std::size_t j = 1; j < x.size(); ++j) falls |= x.index[j] <= x.index[j - 1];
    }
    if (falls == 0) return false;
    if (rows.columns <= 8 * rows.stored()) {
        std::vector<std::uint32_t> seen_in(rows.columns);  // the last row that named the feature, from 1
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto x = rows[i];
            const auto row = static_cast<std::uint32_t>(i + 1);
            std::uint32_t twice = 0;
            for (std::size_t j = 0; j < x.size(); ++j) {
                twice |= seen_in[x.index[j]] == row;
                seen_in[x.index[j]] = row;
            }
            if (twice != 0) return true;
        }
        return false;
    }
    std::vector<std::uint32_t> sorted;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto x = rows[i];
        sorted.assign(x.index, x.index + x.size());
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return true;
    }
    return false;
}

// A number as its bits: -0 is not 0, because a weight of -0 shows which of them was added to it.
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
bool write_counts(std::span<const T> values, std::uint8_t* out) {
    constexpr std::size_t together = 4096;  // how much is converted before a look at whether it was possible
    for (std::size_t begin = 0; begin < values.size(); begin += together) {
        const std::size_t end = std::min(begin + together, values.size());
        const T* __restrict from = values.data() + begin;
        std::uint8_t* __restrict to = out + begin;
        bits_of<T> differs = 0;
        for (std::size_t i = 0; i < end - begin; ++i) {
            // Beyond the range of an integer the conversion would be undefined.
            const T value = from[i], not_negative = value > 0 ? value : 0;
            const auto count = static_cast<std::int32_t>(not_negative < 255 ? not_negative : 255);
            to[i] = static_cast<std::uint8_t>(count);
            differs |= std::bit_cast<bits_of<T>>(static_cast<T>(count)) ^ std::bit_cast<bits_of<T>>(value);
        }
        if (differs != 0) return false;
    }
    return true;
}

template <class T>
void check_sparse(const sparse_rows<T>& rows, value_range<T>* range) {
    if (rows.indices.size() != rows.values.size())
        throw std::invalid_argument("the arrays of a sparse matrix do not match");
    check_places(rows);
    check_values(rows.values.subspan(static_cast<std::size_t>(rows.indptr.front()), rows.stored()), range);
}

template <class T>
void check_dense(const dense_rows<T>& rows, value_range<T>* range) {
    check_values(std::span<const T>(rows.values, rows.stored()), range);
}

template <class T, class Rows>
void check_learning(const state<T>& at, const Rows& rows, const visits& which, std::size_t classes) {
    if (rows.width() > at.features) throw std::invalid_argument("rows are wider than the weights");
    check(which, rows.size(), classes);
}

template <class T, class Rows>
tally learn(state<T>& at, const Rows& rows, const visits& which) {
    check_learning(at, rows, which, at.classes);
    return with_learner(at, which, [&](auto by) { return by.learn(rows, which); });
}

template <class T, class Rows>
tally learn_labels(state<T>& at, const Rows& rows, const visits& which, const label_sets& sets) {
    const bool plain = at.how.penalty == penalty::none && at.how.schedule == schedule::constant;
    if (!plain || at.classes != labels_together<T> || sets.labels > at.classes)
        throw std::invalid_argument("this learner cannot have several labels");
    check_learning(at, rows, which, sets.bits.size());
    return rules::with_rule<T>(at.how,
                               [&](const auto& rule) { return label_learner(at, rule, sets).learn(rows, which); });
}

template <class T, class Rows, class Learner>
class kept_learner_by final : public kept_learner<T> {
  public:
    kept_learner_by(const Learner& by, const Rows& rows, const visits& which) : by(by), rows(rows), which(which) {}

    tally learn(std::span<const std::int64_t> order) override {
        which.order = order;
        return by.learn(rows, which);
    }

  private:
    Learner by;
    const Rows& rows;
    visits which;
};

template <class T, class Rows>
std::unique_ptr<kept_learner<T>> keep(state<T>& at, const Rows& rows, const visits& which) {
    check_learning(at, rows, which, at.classes);
    std::unique_ptr<kept_learner<T>> made;
    with_learner(at, which, [&]<class Learner>(const Learner& by) {
        made = std::make_unique<kept_learner_by<T, Rows, Learner>>(by, rows, which);
        return true;
    });
    return made;
}

template <class T, class Rows>
void score(const weights<T>& by, const Rows& rows, T* out) {
    if (rows.width() > by.features) throw std::invalid_argument("rows are wider than the weights");
    const std::size_t columns = by.columns(), stride = by.stride();
    std::vector<double> sums(stride);
    packer<T> packed;
    for (std::size_t i = 0; i < rows.size(); ++i, out += columns) {
        if (stride == 1)
            sums[0] = exact_dot(rows[i], by.data());
        else
            dots(packed(rows[i]), by.data(), stride, sums.data());
        for (std::size_t k = 0; k < columns; ++k) out[k] = static_cast<T>(sums[k] + double{by.bias[k]});
    }
}

template <class T>
extern const loops<T> all = {check_sparse<T>,
                             check_dense<T>,
                             names_twice<T>,
                             write_counts<T>,
                             learn<T, sparse_rows<T>>,
                             learn<T, counted_rows<T>>,
                             learn<T, dense_rows<T>>,
                             learn_labels<T, sparse_rows<T>>,
                             learn_labels<T, counted_rows<T>>,
                             learn_labels<T, dense_rows<T>>,
                             keep<T, sparse_rows<T>>,
                             keep<T, dense_rows<T>>,
                             score<T, sparse_rows<T>>,
                             score<T, dense_rows<T>>};

const loops<float>& loops32() {
    return all<float>;
}
const loops<double>& loops64() {
    return all<double>;
}

}  // namespace markone::MARKONE_LEVEL

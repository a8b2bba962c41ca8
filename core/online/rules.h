// Rules: how hard one example pulls at the weights.
//
// A rule sees the margin of an example: the score of the right class less that of the best wrong one (for two classes
// that share one weight vector, y * s). It answers with two numbers:
//   loss    what the example costs at this margin
//   pull    the factor c of the step  w += rate * c * x  towards the right class (and away from the wrong one)
// It also has a name, the one that users write; `target` and `repeats`, which say how the loop treats it; and it is
// made from the settings. all_of lists the rules that there are.
//
// `importance` says how often the example counts, `wrong` whether it is misclassified (ties included, as the learner's
// convention has it), and `norm2()` is the squared length of the change that a pull of 1 makes: |x|^2 for one weight
// vector, 2 |x|^2 for two.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/exponential.h"
#include "base/logarithm.h"
#include "online/settings.h"

namespace markone::rules {

// Which classes a step moves: the right one and its best rival, or all of them.
enum class moves { pair, all };

// Perceptron (Rosenblatt 1958): step only on a mistake, always equally far.
//   c = [wrong]        in the form w += eta y x
//   c = |y - f(x)|     in the form w += eta (y - f(x)) x: twice as far, unless f(x) = 0 at a tie
template <class T>
struct perceptron {
    static constexpr std::string_view name = "perceptron";
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = true;  // an importance of k is k visits in place, each with its own prediction
    T far;                                 // 2 in the second form, else 1
    T at_a_tie;                            // the same where a tie is the wrong class, 1 where it is neither

    explicit perceptron(const settings& how)
        : far(how.difference ? 2 : 1), at_a_tie(how.ties == tie::error ? 1 : far) {}

    MARKONE_INLINE T loss(T margin) const { return std::max(-margin, T{0}); }
    template <class Norm2>
    MARKONE_INLINE T pull(T margin, bool wrong, T importance, Norm2) const {
        if (!wrong) return 0;
        return importance * (margin == 0 ? at_a_tie : far);
    }
};

// MIRA (Crammer & Singer 2003; PA-I of Crammer et al. 2006): the shortest step that wins by a margin of 1, at most C.
//   c = min(C, (1 - margin) / norm2)
template <class T>
struct mira {
    static constexpr std::string_view name = "mira";
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = false;
    T C;

    explicit mira(const settings& how) : C(static_cast<T>(how.C)) {}

    MARKONE_INLINE T loss(T margin) const { return std::max(1 - margin, T{0}); }
    template <class Norm2>
    MARKONE_INLINE T pull(T margin, bool, T importance, Norm2 norm2) const {
        const T missing = loss(margin);
        if (missing == 0) return 0;
        const T length2 = norm2();
        return length2 > 0 ? std::min(importance * C, missing / length2) : 0;
    }
};

// Hinge loss (the SVM's): a unit pull until the margin is 1.
//   loss = max(0, 1 - margin),  c = [margin < 1]
template <class T>
struct hinge {
    static constexpr std::string_view name = "hinge";
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = false;

    explicit hinge(const settings&) {}

    MARKONE_INLINE T loss(T margin) const { return std::max(1 - margin, T{0}); }
    template <class Norm2>
    MARKONE_INLINE T pull(T margin, bool, T importance, Norm2) const {
        return margin < 1 ? importance : T{0};
    }
};

// Logistic regression: cross-entropy. For two classes
//   loss = ln(1 + e^-margin),  c = 1 / (1 + e^margin)
// and for more the softmax, whose loss and pulls the learner computes from all scores: c_k = [k is right] - p_k.
template <class T>
struct logistic {
    static constexpr std::string_view name = "logistic";
    static constexpr moves target = moves::all;
    static constexpr bool repeats = false;

    explicit logistic(const settings&) {}

    MARKONE_INLINE T loss(T margin) const {
        return static_cast<T>(logarithm_of_one_and(exponential(-std::abs(margin)))) + std::max(-margin, T{0});
    }
    template <class Norm2>
    MARKONE_INLINE T pull(T margin, bool, T importance, Norm2) const {
        return importance / (1 + exponential(margin));
    }
};

template <class T>
using all_of = std::tuple<perceptron<T>, mira<T>, logistic<T>, hinge<T>>;

// Calls `use` with the rule of the settings' name.
template <class T, class Use>
auto with_rule(const settings& how, Use use) {
    return [&]<class... Rule>(std::type_identity<std::tuple<Rule...>>) {
        std::optional<decltype(use(std::get<0>(std::declval<all_of<T>>())))> result;
        ((how.rule == Rule::name && (result = use(Rule(how)), true)) || ...);
        if (!result) throw std::invalid_argument("there is no such rule");
        return *result;
    }(std::type_identity<all_of<T>>());
}

}  // namespace markone::rules

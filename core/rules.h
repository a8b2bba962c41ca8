// Rules: how hard one example pulls at the weights.
//
// A rule sees the margin of an example: the score of the right class less that of the best wrong one (for two classes
// that share one weight vector, y * s). It answers with two numbers:
//   loss    what the example costs at this margin
//   pull    the factor c of the step  w += rate * c * x  towards the right class (and away from the wrong one)
// `importance` says how often the example counts, `wrong` whether it is misclassified (ties included, as the learner's
// convention has it), and `norm2()` is the squared length of the change that a pull of 1 makes: |x|^2 for one weight
// vector, 2 |x|^2 for two.
#pragma once

#include <algorithm>
#include <cmath>

#include "rows.h"

namespace markone::rules {

// Which classes a step moves: the right one and its best rival, or all of them.
enum class moves { pair, all };

// Perceptron (Rosenblatt 1958): step only on a mistake, always equally far.
//   c = [wrong]        in the form w += eta y x
//   c = |y - f(x)|     in the form w += eta (y - f(x)) x: twice as far, unless f(x) = 0 at a tie
template <class T>
struct perceptron {
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = true;  // an importance of k is k visits in place, each with its own prediction
    T far;                                 // 2 in the second form, else 1
    T at_a_tie;                            // the same where a tie is the wrong class, 1 where it is neither

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
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = false;
    T C;

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
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = false;

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
    static constexpr moves target = moves::all;
    static constexpr bool repeats = false;

    MARKONE_INLINE T loss(T margin) const { return std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, T{0}); }
    template <class Norm2>
    MARKONE_INLINE T pull(T margin, bool, T importance, Norm2) const {
        return importance / (1 + std::exp(margin));
    }
};

}  // namespace markone::rules

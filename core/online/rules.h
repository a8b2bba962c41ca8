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
// convention has it), and `moved` what a pull of 1 moves: `vectors` is the number of weight vectors, one where two
// classes share it and else two, and `norm2()` the squared length of their change, |x|^2 or 2 |x|^2. Where more than
// two classes all move, the softmax takes the place of the rule.
//
// A margin is a number of type T, or anything that computes like one: many numbers side by side (replica_simd.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/exponential.h"
#include "base/logarithm.h"
#include "online/settings.h"

namespace markone {

// What a choice is where there is one number. Numbers side by side have their own.
template <class Number>
MARKONE_INLINE Number choose(bool which, const Number& one, const Number& other) {
    return which ? one : other;
}
MARKONE_INLINE bool any(bool answer) {
    return answer;
}
template <class Number>
MARKONE_INLINE Number larger(const Number& one, const Number& other) {
    return choose(one < other, other, one);
}
template <class Number>
MARKONE_INLINE Number smaller(const Number& one, const Number& other) {
    return choose(other < one, other, one);
}

namespace rules {

// Which classes a step moves: the right one and its best rival, or all of them.
enum class moves { pair, all };

// Perceptron (Rosenblatt 1958): step only on a mistake, always equally far.
//   c = [wrong]        in the form w += eta y x
//   c = |y - f(x)|     in the form w += eta (y - f(x)) x: twice as far, unless f(x) = 0 at a tie
template <class T>
struct perceptron {
    using scalar = T;
    static constexpr std::string_view name = "perceptron";
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = true;  // an importance of k is k visits in place, each with its own prediction
    T far;                                 // 2 in the second form, else 1
    T at_a_tie;                            // the same where a tie is the wrong class, 1 where it is neither

    explicit perceptron(const settings& how)
        : far(how.difference ? 2 : 1), at_a_tie(how.ties == tie::error ? 1 : far) {}

    MARKONE_INLINE T loss(T margin) const { return larger(-margin, T{0}); }
    template <class Number, class Answer, class Moved>
    MARKONE_INLINE Number pull(const Number& margin, const Answer& wrong, T importance, const Moved&) const {
        const Number step = choose(margin == 0, Number(importance * at_a_tie), Number(importance * far));
        return choose(wrong, step, Number(0));
    }
};

// MIRA (Crammer & Singer 2003): the shortest step that wins by a margin of 1, at most C.
//   c = min(C, (1 - margin) / norm2)
// It steps whenever the margin is below 1 (PA-I of Crammer et al. 2006), or on a mistake only. In the second form two
// classes that share a weight vector w stand for two vectors, w_1 - w_0. Each of them moves by at most C, so that w
// moves by at most 2 C.
template <class T>
struct mira {
    using scalar = T;
    static constexpr std::string_view name = "mira";
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = false;
    T C;
    T C_shared;  // of a vector that two classes share
    bool only_mistakes;

    explicit mira(const settings& how)
        : C(static_cast<T>(how.C)),
          C_shared(how.difference ? 2 * C : C),
          only_mistakes(how.update == update::mistake) {}

    template <class Number>
    MARKONE_INLINE Number loss(const Number& margin) const {
        return larger(1 - margin, Number(0));
    }
    template <class Number, class Answer, class Moved>
    MARKONE_INLINE Number pull(const Number& margin, const Answer& wrong, T importance, const Moved& moved) const {
        const Number missing = only_mistakes ? choose(wrong, loss(margin), Number(0)) : loss(margin);
        if (!any(missing != 0)) return 0;
        const T length2 = moved.norm2();
        if (!(length2 > 0)) return 0;
        const T most = importance * (Moved::vectors == 1 ? C_shared : C);
        return choose(missing == 0, Number(0), smaller(Number(most), missing / length2));
    }
};

// Hinge loss (the SVM's): a unit pull until the margin is 1.
//   loss = max(0, 1 - margin),  c = [margin < 1]
template <class T>
struct hinge {
    using scalar = T;
    static constexpr std::string_view name = "hinge";
    static constexpr moves target = moves::pair;
    static constexpr bool repeats = false;

    explicit hinge(const settings&) {}

    MARKONE_INLINE T loss(T margin) const { return larger(1 - margin, T{0}); }
    template <class Number, class Answer, class Moved>
    MARKONE_INLINE Number pull(const Number& margin, const Answer&, T importance, const Moved&) const {
        return choose(margin < 1, Number(importance), Number(0));
    }
};

// Logistic regression: cross-entropy. For two classes
//   loss = ln(1 + e^-margin),  c = 1 / (1 + e^margin)
// and for more than two the softmax, below.
template <class T>
struct logistic {
    using scalar = T;
    static constexpr std::string_view name = "logistic";
    static constexpr moves target = moves::all;
    static constexpr bool repeats = false;

    explicit logistic(const settings&) {}

    MARKONE_INLINE T loss(T margin) const {
        return static_cast<T>(logarithm_of_one_and(exponential(-std::abs(margin)))) + larger(-margin, T{0});
    }
    template <class Number, class Answer, class Moved>
    MARKONE_INLINE Number pull(const Number& margin, const Answer&, T importance, const Moved&) const {
        return importance / (1 + exponential(margin));
    }
};

// Softmax: logistic regression for more than two classes. With top the highest score and e_k = e^(s_k - top),
//   p_k = e_k / (e_1 + e_2 + ...),  loss = -ln p_right,  c_k = [k is right] - p_k
template <class Number>
struct softmax {
    Number top, total;

    // The scores become e_k.
    MARKONE_INLINE softmax(std::span<Number> s, const Number& top) : top(top), total(0) {
        for (Number& one : s) {
            one = exponential(one - top);
            total = total + one;
        }
    }
    MARKONE_INLINE double loss(const Number& right) const {
        return logarithm_of_any(double{total}) + static_cast<double>(top - right);
    }
    MARKONE_INLINE Number pull(const Number& e, bool is_right) const { return (is_right ? 1 : 0) - e / total; }
};

template <class T>
using all_of = std::tuple<perceptron<T>, mira<T>, logistic<T>, hinge<T>>;

[[noreturn]] inline void no_such_rule() {
    throw std::invalid_argument("there is no such rule");
}

// Calls `use` with the rule of the settings' name.
template <class T, class Use>
auto with_rule(const settings& how, Use use) {
    return [&]<class... Rule>(std::type_identity<std::tuple<Rule...>>) {
        std::optional<decltype(use(std::get<0>(std::declval<all_of<T>>())))> result;
        const bool found = ((how.rule == Rule::name && (result = use(Rule(how)), true)) || ...);
        if (!found) no_such_rule();
        return *result;
    }(std::type_identity<all_of<T>>());
}

// The rule of the settings' name, which is chosen anew for each example. A loop with it does the work of one loop for
// each rule, which would take several times as long to compile. It is for visits that cost much more than the choice.
template <class Rules>
class any_in;
template <class... Rule>
class any_in<std::tuple<Rule...>> {
  public:
    using scalar = typename std::tuple_element_t<0, std::tuple<Rule...>>::scalar;
    moves target = moves::pair;
    bool repeats = false;

    explicit any_in(const settings& how) : rules(Rule(how)...) {
        const bool found =
            ((how.rule == Rule::name ? (target = Rule::target, repeats = Rule::repeats, true) : (++chosen, false)) ||
             ...);
        if (!found) no_such_rule();
    }

    MARKONE_INLINE scalar loss(scalar margin) const {
        return of_chosen([&](const auto& rule) { return rule.loss(margin); });
    }
    template <class Answer, class Moved>
    MARKONE_INLINE scalar pull(scalar margin, const Answer& wrong, scalar importance, const Moved& moved) const {
        return of_chosen([&](const auto& rule) { return rule.pull(margin, wrong, importance, moved); });
    }

  private:
    template <class Get>
    MARKONE_INLINE scalar of_chosen(Get get) const {
        scalar result{};
        std::size_t place = 0;
        (void)((place++ == chosen && (result = get(std::get<Rule>(rules)), true)) || ...);
        return result;
    }

    std::tuple<Rule...> rules;
    std::size_t chosen = 0;
};
template <class T>
using any_rule = any_in<all_of<T>>;

}  // namespace rules
}  // namespace markone

// One step of every online rule: what a row's scores are, whether they are wrong, and how the weights then move.
//
// It is written once, for one run and for many side by side. A run says what its numbers are and does what depends on
// where its weights are. learner.h has the run whose number is a scalar and whose answers are true or false; in
// replicas.cpp and label_learner.h the number is a line, with an entry for each of many runs. A run has
//   number, answer, place      types: a score, a yes or no, the number of a class (made by place_of)
//   score(), scores()          of the row by one weight vector, or by one for each class
//   norm2()                    the squared length of the row, with the bias's 1
//   always(yes)                the same answer for all runs
//   positive(y)                whether a row of class y is of the second class
//   note(wrong, margin)        notes whether it was a mistake
//   add_loss(loss)             adds up the loss, where `counts_loss` says that somebody wants to know it
//   keep(pull)                 whether anybody moves; sets to 0 what pulls nobody
//   move(factor), move_pair(y, rival, factor), move_all()
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "online/rules.h"
#include "online/settings.h"
#include "rows/rows.h"

namespace markone {

// A visit to a row of class y.
struct visit {
    std::size_t row, y;
    double importance;
    double rate;
};

// Calls go(importance, left) for each visit that a row of some importance gets, until go returns false.
template <class Rule, class Go>
MARKONE_INLINE void each_visit(const Rule& rule, double importance, Go go) {
    const double whole = rule.repeats ? 1 : importance;
    for (double left = importance; left > 0; left -= whole)
        if (!go(std::min(whole, left), left)) return;
}

// A margin of 0 is a mistake as the ties are set; so is a margin that is not a number.
template <class Run>
MARKONE_INLINE typename Run::answer is_mistake(const Run& run, tie ties, const typename Run::number& margin,
                                               const typename Run::answer& rival_comes_first) {
    using answer = typename Run::answer;
    const answer tie_is_lost = ties == tie::error      ? run.always(true)
                               : ties == tie::negative ? rival_comes_first
                                                       : !rival_comes_first;
    return choose(margin == 0, tie_is_lost, !(margin > 0));
}

// What a pull of 1 moves.
template <class T, class Run, int count>
struct moved_by_one {
    static constexpr int vectors = count;
    const Run& run;

    MARKONE_INLINE T norm2() const { return static_cast<T>(vectors) * run.norm2(); }
};

// How far a rule that looks at the margin pulls; 1 or 2 weight vectors move.
template <int vectors, class Rule, class Run>
MARKONE_INLINE typename Run::number pull_of(const Rule& rule, Run& run, const visit& now,
                                            const typename Run::number& margin, const typename Run::answer& wrong) {
    using T = typename Rule::scalar;
    if constexpr (Run::counts_loss) run.add_loss(static_cast<double>(rule.loss(margin)));
    return rule.pull(margin, wrong, static_cast<T>(now.importance), moved_by_one<T, Run, vectors>{run});
}

// One weight vector, for the second class when positive and for the first when negative.
template <class Rule, class Run>
MARKONE_INLINE bool step_binary(const Rule& rule, Run& run, const visit& now, tie ties) {
    using T = typename Rule::scalar;
    using number = typename Run::number;
    const typename Run::answer positive = run.positive(now.y);
    const number sign = choose(positive, number(1), number(-1));
    const number margin = sign * run.score();
    const typename Run::answer wrong = is_mistake(run, ties, margin, positive);
    run.note(wrong, margin);
    number pull = pull_of<1>(rule, run, now, margin, wrong);
    if (!run.keep(pull)) return false;
    run.move(sign * number(static_cast<T>(now.rate)) * pull);
    return true;
}

// The best of the wrong classes.
template <class Run>
struct best_rival {
    typename Run::place k;
    typename Run::number score;

    MARKONE_INLINE best_rival(std::span<const typename Run::number> s, std::size_t y, tie ties)
        : k(Run::place_of(y == 0 ? 1 : 0)), score(s[y == 0 ? 1 : 0]) {
        for (std::size_t i = y == 0 ? 2 : 1; i < s.size(); ++i) {
            if (i == y) continue;
            const typename Run::answer better = ties == tie::positive ? s[i] >= score : s[i] > score;
            score = choose(better, s[i], score);
            k = choose(better, Run::place_of(i), k);
        }
    }
};

// A weight vector for each class.
template <class Rule, class Run>
MARKONE_INLINE bool step_multiclass(const Rule& rule, Run& run, const visit& now, tie ties) {
    using T = typename Rule::scalar;
    using number = typename Run::number;
    const std::span<number> s = run.scores();
    const best_rival<Run> rival(s, now.y, ties);
    const number right = s[now.y], margin = right - rival.score;
    const typename Run::answer wrong = is_mistake(run, ties, margin, rival.k < Run::place_of(now.y));
    run.note(wrong, margin);
    if (rule.target == rules::moves::pair) {
        number pull = pull_of<2>(rule, run, now, margin, wrong);
        if (!run.keep(pull)) return false;
        run.move_pair(now.y, rival.k, static_cast<T>(now.rate) * pull);
    } else {
        const rules::softmax<number> shares(s, larger(right, rival.score));
        if constexpr (Run::counts_loss) run.add_loss(shares.loss(right));
        number pull = 1;
        if (!run.keep(pull)) return false;
        const T far = static_cast<T>(now.rate * now.importance);
        for (std::size_t k = 0; k < s.size(); ++k) s[k] = far * shares.pull(s[k], k == now.y);
        run.move_all();
    }
    return true;
}

}  // namespace markone

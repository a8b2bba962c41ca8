// Penalties, paid late: a weight that no example touches is not visited; when it is next needed, what it owes is paid
// in closed form.
//
// After its step, an example of importance h shrinks every weight (the proximal step of the penalty, at rate eta):
//   L2   w <- w f^h,                      f = 1 / (1 + eta strength)
//   L1   w <- sign(w) max(0, |w| - h k),  k = eta strength             (Langford et al. 2009, Tsuruoka et al. 2009)
// Averaging needs, beside the weight itself, the sum of its values over the visits in between.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/exponential.h"
#include "base/logarithm.h"

namespace markone {

struct paid {
    double value;  // the weight after the visits
    double sum;    // the sum of its values over them
};

// `visits` times f = 1 / (1 + k): the value v f^visits and the sum v (f + f^2 + ...), for fractional visits too.
inline paid shrink(double v, double k, double visits) {
    if (k == 0) return {v, v * visits};
    if (visits == 1) return {v / (1 + k), v / (1 + k)};
    const double drop = exponential_less_one(-visits * logarithm_of_one_and(k));
    return {v + v * drop, -v * drop / k};
}

// What was asked of every weight, step by step, since all weights were last settled. Position 0 is that moment.
class debts {
  public:
    std::vector<double> visits{0};      // importance so far
    std::vector<double> asked{0};       // sum of h k
    std::vector<double> asked_area{0};  // sum of h * asked, with asked taken after the step

    std::size_t now() const { return asked.size() - 1; }
    void ask(double importance, double k) {
        make_room();
        visits.push_back(visits.back() + importance);
        asked.push_back(asked.back() + importance * k);
        asked_area.push_back(asked_area.back() + importance * asked.back());
    }
    void clear() {
        visits.assign(1, 0);
        asked.assign(1, 0);
        asked_area.assign(1, 0);
    }

    // v is not 0; `rate` is the weight's own factor, constant since position `from` (AdaGrad's rates change only when
    // touched).
    paid l1(double v, double rate, std::size_t from) const {
        const double size = std::abs(v);
        const double total = rate * (asked.back() - asked[from]);
        std::size_t last = now();  // the last position at which the weight is not yet 0
        if (total >= size) {
            const auto gone = std::partition_point(asked.begin() + static_cast<std::ptrdiff_t>(from), asked.end(),
                                                   [&](double a) { return rate * (a - asked[from]) < size; });
            last = std::max(static_cast<std::size_t>(gone - asked.begin()), from + 1) - 1;
        }
        const double sum =
            (size + rate * asked[from]) * (visits[last] - visits[from]) - rate * (asked_area[last] - asked_area[from]);
        return {std::copysign(std::max(0.0, size - total), v), std::copysign(1.0, v) * sum};
    }

    paid l2(double v, double k, std::size_t from) const { return shrink(v, k, visits.back() - visits[from]); }

  private:
    // In all three, before any of them grows: where there is no memory they stay of one length.
    void make_room() {
        for (std::vector<double>* sums : {&visits, &asked, &asked_area})
            if (sums->size() == sums->capacity()) sums->reserve(2 * sums->size());
    }
};

}  // namespace markone

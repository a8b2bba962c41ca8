// Cross-entropy, the loss of logistic regression, as a function of the scores of many rows: its value, its slope and
// its curvature. Everything is branch-free where rows have one score, so that four rows fill a register, and uses
// nothing but additions, multiplications and divisions, so that every processor and library rounds alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "rows/arithmetic.h"
#include "rows/rows.h"

namespace markone::MARKONE_LEVEL {

// The sum of the coefficients times the powers of x. It is not written as a loop, in which compilers would not see that
// what is around it can be done for several rows at once.
template <std::size_t k = 0, std::size_t terms>
MARKONE_INLINE double polynomial(double x, const double (&coefficients)[terms]) {
    if constexpr (k + 1 == terms)
        return coefficients[k];
    else
        return polynomial<k + 1>(x, coefficients) * x + coefficients[k];
}

// e^x for x <= 0, by 2^n e^r as in exponential.h; the rounding is done by adding a number so large that no fraction
// has room beside it, and what is smaller than e^-708 is that.
MARKONE_INLINE double exponential_below(double x) {
    constexpr double none_fits = 6755399441055744.0;  // 1.5 * 2^52
    constexpr double taylor[] = {
        1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    x = x < -708.0 ? -708.0 : x;
    const double shifted = x * 1.44269504088896340736 + none_fits, n = shifted - none_fits;
    const double r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
    const std::int64_t power = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(none_fits);
    return polynomial(r, taylor) * std::bit_cast<double>((power + 1023) << 52);
}

// ln(1 + z) for z from 0 to 1: twice the area tangent of z / (2 + z), which is at most 1/3.
MARKONE_INLINE double logarithm_above_one(double z) {
    constexpr double odd[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                              1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33};
    const double s = z / (2 + z);
    return 2 * s * polynomial(s * s, odd);
}

// ln(1 + z) for any z >= 0.
MARKONE_INLINE double logarithm_of_more(double z) {
    if (z <= 1) return logarithm_above_one(z);
    const auto bits = std::bit_cast<std::int64_t>(1 + z);
    const auto power = static_cast<double>((bits >> 52) - 1023);
    const double mantissa = std::bit_cast<double>((bits & ((std::int64_t{1} << 52) - 1)) | (std::int64_t{1023} << 52));
    return power * 0.693147180559945309417 + logarithm_above_one(mantissa - 1);
}

// Two classes. With z = e^-|s|:
//   loss = ln(1 + z) + max(0, -y s),   slope = p - [y is the second],   curvature = p (1 - p) = z / (1 + z)^2
struct binary_point {
    double loss, slope, curvature;
};
MARKONE_INLINE binary_point binary_cross_entropy(double s, double second) {
    const double z = exponential_below(s < 0 ? s : -s), part = 1 / (1 + z), rest = z * part;
    const double against = s - 2 * second * s;
    return {logarithm_above_one(z) + (against < 0 ? 0 : against), (s < 0 ? rest : part) - second, rest * part};
}

// More classes: the probabilities of a row's scores to p, and the loss. The sum leaves out the highest score, whose
// term is 1, so that a small loss keeps its digits.
MARKONE_INLINE double softmax(const double* s, std::size_t classes, std::size_t y, double* p) {
    const std::size_t best = static_cast<std::size_t>(std::max_element(s, s + classes) - s);
    const double top = s[best], right = s[y];
    for (std::size_t k = 0; k < classes; ++k) p[k] = exponential_below(s[k] - top);
    p[best] = 0;
    double others = 0;
    for (std::size_t k = 0; k < classes; ++k) others += p[k];
    p[best] = 1;
    const double part = 1 / (1 + others);
    for (std::size_t k = 0; k < classes; ++k) p[k] *= part;
    return logarithm_of_more(others) + (top - right);
}

}  // namespace markone::MARKONE_LEVEL

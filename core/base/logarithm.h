// The natural logarithm, with the same rounding on every processor and library.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "rows/rows.h"

namespace markone {

// For a finite number greater than 0: x = 2^n (1 + f), with 1 + f between √½ and √2. With s = f / (2 + f),
//   log(1 + f) = 2 artanh s = f - f²/2 + s (f²/2 + r),      r = 2 s²/3 + 2 s⁴/5 + 2 s⁶/7 + ...
// in which the large terms are exact or nearly so.
MARKONE_INLINE double logarithm(double x) {
    constexpr double smallest = std::numeric_limits<double>::min(), up = 0x1p54;
    // ln 2 in two parts: n times the first is exact.
    constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;
    constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;
    const bool tiny = x < smallest;
    const auto bits = std::bit_cast<std::uint64_t>(tiny ? x * up : x);
    const auto power = static_cast<std::int64_t>(bits - root_of_half) >> 52;
    const double f = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(power) << 52)) - 1;
    const double n = static_cast<double>(power - (tiny ? 54 : 0));
    const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double r = 0;
    for (int i = 11; i > 0; --i) r = z * (2.0 / (2 * i + 1) + r);
    return n * ln2_high - ((half - (s * (half + r) + n * ln2_low)) - f);
}

// The logarithm of any number: -infinity for 0, and NaN for negative numbers.
MARKONE_INLINE double logarithm_of_any(double x) {
    using limits = std::numeric_limits<double>;
    if (x > 0 && x < limits::infinity()) return logarithm(x);
    return x == 0 ? -limits::infinity() : x > 0 ? x : limits::quiet_NaN();
}

// ln(1 + z) for z >= 0, accurate for small z: the rounding error of 1 + z is corrected to first
// order.
MARKONE_INLINE double logarithm_of_one_and(double z) {
    const double u = 1 + z;
    return u < std::numeric_limits<double>::infinity() ? logarithm(u) + (z - (u - 1)) / u : z;  // z if it is NaN
}

}  // namespace markone

// The exponential function, with the same rounding on every processor and library.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "rows/rows.h"

namespace markone {

// e^x = 2^n e^r with n = round(x / ln 2): 2^n is written into the bits of the exponent, and e^r, with r between
// -ln 2 / 2 and ln 2 / 2, is a Taylor series. Beyond the range of the type the result is 0 or infinity.
template <class T>
MARKONE_INLINE T exponential(T x) {
    using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    constexpr int terms = sizeof(T) == 4 ? 7 : 13, mantissa = std::numeric_limits<T>::digits - 1;
    constexpr T lowest = sizeof(T) == 4 ? T(-87.3) : T(-708.3), highest = sizeof(T) == 4 ? T(88.3) : T(709.4);
    // ln 2 in two parts: n times the first is exact.
    constexpr T ln2_high = sizeof(T) == 4 ? T(0.693359375) : T(0.693147180369123816490);
    constexpr T ln2_low = sizeof(T) == 4 ? T(-2.12194440e-4) : T(1.90821492927058770002e-10);
    if (!(x >= lowest)) return x < lowest ? T(0) : x;  // x itself if it is NaN
    if (x > highest) return std::numeric_limits<T>::infinity();
    const T scaled = x * T(1.44269504088896340736);
    const auto n = static_cast<bits>(scaled < 0 ? scaled - T(0.5) : scaled + T(0.5));
    const T whole = static_cast<T>(n), r = (x - whole * ln2_high) - whole * ln2_low;
    T sum = 1;
    for (int k = terms; k > 0; --k) sum = 1 + sum * r / static_cast<T>(k);
    const bits exponent = (n + std::numeric_limits<T>::max_exponent - 1) << mantissa;
    return sum * std::bit_cast<T>(exponent);
}

// e^x - 1, accurate for small x, for which it is the Taylor series without its 1.
MARKONE_INLINE double exponential_less_one(double x) {
    if (!(x > -0.35 && x < 0.35)) return exponential(x) - 1;
    double sum = 1;
    for (int k = 14; k > 1; --k) sum = 1 + sum * x / k;
    return sum * x;
}

}  // namespace markone

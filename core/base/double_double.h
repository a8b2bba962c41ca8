// Sums in two doubles, of which the second has the digits that do not fit into the first: about 106 bits. Whole numbers
// and 32-bit floats of similar size are added and subtracted without any error, in any order.
#pragma once

#include "rows/rows.h"

namespace markone {

struct twofold {
    double high = 0, low = 0;
};

// a + b, and its rounding error (Knuth).
MARKONE_INLINE twofold add_exactly(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// a · b, and its rounding error (Dekker): the products of two halves of a double are exact.
MARKONE_INLINE twofold multiply_exactly(double a, double b) {
    constexpr double splitter = 0x1p27 + 1;
    const auto upper = [](double x) {
        const double shifted = splitter * x;
        return shifted - (shifted - x);
    };
    const double product = a * b, a_high = upper(a), b_high = upper(b), a_low = a - a_high, b_low = b - b_high;
    return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

MARKONE_INLINE twofold operator+(twofold a, double b) {
    const twofold sum = add_exactly(a.high, b);
    return add_exactly(sum.high, sum.low + a.low);
}
MARKONE_INLINE twofold operator+(twofold a, twofold b) {
    return (a + b.high) + b.low;
}
MARKONE_INLINE twofold operator-(twofold a, twofold b) {
    return a + twofold{-b.high, -b.low};
}
MARKONE_INLINE twofold operator*(twofold a, double b) {
    return multiply_exactly(a.high, b) + a.low * b;
}
MARKONE_INLINE twofold square(twofold a) {
    return (multiply_exactly(a.high, a.high) + 2 * a.high * a.low) + a.low * a.low;
}

}  // namespace markone

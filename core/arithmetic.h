// What learning computes of a row: the dot product with one weight vector, with many at once, and the length.
//
// A weight matrix is feature-major: the weights of one feature for all classes stand side by side, `stride` apart from
// the next feature's, so that a feature costs one visit to memory whatever the number of classes.
//
// Sums are kept in a fixed number of partial sums, whatever the registers' width, so that every machine rounds alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "rows.h"

namespace markone::MARKONE_LEVEL {

// Adds f(0) ... f(n-1), lane by lane, to the partial sums, and those to each other.
template <std::size_t lanes, class T, class F>
MARKONE_INLINE T sum(std::size_t n, F f, T (&part)[lanes], std::size_t from = 0) {
    std::size_t i = from;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) part[lane] += f(i + lane);
    for (std::size_t lane = 0; i < n; ++i, ++lane) part[lane] += f(i);
    for (std::size_t width = lanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane) part[lane] += part[lane + width];
    return part[0];
}

template <class T>
MARKONE_INLINE T dot(dense_row<T> x, const T* w) {
    T part[32] = {};
    return sum(x.size(), [&](std::size_t i) { return w[i] * x.value(i); }, part);
}

#if defined(__AVX2__)
// Eight lanes of the sparse dot product at a time, by the gather that the compiler does not see it may use; a feature's
// number fits in 31 bits (state.h). Returns how far it came.
MARKONE_INLINE std::size_t gather_dot(sparse_row<float> x, const float* w, float (&part)[8]) {
    const __m256 zero = _mm256_setzero_ps(), every = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    __m256 lanes = zero;
    std::size_t i = 0;
    for (; i + 8 <= x.size(); i += 8) {
        const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x.index + i));
        const __m256 weights_at = _mm256_mask_i32gather_ps(zero, w, at, every, 4);
        lanes = _mm256_add_ps(lanes, _mm256_mul_ps(weights_at, _mm256_loadu_ps(x.values + i)));
    }
    _mm256_storeu_ps(part, lanes);
    return i;
}
MARKONE_INLINE std::size_t gather_dot(sparse_row<double> x, const double* w, double (&part)[8]) {
    const __m256d zero = _mm256_setzero_pd(), every = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    __m256d low = zero, high = zero;
    const auto four = [&](std::size_t i) {
        const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x.index + i));
        return _mm256_mul_pd(_mm256_mask_i32gather_pd(zero, w, at, every, 8), _mm256_loadu_pd(x.values + i));
    };
    std::size_t i = 0;
    for (; i + 8 <= x.size(); i += 8) {
        low = _mm256_add_pd(low, four(i));
        high = _mm256_add_pd(high, four(i + 4));
    }
    _mm256_storeu_pd(part, low);
    _mm256_storeu_pd(part + 4, high);
    return i;
}
#else
template <class T>
MARKONE_INLINE std::size_t gather_dot(sparse_row<T>, const T*, T (&)[8]) {
    return 0;
}
#endif

template <class T>
MARKONE_INLINE T dot(sparse_row<T> x, const T* w) {
    T part[8] = {};
    const std::size_t done = gather_dot(x, w, part);
    return sum(x.size(), [&](std::size_t i) { return w[x.feature(i)] * x.value(i); }, part, done);
}

template <class Row>
MARKONE_INLINE auto length2(Row x) {
    typename Row::scalar part[32] = {};
    return sum(x.size(), [&](std::size_t i) { return x.value(i) * x.value(i); }, part);
}

// Class scores: sums over the row's features for neighbouring columns at once. Even and odd positions of the row are
// summed apart, which halves the chain of dependent additions.
template <class T, std::size_t N>
struct pack_of {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, std::size_t N>
using pack = typename pack_of<T, N>::type;

template <class T, std::size_t N>
MARKONE_INLINE void accumulate(pack<T, N>& sums, const T* w, T x) {
    pack<T, N> lanes;
    std::memcpy(&lanes, w, sizeof lanes);
    sums += lanes * x;
}

template <std::size_t eights, std::size_t fours, class Row>
MARKONE_INLINE void dots_of(Row x, const typename Row::scalar* w, std::size_t stride, typename Row::scalar* out) {
    using T = typename Row::scalar;
    pack<T, 8> wide[2][eights + 1] = {};  // one more than used: C++ has no empty arrays
    pack<T, 4> narrow[2][fours + 1] = {};
    const auto add = [&](std::size_t side, std::size_t i) {
        const T* from = w + x.feature(i) * stride;
        const T value = x.value(i);
        for (std::size_t p = 0; p < eights; ++p) accumulate<T, 8>(wide[side][p], from + 8 * p, value);
        for (std::size_t p = 0; p < fours; ++p) accumulate<T, 4>(narrow[side][p], from + 8 * eights + 4 * p, value);
    };
    std::size_t i = 0;
    for (; i + 2 <= x.size(); i += 2) {
        add(0, i);
        add(1, i + 1);
    }
    if (i < x.size()) add(0, i);
    for (std::size_t p = 0; p < eights; ++p) {
        wide[0][p] += wide[1][p];
        std::memcpy(out + 8 * p, &wide[0][p], sizeof wide[0][p]);
    }
    for (std::size_t p = 0; p < fours; ++p) {
        narrow[0][p] += narrow[1][p];
        std::memcpy(out + 8 * eights + 4 * p, &narrow[0][p], sizeof narrow[0][p]);
    }
}

// `stride` sums to `out`; it is a multiple of 4, and the sums of the padding mean nothing.
template <class Row>
MARKONE_INLINE void dots(Row x, const typename Row::scalar* w, std::size_t stride, typename Row::scalar* out) {
    std::size_t column = 0;
    for (; column + 32 <= stride; column += 32) dots_of<4, 0>(x, w + column, stride, out + column);
    switch ((stride - column) / 4) {
        case 1: return dots_of<0, 1>(x, w + column, stride, out + column);
        case 2: return dots_of<1, 0>(x, w + column, stride, out + column);
        case 3: return dots_of<1, 1>(x, w + column, stride, out + column);
        case 4: return dots_of<2, 0>(x, w + column, stride, out + column);
        case 5: return dots_of<2, 1>(x, w + column, stride, out + column);
        case 6: return dots_of<3, 0>(x, w + column, stride, out + column);
        case 7: return dots_of<3, 1>(x, w + column, stride, out + column);
        default: return;
    }
}

}  // namespace markone::MARKONE_LEVEL

// Arithmetic on rows: the dot product with one weight vector, with many at once, and the length.
//
// A weight matrix is feature-major: the weights of one feature for all classes are contiguous, `stride` apart from
// those of the next feature, so that each feature needs one access to memory for any number of classes.
//
// The number of partial sums does not depend on the width of the registers, so that every machine rounds in one way.
//
// Training adds in the type of the weights. The scores of finished weights are added in double, in which the product
// of two floats is exact, and rounded once, by `exact_dot`, and by `dots` to doubles. Explanations repeat the additions
// in the same order: product i of a row goes to partial sum i modulo 8 (32 in a dense row of 64 values or more), or
// modulo 2 if there is more than one column. The partial sums are then folded, and the bias is added
// last.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "rows/rows.h"

namespace markone::MARKONE_LEVEL {

// Adds the partial sums: the second half to the first half, and so on.
template <std::size_t lanes, class T>
MARKONE_INLINE T fold(T (&part)[lanes]) {
    for (std::size_t width = lanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane) part[lane] += part[lane + width];
    return part[0];
}

// f(0) + ... + f(n-1).
template <std::size_t lanes, class T, class F>
MARKONE_INLINE T sum(std::size_t n, F f) {
    T part[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) part[lane] += f(i + lane);
    for (std::size_t lane = 0; i < n; ++i, ++lane) part[lane] += f(i);
    return fold(part);
}

// The same for contiguous values, which fill registers: with many lanes if there are enough values.
template <class T, class F>
MARKONE_INLINE T sum_straight(std::size_t n, F f) {
    return n < 64 ? sum<8, T>(n, f) : sum<32, T>(n, f);
}

// The sparse dot product has eight lanes. With AVX2 they are one or two registers, filled by gather instructions, which
// the compiler would not use by itself; a feature's number fits in 31 bits (state.h). Lanes beyond the end of the row
// are masked, and add 0.
#if defined(__AVX2__)
MARKONE_INLINE __m256i first_lanes(std::size_t count) {
    alignas(32) static constexpr std::int32_t sliding[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sliding + 8 - count));
}

// Eight stored values as floats, or the first of them, with zeros after them.
MARKONE_INLINE __m256 eight_floats(const float* from) {
    return _mm256_loadu_ps(from);
}
MARKONE_INLINE __m256 first_floats(const float* from, std::size_t, __m256i mask) {
    return _mm256_maskload_ps(from, mask);
}
MARKONE_INLINE __m256i widened(std::uint64_t bytes) {
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
}
MARKONE_INLINE std::uint64_t eight_bytes(const std::uint8_t* from) {
    std::uint64_t bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
}
// Up to seven bytes. What is read reaches `padding` bytes beyond the end of all values (counted_values).
MARKONE_INLINE std::uint64_t first_bytes(const std::uint8_t* from, std::size_t count) {
    return eight_bytes(from) & ((std::uint64_t{1} << 8 * count) - 1);
}
MARKONE_INLINE __m256 eight_floats(const std::uint8_t* from) {
    return _mm256_cvtepi32_ps(widened(eight_bytes(from)));
}
MARKONE_INLINE __m256 first_floats(const std::uint8_t* from, std::size_t count, __m256i) {
    return _mm256_cvtepi32_ps(widened(first_bytes(from, count)));
}

// Calls add(features, values, mask) for eight values of the row at a time.
template <class Stored, class Add>
MARKONE_INLINE void each_eight(sparse_row<float, Stored> x, Add add) {
    std::size_t i = 0;
    for (; i + 8 <= x.size(); i += 8)
        add(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x.index + i)), eight_floats(x.values + i),
            _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
    if (i < x.size()) {
        const std::size_t left = x.size() - i;
        const __m256i mask = first_lanes(left);
        add(_mm256_maskload_epi32(reinterpret_cast<const int*>(x.index + i), mask),
            first_floats(x.values + i, left, mask), _mm256_castsi256_ps(mask));
    }
}

// The sum of eight lanes, as `fold` adds them.
MARKONE_INLINE float folded(__m256 lanes) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}
MARKONE_INLINE double folded(__m256d low, __m256d high) {
    const __m256d four = _mm256_add_pd(low, high);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

template <class Stored>
MARKONE_INLINE float dot(sparse_row<float, Stored> x, const float* w) {
    const __m256 zero = _mm256_setzero_ps();
    __m256 lanes = zero;
    each_eight(x, [&](__m256i at, __m256 values, __m256 mask) {
        lanes = _mm256_add_ps(lanes, _mm256_mul_ps(_mm256_mask_i32gather_ps(zero, w, at, mask, 4), values));
    });
    return folded(lanes);
}

// Four stored values as doubles, or the first of them, with zeros after them.
MARKONE_INLINE __m256d four_doubles(const double* from) {
    return _mm256_loadu_pd(from);
}
MARKONE_INLINE __m256d first_doubles(const double* from, std::size_t, __m256i mask) {
    return _mm256_maskload_pd(from, mask);
}
MARKONE_INLINE __m256d widened_four(std::uint32_t bytes) {
    return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(static_cast<int>(bytes))));
}
MARKONE_INLINE __m256d four_doubles(const std::uint8_t* from) {
    std::uint32_t bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return widened_four(bytes);
}
MARKONE_INLINE __m256d first_doubles(const std::uint8_t* from, std::size_t count, __m256i) {
    return widened_four(static_cast<std::uint32_t>(first_bytes(from, count)));
}

MARKONE_INLINE __m256d four_doubles(const float* from) {
    return _mm256_cvtps_pd(_mm_loadu_ps(from));
}
MARKONE_INLINE __m256d first_doubles(const float* from, std::size_t, __m256i mask) {
    const __m256i even = _mm256_permutevar8x32_epi32(mask, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return _mm256_cvtps_pd(_mm_maskload_ps(from, _mm256_castsi256_si128(even)));
}

template <class Stored>
MARKONE_INLINE double dot(sparse_row<double, Stored> x, const double* w) {
    const __m256d zero = _mm256_setzero_pd();
    __m256d low = zero, high = zero;
    const auto add = [&](__m256d& lanes, __m128i at, __m256d values, __m256d mask) {
        lanes = _mm256_add_pd(lanes, _mm256_mul_pd(_mm256_mask_i32gather_pd(zero, w, at, mask, 8), values));
    };
    const auto add_four = [&](__m256d& lanes, std::size_t i) {
        add(lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(x.index + i)), four_doubles(x.values + i),
            _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
    };
    const auto add_first = [&](__m256d& lanes, std::size_t i, std::size_t count) {
        const __m128i narrow = _mm256_castsi256_si128(first_lanes(count));
        const __m256i wide = _mm256_cvtepi32_epi64(narrow);
        add(lanes, _mm_maskload_epi32(reinterpret_cast<const int*>(x.index + i), narrow),
            first_doubles(x.values + i, count, wide), _mm256_castsi256_pd(wide));
    };
    std::size_t i = 0;
    for (; i + 8 <= x.size(); i += 8) {
        add_four(low, i);
        add_four(high, i + 4);
    }
    if (i < x.size()) add_first(low, i, std::min(x.size() - i, std::size_t{4}));
    if (i + 4 < x.size()) add_first(high, i + 4, x.size() - i - 4);
    return folded(low, high);
}

MARKONE_INLINE double dot(sparse_row<float> x, const double* w) {
    const __m256d zero = _mm256_setzero_pd();
    __m256d low = zero, high = zero;
    const auto add = [&](__m256d& lanes, __m128i at, __m128 values, __m256d mask) {
        const __m256d weights = _mm256_mask_i32gather_pd(zero, w, at, mask, 8);
        lanes = _mm256_add_pd(lanes, _mm256_mul_pd(weights, _mm256_cvtps_pd(values)));
    };
    const auto half_mask = [](__m128i four) { return _mm256_castsi256_pd(_mm256_cvtepi32_epi64(four)); };
    each_eight(x, [&](__m256i at, __m256 values, __m256 mask) {
        const __m256i lanes = _mm256_castps_si256(mask);
        add(low, _mm256_castsi256_si128(at), _mm256_castps256_ps128(values), half_mask(_mm256_castsi256_si128(lanes)));
        add(high, _mm256_extracti128_si256(at, 1), _mm256_extractf128_ps(values, 1),
            half_mask(_mm256_extracti128_si256(lanes, 1)));
    });
    return folded(low, high);
}

MARKONE_INLINE double exact_dot(sparse_row<float> x, const float* w) {
    const __m256 zero = _mm256_setzero_ps();
    __m256d low = _mm256_setzero_pd(), high = low;
    const auto wide_low = [](__m256 eight) { return _mm256_cvtps_pd(_mm256_castps256_ps128(eight)); };
    const auto wide_high = [](__m256 eight) { return _mm256_cvtps_pd(_mm256_extractf128_ps(eight, 1)); };
    const auto add = [&](__m256i at, __m256 values, __m256 mask) {
        const __m256 weights = _mm256_mask_i32gather_ps(zero, w, at, mask, 4);
        low = _mm256_add_pd(low, _mm256_mul_pd(wide_low(weights), wide_low(values)));
        high = _mm256_add_pd(high, _mm256_mul_pd(wide_high(weights), wide_high(values)));
    };
    each_eight(x, add);
    return folded(low, high);
}

// a[0] * b[0] + ... + a[n-1] * b[n-1], as sum<8 * registers> adds it. The compiler would add the last products one by
// one, in memory.
template <std::size_t registers, class A, class B>
MARKONE_INLINE float added_products(const A* a, const B* b, std::size_t n, float) {
    __m256 part[registers];
    for (auto& lanes : part) lanes = _mm256_setzero_ps();
    const auto add = [](__m256& lanes, __m256 x, __m256 y) { lanes = _mm256_add_ps(lanes, _mm256_mul_ps(x, y)); };
    std::size_t i = 0;
    for (; i + 8 * registers <= n; i += 8 * registers)
        for (std::size_t r = 0; r < registers; ++r)
            add(part[r], eight_floats(a + i + 8 * r), eight_floats(b + i + 8 * r));
    for (std::size_t r = 0; r < registers && i < n; ++r, i += 8) {
        const std::size_t left = std::min(n - i, std::size_t{8});
        if (left == 8) {
            add(part[r], eight_floats(a + i), eight_floats(b + i));
        } else {
            const __m256i mask = first_lanes(left);
            add(part[r], first_floats(a + i, left, mask), first_floats(b + i, left, mask));
        }
    }
    for (std::size_t width = registers / 2; width > 0; width /= 2)
        for (std::size_t r = 0; r < width; ++r) part[r] = _mm256_add_ps(part[r], part[r + width]);
    return folded(part[0]);
}
template <std::size_t registers, class A, class B>
MARKONE_INLINE double added_products(const A* a, const B* b, std::size_t n, double) {
    __m256d part[2 * registers];
    for (auto& lanes : part) lanes = _mm256_setzero_pd();
    const auto add = [](__m256d& lanes, __m256d x, __m256d y) { lanes = _mm256_add_pd(lanes, _mm256_mul_pd(x, y)); };
    std::size_t i = 0;
    for (; i + 8 * registers <= n; i += 8 * registers)
        for (std::size_t r = 0; r < 2 * registers; ++r)
            add(part[r], four_doubles(a + i + 4 * r), four_doubles(b + i + 4 * r));
    for (std::size_t r = 0; r < 2 * registers && i < n; ++r, i += 4) {
        const std::size_t left = std::min(n - i, std::size_t{4});
        if (left == 4) {
            add(part[r], four_doubles(a + i), four_doubles(b + i));
        } else {
            const __m256i mask = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(first_lanes(left)));
            add(part[r], first_doubles(a + i, left, mask), first_doubles(b + i, left, mask));
        }
    }
    for (std::size_t width = registers; width > 1; width /= 2)
        for (std::size_t r = 0; r < width; ++r) part[r] = _mm256_add_pd(part[r], part[r + width]);
    return folded(part[0], part[1]);
}

template <class Sum, class A, class B>
MARKONE_INLINE Sum sum_of_products(const A* a, const B* b, std::size_t n) {
    return n < 64 ? added_products<1>(a, b, n, Sum{}) : added_products<4>(a, b, n, Sum{});
}
#else
template <class Sum, class A, class B>
MARKONE_INLINE Sum sum_of_products(const A* a, const B* b, std::size_t n) {
    return sum_straight<Sum>(n, [&](std::size_t i) { return static_cast<Sum>(a[i]) * static_cast<Sum>(b[i]); });
}

template <class T, class Stored>
MARKONE_INLINE T dot(sparse_row<T, Stored> x, const T* w) {
    return sum<8, T>(x.size(), [&](std::size_t i) { return w[x.feature(i)] * x.value(i); });
}

MARKONE_INLINE double dot(sparse_row<float> x, const double* w) {
    return sum<8, double>(x.size(), [&](std::size_t i) { return w[x.feature(i)] * double{x.value(i)}; });
}

MARKONE_INLINE double exact_dot(sparse_row<float> x, const float* w) {
    return sum<8, double>(x.size(), [&](std::size_t i) { return double{w[x.feature(i)]} * double{x.value(i)}; });
}
#endif

template <class T>
MARKONE_INLINE T dot(dense_row<T> x, const T* w) {
    return sum_of_products<T>(x.values, w, x.size());
}
MARKONE_INLINE double dot(dense_row<float> x, const double* w) {
    return sum_of_products<double>(x.values, w, x.size());
}

template <class Row>
MARKONE_INLINE auto length2(Row x) {
    return sum_of_products<typename Row::scalar>(x.values, x.values, x.size());
}

MARKONE_INLINE double exact_dot(dense_row<float> x, const float* w) {
    return sum_of_products<double>(x.values, w, x.size());
}
template <class Row>
MARKONE_INLINE double exact_dot(Row x, const double* w) {
    return dot(x, w);
}

// Class scores: sums over the row's features for neighbouring columns at once, in packs as wide as a register. Even and
// odd positions of the row are added separately, which halves the chain of dependent additions.
#if defined(__AVX2__)
constexpr std::size_t register_bytes = 32;
#else
constexpr std::size_t register_bytes = 16;
#endif

template <class T, std::size_t N>
struct pack_of {
    typedef T type __attribute__((vector_size(N * sizeof(T))));
};

// Fills a pack of N sums with weights. Compilers for x86 would convert floats to doubles one by one.
template <std::size_t N, class Pack, class T>
MARKONE_INLINE void load(const T* from, Pack& pack) {
    if constexpr (sizeof pack == N * sizeof(T)) std::memcpy(&pack, from, sizeof pack);
#if defined(__AVX2__)
    else if constexpr (N == 4)
        pack = _mm256_cvtps_pd(_mm_loadu_ps(from));
#elif defined(__SSE2__)
    else if constexpr (N == 2)
        pack = _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
    else
        for (std::size_t lane = 0; lane < N; ++lane) pack[lane] = from[lane];
}

template <class Sum, std::size_t packs, std::size_t N>
struct column_sums {
    typename pack_of<Sum, N>::type part[2][packs + 1] = {};  // one more than used: C++ has no empty arrays

    template <class W, class T>
    MARKONE_INLINE void add(std::size_t side, const W* w, T x) {
        for (std::size_t p = 0; p < packs; ++p) {
            typename pack_of<Sum, N>::type lanes;
            load<N>(w + N * p, lanes);
            part[side][p] += lanes * static_cast<Sum>(x);
        }
    }
    MARKONE_INLINE void store(Sum* out) {
        for (std::size_t p = 0; p < packs; ++p) {
            part[0][p] += part[1][p];
            std::memcpy(out + N * p, &part[0][p], sizeof part[0][p]);
        }
    }
};

constexpr std::size_t features_ahead = 12;  // the weights of a feature are prefetched this many values ahead

template <std::size_t packs, bool tail, class T, class Stored, class W, class Sum>
MARKONE_INLINE void dots_of(sparse_row<T, Stored> x, const W* w, std::size_t stride, Sum* out) {
    constexpr std::size_t wide = register_bytes / sizeof(Sum);
    column_sums<Sum, packs, wide> most;
    column_sums<Sum, tail, 4> rest;
    const auto add = [&](std::size_t side, std::size_t i) {
        const W* from = w + x.feature(i) * stride;
        if (i + features_ahead < x.size()) {
            const char* const soon = reinterpret_cast<const char*>(w + x.feature(i + features_ahead) * stride);
            prefetch(soon);
            if constexpr ((packs * wide + 4 * tail) * sizeof(W) > 64) prefetch(soon + 64);
        }
        most.add(side, from, x.value(i));
        rest.add(side, from + packs * wide, x.value(i));
    };
    std::size_t i = 0;
    for (; i + 2 <= x.size(); i += 2) {
        add(0, i);
        add(1, i + 1);
    }
    if (i < x.size()) add(0, i);
    most.store(out);
    rest.store(out + packs * wide);
}

// Writes `stride` sums to `out`; it is a multiple of 4, and the sums of the padding are undefined. Not inlined, because
// in a large function the sums would not stay in registers.
template <class T, class Stored, class W, class Sum>
MARKONE_NOINLINE void dots(sparse_row<T, Stored> x, const W* w, std::size_t stride, Sum* out) {
    constexpr std::size_t wide = register_bytes / sizeof(Sum);
    if (x.size() == 0) {  // without any feature the pointer to the weights may be null
        std::fill_n(out, stride, Sum{0});
        return;
    }
    std::size_t left = stride;
    for (; left >= 4 * wide; left -= 4 * wide, w += 4 * wide, out += 4 * wide) dots_of<4, false>(x, w, stride, out);
    const bool tail = left % wide != 0;  // half a register: four floats of eight
    switch (left / wide) {
        case 0: return tail ? dots_of<0, true>(x, w, stride, out) : void();
        case 1: return tail ? dots_of<1, true>(x, w, stride, out) : dots_of<1, false>(x, w, stride, out);
        case 2: return tail ? dots_of<2, true>(x, w, stride, out) : dots_of<2, false>(x, w, stride, out);
        case 3: return tail ? dots_of<3, true>(x, w, stride, out) : dots_of<3, false>(x, w, stride, out);
        default: return;
    }
}

// If there are many columns, a dense row is first packed into its features that are not zero, because most rows
// of images or counts are mostly zeros. A sparse row is used without changes.
template <class T>
class packer {
  public:
    template <class Stored>
    MARKONE_INLINE sparse_row<T, Stored> operator()(sparse_row<T, Stored> x) {
        return x;
    }
    MARKONE_INLINE sparse_row<T> operator()(dense_row<T> x) {
        if (index.size() < x.size() + 8) {
            values.resize(x.size() + 8);
            index.resize(x.size() + 8);  // resized last, because its size shows that there is room
        }
        std::size_t count = 0;
        for (std::size_t i = pack_eights(x, count); i < x.size(); ++i) {
            index[count] = static_cast<std::uint32_t>(i);
            values[count] = x.value(i);
            count += x.value(i) != 0;
        }
        return {index.data(), values.data(), count};
    }

  private:
    // Packs eight values at a time if the processor can; returns the number of values that were read.
    std::size_t pack_eights(dense_row<T> x, std::size_t& count) {
        std::size_t i = 0;
#if defined(__AVX2__)
        if constexpr (sizeof(T) == 4) {
            for (; i + 8 <= x.size(); i += 8) {
                const __m256 eight = _mm256_loadu_ps(x.values + i);
                const __m256 differs = _mm256_cmp_ps(eight, _mm256_setzero_ps(), _CMP_NEQ_UQ);
                const auto found = static_cast<unsigned>(_mm256_movemask_ps(differs));
                const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(packing[found].data()));
                const __m256i lanes = _mm256_cvtepu8_epi32(bytes);
                _mm256_storeu_ps(values.data() + count, _mm256_permutevar8x32_ps(eight, lanes));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(index.data() + count),
                                    _mm256_add_epi32(lanes, _mm256_set1_epi32(static_cast<int>(i))));
                count += static_cast<std::size_t>(std::popcount(found));
            }
        }
#else
        static_cast<void>(x);
        static_cast<void>(count);
#endif
        return i;
    }

    // For each set of lanes, the numbers of its lanes.
    static constexpr auto packing = [] {
        std::array<std::array<std::uint8_t, 8>, 256> all{};
        for (unsigned set = 0; set < 256; ++set)
            for (std::uint8_t lane = 0, next = 0; lane < 8; ++lane)
                if ((set >> lane & 1) != 0) all[set][next++] = lane;
        return all;
    }();

    std::vector<std::uint32_t> index;
    std::vector<T> values;
};

}  // namespace markone::MARKONE_LEVEL

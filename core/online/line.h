// Numbers side by side, one for each of some runs of an online rule.
//
// Each run rounds as a learner does that is alone: a line of numbers takes the place of a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/exponential.h"
#include "base/memory.h"
#include "online/rules.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

// A whole number for each run, or an answer: yes is -1, as processors compare.
template <class T>
using whole_like = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
struct line;
template <class T>
using whole_line = line<whole_like<T>>;

// A number for each run, which computes as one number does (rules.h). Together they fill a line of the cache, so that
// the weights of a feature are fetched at once.
template <class T>
struct line {
    static constexpr std::size_t lanes = table_allocator<T>::cache_line / sizeof(T);
    static constexpr std::size_t width = register_bytes / sizeof(T), registers = lanes / width;
    using pack = typename pack_of<T, width>::type;
    using answer = whole_line<T>;

    alignas(table_allocator<T>::cache_line) pack part[registers];

    line() = default;
    MARKONE_INLINE line(T value) {
        for (pack& one : part) one = value - pack{};  // which is value, even where that is -0
    }
    T operator[](std::size_t lane) const { return part[lane / width][lane % width]; }
    void set(std::size_t lane, T value) { part[lane / width][lane % width] = value; }

    MARKONE_INLINE friend line operator+(const line& a, const line& b) {
        return each([&](std::size_t r) { return a.part[r] + b.part[r]; });
    }
    MARKONE_INLINE friend line operator-(const line& a, const line& b) {
        return each([&](std::size_t r) { return a.part[r] - b.part[r]; });
    }
    MARKONE_INLINE friend line operator*(const line& a, const line& b) {
        return each([&](std::size_t r) { return a.part[r] * b.part[r]; });
    }
    MARKONE_INLINE friend line operator/(const line& a, const line& b) {
        return each([&](std::size_t r) { return a.part[r] / b.part[r]; });
    }
    MARKONE_INLINE friend line operator&(const line& a, const line& b) {
        return each([&](std::size_t r) { return a.part[r] & b.part[r]; });
    }
    MARKONE_INLINE friend line operator-(const line& a) {
        return each([&](std::size_t r) { return -a.part[r]; });
    }
    MARKONE_INLINE friend line operator!(const line& a) {
        return each([&](std::size_t r) { return ~a.part[r]; });
    }
    MARKONE_INLINE friend answer operator<(const line& a, const line& b) {
        return answer::each([&](std::size_t r) { return a.part[r] < b.part[r]; });
    }
    MARKONE_INLINE friend answer operator>(const line& a, const line& b) { return b < a; }
    MARKONE_INLINE friend answer operator>=(const line& a, const line& b) {
        return answer::each([&](std::size_t r) { return a.part[r] >= b.part[r]; });
    }
    MARKONE_INLINE friend answer operator==(const line& a, const line& b) {
        return answer::each([&](std::size_t r) { return a.part[r] == b.part[r]; });
    }
    MARKONE_INLINE friend answer operator!=(const line& a, const line& b) {
        return answer::each([&](std::size_t r) { return a.part[r] != b.part[r]; });
    }
    MARKONE_INLINE friend line choose(const answer& which, const line& one, const line& other) {
        return each([&](std::size_t r) { return which.part[r] ? one.part[r] : other.part[r]; });
    }
    // Whether any answer is yes.
    MARKONE_INLINE friend bool any(const line& answers) {
        pack some = answers.part[0];
        for (std::size_t r = 1; r < registers; ++r) some |= answers.part[r];
        std::uint64_t words[register_bytes / 8], found = 0;
        std::memcpy(words, &some, sizeof words);
        for (const std::uint64_t word : words) found |= word;
        return found != 0;
    }
    MARKONE_INLINE friend line exponential(const line& x) {
        T numbers[lanes];
        std::memcpy(numbers, x.part, sizeof numbers);
        for (T& one : numbers) one = markone::exponential(one);
        line result;
        std::memcpy(result.part, numbers, sizeof numbers);
        return result;
    }

    template <class Make>
    MARKONE_INLINE static line each(Make make) {
        line result;
        for (std::size_t r = 0; r < registers; ++r) result.part[r] = make(r);
        return result;
    }
};

template <class T>
MARKONE_INLINE line<T> size_of(const line<T>& number) {
    return larger(number, -number);
}

// Adds partial sums as `fold` does; the first of them becomes the result.
template <std::size_t count, class T>
MARKONE_INLINE void fold_lines(line<T>* sums) {
    for (std::size_t half = count / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i)
            for (std::size_t r = 0; r < line<T>::registers; ++r) sums[i].part[r] += sums[i + half].part[r];
}

}  // namespace markone::MARKONE_LEVEL

// Bytes of texts, many at a time: where words and signs are among 64 characters of ASCII, and where a text is ASCII.
//
// Everything is inlined, because the same header is compiled for several levels of processors (levels/levels.h).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/portable.h"

namespace markone::ascii {

constexpr std::size_t group = 64;

// A bit for each character of a group.
struct group_bits {
    std::uint64_t words, signs;
};

#if defined(__AVX2__)
struct lanes {
    static constexpr std::size_t size = 32;
    __m256i bytes;

    MARKONE_INLINE static lanes load(const char* from) {
        return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
    }
    MARKONE_INLINE static lanes all(char byte) { return {_mm256_set1_epi8(byte)}; }
    MARKONE_INLINE void store(char* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes); }
    MARKONE_INLINE lanes operator|(lanes other) const { return {_mm256_or_si256(bytes, other.bytes)}; }
    MARKONE_INLINE lanes operator&(lanes other) const { return {_mm256_and_si256(bytes, other.bytes)}; }
    // All bits of each byte that is one from `first` to `last`.
    MARKONE_INLINE lanes between(char first, char last) const {
        const __m256i above = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
        const __m256i most = _mm256_set1_epi8(static_cast<char>(last - first));
        return {_mm256_cmpeq_epi8(_mm256_min_epu8(above, most), above)};
    }
    // The highest bit of each byte.
    MARKONE_INLINE std::uint64_t highest() const { return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes)); }
};
#elif defined(__SSE2__)
struct lanes {
    static constexpr std::size_t size = 16;
    __m128i bytes;

    MARKONE_INLINE static lanes load(const char* from) {
        return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))};
    }
    MARKONE_INLINE static lanes all(char byte) { return {_mm_set1_epi8(byte)}; }
    MARKONE_INLINE void store(char* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }
    MARKONE_INLINE lanes operator|(lanes other) const { return {_mm_or_si128(bytes, other.bytes)}; }
    MARKONE_INLINE lanes operator&(lanes other) const { return {_mm_and_si128(bytes, other.bytes)}; }
    MARKONE_INLINE lanes between(char first, char last) const {
        const __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
        const __m128i most = _mm_set1_epi8(static_cast<char>(last - first));
        return {_mm_cmpeq_epi8(_mm_min_epu8(above, most), above)};
    }
    MARKONE_INLINE std::uint64_t highest() const { return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)); }
};
#else
// Eight bytes in a number. Only for ASCII, whose bytes have a highest bit that is free.
struct lanes {
    static constexpr std::size_t size = 8;
    std::uint64_t bytes;

    static constexpr std::uint64_t each(unsigned byte) { return 0x0101010101010101u * byte; }

    MARKONE_INLINE static lanes load(const char* from) {
        lanes eight;
        std::memcpy(&eight.bytes, from, size);
        return eight;
    }
    MARKONE_INLINE static lanes all(char byte) { return {each(static_cast<unsigned char>(byte))}; }
    MARKONE_INLINE void store(char* to) const { std::memcpy(to, &bytes, size); }
    MARKONE_INLINE lanes operator|(lanes other) const { return {bytes | other.bytes}; }
    MARKONE_INLINE lanes operator&(lanes other) const { return {bytes & other.bytes}; }
    MARKONE_INLINE lanes between(char first, char last) const {
        const auto from = static_cast<unsigned char>(first), to = static_cast<unsigned char>(last);
        const std::uint64_t found = (bytes + each(0x80u - from)) & ~(bytes + each(0x7fu - to)) & each(0x80);
        return {(found >> 7) * 0xff};
    }
    MARKONE_INLINE std::uint64_t highest() const { return ((bytes & each(0x80)) >> 7) * 0x0102040810204080u >> 56; }
};
#endif

// The first 64 bytes of a text; if it is shorter, a copy of them with zeros at the end.
MARKONE_INLINE const char* whole_group(std::string_view text, std::array<char, group>& room) {
    if (text.size() >= group) return text.begin();
    room.fill(0);
    std::copy(text.begin(), text.end(), room.begin());
    return room.data();
}

// Reads 64 characters of ASCII, and writes them, optionally in lower case.
MARKONE_INLINE group_bits look_at_group(const char* from, char* to, bool fold, bool with_signs) {
    group_bits found{0, 0};
    for (std::size_t at = 0; at < group; at += lanes::size) {
        const lanes some = lanes::load(from + at), lower = some | lanes::all(0x20);
        const lanes letters = lower.between('a', 'z');
        const std::uint64_t words = (letters | some.between('0', '9')).highest();
        found.words |= words << at;
        if (with_signs) found.signs |= (some.between('!', '~').highest() & ~words) << at;
        (fold ? some | (letters & lanes::all(0x20)) : some).store(to + at);
    }
    return found;
}
// The same for the start of a text, which may be shorter; after its end there are gaps.
MARKONE_INLINE group_bits look_at_start(std::string_view text, char* to, bool fold, bool with_signs) {
    std::array<char, group> room;
    const char* const from = whole_group(text, room);
    return look_at_group(from, to, fold, with_signs);
}

// Which of up to 64 bytes are not ASCII.
MARKONE_INLINE std::uint64_t others_at_start(std::string_view text) {
    std::array<char, group> room;
    const char* const from = whole_group(text, room);
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < group; at += lanes::size) found |= lanes::load(from + at).highest() << at;
    return found;
}

// Where the first group that is ASCII, or is not, starts; groups are counted from `from`.
MARKONE_INLINE std::size_t first_group(std::string_view text, std::size_t from, bool of_ascii) {
    while (from < text.size() && (others_at_start(text.substr(from, group)) == 0) != of_ascii) from += group;
    return std::min(from, text.size());
}

MARKONE_INLINE bool is_all(std::string_view text) {
    return first_group(text, 0, false) == text.size();
}

// Calls use(stretch, is_ascii) for one stretch of the text after the other. A stretch ends before a space or at the
// end of the text, because tokens never depend on what is beyond a space. Stretches with other characters may contain
// some words of ASCII, so that they are not too short.
template <class Use>
MARKONE_INLINE void each_stretch(std::string_view text, Use use) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t near = first_group(text, begin, false);
        if (near == text.size()) return use(text.substr(begin), true);
        const std::size_t other =
            near + static_cast<std::size_t>(std::countr_zero(others_at_start(text.substr(near, group))));
        const std::size_t space = text.substr(begin, other - begin).rfind(' ');
        const std::size_t start = space == text.npos ? begin : begin + space;
        if (start > begin) use(text.substr(begin, start - begin), true);
        begin = std::min(text.find(' ', first_group(text, other, true)), text.size());
        use(text.substr(start, begin - start), false);
    }
}

}  // namespace markone::ascii

// Decimal numbers -> the nearest doubles, correctly rounded in every locale.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>

namespace markone {

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Reads the digits at `at`, and returns the place after them. A number of up to nine digits is right.
inline const char* read_whole(const char* at, const char* end, std::uint32_t& value) {
    constexpr std::size_t at_once = 8;
    if (std::endian::native == std::endian::little && static_cast<std::size_t>(end - at) >= at_once) {
        std::uint64_t bytes;
        std::memcpy(&bytes, at, at_once);
        const std::uint64_t numbers = bytes ^ 0x3030303030303030;  // digits become 0 to 9, all other bytes more
        const std::uint64_t others = ((numbers + 0x7676767676767676) | numbers) & 0x8080808080808080;
        const int bits = std::countr_zero(others) & ~7;
        if (bits > 0 && bits < 64) {
            // The digits move to the end, with zeros before them. Neighbours are joined to pairs, and these all at
            // once.
            std::uint64_t joined = numbers << (64 - bits);
            joined = 10 * joined + (joined >> 8);
            constexpr std::uint64_t pairs = 0x000000ff000000ff;
            joined = (joined & pairs) * 0x000f424000000064 + ((joined >> 16) & pairs) * 0x0000271000000001;
            value = static_cast<std::uint32_t>(joined >> 32);
            return at + bits / 8;
        }
    }
    for (value = 0; at != end && is_digit(*at); ++at) value = 10 * value + static_cast<std::uint32_t>(*at - '0');
    return at;
}

enum class number_fault : std::uint8_t { none, not_a_number, not_finite, out_of_range };

// Reads the whole text as a number: 1, -2.5, +.5, 3e-7. Infinity is an error, and so are numbers that a double can only
// hold as infinity or, if they are not zero, as zero.
inline number_fault read_number(std::string_view text, double& value) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::invalid_argument || stop != end) return number_fault::not_a_number;
    const char first = text[text.starts_with('-') ? 1 : 0];
    if (!is_digit(first) && first != '.') return number_fault::not_finite;
    // Not every library reports underflow to zero as an error.
    const bool vanished = value == 0 && text.find_first_of("123456789") < text.find_first_of("eE");
    if (error == std::errc::result_out_of_range || vanished) return number_fault::out_of_range;
    return number_fault::none;
}

// Reads a short number at `at`, and returns the place after it, or nullptr if there is none or it is longer.
// A short number has up to 15 digits and a point: a whole number below 2^53, divided by a power of ten, which is exact
// as a double. One division of exact numbers is correctly rounded (Clinger 1990): the result is that of read_number.
inline const char* read_short_number(const char* at, const char* end, double& value) {
    static constexpr double power_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    constexpr std::ptrdiff_t longest = 15;
    const bool negative = at != end && *at == '-';
    at += negative;
    const char* const first = at;
    std::uint64_t digits = 0;
    const auto read_digits = [&] {
        for (; at != end && is_digit(*at); ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    };
    read_digits();
    std::ptrdiff_t count = at - first, decimals = 0;
    if (at != end && *at == '.') {
        const char* const point = at++;
        read_digits();
        decimals = at - point - 1;
        count += decimals;
    }
    if (count == 0 || count > longest) return nullptr;
    const auto whole = static_cast<double>(digits);
    const double size = decimals == 0 ? whole : whole / power_of_ten[decimals];
    value = negative ? -size : size;
    return at;
}

}  // namespace markone

// Decimal numbers -> the nearest doubles, correctly rounded in every locale.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace markone {

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
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

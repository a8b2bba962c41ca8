// Numbers from decimals, and sums in two doubles.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/double_double.h"
#include "base/numbers.h"
#include "base/order.h"
#include "tests/check.h"

namespace {

using namespace markone;

number_fault fault_of(std::string_view text) {
    double value = 0;
    return read_number(text, value);
}
double number_of(std::string_view text) {
    double value = std::nan("");
    return read_number(text, value) == number_fault::none ? value : std::nan("");
}

TEST(numbers_are_read) {
    CHECK(number_of("1") == 1 && number_of("-2.5") == -2.5 && number_of("+.5") == 0.5 && number_of("5.") == 5);
    CHECK(number_of("3e-7") == 3e-7 && number_of("1E3") == 1000 && number_of("0e-400") == 0);
    CHECK(std::signbit(number_of("-0")));
    CHECK(number_of("1.7976931348623157e308") == 0x1.fffffffffffffp1023);
    CHECK(number_of("5e-324") == 0x1p-1074);
    CHECK(number_of("9007199254740993") == 9007199254740992);  // half-way, to even
}

TEST(what_is_no_number_is_refused) {
    for (const char* text : {"", "+", "-", ".", "+-1", "--1", "1x", " 1", "1 ", "1e", "0x10", "1,5", "e5"})
        CHECK(fault_of(text) == number_fault::not_a_number);
    for (const char* text : {"inf", "-inf", "nan", "-nan", "infinity", "+inf"})
        CHECK(fault_of(text) == number_fault::not_finite);
    for (const char* text : {"1e309", "-1e309", "1e-400", "0.001e-400"})
        CHECK(fault_of(text) == number_fault::out_of_range);
}

TEST(short_numbers_are_the_same_numbers) {
    random_bits random(1);
    for (int i = 0; i < 20000; ++i) {
        std::string text = random.below(2) != 0 ? "-" : "";
        const std::size_t digits = 1 + random.below(15), point = random.below(digits + 2);
        for (std::size_t at = 0; at < digits; ++at) {
            if (at == point) text += '.';
            text += static_cast<char>('0' + random.below(10));
        }
        double value = 0;
        CHECK(read_short_number(text.data(), text.data() + text.size(), value) == text.data() + text.size());
        CHECK(value == number_of(text) && std::signbit(value) == std::signbit(number_of(text)));
    }
}

TEST(whole_numbers_are_the_same_at_every_length) {
    for (std::uint32_t number : {0u, 7u, 42u, 512u, 4711u, 65536u, 999999u, 1234567u, 12345678u, 987654321u})
        for (const std::string after :
             {"", ":1", " ", ":12345678", "x", "\xff\xff\xff\xff\xff\xff\xff\xff", "/0", ";9"}) {
            const std::string digits = std::to_string(number), text = digits + after;
            std::uint32_t value = 1;
            const char* const stop = read_whole(text.data(), text.data() + text.size(), value);
            CHECK(stop == text.data() + digits.size());
            CHECK(value == number);
        }
    std::uint32_t value = 1;
    const std::string none = ":1234567890";
    CHECK(read_whole(none.data(), none.data() + none.size(), value) == none.data());
}

TEST(short_numbers_end_where_they_end) {
    const auto length = [](std::string_view text) {
        double value = 0;
        const char* const stop = read_short_number(text.data(), text.data() + text.size(), value);
        return stop == nullptr ? -1 : stop - text.data();
    };
    CHECK(length("12:5") == 2 && length("1e5") == 1 && length("1.5.5") == 3 && length("7") == 1);
    CHECK(length("") == -1 && length("-") == -1 && length(".") == -1 && length("x") == -1 && length("+1") == -1);
    CHECK(length("123456789012345") == 15 && length("1234567890123456") == -1);
    CHECK(length("12345678901234.5") == 16 && length("99999999999999999999999999") == -1);
}

TEST(products_are_exact_in_two_doubles) {
    __extension__ using whole = __int128;
    random_bits random(2);
    for (int i = 0; i < 20000; ++i) {
        const auto a = static_cast<std::int64_t>(random.next() >> 11),
                   b = static_cast<std::int64_t>(random.next() >> 11);
        const twofold product = multiply_exactly(static_cast<double>(a), static_cast<double>(b));
        CHECK(static_cast<whole>(product.high) + static_cast<whole>(product.low) == static_cast<whole>(a) * b);
    }
}

TEST(what_is_added_can_be_taken_away) {
    random_bits random(3);
    std::vector<double> numbers;
    for (int i = 0; i < 1000; ++i)
        numbers.push_back(
            std::ldexp(static_cast<double>(random.below(1 << 24)), static_cast<int>(random.below(40)) - 20));
    twofold sum;
    for (const double number : numbers) sum = sum + number;
    for (const double number : numbers) sum = sum + -number;
    CHECK(sum.high == 0 && sum.low == 0);
}

TEST(small_parts_are_kept) {
    const twofold sum = twofold{1, 0} + 0x1p-80;
    CHECK(sum.high == 1 && sum.low == 0x1p-80);
    const twofold rest = sum - twofold{1, 0};
    CHECK(rest.high == 0x1p-80 && rest.low == 0);
    const twofold twice = sum * 2;
    CHECK(twice.high == 2 && twice.low == 0x1p-79);
    const twofold squared = square(twofold{1, 0x1p-60});
    CHECK(squared.high == 1 && squared.low == 0x1p-59);
}

}  // namespace

// UTF-8 and tokens.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/order.h"
#include "tests/check.h"
#include "text/text.h"

namespace {

using namespace markone;

// The number of bytes of the first character; 0 if the bytes are not UTF-8. This is table 3-7 of the
// Unicode standard.
std::size_t length_of(std::string_view bytes) {
    struct form {
        std::size_t length;
        unsigned first, last, second_first, second_last;
    };
    constexpr form forms[] = {{2, 0xc2, 0xdf, 0x80, 0xbf}, {3, 0xe0, 0xe0, 0xa0, 0xbf}, {3, 0xe1, 0xec, 0x80, 0xbf},
                              {3, 0xed, 0xed, 0x80, 0x9f}, {3, 0xee, 0xef, 0x80, 0xbf}, {4, 0xf0, 0xf0, 0x90, 0xbf},
                              {4, 0xf1, 0xf3, 0x80, 0xbf}, {4, 0xf4, 0xf4, 0x80, 0x8f}};
    const auto between = [&](std::size_t at, unsigned first, unsigned last) {
        return at < bytes.size() && static_cast<unsigned char>(bytes[at]) >= first &&
               static_cast<unsigned char>(bytes[at]) <= last;
    };
    if (between(0, 0, 0x7f)) return 1;
    for (const form& one : forms) {
        if (!between(0, one.first, one.last)) continue;
        bool good = between(1, one.second_first, one.second_last);
        for (std::size_t at = 2; at < one.length; ++at) good = good && between(at, 0x80, 0xbf);
        return good ? one.length : 0;
    }
    return 0;
}

TEST(every_character_is_read_as_it_is_written) {
    std::array<char, 12> bytes;
    for (std::uint32_t point = 0; point <= 0x10ffff; ++point) {
        const char* const end = characters::all().write(point, false, bytes.data());
        const char* at = bytes.data();
        const std::uint32_t read = characters::decode(at, end);
        const bool half_of_a_pair = point >= 0xd800 && point < 0xe000;
        if (half_of_a_pair ? read != characters::none : read != point || at != end) CHECK(!"a character is another");
    }
}

TEST(what_is_no_utf8_is_passed_over_by_one_byte) {
    // Bytes at which the rules change.
    constexpr std::string_view edges(
        "\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff", 24);
    std::size_t wrong = 0;
    for (const char a : edges)
        for (const char b : edges)
            for (const char c : edges)
                for (const char d : edges) {
                    const std::array<char, 4> bytes{a, b, c, d};
                    for (std::size_t size = 1; size <= 4; ++size) {
                        const std::size_t length = length_of({bytes.data(), size});
                        const char* at = bytes.data();
                        const std::uint32_t point = characters::decode(at, bytes.data() + size);
                        const auto read = static_cast<std::size_t>(at - bytes.data());
                        wrong += (point == characters::none) != (length == 0) || read != (length == 0 ? 1 : length);
                    }
                }
    CHECK(wrong == 0);
}

std::vector<std::string> tokens_of(std::string_view text, const token_settings& how) {
    std::vector<std::string> tokens;
    tokenizer cut(how);
    cut(text, [&](std::string_view token, characters::kind) { tokens.emplace_back(token); });
    return tokens;
}

TEST(ascii_is_cut_like_any_text) {
    random_bits random(1);
    constexpr std::string_view some = "aZ09 .-\n\x7f~!_";
    for (const bool signs : {false, true})
        for (std::size_t size = 0; size < 300; ++size) {
            std::string text;
            for (std::size_t i = 0; i < size; ++i) text += some[random.below(some.size())];
            const token_settings how{true, signs};
            std::vector<std::string> with_more = tokens_of(text + " \xc3\xa9", how);
            CHECK(with_more.back() == "\xc3\xa9");
            with_more.pop_back();
            CHECK(tokens_of(text, how) == with_more);
            CHECK(tokenizer(how).places(text).size() == with_more.size());
        }
}

TEST(bytes_that_are_no_text_separate) {
    CHECK(tokens_of("a\xff"
                    "b\xc3",
                    {}) == std::vector<std::string>{"a", "b"});
    CHECK(tokens_of("\xc3\x89t\xc3\xa9", {}) == std::vector<std::string>{"\xc3\xa9t\xc3\xa9"});
    CHECK(tokens_of("", {}).empty() && tokens_of("\x80\x80", {}).empty());
}

}  // namespace

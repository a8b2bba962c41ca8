// UTF-8 text -> tokens: runs of letters, digits and marks of any script and, where asked for, single signs. What is not
// UTF-8 separates, like a space.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "unicode_tables.h"

namespace markone {

// What a character is to us, and its folded case.
class characters {
  public:
    enum kind : std::uint8_t { gap, word, sign };
    static constexpr std::uint32_t none = 0xffffffff;

    static const characters& all() {
        static const characters one;
        return one;
    }

    kind of(std::uint32_t point) const { return point < kinds.size() ? kinds[point] : gap; }

    static bool is_capital(std::uint32_t point) {
        const auto* const after =
            std::upper_bound(std::begin(unicode::capitals), std::end(unicode::capitals), point,
                             [](std::uint32_t here, const unicode::range& range) { return here < range.first; });
        return after != std::begin(unicode::capitals) && point <= after[-1].last;
    }

    // Writes the character, folded if asked for, as UTF-8; returns the end. Needs room for 12 bytes.
    char* write(std::uint32_t point, bool folded, char* out) const {
        const std::uint16_t at = folded && point < folding_of.size() ? folding_of[point] : 0;
        if (at == 0) return encode(point, out);
        for (const std::uint32_t to : unicode::foldings[at - 1].to)
            if (to != 0) out = encode(to, out);
        return out;
    }

    // Reads the character at `from` and goes on behind it; `none`, and one byte on, where there is none.
    static std::uint32_t decode(const char*& from, const char* end) {
        const auto byte = [&](std::ptrdiff_t i) {
            return static_cast<std::uint32_t>(static_cast<unsigned char>(from[i]));
        };
        const std::uint32_t first = byte(0);
        const std::ptrdiff_t length = first < 0x80   ? 1
                                      : first < 0xc2 ? 0
                                      : first < 0xe0 ? 2
                                      : first < 0xf0 ? 3
                                      : first < 0xf5 ? 4
                                                     : 0;
        std::uint32_t point = length < 2 ? first : first & (0xffu >> (length + 1));
        bool good = length > 0 && end - from >= length;
        for (std::ptrdiff_t i = 1; good && i < length; ++i) {
            good = (byte(i) & 0xc0) == 0x80;
            point = point << 6 | (byte(i) & 0x3f);
        }
        // Longer than need be, half of a pair, or beyond the last.
        good = good && !(length == 3 && point < 0x800) && !(length == 4 && (point < 0x10000 || point > 0x10ffff)) &&
               !(point >= 0xd800 && point < 0xe000);
        from += good ? length : 1;
        return good ? point : none;
    }

  private:
    characters() : kinds(0x110000, gap) {
        for (const auto& [first, last] : unicode::words)
            for (std::uint32_t point = first; point <= last; ++point) kinds[point] = word;
        for (const auto& [first, last] : unicode::signs)
            for (std::uint32_t point = first; point <= last; ++point) kinds[point] = sign;
        kinds[0xfffd] = gap;  // what others put in the place of bytes that are no text
        std::uint16_t at = 0;
        for (const auto& folding : unicode::foldings) {
            if (folding.from >= folding_of.size()) folding_of.resize(folding.from + 1);
            folding_of[folding.from] = ++at;
        }
    }

    static char* encode(std::uint32_t point, char* out) {
        const auto put = [&](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
        if (point < 0x80) {
            put(point);
        } else if (point < 0x800) {
            put(0xc0 | point >> 6);
            put(0x80 | (point & 0x3f));
        } else if (point < 0x10000) {
            put(0xe0 | point >> 12);
            put(0x80 | (point >> 6 & 0x3f));
            put(0x80 | (point & 0x3f));
        } else {
            put(0xf0 | point >> 18);
            put(0x80 | (point >> 12 & 0x3f));
            put(0x80 | (point >> 6 & 0x3f));
            put(0x80 | (point & 0x3f));
        }
        return out;
    }

    std::vector<kind> kinds;
    std::vector<std::uint16_t> folding_of;  // place in unicode::foldings, from 1
};

struct token_settings {
    bool fold = true;    // case is of no account
    bool signs = false;  // each sign is a token
};

// Calls use(token, kind) for each token of the text in turn; the token's bytes are gone after the call.
class tokenizer {
  public:
    explicit tokenizer(const token_settings& how) : how(how) {
        for (std::uint32_t c = 0; c < 0x80; ++c) {
            ascii_kind[c] = characters::all().of(c);
            const bool upper = how.fold && c >= 'A' && c <= 'Z';
            ascii_folded[c] = static_cast<char>(upper ? c + ('a' - 'A') : c);
        }
    }

    template <class Use>
    void operator()(std::string_view text, Use use) {
        // No character grows to more than three times its bytes.
        if (buffer.size() < 3 * text.size() + 16) buffer.resize(3 * text.size() + 16);
        char* out = buffer.data();
        const auto finish = [&] {
            if (out == buffer.data()) return;
            use(std::string_view(buffer.data(), static_cast<std::size_t>(out - buffer.data())), characters::word);
            out = buffer.data();
        };
        const auto meet = [&](std::uint32_t point, characters::kind kind) {
            if (kind == characters::word) {
                out = characters::all().write(point, how.fold, out);
                return;
            }
            finish();
            if (kind == characters::sign && how.signs) {
                out = characters::all().write(point, how.fold, out);
                use(std::string_view(buffer.data(), static_cast<std::size_t>(out - buffer.data())), characters::sign);
                out = buffer.data();
            }
        };
        const char* at = text.data();
        const char* const end = at + text.size();
        while (at < end) {
            const auto byte = static_cast<unsigned char>(*at);
            if (byte < 0x80) {
                ++at;
                if (ascii_kind[byte] == characters::word)
                    *out++ = ascii_folded[byte];
                else
                    meet(byte, ascii_kind[byte]);
            } else {
                const std::uint32_t point = characters::decode(at, end);
                meet(point, characters::all().of(point));
            }
        }
        finish();
    }

  private:
    token_settings how;
    std::array<characters::kind, 0x80> ascii_kind;
    std::array<char, 0x80> ascii_folded;
    std::vector<char> buffer;
};

}  // namespace markone

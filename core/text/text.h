// UTF-8 text -> tokens: words of letters, digits and marks of any script and, optionally, single signs. Bytes that are
// not UTF-8 separate tokens like a space.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "text/byte_groups.h"
#include "text/unicode_tables.h"

namespace markone {

// The kind of each character, and its folded case.
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

    // Writes the character as UTF-8, optionally folded; returns the end. Needs room for 12 bytes.
    char* write(std::uint32_t point, bool folded, char* out) const {
        const std::uint16_t at = folded && point < folding_of.size() ? folding_of[point] : 0;
        if (at == 0) return encode(point, out);
        for (const std::uint32_t to : unicode::foldings[at - 1].to)
            if (to != 0) out = encode(to, out);
        return out;
    }

    // Reads the character at `from` and advances; for invalid bytes it returns `none` and advances by one byte.
    MARKONE_INLINE static std::uint32_t decode(const char*& from, const char* end) {
        const auto byte = [&](std::ptrdiff_t i) {
            return static_cast<std::uint32_t>(static_cast<unsigned char>(from[i]));
        };
        const std::uint32_t first = byte(0);
        if (first < 0x80) {
            ++from;
            return first;
        }
        if (first >= 0xc2 && first < 0xe0 && end - from >= 2 && (byte(1) & 0xc0) == 0x80) {
            const std::uint32_t point = (first & 0x1f) << 6 | (byte(1) & 0x3f);
            from += 2;
            return point;
        }
        if (first > 0xe0 && first < 0xed && end - from >= 3 && (byte(1) & 0xc0) == 0x80 && (byte(2) & 0xc0) == 0x80) {
            const std::uint32_t point = (first & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
            from += 3;
            return point;
        }
        return decode_any(from, end);
    }

  private:
    // Any character; those of ASCII, and most others of two or three bytes, have been read already.
    MARKONE_NOINLINE static std::uint32_t decode_any(const char*& from, const char* end) {
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
        // Too long an encoding, half of a surrogate pair, or beyond the last character.
        good = good && !(length == 3 && point < 0x800) && !(length == 4 && (point < 0x10000 || point > 0x10ffff)) &&
               !(point >= 0xd800 && point < 0xe000);
        from += good ? length : 1;
        return good ? point : none;
    }

    characters() : kinds(0x110000, gap) {
        for (const auto& [first, last] : unicode::words)
            for (std::uint32_t point = first; point <= last; ++point) kinds[point] = word;
        for (const auto& [first, last] : unicode::signs)
            for (std::uint32_t point = first; point <= last; ++point) kinds[point] = sign;
        kinds[0xfffd] = gap;  // the usual replacement for invalid bytes
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
    bool fold = true;    // ignore case
    bool signs = false;  // each sign is a token
};

// A place in a text: its first byte, and the byte after its last.
struct place {
    std::size_t begin, end;
};

// Calls use(token, kind) for each token of the text in turn. The token's bytes are valid only during the call; 16 bytes
// can be read, even if it is shorter.
class tokenizer {
  public:
    explicit tokenizer(const token_settings& how) : how(how) {}

    template <class Use>
    void operator()(std::string_view text, Use use) {
        ascii::each_stretch(text, [&](std::string_view stretch, bool is_ascii) {
            if (is_ascii)
                cut_ascii(stretch, use);
            else
                cut(stretch, use);
        });
    }

    // The places of these tokens, in their order.
    std::vector<place> places(std::string_view text) const {
        std::vector<place> found;
        const characters& all = characters::all();
        const char* const end = text.data() + text.size();
        bool inside = false;  // of a word
        for (const char* at = text.data(); at < end;) {
            const auto begin = static_cast<std::size_t>(at - text.data());
            const characters::kind kind = all.of(characters::decode(at, end));
            const bool is_token = kind == characters::word || (kind == characters::sign && how.signs);
            if (is_token && !(inside && kind == characters::word)) found.push_back({begin, begin});
            if (is_token) found.back().end = static_cast<std::size_t>(at - text.data());
            inside = kind == characters::word;
        }
        return found;
    }

  private:
    // Two steps: first the text is folded, and each character gets a bit for whether it belongs to a word and one
    // for whether it is a sign; then tokens are found from these bits.
    template <class Use>
    void cut_ascii(std::string_view text, Use use) {
        const std::size_t groups =
            text.size() / 64 + 1;  // so that a character that belongs to no token follows the last one
        if (buffer.size() < 64 * groups + 16) buffer.resize(64 * groups + 16);
        std::uint64_t before = 0;  // whether the last group ends within a word
        const char* open = nullptr;
        for (std::size_t group = 0; group < groups; ++group) {
            char* const here = buffer.data() + 64 * group;
            const auto [words, signs] = ascii::look_at_start(text.substr(64 * group), here, how.fold, how.signs);
            // A word begins or ends where its bits change.
            std::uint64_t places = (words ^ (words << 1 | before)) | signs;
            before = words >> 63;
            for (; places != 0; places &= places - 1) {
                const int place = std::countr_zero(places);
                const char* const at = here + place;
                if (words >> place & 1) {
                    open = at;
                    continue;
                }
                if (open != nullptr) use(std::string_view(open, static_cast<std::size_t>(at - open)), characters::word);
                open = nullptr;
                if (signs >> place & 1) use(std::string_view(at, 1), characters::sign);
            }
        }
    }

    // Any text.
    template <class Use>
    void cut(std::string_view text, Use use) {
        // No character grows to more than three times its bytes.
        if (buffer.size() < 3 * text.size() + 16) buffer.resize(3 * text.size() + 16);
        char* out = buffer.data();
        const auto finish = [&](characters::kind kind) {
            if (out == buffer.data()) return;
            use(std::string_view(buffer.data(), static_cast<std::size_t>(out - buffer.data())), kind);
            out = buffer.data();
        };
        const characters& all = characters::all();
        const char* const end = text.data() + text.size();
        for (const char* at = text.data(); at < end;) {
            const std::uint32_t point = characters::decode(at, end);
            const characters::kind kind = all.of(point);
            if (kind != characters::word) finish(characters::word);
            if (kind == characters::gap || (kind == characters::sign && !how.signs)) continue;
            out = all.write(point, how.fold, out);
            if (kind == characters::sign) finish(characters::sign);
        }
        finish(characters::word);
    }

    token_settings how;
    std::vector<char> buffer;
};

}  // namespace markone

// UTF-8 text -> tokens: words of letters, digits and marks of any script and, optionally, single signs. Letters of
// scripts without spaces between words can be tokens of their own, and emoji with everything that changes them one
// token. Bytes that are not UTF-8 separate tokens like a space.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/portable.h"
#include "text/byte_groups.h"
#include "text/unicode_tables.h"

namespace markone {

// The kind of each character, what it does beside others, and its folded case.
class characters {
  public:
    // A letter is one of a script without spaces, as a token of its own. No character alone has this kind.
    enum kind : std::uint8_t { gap, word, sign, letter };
    enum role : std::uint8_t { none_of_these, unspaced, mark, stacker, modifier, flag, to_come };
    static constexpr std::uint32_t none = 0xffffffff;

    static const characters& all() {
        static const characters one;
        return one;
    }

    kind of(std::uint32_t point) const { return point < kinds.size() ? kinds[point] : gap; }
    role role_of(std::uint32_t point) const { return point < roles.size() ? roles[point] : none_of_these; }

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

    characters() : kinds(0x110000, gap), roles(0x110000, none_of_these) {
        const auto set = [](auto& table, const auto& ranges, auto to) {
            for (const auto& [first, last] : ranges) std::fill(table.begin() + first, table.begin() + last + 1, to);
        };
        set(kinds, unicode::words, word);
        set(kinds, unicode::signs, sign);
        kinds[0xfffd] = gap;  // the usual replacement for invalid bytes
        set(roles, unicode::unspaced, unspaced);
        set(roles, unicode::marks, mark);
        set(roles, unicode::stackers, stacker);
        set(roles, unicode::modifiers, modifier);
        set(roles, unicode::flags, flag);
        set(roles, unicode::emoji_to_come, to_come);
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
    std::vector<role> roles;
    std::vector<std::uint16_t> folding_of;  // place in unicode::foldings, from 1
};

struct token_settings {
    bool fold = true;       // ignore case
    bool signs = false;     // each sign is a token
    bool unspaced = false;  // each letter of a script without spaces is a token, with its marks
    bool emoji = false;     // an emoji is one sign, with its modifiers and the emoji that are joined to it
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
                cut(stretch, [&](std::string_view token, characters::kind kind, place) { use(token, kind); });
        });
    }

    // The places of these tokens, in their order.
    std::vector<place> places(std::string_view text) {
        std::vector<place> found;
        cut(text, [&](std::string_view, characters::kind, place at) { found.push_back(at); });
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

    // Any text. Calls use(token, kind, place).
    template <class Use>
    MARKONE_NOINLINE void cut(std::string_view text, Use use) {
        // No character grows to more than three times its bytes.
        if (buffer.size() < 3 * text.size() + 16) buffer.resize(3 * text.size() + 16);
        char* out = buffer.data();
        const char *begin = text.data(), *last = text.data();  // of the token
        const auto finish = [&](characters::kind kind) {
            if (out == buffer.data()) return;
            const place at{static_cast<std::size_t>(begin - text.data()), static_cast<std::size_t>(last - text.data())};
            use(std::string_view(buffer.data(), static_cast<std::size_t>(out - buffer.data())), kind, at);
            out = buffer.data();
        };
        const characters& all = characters::all();
        const char* const end = text.data() + text.size();
        for (const char* at = text.data(); at < end;) {
            const char* const from = at;
            // Most characters are ASCII and followed by ASCII, so that nothing belongs to them.
            if (const auto byte = static_cast<unsigned char>(*at);
                byte < 0x80 && at + 1 < end && static_cast<unsigned char>(at[1]) < 0x80) {
                ++at;
                const characters::kind kind = all.of(byte);
                if (kind == characters::word) {
                    if (out == buffer.data()) begin = from;
                    *out++ = static_cast<char>(how.fold && byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
                    last = at;
                    continue;
                }
                finish(characters::word);
                if (kind == characters::gap || !how.signs) continue;
                begin = from;
                last = at;
                *out++ = static_cast<char>(byte);
                finish(characters::sign);
                continue;
            }
            const std::uint32_t point = characters::decode(at, end);
            const characters::kind kind = kind_of(point, at, end);
            if (kind != characters::word) {
                finish(characters::word);
                if (kind == characters::gap) continue;
            }
            if (out == buffer.data()) begin = from;
            out = all.write(point, how.fold, out);
            if (kind == characters::letter) out = take_marks(at, end, out);
            if (kind == characters::sign && how.emoji) out = take_emoji(point, at, end, out);
            last = at;
            if (kind == characters::sign && !how.signs) out = buffer.data();
            if (kind != characters::word) finish(kind);
        }
        finish(characters::word);
    }

    // The kind of the token that the character, after which is `at`, begins or continues.
    characters::kind kind_of(std::uint32_t point, const char* at, const char* end) const {
        const characters::kind kind = characters::all().of(point);
        if (point < 0x80) return how.emoji && is_keycap(point, at, end) ? characters::sign : kind;
        const characters::role role = characters::all().role_of(point);
        if (role == characters::unspaced && how.unspaced) return characters::letter;
        if (how.emoji && role == characters::to_come) return characters::sign;
        if (how.emoji && (point == text_selector || point == emoji_selector)) return characters::gap;
        return kind;
    }

    static constexpr std::uint32_t text_selector = 0xfe0e, emoji_selector = 0xfe0f, keycap = 0x20e3, joiner = 0x200d;

    static std::uint32_t next(const char*& at, const char* end) {
        return at < end ? characters::decode(at, end) : characters::none;
    }

    // Whether the character is a digit on a key.
    static bool is_keycap(std::uint32_t point, const char* at, const char* end) {
        if (point < '0' || point > '9') return false;
        const std::uint32_t first = next(at, end);
        return first == keycap || (first == emoji_selector && next(at, end) == keycap);
    }

    // The marks of a letter, and the letters that are stacked below it.
    char* take_marks(const char*& at, const char* end, char* out) const {
        const characters& all = characters::all();
        for (bool stacked = false;;) {
            const char* behind = at;
            const std::uint32_t point = next(behind, end);
            const characters::role role = all.role_of(point);
            const bool is_mark = role == characters::mark || role == characters::stacker ||
                                 (role == characters::modifier && all.of(point) == characters::word);
            if (!is_mark && !(stacked && role == characters::unspaced)) return out;
            stacked = role == characters::stacker;
            out = all.write(point, how.fold, out);
            at = behind;
        }
    }

    // The rest of an emoji: the second letter of a flag, modifiers, and emoji that are joined to it. Selectors do not
    // change its meaning, and are left out.
    char* take_emoji(std::uint32_t point, const char*& at, const char* end, char* out) const {
        const characters& all = characters::all();
        bool flag = all.role_of(point) == characters::flag;
        for (;;) {
            const char* behind = at;
            const std::uint32_t second = next(behind, end);
            const characters::role role = all.role_of(second);
            if (second == joiner) {
                const char* beyond = behind;
                const std::uint32_t joined = next(beyond, end);
                if (all.of(joined) != characters::sign && all.role_of(joined) != characters::to_come) return out;
                out = all.write(joiner, how.fold, out);
                out = all.write(joined, how.fold, out);
                at = beyond;
                flag = false;
                continue;
            }
            if (role != characters::modifier && !(flag && role == characters::flag)) return out;
            flag = false;
            if (second != text_selector && second != emoji_selector) out = all.write(second, how.fold, out);
            at = behind;
        }
    }

    token_settings how;
    std::vector<char> buffer;
};

}  // namespace markone

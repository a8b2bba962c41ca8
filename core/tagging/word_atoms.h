// The properties of a word for taggers and parsers: hashes of its form, its shape, its prefixes and suffixes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/text.h"
#include "text/vocabulary.h"

namespace markone {

// Atoms are 64-bit hashes, the same in every process. 0 stands for nothing: a word of two characters has no prefix of
// three.
struct word_atoms {
    static constexpr std::size_t longest_affix = 5;

    std::uint64_t form = 0;
    std::uint64_t lower = 0;
    std::uint64_t shape = 0;  // X for capitals, x for other letters, d for digits, others themselves; long runs cut
    std::uint64_t signs = 0;  // which of digit, hyphen and capital it has, and where capitals stand
    std::array<std::uint64_t, longest_affix> prefix{};  // of the first 1, 2 ... characters, in lower case
    std::array<std::uint64_t, longest_affix> suffix{};
    unsigned sign_bits = 0;  // the signs again, as a number below `sign_values`

    static constexpr std::size_t sign_values = 16;
};

// Computes the properties of words. Bytes that are not valid UTF-8 count as characters.
class word_reader {
  public:
    word_atoms read(std::string_view word) { return atoms_of(word, scan(word)); }

    // Finds the pieces of a word, without their hashes. Returns the bits of its signs.
    unsigned scan(std::string_view word) {
        lower.clear();
        shape.clear();
        starts.clear();
        const characters& all = characters::all();
        bool digit = false, hyphen = false, first_capital = false;
        std::size_t capitals = 0, letters = 0, run = 0;
        char last_kind = 0;
        const char* const end = word.data() + word.size();
        for (const char* at = word.data(); at != end;) {
            const char* const begin = at;
            const std::uint32_t point = characters::decode(at, end);
            starts.push_back(lower.size());
            if (point == characters::none) {
                lower.push_back(*begin);
            } else {
                std::array<char, 12> folded;
                lower.append(folded.data(), all.write(point, true, folded.data()));
            }
            const char kind = kind_of(point);
            digit |= kind == 'd';
            hyphen |= point == '-';
            letters += kind == 'x' || kind == 'X';
            capitals += kind == 'X';
            first_capital |= kind == 'X' && begin == word.data();
            run = kind == last_kind ? run + 1 : 1;
            last_kind = kind;
            if (kind == 0)
                shape.append(begin, at);
            else if (run <= longest_run)
                shape.push_back(kind);
        }
        starts.push_back(lower.size());
        const bool all_capital = capitals != 0 && capitals == letters;
        return digit + 2u * hyphen + 4u * first_capital + 8u * all_capital;
    }

    // Pieces of the word that was read last; of a shorter one, all of it.
    std::string_view lower_text() const { return lower; }
    std::string_view shape_text() const { return shape; }
    std::string_view prefix_text(std::size_t size) const {
        return lower_text().substr(0, starts[std::min(size, starts.size() - 1)]);
    }
    std::string_view suffix_text(std::size_t size) const {
        return lower_text().substr(starts[starts.size() - 1 - std::min(size, starts.size() - 1)]);
    }
    // Bits for a digit, a hyphen, a capital at the beginning, and nothing but capitals.
    static std::uint64_t signs_of(unsigned bits) { return mix(1 + bits); }

  private:
    static constexpr std::size_t longest_run = 3;

    static char kind_of(std::uint32_t point) {
        if (point < 0x80) {
            const auto byte = static_cast<char>(point);
            if (byte >= '0' && byte <= '9') return 'd';
            if (byte >= 'a' && byte <= 'z') return 'x';
            return byte >= 'A' && byte <= 'Z' ? 'X' : '\0';
        }
        if (point == characters::none || characters::all().of(point) != characters::word) return '\0';
        return characters::is_capital(point) ? 'X' : 'x';
    }

    word_atoms atoms_of(std::string_view word, unsigned sign_bits) const {
        const std::string_view folded = lower;
        const std::size_t length = starts.size() - 1;
        word_atoms found;
        found.form = hash_of(word);
        found.lower = hash_of(folded);
        found.shape = hash_of(shape);
        found.sign_bits = sign_bits;
        found.signs = signs_of(sign_bits);
        for (std::size_t size = 1; size <= std::min(length, word_atoms::longest_affix); ++size) {
            found.prefix[size - 1] = hash_of(folded.substr(0, starts[size]));
            found.suffix[size - 1] = hash_of(folded.substr(starts[length - size]));
        }
        return found;
    }

    std::string lower, shape;
    std::vector<std::size_t> starts;  // of characters in `lower`, and its end
};

}  // namespace markone

// Texts -> rows of counted n-grams, in two steps. A collector takes in some texts and numbers the n-grams that it
// meets, on its own, so that several can work at once. A vocabulary (ngram_vocabulary.h, hashed_vocabulary.h) then
// takes in one collector after the other, and has the numbers that count; when it has met all texts it reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "growing_rows.h"
#include "token_stream.h"
#include "vocabulary.h"

namespace markone {

struct ngram_settings {
    stream_settings tokens;
    std::size_t shortest = 1, longest = 1;  // in tokens
};

inline void check(const ngram_settings& how) {
    if (how.shortest < 1 || how.shortest > how.longest) throw std::invalid_argument("no such lengths of n-grams");
}

// An n-gram: all words but the last, which are an n-gram too, or nobody; and the last word.
struct gram {
    std::uint32_t first, last;
};

inline void append_name(std::string& to, const word_table& words, std::span<const gram> grams, std::uint32_t number) {
    const auto [first, last] = grams[number];
    if (first != nobody) {
        append_name(to, words, grams, first);
        to += ' ';
    }
    to += words[last];
}

// What reading one text after the other needs, and keeps between them.
struct ngram_reader {
    token_stream tokens;
    row_counter counter;
    std::vector<std::uint32_t> said, current;
    std::vector<std::uint64_t> hashes;

    explicit ngram_reader(const ngram_settings& how) : tokens(how.tokens) {}
};

class ngram_collector {
  public:
    explicit ngram_collector(const ngram_settings& how) : how(how), tokens(how.tokens) { check(how); }

    // By number: the beginning of an n-gram has a smaller one.
    word_table words;
    std::vector<gram> grams;
    growing_rows rows;
    std::vector<std::uint32_t> lengths;  // of the texts, in tokens

    // Ready for other texts, with the room that it has.
    void clear() {
        words.clear();
        grams.clear();
        rows = {};
        lengths = {};
        singles.clear();
        pairs.clear();
    }

    void add_row(std::string_view text) {
        said.clear();
        tokens(text, [&](std::string_view token) { said.push_back(words.find_or_add(token)); });
        if (singles.size() < words.size()) singles.resize(words.size());
        pairs.make_room(grams.size(), how.longest * said.size());
        if (rows.indices.size() + how.longest * said.size() >= nobody) throw std::length_error("too many values");
        const std::size_t begin = rows.indices.size();
        current.resize(said.size());
        for (std::size_t i = 0; i < said.size(); ++i) meet(i, 1, nobody, said[i], singles[said[i]], begin);
        for (std::size_t length = 2; length <= std::min(how.longest, said.size()); ++length) {
            const std::size_t count = said.size() - length + 1;
            const std::span<const std::uint32_t> last(said.data() + length - 1, count);
            // What starts at i and has one word less stands at i until this one takes its place.
            pairs.each({current.data(), count}, last,
                       [&](std::size_t i, gram_table::slot& at) { meet(i, length, current[i], last[i], at, begin); });
        }
        rows.end_row();
        lengths.push_back(static_cast<std::uint32_t>(said.size()));
    }

  private:
    // An n-gram of one word. The note is where a row last counted it.
    struct single {
        std::uint32_t number = nobody;
        std::uint32_t note = 0;
    };

    // The n-gram that starts at i: numbered if it is new, and counted if it is long enough.
    template <class Slot>
    void meet(std::size_t i, std::size_t length, std::uint32_t first, std::uint32_t last, Slot& at, std::size_t begin) {
        if (at.number == nobody) {
            at.number = static_cast<std::uint32_t>(grams.size());
            grams.push_back({first, last});
        }
        current[i] = at.number;
        if (length < how.shortest) return;
        // Where it was last counted: if that is in this row, and is this n-gram, it is counted there.
        if (at.note >= begin && at.note < rows.indices.size() && rows.indices[at.note] == at.number) {
            rows.values[at.note] += 1;
            return;
        }
        at.note = static_cast<std::uint32_t>(rows.indices.size());
        rows.add(at.number, 1);
    }

    ngram_settings how;
    token_stream tokens;
    std::vector<single> singles;  // by word
    gram_table pairs;
    std::vector<std::uint32_t> said, current;  // the words of the current text, and the n-gram at each of them
};

}  // namespace markone

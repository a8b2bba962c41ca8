// Texts -> rows of counted n-grams, in two steps. A collector splits some texts into words and numbers or hashes these
// words independently, so that several collectors can work at once. A vocabulary (ngram_vocabulary.h,
// hashed_vocabulary.h) then adds one collector after the other, and assigns the final numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rows/row_builder.h"
#include "text/token_stream.h"
#include "text/vocabulary.h"

namespace markone {

struct ngram_settings {
    stream_settings tokens;
    std::size_t shortest = 1, longest = 1;  // in tokens
};

inline void check(const ngram_settings& how) {
    constexpr std::size_t longest = 1000;
    if (how.shortest < 1 || how.shortest > how.longest || how.longest > longest)
        throw std::invalid_argument("no such lengths of n-grams");
}

// Checks that a text of this many words can be added: positions in rows have 32 bits.
inline void check_room(const growing_rows& rows, const ngram_settings& how, std::size_t words) {
    check_numbers(rows.indices.size() + how.longest * words, "too many values");
}

// Some texts as numbers of words.
class ngram_collector {
  public:
    explicit ngram_collector(const ngram_settings& how) : tokens(how.tokens) {}

    word_table words;
    std::vector<std::uint32_t> said;     // the words of all texts
    std::vector<std::uint32_t> lengths;  // of the texts, in words

    void add_row(std::string_view text) {
        const std::size_t before = said.size();
        tokens(text, [&](std::string_view token) { said.push_back(words.find_or_add(token, key_of_readable(token))); });
        lengths.push_back(next_number(said.size() - before, "a text has too many words"));
    }

    // Removes all texts, and keeps the memory.
    void clear() {
        words.clear();
        said.clear();
        lengths.clear();
    }

  private:
    token_stream tokens;
};

// Buffers for reading texts, which are reused.
struct ngram_reader {
    token_stream tokens;
    row_counter counter;
    std::vector<std::uint32_t> said, current;
    std::vector<std::size_t> places;
    std::vector<std::uint64_t> hashes, joined;

    explicit ngram_reader(const ngram_settings& how) : tokens(how.tokens) {}
};

// Where the features of a vocabulary occur in a text: an occurrence is of the words from `first` to before `last`.
struct occurrences {
    std::vector<place> words;
    std::vector<std::uint32_t> features, first, last;
};

template <class Vocabulary>
occurrences find_occurrences(const Vocabulary& vocabulary, std::string_view text) {
    struct range {
        std::size_t first, last;
    };
    std::vector<std::string> said;
    std::vector<range> of;
    occurrences found;
    token_stream tokens(vocabulary.how.tokens);
    found.words = tokens.with_places(text, [&](std::string_view token, std::size_t first, std::size_t last) {
        said.emplace_back(token);
        of.push_back({first, last});
    });
    check_numbers(found.words.size(), "a text has too many words");
    for (std::size_t i = 0; i < said.size(); ++i)
        for (std::size_t length = vocabulary.how.shortest; length <= vocabulary.how.longest; ++length) {
            if (i + length > said.size()) break;
            const std::uint32_t feature = vocabulary.find({said.data() + i, length});
            if (feature == npos) continue;
            found.features.push_back(feature);
            found.first.push_back(static_cast<std::uint32_t>(of[i].first));
            found.last.push_back(static_cast<std::uint32_t>(of[i + length - 1].last));
        }
    return found;
}

// Turns the counts of the row that starts at `begin` into values.
inline void end_row(std::size_t begin, const valuation& how, growing_rows& rows) {
    if (how.changes())
        for (std::size_t i = begin; i < rows.indices.size(); ++i) rows.values[i] = how(rows.indices[i], rows.values[i]);
    rows.end_row();
}

}  // namespace markone

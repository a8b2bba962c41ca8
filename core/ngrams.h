// Texts -> rows of counted n-grams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text.h"
#include "vocabulary.h"

namespace markone {

struct ngram_settings {
    token_settings tokens;
    std::size_t shortest = 1, longest = 1;  // in words
};

// Rows as they are made: a block's arrays, growing.
struct growing_rows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
};

// Counts n-grams. First it collects: every n-gram met gets a number. When `keep` has chosen among them, the chosen are
// the features, and it reads: what is not known to it is passed over.
class ngram_counter {
  public:
    explicit ngram_counter(const ngram_settings& how) : how(how), tokens(how.tokens) {
        if (how.shortest < 1 || how.shortest > how.longest) throw std::invalid_argument("no such lengths of n-grams");
    }

    // N-grams with a number of their own: features, and beginnings of features.
    std::size_t known() const { return grams.size(); }
    std::size_t features() const { return collecting ? grams.size() : kept; }

    void add_row(std::string_view text, growing_rows& rows) {
        collecting ? add_row_as<true>(text, rows) : add_row_as<false>(text, rows);
    }

    // Feature i is what was number chosen[i]; all else is forgotten, except the beginnings of what was chosen.
    void keep(std::span<const std::uint32_t> chosen) {
        if (!collecting) throw std::logic_error("the features are chosen already");
        std::vector<std::uint32_t> renumbered(grams.size(), nobody), order;
        const auto take = [&](std::uint32_t number) {
            renumbered[number] = static_cast<std::uint32_t>(order.size());
            order.push_back(number);
        };
        for (const std::uint32_t number : chosen) {
            if (number >= grams.size() || renumbered[number] != nobody) throw std::invalid_argument("no such choice");
            take(number);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            const std::uint32_t first = grams[order[i]].first;
            if (first != nobody && renumbered[first] == nobody) take(first);
        }
        word_table kept_words;
        std::vector<gram> kept_grams;
        singles.clear();
        pairs = {};
        pairs.make_room(0, order.size());
        for (const std::uint32_t number : order) {
            const auto [first, last] = grams[number];
            const std::uint32_t word = kept_words.find_or_add(words[last]);
            if (word == singles.size()) singles.emplace_back();
            const auto as = static_cast<std::uint32_t>(kept_grams.size());
            kept_grams.push_back({first == nobody ? nobody : renumbered[first], word});
            if (first == nobody) {
                singles[word].number = as;
            } else {
                const std::uint32_t parts[] = {renumbered[first], word};
                pairs.each({parts, 1}, {parts + 1, 1}, [&](std::size_t, gram_table::slot& at) { at.number = as; });
            }
        }
        words = std::move(kept_words);
        grams = std::move(kept_grams);
        kept = chosen.size();
        collecting = false;
    }

    std::string name(std::uint32_t number) const {
        if (number >= grams.size()) throw std::out_of_range("no such n-gram");
        const auto [first, last] = grams[number];
        return first == nobody ? std::string(words[last]) : name(first) + ' ' + std::string(words[last]);
    }

  private:
    // All words but the last as an n-gram, nobody where there are none, and the last word.
    struct gram {
        std::uint32_t first, last;
    };
    // An n-gram of one word. The note is where a row last counted it.
    struct single {
        std::uint32_t number = nobody;
        std::uint32_t note = 0;
    };

    template <bool adding>
    void add_row_as(std::string_view text, growing_rows& rows) {
        said.clear();
        tokens(text, [&](std::string_view token, characters::kind) {
            said.push_back(adding ? words.find_or_add(token) : words.find(token));
        });
        if (singles.size() < words.size()) singles.resize(words.size());
        if (adding) pairs.make_room(grams.size(), how.longest * said.size());
        if (rows.indices.size() + how.longest * said.size() >= nobody) throw std::length_error("too many values");
        const std::size_t begin = rows.indices.size();
        current.resize(said.size());
        for (std::size_t i = 0; i < said.size(); ++i) {
            single unknown;
            single& at = said[i] == nobody ? unknown : singles[said[i]];
            meet<adding>(i, 1, nobody, said[i], at, begin, rows);
        }
        for (std::size_t length = 2; length <= std::min(how.longest, said.size()); ++length) {
            const std::size_t count = said.size() - length + 1;
            const std::span<const std::uint32_t> last(said.data() + length - 1, count);
            // What starts at i and has one word less stands at i until this one takes its place.
            pairs.each({current.data(), count}, last, [&](std::size_t i, gram_table::slot& at) {
                meet<adding>(i, length, current[i], last[i], at, begin, rows);
            });
        }
        rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
    }

    // The n-gram that starts at i: numbered if it is new, and counted if it is a feature.
    template <bool adding, class Slot>
    void meet(std::size_t i, std::size_t length, std::uint32_t first, std::uint32_t last, Slot& at, std::size_t begin,
              growing_rows& rows) {
        if constexpr (adding)
            if (at.number == nobody) {
                if (grams.size() >= nobody) throw std::length_error("too many n-grams");
                at.number = static_cast<std::uint32_t>(grams.size());
                grams.push_back({first, last});
            }
        current[i] = at.number;
        if (length < how.shortest || at.number >= features()) return;
        // Where it was last counted: if that is in this row, and is this feature, it is counted there.
        if (at.note >= begin && at.note < rows.indices.size() && rows.indices[at.note] == at.number) {
            rows.values[at.note] += 1;
            return;
        }
        at.note = static_cast<std::uint32_t>(rows.indices.size());
        rows.indices.push_back(at.number);
        rows.values.push_back(1);
    }

    ngram_settings how;
    tokenizer tokens;
    word_table words;
    std::vector<single> singles;  // by word
    gram_table pairs;
    std::vector<gram> grams;  // by number
    bool collecting = true;
    std::size_t kept = 0;
    std::vector<std::uint32_t> said, current;  // the words of the current text, and the n-gram at each of them
};

}  // namespace markone

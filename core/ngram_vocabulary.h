// N-grams by their names, exactly: collected, chosen, read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ngrams.h"

namespace markone {

class ngram_vocabulary {
  public:
    explicit ngram_vocabulary(const ngram_settings& how) : how(how) { check(how); }

    const ngram_settings how;

    // N-grams with a number: features, and beginnings of features.
    std::size_t known() const { return grams.size(); }
    std::size_t features() const { return collecting ? grams.size() : kept; }
    // In how many rows each occurs, by number.
    std::span<const std::uint32_t> counts() const { return rows_with; }

    // Takes in what was collected; its rows then have the numbers of this vocabulary.
    void absorb(ngram_collector& batch) {
        must_collect();
        std::vector<std::uint32_t> word_of(batch.words.size()), number_of(batch.grams.size());
        for (std::uint32_t word = 0; word < word_of.size(); ++word)
            word_of[word] = words.find_or_add(batch.words[word]);
        if (singles.size() < words.size()) singles.resize(words.size(), nobody);
        pairs.make_room(grams.size(), batch.grams.size());
        for (std::size_t i = 0; i < number_of.size(); ++i) {
            if (i + ahead < number_of.size()) {
                const auto [first, last] = batch.grams[i + ahead];
                if (first < i) pairs.expect(number_of[first], word_of[last]);
            }
            const auto [first, last] = batch.grams[i];
            number_of[i] = add(first == nobody ? nobody : number_of[first], word_of[last]);
        }
        rows_with.resize(grams.size());
        for (std::uint32_t& index : batch.rows.indices) {
            index = number_of[index];
            ++rows_with[index];
        }
    }

    // Names as features, in their order. Those of words are taken apart at the spaces.
    std::uint32_t add_name(std::string_view name) {
        must_collect();
        std::uint32_t number = nobody;
        for (std::size_t at = 0; at <= name.size();) {
            const std::size_t space = how.tokens.longest_run > 0 ? name.npos : name.find(' ', at);
            const std::size_t end = std::min(space, name.size());
            const std::uint32_t word = words.find_or_add(name.substr(at, end - at));
            if (singles.size() < words.size()) singles.resize(words.size(), nobody);
            pairs.make_room(grams.size(), 1);
            number = add(number, word);
            at = end + 1;
        }
        rows_with.resize(grams.size());
        return number;
    }

    // The numbers of what occurs in so many rows at least, the most frequent first and of those the first met.
    std::vector<std::uint32_t> frequent(std::uint32_t min_count, std::size_t most) const {
        std::vector<std::uint32_t> chosen;
        for (std::uint32_t number = 0; number < grams.size(); ++number)
            if (rows_with[number] >= std::max(min_count, 1u)) chosen.push_back(number);
        std::vector<std::uint32_t> sorted(chosen.size());
        for (const unsigned shift : {0u, 16u}) {  // a radix sort, which keeps the order of equals
            std::vector<std::size_t> starts(0x10001);
            const auto digit = [&](std::uint32_t number) { return 0xffff - (rows_with[number] >> shift & 0xffff); };
            for (const std::uint32_t number : chosen) ++starts[digit(number) + 1];
            for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
            for (const std::uint32_t number : chosen) sorted[starts[digit(number)]++] = number;
            chosen.swap(sorted);
        }
        if (chosen.size() > most) chosen.resize(most);
        return chosen;
    }

    // Feature i is what was number chosen[i]; all else is forgotten, except the beginnings of what was chosen.
    void keep(std::span<const std::uint32_t> chosen) {
        must_collect();
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
        ngram_vocabulary slim(how);
        std::vector<std::uint32_t> word_of(words.size(), nobody);
        std::vector<gram> parts;  // with their new numbers
        parts.reserve(order.size());
        for (const std::uint32_t number : order) {
            const auto [first, last] = grams[number];
            if (word_of[last] == nobody) word_of[last] = slim.words.find_or_add(words[last]);
            parts.push_back({first == nobody ? nobody : renumbered[first], word_of[last]});
            slim.rows_with.push_back(rows_with[number]);
        }
        slim.singles.resize(slim.words.size(), nobody);
        slim.pairs.make_room(0, order.size());
        slim.grams.reserve(order.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i + ahead < parts.size()) slim.pairs.expect(parts[i + ahead].first, parts[i + ahead].last);
            slim.add(parts[i].first, parts[i].last);
        }
        words = std::move(slim.words);
        singles = std::move(slim.singles);
        pairs = std::move(slim.pairs);
        grams = std::move(slim.grams);
        rows_with = std::move(slim.rows_with);
        kept = chosen.size();
        collecting = false;
    }

    std::string name(std::uint32_t number) const {
        if (number >= grams.size()) throw std::out_of_range("no such n-gram");
        std::string name;
        append_name(name, words, grams, number);
        return name;
    }

    // A row of the features that are in the text; all else is passed over. Returns the text's length in tokens.
    std::size_t read(std::string_view text, ngram_reader& by, growing_rows& rows) const {
        by.said.clear();
        by.tokens(text, [&](std::string_view token) { by.said.push_back(words.find(token)); });
        const std::size_t size = by.said.size();
        by.counter.begin_row(size * how.longest, rows);
        by.current.resize(size);
        const auto meet = [&](std::size_t i, std::size_t length, std::uint32_t number) {
            by.current[i] = number;
            if (length >= how.shortest && number < features()) by.counter.add(number, 1, rows);
        };
        for (std::size_t i = 0; i < size; ++i) meet(i, 1, by.said[i] == nobody ? nobody : singles[by.said[i]]);
        for (std::size_t length = 2; length <= std::min(how.longest, size); ++length) {
                const std::size_t count = size - length + 1;
            const std::uint32_t* const last = by.said.data() + length - 1;
            for (std::size_t i = 0; i < count; ++i) {
                if (i + ahead < count) pairs.expect(by.current[i + ahead], last[i + ahead]);
                const bool hopeless = by.current[i] == nobody || last[i] == nobody;
                meet(i, length, hopeless ? nobody : pairs.find(by.current[i], last[i]));
            }
        }
        rows.end_row();
        return size;
    }

  private:
    static constexpr std::size_t ahead = 16;  // places in memory are asked for so many n-grams before they are read

    void must_collect() const {
        if (!collecting) throw std::logic_error("the features are chosen already");
    }

    // The number of an n-gram, which it gets now if it is new. There must be room.
    std::uint32_t add(std::uint32_t first, std::uint32_t last) {
        if (grams.size() >= nobody) throw std::length_error("too many n-grams");
        const auto next = static_cast<std::uint32_t>(grams.size());
        std::uint32_t number;
        if (first == nobody) {
            if (singles[last] == nobody) singles[last] = next;
            number = singles[last];
        } else {
            number = pairs.find_or_add(first, last, next);
        }
        if (number == next) grams.push_back({first, last});
        return number;
    }

    word_table words;
    std::vector<std::uint32_t> singles;  // the n-gram of one word, by word
    gram_table pairs;
    std::vector<gram> grams;  // by number
    std::vector<std::uint32_t> rows_with;
    bool collecting = true;
    std::size_t kept = 0;
};

}  // namespace markone

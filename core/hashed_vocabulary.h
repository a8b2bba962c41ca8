// N-grams by their hashes, in a table of a fixed number of places.
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

#include "memory.h"
#include "ngrams.h"

namespace markone {

// 2^bits places which n-grams share by their hash. A place has the name of the first that came to it, and knows whether
// others did.
class hashed_vocabulary {
  public:
    hashed_vocabulary(const ngram_settings& how, unsigned bits) : how(how), shift(64 - bits) {
        check(how);
        if (bits < 1 || bits > 30) throw std::invalid_argument("no such number of bits");
        places.resize(std::size_t{1} << bits);
        rows_with.resize(places.size());
    }

    const ngram_settings how;

    std::size_t features() const { return places.size(); }
    std::span<const std::uint32_t> counts() const { return rows_with; }
    std::size_t used() const { return names.size(); }
    std::size_t shared() const { return shared_places; }
    // N-grams met: all, and those in a place named after another.
    std::uint64_t met() const { return ngrams_met; }
    std::uint64_t strangers() const { return strangers_met; }

    // Takes in what was collected, and returns its rows.
    growing_rows absorb(const ngram_collector& batch) {
        std::vector<std::uint64_t> hash_of_word(batch.words.size()), hashes;
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t word = 0; word < hash_of_word.size(); ++word)
            hash_of_word[word] = hash_of(batch.words[word]);
        growing_rows rows;
        rows.reserve(how.longest * batch.said.size(), batch.lengths.size());
        std::size_t at = 0;
        for (const std::uint32_t size : batch.lengths) {
            const std::span<const std::uint32_t> said(batch.said.data() + at, size);
            at += size;
            check_room(rows, how, size);
            counter.begin_row(features(), rows);
            hashes.resize(size);
            for (std::size_t i = 0; i < size; ++i) hashes[i] = hash_of_word[said[i]];
            for (std::size_t length = 1; length <= std::min<std::size_t>(how.longest, size); ++length) {
                const std::size_t count = size - length + 1;
                if (length > 1)
                    for (std::size_t i = 0; i < count; ++i)
                        hashes[i] = joined(hashes[i], hash_of_word[said[i + length - 1]]);
                if (length < how.shortest) continue;
                expect(hashes, count, numbers, counter);
                for (std::size_t i = 0; i < count; ++i) {
                    strangers_met += !claim(numbers[i], hashes[i], said.subspan(i, length), batch.words);
                    counter.count(numbers[i], rows);
                }
                ngrams_met += count;
            }
            rows.end_row();
        }
        for (std::size_t i = 0; i < rows.indices.size(); ++i) {
            if (i + ahead < rows.indices.size()) __builtin_prefetch(&rows_with[rows.indices[i + ahead]], 1);
            ++rows_with[rows.indices[i]];
        }
        return rows;
    }

    // The name of the first n-gram that came to the place; nothing if none did.
    std::string name(std::uint32_t number) const {
        if (number >= places.size()) throw std::out_of_range("no such n-gram");
        const std::uint32_t which = places[number].name;
        if (which == nameless) return "";
        const std::size_t end = which + 1 < names.size() ? names[which + 1] : name_bytes.size();
        return name_bytes.substr(names[which], end - names[which]);
    }

    // Of how many words, or other tokens, what each place is named after consists; 1 where it has no name.
    std::vector<std::uint8_t> lengths() const {
        std::vector<std::uint8_t> all(features(), 1);
        if (how.longest == 1) return all;
        for (std::uint32_t number = 0; number < all.size(); ++number) {
            const std::string words = name(number);
            all[number] = static_cast<std::uint8_t>(1 + std::count(words.begin(), words.end(), ' '));
        }
        return all;
    }

    // A row of the places of what is in the text. What is not known is passed over, where that can be told.
    std::size_t read(std::string_view text, const valuation& values, ngram_reader& by, growing_rows& rows) const {
        by.hashes.clear();
        by.tokens(text, [&](std::string_view token) { by.hashes.push_back(hash_of(token)); });
        by.joined = by.hashes;
        const std::size_t size = by.hashes.size(), begin = rows.indices.size();
        check_room(rows, how, size);
        by.counter.begin_row(features(), rows);
        for (std::size_t length = 1; length <= std::min(how.longest, size); ++length) {
            const std::size_t count = size - length + 1;
            if (length > 1)
                for (std::size_t i = 0; i < count; ++i) by.joined[i] = joined(by.joined[i], by.hashes[i + length - 1]);
            if (length < how.shortest) continue;
            expect(by.joined, count, by.current, by.counter);
            for (std::size_t i = 0; i < count; ++i) {
                const owner& at = places[by.current[i]];
                const bool known = at.name != nameless && at.tag == static_cast<std::uint32_t>(by.joined[i]);
                if (known || at.shared) by.counter.count(by.current[i], rows);
            }
        }
        end_row(begin, values, rows);
        return size;
    }

  private:
    // The first n-gram that came to a place. There are at most 2^30 names.
    struct owner {
        std::uint32_t tag = 0;  // of its hash
        std::uint32_t name : 31 = nameless;
        std::uint32_t shared : 1 = 0;  // whether others came, too
    };
    static constexpr std::uint32_t nameless = 0x7fffffff;
    static constexpr std::size_t ahead = 16;  // counts are asked for so many values before they are raised

    // The places of n-grams, for which it asks ahead.
    void expect(std::span<const std::uint64_t> hashes, std::size_t count, std::vector<std::uint32_t>& numbers,
                const row_counter& counter) const {
        numbers.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            numbers[i] = place(hashes[i]);
            __builtin_prefetch(&places[numbers[i]], 1);
            counter.expect(numbers[i]);
        }
    }

    // Gives a place that has no name that of the n-gram; whether the n-gram is the one that it is named after.
    bool claim(std::uint32_t number, std::uint64_t hash, std::span<const std::uint32_t> ngram,
               const word_table& words) {
        owner& at = places[number];
        const auto tag = static_cast<std::uint32_t>(hash);
        if (at.name == nameless) {
            at = {tag, static_cast<std::uint32_t>(names.size()) & nameless, 0};
            names.push_back(name_bytes.size());
            for (const std::uint32_t& word : ngram) {
                if (&word != ngram.data()) name_bytes += ' ';
                name_bytes += words[word];
            }
        }
        if (at.tag == tag) return true;
        if (!at.shared) ++shared_places;
        at.shared = 1;
        return false;
    }

    static std::uint64_t joined(std::uint64_t first, std::uint64_t word) {
        return mix(first * 0x9e3779b97f4a7c15 + word);
    }
    std::uint32_t place(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash >> shift); }

    unsigned shift;
    table<owner> places;
    std::vector<std::uint32_t> rows_with;
    row_counter counter;
    std::vector<std::size_t> names;  // where each starts
    std::string name_bytes;
    std::size_t shared_places = 0;
    std::uint64_t ngrams_met = 0, strangers_met = 0;
};

}  // namespace markone

// N-grams by their hashes, in a table that does not grow.
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
        for (std::uint32_t word = 0; word < hash_of_word.size(); ++word)
            hash_of_word[word] = hash_of(batch.words[word]);
        growing_rows rows;
        rows.reserve(how.longest * batch.said.size(), batch.lengths.size());
        std::size_t at = 0;
        for (const std::uint32_t size : batch.lengths) {
            const std::span<const std::uint32_t> said(batch.said.data() + at, size);
            at += size;
            if (rows.indices.size() + how.longest * size >= nobody) throw std::length_error("too many values");
            counter.begin_row(features(), rows);
            hashes.resize(size);
            for (std::size_t i = 0; i < size; ++i) hashes[i] = hash_of_word[said[i]];
            for (std::size_t length = 1; length <= std::min<std::size_t>(how.longest, size); ++length) {
                const std::size_t count = size - length + 1;
                if (length > 1)
                    for (std::size_t i = 0; i < count; ++i)
                        hashes[i] = joined(hashes[i], hash_of_word[said[i + length - 1]]);
                if (length < how.shortest) continue;
                for (std::size_t i = 0; i < count; ++i) {
                    if (i + ahead < count) __builtin_prefetch(&places[place(hashes[i + ahead])]);
                    const std::uint32_t number = place(hashes[i]);
                    const bool stranger = !claim(number, hashes[i], said.subspan(i, length), batch.words);
                    if (counter.count(number, rows)) ++rows_with[number];
                    ++ngrams_met;
                    strangers_met += stranger;
                }
            }
            rows.end_row();
        }
        return rows;
    }

    // The name of the first n-gram that came to the place; nothing if none did.
    std::string name(std::uint32_t number) const {
        if (number >= places.size()) throw std::out_of_range("no such n-gram");
        const std::uint32_t which = places[number].name;
        if (which == nobody) return "";
        const std::size_t end = which + 1 < names.size() ? names[which + 1] : name_bytes.size();
        return name_bytes.substr(names[which], end - names[which]);
    }

    // A row of the places of what is in the text. What is not known is passed over, where that can be told.
    std::size_t read(std::string_view text, const valuation& values, ngram_reader& by, growing_rows& rows) const {
        by.hashes.clear();
        by.tokens(text, [&](std::string_view token) { by.hashes.push_back(hash_of(token)); });
        by.joined = by.hashes;
        const std::size_t size = by.hashes.size(), begin = rows.indices.size();
        by.counter.begin_row(features(), rows);
        for (std::size_t length = 1; length <= std::min(how.longest, size); ++length) {
            const std::size_t count = size - length + 1;
            if (length > 1)
                for (std::size_t i = 0; i < count; ++i) by.joined[i] = joined(by.joined[i], by.hashes[i + length - 1]);
            if (length < how.shortest) continue;
            for (std::size_t i = 0; i < count; ++i) {
                if (i + ahead < count) __builtin_prefetch(&places[place(by.joined[i + ahead])]);
                const std::uint32_t number = place(by.joined[i]);
                const owner& at = places[number];
                if (at.tag == many || (at.name != nobody && at.tag == tag_of(by.joined[i])))
                    by.counter.count(number, rows);
            }
        }
        end_row(begin, values, rows);
        return size;
    }

  private:
    struct owner {
        std::uint32_t tag = 0;  // of the hash; `many` where it is shared
        std::uint32_t name = nobody;
    };
    static constexpr std::uint32_t many = 0xffffffff;
    static constexpr std::size_t ahead = 16;  // places in memory are asked for so many n-grams before they are read

    // Gives a place that has no name that of the n-gram; whether the n-gram is the one that it is named after.
    bool claim(std::uint32_t number, std::uint64_t hash, std::span<const std::uint32_t> ngram,
               const word_table& words) {
        owner& at = places[number];
        const std::uint32_t tag = tag_of(hash);
        if (at.name == nobody) {
            at = {tag, static_cast<std::uint32_t>(names.size())};
            names.push_back(name_bytes.size());
            for (const std::uint32_t& word : ngram) {
                if (&word != ngram.data()) name_bytes += ' ';
                name_bytes += words[word];
            }
            first_tags.push_back(tag);
        }
        if (first_tags[at.name] == tag) return true;
        if (at.tag != many) ++shared_places;
        at.tag = many;
        return false;
    }

    static std::uint64_t joined(std::uint64_t first, std::uint64_t word) {
        return mix(first * 0x9e3779b97f4a7c15 + word);
    }
    std::uint32_t place(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash >> shift); }
    static std::uint32_t tag_of(std::uint64_t hash) { return std::min(static_cast<std::uint32_t>(hash), many - 1); }

    unsigned shift;
    table<owner> places;
    std::vector<std::uint32_t> rows_with;
    row_counter counter;
    std::vector<std::size_t> names;         // where each starts
    std::vector<std::uint32_t> first_tags;  // of what places are named after, by name
    std::string name_bytes;
    std::size_t shared_places = 0;
    std::uint64_t ngrams_met = 0, strangers_met = 0;
};

}  // namespace markone

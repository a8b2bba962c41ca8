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
    // Values in rows: all, and those in a place named after another.
    std::uint64_t values() const { return values_met; }
    std::uint64_t strangers() const { return values_of_strangers; }

    void absorb(ngram_collector& batch) {
        std::vector<std::uint64_t> hashes(batch.grams.size());
        std::vector<std::uint32_t> place_of(batch.grams.size());
        std::vector<bool> is_stranger(batch.grams.size());
        std::string name;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const auto [first, last] = batch.grams[i];
            const std::uint64_t word = hash_of(batch.words[last]);
            hashes[i] = first == nobody ? word : joined(hashes[first], word);
            place_of[i] = place(hashes[i]);
        }
        std::vector<bool> counted(batch.grams.size());  // beginnings of n-grams need not be features
        for (const std::uint32_t index : batch.rows.indices) counted[index] = true;
        constexpr std::size_t ahead = 16;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            if (i + ahead < hashes.size()) __builtin_prefetch(&places[place_of[i + ahead]]);
            if (!counted[i]) continue;
            owner& at = places[place_of[i]];
            const std::uint32_t tag = tag_of(hashes[i]);
            if (at.name == nobody) {
                name.clear();
                append_name(name, batch.words, batch.grams, static_cast<std::uint32_t>(i));
                at = {tag, static_cast<std::uint32_t>(names.size())};
                names.push_back(name_bytes.size());
                name_bytes += name;
            } else if (at.tag != tag) {
                is_stranger[i] = true;
                if (at.tag != many) {
                    ++shared_places;
                    at.tag = many;
                }
            }
        }
        growing_rows rows;
        row_counter counter;
        const auto& from = batch.rows;
        for (std::size_t row = 0; row + 1 < from.indptr.size(); ++row) {
            const auto begin = static_cast<std::size_t>(from.indptr[row]),
                       end = static_cast<std::size_t>(from.indptr[row + 1]);
            counter.begin_row(end - begin, rows);
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t number = from.indices[i];
                values_of_strangers += is_stranger[number];
                counter.add(place_of[number], from.values[i], rows);
            }
            rows.end_row();
        }
        values_met += from.indices.size();
        for (const std::uint32_t index : rows.indices) ++rows_with[index];
        batch.rows = std::move(rows);
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
    std::size_t read(std::string_view text, ngram_reader& by, growing_rows& rows) const {
        by.hashes.clear();
        by.tokens(text, [&](std::string_view token) { by.hashes.push_back(hash_of(token)); });
        const std::size_t size = by.hashes.size();
        by.counter.begin_row(size * how.longest, rows);
        const auto meet = [&](std::uint64_t hash) {
            const std::uint32_t number = place(hash);
            const owner& at = places[number];
            if (at.tag == many || (at.name != nobody && at.tag == tag_of(hash))) by.counter.add(number, 1, rows);
        };
        for (std::size_t i = 0; i < size; ++i) {
            std::uint64_t hash = by.hashes[i];
            if (how.shortest == 1) meet(hash);
            for (std::size_t length = 2; length <= how.longest && i + length <= size; ++length) {
                hash = joined(hash, by.hashes[i + length - 1]);
                if (length >= how.shortest) meet(hash);
            }
        }
        rows.end_row();
        return size;
    }

  private:
    struct owner {
        std::uint32_t tag = 0;  // of the hash; `many` where it is shared
        std::uint32_t name = nobody;
    };
    static constexpr std::uint32_t many = 0xffffffff;

    static std::uint64_t joined(std::uint64_t first, std::uint64_t word) {
        return mix(first * 0x9e3779b97f4a7c15 + word);
    }
    std::uint32_t place(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash >> shift); }
    static std::uint32_t tag_of(std::uint64_t hash) { return std::min(static_cast<std::uint32_t>(hash), many - 1); }

    unsigned shift;
    table<owner> places;
    std::vector<std::uint32_t> rows_with;
    std::vector<std::size_t> names;  // where each starts
    std::string name_bytes;
    std::size_t shared_places = 0;
    std::uint64_t values_met = 0, values_of_strangers = 0;
};

}  // namespace markone

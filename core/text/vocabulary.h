// Names <-> numbers: words, and n-grams of words without a string for each.
//
// A word is found by its bytes. An n-gram is a pair of numbers, that of its first n - 1 words and that of its last
// word, so it is exact although no strings are compared: "not very good" is ("not very", "good"), and "not very" is
// ("not", "very"). Its name is found by following the pairs back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_table.h"
#include "base/portable.h"
#include "text/text.h"

namespace markone {

static_assert(std::endian::native == std::endian::little, "bytes are read as numbers, the first one the lowest");

// A short word as a number: all its bytes.
constexpr std::size_t longest_short = 8;
inline std::uint64_t key_of_short(std::string_view word) {
    constexpr std::size_t shortest_of_two_halves = 4;
    const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(word[at])} << 8 * at; };
    const std::size_t size = word.size();
    if (size >= shortest_of_two_halves) {
        std::uint32_t first, last;  // some bytes are in both
        std::memcpy(&first, word.data(), 4);
        std::memcpy(&last, word.data() + size - 4, 4);
        return first | std::uint64_t{last} << 8 * (size - 4);
    }
    return size == 0 ? 0 : byte(0) | byte(size / 2) | byte(size - 1);
}

constexpr std::uint64_t hash_factor = 0x9e3779b97f4a7c15;
// A hash that is the same in every process, because models store the numbers of hashed features.
inline std::uint64_t hash_of(std::string_view bytes) {
    const auto load = [&]<class Word>(std::size_t at, Word word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        return std::uint64_t{word};
    };
    const std::size_t size = bytes.size();
    std::uint64_t hash = size * hash_factor;
    if (size >= 8) {
        for (std::size_t at = 0; at + 8 < size; at += 8) hash = mix(hash ^ load(at, std::uint64_t{})) + hash_factor;
        return mix(hash ^ load(size - 8, std::uint64_t{}));  // the last eight bytes, some of them for the second time
    }
    return mix(hash ^ key_of_short(bytes));
}

// Names one after the other, as Python reads them: name i is bytes[offsets[i] : offsets[i + 1]].
struct name_list {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint8_t> bytes;

    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t i) const {
        const auto begin = static_cast<std::size_t>(offsets[i]), end = static_cast<std::size_t>(offsets[i + 1]);
        return {reinterpret_cast<const char*>(bytes.data()) + begin, end - begin};
    }

    void reserve(std::size_t names, std::size_t size) {
        offsets.reserve(names + 1);
        bytes.reserve(size);
    }
    // A name is written piece by piece.
    void write(std::string_view piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); }
    void end_name() { offsets.push_back(static_cast<std::int64_t>(bytes.size())); }
};

// The key of a word, beside its size: all bytes of a short word, the hash of a longer one.
inline std::uint64_t key_of(std::string_view word) {
    return word.size() <= longest_short ? key_of_short(word) : hash_of(word);
}

// The same for a word of at least one byte in memory of which eight bytes can be read: how long a short word is, which
// the processor cannot predict, does not matter.
inline std::uint64_t key_of_readable(std::string_view word) {
    if (word.size() > longest_short) return hash_of(word);
    std::uint64_t bytes;
    std::memcpy(&bytes, word.data(), sizeof bytes);
    return bytes & ~std::uint64_t{0} >> 8 * (longest_short - word.size());
}

// Words by their bytes, numbered in the order of their first occurrence.
class word_table {
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t word = npos;
        std::uint32_t size = 0;
        bool is_free() const { return word == npos; }
    };

    auto same(std::string_view word, std::uint64_t key) const {
        return [=, this](const slot& one) {
            return one.key == key && one.size == word.size() &&
                   (word.size() <= longest_short || (*this)[one.word] == word);
        };
    }

  public:
    std::size_t size() const { return ends.size(); }
    std::string_view operator[](std::uint32_t word) const {
        const std::size_t begin = word == 0 ? 0 : ends[word - 1];
        return {bytes.data() + begin, ends[word] - begin};
    }

    name_list names() const {
        name_list all;
        all.reserve(size(), bytes.size());
        for (std::uint32_t word = 0; word < size(); ++word) {
            all.write((*this)[word]);
            all.end_name();
        }
        return all;
    }

    // Makes room for this many words with this many bytes in all.
    void reserve(std::size_t count, std::size_t size_of_all) {
        ends.reserve(count);
        bytes.reserve(size_of_all);
        slots.reserve(count);
    }

    // Removes all words, and keeps the memory.
    void clear() {
        bytes.clear();
        ends.clear();
        slots.clear();
    }

    std::uint32_t find(std::string_view word) const { return find(word, key_of(word)); }
    std::uint32_t find_or_add(std::string_view word) { return find_or_add(word, key_of(word)); }

    // The same in two steps: `expect` prefetches the slot of the word and returns its key.
    std::uint64_t expect(std::string_view word) const {
        const std::uint64_t key = key_of(word);
        slots.expect(key);
        return key;
    }
    std::uint32_t find(std::string_view word, std::uint64_t key) const {
        return slots.empty() ? npos : slots.find(key, same(word, key)).word;
    }
    std::uint32_t find_or_add(std::string_view word, std::uint64_t key) {
        slot& at = slots.find_or_claim(key, size(), same(word, key));
        if (at.is_free()) {
            check_numbers(word.size(), "a word is too long");
            const std::uint32_t number = next_number(size(), "too many words");
            // The slot comes last: if memory runs out, nothing has changed.
            bytes.insert(bytes.end(), word.begin(), word.end());
            try {
                ends.push_back(bytes.size());
            } catch (...) {
                bytes.resize(bytes.size() - word.size());
                throw;
            }
            at = {key, number, static_cast<std::uint32_t>(word.size())};
        }
        return at.word;
    }

  private:
    std::vector<char> bytes;
    std::vector<std::size_t> ends;
    hash_table<slot, multiplied_spread> slots;
};

// N-grams of two or more words by their parts, with numbers from the caller.
class gram_table {
  public:
    // Calls use(i, number) for the n-gram (first[i], last[i]) of each i in turn, with its number, or npos; the places
    // in memory are prefetched. `use` may change first[i].
    template <class Use>
    void each_known(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last,
                    std::vector<std::size_t>& scratch, Use use) const {
        if (slots.empty()) {
            for (std::size_t i = 0; i < first.size(); ++i) use(i, npos);
            return;
        }
        walk(first, last, scratch, [&](std::size_t i, std::size_t start) {
            const bool hopeless = first[i] == npos || last[i] == npos;
            use(i, hopeless ? npos : slots[slots.search(start, slots.same_key(key_of(first[i], last[i])))].number);
        });
    }

    // Prefetches the slot of an n-gram.
    void expect(std::uint32_t first, std::uint32_t last) const { slots.expect(key_of(first, last)); }
    std::uint32_t find(std::uint32_t first, std::uint32_t last) const {
        return slots.empty() ? npos : slots.find(key_of(first, last)).number;
    }
    // The number of an n-gram; a new one is added with the given number. There must be room.
    std::uint32_t find_or_add(std::uint32_t first, std::uint32_t last, std::uint32_t number) {
        const std::uint64_t key = key_of(first, last);
        slot& at = slots[slots.search(key)];
        if (at.is_free()) at = {key, number};
        return at.number;
    }

    // Makes room for `count` n-grams in all.
    void reserve(std::size_t count) { slots.reserve(count); }

  private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t number = npos;
        bool is_free() const { return number == npos; }
    };

    static std::uint64_t key_of(std::uint32_t first, std::uint32_t last) { return std::uint64_t{first} << 32 | last; }

    static constexpr std::size_t ahead = 16;

    // Calls use(i, start) for each n-gram in turn, with the place where the search for it starts.
    template <class Use>
    void walk(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last,
              std::vector<std::size_t>& starts, Use use) const {
        const seeded_spread spread = slots.spread();
        starts.resize(first.size());
        for (std::size_t i = 0; i < first.size(); ++i) starts[i] = spread.start(key_of(first[i], last[i]));
        for (std::size_t i = 0; i < std::min(ahead, first.size()); ++i) prefetch(&slots[starts[i]]);
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (i + ahead < first.size()) prefetch(&slots[starts[i + ahead]]);
            use(i, starts[i]);
        }
    }

    hash_table<slot, seeded_spread> slots;
};

}  // namespace markone

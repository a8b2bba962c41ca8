// Names <-> numbers: words, and runs of words (n-grams) without a string for each.
//
// A word is found by its bytes. An n-gram is a pair of numbers, that of its first n - 1 words and that of its last
// word, and so is exact without any string being compared: "not very good" is ("not very", "good"), and "not very" is
// ("not", "very"). Its name is read off by walking back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "text/text.h"

namespace markone {

inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    return z ^ (z >> 32);
}

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

// Where tables look for a key: differently in each process, so that nobody can write keys that meet in one place.
inline const std::uint64_t table_seed = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
inline std::uint64_t place_of(std::uint64_t key) {
    return mix(key ^ table_seed);
}
// The same for keys that are well mixed already, of which somebody may have written some: the first bits of a product
// with a number that nobody knows. `shift` leaves as many bits as the size of the table has.
inline std::uint64_t random_factor() {
    return std::uint64_t{std::random_device{}()} << 32 | std::random_device{}() | 1;
}
inline const std::uint64_t table_factor = random_factor();
inline std::size_t place_of_mixed(std::uint64_t key, unsigned shift) {
    return static_cast<std::size_t>(key * table_factor >> shift);
}
inline unsigned shift_for(std::size_t size) {
    return 64 - static_cast<unsigned>(std::countr_zero(size));
}

// The same in every process: hashed features live on in models.
inline std::uint64_t hash_of(std::string_view bytes) {
    const auto load = [&]<class Word>(std::size_t at, Word word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        return std::uint64_t{word};
    };
    const std::size_t size = bytes.size();
    std::uint64_t hash = size * 0x9e3779b97f4a7c15;
    if (size >= 8) {
        for (std::size_t at = 0; at + 8 < size; at += 8)
            hash = mix(hash ^ load(at, std::uint64_t{})) + 0x9e3779b97f4a7c15;
        return mix(hash ^ load(size - 8, std::uint64_t{}));  // the last eight, some of them for the second time
    }
    return mix(hash ^ key_of_short(bytes));
}

constexpr std::uint32_t nobody = 0xffffffff;

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

// What a word is found by, beside its size: a short one by all its bytes, a longer one by its hash.
inline std::uint64_t key_of(std::string_view word) {
    return word.size() <= longest_short ? key_of_short(word) : hash_of(word);
}

// Words by their bytes, numbered as they come.
class word_table {
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

    // Makes room for so many words, of so many bytes in all.
    void reserve(std::size_t count, std::size_t size_of_all) {
        ends.reserve(count);
        bytes.reserve(size_of_all);
        if (2 * count > slots.size()) rehash(std::bit_ceil(2 * count));
    }

    // Forgets all words, and keeps the room that they had.
    void clear() {
        bytes.clear();
        ends.clear();
        std::fill(slots.begin(), slots.end(), slot{});
    }

    std::uint32_t find(std::string_view word) const { return find(word, key_of(word)); }
    std::uint32_t find_or_add(std::string_view word) { return find_or_add(word, key_of(word)); }

    // The same in two steps for those who can wait: `expect` asks for the place in memory, and returns the key.
    std::uint64_t expect(std::string_view word) const {
        const std::uint64_t key = key_of(word);
        if (!slots.empty()) __builtin_prefetch(&slots[place_of(key) & (slots.size() - 1)]);
        return key;
    }
    std::uint32_t find(std::string_view word, std::uint64_t key) const {
        return slots.empty() ? nobody : slots[place(word, key)].word;
    }
    std::uint32_t find_or_add(std::string_view word, std::uint64_t key) {
        if (2 * (size() + 1) > slots.size()) rehash(slots.empty() ? 64 : 2 * slots.size());
        slot& at = slots[place(word, key)];
        if (at.word == nobody) {
            if (size() >= nobody || word.size() >= nobody) throw std::length_error("too many words");
            const auto number = static_cast<std::uint32_t>(size());
            // The slot comes last: if there is no memory, all stays as it was.
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
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t word = nobody;
        std::uint32_t size = 0;
    };

    // Where the word is, or would be.
    std::size_t place(std::string_view word, std::uint64_t key) const {
        const std::size_t mask = slots.size() - 1;
        std::size_t at = place_of(key) & mask;
        for (; slots[at].word != nobody; at = (at + 1) & mask)
            if (slots[at].key == key && slots[at].size == word.size() &&
                (word.size() <= longest_short || (*this)[slots[at].word] == word))
                break;
        return at;
    }

    // Into so many slots, a power of 2.
    void rehash(std::size_t count) {
        table<slot> old(count);
        old.swap(slots);
        const std::size_t mask = count - 1;
        for (const slot& one : old) {
            if (one.word == nobody) continue;
            std::size_t at = place_of(one.key) & mask;
            while (slots[at].word != nobody) at = (at + 1) & mask;
            slots[at] = one;
        }
    }

    std::vector<char> bytes;
    std::vector<std::size_t> ends;
    table<slot> slots;
};

// Whole numbers as keys, numbered as they come.
template <class Key>
class key_table {
  public:
    std::size_t size() const { return keys.size(); }
    Key operator[](std::size_t number) const { return keys[number]; }
    const std::vector<Key>& all() const { return keys; }

    std::uint32_t find(Key key) const { return slots.empty() ? nobody : slots[place(key)].number; }

    // Asks for the place of a key in memory, ahead.
    void expect(Key key) const {
        if (!slots.empty()) __builtin_prefetch(&slots[place_of(key) & (slots.size() - 1)]);
    }

    // Makes room for so many keys.
    void reserve(std::size_t count) {
        keys.reserve(count);
        if (2 * count > slots.size()) rehash(std::bit_ceil(2 * count));
    }

    std::uint32_t find_or_add(Key key) {
        if (2 * (size() + 1) > slots.size()) rehash(slots.empty() ? 1024 : 2 * slots.size());
        slot& at = slots[place(key)];
        if (at.number == nobody) {
            if (size() >= nobody) throw std::length_error("too many keys");
            keys.push_back(key);
            at = {key, static_cast<std::uint32_t>(size() - 1)};
        }
        return at.number;
    }

  private:
    struct slot {
        Key key = 0;
        std::uint32_t number = nobody;
    };

    // Where the key is, or would be.
    std::size_t place(Key key) const {
        const std::size_t mask = slots.size() - 1;
        std::size_t at = place_of(key) & mask;
        while (slots[at].number != nobody && slots[at].key != key) at = (at + 1) & mask;
        return at;
    }

    // Into so many slots, a power of 2.
    void rehash(std::size_t count) {
        slots.assign(count, {});
        for (std::uint32_t number = 0; number < size(); ++number) slots[place(keys[number])] = {keys[number], number};
    }

    std::vector<Key> keys;  // by number
    table<slot> slots;
};

// N-grams of two words or more by their parts, numbered by whoever adds them. Beside its number each has a note, which
// means nothing here.
class gram_table {
  public:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t number = nobody;
        std::uint32_t note = 0;
    };

    // Calls use(i, slot) for the n-gram (first[i], last[i]) of each i in turn, with the slot where it is or would be;
    // the places in memory are asked for ahead. `use` may give an empty slot a number, if there is room, and may change
    // first[i].
    template <class Use>
    void each(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last, Use use) {
        walk(first, last, places, [&](std::size_t i, std::size_t start) {
            const std::uint64_t key = key_of(first[i], last[i]);
            slot& at = slots[place(key, start)];
            use(i, at);
            if (at.number != nobody) at.key = key;
        });
    }

    // Calls use(i, number) in the same way with the number of each n-gram, or nobody.
    template <class Use>
    void each_known(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last,
                    std::vector<std::size_t>& scratch, Use use) const {
        if (slots.empty()) {
            for (std::size_t i = 0; i < first.size(); ++i) use(i, nobody);
            return;
        }
        walk(first, last, scratch, [&](std::size_t i, std::size_t start) {
            const bool hopeless = first[i] == nobody || last[i] == nobody;
            use(i, hopeless ? nobody : slots[place(key_of(first[i], last[i]), start)].number);
        });
    }

    // Asks for the place of an n-gram in memory, ahead.
    void expect(std::uint32_t first, std::uint32_t last) const {
        if (!slots.empty()) __builtin_prefetch(&slots[place_of(key_of(first, last)) & (slots.size() - 1)]);
    }
    std::uint32_t find(std::uint32_t first, std::uint32_t last) const {
        return slots.empty() ? nobody : slots[place(key_of(first, last))].number;
    }
    // The number of an n-gram, which is added with the given number if it was not there. There must be room.
    std::uint32_t find_or_add(std::uint32_t first, std::uint32_t last, std::uint32_t number) {
        const std::uint64_t key = key_of(first, last);
        slot& at = slots[place(key)];
        if (at.number == nobody) at = {key, number, 0};
        return at.number;
    }

    // Forgets all n-grams, and keeps the room that they had.
    void clear() { std::fill(slots.begin(), slots.end(), slot{}); }

    // So that `more` can be added to the `there` that are there, and half of the slots stay empty.
    void make_room(std::size_t there, std::size_t more) {
        if (slots.size() >= 2 * (there + more)) return;
        const std::size_t size = std::bit_ceil(2 * (there + more));
        table<slot> old(size);
        old.swap(slots);
        for (const slot& one : old) {
            if (one.number == nobody) continue;
            std::size_t at = place_of(one.key) & (size - 1);
            while (slots[at].number != nobody) at = (at + 1) & (size - 1);
            slots[at] = one;
        }
    }

  private:
    static std::uint64_t key_of(std::uint32_t first, std::uint32_t last) { return std::uint64_t{first} << 32 | last; }

    static constexpr std::size_t ahead = 16;

    // Calls use(i, start) for each n-gram in turn, with the place where the search for it starts.
    template <class Use>
    void walk(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last,
              std::vector<std::size_t>& starts, Use use) const {
        const std::size_t mask = slots.size() - 1;
        starts.resize(first.size());
        for (std::size_t i = 0; i < first.size(); ++i) starts[i] = place_of(key_of(first[i], last[i])) & mask;
        for (std::size_t i = 0; i < std::min(ahead, first.size()); ++i) __builtin_prefetch(&slots[starts[i]]);
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (i + ahead < first.size()) __builtin_prefetch(&slots[starts[i + ahead]]);
            use(i, starts[i]);
        }
    }

    // Where the n-gram is, or would be; the search starts at `at`.
    std::size_t place(std::uint64_t key) const { return place(key, place_of(key) & (slots.size() - 1)); }
    std::size_t place(std::uint64_t key, std::size_t at) const {
        const std::size_t mask = slots.size() - 1;
        while (slots[at].number != nobody && slots[at].key != key) at = (at + 1) & mask;
        return at;
    }

    table<slot> slots;
    std::vector<std::size_t> places;  // of the n-grams of the current row
};

}  // namespace markone

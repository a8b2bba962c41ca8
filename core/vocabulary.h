// Names <-> numbers: words, and runs of words (n-grams) without a string for each.
//
// A word is found by its bytes. An n-gram is a pair of numbers, that of its first n - 1 words and that of its last
// word, and so is exact without any string being compared: "not very good" is ("not very", "good"), and "not very" is
// ("not", "very"). Its name is read off by walking back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "memory.h"
#include "text.h"

namespace markone {

inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    return z ^ (z >> 32);
}

inline std::uint64_t hash_of(std::string_view bytes) {
    const auto load = [&]<class Word>(std::size_t at, Word word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        return std::uint64_t{word};
    };
    const std::size_t size = bytes.size();
    std::uint64_t hash = size;
    if (size >= 8) {
        for (std::size_t at = 0; at + 8 < size; at += 8)
            hash = mix(hash ^ load(at, std::uint64_t{})) + 0x9e3779b97f4a7c15;
        return mix(hash ^ load(size - 8, std::uint64_t{}));  // the last eight, some of them for the second time
    }
    if (size >= 4) return mix(hash << 60 ^ load(0, std::uint32_t{}) << 32 ^ load(size - 4, std::uint32_t{}));
    if (size == 0) return mix(hash);
    return mix(hash << 60 ^ load(0, std::uint8_t{}) << 16 ^ load(size / 2, std::uint8_t{}) << 8 ^
               load(size - 1, std::uint8_t{}));
}

constexpr std::uint32_t nobody = 0xffffffff;

// Words by their bytes, numbered as they come.
class word_table {
  public:
    std::size_t size() const { return ends.size(); }
    std::string_view operator[](std::uint32_t word) const {
        const std::size_t begin = word == 0 ? 0 : ends[word - 1];
        return {bytes.data() + begin, ends[word] - begin};
    }

    // Forgets all words, and keeps the room that they had.
    void clear() {
        bytes.clear();
        ends.clear();
        std::fill(slots.begin(), slots.end(), slot{});
    }

    std::uint32_t find(std::string_view word) const { return find(word, hash_of(word)); }
    std::uint32_t find_or_add(std::string_view word) { return find_or_add(word, hash_of(word)); }

    // The same in two steps for those who can wait: `expect` asks for the place in memory, and returns the hash.
    std::uint64_t expect(std::string_view word) const {
        const std::uint64_t hash = hash_of(word);
        if (!slots.empty()) __builtin_prefetch(&slots[hash & (slots.size() - 1)]);
        return hash;
    }
    std::uint32_t find(std::string_view word, std::uint64_t hash) const {
        return slots.empty() ? nobody : slots[place(word, hash)].word;
    }
    std::uint32_t find_or_add(std::string_view word, std::uint64_t hash) {
        if (2 * (size() + 1) > slots.size()) grow();
        slot& at = slots[place(word, hash)];
        if (at.word == nobody) {
            if (size() >= nobody) throw std::length_error("too many words");
            at = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(size())};
            bytes.insert(bytes.end(), word.begin(), word.end());
            ends.push_back(bytes.size());
        }
        return at.word;
    }

  private:
    struct slot {
        std::uint32_t tag = 0;  // the hash's high half
        std::uint32_t word = nobody;
    };

    // Where the word is, or would be.
    std::size_t place(std::string_view word, std::uint64_t hash) const {
        const std::size_t mask = slots.size() - 1;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        std::size_t at = hash & mask;
        while (slots[at].word != nobody && (slots[at].tag != tag || (*this)[slots[at].word] != word))
            at = (at + 1) & mask;
        return at;
    }

    void grow() {
        slots.assign(slots.empty() ? 1024 : 2 * slots.size(), {});
        for (std::uint32_t word = 0; word < size(); ++word) {
            const std::uint64_t hash = hash_of((*this)[word]);
            slots[place((*this)[word], hash)] = {static_cast<std::uint32_t>(hash >> 32), word};
        }
    }

    std::vector<char> bytes;
    std::vector<std::size_t> ends;
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
    // the places in memory are asked for ahead. `use` may give an empty slot a number, if there is room.
    template <class Use>
    void each(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last, Use use) {
        constexpr std::size_t ahead = 16;
        const std::size_t mask = slots.size() - 1;
        const auto start = [&](std::size_t i) { return mix(key_of(first[i], last[i])) & mask; };
        for (std::size_t i = 0; i < std::min(ahead, first.size()); ++i) __builtin_prefetch(&slots[start(i)]);
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (i + ahead < first.size()) __builtin_prefetch(&slots[start(i + ahead)]);
            const std::uint64_t key = key_of(first[i], last[i]);
            slot& at = slots[place(key)];
            use(i, at);
            if (at.number != nobody) at.key = key;
        }
    }

    // The number of an n-gram, or nobody; `expect` asks for its place in memory ahead.
    std::uint32_t find(std::uint32_t first, std::uint32_t last) const {
        if (slots.empty()) return nobody;
        return slots[place(key_of(first, last))].number;
    }
    void expect(std::uint32_t first, std::uint32_t last) const {
        if (!slots.empty()) __builtin_prefetch(&slots[mix(key_of(first, last)) & (slots.size() - 1)]);
    }
    // The same, added with the given number if it was not there. There must be room.
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
        if (!slots.empty() && slots.size() >= 2 * (there + more)) return;
        std::size_t size = std::max(slots.size(), std::size_t{1024});
        while (size < 2 * (there + more)) size *= 2;
        table<slot> old(size);
        old.swap(slots);
        for (const slot& one : old) {
            if (one.number == nobody) continue;
            std::size_t at = mix(one.key) & (size - 1);
            while (slots[at].number != nobody) at = (at + 1) & (size - 1);
            slots[at] = one;
        }
    }

  private:
    static std::uint64_t key_of(std::uint32_t first, std::uint32_t last) { return std::uint64_t{first} << 32 | last; }

    // Where the n-gram is, or would be.
    std::size_t place(std::uint64_t key) const {
        const std::size_t mask = slots.size() - 1;
        std::size_t at = mix(key) & mask;
        while (slots[at].number != nobody && slots[at].key != key) at = (at + 1) & mask;
        return at;
    }

    table<slot> slots;
};

}  // namespace markone

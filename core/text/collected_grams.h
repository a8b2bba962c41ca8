// N-grams while they are collected: found by their parts, numbered in the order of their first occurrence, and counted.
//
// Most n-grams of a corpus are rare, so nearly every search ends in memory that is not in a cache. A slot of the table
// therefore has only eight bytes: half of the key's hash, and the number. The parts of an n-gram are in its record,
// beside its counts. Records stand in the order of their numbers, so those of frequent n-grams, which occur early, are
// close together and stay in the caches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_table.h"
#include "base/portable.h"

namespace markone {

// For keys that are the highest 32 bits of well mixed hashes. They are also the start of the search, so that keys stay
// in their order when the table grows, which then reads and writes memory in order.
class leading_spread {
  public:
    static bool has_room(std::size_t count, std::size_t capacity) { return 8 * count <= 5 * capacity; }
    static std::size_t capacity_for(std::size_t count, std::size_t capacity) {
        constexpr std::size_t smallest = 64;
        capacity = std::max(capacity, smallest);
        while (!has_room(count, capacity)) capacity *= 2;
        return capacity;
    }
    void resize(std::size_t capacity) {
        mask = capacity - 1;
        shift = 32 - static_cast<unsigned>(std::countr_zero(capacity));
    }
    std::size_t start(std::uint64_t key) const { return static_cast<std::size_t>(key >> shift); }
    std::size_t after(std::size_t at) const { return (at + 1) & mask; }

  private:
    std::size_t mask = 0;
    unsigned shift = 32;
};

class collected_grams {
  public:
    // An n-gram: its first words as a number, npos if it has one word; its last word; a note of the caller; and the
    // number of rows in which it occurs.
    struct record {
        std::uint32_t first, last, note, rows;
    };

    std::size_t size() const { return records.size(); }
    record& operator[](std::size_t number) { return records[number]; }
    const record& operator[](std::size_t number) const { return records[number]; }
    auto begin() const { return records.begin(); }
    auto end() const { return records.end(); }
    auto begin() { return records.begin(); }
    auto end() { return records.end(); }

    // Adds an n-gram that is new and not found by its parts, such as a single word.
    std::uint32_t push(const record& one) {
        const std::uint32_t number = next_number(size(), "too many n-grams");
        records.push_back(one);
        return number;
    }

    // The number of an n-gram of two words or more; a new one gets the next number.
    std::uint32_t find_or_add(std::uint32_t first, std::uint32_t last) {
        slots.reserve(paired + 1);
        const std::uint32_t key = hash_of_pair(first, last);
        return meet(first, last, key, slots.spread().start(key));
    }

    // Calls use(i, number, record) for the n-gram (first[i], last[i]) of each i in turn; `use` may change first[i].
    // The places in memory are prefetched.
    template <class Use>
    void each(std::span<const std::uint32_t> first, std::span<const std::uint32_t> last, Use use) {
        const std::size_t count = first.size();
        slots.reserve(paired + count);
        hashes.resize(count);
        places.resize(count);
        const leading_spread spread = slots.spread();
        for (std::size_t i = 0; i < count; ++i) {
            hashes[i] = hash_of_pair(first[i], last[i]);
            places[i] = spread.start(hashes[i]);
        }
        // Three steps at different places: the slot is prefetched, then searched and the record is prefetched, then
        // the record is compared and used.
        const std::size_t step = std::min(ahead, count);
        for (std::size_t i = 0; i < count + 2 * step; ++i) {
            if (i < count) prefetch(&slots[places[i]]);
            if (i >= step && i < count + step) {
                std::size_t& place = places[i - step];
                place = slots.search(place, slots.same_key(hashes[i - step]));
                if (!slots[place].is_free()) prefetch_to_write(&records[slots[place].number]);
            }
            if (i < 2 * step) continue;
            const std::size_t now = i - 2 * step;
            const std::uint32_t number = meet(first[now], last[now], hashes[now], places[now]);
            use(now, number, records[number]);
        }
    }

  private:
    struct slot {
        std::uint32_t key = 0;
        std::uint32_t number = npos;
        bool is_free() const { return number == npos; }
    };

    static constexpr std::size_t ahead = 32;  // rows of training texts are long, and memory is slow

    static std::uint32_t hash_of_pair(std::uint32_t first, std::uint32_t last) {
        return static_cast<std::uint32_t>(mix((std::uint64_t{first} << 32 | last) ^ table_seed) >> 32);
    }

    std::uint32_t meet(std::uint32_t first, std::uint32_t last, std::uint32_t key, std::size_t place) {
        slot& at = slots[slots.search(place, [&](const slot& one) {
            return one.key == key && records[one.number].last == last && records[one.number].first == first;
        })];
        if (at.is_free()) {
            at = {key, push({first, last, 0, 0})};
            ++paired;
        }
        return at.number;
    }

    table<record> records;  // by number
    hash_table<slot, leading_spread> slots;
    std::size_t paired = 0;  // n-grams in the table
    std::vector<std::uint32_t> hashes;
    std::vector<std::size_t> places;
};

}  // namespace markone

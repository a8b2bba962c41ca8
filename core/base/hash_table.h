// The hash table of the core: open addressing with linear probing. Keys are never removed.
//
// A slot is a struct with a member `key` and a function is_free(). A `Spread` computes where the search for a key
// starts and how many slots there are. An attacker may choose texts and files so that all keys start at one slot; each
// Spread describes its protection against that.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/portable.h"

namespace markone {

// Features and words have 32-bit numbers. A search that finds nothing returns npos.
constexpr std::uint32_t npos = 0xffffffff;

// Called wherever 32-bit numbers could be used up. Tests use a smaller limit.
inline void check_numbers(std::size_t count, const char* problem, std::size_t limit = npos) {
    if (count >= limit) throw std::length_error(problem);
}
// The number for the next item after `count` items.
inline std::uint32_t next_number(std::size_t count, const char* problem, std::size_t limit = npos) {
    check_numbers(count, problem, limit);
    return static_cast<std::uint32_t>(count);
}

inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    return z ^ (z >> 32);
}

inline std::uint64_t random_seed() {
    return std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
}
// An odd number, so that different keys have different products.
inline std::uint64_t random_factor() {
    return random_seed() | 1;
}
inline const std::uint64_t table_seed = random_seed();
inline const std::uint64_t table_factor = random_factor();

// The capacity is a power of 2, and half of the slots stay free.
struct power_of_two {
    static bool has_room(std::size_t count, std::size_t capacity) { return 2 * count <= capacity; }
    static std::size_t capacity_for(std::size_t count, std::size_t) {
        constexpr std::size_t smallest = 64;
        return std::max(smallest, std::bit_ceil(2 * count));
    }
};

// For keys of any kind. Nobody can choose colliding keys: they are mixed with a random number of each process.
class seeded_spread : public power_of_two {
  public:
    void resize(std::size_t capacity) { mask = capacity - 1; }
    std::size_t start(std::uint64_t key) const { return static_cast<std::size_t>(mix(key ^ table_seed)) & mask; }
    std::size_t after(std::size_t at) const { return (at + 1) & mask; }

  private:
    std::size_t mask = 0;
};

// For keys that are hashes, and so well mixed: the highest bits of a product with a factor that differs in each
// process. If `in_line` slots fill a line of the cache, a search starts at the beginning of a line, whose slots are
// filled in their order, and rarely leaves it, so one read from memory is enough.
template <std::size_t in_line>
class line_spread : public power_of_two {
  public:
    void resize(std::size_t capacity) {
        mask = capacity - 1;
        shift = 64 - static_cast<unsigned>(std::countr_zero(capacity));
    }
    std::size_t start(std::uint64_t key) const {
        return static_cast<std::size_t>(key * table_factor >> shift) & ~(in_line - 1);
    }
    std::size_t after(std::size_t at) const { return (at + 1) & mask; }

  private:
    std::size_t mask = 0;
    unsigned shift = 0;
};
using multiplied_spread = line_spread<1>;

// For keys that are hashes, in large tables: any capacity is possible, and 7 of 10 slots are used. The factor is 1, so
// a table is the same in each process, unless too many keys collide. Then build_table chooses a random factor.
class scaled_spread {
  public:
    explicit scaled_spread(std::uint64_t factor = 1) : multiplier(factor) {}
    static bool has_room(std::size_t count, std::size_t capacity) { return 10 * count <= 7 * capacity; }
    static std::size_t capacity_for(std::size_t count, std::size_t capacity) {
        constexpr std::size_t smallest = std::size_t{1} << 16;
        capacity = std::max(capacity, smallest);
        while (!has_room(count, capacity)) capacity += capacity / 2;
        return capacity;
    }
    void resize(std::size_t capacity) { size = capacity; }
    std::uint64_t factor() const { return multiplier; }
    std::size_t start(std::uint64_t key) const {
        return static_cast<std::size_t>(static_cast<uint128>(key * multiplier) * size >> 64);
    }
    std::size_t after(std::size_t at) const { return at + 1 == size ? 0 : at + 1; }
    // The number of steps from the start of a search to a slot.
    std::size_t steps(std::uint64_t key, std::size_t at) const {
        const std::size_t first = start(key);
        return at >= first ? at - first : at + size - first;
    }

  private:
    std::uint64_t multiplier;
    std::size_t size = 0;
};

// Makes a table with build(capacity, factor), which returns false if some key needed a long search. With a random
// factor any set of different keys fits; the table is at most four times as large as usual.
template <class Build>
void build_table(std::size_t capacity, std::uint64_t factor, Build build) {
    constexpr std::size_t tries = 12, tries_of_size = 4;
    for (std::size_t done = 0; done < tries; ++done) {
        if (build(capacity << done / tries_of_size, factor)) return;
        factor = random_factor();
    }
    throw std::invalid_argument("too many keys want one place");
}

template <class Slot, class Spread>
class hash_table {
  public:
    // By chance, this many consecutive slots are full in less than one of 10^19 tables.
    static constexpr std::size_t most_steps = 1000;

    hash_table() = default;
    explicit hash_table(std::size_t capacity, Spread how = Spread()) : how(how), slots(capacity) {
        this->how.resize(capacity);
    }

    // Searches need a table that has slots.
    bool empty() const { return slots.empty(); }
    std::size_t capacity() const { return slots.size(); }
    const Spread& spread() const { return how; }
    Slot& operator[](std::size_t at) { return slots[at]; }
    const Slot& operator[](std::size_t at) const { return slots[at]; }
    auto begin() const { return slots.begin(); }
    auto end() const { return slots.end(); }

    // Prefetches the slot where the search for a key starts.
    void expect(std::uint64_t key) const {
        if (!slots.empty()) prefetch(&slots[how.start(key)]);
    }

    // The slot for which `same` holds, or the free slot that ends the search.
    template <class Same>
    std::size_t search(std::size_t at, Same same) const {
        while (!slots[at].is_free() && !same(slots[at])) at = how.after(at);
        return at;
    }
    std::size_t search(std::uint64_t key) const { return search(how.start(key), same_key(key)); }
    static auto same_key(std::uint64_t key) {
        return [key](const Slot& one) { return one.key == key; };
    }

    // The slot of a key, which is free if the key is not in the table.
    const Slot& find(std::uint64_t key) const { return slots[search(key)]; }
    template <class Same>
    const Slot& find(std::uint64_t key, Same same) const {
        return slots[search(how.start(key), same)];
    }

    // The slot of a key, in a table of `count` keys. If it is free, the caller fills it.
    Slot& find_or_claim(std::uint64_t key, std::size_t count) { return find_or_claim(key, count, same_key(key)); }
    template <class Same>
    Slot& find_or_claim(std::uint64_t key, std::size_t count, Same same) {
        reserve(count + 1);
        std::size_t at = search(how.start(key), same);
        if constexpr (requires { how.steps(key, at); })
            if (slots[at].is_free() && how.steps(key, at) > most_steps) {
                spread_anew();
                at = search(how.start(key), same);
            }
        return slots[at];
    }

    // Inserts a slot with a new key where the search for it ends. Returns false if that search is too long.
    bool put(std::uint64_t key, const Slot& one) {
        const std::size_t at = search(how.start(key), is_none);
        if constexpr (requires { how.steps(key, at); })
            if (how.steps(key, at) > most_steps) return false;
        slots[at] = one;
        return true;
    }

    // Makes room for `count` keys.
    void reserve(std::size_t count) {
        if (!Spread::has_room(count, capacity())) grow(count);
    }

    // Replaces the table by one that fill(table) fills; fill returns false if some key did not get a slot.
    template <class Fill>
    void build(std::size_t capacity, std::uint64_t factor, Fill fill) {
        build_table(capacity, factor, [&](std::size_t size, std::uint64_t other) {
            hash_table made(size, Spread(other));
            if (!fill(made)) return false;
            *this = std::move(made);
            return true;
        });
    }

    // Removes all keys, and keeps the memory.
    void clear() { std::fill(slots.begin(), slots.end(), Slot{}); }

  private:
    static constexpr auto is_none = [](const Slot&) { return false; };

    // Rarely called, and not inlined, so that the code of the search stays small.
    [[gnu::noinline]] void grow(std::size_t count) {
        hash_table wider(Spread::capacity_for(count, capacity()), how);
        for (const Slot& one : slots)
            if (!one.is_free()) wider[wider.search(wider.how.start(one.key), is_none)] = one;
        *this = std::move(wider);
    }
    // Moves all keys to other slots.
    [[gnu::noinline]] void spread_anew() {
        build(capacity(), random_factor(), [&](hash_table& made) {
            return std::ranges::all_of(slots, [&](const Slot& one) { return one.is_free() || made.put(one.key, one); });
        });
    }

    Spread how;
    table<Slot> slots;
};

// Keys that are whole numbers, numbered in the order of their first occurrence.
template <class Key, class Spread, std::uint32_t limit = npos>
class numbered_keys {
  public:
    std::size_t size() const { return keys_in_order.size(); }
    Key operator[](std::size_t number) const { return keys_in_order[number]; }
    const std::vector<Key>& keys() const { return keys_in_order; }

    // Prefetches the slot of a key.
    void expect(Key key) const { slots.expect(key); }
    std::uint32_t find(Key key) const { return slots.empty() ? npos : slots.find(key).number; }
    std::uint32_t find_or_add(Key key) {
        slot& at = slots.find_or_claim(key, size());
        if (at.is_free()) {
            const std::uint32_t number = next_number(size(), "too many features", limit);
            keys_in_order.push_back(key);
            at = {key, number};
        }
        return at.number;
    }
    // Makes room for `count` keys.
    void reserve(std::size_t count) {
        slots.reserve(count);
        keys_in_order.reserve(count);
    }

  private:
    struct slot {
        Key key = 0;
        std::uint32_t number = npos;
        bool is_free() const { return number == npos; }
    };

    std::vector<Key> keys_in_order;
    hash_table<slot, Spread> slots;
};

// Keys of any kind.
template <class Key>
using key_table = numbered_keys<Key, seeded_spread>;

}  // namespace markone

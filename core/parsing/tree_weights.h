// The weights of parsers, which are found by 64-bit keys. The weights of one feature lie in one cache line.
//
// Weights change by whole numbers. The weights of a feature for the moves always sum to 0, so the last one need not be
// stored. Sums of whole numbers are exact in any order. With partitions, the whole numbers are multiples of a fraction.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "base/memory.h"
#include "base/portable.h"
#include "parsing/transitions.h"
#include "parsing/tree_mixing.h"

namespace markone {

using move_scores = std::array<std::int64_t, move_count>;

constexpr std::size_t most_templates = 64;  // of labels

// The arrays for the scores of labels have room for more scores than there are labels, to which entries without a label
// add 0. There are several of them, because additions to the same score have to wait for each other.
constexpr std::size_t unused_scores = 8;

// A weight has 16 bits, and its changes stop at the limits.
constexpr std::int32_t largest_weight = 32767;
constexpr std::uint32_t in_halves(std::int32_t lower, std::uint32_t upper) {
    return static_cast<std::uint16_t>(lower) | upper << 16;
}
constexpr std::int16_t lower_half(std::uint32_t both) {
    return static_cast<std::int16_t>(both & 0xffff);
}

// The last byte of a key is ignored, because files do not store it. The four bytes before it distinguish keys that come
// to the same bucket.
constexpr std::uint64_t kept_bits = ~std::uint64_t{0xff};
inline std::uint32_t part_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 8);
}

// By chance, so many adjacent full buckets occur less than once in 10^19 tables.
constexpr std::size_t most_full_buckets = 100;

// A table of weights for moves. A bucket is a cache line, in which a key is compared with all others at once, without
// branches. Half of a key is stored, so an absent key is confused with another one about once in a billion times. It is
// not a hash_table: with slots instead of buckets, scoring took two to four times as long.
class move_table {
  public:
    static constexpr std::size_t room = 7;         // of a bucket
    static constexpr std::size_t most_keys = 128;  // that can be scored at once

    std::size_t size() const { return buckets.size(); }
    std::uint64_t factor() const { return spread.factor(); }
    void make(std::size_t count, std::uint64_t factor) {
        buckets.assign(count, bucket{});
        spread = scaled_spread(factor);
        spread.resize(count);
    }
    std::size_t start(std::uint64_t key) const { return spread.start(key & kept_bits); }
    std::size_t after(std::size_t bucket) const { return spread.after(bucket); }
    void expect(std::uint64_t key) const { prefetch(&buckets[start(key)]); }
    void expect_place(std::size_t place) const { prefetch(&buckets[place / room]); }

    // Adds up the weights of features. All buckets are prefetched before the first is read.
    move_scores score(std::span<const std::uint64_t> keys) const {
        std::array<const bucket*, most_keys> places;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            places[i] = &buckets[start(keys[i])];
            prefetch(places[i]);
        }
        four shift{}, left{};
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::int32_t check = check_of(keys[i]);
            for (const bucket* at = places[i];;) {
                for (std::size_t half = 0; half < 2; ++half) {
                    const four found = at->weights[half] & (at->checks[half] == check);
                    shift += (found << 16) >> 16;
                    left += found >> 16;
                }
                if (at->checks[1][3] == 0) [[likely]]
                    break;
                if (++at == buckets.data() + buckets.size()) at = buckets.data();
            }
        }
        const std::int64_t shifts = std::int64_t{shift[0]} + shift[1] + shift[2] + shift[3];
        const std::int64_t lefts = std::int64_t{left[0]} + left[1] + left[2] + left[3];
        return {shifts, lefts, -shifts - lefts};
    }

    using pair = std::array<std::int16_t, 2>;  // of shift and left
    static constexpr std::size_t nowhere = ~std::size_t{0};

    // The place of a key: 7 times the number of its bucket, plus its position in the bucket.
    std::size_t find(std::uint64_t key) const {
        const std::int32_t check = check_of(key);
        for (std::size_t at = start(key);; at = after(at)) {
            for (std::size_t i = 0; i < room; ++i)
                if (buckets[at].checks[i / 4][i % 4] == check) return at * room + i;
            if (buckets[at].checks[1][3] == 0) return nowhere;
        }
    }
    // A new place for a key, or nowhere if the search would take long.
    std::size_t add(std::uint64_t key) {
        std::size_t bucket = start(key);
        for (std::size_t full = 0; full <= most_full_buckets; ++full) {
            const std::size_t taken = count_of(bucket);
            if (taken < room) {
                take(bucket * room + taken, key, {});
                return bucket * room + taken;
            }
            spill(bucket);
            bucket = after(bucket);
        }
        return nowhere;
    }
    // The number of taken places in a bucket. They are always the first ones.
    std::size_t count_of(std::size_t bucket) const {
        std::size_t taken = 0;
        while (taken < room && is_taken(bucket * room + taken)) ++taken;
        return taken;
    }
    void take(std::size_t place, std::uint64_t key, pair weights) {
        buckets[place / room].checks[place % room / 4][place % room % 4] = check_of(key);
        set(place, weights);
    }
    // Marks that a search continues in the next bucket.
    void spill(std::size_t bucket) { buckets[bucket].checks[1][3] = spilled; }
    bool is_taken(std::size_t place) const {
        return buckets[place / room].checks[place % room / 4][place % room % 4] != 0;
    }
    pair get(std::size_t place) const {
        const auto both = static_cast<std::uint32_t>(buckets[place / room].weights[place % room / 4][place % room % 4]);
        return {static_cast<std::int16_t>(both & 0xffff), static_cast<std::int16_t>(both >> 16)};
    }
    // Places can be marked. The marks of a bucket are the bits of a number that no weight needs.
    bool has_marks(std::size_t bucket) const { return buckets[bucket].weights[1][3] != 0; }
    bool is_marked(std::size_t place) const { return (buckets[place / room].weights[1][3] >> (place % room) & 1) != 0; }
    void mark(std::size_t place, bool marked = true) {
        std::int32_t marks = buckets[place / room].weights[1][3];
        marks &= ~(1 << place % room);
        buckets[place / room].weights[1][3] = marks | static_cast<std::int32_t>(marked) << place % room;
    }
    void set(std::size_t place, pair weights) {
        const std::uint32_t both = in_halves(weights[0], static_cast<std::uint16_t>(weights[1]));
        buckets[place / room].weights[place % room / 4][place % room % 4] = static_cast<std::int32_t>(both);
    }

  private:
    using four [[gnu::vector_size(16)]] = std::int32_t;
    struct alignas(64) bucket {
        four checks[2]{};  // 0 for a free place; the last one says whether a search continues in the next bucket
        four weights[2]{};
    };
    static constexpr std::int32_t spilled = 1;
    static std::int32_t check_of(std::uint64_t key) {
        const std::uint32_t part = part_of(key);
        return static_cast<std::int32_t>(part < 2 ? part + 2 : part);
    }

    table<bucket> buckets;
    scaled_spread spread;
};

// A large array in blocks, which are allocated at first use and can be freed one by one.
template <class T>
class blocks_of {
  public:
    static constexpr std::size_t in_block = std::size_t{1} << 20;

    explicit blocks_of(std::size_t size = 0) : count(size), blocks((size + in_block - 1) / in_block) {}
    std::size_t size() const { return count; }
    T& operator[](std::size_t at) { return blocks[at / in_block][at % in_block]; }
    const T& operator[](std::size_t at) const { return blocks[at / in_block][at % in_block]; }

    void make(std::size_t block) {
        if (blocks[block].empty()) blocks[block].resize(std::min(in_block, count - block * in_block));
    }
    void make_all() {
        for (std::size_t block = 0; block < blocks.size(); ++block) make(block);
    }
    void give_back(std::size_t block) { table<T>().swap(blocks[block]); }

  private:
    std::size_t count;
    std::vector<table<T>> blocks;
};

// The weights of moves during training. After T steps the average weight is w - u / T, where u is the sum of all
// changes, each multiplied by the number of steps before it. Data that scoring does not need is stored separately.
//
// If two keys want the same place, the smaller one gets it. So the places depend only on the set of keys, and not on
// their order. Since only half of a key is stored, two keys may be confused; after resuming, the same keys are
// confused.
class learned_moves {
  public:
    using pair = move_table::pair;
    using sums = std::array<std::int64_t, 2>;

    learned_moves() { grow(first_size); }
    std::size_t size() const { return count; }
    void expect(std::uint64_t key) const { w.expect(key); }
    move_scores score(std::span<const std::uint64_t> some) const { return w.score(some); }

    // Changes the weights of shift and left for some features.
    void change(std::span<const std::uint64_t> some, std::array<std::int32_t, 2> amounts, std::int64_t steps_before) {
        for (const std::uint64_t key : some) add_if_new(key);
        std::array<std::size_t, move_table::most_keys> places;
        for (std::size_t i = 0; i < some.size(); ++i) {
            places[i] = w.find(some[i]);
            prefetch_to_write(&rows.u[places[i]]);
        }
        for (const std::size_t at : std::span(places).first(some.size())) {
            move(at, amounts, steps_before);
            w.mark(at);
        }
    }
    void move(std::size_t at, std::array<std::int32_t, 2> amounts, std::int64_t steps_before) {
        pair weights = w.get(at);
        for (std::size_t i = 0; i < 2; ++i) {
            const std::int32_t moved = std::clamp(weights[i] + amounts[i], -largest_weight, largest_weight);
            rows.u[at][i] += (moved - weights[i]) * steps_before;
            weights[i] = static_cast<std::int16_t>(moved);
        }
        w.set(at, weights);
    }
    // Sets all weights to 0, as a change at this step. The averages still contain the weights before it.
    void start_anew(std::int64_t steps) {
        for (std::size_t at = 0; at < rows.size(); ++at) {
            const pair weights = w.get(at);
            for (std::size_t i = 0; i < 2; ++i) rows.u[at][i] -= weights[i] * steps;
            w.set(at, {0, 0});
        }
    }

    // ---- partitions, see tree_mixing.h

    using changes = part_changes<std::int32_t, std::int64_t, 2>;

    // Starts a pass of a partition, which has learned nothing, or nothing since its changes were taken.
    void start_at(const learned_moves& base) {
        w = base.w;
        if (rows.size() != base.rows.size()) rows = place_data(base.rows.size());
        rows.make_all();
        rows.keys = base.rows.keys;
        count = base.count;
    }
    // Takes what a partition has changed in so many steps.
    changes take(const learned_moves& base, std::int64_t steps) {
        std::vector<std::size_t> marked;
        for (std::size_t bucket = 0; bucket < w.size(); ++bucket)
            for (std::size_t at = bucket * move_table::room, end = at + move_table::room;
                 w.has_marks(bucket) && at < end; ++at)
                if (w.is_marked(at)) marked.push_back(at);
        changes found;
        const auto expect = [&](std::size_t at) {
            prefetch_to_write(&rows.u[at]);
            base.w.expect(rows.keys[at]);
        };
        each_ahead(marked, expect, [&](std::size_t at) {
            const std::size_t there = base.w.find(rows.keys[at]);
            const bool known = there != move_table::nowhere && base.rows.keys[there] == rows.keys[at];
            const pair now = w.get(at), before = known ? base.w.get(there) : pair{};
            found.add(known, known ? there : rows.keys[at], {now[0] - before[0], now[1] - before[1]}, rows.u[at],
                      steps);
            rows.u[at] = {};
        });
        return found;
    }
    // Mixes these weights with the changes of all partitions. `steps` is the number of steps after them.
    void mix(std::span<const changes* const> all, std::int64_t steps) {
        mix_partitions(*this, all, steps, [&](const auto& one) {
            add_if_new(one.where);
            return w.find(one.where);
        });
    }
    std::size_t places() const { return rows.size(); }
    void expect_place(std::size_t at) {
        if (at >= moved_by_parts.size()) return;
        prefetch_to_write(&moved_by_parts[at]);
        prefetch_to_write(&rows.u[at]);
        w.expect_place(at);
    }
    void reduce_sum(std::size_t at, const sums& amounts) {
        for (std::size_t i = 0; i < 2; ++i) rows.u[at][i] -= amounts[i];
    }
    std::vector<std::array<std::int32_t, 2>> moved_by_parts;  // zeros, except while partitions are mixed

    // Makes room for this number of features. The table has the size that it would have after adding them one by one.
    void reserve(std::size_t features) {
        std::size_t size = w.size();
        while (features > size * most_in_bucket) size += size / 2;
        if (size > w.size()) grow(size);
    }
    void put(std::uint64_t key, pair weights, sums sum) {
        add_if_new(key);
        const std::size_t at = w.find(key);
        w.set(at, weights);
        rows.u[at] = sum;
    }
    // Calls use(weights, sums) for each feature, in any order.
    template <class Use>
    void walk(Use use) const {
        for (std::size_t at = 0; at < rows.size(); ++at)
            if (w.is_taken(at)) use(w.get(at), rows.u[at]);
    }
    // Calls use(key, weights, sums) for each feature, sorted by key.
    template <class Use>
    void each(Use use) const {
        std::vector<std::size_t> order;
        order.reserve(count);
        for (std::size_t at = 0; at < rows.size(); ++at)
            if (w.is_taken(at)) order.push_back(at);
        std::ranges::sort(order, {}, [&](std::size_t at) { return rows.keys[at]; });
        for (const std::size_t at : order) use(rows.keys[at], w.get(at), rows.u[at]);
    }

    // The squared length of the weights, which are whole numbers.
    double norm2() const {
        double sum = 0;
        walk([&](pair weights, sums) {
            const double shift = weights[0], left = weights[1];
            sum += shift * shift + left * left + (shift + left) * (shift + left);
        });
        return sum;
    }

  private:
    struct item {
        std::uint64_t key = 0;
        sums u{};
        pair weights{};
        bool marked = false;
    };
    // Data of the places of a table, in blocks that are made and given back together.
    struct place_data {
        blocks_of<std::uint64_t> keys;
        blocks_of<sums> u;

        explicit place_data(std::size_t size = 0) : keys(size), u(size) {}
        std::size_t size() const { return keys.size(); }
        void make(std::size_t block) {
            keys.make(block);
            u.make(block);
        }
        void make_all() {
            keys.make_all();
            u.make_all();
        }
        void give_back(std::size_t block) {
            keys.give_back(block);
            u.give_back(block);
        }
        static constexpr std::size_t in_block = blocks_of<sums>::in_block;
    };

    void add_if_new(std::uint64_t key) {
        if (w.find(key) != move_table::nowhere) return;
        if (count + 1 > w.size() * most_in_bucket) grow(w.size() + w.size() / 2);
        item one{.key = key};
        if (!insert(w, rows, one, most_full_buckets)) spread(one);
        ++count;
    }
    // Inserts an item into its bucket, in ascending order. If the bucket is full, the largest item moves to the next
    // one. Returns false if more than `most` buckets were full; then one item has no place.
    static bool insert(move_table& table, place_data& rows, item& one, std::size_t most) {
        constexpr std::size_t room = move_table::room;
        std::size_t bucket = table.start(one.key);
        for (std::size_t full = 0; full <= most; ++full) {
            const std::size_t first = bucket * room;
            rows.make(first / place_data::in_block);
            rows.make((first + room - 1) / place_data::in_block);
            const std::size_t taken = table.count_of(bucket);
            std::size_t at = taken;
            while (at > 0 && rows.keys[first + at - 1] > one.key) --at;
            item left{};
            if (taken == room) left = at == room ? one : item_at(table, rows, first + room - 1);
            for (std::size_t i = std::min(taken, room - 1); i > at; --i)
                place(table, rows, first + i, item_at(table, rows, first + i - 1));
            if (at < room) place(table, rows, first + at, one);
            if (taken < room) return true;
            table.spill(bucket);
            one = left;
            bucket = table.after(bucket);
        }
        return false;
    }
    static item item_at(const move_table& table, const place_data& rows, std::size_t at) {
        return {rows.keys[at], rows.u[at], table.get(at), table.is_marked(at)};
    }
    static void place(move_table& table, place_data& rows, std::size_t at, const item& one) {
        table.take(at, one.key, one.weights);
        table.mark(at, one.marked);
        rows.keys[at] = one.key;
        rows.u[at] = one.u;
    }

    // Keys are almost in ascending order, so both tables are visited from end to end, and visited blocks are freed. A
    // larger table has fewer adjacent full buckets, so no search in it takes longer.
    void grow(std::size_t buckets) {
        move_table wider;
        wider.make(buckets, w.factor());
        place_data wider_rows(buckets * move_table::room);
        for (std::size_t at = 0; at < rows.size(); ++at) {
            if (w.is_taken(at)) {
                item one = item_at(w, rows, at);
                insert(wider, wider_rows, one, buckets);
            }
            if ((at + 1) % place_data::in_block == 0) rows.give_back(at / place_data::in_block);
        }
        wider_rows.make_all();
        std::swap(w, wider);
        std::swap(rows, wider_rows);
    }
    // Finds new places for all items, and for one more.
    void spread(const item& more) {
        build_table(w.size(), random_factor(), [&](std::size_t buckets, std::uint64_t factor) {
            move_table other;
            other.make(buckets, factor);
            place_data other_rows(buckets * move_table::room);
            item one = more;
            bool fits = insert(other, other_rows, one, most_full_buckets);
            for (std::size_t at = 0; fits && at < rows.size(); ++at) {
                if (!w.is_taken(at)) continue;
                one = item_at(w, rows, at);
                fits = insert(other, other_rows, one, most_full_buckets);
            }
            if (!fits) return false;
            other_rows.make_all();
            std::swap(w, other);
            std::swap(rows, other_rows);
            return true;
        });
    }

    static constexpr std::size_t first_size = std::size_t{1} << 12;
    static constexpr std::size_t most_in_bucket = 4;  // on average
    move_table w;
    place_data rows;  // by place in the table
    std::size_t count = 0;
};

// The weights of labels during training. Only weights that have ever changed are stored. Data that scoring does not
// need is stored separately.
class learned_labels {
  public:
    struct entry {
        std::int64_t u = 0;
        std::int32_t w = 0;
        std::uint16_t label = 0;
    };

    explicit learned_labels(std::size_t labels) : count(labels) {}
    std::size_t labels() const { return count; }
    std::size_t size() const { return rows; }
    void expect(std::uint64_t key) const { slots.expect(key); }
    void score(std::span<const std::uint64_t> keys, std::span<std::int64_t> scores) const {
        std::ranges::fill(scores, 0);
        if (slots.empty()) return;
        std::array<const slot*, most_templates> found;
        std::size_t there = 0;
        for (const std::uint64_t key : keys) {
            const slot& one = slots.find(key);
            if (one.is_free()) continue;
            found[there++] = &one;
            prefetch(&weights[one.begin]);
        }
        for (std::size_t i = 0; i < there; ++i)
            for (const std::uint32_t one : std::span(weights).subspan(found[i]->begin, found[i]->count))
                scores[one >> 16] += lower_half(one);
    }
    void change(std::uint64_t key, std::uint16_t label, std::int32_t amount, std::int64_t steps_before) {
        slot& one = slot_of(key);
        one.marked = true;
        move(entry_in(one, label), {amount}, steps_before);
    }
    void move(std::size_t at, std::array<std::int32_t, 1> amount, std::int64_t steps_before) {
        const std::int32_t before = lower_half(weights[at]);
        const std::int32_t moved = std::clamp(before + amount[0], -largest_weight, largest_weight);
        weights[at] = in_halves(moved, weights[at] >> 16);
        u[at] += (moved - before) * steps_before;
    }
    void start_anew(std::int64_t steps) {
        for (std::size_t at = 0; at < weights.size(); ++at) {
            u[at] -= lower_half(weights[at]) * steps;
            weights[at] = in_halves(0, weights[at] >> 16);
        }
    }

    // ---- partitions, see tree_mixing.h

    using changes = part_changes<std::int32_t, std::int64_t, 1>;

    void start_at(const learned_labels& base) {
        *this = base;
        std::ranges::fill(u, 0);
    }
    changes take(const learned_labels& base, std::int64_t steps) {
        changes found;
        for (const slot& one : slots) {
            if (!one.marked) continue;
            const slot* const there = base.slots.empty() ? nullptr : &base.slots.find(one.key);
            for (std::size_t at = one.begin; at < one.begin + one.count; ++at) {
                const auto label = static_cast<std::uint16_t>(weights[at] >> 16);
                const std::size_t before = there == nullptr ? nowhere : base.find(*there, label);
                const bool known = before != nowhere;
                const std::int32_t moved = lower_half(weights[at]) - (known ? lower_half(base.weights[before]) : 0);
                found.add(known, known ? before : one.key, {moved}, {u[at]}, steps, label);
            }
        }
        return found;
    }
    void mix(std::span<const changes* const> all, std::int64_t steps) {
        mix_partitions(*this, all, steps, [&](const auto& one) { return entry_of(one.where, one.label); });
    }
    void expect_place(std::size_t at) const {
        if (at < weights.size()) prefetch(&weights[at]);
    }
    std::size_t places() const { return weights.size(); }
    void reduce_sum(std::size_t at, std::array<std::int64_t, 1> amount) { u[at] -= amount[0]; }
    std::vector<std::array<std::int32_t, 1>> moved_by_parts;  // zeros, except while partitions are mixed

    void reserve(std::size_t features) { slots.reserve(features); }
    void put(std::uint64_t key, std::uint16_t label, std::int32_t w, std::int64_t sum) {
        const std::size_t at = entry_of(key, label);
        weights[at] = in_halves(std::clamp(w, -largest_weight, largest_weight), label);
        u[at] = sum;
    }
    // Calls use(key, entries sorted by label) for each feature, sorted by key.
    template <class Use>
    void each(Use use) const {
        std::vector<const slot*> order;
        order.reserve(rows);
        for (const slot& one : slots)
            if (!one.is_free()) order.push_back(&one);
        std::ranges::sort(order, {}, [](const slot* one) { return one->key; });
        std::vector<entry> sorted;
        for (const slot* one : order) {
            sorted.clear();
            for (std::uint32_t at = one->begin; at < one->begin + one->count; ++at)
                sorted.push_back({u[at], lower_half(weights[at]), static_cast<std::uint16_t>(weights[at] >> 16)});
            std::ranges::sort(sorted, {}, &entry::label);
            use(one->key, std::span<const entry>(sorted));
        }
    }

    double norm2() const {
        double sum = 0;
        for (const slot& one : slots)
            for (const std::uint32_t both : std::span(weights).subspan(one.begin, one.count))
                sum += static_cast<double>(lower_half(both)) * lower_half(both);
        return sum;
    }

  private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t begin = 0;
        std::uint16_t count = 0, room : 15 = 0;
        std::uint16_t marked : 1 = false;
        bool is_free() const { return key == 0; }
    };

    slot& slot_of(std::uint64_t key) {
        slot& one = slots.find_or_claim(key, rows);
        if (one.is_free()) {
            one.key = key;
            ++rows;
        }
        return one;
    }
    std::size_t entry_of(std::uint64_t key, std::uint16_t label) { return entry_in(slot_of(key), label); }
    std::size_t entry_in(slot& one, std::uint16_t label) {
        if (const std::size_t at = find(one, label); at != nowhere) return at;
        if (one.count == one.room) make_room(one);
        const std::size_t made = one.begin + one.count++;
        weights[made] = in_halves(0, label);
        u[made] = 0;
        return made;
    }
    std::size_t find(const slot& one, std::uint16_t label) const {
        for (std::size_t i = one.begin; i < std::size_t{one.begin} + one.count; ++i)
            if (weights[i] >> 16 == label) return i;
        return nowhere;
    }
    // The old place stays empty until another row of its size needs one.
    void make_room(slot& one) {
        const auto room = static_cast<std::uint16_t>(one.room == 0 ? 2 : std::min<std::size_t>(2 * one.room, count));
        std::uint32_t begin;
        std::vector<std::uint32_t>& free = empty_of(room);
        if (free.empty()) {
            check_numbers(weights.size() + room, "too many features");
            begin = static_cast<std::uint32_t>(weights.size());
            weights.resize(weights.size() + room);
            u.resize(u.size() + room);
        } else {
            begin = free.back();
            free.pop_back();
        }
        std::copy_n(weights.begin() + one.begin, one.count, weights.begin() + begin);
        std::copy_n(u.begin() + one.begin, one.count, u.begin() + begin);
        if (one.room != 0) empty_of(one.room).push_back(one.begin);
        one.begin = begin;
        one.room = room & 0x7fff;
    }
    std::vector<std::uint32_t>& empty_of(std::uint16_t room) {
        if (empty.size() <= room) empty.resize(room + std::size_t{1});
        return empty[room];
    }

    static constexpr std::size_t nowhere = ~std::size_t{0};

    std::size_t count, rows = 0;
    hash_table<slot, scaled_spread> slots;
    std::vector<std::uint32_t> weights;  // the weight in the lower half, its label in the upper one
    std::vector<std::int64_t> u;
    std::vector<std::vector<std::uint32_t>> empty;  // by how many entries there is room for
};

// ---- weights for prediction

// Averaged weights as whole numbers, scaled so that the largest just fits. Only the `most_moves` features of moves with
// the largest weights are kept, and no weights of labels below `smallest`.
struct averaged_weights {
    double move_unit = 1, label_unit = 1;        // what 1 stands for
    std::vector<std::uint64_t> move_keys;        // in ascending order
    std::vector<std::uint32_t> move_weights;     // of shift in the lower half and of left in the upper one
    std::vector<std::uint64_t> label_keys;       // in ascending order
    std::vector<std::uint32_t> label_starts{0};  // of each key in the entries
    std::vector<std::uint32_t> label_weights;    // the weight in the lower half, its label in the upper one
};

inline averaged_weights average(const learned_moves& moves, const learned_labels& labels, std::int64_t steps,
                                std::int32_t unit, std::size_t most_moves, double smallest) {
    constexpr double most = largest_weight;
    const auto T = static_cast<double>(std::max<std::int64_t>(steps, 1));
    const auto averaged = [&](auto w, auto u) { return (w - static_cast<double>(u) / T) / unit; };
    const auto size_of = [&](auto w, auto u) {
        const double shift = averaged(w[0], u[0]), left = averaged(w[1], u[1]);
        return std::max({std::abs(shift), std::abs(left), std::abs(shift + left)});
    };
    // The first walk finds the largest weights, and the second one writes.
    double largest_move = 0, largest_label = 0, too_small = 0;
    std::vector<double> sizes;
    moves.walk([&](auto w, auto u) {
        sizes.push_back(size_of(w, u));
        for (std::size_t i = 0; i < 2; ++i) largest_move = std::max(largest_move, std::abs(averaged(w[i], u[i])));
    });
    if (sizes.size() > most_moves) {
        std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(most_moves), std::greater{});
        too_small = sizes[most_moves];
    }
    labels.each([&](std::uint64_t, auto entries) {
        for (const auto& one : entries) largest_label = std::max(largest_label, std::abs(averaged(one.w, one.u)));
    });
    averaged_weights made;
    if (largest_move > 0) made.move_unit = largest_move / most;
    if (largest_label > 0) made.label_unit = largest_label / most;
    const auto whole = [](double weight, double unit) { return static_cast<std::int32_t>(std::lrint(weight / unit)); };
    moves.each([&](std::uint64_t key, auto w, auto u) {
        if (size_of(w, u) <= too_small) return;
        const double shift = averaged(w[0], u[0]), left = averaged(w[1], u[1]);
        made.move_keys.push_back(key & kept_bits);
        made.move_weights.push_back(
            in_halves(whole(shift, made.move_unit), static_cast<std::uint16_t>(whole(left, made.move_unit))));
    });
    labels.each([&](std::uint64_t key, auto entries) {
        for (const auto& one : entries)
            if (const double weight = averaged(one.w, one.u); weight != 0 && std::abs(weight) >= smallest)
                made.label_weights.push_back(in_halves(whole(weight, made.label_unit), one.label));
        if (made.label_weights.size() == made.label_starts.back()) return;
        made.label_keys.push_back(key & kept_bits);
        made.label_starts.push_back(static_cast<std::uint32_t>(made.label_weights.size()));
    });
    return made;
}

// The weights of labels for prediction. An entry has a weight in the lower half and its label in the upper one. A
// bucket is a cache line for up to three features with half of their keys. Features with up to four entries have them
// there, and others have the position and the number of their entries. It is not a hash_table, because the processor
// cannot predict where a search in one ends.
class frozen_labels {
  public:
    frozen_labels() = default;
    frozen_labels(std::size_t labels, std::span<const std::uint64_t> keys, std::span<const std::uint32_t> starts,
                  std::span<const std::uint32_t> weights)
        : count(labels) {
        build_table(keys.size() * 2 / 3 + 8, 1, [&](std::size_t size, std::uint64_t factor) {
            make(size, factor);
            for (std::size_t i = 0; i < keys.size(); ++i)
                if ((i == 0 || keys[i] != keys[i - 1]) &&
                    !add(keys[i], weights.subspan(starts[i], starts[i + 1] - starts[i])))
                    return false;
            return true;
        });
    }

    std::size_t labels() const { return count; }
    void expect(std::uint64_t key) const { prefetch(&buckets[start(key)]); }
    void score(std::span<const std::uint64_t> keys, std::span<std::int64_t> scores) const {
        std::ranges::fill(scores, 0);
        std::array<const std::uint32_t*, most_templates> few, many;
        std::size_t few_count = 0, many_count = 0;
        for (const std::uint64_t key : keys) {  // without branches, which could not be predicted
            const auto [found, is_there] = find(key);
            const bool has_many = found[0] == elsewhere;
            few[few_count] = found;
            many[many_count] = found;
            few_count += static_cast<std::size_t>(is_there & !has_many);
            many_count += static_cast<std::size_t>(is_there & has_many);
        }
        for (const std::uint32_t* const found : std::span(many).first(many_count)) prefetch(&more[found[1]]);
        const auto add_entries = [&](const std::uint32_t* entries) {
            for (std::size_t i = 0; i < at_once; ++i) scores[entries[i] >> 16] += lower_half(entries[i]);
        };
        for (const std::uint32_t* const found : std::span(few).first(few_count)) add_entries(found);
        for (const std::uint32_t* const found : std::span(many).first(many_count))
            for (std::uint32_t at = 0; at < found[2]; at += at_once) add_entries(&more[found[1] + at]);
    }

  private:
    static constexpr std::size_t room = 3;     // of a bucket
    static constexpr std::size_t at_once = 4;  // entries of a feature
    using entries = std::array<std::uint32_t, at_once>;
    struct alignas(64) bucket {
        std::array<std::uint32_t, room> checks{};  // 0 for a free place
        std::uint32_t spilled = 0;                 // whether a search continues in the next bucket
        std::array<entries, room> of{};
    };
    static constexpr std::uint32_t elsewhere = 0xffffffff;  // there is no such label

    static std::uint32_t check_of(std::uint64_t key) {
        const std::uint32_t part = part_of(key);
        return part | (part == 0);
    }
    std::size_t start(std::uint64_t key) const { return spread.start(key & kept_bits); }
    // The entries of a feature, and whether it is there.
    std::pair<const std::uint32_t*, bool> find(std::uint64_t key) const {
        const std::uint32_t check = check_of(key);
        for (std::size_t at = start(key);; at = spread.after(at)) {
            const bucket& here = buckets[at];
            const unsigned second = here.checks[1] == check, third = here.checks[2] == check;
            const bool is_there = ((here.checks[0] == check) | second | third) != 0;
            if (here.spilled == 0 || is_there) [[likely]]
                return {here.of[second + 2 * third].data(), is_there};
        }
    }
    // An entry that adds 0 to a score after those of the labels.
    std::uint32_t unused(std::size_t number) const {
        return in_halves(0, static_cast<std::uint32_t>(count + number % unused_scores));
    }
    void make(std::size_t size, std::uint64_t factor) {
        buckets.assign(size, bucket{});
        spread = scaled_spread(factor);
        spread.resize(size);
        more.clear();
    }
    bool add(std::uint64_t key, std::span<const std::uint32_t> weights) {
        std::size_t at = start(key);
        for (std::size_t full = 0; full <= most_full_buckets; ++full, at = spread.after(at)) {
            bucket& here = buckets[at];
            const auto taken = static_cast<std::size_t>(std::ranges::find(here.checks, 0u) - here.checks.begin());
            if (taken < room) {
                here.checks[taken] = check_of(key);
                here.of[taken] = written(weights);
                return true;
            }
            here.spilled = 1;
        }
        return false;
    }
    entries written(std::span<const std::uint32_t> weights) {
        entries made{};
        if (weights.size() <= at_once) {
            for (std::size_t i = 0; i < at_once; ++i) made[i] = i < weights.size() ? weights[i] : unused(i);
            return made;
        }
        made = {elsewhere, next_number(more.size(), "too many weights"), static_cast<std::uint32_t>(weights.size())};
        more.insert(more.end(), weights.begin(), weights.end());
        while (more.size() % at_once != 0) more.push_back(unused(more.size()));
        return made;
    }

    std::size_t count = 0;
    scaled_spread spread;
    table<bucket> buckets = table<bucket>(1);
    table<std::uint32_t> more;  // the entries of features with many of them, filled up to a multiple of `at_once`
};

}  // namespace markone

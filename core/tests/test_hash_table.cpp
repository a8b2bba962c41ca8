// Tests of the hash table, and of the tables that number keys with it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "base/order.h"
#include "tests/check.h"
#include "text/hashed_vocabulary.h"
#include "text/ngram_vocabulary.h"

namespace {

using namespace markone;
using tests::throws;

// All keys start at the last slot but one, so that a search wraps around.
class one_place : public power_of_two {
  public:
    void resize(std::size_t capacity) { mask = capacity - 1; }
    std::size_t start(std::uint64_t) const { return mask - 1; }
    std::size_t after(std::size_t at) const { return (at + 1) & mask; }

  private:
    std::size_t mask = 0;
};

struct slot {
    std::uint64_t key = 0;
    int value = 0;
    bool is_free() const { return key == 0; }
};
using scaled_table = hash_table<slot, scaled_spread>;

// Keys that start in one slot: the first bits are the same in all of them.
std::uint64_t meeting_key(std::size_t i) {
    return i + 1;
}

std::size_t longest_search(const scaled_table& table) {
    std::size_t longest = 0;
    for (std::size_t at = 0; at < table.capacity(); ++at)
        if (!table[at].is_free()) longest = std::max(longest, table.spread().steps(table[at].key, at));
    return longest;
}

template <class Key, class Spread>
void check_numbers_of_keys(std::size_t count, std::uint64_t seed) {
    numbered_keys<Key, Spread> table;
    std::unordered_map<Key, std::uint32_t> expected;
    random_bits random(seed);
    const auto next = [&] { return static_cast<Key>(random.next() % count); };  // about every third key is repeated
    for (std::size_t i = 0; i < count; ++i) {
        const Key key = next();
        const auto number = expected.try_emplace(key, static_cast<std::uint32_t>(expected.size())).first->second;
        CHECK(table.find_or_add(key) == number);
    }
    CHECK(table.size() == expected.size());
    for (std::size_t key = 0; key < count + 10; ++key) {
        const auto found = expected.find(static_cast<Key>(key));
        CHECK(table.find(static_cast<Key>(key)) == (found == expected.end() ? npos : found->second));
    }
    for (const auto& [key, number] : expected) CHECK(table[number] == key);
}

TEST(keys_are_numbered_as_they_come) {
    check_numbers_of_keys<std::uint64_t, seeded_spread>(20000, 1);
    check_numbers_of_keys<std::uint32_t, seeded_spread>(20000, 2);
    check_numbers_of_keys<std::uint64_t, multiplied_spread>(20000, 3);
    check_numbers_of_keys<std::uint64_t, line_spread<4>>(20000, 4);
    check_numbers_of_keys<std::uint64_t, scaled_spread>(20000, 4);
}

TEST(keys_that_all_want_one_slot_are_found) {
    check_numbers_of_keys<std::uint64_t, one_place>(600, 5);
}

TEST(the_smallest_and_the_largest_key_are_keys) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    key_table<std::uint64_t> table;
    CHECK(table.find(0) == npos);
    CHECK(table.find_or_add(largest) == 0);
    CHECK(table.find(0) == npos);
    CHECK(table.find_or_add(0) == 1);
    CHECK(table.find(largest) == 0);
}

TEST(an_empty_table_has_no_keys) {
    key_table<std::uint64_t> table;
    table.expect(7);
    table.reserve(0);
    CHECK(table.find(7) == npos);
    CHECK(table.size() == 0);
    hash_table<slot, seeded_spread> slots;
    slots.clear();
    CHECK(slots.empty());
}

TEST(a_table_grows_before_half_of_it_is_full) {
    hash_table<slot, seeded_spread> table;
    for (std::size_t count = 0; count < 1000; ++count) {
        table.find_or_claim(count + 1, count) = {count + 1, 0};
        CHECK(2 * (count + 1) <= table.capacity());
        CHECK(std::has_single_bit(table.capacity()));
    }
}

TEST(a_table_with_room_does_not_grow) {
    hash_table<slot, seeded_spread> table;
    table.reserve(1000);
    const std::size_t capacity = table.capacity();
    for (std::size_t count = 0; count < 1000; ++count) table.find_or_claim(count + 1, count) = {count + 1, 0};
    CHECK(table.capacity() == capacity);
    table.reserve(10);
    CHECK(table.capacity() == capacity);
    table.clear();
    CHECK(table.capacity() == capacity);
    for (std::uint64_t key = 1; key <= 1000; ++key) CHECK(table.find(key).is_free());
}

TEST(numbers_do_not_reach_the_limit) {
    numbered_keys<std::uint32_t, seeded_spread, 100> table;
    for (std::uint32_t key = 0; key < 100; ++key) CHECK(table.find_or_add(1000 + key) == key);
    for (int again = 0; again < 3; ++again) CHECK(throws<std::length_error>([&] { table.find_or_add(7); }));
    CHECK(table.size() == 100);
    CHECK(table.find(7) == npos);
    CHECK(table.find_or_add(1042) == 42);
}

TEST(the_limit_of_numbers_is_below_npos) {
    constexpr std::size_t last = npos - std::size_t{1};
    CHECK(next_number(0, "") == 0);
    CHECK(next_number(last, "") == last);
    CHECK(throws<std::length_error>([] { next_number(npos, ""); }));
    CHECK(throws<std::length_error>([] { next_number(std::size_t{npos} + 1, ""); }));
    CHECK(throws<std::length_error>([] { next_number(std::numeric_limits<std::size_t>::max(), ""); }));
}

TEST(capacities_beyond_memory_are_refused) {
    key_table<std::uint64_t> table;
    table.find_or_add(1);
    CHECK(throws<std::length_error>([&] { table.reserve(std::size_t{1} << 60); }));
    CHECK(table.find(1) == 0);
}

TEST(keys_that_meet_get_another_factor) {
    constexpr std::size_t count = 5000;
    scaled_table table;
    for (std::size_t i = 0; i < count; ++i)
        table.find_or_claim(meeting_key(i), i) = {meeting_key(i), static_cast<int>(i)};
    CHECK(table.spread().factor() != 1);
    CHECK(longest_search(table) <= scaled_table::most_steps);
    for (std::size_t i = 0; i < count; ++i) CHECK(table.find(meeting_key(i)).value == static_cast<int>(i));
    CHECK(table.find(meeting_key(count)).is_free());
}

TEST(honest_keys_keep_their_factor) {
    constexpr std::size_t count = 200000;
    scaled_table table;
    for (std::size_t i = 0; i < count; ++i) table.find_or_claim(mix(i + 1), i) = {mix(i + 1), 0};
    CHECK(table.spread().factor() == 1);
    CHECK(scaled_spread::has_room(count, table.capacity()));
}

TEST(a_search_goes_around_the_end) {
    scaled_table table(100);
    const auto key_at_the_end = [](std::uint64_t i) { return std::numeric_limits<std::uint64_t>::max() - i; };
    for (std::uint64_t i = 0; i < 5; ++i) CHECK(table.put(key_at_the_end(i), {key_at_the_end(i), 0}));
    for (std::uint64_t i = 0; i < 5; ++i) {
        const std::size_t at = table.search(key_at_the_end(i));
        CHECK(at == (99 + i) % 100 && table.spread().steps(key_at_the_end(i), at) == i);
    }
    CHECK(table.find(key_at_the_end(5)).is_free());
}

TEST(put_refuses_keys_that_meet) {
    scaled_table table(4000);
    std::size_t there = 0;
    while (table.put(meeting_key(there), {meeting_key(there), 0})) ++there;
    CHECK(there == scaled_table::most_steps + 1);
}

TEST(a_table_is_built_with_other_factors_and_more_room) {
    std::vector<std::size_t> capacities;
    std::vector<std::uint64_t> factors;
    CHECK(throws<std::invalid_argument>([&] {
        build_table(10, 1, [&](std::size_t capacity, std::uint64_t factor) {
            capacities.push_back(capacity);
            factors.push_back(factor);
            return false;
        });
    }));
    CHECK(capacities == std::vector<std::size_t>{10, 10, 10, 10, 20, 20, 20, 20, 40, 40, 40, 40});
    CHECK(factors[0] == 1);
    for (std::size_t i = 1; i < factors.size(); ++i) CHECK(factors[i] % 2 == 1 && factors[i] != factors[i - 1]);
}

TEST(words_are_found_by_all_their_bytes) {
    word_table words;
    std::vector<std::string> all{"", "a", std::string("a\0", 2), std::string("\0", 1), "aa", "aba", "abba"};
    for (std::size_t size = 1; size < 40; ++size)
        for (std::size_t changed = 0; changed < size; ++changed) {
            std::string word(size, 'x');
            word[changed] = 'y';
            all.push_back(word);
        }
    for (const std::string& word : all) CHECK(words.find(word) == npos);
    for (std::uint32_t i = 0; i < all.size(); ++i) CHECK(words.find_or_add(all[i]) == i);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        CHECK(words.find(all[i]) == i);
        CHECK(words[i] == all[i]);
    }
    CHECK(words.find("xxxx") == npos);
    words.clear();
    CHECK(words.size() == 0);
    CHECK(words.find("a") == npos);
    CHECK(words.find_or_add("b") == 0);
}

TEST(pairs_are_found_by_both_parts) {
    gram_table pairs;
    const std::vector<std::uint32_t> first{1, 2, 1, 1, npos}, last{2, 1, 2, 1, 1};
    std::vector<std::size_t> scratch;
    std::vector<std::uint32_t> found;
    const auto note = [&](std::size_t, std::uint32_t number) { found.push_back(number); };
    pairs.each_known(first, last, scratch, note);
    CHECK(found == std::vector<std::uint32_t>(5, npos));
    pairs.reserve(first.size());
    for (std::uint32_t i = 0, next = 0; i < 4; ++i) next += pairs.find_or_add(first[i], last[i], next) == next;
    found.clear();
    pairs.each_known(first, last, scratch, note);
    CHECK(found == std::vector<std::uint32_t>{0, 1, 0, 2, npos});
    CHECK(pairs.find(2, 2) == npos);
    CHECK(pairs.find_or_add(2, 2, 9) == 9);
    CHECK(pairs.find_or_add(2, 2, 10) == 9);
}

TEST(collected_n_grams_are_numbered_in_the_order_of_their_first_occurrence) {
    collected_grams grams;
    random_bits random(7);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
    std::vector<std::uint32_t> first, last, numbers;
    for (std::size_t row = 0; row < 300; ++row) {
        first.clear();
        last.clear();
        numbers.clear();
        const std::size_t size = random.below(200);
        for (std::size_t i = 0; i < size; ++i) {
            first.push_back(static_cast<std::uint32_t>(random.below(50)));
            last.push_back(static_cast<std::uint32_t>(random.below(1 + row)));
        }
        grams.each(first, last, [&](std::size_t i, std::uint32_t number, collected_grams::record& one) {
            CHECK(one.first == first[i] && one.last == last[i]);
            ++one.rows;
            numbers.push_back(number);
        });
        for (std::size_t i = 0; i < size; ++i) {
            const auto next = static_cast<std::uint32_t>(expected.size());
            CHECK(numbers[i] == expected.try_emplace({first[i], last[i]}, next).first->second);
        }
    }
    CHECK(grams.size() == expected.size());
    for (const auto& [pair, number] : expected) CHECK(grams.find_or_add(pair.first, pair.second) == number);
    CHECK(grams.find_or_add(npos, 0) == expected.size());
}

// The rows of texts by an empty vocabulary, as one number after the other.
template <class Vocabulary>
std::vector<float> rows_of(const std::vector<std::string>& texts, Vocabulary vocabulary) {
    std::vector<float> all;
    for (std::size_t begin = 0; begin < texts.size(); begin += 3) {
        typename Vocabulary::collector batch(vocabulary.how);
        for (std::size_t i = begin; i < std::min(begin + 3, texts.size()); ++i) batch.add_row(texts[i]);
        const growing_rows rows = vocabulary.absorb(batch, false);
        all.insert(all.end(), rows.indptr.begin(), rows.indptr.end());
        all.insert(all.end(), rows.indices.begin(), rows.indices.end());
        all.insert(all.end(), rows.values.begin(), rows.values.end());
    }
    const auto counts = vocabulary.counts();
    all.insert(all.end(), counts.begin(), counts.end());
    return all;
}

TEST(rows_stay_the_same_when_the_numbers_of_their_values_start_again) {
    const std::vector<std::string> texts{"a b a b a", "b a", "", "a b c a b c", "c c c", "a", "b b a", "a b a b a"};
    for (const std::size_t shortest : {1u, 2u}) {
        ngram_settings how;
        how.shortest = shortest;
        how.longest = 3;
        CHECK(rows_of(texts, ngram_vocabulary(how)) == rows_of(texts, ngram_vocabulary(how, 30)));
        CHECK(rows_of(texts, hashed_vocabulary(how, 4)) == rows_of(texts, hashed_vocabulary(how, 4, 30)));
    }
}

}  // namespace

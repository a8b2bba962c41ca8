// N-grams by their hashes, in a table with a fixed number of places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/portable.h"
#include "text/ngrams.h"

namespace markone {

// The highest bits of an n-gram's hash are its place among 2^bits. The lowest bits distinguish n-grams that share one.
class ngram_hashing {
  public:
    explicit ngram_hashing(unsigned bits) : shift(64 - bits) {
        if (bits < 1 || bits > 30) throw std::invalid_argument("no such number of bits");
    }

    static std::uint64_t joined(std::uint64_t first, std::uint64_t word) {
        return mix(first * 0x9e3779b97f4a7c15 + word);
    }
    std::size_t places() const { return std::size_t{1} << (64 - shift); }
    std::uint32_t place(std::uint64_t hash) const { return static_cast<std::uint32_t>(hash >> shift); }
    static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }

    static std::uint64_t hash_of_ngram(std::span<const std::string> ngram) {
        std::uint64_t hash = hash_of(ngram.front());
        for (const std::string& token : ngram.subspan(1)) hash = joined(hash, hash_of(token));
        return hash;
    }

    // The hash of an n-gram from its name: words with spaces between them, or characters.
    static std::uint64_t hash_of_name(std::string_view name, const ngram_settings& how) {
        std::uint64_t hash = 0;
        std::size_t length = 0;
        for (std::size_t at = 0; at <= name.size(); ++length) {
            const std::size_t space = how.tokens.longest_run > 0 ? name.npos : name.find(' ', at);
            const std::size_t end = std::min(space, name.size());
            if (end == at) throw std::invalid_argument("a word is empty");
            const std::uint64_t word = hash_of(name.substr(at, end - at));
            hash = length == 0 ? word : joined(hash, word);
            at = end + 1;
        }
        if (length < how.shortest || length > how.longest)
            throw std::invalid_argument("an n-gram is too short or too long");
        return hash;
    }

    // Calls use(i, hash) for each name in turn, and expect(hash) some names ahead.
    template <class Expect, class Use>
    static void each_name(std::span<const std::string_view> names, const ngram_settings& how, Expect expect, Use use) {
        constexpr std::size_t ahead = 16;
        std::vector<std::uint64_t> hashes(names.size());
        for (std::size_t i = 0; i < names.size() + ahead; ++i) {
            if (i < names.size()) expect(hashes[i] = hash_of_name(names[i], how));
            if (i >= ahead) use(i - ahead, hashes[i - ahead]);
        }
    }

    // Calls look(hashes, count) for the n-grams of each length in a text; returns the text's length in tokens.
    template <class Look>
    static std::size_t each_length(std::string_view text, const ngram_settings& how, ngram_reader& by, Look look) {
        by.hashes.clear();
        by.tokens(text, [&](std::string_view token) { by.hashes.push_back(hash_of(token)); });
        by.joined = by.hashes;
        const std::size_t size = by.hashes.size();
        for (std::size_t length = 1; length <= std::min(how.longest, size); ++length) {
            const std::size_t count = size - length + 1;
            if (length > 1)
                for (std::size_t i = 0; i < count; ++i) by.joined[i] = joined(by.joined[i], by.hashes[i + length - 1]);
            if (length >= how.shortest) look(by.joined, count);
        }
        return size;
    }

  private:
    unsigned shift;
};

// The same as hash_of for a word of at least one byte in memory of which eight bytes can be read (key_of_readable).
inline std::uint64_t hash_of_readable(std::string_view word) {
    if (word.size() > longest_short) return hash_of(word);
    return mix(word.size() * hash_factor ^ key_of_readable(word));
}

// Some texts as hashes of words, with the bytes of the words, which are needed for the names of new places.
class hash_collector {
  public:
    explicit hash_collector(const ngram_settings& how) : tokens(how.tokens) {}

    std::vector<std::uint64_t> hashes;   // of the words of all texts
    std::vector<std::uint32_t> lengths;  // of the texts, in words

    std::string_view word(std::size_t i) const {
        const std::size_t begin = i == 0 ? 0 : ends[i - 1];
        return {bytes.data() + begin, ends[i] - begin};
    }

    void add_row(std::string_view text) {
        const std::size_t before = hashes.size();
        tokens(text, [&](std::string_view token) {
            hashes.push_back(hash_of_readable(token));
            keep(token);
        });
        lengths.push_back(next_number(hashes.size() - before, "a text has too many words"));
    }

    // Removes all texts, and keeps the memory.
    void clear() {
        hashes.clear();
        lengths.clear();
        ends.clear();
        used = 0;
    }

  private:
    // Most words are short, and a copy of a fixed size is fastest, although the next word overwrites the end of it.
    void keep(std::string_view token) {
        const std::size_t size = std::max(token.size(), token_stream::readable);
        if (bytes.size() < used + size) bytes.resize(2 * (used + size));
        if (size == token_stream::readable)
            std::memcpy(bytes.data() + used, token.data(), token_stream::readable);
        else
            std::memcpy(bytes.data() + used, token.data(), size);
        used += token.size();
        ends.push_back(used);
    }

    token_stream tokens;
    std::vector<char> bytes;
    std::size_t used = 0;
    std::vector<std::size_t> ends;
};

// The first n-gram in a place. There are at most 2^30 names.
struct place_owner {
    static constexpr std::uint32_t unnamed = 0x7fffffff;

    std::uint32_t tag = 0;  // of its hash
    std::uint32_t name : 31 = unnamed;
    std::uint32_t shared : 1 = 0;  // whether other n-grams have this place, too

    bool knows(std::uint64_t hash) const { return shared || (name != unnamed && tag == ngram_hashing::tag(hash)); }
    // Whether the n-gram has the name of the place, which must have one. If not, the place becomes shared.
    bool meet(std::uint32_t other) {
        if (tag == other) return true;
        shared = 1;
        return false;
    }
};

// 2^bits places, which n-grams share by their hash. A place has the name of its first n-gram, and knows whether there
// are others. The table is allocated when the first n-gram is added. Words need no numbers: a collector hashes them.
class hashed_vocabulary {
  public:
    // Tests use a smaller limit of the values that can be numbered.
    hashed_vocabulary(const ngram_settings& how, unsigned bits, std::size_t limit = npos)
        : how(how), hashing(bits), limit(limit) {
        check(how);
    }

    using collector = hash_collector;
    const ngram_settings how;
    const ngram_hashing hashing;

    std::size_t features() const { return hashing.places(); }
    std::vector<std::uint32_t> counts() const {
        std::vector<std::uint32_t> all(features());
        for (std::size_t number = 0; number < places.size(); ++number) all[number] = places[number].rows;
        return all;
    }
    std::size_t used() const { return named.size(); }
    std::size_t shared() const {
        return static_cast<std::size_t>(
            std::count_if(places.begin(), places.end(), [](const slot& one) { return one.owner.shared; }));
    }
    // Occurrences of n-grams: all, and those in a place with another name.
    std::uint64_t met() const { return ngrams_met; }
    std::uint64_t strangers() const { return strangers_met; }

    // Adds the collected texts, and returns their rows. If only the presence of n-grams is wanted, the values are of no
    // use.
    growing_rows absorb(const hash_collector& batch, bool) {
        make_table();
        growing_rows rows;
        rows.reserve(how.longest * batch.hashes.size(), batch.lengths.size());
        std::vector<std::uint64_t> hashes;
        std::size_t first = 0;
        for (const std::uint32_t size : batch.lengths) {
            check_room(rows, how, size);
            start_row(how.longest * size);
            const auto words = std::span(batch.hashes).subspan(first, size);
            hashes.assign(words.begin(), words.end());
            row_indices.resize(std::max(row_indices.size(), how.longest * size + 1));
            row_values.resize(row_indices.size());
            std::size_t stored = 0;
            for (std::size_t length = 1; length <= std::min<std::size_t>(how.longest, size); ++length) {
                const std::size_t count = size - length + 1;
                if (length > 1)
                    for (std::size_t i = 0; i < count; ++i)
                        hashes[i] = ngram_hashing::joined(hashes[i], words[i + length - 1]);
                if (length < how.shortest) continue;
                for (std::size_t i = 0; i < count + ahead; ++i) {
                    if (i < count) prefetch_to_write(&places[hashing.place(hashes[i])]);
                    if (i >= ahead) stored = meet(hashes[i - ahead], batch, first + i - ahead, length, stored);
                }
                ngrams_met += count;
            }
            rows.indices.insert(rows.indices.end(), row_indices.data(), row_indices.data() + stored);
            rows.values.insert(rows.values.end(), row_values.data(), row_values.data() + stored);
            rows.end_row();
            first += size;
        }
        return rows;
    }

    // The name of a place, which is that of its first n-gram; empty if there is none.
    std::string name(std::uint32_t number) const {
        if (number >= features()) throw std::out_of_range("no such n-gram");
        const std::uint32_t which = places.empty() ? unnamed : places[number].owner.name;
        return which == unnamed ? "" : std::string(named[which]);
    }
    // The names of all places; empty for a place without one.
    name_list names() const {
        name_list all;
        all.reserve(features(), named.bytes.size());
        for (std::size_t number = 0; number < features(); ++number) {
            if (!places.empty() && places[number].owner.name != unnamed) all.write(named[places[number].owner.name]);
            all.end_name();
        }
        return all;
    }

    // The contents of the table: the names in their order, the place of each, and whether others share it.
    const name_list& owners() const { return named; }
    std::vector<std::uint32_t> owned() const { return place_of_name; }
    std::vector<std::uint8_t> sharing() const {
        std::vector<std::uint8_t> all;
        all.reserve(place_of_name.size());
        for (const std::uint32_t place : place_of_name) all.push_back(places[place].owner.shared);
        return all;
    }

    // Takes in names as another vocabulary of this kind has them: their numbers here.
    std::vector<std::uint32_t> add(std::span<const std::string_view> more, std::span<const std::uint8_t> sharing) {
        if (more.size() != sharing.size()) throw std::invalid_argument("it is not said which names share their place");
        make_table();
        std::vector<std::uint32_t> numbers(more.size());
        const auto expect = [&](std::uint64_t hash) { prefetch_to_write(&places[hashing.place(hash)]); };
        ngram_hashing::each_name(more, how, expect, [&](std::size_t i, std::uint64_t hash) {
            numbers[i] = hashing.place(hash);
            place_owner& at = places[numbers[i]].owner;
            if (at.name == unnamed) take(numbers[i], hash, [&] { named.write(more[i]); });
            if (!at.meet(ngram_hashing::tag(hash)) || sharing[i]) at.shared = 1;
        });
        return numbers;
    }

    // Adds the number of rows with each place that another vocabulary has counted.
    void add_counts(std::span<const std::uint32_t> rows) {
        if (rows.size() != features()) throw std::invalid_argument("there is not one count for each place");
        make_table();
        for (std::size_t number = 0; number < rows.size(); ++number) places[number].rows += rows[number];
    }

    // The place of an n-gram; npos if it cannot be known.
    std::uint32_t find(std::span<const std::string> ngram) const {
        const std::uint64_t hash = ngram_hashing::hash_of_ngram(ngram);
        const std::uint32_t place = hashing.place(hash);
        return !places.empty() && places[place].owner.knows(hash) ? place : npos;
    }

    // Calls use(place, number, owner) for each place that has a name.
    template <class Use>
    void each_owner(Use use) const {
        for (const std::uint32_t place : place_of_name) use(place, place, places[place].owner);
    }

    // The number of tokens in the name of each place; 1 if it has no name.
    std::vector<std::uint8_t> lengths() const {
        std::vector<std::uint8_t> all(features(), 1);
        if (how.longest == 1) return all;
        for (std::uint32_t number = 0; number < all.size(); ++number) {
            const std::string words = name(number);
            all[number] = static_cast<std::uint8_t>(1 + std::count(words.begin(), words.end(), ' '));
        }
        return all;
    }

    // Adds a row with the places of the n-grams in a text. N-grams that cannot be known are skipped.
    std::size_t read(std::string_view text, const valuation& values, ngram_reader& by, growing_rows& rows) const {
        const std::size_t begin = rows.indices.size();
        if (!places.empty()) by.counter.begin_row(features(), rows);
        const auto look = [&](const std::vector<std::uint64_t>& hashes, std::size_t count) {
            if (places.empty()) return;
            check_room(rows, how, by.hashes.size());
            expect(hashes, count, by.current);
            for (const std::uint32_t number : by.current) by.counter.expect(number);
            for (std::size_t i = 0; i < count; ++i)
                if (places[by.current[i]].owner.knows(hashes[i])) by.counter.count(by.current[i], rows);
        };
        const std::size_t size = ngram_hashing::each_length(text, how, by, look);
        end_row(begin, values, rows);
        return size;
    }

  private:
    static constexpr std::uint32_t unnamed = place_owner::unnamed;
    static constexpr std::size_t ahead = 32;  // n-grams, whose places are prefetched

    // What collecting needs of a place is together, so that an n-gram needs one read from a random address.
    struct slot {
        place_owner owner;
        std::uint32_t note = 0;  // its last place among all values, by which it is found in its row
        std::uint32_t rows = 0;  // how many have it
    };

    void make_table() {
        if (places.empty()) places.resize(features());
    }

    // The places of n-grams, which are prefetched.
    void expect(std::span<const std::uint64_t> hashes, std::size_t count, std::vector<std::uint32_t>& numbers) const {
        numbers.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            numbers[i] = hashing.place(hashes[i]);
            prefetch_to_write(&places[numbers[i]]);
        }
    }

    // Counts the n-gram of the batch with this hash, whose words begin at `first`, in the row that is being made;
    // returns how many values the row has then. The processor cannot predict whether an n-gram is repeated in the text,
    // so there is no branch: its count, or a new one after the last, is always written.
    MARKONE_INLINE std::size_t meet(std::uint64_t hash, const hash_collector& batch, std::size_t first,
                                    std::size_t length, std::size_t stored) {
        const std::uint32_t number = hashing.place(hash);
        slot& at = places[number];
        if (at.owner.name == unnamed)
            take(number, hash, [&] {
                for (std::size_t word = first; word < first + length; ++word) {
                    if (word > first) named.write(" ");
                    named.write(batch.word(word));
                }
            });
        strangers_met += !at.owner.meet(ngram_hashing::tag(hash));
        const bool again = at.note >= row_start;
        const std::size_t place = again ? at.note - row_start : stored;
        row_indices[place] = number;
        row_values[place] = again ? row_values[place] + 1 : 1;
        at.note = static_cast<std::uint32_t>(row_start + place);
        at.rows += !again;
        return stored + !again;
    }
    // Notes are places among all values that could ever be written, so those of earlier rows, also of one that was not
    // finished, are smaller. When the numbers are used up, they start again.
    void start_row(std::size_t values) {
        if (next_row + values >= limit) {
            for (slot& one : places) one.note = 0;
            next_row = 1;
        }
        row_start = next_row;
        next_row += values;
    }
    template <class Write>
    void take(std::uint32_t number, std::uint64_t hash, Write write) {
        places[number].owner = {ngram_hashing::tag(hash), static_cast<std::uint32_t>(named.size()) & unnamed, 0};
        write();
        named.end_name();
        place_of_name.push_back(number);
    }

    table<slot> places;
    name_list named;
    std::vector<std::uint32_t> place_of_name;
    std::uint64_t ngrams_met = 0, strangers_met = 0;
    std::size_t limit;
    std::size_t row_start = 1, next_row = 1;  // where the notes of a row start, while n-grams are collected
    std::vector<std::uint32_t> row_indices;   // of the row that is being made
    std::vector<float> row_values;
};

// Some places of such a table, numbered as features: only they need memory.
class compact_vocabulary {
  public:
    compact_vocabulary(const ngram_settings& how, unsigned bits) : how(how), hashing(bits) { check(how); }

    const ngram_settings how;
    const ngram_hashing hashing;

    std::size_t features() const { return owned.size(); }
    std::string name(std::uint32_t number) const {
        if (number >= features()) throw std::out_of_range("no such n-gram");
        return std::string(named[number]);
    }
    const name_list& names() const { return named; }
    std::vector<std::uint8_t> sharing() const {
        std::vector<std::uint8_t> all;
        all.reserve(owned.size());
        for (const place_owner& one : owned) all.push_back(one.shared);
        return all;
    }

    // Takes in names as another vocabulary of this kind has them: their numbers here.
    std::vector<std::uint32_t> add(std::span<const std::string_view> more, std::span<const std::uint8_t> sharing) {
        if (more.size() != sharing.size()) throw std::invalid_argument("it is not said which names share their place");
        numbers.reserve(features() + more.size());
        std::vector<std::uint32_t> found(more.size());
        const auto expect = [&](std::uint64_t hash) { numbers.expect(hashing.place(hash)); };
        ngram_hashing::each_name(more, how, expect, [&](std::size_t i, std::uint64_t hash) {
            const std::uint32_t number = numbers.find_or_add(hashing.place(hash));
            if (number == features()) {
                owned.push_back({ngram_hashing::tag(hash), number & place_owner::unnamed, 0});
                named.write(more[i]);
                named.end_name();
            }
            if (!owned[number].meet(ngram_hashing::tag(hash)) || sharing[i]) owned[number].shared = 1;
            found[i] = number;
        });
        return found;
    }

    // The feature of an n-gram; npos if it cannot be one.
    std::uint32_t find(std::span<const std::string> ngram) const {
        const std::uint64_t hash = ngram_hashing::hash_of_ngram(ngram);
        const std::uint32_t number = numbers.find(hashing.place(hash));
        return number != npos && owned[number].knows(hash) ? number : npos;
    }

    // Calls use(place, number, owner) for each feature.
    template <class Use>
    void each_owner(Use use) const {
        for (std::uint32_t number = 0; number < owned.size(); ++number) use(numbers[number], number, owned[number]);
    }

    // Adds a row with the known places of the n-grams in a text.
    std::size_t read(std::string_view text, const valuation& values, ngram_reader& by, growing_rows& rows) const {
        const std::size_t begin = rows.indices.size();
        by.counter.begin_row(features(), rows);
        const auto look = [&](const std::vector<std::uint64_t>& hashes, std::size_t count) {
            check_room(rows, how, by.hashes.size());
            for (std::size_t i = 0; i < count; ++i) numbers.expect(hashing.place(hashes[i]));
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t number = numbers.find(hashing.place(hashes[i]));
                if (number != npos && owned[number].knows(hashes[i])) by.counter.count(number, rows);
            }
        };
        const std::size_t size = ngram_hashing::each_length(text, how, by, look);
        end_row(begin, values, rows);
        return size;
    }

  private:
    key_table<std::uint32_t> numbers;  // by place
    std::vector<place_owner> owned;    // by number
    name_list named;                   // by number
};

}  // namespace markone

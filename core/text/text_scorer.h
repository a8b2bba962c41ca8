// Texts -> scores of a linear model, without rows in between: the tables of a finished model.
//
// A row of n-grams costs three random reads for each n-gram: its slot in the vocabulary, its factor and its weight.
// Here one slot has all of them. The tables are never changed while texts are scored, so that any number of threads can
// use them. The scores have the same bits as those of the rows (online/loops.cpp): the features of a text are added in
// the order of the row.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash_table.h"
#include "base/portable.h"
#include "online/weights.h"
#include "text/hashed_vocabulary.h"
#include "text/ngram_vocabulary.h"
#include "text/ngrams.h"

namespace markone {

// What is known of an n-gram: what its weight is; and the factor of its values, NaN if it is not a feature.
struct scored_ngram {
    std::uint32_t payload = 0;  // with two classes, the weight's bits; with more, the number of the feature
    float factor = std::numeric_limits<float>::quiet_NaN();

    MARKONE_INLINE bool is_feature() const { return factor == factor; }
};

// An n-gram by its key, which is never 0.
struct scoring_slot {
    std::uint64_t key = 0;
    scored_ngram is;

    bool is_free() const { return key == 0; }
};

// The slots of a line of the cache.
constexpr std::size_t in_line = 64 / sizeof(scoring_slot);
using scoring_table = hash_table<scoring_slot, line_spread<in_line>>;

// Thrown for n-grams that these tables cannot have: too many, or with factors that are too large.
struct not_covered : std::length_error {
    using std::length_error::length_error;
};
inline void check_slots(std::size_t count) {
    constexpr std::size_t most = std::size_t{1} << 30;
    if (count > most) throw not_covered("too many n-grams");
}

// The features of a part of the map: what the slot of each contains.
class part_features {
  public:
    // The features are numbered from `first`.
    part_features(const weights<float>& by, std::size_t first, std::size_t count, std::span<const float> factors)
        : by(by), first(first), factors(factors) {
        if (first + count > by.features) throw std::invalid_argument("there are more features than weights");
        if (!factors.empty() && factors.size() < count) throw std::invalid_argument("a feature has no factor");
        // So that no value overflows, whatever the count.
        constexpr float most = 1e30f;
        for (const float factor : factors.first(factors.empty() ? 0 : count))
            if (!(std::abs(factor) <= most)) throw not_covered("a factor is too large");
    }

    void fill(std::size_t number, scored_ngram& at) const {
        at.payload = by.stride() == 1 ? std::bit_cast<std::uint32_t>(by.data()[first + number])
                                      : static_cast<std::uint32_t>(first + number);
        at.factor = factors.empty() ? 1.0f : factors[number];
    }

  private:
    const weights<float>& by;
    std::size_t first;
    std::span<const float> factors;
};

// A word of 9 to 16 bytes: the first eight, and the others.
struct long_slot {
    std::uint64_t key = 0, rest = 0;
    scored_ngram is;

    bool is_free() const { return key == 0; }
};

// N-grams by their exact names. An n-gram is known by its slot: the key of a longer one consists of the slots of its
// beginning and of its last word. Words are known by their bytes; those of more than 16 bytes, which are rare, by a
// hash first.
class exact_tables {
  public:
    exact_tables(const ngram_vocabulary& vocabulary, const part_features& features) : how(vocabulary.how) {
        const std::vector<std::uint32_t> parts = vocabulary.all_parts(), word_ids = add_words(vocabulary.all_words());
        const std::size_t count = parts.size() / 2, kept = vocabulary.features();
        std::vector<std::uint32_t> ids(count, npos);
        for (std::size_t i = 0; i < count; ++i)
            if (parts[2 * i] == npos) ids[i] = word_ids[parts[2 * i + 1]];
        const std::vector<std::vector<std::uint32_t>> by_length = longer_ones(parts);
        std::size_t longer = 0;
        for (const auto& some : by_length) longer += some.size();
        grams.reserve(longer + 1);
        check_slots(grams.capacity());
        for (std::size_t length = 2; length < by_length.size(); ++length)
            add_grams(by_length[length], length, parts, word_ids, ids);
        for (std::size_t i = 0; i < kept; ++i)
            if (ids[i] != npos) features.fill(i, parts[2 * i] == npos ? word(ids[i]) : grams[ids[i]].is);
    }

    const ngram_settings how;

    static constexpr std::size_t longest_long = 16;

    // Bytes as a number; there must be eight, of which `count` are used.
    MARKONE_INLINE static std::uint64_t first_bytes(const char* from, std::size_t count) {
        std::uint64_t eight;
        std::memcpy(&eight, from, 8);
        return count >= 8 ? eight : eight & ((std::uint64_t{1} << 8 * count) - 1);
    }
    // Where the search for a long word starts depends on this. Nobody can choose words that collide.
    static std::uint64_t mixed(std::uint64_t first, std::uint64_t rest) {
        return first ^ std::rotl(rest * table_factor, 32);
    }
    static std::uint64_t key_of_huge(std::string_view word) { return hash_of(word) | 1; }
    static std::uint64_t key_of_gram(std::uint32_t first, std::uint32_t last, std::size_t length) {
        constexpr std::uint64_t longer = std::uint64_t{1} << 63;  // the beginning is an n-gram, not a word
        return ((std::uint64_t{first} << 32 | last) + 1) | (length > 2 ? longer : 0);
    }

    std::size_t bytes() const {
        return (short_words.capacity() + huge_words.capacity() + grams.capacity()) * sizeof(scoring_slot) +
               long_words.capacity() * sizeof(long_slot) + places.size() * sizeof(place) + letters.size();
    }

    scoring_table short_words;                            // of up to 8 bytes
    hash_table<long_slot, multiplied_spread> long_words;  // of up to 16 bytes
    scoring_table huge_words;                             // by their hashes
    scoring_table grams;

    // A word is known by the number of its slot: first those of the short words, then of the long ones, then the
    // others.
    std::uint32_t first_long() const { return static_cast<std::uint32_t>(short_words.capacity()); }
    std::uint32_t first_huge() const { return first_long() + static_cast<std::uint32_t>(long_words.capacity()); }
    const scored_ngram& word(std::uint32_t id) const {
        return id < first_long()   ? short_words[id].is
               : id < first_huge() ? long_words[id - first_long()].is
                                   : huge_words[id - first_huge()].is;
    }
    std::uint32_t find_huge(std::string_view word) const {
        const std::uint64_t key = key_of_huge(word);
        std::size_t at = huge_words.spread().start(key);
        while (!huge_words[at].is_free() && !(huge_words[at].key == key && huge_word(at) == word))
            at = huge_words.spread().after(at);
        return huge_words[at].is_free() ? npos : first_huge() + static_cast<std::uint32_t>(at);
    }

  private:
    static constexpr std::size_t ahead = 16;

    scored_ngram& word(std::uint32_t id) {
        return const_cast<scored_ngram&>(static_cast<const exact_tables&>(*this).word(id));
    }
    std::string_view huge_word(std::size_t at) const {
        return {letters.data() + places[at].begin, places[at].end - places[at].begin};
    }

    // The slots of all words; npos for one that no text contains.
    std::vector<std::uint32_t> add_words(const name_list& words) {
        std::size_t shorter = 0, huge = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
            shorter += words[i].size() <= longest_short;
            huge += words[i].size() > longest_long;
        }
        short_words.reserve(shorter + 1);
        long_words.reserve(words.size() - shorter - huge + 1);
        huge_words.reserve(huge + 1);
        check_slots(short_words.capacity() + long_words.capacity() + huge_words.capacity());
        places.resize(huge_words.capacity());
        std::vector<std::uint32_t> ids(words.size(), npos);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string_view word = words[i];
            if (!word.empty() && word.find('\0') == word.npos) ids[i] = add_word(word);
        }
        return ids;
    }

    std::uint32_t add_word(std::string_view word) {
        if (word.size() <= longest_short) {
            const std::uint64_t key = key_of_short(word);
            const std::size_t at = short_words.search(key);
            short_words[at].key = key;
            return static_cast<std::uint32_t>(at);
        }
        const auto is_none = [](const auto&) { return false; };
        if (word.size() <= longest_long) {
            const std::uint64_t key = key_of_short(word.substr(0, 8)), rest = key_of_short(word.substr(8));
            const std::size_t at = long_words.search(long_words.spread().start(mixed(key, rest)), is_none);
            long_words[at] = {key, rest, {}};
            return first_long() + static_cast<std::uint32_t>(at);
        }
        const std::uint64_t key = key_of_huge(word);
        const std::size_t at = huge_words.search(huge_words.spread().start(key), is_none);
        huge_words[at].key = key;
        places[at] = {letters.size(), letters.size() + word.size()};
        letters.insert(letters.end(), word.begin(), word.end());
        return first_huge() + static_cast<std::uint32_t>(at);
    }

    // The n-grams of two or more words, by their length.
    static std::vector<std::vector<std::uint32_t>> longer_ones(const std::vector<std::uint32_t>& parts) {
        std::vector<std::vector<std::uint32_t>> found;
        for (std::uint32_t i = 0; i < parts.size() / 2; ++i) {
            std::size_t length = 1;
            for (std::uint32_t at = parts[2 * i]; at != npos; at = parts[2 * at]) ++length;
            if (length == 1) continue;
            if (found.size() <= length) found.resize(length + 1);
            found[length].push_back(i);
        }
        return found;
    }

    void add_grams(std::span<const std::uint32_t> some, std::size_t length, const std::vector<std::uint32_t>& parts,
                   const std::vector<std::uint32_t>& word_ids, std::vector<std::uint32_t>& ids) {
        const auto key_of = [&](std::uint32_t i) {
            const std::uint32_t first = ids[parts[2 * i]], last = word_ids[parts[2 * i + 1]];
            return first == npos || last == npos ? 0 : key_of_gram(first, last, length);
        };
        for (std::size_t i = 0; i < some.size() + ahead; ++i) {
            if (i < some.size()) grams.expect(key_of(some[i]));
            if (i < ahead) continue;
            const std::uint64_t key = key_of(some[i - ahead]);
            if (key == 0) continue;
            const std::size_t at = grams.search(key);
            grams[at].key = key;
            ids[some[i - ahead]] = static_cast<std::uint32_t>(at);
        }
    }

    std::vector<place> places;  // of the letters of huge words, by slot
    std::vector<char> letters;
};

// N-grams by the place of their hash, for a table of places of which only the named ones are here.
class place_tables {
  public:
    template <class Vocabulary>  // hashed_vocabulary or compact_vocabulary
    place_tables(const Vocabulary& vocabulary, const part_features& features)
        : how(vocabulary.how), hashing(vocabulary.hashing) {
        std::size_t count = 0;
        vocabulary.each_owner([&](std::uint32_t, std::uint32_t, const place_owner&) { ++count; });
        named.reserve(count + 1);
        check_slots(named.capacity());
        vocabulary.each_owner([&](std::uint32_t place, std::uint32_t number, const place_owner& one) {
            scoring_slot& at = named[search(place)];
            at.key = std::uint64_t{one.shared} << 63 | std::uint64_t{place + 1} << 32 | one.tag;
            features.fill(number, at.is);
        });
    }

    const ngram_settings how;
    const ngram_hashing hashing;

    std::size_t bytes() const { return named.capacity() * sizeof(scoring_slot); }

    MARKONE_INLINE std::size_t start(std::uint32_t place) const { return named.spread().start(place + 1); }
    MARKONE_INLINE static std::uint32_t place_in(const scoring_slot& one) {
        return (static_cast<std::uint32_t>(one.key >> 32) & 0x7fffffff) - 1;
    }
    // Whether the n-gram with this hash, whose place the slot has, is the feature of the slot.
    MARKONE_INLINE static bool knows(const scoring_slot& one, std::uint64_t hash) {
        return one.key >> 63 != 0 || static_cast<std::uint32_t>(one.key) == ngram_hashing::tag(hash);
    }

    scoring_table named;

  private:
    std::size_t search(std::uint32_t place) const {
        return named.search(start(place), [&](const scoring_slot& one) { return place_in(one) == place; });
    }
};

// One part of the feature map: the n-grams of a column.
struct scored_part {
    std::variant<exact_tables, place_tables> tables;
    counted_as value;
    std::size_t column;

    const ngram_settings& how() const {
        return std::visit([](const auto& one) -> const ngram_settings& { return one.how; }, tables);
    }
    std::size_t bytes() const {
        return std::visit([](const auto& one) { return one.bytes(); }, tables);
    }
};

// A finished model whose features are all n-grams.
struct text_scorer {
    const weights<float>& by;  // they must live as long as the scorer
    bool unit;                 // whether rows are scaled to length 1
    std::vector<scored_part> parts;
    std::size_t features = 0;

    text_scorer(const weights<float>& by, bool unit) : by(by), unit(unit) {}

    // Adds the n-grams of a column; their features come after those of the parts before.
    template <class Vocabulary>
    void add(const Vocabulary& vocabulary, counted_as value, std::span<const float> factors, std::size_t column) {
        using tables = std::conditional_t<std::is_same_v<Vocabulary, ngram_vocabulary>, exact_tables, place_tables>;
        const part_features mine(by, features, vocabulary.features(), factors);
        parts.push_back({tables(vocabulary, mine), value, column});
        features += vocabulary.features();
    }

    std::size_t bytes() const {
        std::size_t all = 0;
        for (const scored_part& part : parts) all += part.bytes();
        return all;
    }
};

// Memory for scoring one text after the other, which is reused.
struct scoring_buffers {
    explicit scoring_buffers(const text_scorer& of) {
        for (const scored_part& part : of.parts) streams.emplace_back(part.how().tokens);
    }

    std::vector<token_stream> streams;  // by part
    // By token or n-gram: its key, where the search for it starts, the slot of the word, that of the n-gram.
    std::vector<std::uint64_t> keys, joined;
    std::vector<std::uint32_t> starts, words, current, alive;
    std::vector<std::uint64_t> rests;  // of the keys of long words
    // The features that were found, one for each occurrence, and their slots.
    std::vector<std::uint32_t> found_at;
    std::vector<scored_ngram> found;
    std::vector<std::uint64_t> seen;  // an open hash table: a slot, and its mark
    std::uint32_t next_mark = 1;      // all marks below belong to texts before
    // The row.
    std::vector<scored_ngram> row;
    std::vector<std::uint32_t> counts, features;
    std::vector<float> values;
    std::vector<double> sums;
};

// The texts of each column.
using text_columns = std::span<const std::vector<std::string_view>>;

}  // namespace markone

// Taggers: the features of a sentence, the best sequence of tags with linear scores, and the training, which uses the
// difference between the best and the right sequence (Collins 2002: the structured perceptron).
//
// A score is a sum over tokens. Each template makes at most one feature of a token, a 64-bit key of some atoms around
// it, and each feature has a weight for each tag. Some templates also use previous tags. The first of them is "tag[-1]"
// alone, and it is the only one that the exact search can use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rows/keyed_rows.h"
#include "tagging/tag_changes.h"
#include "tagging/word_atoms.h"

namespace markone {

// ---- features

enum class atom_kind : std::uint8_t { form, lower, shape, signs, prefix, suffix, known };

// A property of a token, and the column that has it.
struct atom_source {
    atom_kind kind;
    std::size_t size;  // of a prefix or suffix
    std::size_t column;
};

// An atom of a token, whose position is relative to the one that is to be tagged.
struct piece {
    std::size_t atom;
    std::int64_t offset;
};

struct pattern {
    std::vector<piece> pieces;
    std::vector<std::size_t> tags;  // how far back: 1 or 2
};

struct templates {
    std::size_t columns = 1;
    std::vector<atom_source> atoms;
    std::vector<pattern> patterns;

    static constexpr std::int64_t farthest = 8;
    static constexpr std::size_t longest_memory = 2;
    static constexpr std::size_t most = 1000;

    void check() const;
    // The largest distance of a token that templates use.
    std::size_t reach() const;
    // The number of previous tags that templates use, at least 1.
    std::size_t memory() const;
};

enum class decoder : std::uint8_t { viterbi, greedy, beam };

// The tags, the allowed transitions, and the search.
struct tag_settings {
    std::vector<std::string> tags;
    std::vector<std::uint8_t> allowed;  // (tags + 1)^2: whether one tag may follow another; the last row and column
                                        // are the sentence's beginning and end
    decoder decode = decoder::viterbi;
    std::size_t width = 4;  // of the beam

    static constexpr std::size_t most = 4096;

    std::size_t count() const { return tags.size(); }
    bool may(std::size_t before, std::size_t tag) const { return allowed[before * (count() + 1) + tag] != 0; }
    void check() const;
};

// The strings of a column, as in Python's arrays.
struct strings {
    std::span<const std::uint8_t> bytes;
    std::span<const std::int64_t> offsets;

    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t i) const {
        return {reinterpret_cast<const char*>(bytes.data()) + offsets[i],
                static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

struct sentence_batch {
    std::span<const std::int64_t> starts;
    std::vector<strings> columns;

    std::size_t size() const { return starts.size() - 1; }
    std::size_t tokens() const { return static_cast<std::size_t>(starts.back()); }
    std::size_t begin(std::size_t sentence) const { return static_cast<std::size_t>(starts[sentence]); }
    std::size_t length(std::size_t sentence) const { return begin(sentence + 1) - begin(sentence); }
    void check(std::size_t columns_wanted) const;
};

// The tags that each word, in lower case, had in training. Words with the same set of tags share an atom. Rare tags of
// a word are not in its set.
class lexicon {
  public:
    static constexpr std::int64_t rarest = 20;  // a tag must be at least one in 20 occurrences of the word

    lexicon() : sets{atom_of({})} {  // the first set is that of words which were never met
        set_numbers.find_or_add(sets[0]);
        names.end_name();
    }
    lexicon(std::span<const std::uint64_t> words, std::span<const std::uint32_t> set_of_word, name_list set_names);

    // The set of tags of a word, and its atom.
    std::uint32_t set_of(std::uint64_t word) const {
        const std::uint32_t number = numbers.find(word);
        return number == npos ? 0 : set_of_words[number];
    }
    std::uint64_t atom_of_set(std::uint32_t set) const { return sets[set]; }
    std::size_t count_of_sets() const { return sets.size(); }
    std::string_view text(std::uint64_t word) const { return names[set_of(word)]; }

    // The name of the set of tags of a word with these counts, and the atom of a set.
    static std::string name_of(std::span<const std::int32_t> counts, const std::vector<std::string>& tags);
    static std::uint64_t atom_of(std::string_view name) { return join(1, hash_of(name)); }  // not even 0 for none
    void add(std::uint64_t word, std::string_view name);

    std::span<const std::uint64_t> words() const { return numbers.keys(); }
    const std::vector<std::uint32_t>& sets_of_words() const { return set_of_words; }
    const name_list& names_of_sets() const { return names; }

  private:
    row_numbers numbers;
    std::vector<std::uint32_t> set_of_words;
    row_numbers set_numbers;
    std::vector<std::uint64_t> sets;
    name_list names;
};

// Turns sentences into atoms, and atoms into keys. Remembers the atoms of words, because words occur repeatedly.
class sentence_reader {
  public:
    // Atoms are made for those of the templates' patterns that are named here.
    sentence_reader(const templates& how, const lexicon& words, std::span<const std::size_t> patterns);

    void read(const sentence_batch& batch, std::size_t sentence);
    std::size_t length() const { return size; }
    // Replaces an atom of a token.
    void put(std::size_t atom, std::size_t token, std::uint64_t value) {
        if (place_of[atom] != npos) here[(margin + token) * needed.size() + place_of[atom]] = value;
    }

    // The key of a pattern at a token, without the previous tags that it uses; 0 if one of its atoms is empty.
    std::uint64_t key(std::size_t pattern, std::size_t token) const {
        const std::uint64_t* const at = here.data() + (margin + token) * needed.size();
        std::uint64_t key = first_keys[pattern];
        bool is_whole = true;
        for (const std::ptrdiff_t place : std::span(places).subspan(ends[pattern], ends[pattern + 1] - ends[pattern])) {
            is_whole &= at[place] != 0;
            key = join(key, at[place]);
        }
        return is_whole ? key : 0;
    }

    // Numbers the values of a column in the order of their first occurrence, until there are too many to remember.
    std::uint32_t value(std::size_t column, std::size_t token) const { return values[column * size + token]; }
    // The value of an atom that has few values, as a number below few_values(): of known tags and of signs. A token
    // outside of the sentence has one of the first numbers.
    static bool has_few_values(const atom_source& source) {
        return source.kind == atom_kind::known || source.kind == atom_kind::signs;
    }
    std::size_t few_values(const atom_source& source) const {
        return 2 * margin + 1 + (source.kind == atom_kind::known ? words.count_of_sets() : word_atoms::sign_values);
    }
    std::size_t number_in_few(const atom_source& source, std::int64_t token) const {
        const auto last = static_cast<std::int64_t>(size) - 1;
        if (token < 0 || token > last)
            return static_cast<std::size_t>(static_cast<std::int64_t>(margin) + (token < 0 ? token : token - last));
        const std::uint32_t number = value(source.column, static_cast<std::size_t>(token));
        const column_memory& seen = memory[source.column];
        return 2 * margin + 1 +
               (source.kind == atom_kind::known ? seen.known[number] : std::size_t{seen.atoms[number].sign_bits});
    }
    std::size_t remembered(std::size_t column) const { return memory[column].atoms.size(); }
    std::size_t forgotten() const { return times_forgotten; }
    // The key of a pattern all of whose pieces are of one token with this value.
    std::uint64_t key_of_value(std::size_t pattern, std::uint32_t value) const {
        return key_of(pattern, [&](const piece& one) { return atom(how.atoms[one.atom], value); });
    }
    // The same for a token outside of the sentence, at this distance from its first or last token.
    std::uint64_t key_outside(std::size_t pattern, std::int64_t distance) const {
        return key_of(pattern, [&](const piece&) { return outside(distance); });
    }

    // The first numbers of keys, and the atoms of tags. They differ from all other atoms, because joining two equal
    // atoms would give 0.
    static std::uint64_t first_key(std::size_t pattern) { return mix(std::uint64_t{0x7061747400000000} + pattern); }
    static std::uint64_t tag_atom(std::size_t tag) { return mix(std::uint64_t{0x7461670000000000} + tag); }
    static std::uint64_t outside(std::int64_t distance) { return mix(static_cast<std::uint64_t>(distance) << 32); }

  private:
    struct column_memory {
        word_table words;
        std::vector<word_atoms> atoms;
        std::vector<std::uint32_t> known;  // the sets of tags of the words
    };
    static constexpr std::size_t most_remembered = std::size_t{1} << 16;

    template <class Atom>
    std::uint64_t key_of(std::size_t pattern, Atom atom) const {
        std::uint64_t key = first_keys[pattern];
        for (const piece& one : how.patterns[pattern].pieces) {
            const std::uint64_t value = atom(one);
            if (value == 0) return 0;
            key = join(key, value);
        }
        return key;
    }
    std::uint64_t atom(const atom_source& source, std::uint32_t value) const;
    std::uint32_t remember(std::size_t column, std::string_view word);

    const templates& how;
    const lexicon& words;
    std::vector<std::uint64_t> first_keys;  // of all patterns
    std::vector<std::size_t> needed;        // atoms
    std::vector<std::uint32_t> place_of;    // each atom among those that are needed
    std::vector<std::ptrdiff_t> places;     // of the pieces of all patterns, relative to those of a token
    std::vector<std::size_t> ends;          // of the places of each pattern, after a 0
    std::vector<bool> used;                 // columns
    word_reader reader;
    std::vector<column_memory> memory;
    std::vector<std::uint32_t> values;
    std::vector<std::uint64_t> here;  // the needed atoms of each token, and of some outside at both ends
    std::size_t margin, size = 0, times_forgotten = 0;
};

// The values of a pattern's atoms at a token, as text with `between` between them. Previous tags come last. The known
// tags of a token, which is counted in the whole batch, come from a function.
constexpr char between = '\x1f';
using tell_known = std::function<std::string_view(std::size_t token)>;
std::string text_of(word_reader& reader, const templates& how, const tag_settings& what, const tell_known& known,
                    const sentence_batch& batch, std::size_t sentence, std::size_t token, std::size_t pattern,
                    std::span<const std::uint32_t> before);

// ---- learning

struct sequence_settings {
    bool mira = false;  // or the perceptron
    double C = 1;
    std::size_t folds = 10;  // what is known of a training sentence's words comes from the other folds
};

struct sequence_tally {
    std::int64_t sentences = 0, mistakes = 0, updates = 0, wrong_tokens = 0;
    double loss = 0;
};

// Weights for files: rows in the order in which they were made, with their non-zero columns.
struct sparse_weights {
    std::vector<std::uint64_t> keys;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::uint32_t> columns;
    std::vector<float> weights;
};

// The state from which training can be resumed.
struct sequence_state {
    double steps = 0;
    sparse_weights rows;       // the last weights, and
    std::vector<double> sums;  // those of averaging, for the same columns
    std::vector<row_origin> origins;
};

class tagger_learner {
  public:
    virtual ~tagger_learner() = default;

    // Another learner on the same sentences, which starts a pass of a partition at these weights.
    virtual std::unique_ptr<tagger_learner> part() const = 0;
    // What a part has changed since it was at the weights of the base; it is there again.
    virtual tag_changes take(const tagger_learner& base, double share) = 0;
    // Mixes these weights with the changes of all partitions together.
    virtual void mix_parts(const tag_changes& all) = 0;
    // Does the same with the weights of a part, whose sums stay 0.
    virtual void follow(const tag_changes& all) = 0;

    // Visits these sentences in this order.
    virtual sequence_tally learn(std::span<const std::int64_t> order) = 0;
    virtual double norm2() const = 0;
    virtual sparse_weights weights(bool averaged) const = 0;
    // Names of rows, by their keys.
    virtual name_list names(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& patterns) const = 0;
    virtual const lexicon& words() const = 0;
    virtual std::size_t features() const = 0;
    virtual sequence_state state() const = 0;
    virtual void set_state(const sequence_state& from) = 0;
};

// The sentences must live as long as the learner.
struct tagged_sentences {
    sentence_batch batch;
    std::span<const std::int32_t> tags;
};

// Memory of a learner for the features of all tokens, which may be in a temporary file: the numbers of features without
// tags, and the keys, without the tags, of features that use previous tags.
struct token_features {
    std::span<std::uint32_t> numbers;  // for each token and template that looks at no tags
    std::span<std::uint64_t> bases;    // for each token and template that does
};

// ---- tagging

struct found_sequence {
    double score;
    std::vector<std::int32_t> tags;
};

struct seen_feature {
    std::size_t pattern;
    std::string text;
    std::vector<float> weights;
};

class tagging {
  public:
    virtual ~tagging() = default;
    virtual void tag(const sentence_batch& batch, std::int32_t* out) const = 0;
    // For each token and tag, the score of the best sequence in which the token has this tag. In a greedy search or
    // with a beam, it is the score of the tag after the predicted tags before it.
    virtual void scores(const sentence_batch& batch, float* out) const = 0;
    // At most k sequences for one sentence, the best first.
    virtual std::vector<found_sequence> best(const sentence_batch& batch, std::size_t count) const = 0;
    // The features at a token of one sentence with these tags, and their weights.
    virtual std::vector<seen_feature> features(const sentence_batch& batch, std::span<const std::int32_t> tags,
                                               std::size_t token) const = 0;
};

}  // namespace markone

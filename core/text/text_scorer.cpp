// The loop of text_scorer.h. Compiled once for each MARKONE_LEVEL.
//
// For each text: find its words; look them up; look up the longer n-grams, each by its beginning and its last word;
// count the features, in the order in which they are met; turn the counts into values; and add up value times weight.
// Everything is looked up in two steps, so that many cache misses are under way at once: first the places of many slots
// are computed and prefetched, then the slots are read.
#include "text/text_scorer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "base/hash_table.h"
#include "base/portable.h"
#include "rows/arithmetic.h"
#include "rows/row_builder.h"
#include "rows/sparse_ops.h"

namespace markone::MARKONE_LEVEL {

void score_texts(const text_scorer& by, scoring_buffers& with, text_columns columns, float* out);

namespace {

constexpr std::size_t at_once = 128;  // this many slots are prefetched before they are read

template <class T>
T* with_room(std::vector<T>& some, std::size_t count) {
    if (some.size() < count) some.resize(std::max(count, 2 * some.size()));
    return some.data();
}

// Which slots of a line end a search, as bits: those for which `same` holds, and the last one if it is free. The
// processor cannot predict which it is, so all are compared, without a branch.
template <class Same>
MARKONE_INLINE unsigned ends_of_search(const scoring_slot* line, Same same) {
    unsigned ends = static_cast<unsigned>(line[in_line - 1].is_free()) << (in_line - 1);
    for (unsigned i = 0; i < in_line; ++i) ends |= static_cast<unsigned>(same(line[i])) << i;
    return ends;
}

// The same for a key: the slots that have it or are free.
MARKONE_INLINE unsigned ends_of_search(const scoring_slot* line, std::uint64_t key) {
    static_assert(in_line == 4 && sizeof(scoring_slot) == 16 && offsetof(scoring_slot, key) == 0);
#if defined(__AVX2__)
    const auto* const from = reinterpret_cast<const __m256i*>(line);
    const __m256i keys = _mm256_permute4x64_epi64(
        _mm256_unpacklo_epi64(_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)), _MM_SHUFFLE(3, 1, 2, 0));
    const __m256i same = _mm256_cmpeq_epi64(keys, _mm256_set1_epi64x(static_cast<long long>(key)));
    const __m256i none = _mm256_cmpeq_epi64(keys, _mm256_setzero_si256());
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(same, none))));
#else
    return ends_of_search(line, [&](const scoring_slot& one) { return one.key == key || one.is_free(); });
#endif
}

// The slot of a key, or for which a condition holds; else a free slot of the line that ends the search.
template <class Wanted>
MARKONE_INLINE std::size_t search(const scoring_table& in, std::size_t at, Wanted wanted) {
    unsigned ends = ends_of_search(&in[at], wanted);
    while (ends == 0) {
        at = in.spread().after(at + in_line - 1);
        ends = ends_of_search(&in[at], wanted);
    }
    return at + static_cast<std::size_t>(std::countr_zero(ends));
}

// The same in a table whose slots do not fill lines.
template <class Slots, class Same>
MARKONE_INLINE std::size_t search(const Slots& in, std::size_t at, Same same) {
    while (!(static_cast<unsigned>(in[at].is_free()) | static_cast<unsigned>(same(in[at])))) at = in.spread().after(at);
    return at;
}

// Searches for up to `at_once` keys, whose lines have been prefetched. A search that leaves its line, as few do, goes
// on when all others have ended and its next line has come.
MARKONE_INLINE void search(const scoring_table& in, std::span<std::uint32_t> at, const std::uint64_t* keys) {
    std::array<std::uint32_t, at_once + 1> left;  // one more, because there is no branch for keys that are found
    std::size_t unfinished = 0;
    const auto spread = in.spread();
    for (std::size_t k = 0; k < at.size(); ++k) {
        const unsigned ends = ends_of_search(&in[at[k]], keys[k]);
        const std::size_t found = at[k] + static_cast<std::size_t>(std::countr_zero(ends)),
                          next = spread.after(at[k] + in_line - 1);
        at[k] = static_cast<std::uint32_t>(ends != 0 ? found : next);
        prefetch(&in[at[k]]);
        left[unfinished] = static_cast<std::uint32_t>(k);
        unfinished += ends == 0;
    }
    for (const std::uint32_t k : std::span(left).first(unfinished))
        at[k] = static_cast<std::uint32_t>(search(in, at[k], keys[k]));
}

// The occurrences of features in a text, for one part of the map. Slots of different tables have different numbers.
class occurrence_list {
  public:
    // There must be room for as many as a text can have.
    occurrence_list(scoring_buffers& with, std::size_t most)
        : slots(with_room(with.found_at, most + 1)), found(with_room(with.found, most + 1)) {}

    // Adds an n-gram if it is a feature. The processor cannot predict whether it is, so there is no branch for it.
    MARKONE_INLINE void add(std::uint32_t slot, const scored_ngram& one) {
        slots[size] = slot;
        found[size] = one;
        size += one.is_feature();
    }

    // Adds each feature to the row once, with its count, in the order of their first occurrences; returns the size of
    // the row. Again, no branch depends on whether a feature is repeated.
    std::size_t count(scoring_buffers& with, std::size_t row, bool with_counts) const {
        check_numbers(row + size, "too many values", npos / 8);
        return with_counts ? count_as<true>(with, row) : count_as<false>(with, row);
    }

  private:
    // Whether something seen in this text is not this slot. Both conditions are in the highest bit, because a compiler
    // would make two branches of them, and only the whole can be predicted.
    MARKONE_INLINE static bool is_of_another(std::uint64_t seen, std::uint32_t slot, std::uint32_t first_mark) {
        const std::uint64_t is_slot = (seen >> 32 ^ slot) - 1;
        const std::uint64_t is_old = static_cast<std::uint32_t>(seen) - std::uint64_t{first_mark};
        return (is_slot | is_old) >> 63 == 0;
    }

    template <bool with_counts>
    std::size_t count_as(scoring_buffers& with, std::size_t row) const {
        constexpr std::size_t smallest = 64;
        const std::size_t occurrences = size, capacity = std::max(smallest, std::bit_ceil(4 * occurrences));
        const bool is_new = with.seen.size() < capacity || npos - with.next_mark <= occurrences;
        if (is_new) {
            with.seen.assign(std::max(with.seen.size(), capacity), 0);
            with.next_mark = 1;
        }
        std::uint64_t* const seen = with.seen.data();
        const std::uint32_t mask = static_cast<std::uint32_t>(capacity - 1), first_mark = with.next_mark;
        const unsigned shift = 32 - static_cast<unsigned>(std::countr_zero(capacity));
        scored_ngram* const to = with_room(with.row, row + occurrences + 1) + row;
        std::uint32_t* const counts = with_room(with.counts, row + occurrences + 1) + row;
        const std::uint32_t* const from_slots = slots;
        const scored_ngram* const from = found;
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < occurrences; ++i) {
            const std::uint32_t slot = from_slots[i];
            std::uint32_t at = slot * 0x9e3779b1u >> shift;
            while (is_of_another(seen[at], slot, first_mark)) at = (at + 1) & mask;
            // The mark of a slot is its position in the row, from that of the first.
            const std::uint32_t mark = static_cast<std::uint32_t>(seen[at]);
            const bool again = mark >= first_mark;
            const std::uint32_t position = with_counts && again ? mark - first_mark : next;
            seen[at] = std::uint64_t{slot} << 32 | (position + first_mark);
            to[position] = from[i];
            if constexpr (with_counts) counts[position] = (again ? counts[position] : 0) + 1;
            next += !again;
        }
        with.next_mark = first_mark + next + 1;  // a repeated slot may have the mark after the last
        return row + next;
    }

    std::uint32_t* slots;
    scored_ngram* found;
    std::size_t size = 0;
};

// ---- exact names

// Finds the words of a text: their keys, and where the search for each starts.
std::size_t find_words(const exact_tables& in, token_stream& tokens, std::string_view text, scoring_buffers& with) {
    std::size_t count = 0, long_count = 0, room = std::min({with.keys.size(), with.starts.size(), with.rests.size()});
    std::uint64_t *keys = with.keys.data(), *rests = with.rests.data();
    std::uint32_t* starts = with.starts.data();
    const auto short_spread = in.short_words.spread();
    const auto long_spread = in.long_words.spread();
    const std::uint32_t first_long = in.first_long();
    tokens(text, [&](std::string_view token) {
        if (count == room) {
            room = 2 * room + 64;
            keys = with_room(with.keys, room);
            starts = with_room(with.starts, room);
            rests = with_room(with.rests, room);
        }
        const std::uint64_t key = exact_tables::first_bytes(token.data(), token.size());
        keys[count] = key;
        if (token.size() <= longest_short) {
            const std::size_t start = short_spread.start(key);
            prefetch(&in.short_words[start]);
            starts[count] = static_cast<std::uint32_t>(start);
        } else if (token.size() <= exact_tables::longest_long) {
            const std::uint64_t rest = exact_tables::first_bytes(token.data() + 8, token.size() - 8);
            const std::size_t start = long_spread.start(exact_tables::mixed(key, rest));
            prefetch(&in.long_words[start]);
            starts[count] = first_long + static_cast<std::uint32_t>(start);
            rests[long_count++] = rest;
        } else {
            starts[count] = in.find_huge(token);
        }
        ++count;
    });
    return count;
}

std::size_t add_features(const exact_tables& in, token_stream& tokens, std::string_view text, scoring_buffers& with,
                         std::size_t row, bool with_counts) {
    constexpr std::uint32_t of_grams = 0x80000000;  // so that the slots of all tables have different numbers
    const std::size_t count = find_words(in, tokens, text, with);
    const std::size_t longest = std::min(in.how.longest, count);
    occurrence_list found(with, longest * count);
    std::uint64_t* const keys = with.keys.data();
    std::uint32_t *const starts = with.starts.data(), *const words = with_room(with.words, count),
                         *const current = with_room(with.current, count), *const alive = with_room(with.alive, at_once);
    const std::uint32_t first_long = in.first_long(), first_huge = in.first_huge();
    const std::uint64_t* rest = with.rests.data();
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t id = starts[i];
        bool known = id != npos;
        if (id < first_long) {
            const std::size_t at = search(in.short_words, id, keys[i]);
            known = !in.short_words[at].is_free();
            id = static_cast<std::uint32_t>(at);
        } else if (id < first_huge) {
            const std::size_t at = search(in.long_words, id - first_long, [&](const long_slot& one) {
                return (one.key == keys[i]) & (one.rest == *rest);
            });
            ++rest;
            known = !in.long_words[at].is_free();
            id = first_long + static_cast<std::uint32_t>(at);
        }
        words[i] = current[i] = known ? id : npos;
        if (known && in.how.shortest == 1) found.add(id, in.word(id));
    }
    const auto spread = in.grams.spread();
    for (std::size_t length = 2; length <= longest; ++length) {
        const std::size_t grams = count - length + 1;
        const std::uint32_t* const last = words + length - 1;
        for (std::size_t begin = 0; begin < grams; begin += at_once) {
            const std::size_t end = std::min(begin + at_once, grams);
            std::size_t living = 0;  // n-grams whose parts are both known
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint64_t key = exact_tables::key_of_gram(current[i], last[i], length);
                const bool lives = (current[i] != npos) & (last[i] != npos);
                const std::size_t start = lives ? spread.start(key) : 0;
                prefetch(&in.grams[start]);
                keys[living] = key;
                starts[living] = static_cast<std::uint32_t>(start);
                alive[living] = static_cast<std::uint32_t>(i);
                living += lives;
                current[i] = npos;
            }
            search(in.grams, std::span(starts, living), keys);
            for (std::size_t k = 0; k < living; ++k) {
                const scoring_slot& one = in.grams[starts[k]];
                current[alive[k]] = one.is_free() ? npos : starts[k];
                if (length >= in.how.shortest) found.add(starts[k] | of_grams, one.is);
            }
        }
    }
    return found.count(with, row, with_counts);
}

// ---- places of hashes

std::size_t add_features(const place_tables& in, token_stream& tokens, std::string_view text, scoring_buffers& with,
                         std::size_t row, bool with_counts) {
    std::size_t count = 0, room = with.keys.size();
    std::uint64_t* hashes = with.keys.data();
    tokens(text, [&](std::string_view token) {
        if (count == room) {
            room = 2 * room + 64;
            hashes = with_room(with.keys, room);
        }
        hashes[count++] = hash_of(token);
    });
    const std::size_t longest = std::min(in.how.longest, count);
    occurrence_list found(with, longest * count);
    std::uint64_t* const joined = with_room(with.joined, count);
    std::uint32_t* const starts = with_room(with.starts, at_once);
    std::copy_n(hashes, count, joined);
    for (std::size_t length = 1; length <= longest; ++length) {
        const std::size_t grams = count - length + 1;
        for (std::size_t begin = 0; begin < grams; begin += at_once) {
            const std::size_t end = std::min(begin + at_once, grams);
            for (std::size_t i = begin; i < end; ++i) {
                if (length > 1) joined[i] = ngram_hashing::joined(joined[i], hashes[i + length - 1]);
                const std::size_t start = in.start(in.hashing.place(joined[i]));
                starts[i - begin] = static_cast<std::uint32_t>(start);
                prefetch(&in.named[start]);
            }
            if (length < in.how.shortest) continue;
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t place = in.hashing.place(joined[i]);
                const std::size_t at = search(in.named, starts[i - begin], [&](const scoring_slot& one) {
                    return place_tables::place_in(one) == place;
                });
                const scoring_slot& one = in.named[at];
                if (place_tables::knows(one, joined[i])) found.add(static_cast<std::uint32_t>(at), one.is);
            }
        }
    }
    return found.count(with, row, with_counts);
}

// ---- the row

// Turns counts of features into values, as `valuation` does. Counts are floats there, to which 1 cannot be added
// forever.
void evaluate(counted_as value, const scored_ngram* row, const std::uint32_t* counts, std::size_t size, float* values) {
    constexpr std::uint32_t most = 1u << 24;
    const valuation plain{value, {}};
    if (value == counted_as::binary)
        for (std::size_t i = 0; i < size; ++i) values[i] = row[i].factor;
    else
        for (std::size_t i = 0; i < size; ++i)
            values[i] = plain(0, static_cast<float>(std::min(counts[i], most))) * row[i].factor;
}

}  // namespace

void score_texts(const text_scorer& by, scoring_buffers& with, text_columns columns, float* out) {
    const weights<float>& weights = by.by;
    const std::size_t texts = columns.empty() ? 0 : columns.front().size();
    with.sums.resize(weights.stride());
    for (std::size_t text = 0; text < texts; ++text, out += weights.columns()) {
        std::size_t size = 0;
        for (std::size_t p = 0; p < by.parts.size(); ++p) {
            const scored_part& part = by.parts[p];
            const std::size_t begin = size;
            size = std::visit(
                [&](const auto& in) {
                    return add_features(in, with.streams[p], columns[part.column][text], with, size,
                                        part.value != counted_as::binary);
                },
                part.tables);
            float* const values = with_room(with.values, size);
            evaluate(part.value, with.row.data() + begin, with.counts.data() + begin, size - begin, values + begin);
        }
        const scored_ngram* const row = with.row.data();
        float* const values = with.values.data();
        if (by.unit) to_unit_length({values, size});
        if (weights.stride() == 1) {
            with.sums[0] = sum<8, double>(
                size, [&](std::size_t i) { return double{std::bit_cast<float>(row[i].payload)} * double{values[i]}; });
        } else {
            std::uint32_t* const features = with_room(with.features, size);
            for (std::size_t i = 0; i < size; ++i) {
                features[i] = row[i].payload;
                prefetch_lines(weights.data() + features[i] * weights.stride(), weights.stride());
            }
            dots(sparse_row<float>{features, values, size}, weights.data(), weights.stride(), with.sums.data());
        }
        for (std::size_t k = 0; k < weights.columns(); ++k)
            out[k] = static_cast<float>(with.sums[k] + double{weights.bias[k]});
    }
}

}  // namespace markone::MARKONE_LEVEL

// The trained tagger, whose weights are arranged for fast access. See sequence.h.
#include <mutex>
#include <utility>

#include "base/portable.h"
#include "tagging/sequence.h"
#include "tagging/sequence_search.h"

namespace markone {

namespace MARKONE_LEVEL {

namespace {

// The rows of a model, found by their keys. Most rows have few weights, which are stored with their columns in blocks
// of four. The last block is filled up with zeros. Rows with more weights are stored as a weight for each column. So
// the processor can mostly predict how long it takes to add a row. Adding zeros changes no sum.
class frozen_rows {
  public:
    explicit frozen_rows(const sparse_weights& from, std::size_t columns) : width(padded(columns)) {
        const std::size_t size = from.keys.size();
        bool good = from.indptr.size() == size + 1 && from.indptr[0] == 0 &&
                    static_cast<std::size_t>(from.indptr[size]) == from.columns.size() &&
                    from.weights.size() == from.columns.size() && from.columns.size() < npos;
        for (std::size_t row = 0; good && row < size; ++row)
            good = from.indptr[row] < from.indptr[row + 1] &&
                   static_cast<std::size_t>(from.indptr[row + 1]) <= from.columns.size();
        for (std::size_t at = 0; good && at < from.columns.size(); ++at)
            good = from.columns[at] < columns && std::isfinite(from.weights[at]);
        if (!good) throw std::invalid_argument("the sizes of the weights do not match");
        slots.reserve(size + 1);
        blocks.reserve(size + from.columns.size() / in_block);
        for (std::size_t row = 0; row < size; ++row) {
            slot& here = slots[slots.search(from.keys[row])];
            if (!here.is_free()) throw std::invalid_argument("a feature occurs twice");
            const auto begin = static_cast<std::size_t>(from.indptr[row]);
            const std::size_t count = static_cast<std::size_t>(from.indptr[row + 1]) - begin;
            here = {from.keys[row], store(std::span(from.columns).subspan(begin, count),
                                          std::span(from.weights).subspan(begin, count))};
        }
    }

    void expect(std::uint64_t key) const { slots.expect(key); }
    void add(std::uint64_t key, float* scores) const { add(slots.find(key).where, scores); }
    // The same in two steps, so that the memory can be prefetched.
    struct run {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;  // the number of blocks
        bool is_empty() const { return size == 0; }
        // A row that was never looked up.
        static run unknown() { return {npos, 0}; }
        bool is_unknown() const { return begin == npos; }
    };
    run find(std::uint64_t key) const {
        const run where = slots.find(key).where;
        expect(where);
        return where;
    }
    void expect(run where) const {
        prefetch(where.size == as_columns ? static_cast<const void*>(wide.data() + where.begin * width)
                                          : blocks.data() + where.begin);
    }
    void add(run which, float* scores) const {
        if (which.size == as_columns) {
            const float* const from = wide.data() + which.begin * width;
            for (std::size_t column = 0; column < width; ++column) scores[column] += from[column];
            return;
        }
        const block* const end = blocks.data() + which.begin + which.size;
        for (const block* one = blocks.data() + which.begin; one != end; ++one)
            for (std::size_t i = 0; i < in_block; ++i) scores[one->columns[i]] += one->weights[i];
    }

  private:
    static constexpr std::size_t in_block = 4;
    static constexpr std::uint32_t as_columns = npos;  // the size of a row with a weight for each column
    struct slot {
        std::uint64_t key = 0;
        run where;
        bool is_free() const { return where.is_empty(); }
    };
    struct alignas(32) block {
        std::array<float, in_block> weights{};
        std::array<std::uint32_t, in_block> columns{};
    };

    // A row has a weight for each column if it then needs at most four times the memory.
    run store(std::span<const std::uint32_t> columns, std::span<const float> weights) {
        if (weights.size() > in_block && weights.size() * 8 >= width) {
            const run where{next_number(wide.size() / width, "too many weights"), as_columns};
            wide.resize(wide.size() + width);
            for (std::size_t i = 0; i < weights.size(); ++i) wide[where.begin * width + columns[i]] += weights[i];
            return where;
        }
        const std::uint32_t begin = next_number(blocks.size(), "too many weights");
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (i % in_block == 0) {
                blocks.emplace_back();
                // Zeros go to different columns, because additions to the same column wait for each other.
                for (std::size_t j = 0; j < in_block; ++j)
                    blocks.back().columns[j] = static_cast<std::uint32_t>((7 * blocks.size() + j) % width);
            }
            blocks.back().weights[i % in_block] = weights[i];
            blocks.back().columns[i % in_block] = columns[i];
        }
        return {begin, static_cast<std::uint32_t>(blocks.size() - begin)};
    }

    std::size_t width;
    hash_table<slot, multiplied_spread> slots;
    table<block> blocks;
    table<float> wide;
};

// Patterns that use only one column of one token. Their weights for a word are added up once.
struct word_group {
    std::size_t column;
    std::int64_t offset;
    std::vector<std::size_t> patterns;
};

// A pattern of several tokens. If its atoms have few values, its rows are found by the numbers of these values.
struct mixed_pattern {
    std::size_t number = 0;
    std::vector<std::ptrdiff_t> places{};  // of the numbers of its atoms, relative to those of a token
    std::vector<std::size_t> factors{};    // of these numbers in the number of the row
    std::size_t rows = 0;                  // 0 if there would be too many

    static constexpr std::size_t most_rows = std::size_t{1} << 16;
};

// Data that is remembered between sentences.
struct desk {
    sentence_reader reader;
    std::vector<table<float>> sums;                         // for each group: a padded row for each value
    std::vector<std::vector<frozen_rows::run>> known_rows;  // for each mixed pattern with few values: the rows it had
    std::vector<std::size_t> numbers;                       // of the values of atoms with few values
    std::size_t forgotten = 0;
    std::vector<float> local;
    std::vector<std::uint64_t> keys;
    std::vector<frozen_rows::run> runs;  // of the rows that exist
    std::vector<std::size_t> ends;       // of each token's runs
    std::vector<std::uint32_t> path;
    viterbi search;
    beam search_by_beam;

    desk(const templates& how, const lexicon& words, std::span<const std::size_t> patterns, std::size_t groups)
        : reader(how, words, patterns), sums(groups) {}
};

class frozen_tagging final : public tagging {
  public:
    frozen_tagging(const templates& how, const tag_settings& what, const lexicon& words, const sparse_weights& from)
        : how(how),
          what(what),
          words(words),
          parts(how, what.decode),
          count(what.count()),
          width(padded(count)),
          memory(how.memory()),
          reach(static_cast<std::int64_t>(how.reach())),
          rows(from, count),
          ends(count) {
        for (std::size_t tag = 0; tag < count; ++tag) ends[tag] = what.may(tag, count) ? 0 : never;
        for (const std::size_t p : parts.local) group(p);
        find_few_values();
        for (const mixed_pattern& one : mixed) atoms_for.push_back(one.number);
        atoms_for.insert(atoms_for.end(), parts.looking_back.begin(), parts.looking_back.end());
        sum_outside();
        if (what.decode == decoder::viterbi) make_moves();
    }

    void tag(const sentence_batch& batch, std::int32_t* out) const override {
        with_desk([&](desk& on) {
            for (std::size_t sentence = 0; sentence < batch.size(); ++sentence) {
                find(on, batch, sentence);
                std::copy(on.path.begin(), on.path.end(), out + batch.begin(sentence));
            }
        });
    }

    void scores(const sentence_batch& batch, float* out) const override {
        with_desk([&](desk& on) {
            for (std::size_t sentence = 0; sentence < batch.size(); ++sentence) {
                float* const here = out + batch.begin(sentence) * count;
                const std::size_t length = batch.length(sentence);
                if (what.decode == decoder::viterbi) {
                    score(on, batch, sentence);
                    on.search.through(over(), on.local, length, here);
                    continue;
                }
                find(on, batch, sentence);
                std::vector<float> row(width);
                for (std::size_t i = 0; i < length; ++i) {
                    const history said = history_at(on.path, i, count);
                    score_after(on, i, said, row.data());
                    for (std::size_t tag = 0; tag < count; ++tag)
                        here[i * count + tag] = may(said, tag, i + 1 == length) ? row[tag] : never;
                }
            }
        });
    }

    std::vector<found_sequence> best(const sentence_batch& batch, std::size_t most) const override {
        std::vector<found_sequence> found;
        with_desk([&](desk& on) {
            const std::size_t length = batch.length(0);
            if (what.decode == decoder::viterbi) {
                score(on, batch, 0);
                found = viterbi::best(over(), on.local, length, most);
                return;
            }
            find(on, batch, 0);
            if (length == 0) found.push_back({0, {}});
            const auto last = length == 0 ? std::span<const beam::item>() : on.search_by_beam.at(length - 1);
            for (std::size_t number = 0; number < std::min(most, last.size()); ++number) {
                found.push_back({last[number].score, std::vector<std::int32_t>(length)});
                on.search_by_beam.trace(length - 1, number, found.back().tags);
            }
        });
        return found;
    }

    std::vector<seen_feature> features(const sentence_batch& batch, std::span<const std::int32_t> tags,
                                       std::size_t token) const override {
        std::vector<seen_feature> found;
        std::vector<std::size_t> all(how.patterns.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        sentence_reader reader(how, words, all);
        reader.read(batch, 0);
        const history said = history_at(tags, token, count);
        word_reader letters;
        const tell_known tell = [&](std::size_t at) { return words.text(letters.read(batch.columns[0][at]).lower); };
        for (const std::size_t p : all) {
            const std::uint64_t key = reader.key(p, token);
            if (key == 0) continue;
            seen_feature one{p, text_of(letters, how, what, tell, batch, 0, token, p, said.tags),
                             std::vector<float>(width)};
            rows.add(with_tags(key, how.patterns[p], said), one.weights.data());
            one.weights.resize(count);
            found.push_back(std::move(one));
        }
        return found;
    }

  private:
    // ---- made once

    void group(std::size_t pattern) {
        const auto& pieces = how.patterns[pattern].pieces;
        const auto column = [&](const piece& one) { return how.atoms[one.atom].column; };
        const bool alike = !pieces.empty() && std::all_of(pieces.begin(), pieces.end(), [&](const piece& one) {
            return one.offset == pieces[0].offset && column(one) == column(pieces[0]);
        });
        if (!alike) {
            mixed.push_back({pattern});
            return;
        }
        for (word_group& one : groups)
            if (one.column == column(pieces[0]) && one.offset == pieces[0].offset) {
                one.patterns.push_back(pattern);
                return;
            }
        groups.push_back({column(pieces[0]), pieces[0].offset, {pattern}});
    }

    void find_few_values() {
        const sentence_reader reader(how, words, {});
        for (mixed_pattern& one : mixed) {
            one.rows = 1;
            for (const piece& part : how.patterns[one.number].pieces) {
                const atom_source& source = how.atoms[part.atom];
                one.factors.push_back(one.rows);
                one.rows *= sentence_reader::has_few_values(source) ? reader.few_values(source) : 0;
                if (one.rows > mixed_pattern::most_rows) one.rows = 0;
            }
            for (const piece& part : how.patterns[one.number].pieces)
                if (one.rows != 0 && std::ranges::find(few_values, part.atom) == few_values.end())
                    few_values.push_back(part.atom);
        }
        for (mixed_pattern& one : mixed)
            for (const piece& part : how.patterns[one.number].pieces)
                if (one.rows != 0)
                    one.places.push_back(part.offset * static_cast<std::ptrdiff_t>(few_values.size()) +
                                         (std::ranges::find(few_values, part.atom) - few_values.begin()));
    }

    // The scores of groups for positions outside of the sentence, for each distance that they use.
    void sum_outside() {
        const sentence_reader reader(how, words, {});
        outside.resize(groups.size());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            outside[g].assign(static_cast<std::size_t>(2 * reach + 1) * width, 0);
            for (std::int64_t distance = -reach; distance <= reach; ++distance)
                for (const std::size_t p : groups[g].patterns)
                    if (distance != 0)
                        rows.add(reader.key_outside(p, distance),
                                 outside[g].data() + static_cast<std::size_t>(distance + reach) * width);
        }
    }

    void make_moves() {
        moves.assign((count + 1) * width, never);
        std::vector<float> row(width);
        for (std::size_t before = 0; before <= count; ++before) {
            history said = history::before_all(count);
            said.tags[0] = static_cast<std::uint32_t>(before);
            std::fill(row.begin(), row.end(), 0.0f);
            for (const std::size_t p : parts.looking_back)
                rows.add(with_tags(sentence_reader::first_key(p), how.patterns[p], said), row.data());
            for (std::size_t tag = 0; tag < count; ++tag)
                if (what.may(before, tag)) moves[before * width + tag] = row[tag];
        }
        turn_moves(moves, count, into);
    }
    lattice over() const { return {count, width, moves, into, ends}; }
    bool may(const history& said, std::size_t tag, bool last) const {
        return what.may(said.tags[0], tag) && (!last || what.may(tag, count));
    }

    // ---- for each sentence

    // Several threads may tag at the same time, each with its own desk, which remembers known words.
    template <class Work>
    void with_desk(Work work) const {
        std::unique_ptr<desk> mine;
        {
            const std::lock_guard guard(busy);
            if (!free.empty()) {
                mine = std::move(free.back());
                free.pop_back();
            }
        }
        if (!mine) {
            mine = std::make_unique<desk>(how, words, atoms_for, groups.size());
            for (const mixed_pattern& one : mixed) mine->known_rows.emplace_back(one.rows, frozen_rows::run::unknown());
        }
        work(*mine);
        const std::lock_guard guard(busy);
        free.push_back(std::move(mine));
    }

    void find(desk& on, const sentence_batch& batch, std::size_t sentence) const {
        const std::size_t length = batch.length(sentence);
        score(on, batch, sentence);
        on.path.resize(length);
        if (what.decode == decoder::viterbi) return on.search.find(over(), on.local, on.path);
        on.search_by_beam.find(
            what, length, memory, what.decode == decoder::greedy ? 1 : what.width,
            [&](std::size_t i, const history& said, float* out) { score_after(on, i, said, out); }, [](std::size_t) {});
        if (length > 0) on.search_by_beam.trace(length - 1, 0, on.path);
    }

    void score_after(const desk& on, std::size_t i, const history& said, float* out) const {
        std::copy_n(on.local.data() + i * width, width, out);
        for (const std::size_t p : parts.looking_back)
            if (const std::uint64_t key = on.reader.key(p, i); key != 0)
                rows.add(with_tags(key, how.patterns[p], said), out);
    }

    // The local scores of all tokens.
    void score(desk& on, const sentence_batch& batch, std::size_t sentence) const {
        on.reader.read(batch, sentence);
        const std::size_t length = on.reader.length();
        on.keys.resize(length * mixed.size());
        on.runs.resize(length * mixed.size() + 1);
        for (std::size_t i = 0, at = 0; i < length; ++i)
            for (const mixed_pattern& one : mixed) {
                if (one.rows == 0) {
                    on.keys[at] = on.reader.key(one.number, i);
                    rows.expect(on.keys[at]);
                }
                ++at;
            }
        number_values(on);
        on.local.assign(length * width, 0);
        sum_words(on);
        on.ends.resize(length);
        std::size_t end = 0;
        for (std::size_t i = 0, at = 0; i < length; ++i) {
            for (std::size_t m = 0; m < mixed.size(); ++m, ++at) {
                if (mixed[m].rows != 0)
                    on.runs[end] = row_of_values(on, m, i);
                else
                    on.runs[end] = on.keys[at] == 0 ? frozen_rows::run() : rows.find(on.keys[at]);
                end += !on.runs[end].is_empty();
            }
            on.ends[i] = end;
        }
        for (std::size_t i = 0, at = 0; i < length; ++i)
            for (; at < on.ends[i]; ++at) rows.add(on.runs[at], on.local.data() + i * width);
    }

    void number_values(desk& on) const {
        const auto length = static_cast<std::int64_t>(on.reader.length());
        on.numbers.clear();
        for (std::int64_t token = -reach; token < length + reach; ++token)
            for (const std::size_t atom : few_values)
                on.numbers.push_back(on.reader.number_in_few(how.atoms[atom], token));
    }
    frozen_rows::run row_of_values(desk& on, std::size_t which, std::size_t token) const {
        const mixed_pattern& one = mixed[which];
        const std::size_t* const at = on.numbers.data() + (static_cast<std::size_t>(reach) + token) * few_values.size();
        std::size_t number = 0;
        for (std::size_t i = 0; i < one.places.size(); ++i) number += at[one.places[i]] * one.factors[i];
        frozen_rows::run& found = on.known_rows[which][number];
        if (found.is_unknown()) [[unlikely]]
            found = rows.find(on.reader.key(one.number, token));
        rows.expect(found);
        return found;
    }

    // Adds the scores of the words around each token.
    void sum_words(desk& on) const {
        const auto length = static_cast<std::int64_t>(on.reader.length());
        if (on.forgotten != on.reader.forgotten()) {
            for (auto& sums : on.sums) sums.clear();
            on.forgotten = on.reader.forgotten();
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const word_group& one = groups[g];
            table<float>& sums = on.sums[g];
            const std::size_t before = sums.size() / width, now = on.reader.remembered(one.column);
            sums.resize(now * width);
            for (std::size_t value = before; value < now; ++value)
                for (const std::size_t p : one.patterns)
                    if (const std::uint64_t key = on.reader.key_of_value(p, static_cast<std::uint32_t>(value));
                        key != 0)
                        rows.add(key, sums.data() + value * width);
            for (std::size_t i = 0; i < on.reader.length(); ++i) {
                const float* const row = sums.data() + on.reader.value(one.column, i) * width;
                prefetch(row);
                prefetch(row + width - 1);
            }
        }
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const word_group& one = groups[g];
            const float* const sums = on.sums[g].data();
            for (std::int64_t i = 0; i < length; ++i) {
                const std::int64_t at = i + one.offset;
                const float* from;
                if (at >= 0 && at < length) {
                    from = sums + on.reader.value(one.column, static_cast<std::size_t>(at)) * width;
                } else {
                    const std::int64_t distance = at < 0 ? at : at - length + 1;
                    from = outside[g].data() + static_cast<std::size_t>(distance + reach) * width;
                }
                float* const to = on.local.data() + static_cast<std::size_t>(i) * width;
                for (std::size_t j = 0; j < width; ++j) to[j] += from[j];
            }
        }
    }

    const templates how;
    const tag_settings what;
    const lexicon words;
    const divided_patterns parts;
    const std::size_t count, width, memory;
    const std::int64_t reach;
    const frozen_rows rows;
    std::vector<float> ends, moves, into;
    std::vector<word_group> groups;
    std::vector<mixed_pattern> mixed;     // local patterns of no group
    std::vector<std::size_t> few_values;  // atoms of mixed patterns that have few values
    std::vector<std::size_t> atoms_for;   // the patterns whose keys are made token by token
    std::vector<std::vector<float>> outside;

    mutable std::mutex busy;
    mutable std::vector<std::unique_ptr<desk>> free;
};

}  // namespace

std::unique_ptr<tagging> make_tagging(const templates& how, const tag_settings& what, const lexicon& words,
                                      const sparse_weights& from) {
    return std::make_unique<frozen_tagging>(how, what, words, from);
}

}  // namespace MARKONE_LEVEL

}  // namespace markone

// The trained tagger, whose weights are arranged for fast access. See sequence.h.
#include <mutex>
#include <utility>

#include "base/portable.h"
#include "tagging/sequence.h"
#include "tagging/sequence_search.h"

namespace markone {

namespace MARKONE_LEVEL {

namespace {

// The rows of a model, found by their keys. Each has few non-zero columns.
class frozen_rows {
  public:
    explicit frozen_rows(const sparse_weights& from, std::size_t columns) {
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
        entries.resize(from.columns.size());
        for (std::size_t at = 0; at < entries.size(); ++at) entries[at] = {from.weights[at], from.columns[at]};
        for (std::size_t row = 0; row < size; ++row) {
            slot& here = slots[slots.search(from.keys[row])];
            if (!here.is_free()) throw std::invalid_argument("a feature occurs twice");
            here = {from.keys[row], static_cast<std::uint32_t>(from.indptr[row]),
                    static_cast<std::uint32_t>(from.indptr[row + 1])};
        }
    }

    void expect(std::uint64_t key) const { slots.expect(key); }
    void add(std::uint64_t key, float* scores) const {
        const slot& here = slots.find(key);
        for (std::uint32_t at = here.begin; at < here.end; ++at) scores[entries[at].column] += entries[at].weight;
    }
    // The same in two steps, so that the memory can be prefetched.
    struct run {
        std::uint32_t begin, end;
    };
    run find(std::uint64_t key) const {
        const slot& here = slots.find(key);
        prefetch(entries.data() + here.begin);
        return {here.begin, here.end};
    }
    void add(run which, float* scores) const {
        for (std::uint32_t at = which.begin; at < which.end; ++at) scores[entries[at].column] += entries[at].weight;
    }

  private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t begin = 0, end = 0;
        bool is_free() const { return begin == end; }
    };
    struct entry {
        float weight;
        std::uint32_t column;
    };

    hash_table<slot, multiplied_spread> slots;
    table<entry> entries;
};

// Patterns that use only one column of one token. Their weights for a word are added up once.
struct word_group {
    std::size_t column;
    std::int64_t offset;
    std::vector<std::size_t> patterns;
};

// Data that is remembered between sentences.
struct desk {
    sentence_reader reader;
    std::vector<table<float>> sums;  // for each group: a padded row for each value
    std::size_t forgotten = 0;
    std::vector<float> local;
    std::vector<std::uint64_t> keys;
    std::vector<frozen_rows::run> runs;
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
        atoms_for = mixed;
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
                             std::vector<float>(count)};
            rows.add(with_tags(key, how.patterns[p], said), one.weights.data());
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
            mixed.push_back(pattern);
            return;
        }
        for (word_group& one : groups)
            if (one.column == column(pieces[0]) && one.offset == pieces[0].offset) {
                one.patterns.push_back(pattern);
                return;
            }
        groups.push_back({column(pieces[0]), pieces[0].offset, {pattern}});
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
    }
    lattice over() const { return {count, width, moves, ends}; }
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
        if (!mine) mine = std::make_unique<desk>(how, words, atoms_for, groups.size());
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
        on.runs.resize(length * mixed.size());
        for (std::size_t i = 0, at = 0; i < length; ++i)
            for (const std::size_t p : mixed) {
                on.keys[at] = on.reader.key(p, i);
                rows.expect(on.keys[at++]);
            }
        on.local.assign(length * width, 0);
        sum_words(on);
        for (std::size_t at = 0; at < on.keys.size(); ++at)
            on.runs[at] = on.keys[at] == 0 ? frozen_rows::run{0, 0} : rows.find(on.keys[at]);
        for (std::size_t i = 0, at = 0; i < length; ++i)
            for (std::size_t number = 0; number < mixed.size(); ++number)
                rows.add(on.runs[at++], on.local.data() + i * width);
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
            for (std::int64_t i = 0; i < length; ++i) {
                const std::int64_t at = i + one.offset;
                const float* from;
                if (at >= 0 && at < length) {
                    from = sums.data() + on.reader.value(one.column, static_cast<std::size_t>(at)) * width;
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
    std::vector<float> ends, moves;
    std::vector<word_group> groups;
    std::vector<std::size_t> mixed;      // local patterns of no group
    std::vector<std::size_t> atoms_for;  // and all others whose keys are made token by token
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

// The training of a tagger: see sequence.h.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "rows/scattered_rows.h"
#include "tagging/sequence.h"
#include "tagging/sequence_search.h"

namespace markone {

namespace MARKONE_LEVEL {

namespace {

class learner final : public tagger_learner {
  public:
    learner(const templates& how, const tag_settings& what, const sequence_settings& by, const tagged_sentences& from,
            const token_features& seen)
        : how(how),
          what(what),
          by(by),
          from(from),
          seen(seen),
          parts(how, what.decode),
          count(what.count()),
          width(padded(count)),
          memory(how.memory()),
          ends(count) {
        if (seen.numbers.size() != from.batch.tokens() * parts.local.size() ||
            seen.bases.size() != from.batch.tokens() * parts.looking_back.size())
            throw std::invalid_argument("the memory for the features of all tokens has the wrong size");
        for (std::size_t tag = 0; tag < count; ++tag) ends[tag] = what.may(tag, count) ? 0 : never;
        if (by.folds > 0) learn_words();
        number();
    }

    sequence_tally learn(std::span<const std::int64_t> order) override {
        sequence_tally now;
        for (const std::int64_t sentence : order) {
            if (sentence < 0 || static_cast<std::size_t>(sentence) >= from.batch.size())
                throw std::out_of_range("no such sentence");
            visit(static_cast<std::size_t>(sentence), now);
            steps += 1;
            ++now.sentences;
        }
        return now;
    }

    double norm2() const override {
        double sum = 0;
        for (std::uint32_t row = 0; row < rows.size(); ++row)
            for (const auto& one : rows.weights(row)) sum += double{one.w} * double{one.w};
        return sum;
    }

    sparse_weights weights(bool averaged) const override {
        sparse_weights found;
        for (std::uint32_t row = 0; row < rows.size(); ++row) {
            const auto entries = rows.weights(row);
            const auto sums = rows.sums(row);
            for (std::size_t i = 0; i < entries.size(); ++i) {
                const double last = entries[i].w;
                const auto weight = static_cast<float>(averaged && steps > 0 ? last - sums[i] / steps : last);
                if (weight == 0) continue;
                found.columns.push_back(entries[i].column);
                found.weights.push_back(weight);
            }
            if (found.columns.size() == static_cast<std::size_t>(found.indptr.back())) continue;
            found.keys.push_back(rows.keys()[row]);
            found.indptr.push_back(static_cast<std::int64_t>(found.columns.size()));
        }
        return found;
    }

    name_list names(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& patterns) const override {
        name_list found;
        const tell_known tell = [&](std::size_t token) -> std::string_view {
            return set_of_token.empty() ? std::string_view() : sets[set_of_token[token]];
        };
        word_reader reader;
        for (const std::uint64_t key : keys) {
            const std::uint32_t row = rows.find(key);
            if (row == npos) throw std::out_of_range("no such feature");
            const row_origin& origin = origins[row];
            const std::array<std::uint32_t, 2> before{origin.tag1, origin.tag2};
            found.write(
                text_of(reader, how, what, tell, from.batch, origin.sentence, origin.token, origin.pattern, before));
            found.end_name();
            patterns.push_back(origin.pattern);
        }
        return found;
    }

    const lexicon& words() const override { return known; }
    std::size_t features() const override { return count_of_features; }

    sequence_state state() const override {
        sequence_state now;
        now.steps = steps;
        for (std::uint32_t row = 0; row < rows.size(); ++row) {
            if (!came_up(row)) continue;
            for (const auto& one : rows.weights(row)) {
                now.rows.columns.push_back(one.column);
                now.rows.weights.push_back(one.w);
            }
            const auto sums = rows.sums(row);
            now.sums.insert(now.sums.end(), sums.begin(), sums.end());
            now.origins.push_back(origins[row]);
            now.rows.keys.push_back(rows.keys()[row]);
            now.rows.indptr.push_back(static_cast<std::int64_t>(now.rows.columns.size()));
        }
        return now;
    }

    void set_state(const sequence_state& to) override {
        if (steps != 0 || rows.size() != count_of_features) throw std::invalid_argument("the learner is not new");
        check(to);
        for (std::size_t row = 0; row < to.rows.keys.size(); ++row) {
            const std::uint32_t number = rows.row_of(to.rows.keys[row]);
            for (auto at = static_cast<std::size_t>(to.rows.indptr[row]);
                 at < static_cast<std::size_t>(to.rows.indptr[row + 1]); ++at)
                rows.put(number, to.rows.columns[at], to.rows.weights[at], to.sums[at]);
            note_origin(number, to.origins[row]);
        }
        steps = to.steps;
        moves_are_old = true;
    }

    // ---- partitions

    std::unique_ptr<tagger_learner> part() const override {
        auto made = std::make_unique<learner>(*this);
        made->rows.forget_sums();
        made->steps = 0;
        made->is_part = true;
        return made;
    }

    tag_changes take(const tagger_learner& other, double share) override {
        const learner& base = alike(other);
        const std::vector<std::uint32_t> touched = touched_in_order(), there = rows_in(base, touched);
        tag_changes found;
        found.steps = steps;
        found.local = static_cast<std::size_t>(std::ranges::lower_bound(touched, count_of_features) - touched.begin());
        std::vector<std::size_t> by_column;
        for (std::size_t i = 0; i < touched.size(); ++i) {
            expect(touched, i);
            base.expect(there, i);
            const std::uint32_t row = touched[i];
            const auto entries = rows.weights(row);
            const auto sums = rows.sums(row);
            by_column.resize(entries.size());
            std::iota(by_column.begin(), by_column.end(), std::size_t{0});
            std::ranges::sort(by_column, {}, [&](std::size_t at) { return entries[at].column; });
            for (const std::size_t at : by_column) {
                const std::uint32_t column = entries[at].column;
                const float before = there[i] == npos ? 0 : base.rows.weight(there[i], column);
                const double moved = double{entries[at].w} - double{before};
                if (moved == 0 && sums[at] == 0) continue;
                found.columns.push_back(column);
                found.before.push_back(before);
                found.moved.push_back(share * moved);
                found.met.push_back(moved * steps - sums[at]);
                rows.put_at(row, at, before, 0);
            }
            found.keys.push_back(row < count_of_features ? row : rows.keys()[row]);
            found.origins.push_back(origins[row]);
            found.indptr.push_back(static_cast<std::int64_t>(found.columns.size()));
            if (there[i] == npos || !base.came_up(there[i])) origins[row].pattern = npos;
        }
        is_touched.assign(is_touched.size(), 0);
        steps = 0;
        moves_are_old = true;
        return found;
    }

    void mix_parts(const tag_changes& all) override {
        steps += all.steps;
        each_change(all, [&](std::size_t i, std::uint32_t row) {
            if (!came_up(row)) note_origin(row, all.origins[i]);
            each_column(all, i,
                        [&](std::size_t at) { rows.mix(row, all.columns[at], all.after(at), all.met[at], steps); });
        });
        moves_are_old = true;
    }

    void follow(const tag_changes& all) override {
        each_change(all, [&](std::size_t i, std::uint32_t row) {
            each_column(all, i, [&](std::size_t at) { rows.put(row, all.columns[at], all.after(at), 0); });
        });
        moves_are_old = true;
    }

  private:
    const learner& alike(const tagger_learner& other) const {
        const auto* const base = dynamic_cast<const learner*>(&other);
        if (base == nullptr || base == this || base->count_of_features != count_of_features || base->count != count)
            throw foreign();
        return *base;
    }
    static std::invalid_argument foreign() { return std::invalid_argument("the partition is not of this learner"); }
    // Fetches what will be needed soon of the rows that come next.
    void expect(std::span<const std::uint32_t> next, std::size_t i) const {
        constexpr std::size_t soon = 8, later = 2 * soon;
        if (i + later < next.size() && next[i + later] != npos) rows.expect(next[i + later]);
        if (i + soon >= next.size() || next[i + soon] == npos) return;
        rows.extent_of(next[i + soon]);
        rows.expect_sums(next[i + soon]);
    }
    // Where these rows are in the base, if they are there. A feature of tokens has the same row in all partitions.
    std::vector<std::uint32_t> rows_in(const learner& base, std::span<const std::uint32_t> of) const {
        return rows_of_keys(
            of.size(), base, [&](std::size_t i) { return of[i] < count_of_features; },
            [&](std::size_t i) { return of[i] < count_of_features ? of[i] : rows.keys()[of[i]]; },
            [&](std::uint64_t key) { return base.rows.find(key); });
    }
    template <class IsLocal, class KeyOf, class Find>
    static std::vector<std::uint32_t> rows_of_keys(std::size_t count, const learner& in, IsLocal is_local, KeyOf key_of,
                                                   Find find) {
        constexpr std::size_t soon = 8;
        std::vector<std::uint32_t> found(count);
        for (std::size_t i = 0; i < count; ++i) {
            if (i + soon < count && !is_local(i + soon)) in.rows.expect_key(key_of(i + soon));
            found[i] = is_local(i) ? static_cast<std::uint32_t>(key_of(i)) : find(key_of(i));
        }
        return found;
    }
    // Calls use(i, row) for each row of the changes, which is new if it is not there yet.
    template <class Use>
    void each_change(const tag_changes& of, Use use) {
        const bool fits =
            std::ranges::all_of(of.columns, [&](std::uint32_t column) { return column < count; }) &&
            std::ranges::all_of(std::span(of.keys).first(of.local),
                                [&](std::uint64_t row) { return row < count_of_features; }) &&
            std::ranges::all_of(of.origins, [&](const row_origin& one) { return one.pattern < how.patterns.size(); });
        if (!fits) throw foreign();
        const std::vector<std::uint32_t> all = rows_of_keys(
            of.keys.size(), *this, [&](std::size_t i) { return i < of.local; },
            [&](std::size_t i) { return of.keys[i]; }, [&](std::uint64_t key) { return rows.row_of(key); });
        for (std::size_t i = 0; i < all.size(); ++i) {
            expect(all, i);
            use(i, all[i]);
        }
    }
    template <class Use>
    static void each_column(const tag_changes& of, std::size_t i, Use use) {
        for (auto at = static_cast<std::size_t>(of.indptr[i]); at < static_cast<std::size_t>(of.indptr[i + 1]); ++at)
            use(at);
    }
    void touch(std::uint32_t row) {
        if (row >= is_touched.size()) is_touched.resize(rows.size());
        is_touched[row] = 1;
    }
    // The features of tokens by their rows, then the others by their keys.
    std::vector<std::uint32_t> touched_in_order() const {
        std::vector<std::uint32_t> found;
        for (std::size_t row = 0; row < is_touched.size(); ++row)
            if (is_touched[row] != 0) found.push_back(static_cast<std::uint32_t>(row));
        const auto others = std::ranges::lower_bound(found, count_of_features);
        std::sort(others, found.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return rows.keys()[a] < rows.keys()[b]; });
        return found;
    }

    void check(const sequence_state& to) const {
        const std::size_t size = to.rows.keys.size(), stored = to.rows.columns.size();
        bool good = to.rows.indptr.size() == size + 1 && to.origins.size() == size &&
                    to.rows.weights.size() == stored && to.sums.size() == stored && to.rows.indptr[0] == 0 &&
                    static_cast<std::size_t>(to.rows.indptr[size]) == stored && to.steps >= 0 &&
                    to.steps <= most_steps && std::floor(to.steps) == to.steps;
        for (std::size_t row = 0; good && row < size; ++row)
            good = to.rows.indptr[row] <= to.rows.indptr[row + 1] && came_up_there(to.rows.keys[row], to.origins[row]);
        std::vector<std::size_t> last_row(count, size);  // that had a weight for a tag
        for (std::size_t row = 0; good && row < size; ++row)
            for (auto at = static_cast<std::size_t>(to.rows.indptr[row]);
                 good && at < static_cast<std::size_t>(to.rows.indptr[row + 1]); ++at) {
                const std::uint32_t tag = to.rows.columns[at];
                good = tag < count && std::isfinite(to.rows.weights[at]) && std::isfinite(to.sums[at]) &&
                       last_row[tag] != row;
                if (good) last_row[tag] = row;
            }
        if (!good) throw std::invalid_argument("the parts of the saved state do not match");
        std::vector<std::uint64_t> keys(to.rows.keys);
        std::ranges::sort(keys);
        if (std::ranges::adjacent_find(keys) != keys.end())
            throw std::invalid_argument("a feature occurs twice in the saved state");
    }
    // Whether a template makes exactly this feature of a token after these tags. Otherwise the name would be wrong.
    bool came_up_there(std::uint64_t key, const row_origin& origin) const {
        if (origin.sentence >= from.batch.size() || origin.token >= from.batch.length(origin.sentence) ||
            origin.pattern >= how.patterns.size() || origin.tag1 > count || origin.tag2 > count)
            return false;
        const std::size_t token = from.batch.begin(origin.sentence) + origin.token;
        const auto number_in = [&](const std::vector<std::size_t>& some) {
            return static_cast<std::size_t>(std::ranges::lower_bound(some, std::size_t{origin.pattern}) - some.begin());
        };
        if (how.patterns[origin.pattern].tags.empty()) {
            const std::uint32_t row = seen.numbers[token * parts.local.size() + number_in(parts.local)];
            return row != npos && rows.keys()[row] == key;
        }
        const std::uint64_t base = seen.bases[token * parts.looking_back.size() + number_in(parts.looking_back)];
        return base != 0 && with_tags(base, how.patterns[origin.pattern], {{origin.tag1, origin.tag2}}) == key;
    }

    // ---- features

    std::size_t fold_of(std::size_t sentence) const { return mix(sentence + 1) % by.folds; }

    // How often each word has each tag.
    struct tag_counts {
        row_numbers words;
        std::vector<std::uint32_t> word_of_token;
        std::vector<std::int32_t> times;  // by word and tag
    };

    // Finds the tags of each word in all sentences, and for each training token those in the sentences of other folds.
    void learn_words() {
        tag_counts counts = count_tags();
        for (std::size_t word = 0; word < counts.words.size(); ++word)
            known.add(counts.words.keys()[word], tags_of(counts, word));

        std::vector<std::vector<std::size_t>> folds(by.folds);
        for (std::size_t sentence = 0; sentence < from.batch.size(); ++sentence)
            folds[fold_of(sentence)].push_back(sentence);
        set_of_token.resize(counts.word_of_token.size());
        row_numbers set_numbers;
        std::vector<std::uint32_t> set_of_word(counts.words.size());
        for (const std::vector<std::size_t>& fold : folds) {
            add_to_counts(counts, fold, -1);
            name_sets(counts, fold, set_numbers, set_of_word);
            add_to_counts(counts, fold, 1);
        }
    }

    tag_counts count_tags() const {
        tag_counts counts;
        word_table forms;
        std::vector<std::uint32_t> word_of_form;
        word_reader reader;
        for (std::size_t token = 0; token < from.batch.tokens(); ++token) {
            const std::string_view form = from.batch.columns[0][token];
            const std::uint32_t number = forms.find_or_add(form);
            if (number == word_of_form.size())
                word_of_form.push_back(counts.words.find_or_add(reader.read(form).lower));
            counts.word_of_token.push_back(word_of_form[number]);
        }
        counts.times.resize(counts.words.size() * count);
        for (std::size_t token = 0; token < from.batch.tokens(); ++token) add_to_counts(counts, token, 1);
        return counts;
    }

    std::string tags_of(const tag_counts& counts, std::size_t word) const {
        return lexicon::name_of(std::span(counts.times).subspan(word * count, count), what.tags);
    }

    void add_to_counts(tag_counts& counts, std::size_t token, std::int32_t times) const {
        counts.times[counts.word_of_token[token] * count + static_cast<std::size_t>(from.tags[token])] += times;
    }
    void add_to_counts(tag_counts& counts, const std::vector<std::size_t>& sentences, std::int32_t times) const {
        each_token(sentences, [&](std::size_t token) { add_to_counts(counts, token, times); });
    }

    // Sets the known tags of each token in these sentences from the counts.
    void name_sets(const tag_counts& counts, const std::vector<std::size_t>& sentences, row_numbers& set_numbers,
                   std::vector<std::uint32_t>& set_of_word) {
        each_token(sentences, [&](std::size_t token) { set_of_word[counts.word_of_token[token]] = npos; });
        each_token(sentences, [&](std::size_t token) {
            const std::uint32_t word = counts.word_of_token[token];
            if (set_of_word[word] == npos) {
                std::string name = tags_of(counts, word);
                set_of_word[word] = set_numbers.find_or_add(lexicon::atom_of(name));
                if (set_of_word[word] == sets.size()) sets.push_back(std::move(name));
            }
            set_of_token[token] = set_of_word[word];
        });
    }

    template <class Use>
    void each_token(const std::vector<std::size_t>& sentences, Use use) const {
        for (const std::size_t sentence : sentences)
            for (std::size_t token = from.batch.begin(sentence); token < from.batch.begin(sentence + 1); ++token)
                use(token);
    }

    // Numbers the features of all tokens. Each has a row, which stays empty until a mistake changes its weights.
    void number() {
        std::vector<std::size_t> all(how.patterns.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        sentence_reader reader(how, known, all);
        auto next = seen.numbers.begin();
        auto next_base = seen.bases.begin();
        rows.reserve(std::min(2 * from.batch.tokens(), most_reserved));
        std::vector<std::uint64_t> keys;
        for (std::size_t sentence = 0; sentence < from.batch.size(); ++sentence) {
            reader.read(from.batch, sentence);
            const std::size_t begin = from.batch.begin(sentence);
            for (std::size_t atom = 0; by.folds > 0 && atom < how.atoms.size(); ++atom)
                if (how.atoms[atom].kind == atom_kind::known)
                    for (std::size_t i = 0; i < reader.length(); ++i)
                        reader.put(atom, i, lexicon::atom_of(sets[set_of_token[begin + i]]));
            keys.clear();
            for (std::size_t i = 0; i < reader.length(); ++i) {
                for (const std::size_t p : parts.local) {
                    keys.push_back(reader.key(p, i));
                    rows.expect_key(keys.back());
                }
                for (const std::size_t p : parts.looking_back) *next_base++ = reader.key(p, i);
            }
            for (const std::uint64_t key : keys) *next++ = key == 0 ? npos : rows.row_of(key);
        }
        count_of_features = rows.size();
    }

    // ---- a visit

    void visit(std::size_t sentence, sequence_tally& now) {
        const std::size_t begin = from.batch.begin(sentence), length = from.batch.length(sentence);
        at = {sentence, begin, from.tags.subspan(begin, length)};
        path.resize(length);
        if (length == 0) return;
        if (what.decode == decoder::greedy) return visit_greedily(now);
        local.assign(length * width, 0);
        add_local(0, length, local.data());
        if (what.decode == decoder::viterbi)
            visit_exactly(now);
        else
            visit_by_beam(now);
    }

    void visit_exactly(sequence_tally& now) {
        const std::size_t length = path.size();
        const lattice over = transitions();
        if (by.mira) {  // the sequence with the highest sum of its score and the number of its wrong tags
            augmented = local;
            for (std::size_t i = 0; i < length; ++i)
                for (std::size_t j = 0; j < count; ++j)
                    augmented[i * width + j] += static_cast<float>(j != right_tag(i));
            search.find(over, augmented, path);
            if (is_right()) return;  // it wins even against costs, so it also wins without them
            worst = path;
        }
        search.find(over, local, path);
        if (!count_wrong(now) && !by.mira) return;
        if (by.mira) path.swap(worst);
        double lost = 0;
        for (std::size_t i = 0; i < length; ++i) {
            const history found = history_at(path, i, count), right = history_at(at.tags, i, count);
            lost += double{local[i * width + path[i]]} - double{local[i * width + right_tag(i)]} +
                    double{move_weights[found.tags[0] * width + path[i]]} -
                    double{move_weights[right.tags[0] * width + right_tag(i)]};
        }
        update(length, lost, now);
    }

    void visit_by_beam(sequence_tally& now) {
        const std::size_t length = path.size();
        double right = 0, most = 0;
        std::size_t violated = 0;
        std::vector<float> scores(width);
        const auto add = [&](std::size_t i, const history& said, float* out) {
            std::copy_n(local.data() + i * width, width, out);
            add_looking_back(i, said, out);
        };
        if (by.mira) {
            search_by_beam.find(what, length, memory, what.width, add, [](std::size_t) {});
            search_by_beam.trace(length - 1, 0, path);
            count_wrong(now);
        }
        // The largest violation (Huang, Fayong & Guo 2012): the partial sequence furthest ahead of the right one.
        search_by_beam.find(
            what, length, memory, what.width,
            [&](std::size_t i, const history& said, float* out) {
                add(i, said, out);
                for (std::size_t j = 0; by.mira && j < count; ++j) out[j] += static_cast<float>(j != right_tag(i));
            },
            [&](std::size_t i) {
                add(i, history_at(at.tags, i, count), scores.data());
                right += double{scores[right_tag(i)]};
                const beam::item& first = search_by_beam.at(i)[0];
                if (first.right || first.score - right < most) return;
                most = first.score - right;
                violated = i + 1;
            },
            at.tags);
        search_by_beam.trace(length - 1, 0, path);
        if (!by.mira && !count_wrong(now)) return;
        if (violated == 0) return;
        search_by_beam.trace(violated - 1, 0, path);
        double cost = 0;
        for (std::size_t i = 0; by.mira && i < violated; ++i) cost += path[i] != right_tag(i);
        update(violated, most - cost, now);
    }

    // Each token is learned separately, after the predicted tags of the tokens before it.
    void visit_greedily(sequence_tally& now) {
        bool wrong = false, moved = false;
        std::vector<float> scores(width);
        for (std::size_t i = 0; i < path.size(); ++i) {
            const history said = history_at(path, i, count);
            const auto may = [&](std::size_t tag) {
                return what.may(said.tags[0], tag) && (i + 1 < path.size() || what.may(tag, count));
            };
            std::fill(scores.begin(), scores.end(), 0.0f);
            add_local(i, i + 1, scores.data());
            add_looking_back(i, said, scores.data());
            std::size_t best = count, rival = count;
            for (std::size_t tag = 0; tag < count; ++tag) {
                if (!may(tag)) continue;
                if (best == count || scores[tag] > scores[best]) best = tag;
                if (tag != right_tag(i) && (rival == count || scores[tag] > scores[rival])) rival = tag;
            }
            if (best == count) throw std::invalid_argument("no sequence of tags is allowed");
            path[i] = static_cast<std::uint32_t>(best);
            now.wrong_tokens += best != right_tag(i);
            wrong |= best != right_tag(i);
            if (rival == count || !may(right_tag(i)) || (!by.mira && best == right_tag(i))) continue;
            noted.clear();
            note_local(i, right_tag(i), rival);
            note_looking_back(i, said, right_tag(i), true);
            note_looking_back(i, said, rival, false);
            moved |= move(double{scores[rival]} - double{scores[right_tag(i)]}, 1, now);
        }
        now.mistakes += wrong;
        now.updates += moved;
    }

    bool is_right() const {
        return std::equal(path.begin(), path.end(), at.tags.begin(), [](std::uint32_t one, std::int32_t other) {
            return one == static_cast<std::uint32_t>(other);
        });
    }
    bool count_wrong(sequence_tally& now) const {
        std::int64_t wrong = 0;
        for (std::size_t i = 0; i < path.size(); ++i) wrong += path[i] != right_tag(i);
        now.wrong_tokens += wrong;
        now.mistakes += wrong != 0;
        return wrong != 0;
    }
    std::size_t right_tag(std::size_t i) const { return static_cast<std::size_t>(at.tags[i]); }

    // ---- scores

    void add_row(std::uint32_t row, float* scores) const {
        if (row != npos) rows.add(row, scores);
    }
    std::span<const std::uint32_t> features_of(std::size_t i) const {
        return seen.numbers.subspan((at.begin + i) * parts.local.size(), parts.local.size());
    }
    // Adds the weights of some tokens' features to their rows of scores. Training mostly waits for weights from memory,
    // so all of them are prefetched first.
    void add_local(std::size_t begin, std::size_t end, float* scores) {
        const std::size_t each = parts.local.size();
        const auto features = seen.numbers.subspan((at.begin + begin) * each, (end - begin) * each);
        extents.resize(features.size() + 1);
        ends_of_tokens.resize(end - begin);
        for (const std::uint32_t row : features)
            if (row != npos) rows.expect(row);
        std::size_t there = 0;  // the rows that have weights
        for (std::size_t token = 0, i = 0; token < end - begin; ++token) {
            for (std::size_t number = 0; number < each; ++number, ++i) {
                extents[there] = features[i] == npos ? scattered_rows::extent() : rows.extent_of(features[i]);
                there += extents[there].size != 0;
            }
            ends_of_tokens[token] = there;
        }
        for (std::size_t token = 0, i = 0; token < end - begin; ++token)
            for (; i < ends_of_tokens[token]; ++i) rows.add(extents[i], scores + token * width);
    }
    // 0 if the pattern has no feature here.
    std::uint64_t key_looking_back(std::size_t i, std::size_t number, const history& said) const {
        const std::uint64_t base = seen.bases[(at.begin + i) * parts.looking_back.size() + number];
        return base == 0 ? 0 : with_tags(base, how.patterns[parts.looking_back[number]], said);
    }
    void add_looking_back(std::size_t i, const history& said, float* scores) const {
        for (std::size_t number = 0; number < parts.looking_back.size(); ++number)
            if (const std::uint64_t key = key_looking_back(i, number, said); key != 0) add_row(rows.find(key), scores);
    }
    // All weights of "tag[-1]", for the exact search.
    lattice transitions() {
        if (moves_are_old) {
            move_weights.assign((count + 1) * width, 0);
            moves.assign((count + 1) * width, never);
            for (std::size_t before = 0; before <= count; ++before) {
                float* const row = move_weights.data() + before * width;
                history said = history::before_all(count);
                said.tags[0] = static_cast<std::uint32_t>(before);
                for (const std::size_t p : parts.looking_back)
                    add_row(rows.find(with_tags(sentence_reader::first_key(p), how.patterns[p], said)), row);
                for (std::size_t tag = 0; tag < count; ++tag)
                    if (what.may(before, tag)) moves[before * width + tag] = row[tag];
            }
            turn_moves(moves, count, into);
            moves_are_old = false;
        }
        return {count, width, moves, into, ends};
    }

    // ---- steps

    // A change of one weight by 1 or -1, as a number that sorts by rows and columns.
    static std::uint64_t change_of(std::uint32_t row, std::size_t column, bool up) {
        return std::uint64_t{row} << 32 | column << 1 | std::uint64_t{up};
    }
    struct change {
        std::uint32_t row, column;
        float amount;
    };

    // The changes from the predicted tags of the first tokens to the right ones.
    void update(std::size_t length, double lost, sequence_tally& now) {
        double cost = 0;
        for (std::size_t i = 0; i < length; ++i) cost += path[i] != right_tag(i);
        if (cost == 0 || (by.mira && lost + cost <= 0)) return;
        noted.clear();
        for (std::size_t i = 0; i < length; ++i) {
            const history found = history_at(path, i, count), right = history_at(at.tags, i, count);
            const bool differs = path[i] != right_tag(i);
            if (differs) note_local(i, right_tag(i), path[i]);
            if (differs || found != right) {
                note_looking_back(i, right, right_tag(i), true);
                note_looking_back(i, found, path[i], false);
            }
        }
        now.updates += move(lost, cost, now);
    }

    void note_local(std::size_t i, std::size_t right, std::size_t wrong) {
        const auto features = features_of(i);
        for (std::size_t number = 0; number < features.size(); ++number) {
            const std::uint32_t row = features[number];
            if (row == npos) continue;
            note(row, i, parts.local[number], history::before_all(count));
            noted.push_back(change_of(row, right, true));
            noted.push_back(change_of(row, wrong, false));
        }
    }
    void note_looking_back(std::size_t i, const history& said, std::size_t tag, bool up) {
        for (std::size_t number = 0; number < parts.looking_back.size(); ++number) {
            const std::uint64_t key = key_looking_back(i, number, said);
            if (key == 0) continue;
            const std::uint32_t row = rows.row_of(key);
            note(row, i, parts.looking_back[number], said);
            noted.push_back(change_of(row, tag, up));
        }
    }
    // Whether a mistake has changed the weights of a row.
    bool came_up(std::uint32_t row) const { return row < origins.size() && origins[row].pattern != npos; }
    // Records the place where it first occurred.
    void note(std::uint32_t row, std::size_t i, std::size_t pattern, const history& said) {
        if (is_part) touch(row);
        if (came_up(row)) return;
        note_origin(row, {static_cast<std::uint32_t>(at.sentence), static_cast<std::uint32_t>(i),
                          static_cast<std::uint32_t>(pattern), said.tags[0], said.tags[1]});
    }
    void note_origin(std::uint32_t row, const row_origin& origin) {
        if (row >= origins.size()) origins.resize(rows.size(), {0, 0, npos, 0, 0});
        origins[row] = origin;
    }

    // The perceptron adds the difference of the features. MIRA adds the multiple, at most C, that wins by the cost.
    //   tau = min(C, (s_found + cost - s_right) / |difference|^2)
    bool move(double lost, double cost, sequence_tally& now) {
        std::sort(noted.begin(), noted.end());
        difference.clear();
        double norm2 = 0;
        for (std::size_t i = 0; i < noted.size();) {
            const std::uint64_t which = noted[i] >> 1;
            float amount = 0;
            for (; i < noted.size() && noted[i] >> 1 == which; ++i) amount += (noted[i] & 1) != 0 ? 1.0f : -1.0f;
            if (amount == 0) continue;
            norm2 += double{amount} * double{amount};
            difference.push_back(
                {static_cast<std::uint32_t>(which >> 31), static_cast<std::uint32_t>(which & 0x7fffffff), amount});
            rows.expect_sums(difference.back().row);
        }
        const double loss = by.mira ? lost + cost : lost;
        if (loss > 0) now.loss += loss;
        const double tau = !by.mira ? 1 : norm2 > 0 && loss > 0 ? std::min(by.C, loss / norm2) : 0;
        if (tau == 0 || difference.empty()) return false;
        for (const change& one : difference)
            rows.move(one.row, one.column, static_cast<float>(tau * double{one.amount}), steps);
        moves_are_old = true;
        return true;
    }

    static constexpr double most_steps = 9007199254740992.0;  // 2^53: up to there each is another number
    static constexpr std::size_t most_reserved = std::size_t{1} << 19;

    struct place {
        std::size_t sentence = 0, begin = 0;
        std::span<const std::int32_t> tags;
    };

    const templates how;
    const tag_settings what;
    const sequence_settings by;
    const tagged_sentences from;
    const token_features seen;
    const divided_patterns parts;
    const std::size_t count, width, memory;

    lexicon known;
    std::vector<std::string> sets;            // of tags that are known of words in training
    std::vector<std::uint32_t> set_of_token;  // without its own fold
    std::size_t count_of_features = 0;        // of tokens, which are the first rows
    scattered_rows rows;
    std::vector<row_origin> origins;  // of rows that came up in a mistake
    double steps = 0;

    // Of a partition: which rows have come up since its pass began.
    bool is_part = false;
    std::vector<std::uint8_t> is_touched;

    place at;
    std::vector<float> local, augmented, move_weights, moves, into, ends;
    bool moves_are_old = true;
    std::vector<std::uint32_t> path, worst;
    std::vector<std::uint64_t> noted;
    std::vector<scattered_rows::extent> extents;
    std::vector<std::size_t> ends_of_tokens;
    std::vector<change> difference;
    viterbi search;
    beam search_by_beam;
};

}  // namespace

std::unique_ptr<tagger_learner> make_tagger_learner(const templates& how, const tag_settings& what,
                                                    const sequence_settings& by, const tagged_sentences& from,
                                                    const token_features& seen) {
    return std::make_unique<learner>(how, what, by, from, seen);
}

}  // namespace MARKONE_LEVEL

}  // namespace markone

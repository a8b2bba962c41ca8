#include "sequence.h"

#include <array>
#include <bit>
#include <cmath>
#include <mutex>
#include <numeric>
#include <type_traits>
#include <utility>

#include "scattered_rows.h"

namespace markone {

namespace MARKONE_LEVEL {

namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

// ---- search

// Rows of scores are padded, so that a register has only numbers of one row.
constexpr std::size_t lanes = 8;
constexpr std::size_t padded(std::size_t tags) {
    return (tags + lanes - 1) / lanes * lanes;
}

// What a search for the best sequence goes by.
struct lattice {
    std::size_t tags, width;
    std::span<const float> moves;  // a row for the tag before, the last one for the beginning: -inf where forbidden
    std::span<const float> ends;   // 0, or -inf
};

// The best way to each of some tags, and the tag before on it: of equal ones the first.
template <std::size_t count>
void step_block(const float* before, std::size_t tags, const float* moves, std::size_t width, float* best,
                std::int32_t* back) {
    std::array<float, count> top;
    std::array<std::int32_t, count> from{};
    top.fill(never);
    for (std::size_t p = 0; p < tags; ++p) {
        const float score = before[p];
        const float* const row = moves + p * width;
        const auto number = static_cast<std::int32_t>(p);
        for (std::size_t j = 0; j < count; ++j) {
            const float candidate = score + row[j];
            from[j] = candidate > top[j] ? number : from[j];
            top[j] = candidate > top[j] ? candidate : top[j];
        }
    }
    std::copy(top.begin(), top.end(), best);
    std::copy(from.begin(), from.end(), back);
}

void step(const float* before, const lattice& over, float* best, std::int32_t* back) {
    std::size_t at = 0;
    const float* const moves = over.moves.data();
    for (; at + 4 * lanes <= over.width; at += 4 * lanes)
        step_block<4 * lanes>(before, over.tags, moves + at, over.width, best + at, back + at);
    const std::size_t left = (over.width - at) / lanes;
    if (left == 3) step_block<3 * lanes>(before, over.tags, moves + at, over.width, best + at, back + at);
    if (left == 2) step_block<2 * lanes>(before, over.tags, moves + at, over.width, best + at, back + at);
    if (left == 1) step_block<lanes>(before, over.tags, moves + at, over.width, best + at, back + at);
}

// Viterbi's algorithm (1967): the best sequence ending in each tag is the best one to some tag before, and a step.
class viterbi {
  public:
    // The best of all sequences, for local scores with a padded row for each token.
    void find(const lattice& over, std::span<const float> local, std::span<std::uint32_t> path) {
        const std::size_t length = path.size(), width = over.width;
        if (length == 0) return;
        forward(over, local, length);
        const float* const last = alpha.data() + (length - 1) * width;
        std::size_t best = 0;
        for (std::size_t j = 1; j < over.tags; ++j)
            if (last[j] + over.ends[j] > last[best] + over.ends[best]) best = j;
        if (last[best] + over.ends[best] == never) throw std::invalid_argument("no sequence of tags is allowed");
        for (std::size_t i = length; i-- > 0;) {
            path[i] = static_cast<std::uint32_t>(best);
            best = static_cast<std::size_t>(back[i * width + best]);
        }
    }

    // The score of the best sequence through each tag of each token.
    void through(const lattice& over, std::span<const float> local, std::size_t length, float* out) {
        if (length == 0) return;
        const std::size_t width = over.width;
        forward(over, local, length);
        std::vector<float> after(over.ends.begin(), over.ends.end()), before(over.tags);
        for (std::size_t i = length; i-- > 0;) {
            for (std::size_t j = 0; j < over.tags; ++j) out[i * over.tags + j] = alpha[i * width + j] + after[j];
            if (i == 0) break;
            for (std::size_t p = 0; p < over.tags; ++p) {
                before[p] = never;
                for (std::size_t j = 0; j < over.tags; ++j)
                    before[p] = std::max(before[p], over.moves[p * width + j] + local[i * width + j] + after[j]);
            }
            after.swap(before);
        }
    }

    // The best sequences, so many at most: each tag of each token keeps as many ways to it.
    static std::vector<found_sequence> best(const lattice& over, std::span<const float> local, std::size_t length,
                                            std::size_t count) {
        struct way {
            double score;
            std::uint32_t tag, rank;  // of the way before
        };
        const auto better = [](const way& one, const way& other) {
            return one.score != other.score ? one.score > other.score
                                            : std::pair(one.tag, one.rank) < std::pair(other.tag, other.rank);
        };
        const auto keep = [&](std::vector<way>& ways) {
            std::erase_if(ways, [](const way& one) { return one.score == double{never}; });
            const std::size_t kept = std::min(count, ways.size());
            std::partial_sort(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(kept), ways.end(), better);
            ways.resize(kept);
        };
        std::vector<std::vector<way>> ways(length * over.tags);
        for (std::size_t i = 0; i < length; ++i)
            for (std::size_t j = 0; j < over.tags; ++j) {
                auto& mine = ways[i * over.tags + j];
                const float here = local[i * over.width + j];
                if (i == 0) mine.push_back({double{over.moves[over.tags * over.width + j]} + double{here}, 0, 0});
                for (std::size_t p = 0; i != 0 && p < over.tags; ++p) {
                    const auto& before = ways[(i - 1) * over.tags + p];
                    for (std::size_t rank = 0; rank < before.size(); ++rank)
                        mine.push_back({before[rank].score + double{over.moves[p * over.width + j]} + double{here},
                                        static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(rank)});
                }
                keep(mine);
            }
        std::vector<way> ends;
        if (length == 0) return {{0, {}}};
        for (std::size_t p = 0; p < over.tags; ++p) {
            const auto& last = ways[(length - 1) * over.tags + p];
            for (std::size_t rank = 0; rank < last.size(); ++rank)
                ends.push_back({last[rank].score + double{over.ends[p]}, static_cast<std::uint32_t>(p),
                                static_cast<std::uint32_t>(rank)});
        }
        keep(ends);
        std::vector<found_sequence> found;
        for (const way& end : ends) {
            found.push_back({end.score, std::vector<std::int32_t>(length)});
            way at = end;
            for (std::size_t i = length; i-- > 0;) {
                found.back().tags[i] = static_cast<std::int32_t>(at.tag);
                at = ways[i * over.tags + at.tag][at.rank];
            }
        }
        return found;
    }

  private:
    void forward(const lattice& over, std::span<const float> local, std::size_t length) {
        const std::size_t width = over.width;
        alpha.resize(std::max(alpha.size(), length * width));
        back.resize(std::max(back.size(), length * width));
        const float* const first = over.moves.data() + over.tags * width;
        for (std::size_t j = 0; j < width; ++j) alpha[j] = first[j] + local[j];
        for (std::size_t i = 1; i < length; ++i) {
            float* const here = alpha.data() + i * width;
            step(here - width, over, here, back.data() + i * width);
            for (std::size_t j = 0; j < width; ++j) here[j] += local[i * width + j];
        }
    }

    std::vector<float> alpha;
    std::vector<std::int32_t> back;
};

// Tags said before: the last one first. Where there are none, the number that all tags count.
struct history {
    std::array<std::uint32_t, templates::longest_memory> tags{};

    static history before_all(std::size_t count) {
        history none;
        none.tags.fill(static_cast<std::uint32_t>(count));
        return none;
    }
    history then(std::size_t tag) const { return {{static_cast<std::uint32_t>(tag), tags[0]}}; }
    bool operator==(const history&) const = default;
};

template <class Path>
history history_at(const Path& path, std::size_t token, std::size_t count) {
    history found = history::before_all(count);
    for (std::size_t back = 1; back <= std::min(token, found.tags.size()); ++back)
        found.tags[back - 1] = static_cast<std::uint32_t>(path[token - back]);
    return found;
}

// The best sequences that come of the best beginnings. Of beginnings between which no template can tell any more, the
// best stays.
class beam {
  public:
    struct item {
        double score;
        history said;
        std::uint32_t from, tag;
        bool right;  // whether all its tags are, where that is known
    };

    // Calls add(i, said, scores) for the scores of all tags at a token after what was said, and see(i) after each.
    template <class Add, class See>
    void find(const tag_settings& what, std::size_t length, std::size_t memory, std::size_t width, Add add, See see,
              std::span<const std::int32_t> right = {}) {
        const std::size_t count = what.count();
        steps.resize(length);
        scores.resize(padded(count));
        const item start{0, history::before_all(count), 0, 0, !right.empty()};
        for (std::size_t i = 0; i < length; ++i) {
            candidates.clear();
            const std::span<const item> before = i == 0 ? std::span(&start, 1) : std::span(std::as_const(steps[i - 1]));
            for (std::uint32_t from = 0; from < before.size(); ++from) {
                add(i, before[from].said, scores.data());
                for (std::uint32_t tag = 0; tag < count; ++tag)
                    if (what.may(before[from].said.tags[0], tag) && (i + 1 < length || what.may(tag, count)))
                        candidates.push_back({before[from].score + double{scores[tag]}, before[from].said.then(tag),
                                              from, tag,
                                              before[from].right && static_cast<std::uint32_t>(right[i]) == tag});
            }
            if (candidates.empty()) throw std::invalid_argument("no sequence of tags is allowed");
            choose(steps[i], memory, width);
            see(i);
        }
    }
    std::span<const item> at(std::size_t token) const { return steps[token]; }
    // The sequence that ends with an item of a token.
    template <class Path>
    void trace(std::size_t token, std::size_t number, Path& path) const {
        for (std::size_t i = token + 1; i-- > 0;) {
            path[i] = static_cast<std::remove_cvref_t<decltype(path[i])>>(steps[i][number].tag);
            number = steps[i][number].from;
        }
    }

  private:
    void choose(std::vector<item>& kept, std::size_t memory, std::size_t width) {
        const auto better = [](const item& one, const item& other) {
            return one.score != other.score ? one.score > other.score
                                            : std::pair(one.from, one.tag) < std::pair(other.from, other.tag);
        };
        kept.clear();
        if (width == 1) {
            kept.push_back(*std::min_element(candidates.begin(), candidates.end(), better));
            return;
        }
        std::sort(candidates.begin(), candidates.end(), better);
        for (const item& one : candidates) {
            const bool twin = std::any_of(kept.begin(), kept.end(), [&](const item& other) {
                return std::equal(one.said.tags.begin(), one.said.tags.begin() + static_cast<std::ptrdiff_t>(memory),
                                  other.said.tags.begin());
            });
            if (!twin) kept.push_back(one);
            if (kept.size() == width) break;
        }
    }

    std::vector<std::vector<item>> steps;
    std::vector<item> candidates;
    std::vector<float> scores;
};

// Those that look back at tags, and those that do not.
struct divided_patterns {
    std::vector<std::size_t> local, looking_back;

    divided_patterns(const templates& how, decoder decode) {
        for (std::size_t p = 0; p < how.patterns.size(); ++p) {
            const pattern& one = how.patterns[p];
            (one.tags.empty() ? local : looking_back).push_back(p);
            const bool alone = one.pieces.empty() && one.tags == std::vector<std::size_t>{1};
            if (decode == decoder::viterbi && !one.tags.empty() && !alone)
                throw std::invalid_argument("the exact search looks back at one tag alone");
        }
    }
};

std::uint64_t with_tags(std::uint64_t key, const pattern& of, const history& said) {
    for (const std::size_t back : of.tags) key = join(key, sentence_reader::tag_atom(said.tags[back - 1]));
    return key;
}

// ---- learning

class learner final : public tagger_learner {
  public:
    learner(const templates& how, const tag_settings& what, const sequence_settings& by, const tagged_sentences& from)
        : how(how),
          what(what),
          by(by),
          from(from),
          parts(how, what.decode),
          count(what.count()),
          width(padded(count)),
          memory(how.memory()),
          ends(count) {
        for (std::size_t tag = 0; tag < count; ++tag) ends[tag] = what.may(tag, count) ? 0 : never;
        if (by.folds > 0) learn_words();
        number();
        lines.assign(numbers.size(), nobody);
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
            end_row(found, rows.keys()[row]);
        }
        return found;
    }

    name_list names(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>& patterns) const override {
        name_list found;
        const tell_known tell = [&](std::size_t token) -> std::string_view {
            return set_of_token.empty() ? std::string_view() : sets[set_of_token[token]];
        };
        for (const std::uint64_t key : keys) {
            const std::uint32_t row = rows.find(key);
            if (row == nobody) throw std::out_of_range("no such feature");
            const row_origin& origin = origins[row];
            const std::array<std::uint32_t, 2> before{origin.tag1, origin.tag2};
            found.write(text_of(how, what, tell, from.batch, origin.sentence, origin.token, origin.pattern, before));
            found.end_name();
            patterns.push_back(origin.pattern);
        }
        return found;
    }

    const lexicon& words() const override { return known; }
    std::size_t features() const override { return numbers.size(); }

    sequence_state state() const override {
        sequence_state now;
        now.steps = steps;
        now.origins = origins;
        for (std::uint32_t row = 0; row < rows.size(); ++row) {
            for (const auto& one : rows.weights(row)) {
                now.rows.columns.push_back(one.column);
                now.rows.weights.push_back(one.w);
            }
            const auto sums = rows.sums(row);
            now.sums.insert(now.sums.end(), sums.begin(), sums.end());
            now.rows.keys.push_back(rows.keys()[row]);
            now.rows.indptr.push_back(static_cast<std::int64_t>(now.rows.columns.size()));
        }
        return now;
    }

    void set_state(const sequence_state& to) override {
        check(to);
        rows = scattered_rows();
        for (std::size_t row = 0; row < to.rows.keys.size(); ++row) {
            const std::uint32_t number = rows.row_of(to.rows.keys[row]);
            if (number != row) throw std::invalid_argument("a feature stands twice in what was kept");
            for (auto at = static_cast<std::size_t>(to.rows.indptr[row]);
                 at < static_cast<std::size_t>(to.rows.indptr[row + 1]); ++at)
                rows.put(number, to.rows.columns[at], to.rows.weights[at], to.sums[at]);
        }
        origins = to.origins;
        steps = to.steps;
        for (std::size_t feature = 0; feature < numbers.size(); ++feature)
            lines[feature] = rows.find(numbers.keys()[feature]);
        moves_are_old = true;
    }

  private:
    static void end_row(sparse_weights& found, std::uint64_t key) {
        if (found.columns.size() == static_cast<std::size_t>(found.indptr.back())) return;
        found.keys.push_back(key);
        found.indptr.push_back(static_cast<std::int64_t>(found.columns.size()));
    }

    void check(const sequence_state& to) const {
        const std::size_t size = to.rows.keys.size(), stored = to.rows.columns.size();
        bool good = to.rows.indptr.size() == size + 1 && to.origins.size() == size &&
                    to.rows.weights.size() == stored && to.sums.size() == stored && to.rows.indptr[0] == 0 &&
                    static_cast<std::size_t>(to.rows.indptr[size]) == stored && to.steps >= 0;
        for (std::size_t row = 0; good && row < size; ++row) {
            const row_origin& origin = to.origins[row];
            good = to.rows.indptr[row] <= to.rows.indptr[row + 1] && origin.sentence < from.batch.size() &&
                   origin.token < from.batch.length(origin.sentence) && origin.pattern < how.patterns.size() &&
                   origin.tag1 <= count && origin.tag2 <= count;
        }
        for (std::size_t at = 0; good && at < stored; ++at) good = to.rows.columns[at] < count;
        if (!good) throw std::invalid_argument("what was kept of a training does not fit together");
    }

    // ---- what is seen

    std::size_t fold_of(std::size_t sentence) const { return mix(sentence + 1) % by.folds; }

    // Counts the tags of words: of all sentences, and of each fold.
    void learn_words() {
        row_numbers met;
        std::vector<std::int32_t> counts;
        std::vector<std::uint32_t> word_of_token(from.batch.tokens());
        word_table forms;
        std::vector<std::uint32_t> word_of_form;
        word_reader reader;
        for (std::size_t at = 0; at < word_of_token.size(); ++at) {
            const std::string_view form = from.batch.columns[0][at];
            const std::uint32_t number = forms.find_or_add(form);
            if (number == word_of_form.size()) word_of_form.push_back(met.find_or_add(reader.read(form).lower));
            word_of_token[at] = word_of_form[number];
        }
        counts.resize(met.size() * count);
        for (std::size_t at = 0; at < word_of_token.size(); ++at)
            ++counts[word_of_token[at] * count + static_cast<std::size_t>(from.tags[at])];
        const auto of_word = [&](std::size_t word) { return std::span(counts).subspan(word * count, count); };
        for (std::size_t word = 0; word < met.size(); ++word)
            known.add(met.keys()[word], lexicon::name_of(of_word(word), what.tags));

        // What would be known of each training token without its fold.
        set_of_token.resize(word_of_token.size());
        row_numbers set_numbers;
        std::vector<std::vector<std::size_t>> sentences(by.folds);
        for (std::size_t sentence = 0; sentence < from.batch.size(); ++sentence)
            sentences[fold_of(sentence)].push_back(sentence);
        std::vector<std::uint32_t> set_of_word(met.size());
        for (const auto& fold : sentences) {
            const auto each = [&](auto use) {
                for (const std::size_t sentence : fold)
                    for (std::size_t at = from.batch.begin(sentence); at < from.batch.begin(sentence + 1); ++at)
                        use(at, counts[word_of_token[at] * count + static_cast<std::size_t>(from.tags[at])]);
            };
            each([&](std::size_t, std::int32_t& times) { --times; });
            each([&](std::size_t at, std::int32_t&) { set_of_word[word_of_token[at]] = nobody; });
            each([&](std::size_t at, std::int32_t&) {
                std::uint32_t& set = set_of_word[word_of_token[at]];
                if (set == nobody) {
                    std::string name = lexicon::name_of(of_word(word_of_token[at]), what.tags);
                    set = set_numbers.find_or_add(lexicon::atom_of(name));
                    if (set == sets.size()) sets.push_back(std::move(name));
                }
                set_of_token[at] = set;
            });
            each([&](std::size_t, std::int32_t& times) { ++times; });
        }
    }

    // Numbers the features of all tokens.
    void number() {
        std::vector<std::size_t> all(how.patterns.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        sentence_reader reader(how, known, all);
        features_of_tokens.reserve(from.batch.tokens() * parts.local.size());
        bases.reserve(from.batch.tokens() * parts.looking_back.size());
        for (std::size_t sentence = 0; sentence < from.batch.size(); ++sentence) {
            reader.read(from.batch, sentence);
            const std::size_t begin = from.batch.begin(sentence);
            for (std::size_t atom = 0; by.folds > 0 && atom < how.atoms.size(); ++atom)
                if (how.atoms[atom].kind == atom_kind::known)
                    for (std::size_t i = 0; i < reader.length(); ++i)
                        reader.put(atom, i, lexicon::atom_of(sets[set_of_token[begin + i]]));
            for (std::size_t i = 0; i < reader.length(); ++i) {
                for (const std::size_t p : parts.local) {
                    const std::uint64_t key = reader.key(p, i);
                    features_of_tokens.push_back(key == 0 ? nobody : numbers.find_or_add(key));
                }
                for (const std::size_t p : parts.looking_back) bases.push_back(reader.key(p, i));
            }
        }
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
        if (by.mira) {  // the sequence that is worst to be confused with: its score and its wrong tags together
            augmented = local;
            for (std::size_t i = 0; i < length; ++i)
                for (std::size_t j = 0; j < count; ++j)
                    augmented[i * width + j] += static_cast<float>(j != right_tag(i));
            search.find(over, augmented, path);
            if (is_right()) return;  // it wins by more than any cost, and so without one
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
        // The largest violation (Huang, Fayong & Guo 2012): the beginning that is farthest ahead of the right one.
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

    // Each token is learned by itself, after what was said of those before it.
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
            difference.clear();
            note_local(i, right_tag(i), rival);
            note_looking_back(i, said, right_tag(i), 1);
            note_looking_back(i, said, rival, -1);
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
        if (row != nobody) rows.add(row, scores);
    }
    std::span<const std::uint32_t> features_of(std::size_t i) const {
        return std::span(features_of_tokens).subspan((at.begin + i) * parts.local.size(), parts.local.size());
    }
    // Adds what is seen of some tokens to their rows of scores. Most of the time of learning is waiting for weights, so
    // all are asked for first.
    void add_local(std::size_t begin, std::size_t end, float* scores) {
        const std::size_t each = parts.local.size();
        const auto features = std::span(features_of_tokens).subspan((at.begin + begin) * each, (end - begin) * each);
        found_lines.resize(features.size());
        extents.resize(features.size());
        for (std::size_t i = 0; i < features.size(); ++i) {
            found_lines[i] = features[i];
            if (features[i] != nobody) __builtin_prefetch(&lines[features[i]]);
        }
        for (std::uint32_t& line : found_lines) {
            if (line != nobody) line = lines[line];
            if (line != nobody) rows.expect(line);
        }
        for (std::size_t i = 0; i < features.size(); ++i)
            extents[i] = found_lines[i] == nobody ? scattered_rows::extent() : rows.extent_of(found_lines[i]);
        for (std::size_t i = 0; i < features.size(); ++i) rows.add(extents[i], scores + i / each * width);
    }
    // 0 where the pattern sees nothing.
    std::uint64_t key_looking_back(std::size_t i, std::size_t number, const history& said) const {
        const std::uint64_t base = bases[(at.begin + i) * parts.looking_back.size() + number];
        return base == 0 ? 0 : with_tags(base, how.patterns[parts.looking_back[number]], said);
    }
    void add_looking_back(std::size_t i, const history& said, float* scores) const {
        for (std::size_t number = 0; number < parts.looking_back.size(); ++number)
            if (const std::uint64_t key = key_looking_back(i, number, said); key != 0) add_row(rows.find(key), scores);
    }
    // All that "tag[-1]" says, for the exact search.
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
            moves_are_old = false;
        }
        return {count, width, moves, ends};
    }

    // ---- steps

    struct change {
        std::uint32_t row, column;
        float amount;
    };

    // From the first tokens of the sequence that was found to the right ones.
    void update(std::size_t length, double lost, sequence_tally& now) {
        double cost = 0;
        for (std::size_t i = 0; i < length; ++i) cost += path[i] != right_tag(i);
        if (cost == 0 || (by.mira && lost + cost <= 0)) return;
        difference.clear();
        for (std::size_t i = 0; i < length; ++i) {
            const history found = history_at(path, i, count), right = history_at(at.tags, i, count);
            const bool differs = path[i] != right_tag(i);
            if (differs) note_local(i, right_tag(i), path[i]);
            if (differs || found != right) {
                note_looking_back(i, right, right_tag(i), 1);
                note_looking_back(i, found, path[i], -1);
            }
        }
        now.updates += move(lost, cost, now);
    }

    void note_local(std::size_t i, std::size_t right, std::size_t wrong) {
        const auto features = features_of(i);
        for (std::size_t number = 0; number < features.size(); ++number) {
            if (features[number] == nobody) continue;
            std::uint32_t& row = lines[features[number]];
            if (row == nobody)
                row = made(numbers.keys()[features[number]], i, parts.local[number], history::before_all(count));
            difference.push_back({row, static_cast<std::uint32_t>(right), 1});
            difference.push_back({row, static_cast<std::uint32_t>(wrong), -1});
        }
    }
    void note_looking_back(std::size_t i, const history& said, std::size_t tag, float amount) {
        for (std::size_t number = 0; number < parts.looking_back.size(); ++number) {
            const std::uint64_t key = key_looking_back(i, number, said);
            if (key == 0) continue;
            const std::uint32_t row = made(key, i, parts.looking_back[number], said);
            difference.push_back({row, static_cast<std::uint32_t>(tag), amount});
        }
    }
    std::uint32_t made(std::uint64_t key, std::size_t i, std::size_t pattern, const history& said) {
        const std::uint32_t row = rows.row_of(key);
        if (row == origins.size())
            origins.push_back({static_cast<std::uint32_t>(at.sentence), static_cast<std::uint32_t>(i),
                               static_cast<std::uint32_t>(pattern), said.tags[0], said.tags[1]});
        return row;
    }

    // The perceptron adds the difference of the features; MIRA as much of it as wins by the cost, and at most C.
    //   tau = min(C, (s_found + cost - s_right) / |difference|^2)
    bool move(double lost, double cost, sequence_tally& now) {
        std::sort(difference.begin(), difference.end(), [](const change& one, const change& other) {
            return std::pair(one.row, one.column) < std::pair(other.row, other.column);
        });
        std::size_t size = 0;
        double norm2 = 0;
        for (std::size_t i = 0; i < difference.size();) {
            change sum = difference[i++];
            for (; i < difference.size() && difference[i].row == sum.row && difference[i].column == sum.column; ++i)
                sum.amount += difference[i].amount;
            if (sum.amount == 0) continue;
            norm2 += double{sum.amount} * double{sum.amount};
            difference[size++] = sum;
        }
        const double loss = by.mira ? lost + cost : lost;
        if (loss > 0) now.loss += loss;
        const double tau = !by.mira ? 1 : norm2 > 0 && loss > 0 ? std::min(by.C, loss / norm2) : 0;
        if (tau == 0 || size == 0) return false;
        for (const change& one : std::span(difference).first(size))
            rows.move(one.row, one.column, static_cast<float>(tau * double{one.amount}), steps);
        moves_are_old = true;
        return true;
    }

    struct place {
        std::size_t sentence = 0, begin = 0;
        std::span<const std::int32_t> tags;
    };

    const templates how;
    const tag_settings what;
    const sequence_settings by;
    const tagged_sentences from;
    const divided_patterns parts;
    const std::size_t count, width, memory;

    lexicon known;
    std::vector<std::string> sets;                  // of tags that are known of words in training
    std::vector<std::uint32_t> set_of_token;        // without its own fold
    row_numbers numbers;                            // of features of tokens
    std::vector<std::uint32_t> features_of_tokens;  // for each token and local pattern
    std::vector<std::uint64_t> bases;               // keys without tags, for each token and pattern that looks back
    table<std::uint32_t> lines;                     // the row of each feature, once it has one
    scattered_rows rows;
    std::vector<row_origin> origins;
    double steps = 0;

    place at;
    std::vector<float> local, augmented, move_weights, moves, ends;
    bool moves_are_old = true;
    std::vector<std::uint32_t> path, worst, found_lines;
    std::vector<scattered_rows::extent> extents;
    std::vector<change> difference;
    viterbi search;
    beam search_by_beam;
};

// ---- tagging

// Rows of a model, found by their keys: few columns of each are not 0.
class frozen_rows {
  public:
    explicit frozen_rows(const sparse_weights& from, std::size_t columns) {
        const std::size_t size = from.keys.size();
        bool good = from.indptr.size() == size + 1 && from.indptr[0] == 0 &&
                    static_cast<std::size_t>(from.indptr[size]) == from.columns.size() &&
                    from.weights.size() == from.columns.size() && from.columns.size() < nobody;
        for (std::size_t row = 0; good && row < size; ++row)
            good = from.indptr[row] < from.indptr[row + 1] &&
                   static_cast<std::size_t>(from.indptr[row + 1]) <= from.columns.size();
        for (std::size_t at = 0; good && at < from.columns.size(); ++at)
            good = from.columns[at] < columns && std::isfinite(from.weights[at]);
        if (!good) throw std::invalid_argument("the weights do not fit together");
        slots.resize(std::bit_ceil(2 * size + 2));
        entries.resize(from.columns.size());
        for (std::size_t at = 0; at < entries.size(); ++at) entries[at] = {from.weights[at], from.columns[at]};
        for (std::size_t row = 0; row < size; ++row) {
            slot& here = slots[place(from.keys[row])];
            if (here.begin != here.end) throw std::invalid_argument("a feature stands twice");
            here = {from.keys[row], static_cast<std::uint32_t>(from.indptr[row]),
                    static_cast<std::uint32_t>(from.indptr[row + 1])};
        }
    }

    void expect(std::uint64_t key) const { __builtin_prefetch(&slots[(key ^ table_seed) & (slots.size() - 1)]); }
    void add(std::uint64_t key, float* scores) const {
        const slot& here = slots[place(key)];
        for (std::uint32_t at = here.begin; at < here.end; ++at) scores[entries[at].column] += entries[at].weight;
    }
    // The same in two steps.
    struct run {
        std::uint32_t begin, end;
    };
    run find(std::uint64_t key) const {
        const slot& here = slots[place(key)];
        __builtin_prefetch(&entries[here.begin]);
        return {here.begin, here.end};
    }
    void add(run which, float* scores) const {
        for (std::uint32_t at = which.begin; at < which.end; ++at) scores[entries[at].column] += entries[at].weight;
    }

  private:
    struct slot {
        std::uint64_t key = 0;
        std::uint32_t begin = 0, end = 0;
    };
    struct entry {
        float weight;
        std::uint32_t column;
    };
    std::size_t place(std::uint64_t key) const {
        const std::size_t mask = slots.size() - 1;
        std::size_t at = (key ^ table_seed) & mask;
        while (slots[at].begin != slots[at].end && slots[at].key != key) at = (at + 1) & mask;
        return at;
    }

    table<slot> slots;
    table<entry> entries;
};

// Patterns of which all pieces are of the same column of one token: what they say of a word is summed once.
struct word_group {
    std::size_t column;
    std::int64_t offset;
    std::vector<std::size_t> patterns;
};

// What is remembered from sentence to sentence.
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
            seen_feature one{p, text_of(how, what, tell, batch, 0, token, p, said.tags), std::vector<float>(count)};
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

    // What groups say of places outside of the sentence, for each distance that they can see.
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

    // Several threads may tag at once, each at a desk of its own; words that were seen are remembered on it.
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

    // Adds what the words around each token say.
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

std::unique_ptr<tagger_learner> make_tagger_learner(const templates& how, const tag_settings& what,
                                                    const sequence_settings& by, const tagged_sentences& from) {
    return std::make_unique<learner>(how, what, by, from);
}
std::unique_ptr<tagging> make_tagging(const templates& how, const tag_settings& what, const lexicon& words,
                                      const sparse_weights& from) {
    return std::make_unique<frozen_tagging>(how, what, words, from);
}

}  // namespace MARKONE_LEVEL

}  // namespace markone

// Transition-based parsing and its training: greedily with a dynamic oracle, or with a beam and max-violation updates.
//
// Scores are sums of whole numbers, so they are the same on every machine and in any order of the additions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/order.h"
#include "parsing/shared_scores.h"
#include "parsing/state_scorer.h"
#include "parsing/transitions.h"
#include "parsing/tree_features.h"
#include "parsing/tree_weights.h"

namespace markone {

struct gold_tree {
    std::span<const std::int32_t> heads;  // the root's number is that of the words
    std::span<const std::uint16_t> labels;
};

// The result of some visits. A decision is a move in greedy parsing, and a whole tree with a beam.
struct tree_tally {
    std::int64_t decisions = 0, mistakes = 0, updates = 0;  // updates are of labels, too
};

template <class Weights>
class greedy_search {
  public:
    explicit greedy_search(const Weights& weights) : scorer(weights) {}

    const parse_state& run(std::span<const tree_word> sentence) {
        scorer.start(sentence);
        state.start(sentence.size());
        while (!state.done()) {
            const move how = best_move(scorer.moves(state), [&](move one) { return state.allows(one); });
            state.make(how, how == move::shift ? no_label : scorer.label(state, how));
        }
        return state;
    }

  private:
    state_scorer<Weights> scorer;
    parse_state state;
};

// The beam: the best states after each number of moves. The score of a state is the sum of all moves so far.
template <class Weights>
class beam_search {
  public:
    struct item {
        parse_state state;
        std::int64_t score = 0;
        move_scores next{};  // the scores of its moves, once it has been left
    };
    struct step {
        std::uint32_t from;  // which item of the step before
        std::uint16_t label;
        move how;
    };

    beam_search(const Weights& weights, std::size_t width)
        : scorer(weights, width), width(width), now(width), before(width) {}

    const parse_state& run(std::span<const tree_word> sentence) {
        start(sentence);
        while (!best().state.done()) advance();
        return best().state;
    }

    void start(std::span<const tree_word> sentence) {
        scorer.start(sentence);
        now[0].state.start(sentence.size());
        now[0].score = 0;
        alive = 1;
        steps.clear();
    }
    void advance() {
        std::swap(now, before);
        alive_before = alive;
        candidates.clear();
        for (std::size_t i = 0; i < alive; ++i) scorer.expect_moves(before[i].state);
        for (std::uint32_t i = 0; i < alive; ++i) {
            item& one = before[i];
            one.next = scorer.next_moves();
            for (std::size_t m = 0; m < move_count; ++m)
                if (one.state.allows(static_cast<move>(m)))
                    candidates.push_back({one.score + one.next[m], {i, no_label, static_cast<move>(m)}});
        }
        // Among equal scores, the first ones are kept.
        const auto better = [](const candidate& a, const candidate& b) {
            if (a.score != b.score) return a.score > b.score;
            return a.how.from != b.how.from ? a.how.from < b.how.from : a.how.how < b.how.how;
        };
        alive = std::min(width, candidates.size());
        std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(alive), candidates.end(),
                          better);
        for (const candidate& one : std::span(candidates).first(alive))
            if (one.how.how != move::shift) scorer.expect_label(before[one.how.from].state, one.how.how);
        for (std::size_t i = 0; i < alive; ++i) {
            step& made = candidates[i].how;
            if (made.how != move::shift) made.label = scorer.next_label();
            now[i].state.copy(before[made.from].state);
            scorer.make(now[i].state, made.how, made.label);
            now[i].score = candidates[i].score;
            steps.push_back(made);
        }
        steps.resize(steps.size() + width - alive);
    }

    const item& best() const { return now[0]; }
    std::span<const item> items() const { return std::span(now).first(alive); }
    std::span<const item> items_before() const { return before; }
    std::size_t count_before() const { return alive_before; }
    // The origin of an item of a step; the first step is 0.
    const step& made(std::size_t at, std::size_t which) const { return steps[at * width + which]; }
    // All moves that led to the item.
    std::vector<step> path(std::size_t length, std::size_t which) const {
        std::vector<step> found(length);
        while (length-- > 0) {
            found[length] = made(length, which);
            which = found[length].from;
        }
        return found;
    }
    shared_scorer<Weights> scorer;

  private:
    struct candidate {
        std::int64_t score;
        step how;
    };
    std::size_t width, alive = 0, alive_before = 0;
    std::vector<item> now, before;
    std::vector<candidate> candidates;
    std::vector<step> steps;
};

struct frozen_weights {
    move_table moves;
    frozen_labels labels;
    std::vector<std::uint8_t> uses;
};

struct learned_weights {
    explicit learned_weights(std::vector<std::uint8_t> label_uses, std::int32_t unit = 1)
        : labels(label_uses.size()), uses(std::move(label_uses)), unit(unit) {}

    learned_moves moves;
    learned_labels labels;
    std::vector<std::uint8_t> uses;
    std::int64_t steps = 0;
    std::int32_t unit;  // the whole number that stands for 1, so that means of partitions can be fractions

    // Sets all weights to 0. The average continues, so it becomes the mean of the weights before and after.
    void start_anew() {
        moves.start_anew(steps);
        labels.start_anew(steps);
    }
    // The squared length of the last weights.
    double norm2() const { return (moves.norm2() + labels.norm2()) / (static_cast<double>(unit) * unit); }
    void move_label(std::span<const std::uint64_t> keys, std::uint16_t right, std::uint16_t wrong) {
        for (const std::uint64_t key : keys) {
            labels.change(key, right, unit, steps - 1);
            labels.change(key, wrong, -unit, steps - 1);
        }
    }
    // Changes the weights of shift and left for some features, and so those of right.
    void move_moves(std::span<const std::uint64_t> keys, std::array<std::int32_t, 2> amounts) {
        for (std::int32_t& amount : amounts) amount *= unit;
        moves.change(keys, amounts, steps - 1);
    }
};

// The averaged perceptron for each move (Goldberg & Nivre 2012, 2013). A mistake is a move that costs more than another
// one; the right move is the best of those that cost least. With exploration, the parser mostly follows its own moves,
// so that it learns what to do after its own mistakes.
class greedy_learner {
  public:
    explicit greedy_learner(learned_weights& w) : w(w), scorer(w) {}

    void learn(std::span<const tree_word> sentence, const gold_tree& gold, bool explore, random_bits& random,
               tree_tally& tally) {
        scorer.start(sentence);
        state.start(sentence.size());
        const tree_oracle oracle(gold.heads);
        while (!state.done()) {
            ++w.steps;
            ++tally.decisions;
            const move_scores scores = scorer.moves(state);
            const auto allowed = [&](move how) { return state.allows(how); };
            const move guess = best_move(scores, allowed);
            const std::array<int, move_count> costs = oracle.costs(state);
            const int least = *std::ranges::min_element(costs);
            const auto cost = [&](move how) { return costs[static_cast<std::size_t>(how)]; };
            const move right = best_move(scores, [&](move how) { return cost(how) == least; });
            if (cost(guess) > least) {
                ++tally.mistakes;
                ++tally.updates;
                const std::array<std::int32_t, 2> amounts{(right == move::shift) - (guess == move::shift),
                                                          (right == move::left) - (guess == move::left)};
                w.move_moves(scorer.move_keys, amounts);
            }
            const move taken = explore && random.below(10) != 0 ? guess : right;
            if (taken == move::shift) {
                state.shift();
                continue;
            }
            const auto child = static_cast<std::size_t>(state.child());
            const std::uint16_t label = scorer.label(state, taken);
            if (state.head_by(taken) == gold.heads[child] && label != gold.labels[child]) {
                ++tally.updates;
                w.move_label(scorer.label_keys, gold.labels[child], label);
            }
            state.attach(taken, label);
        }
    }

  private:
    learned_weights& w;
    state_scorer<learned_weights> scorer;
    parse_state state;
};

// The averaged structured perceptron with a beam (Huang, Fayong & Guo 2012). A state is right if its moves cost nothing
// by the oracle, since many orders of moves build the same tree. The update is made at the step where the best state of
// the beam is furthest above the best right one. When no state of the beam is right any more, the last right one
// continues alone, with right moves.
class beam_learner {
  public:
    beam_learner(learned_weights& w, std::size_t width) : w(w), beam(w, width), is_right(width), was_right(width) {}

    void learn(std::span<const tree_word> sentence, const gold_tree& gold, tree_tally& tally) {
        ++w.steps;
        const tree_oracle oracle(gold.heads);
        beam.start(sentence);
        is_right[0] = true;
        alone = false;
        std::int64_t most = -1;
        for (std::size_t length = 1; length <= 2 * sentence.size(); ++length) {
            if (alone) {
                const auto [how, score] = best_right(oracle, state_alone, beam.scorer.moves(state_alone));
                score_alone += score;
                go_alone(how);
            }
            beam.advance();
            std::swap(is_right, was_right);
            std::size_t first = npos;
            for (std::size_t i = beam.items().size(); i-- > 0;) {
                const step& made = beam.made(length - 1, i);
                is_right[i] = was_right[made.from] && oracle.cost(beam.items_before()[made.from].state, made.how) == 0;
                if (is_right[i]) first = i;
            }
            if (!alone && first == npos) leave(oracle, length - 1);
            const std::int64_t right = alone ? score_alone : beam.items()[first].score;
            if (first != 0 && beam.best().score - right > most) {
                most = beam.best().score - right;
                guess_path = beam.path(length, 0);
                right_path = alone ? path_alone : beam.path(length, first);
            }
            if (length == 2 * sentence.size()) finish(sentence, gold, first, tally);
        }
    }

  private:
    using step = beam_search<learned_weights>::step;
    struct choice {
        move how;
        std::int64_t score;
    };

    static choice best_right(const tree_oracle& oracle, const parse_state& state, const move_scores& scores) {
        const std::array<int, move_count> costs = oracle.costs(state);
        const move how = best_move(scores, [&](move one) { return costs[static_cast<std::size_t>(one)] == 0; });
        return {how, scores[static_cast<std::size_t>(how)]};
    }
    void go_alone(move how) {
        const std::uint16_t label = how == move::shift ? no_label : beam.scorer.label(state_alone, how);
        beam.scorer.make(state_alone, how, label);
        path_alone.push_back({0, label, how});
    }
    // The best right move from the previous items, when its result is not in the beam.
    void leave(const tree_oracle& oracle, std::size_t length) {
        std::size_t from = npos;
        choice best{};
        for (std::size_t i = 0; i < beam.count_before(); ++i) {
            if (!was_right[i]) continue;
            const auto& one = beam.items_before()[i];
            choice next = best_right(oracle, one.state, one.next);
            next.score += one.score;
            if (from != npos && next.score <= best.score) continue;
            from = i;
            best = next;
        }
        alone = true;
        score_alone = best.score;
        state_alone.copy(beam.items_before()[from].state);
        path_alone = beam.path(length, from);
        go_alone(best.how);
    }
    void finish(std::span<const tree_word> sentence, const gold_tree& gold, std::size_t first, tree_tally& tally) {
        const std::vector<step> whole = alone ? path_alone : beam.path(2 * sentence.size(), first);
        ++tally.decisions;
        if (first != 0) {
            ++tally.mistakes;
            ++tally.updates;
            std::size_t same = 0;
            while (same < guess_path.size() && guess_path[same].how == right_path[same].how) ++same;
            follow(sentence, right_path, same, 1);
            follow(sentence, guess_path, same, -1);
        }
        learn_labels(sentence, gold, whole, tally);
    }
    // The weight of the move changes by 2, and those of the other moves by -1, or with opposite signs. So the weights
    // of a feature still sum to 0.
    void follow(std::span<const tree_word> sentence, std::span<const step> path, std::size_t from, int sign) {
        reader.start(sentence);
        state.start(sentence.size());
        for (std::size_t i = 0; i < path.size(); ++i) {
            if (i >= from) {
                reader.moves(state, keys.data());
                for (const std::uint64_t key : keys) w.moves.expect(key);
                const std::array<std::int32_t, 2> amounts{path[i].how == move::shift ? 2 * sign : -sign,
                                                          path[i].how == move::left ? 2 * sign : -sign};
                w.move_moves(keys, amounts);
            }
            state.make(path[i].how, path[i].label);
        }
    }
    // Labels are learned where the moves are right.
    void learn_labels(std::span<const tree_word> sentence, const gold_tree& gold, std::span<const step> path,
                      tree_tally& tally) {
        state.start(sentence.size());
        for (const step& one : path) {
            std::uint16_t label = no_label;
            if (one.how != move::shift) {
                const auto child = static_cast<std::size_t>(state.child());
                label = beam.scorer.plain.label(state, one.how);
                if (label != gold.labels[child]) {
                    ++tally.updates;
                    w.move_label(beam.scorer.plain.label_keys, gold.labels[child], label);
                }
            }
            state.make(one.how, label);
        }
    }

    learned_weights& w;
    beam_search<learned_weights> beam;
    feature_reader reader;
    std::vector<std::uint8_t> is_right, was_right;
    bool alone = false;  // whether no state of the beam is right any more
    std::int64_t score_alone = 0;
    parse_state state_alone, state;
    std::vector<step> path_alone, right_path, guess_path;
    std::array<std::uint64_t, feature_reader::move_keys> keys{};
};

}  // namespace markone

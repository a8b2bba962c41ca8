// Learning to find the best tree of all with MIRA: each tree's score is the sum of its arcs' scores, and the right tree
// has to win by as much as the best other one has wrong heads. Labels are given to the arcs of the tree afterwards, as in
// parsing by transitions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "eisner.h"
#include "keyed_rows.h"
#include "transitions.h"
#include "tree.h"
#include "tree_features.h"

namespace markone {

// The features of an arc alone (McDonald, Crammer & Pereira 2005): each with its side, and with its side and length.
class arc_reader {
  public:
    void start(std::span<const tree_word> sentence) {
        words = sentence;
        reader.start(sentence);
        state.start(sentence.size());
    }
    // Writes the keys of an arc behind others.
    void read(std::size_t head, std::size_t child, std::vector<std::uint64_t>& keys) const {
        std::array<std::uint64_t, feature_reader::arc_keys> alone;
        const std::uint64_t length = reader.arcs(state, static_cast<std::int32_t>(head), static_cast<std::int32_t>(child), alone.data());
        for (const std::uint64_t key : alone) {
            keys.push_back(key);
            keys.push_back(key ^ length);
        }
        if (head == words.size()) return;
        // The tags between them, each once.
        const std::size_t first = keys.size();
        const auto [begin, end] = std::minmax(head, child);
        for (std::size_t between = begin + 1; between < end; ++between) {
            const std::uint64_t key = alone[feature_reader::tags_of_arc] ^ std::rotl(words[between].tag, 40);
            if (std::find(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end(), key) == keys.end())
                keys.push_back(key);
        }
    }

  private:
    std::span<const tree_word> words;
    feature_reader reader;
    parse_state state;  // in which nothing has been found
};

// Weights of arcs that predict.
struct frozen_arcs {
    row_numbers numbers;
    std::vector<float> w;

    void expect(std::uint64_t key) const { numbers.expect(key); }
    float weight(std::uint64_t key) const {
        const std::uint32_t row = numbers.find(key);
        return row == nobody ? 0 : w[row];
    }
};

// Weights of arcs while they are learned.
struct learned_arcs {
    learned_rows rows{1};

    void expect(std::uint64_t key) const { rows.expect(key); }
    float weight(std::uint64_t key) const {
        const std::uint32_t row = rows.find(key);
        return row == nobody ? 0 : *rows.weights(row);
    }
};

template <class Arcs>
class exact_search {
  public:
    explicit exact_search(const Arcs& arcs) : arcs(arcs) {}

    void score(std::span<const tree_word> sentence) {
        reader.start(sentence);
        scores.start(sentence.size());
        for (std::size_t child = 0; child < sentence.size(); ++child) {
            keys.clear();
            ends.clear();
            for (std::size_t head = 0; head <= sentence.size(); ++head) {
                if (head != child) reader.read(head, child, keys);
                ends.push_back(keys.size());
            }
            for (const std::uint64_t key : keys) arcs.expect(key);
            std::size_t at = 0;
            for (std::size_t head = 0; head <= sentence.size(); ++head)
                for (double& sum = scores(head, child); at < ends[head]; ++at) sum += double{arcs.weight(keys[at])};
        }
    }
    const std::vector<std::int32_t>& best() {
        search.best_tree(scores, heads);
        return heads;
    }
    double total(std::span<const std::int32_t> tree) const {
        double sum = 0;
        for (std::size_t child = 0; child < tree.size(); ++child) sum += scores(static_cast<std::size_t>(tree[child]), child);
        return sum;
    }

    arc_scores scores;
    arc_reader reader;

  private:
    const Arcs& arcs;
    eisner search;
    std::vector<std::int32_t> heads;
    std::vector<std::uint64_t> keys;
    std::vector<std::size_t> ends;
};

// Makes the moves that lead to a tree, and calls use(state, move) before each arc, which gives its label.
template <class Use>
void follow_tree(parse_state& state, std::span<const std::int32_t> heads, Use use) {
    const tree_oracle oracle(heads);
    state.start(heads.size());
    while (!state.done()) {
        const move how = oracle.best(state);
        state.make(how, how == move::shift ? no_label : use(state, how));
    }
}

class exact_learner {
  public:
    exact_learner(learned_arcs& arcs, learned_weights& w, double C) : arcs(arcs), w(w), C(C), search(arcs), scorer(w) {}

    void learn(std::span<const tree_word> sentence, const gold_tree& gold, tree_tally& tally) {
        ++w.steps;
        ++tally.decisions;
        search.score(sentence);
        const double right = search.total(gold.heads);
        for (std::size_t child = 0; child < sentence.size(); ++child)
            for (std::size_t head = 0; head <= sentence.size(); ++head)
                search.scores(head, child) += static_cast<std::int32_t>(head) != gold.heads[child];
        const std::vector<std::int32_t>& guess = search.best();
        const double loss = search.total(guess) - right;
        std::size_t cost = 0;
        for (std::size_t child = 0; child < sentence.size(); ++child) cost += guess[child] != gold.heads[child];
        tally.mistakes += loss > static_cast<double>(cost);
        if (cost > 0 && loss > 0) {
            ++tally.updates;
            update(gold.heads, guess, loss);
        }
        learn_labels(sentence, gold, tally);
    }

  private:
    // tau = min(C, loss / |difference of the features|^2)
    void update(std::span<const std::int32_t> right, std::span<const std::int32_t> wrong, double loss) {
        changes.clear();
        for (std::size_t child = 0; child < right.size(); ++child) {
            if (right[child] == wrong[child]) continue;
            add(static_cast<std::size_t>(right[child]), child, 1);
            add(static_cast<std::size_t>(wrong[child]), child, -1);
        }
        std::ranges::sort(changes);
        std::size_t kept = 0;
        double norm2 = 0;
        for (std::size_t i = 0; i < changes.size();) {
            const std::uint64_t key = changes[i].first;
            int sum = 0;
            for (; i < changes.size() && changes[i].first == key; ++i) sum += changes[i].second;
            if (sum == 0) continue;
            norm2 += sum * sum;
            changes[kept++] = {key, sum};
        }
        if (norm2 == 0) return;
        const double tau = std::min(C, loss / norm2);
        for (const auto& [key, sum] : std::span(changes).first(kept))
            arcs.rows.move(arcs.rows.row_of(key), 0, static_cast<float>(tau * sum), static_cast<double>(w.steps - 1));
    }
    void add(std::size_t head, std::size_t child, int sign) {
        keys.clear();
        search.reader.read(head, child, keys);
        for (const std::uint64_t key : keys) changes.emplace_back(key, sign);
    }
    void learn_labels(std::span<const tree_word> sentence, const gold_tree& gold, tree_tally& tally) {
        scorer.start(sentence);
        follow_tree(state, gold.heads, [&](const parse_state& at, move how) {
            const auto child = static_cast<std::size_t>(at.child());
            const std::uint16_t label = scorer.label(at, how);
            if (label != gold.labels[child]) {
                ++tally.updates;
                w.move_label(scorer.label_keys, gold.labels[child], label);
            }
            return label;
        });
    }

    learned_arcs& arcs;
    learned_weights& w;
    double C;
    exact_search<learned_arcs> search;
    state_scorer<learned_weights> scorer;
    parse_state state;
    std::vector<std::uint64_t> keys;
    std::vector<std::pair<std::uint64_t, int>> changes;
};

}  // namespace markone

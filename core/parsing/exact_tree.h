// Training with exact search and MIRA. The score of a tree is the sum of its arcs' scores, and the right tree must win
// by the number of wrong heads in the best other tree. The arcs of the tree get their labels afterwards, as in
// transition-based parsing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parsing/eisner.h"
#include "parsing/transitions.h"
#include "parsing/tree.h"
#include "parsing/tree_features.h"
#include "parsing/tree_mixing.h"
#include "rows/keyed_rows.h"

namespace markone {

// The features of an arc alone (McDonald, Crammer & Pereira 2005): each with its side, and with its side and length.
class arc_reader {
  public:
    void start(std::span<const tree_word> sentence) {
        words = sentence;
        reader.start(sentence);
        state.start(sentence.size());
    }
    // Appends the keys of an arc.
    void read(std::size_t head, std::size_t child, std::vector<std::uint64_t>& keys) const {
        std::array<std::uint64_t, feature_reader::arc_keys> alone;
        const std::uint64_t length =
            reader.arcs(state, static_cast<std::int32_t>(head), static_cast<std::int32_t>(child), alone.data());
        for (const std::uint64_t key : alone) {
            keys.push_back(key);
            keys.push_back(key ^ length);
        }
        if (head == words.size()) return;
        // The different tags between head and child.
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
    parse_state state;  // an initial state, without arcs
};

// The weights of arcs for prediction.
struct frozen_arcs {
    row_numbers numbers;
    std::vector<float> w;

    void expect(std::uint64_t key) const { numbers.expect(key); }
    float weight(std::uint64_t key) const {
        const std::uint32_t row = numbers.find(key);
        return row == npos ? 0 : w[row];
    }
};

// The weights of arcs during training.
struct learned_arcs {
    learned_rows rows{1};

    double norm2() const {
        double sum = 0;
        for (std::uint32_t row = 0; row < rows.size(); ++row)
            sum += static_cast<double>(*rows.weights(row)) * *rows.weights(row);
        return sum;
    }
    void start_anew(std::int64_t steps) {
        for (std::uint32_t row = 0; row < rows.size(); ++row)
            rows.move(row, 0, -*rows.weights(row), static_cast<double>(steps));
    }

    // ---- partitions, see tree_mixing.h

    using changes = part_changes<double, double, 1>;

    void start_at(const learned_arcs& base) { rows.copy_weights(base.rows); }
    // The rows of the base have the same numbers here.
    changes take(const learned_arcs& base, std::int64_t steps) {
        changes found;
        for (std::uint32_t row = 0; row < rows.size(); ++row) {
            const bool known = row < base.rows.size();
            const float before = known ? *base.rows.weights(row) : 0, now = *rows.weights(row);
            found.add(known, known ? row : rows.keys()[row], {double{now} - double{before}}, {*rows.sums(row)}, steps);
            rows.put(row, 0, before, 0);
        }
        return found;
    }
    void mix(std::span<const changes* const> all, std::int64_t steps) {
        mix_partitions(*this, all, steps, [&](const auto& one) { return rows.row_of(one.where); });
    }
    std::size_t places() const { return rows.size(); }
    void move(std::size_t row, std::array<double, 1> amount, std::int64_t steps_before) {
        rows.move(static_cast<std::uint32_t>(row), 0, static_cast<float>(amount[0]), static_cast<double>(steps_before));
    }
    void reduce_sum(std::size_t row, std::array<double, 1> amount) {
        const auto at = static_cast<std::uint32_t>(row);
        rows.put(at, 0, *rows.weights(at), *rows.sums(at) - amount[0]);
    }
    std::vector<std::array<double, 1>> moved_by_parts;  // zeros, except while partitions are mixed

    // Calls use(key, weight, sum) for each feature, sorted by key.
    template <class Use>
    void each(Use use) const {
        std::vector<std::uint32_t> order(rows.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::sort(order, {}, [&](std::uint32_t row) { return rows.keys()[row]; });
        for (const std::uint32_t row : order) use(rows.keys()[row], *rows.weights(row), *rows.sums(row));
    }

    void expect(std::uint64_t key) const { rows.expect(key); }
    void expect_place(std::size_t row) const {
        if (row < rows.size()) prefetch(rows.weights(static_cast<std::uint32_t>(row)));
    }
    float weight(std::uint64_t key) const {
        const std::uint32_t row = rows.find(key);
        return row == npos ? 0 : *rows.weights(row);
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
        for (std::size_t child = 0; child < tree.size(); ++child)
            sum += scores(static_cast<std::size_t>(tree[child]), child);
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

// The largest averaged weights of arcs.
struct averaged_arcs {
    std::vector<std::uint64_t> keys;  // in ascending order
    std::vector<float> weights;
};
inline averaged_arcs average(const learned_arcs& arcs, std::int64_t steps, std::size_t most) {
    averaged_arcs all, made;
    arcs.each([&](std::uint64_t key, float w, double u) {
        all.keys.push_back(key);
        all.weights.push_back(static_cast<float>(w - u / static_cast<double>(std::max<std::int64_t>(steps, 1))));
    });
    float too_small = 0;
    if (all.keys.size() > most) {
        std::vector<float> sizes(all.weights);
        for (float& one : sizes) one = std::abs(one);
        std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(most), std::greater{});
        too_small = sizes[most];
    }
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
        if (std::abs(all.weights[i]) <= too_small) continue;
        made.keys.push_back(all.keys[i]);
        made.weights.push_back(all.weights[i]);
    }
    return made;
}

// Makes the moves that build a tree, and calls use(state, move) before each arc, which returns its label.
template <class Use>
void follow_tree(parse_state& state, std::span<const std::int32_t> heads, Use use) {
    const tree_oracle oracle(heads);
    state.start(heads.size());
    while (!state.done()) {
        const move how = oracle.best(state);
        state.make(how, how == move::shift ? no_label : use(state, how));
    }
}

// For a sentence of this length, the exact search needs about 60 MB and some seconds.
constexpr std::size_t longest_exact = 1000;

// The best tree, and its labels.
class labelled_search {
  public:
    labelled_search(const frozen_arcs& arcs, const frozen_weights& weights) : search(arcs), scorer(weights) {}

    const parse_state& run(std::span<const tree_word> sentence) {
        if (sentence.size() > longest_exact) throw std::invalid_argument("a sentence is too long for the exact search");
        search.score(sentence);
        scorer.start(sentence);
        follow_tree(state, search.best(), [&](const parse_state& at, move how) { return scorer.label(at, how); });
        return state;
    }

  private:
    exact_search<frozen_arcs> search;
    state_scorer<frozen_weights> scorer;
    parse_state state;
};

class exact_learner {
  public:
    exact_learner(learned_arcs& arcs, learned_weights& w, double C) : arcs(arcs), w(w), C(C), search(arcs), scorer(w) {}

    void learn(std::span<const tree_word> sentence, const gold_tree& gold, tree_tally& tally) {
        if (sentence.size() > longest_exact) throw std::invalid_argument("a sentence is too long for the exact search");
        ++w.steps;
        ++tally.decisions;
        search.score(sentence);
        tally.mistakes += !std::ranges::equal(search.best(), gold.heads);
        const double right = search.total(gold.heads);
        for (std::size_t child = 0; child < sentence.size(); ++child)
            for (std::size_t head = 0; head <= sentence.size(); ++head)
                search.scores(head, child) += static_cast<std::int32_t>(head) != gold.heads[child];
        const std::vector<std::int32_t>& guess = search.best();
        const double loss = search.total(guess) - right;
        if (loss > 0) {
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

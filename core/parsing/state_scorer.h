// The scores of the moves and labels in a state, and the best of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "parsing/transitions.h"
#include "parsing/tree_features.h"
#include "parsing/tree_weights.h"

namespace markone {

// The best of some moves; the first one among equals.
template <class Allowed>
move best_move(const move_scores& scores, Allowed allowed) {
    std::size_t best = move_count;
    for (std::size_t i = 0; i < move_count; ++i)
        if (allowed(static_cast<move>(i)) && (best == move_count || scores[i] > scores[best])) best = i;
    return static_cast<move>(best);
}

// The kinds of arcs on which a label was seen: for the root's child and for other words.
enum label_use : std::uint8_t { of_root = 1, of_others = 2 };

// The best of the labels for this kind of arc; the first one among equals.
inline std::uint16_t best_label(std::span<const std::int64_t> scores, std::span<const std::uint8_t> uses,
                                bool at_root) {
    const std::uint8_t use = at_root ? of_root : of_others;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::int64_t{no_label};
    std::int64_t best = none;  // a score, and after it a number that is larger for a smaller label
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const std::int64_t here = scores[i] * (most + 1) + (most - static_cast<std::int64_t>(i));
        best = std::max(best, (uses[i] & use) != 0 ? here : none);
    }
    return static_cast<std::uint16_t>(best == none ? 0 : most - (best & most));
}

// Scores the moves and labels in a state. `Weights` has moves and labels, during training or for prediction.
template <class Weights>
class state_scorer {
  public:
    explicit state_scorer(const Weights& weights)
        : weights(weights), label_scores(weights.labels.labels() + unused_scores) {}

    void start(std::span<const tree_word> sentence) { reader.start(sentence); }
    move_scores moves(const parse_state& state) {
        reader.moves(state, move_keys.data());
        static_assert(feature_reader::move_keys <= move_table::most_keys);
        return weights.moves.score(move_keys);
    }
    std::uint16_t label(const parse_state& state, move how) {
        reader.labels(state, how, label_keys.data());
        for (const std::uint64_t key : label_keys) weights.labels.expect(key);
        return label(label_keys, state.head_by(how) == state.size());
    }
    // The best label for an arc with these features.
    std::uint16_t label(std::span<const std::uint64_t> keys, bool at_root) {
        weights.labels.score(keys, label_scores);
        return best_label(std::span(label_scores).first(weights.labels.labels()), weights.uses, at_root);
    }

    // Of the last state that was scored.
    std::array<std::uint64_t, feature_reader::move_keys> move_keys{};
    std::array<std::uint64_t, feature_reader::label_keys> label_keys{};
    feature_reader reader;

  private:
    const Weights& weights;
    std::vector<std::int64_t> label_scores;
};

}  // namespace markone

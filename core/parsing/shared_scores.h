// Scores that the states of a beam share. Most states agree with others in the words on top of their stacks, or in the
// children of these words. The sum of all features that depend only on such a part of a state is computed once for each
// part. Sums of whole numbers are exact, so the scores are the same as those of state_scorer.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "parsing/state_scorer.h"
#include "parsing/transitions.h"
#include "parsing/tree_features.h"
#include "parsing/tree_weights.h"

namespace markone {

// Values by keys of four numbers. A new value replaces an old one in the same place, so the memory is limited.
template <class Value>
class value_cache {
  public:
    using key = std::array<std::uint64_t, 4>;
    struct entry {
        key of{};
        Value value{};
        bool has(const key& other) const {  // without branches, and faster than a call of the library
            return ((of[0] ^ other[0]) | (of[1] ^ other[1]) | (of[2] ^ other[2]) | (of[3] ^ other[3])) == 0;
        }
    };

    explicit value_cache(std::size_t size) : entries(std::bit_ceil(size)) {}
    // The entry that has this key, which does not consist of zeros, or that is to get it. Its place depends on how far
    // numbers are above `first`, so that short sentences always use the same small part of the memory.
    entry& at(const key& of, std::uint64_t first) {
        const std::uint64_t hash = (of[0] - first) * 0x9e3779b97f4a7c15 + (of[1] - first) * 0xd6e8feb86659fd93 +
                                   (of[2] - first) * 0xc2b2ae3d27d4eb4f + (of[3] - first) * 0xff51afd7ed558ccd;
        return entries[static_cast<std::size_t>(hash >> 32) & (entries.size() - 1)];
    }

  private:
    table<entry> entries;
};

// Scores are asked for some states or arcs first, so that the memory can be prefetched, and then computed in the same
// order.
template <class Weights>
class shared_scorer {
  public:
    shared_scorer(const Weights& weights, std::size_t width)
        : plain(weights),
          weights(weights),
          whole(size_for(width)),
          groups(tree::move_groups.size(), value_cache<group_sum>(size_for(width))),
          labels(size_for(width)),
          numbers(size_for(width)) {}

    // The weights may change only between sentences. The words of each sentence have other numbers, so nothing that is
    // remembered of one sentence is found in another.
    void start(std::span<const tree_word> sentence) {
        plain.start(sentence);
        first = next;
        next += sentence.size() + 2;  // a missing word and the root have numbers, too
    }

    // ---- moves

    void expect_moves(const parse_state& state) {
        auto& known = whole.at(key_of<tree::all_parts>(state), first);
        asked_moves.push_back({key_of<tree::all_parts>(state), {}, {}, 0});
        state_sum& one = asked_moves.back();
        if (known.has(one.key))
            one.sum = known.value;
        else
            expect_groups(state, one);
    }
    // The scores of the first state that was asked for and not yet computed.
    move_scores next_moves() {
        state_sum& one = asked_moves[done_moves++];
        for (const std::uint32_t number : std::span(one.open).first(one.open_count)) {
            open_sum& group = open[number];
            if (!group.done) compute(group, number);
            add(group.sum, one.sum);
        }
        if (one.open_count > 0) whole.at(one.key, first) = {one.key, one.sum};
        const move_scores found{one.sum[0], one.sum[1], -std::int64_t{one.sum[0]} - one.sum[1]};
        if (done_moves == asked_moves.size()) {
            asked_moves.clear();
            open.clear();
            keys.clear();
            done_moves = 0;
        }
        return found;
    }
    move_scores moves(const parse_state& state) {
        expect_moves(state);
        return next_moves();
    }

    // ---- labels

    void expect_label(const parse_state& state, move how) {
        // Features of labels depend on the head and the child of the arc, their children, and the next word.
        asked_labels.push_back({{number_with_kids(state, state.head_by(how)), number_with_kids(state, state.child()),
                                 number_of(state.waiting(0)), 0},
                                0,
                                no_label,
                                state.head_by(how) == state.size()});
        asked_label& one = asked_labels.back();
        auto& entry = labels.at(one.key, first);
        if (entry.has(one.key)) {
            one.twin = entry.value.open;
            one.label = entry.value.label;
            return;
        }
        one.twin = static_cast<std::uint32_t>(asked_labels.size());
        entry = {one.key, {no_label, one.twin}};
        const std::size_t begin = label_keys.size();
        label_keys.resize(begin + feature_reader::label_keys);
        plain.reader.labels(state, how, label_keys.data() + begin);
        for (const std::uint64_t key : std::span(label_keys).subspan(begin)) weights.labels.expect(key);
    }
    std::uint16_t next_label() {
        asked_label& one = asked_labels[done_labels++];
        if (one.twin == done_labels) {
            one.label =
                plain.label(std::span(label_keys).subspan(done_label_keys, feature_reader::label_keys), one.at_root);
            done_label_keys += feature_reader::label_keys;
            auto& entry = labels.at(one.key, first);
            if (entry.has(one.key)) entry.value = {one.label, 0};
        } else if (one.twin != 0) {
            one.label = asked_labels[one.twin - 1].label;
        }
        const std::uint16_t found = one.label;
        if (done_labels == asked_labels.size()) {
            asked_labels.clear();
            label_keys.clear();
            done_labels = done_label_keys = 0;
        }
        return found;
    }
    std::uint16_t label(const parse_state& state, move how) {
        expect_label(state, how);
        return next_label();
    }

    // Makes a move. A word with its children has a number, and the same children in the same order give the same one.
    void make(parse_state& state, move how, std::uint16_t label) {
        if (how == move::shift) return state.shift();
        const std::int32_t head = state.head_by(how);
        const value_cache<std::uint64_t>::key key{number_with_kids(state, head), number_of(state.child()), label, 0};
        auto& entry = numbers.at(key, first);
        if (!entry.has(key)) entry = {key, next++};
        state.attach(how, label);
        state.set_number(head, entry.value);
    }

    state_scorer<Weights> plain;

  private:
    using sums = std::array<std::int32_t, 2>;  // of shift and left
    using sum_key = value_cache<sums>::key;
    struct group_sum {
        sums sum{};
        std::uint32_t open = 0;  // while it is not computed: which open sum it will be, counted from 1
    };
    struct known_label {
        std::uint16_t label = no_label;
        std::uint32_t open = 0;  // while it is not computed: which label that was asked for it is, counted from 1
    };
    // A sum that is asked for.
    struct open_sum {
        sum_key key;
        std::size_t group, begin, end;  // of its keys
        sums sum{};
        bool done = false;
    };
    struct state_sum {
        sum_key key;
        sums sum;  // of what is known
        std::array<std::uint32_t, tree::move_groups.size()> open;
        std::size_t open_count;
    };
    struct asked_label {
        value_cache<known_label>::key key;
        std::uint32_t twin;  // the label that was asked for and is the same, counted from 1; 0 if it is known
        std::uint16_t label;
        bool at_root;
    };

    // In a sentence of usual length, the states of a beam have about so many different parts.
    static std::size_t size_for(std::size_t width) { return std::clamp<std::size_t>(64 * width, 1 << 9, 1 << 16); }

    static void add(const sums& more, sums& sum) {
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
    }
    std::uint64_t number_of(std::int32_t word) const {
        static_assert(no_word == -1);
        return first + static_cast<std::uint64_t>(word + 1);
    }
    std::uint64_t number_with_kids(const parse_state& state, std::int32_t word) const {
        const std::uint64_t number = word == no_word ? 0 : state[word].number;
        return number == 0 ? number_of(word) : number;
    }
    template <unsigned parts>
    sum_key key_of(const parse_state& state) const {
        using namespace tree;
        const auto number = [&](std::int32_t word, unsigned part, unsigned kids) -> std::uint64_t {
            if ((parts & kids) != 0) return number_with_kids(state, word);
            return (parts & part) != 0 ? number_of(word) : 0;
        };
        return {number(state.waiting(0), next_word, next_kids), number(state.on_stack(0), top, top_kids),
                number(state.on_stack(1), second, second_kids), number(state.on_stack(2), third, 0)};
    }

    void expect_groups(const parse_state& state, state_sum& one) {
        feature_reader::nodes at;
        plain.reader.find_nodes(state, at);
        const std::size_t before = keys.size();
        keys.resize(before + feature_reader::move_keys);
        std::size_t end = before;
        const auto look_up = [&]<std::size_t group>() {
            const sum_key key = key_of<tree::move_groups[group]>(state);
            auto& entry = groups[group].at(key, first);
            if (!entry.has(key)) {
                const std::size_t begin = end;
                end += plain.reader.template moves_of_group<group>(state, at, keys.data() + end);
                open.push_back({key, group, begin, end});
                entry = {key, {{}, static_cast<std::uint32_t>(open.size())}};
            }
            if (entry.value.open == 0)
                add(entry.value.sum, one.sum);
            else
                one.open[one.open_count++] = entry.value.open - 1;
        };
        [&]<std::size_t... group>(std::index_sequence<group...>) {
            (look_up.template operator()<group>(), ...);
        }(std::make_index_sequence<tree::move_groups.size()>());
        keys.resize(end);
        for (const std::uint64_t key : std::span(keys).subspan(before)) weights.moves.expect(key);
    }
    void compute(open_sum& one, std::uint32_t number) {
        const move_scores scores = weights.moves.score(std::span(keys).subspan(one.begin, one.end - one.begin));
        one.sum = {static_cast<std::int32_t>(scores[0]), static_cast<std::int32_t>(scores[1])};
        one.done = true;
        auto& entry = groups[one.group].at(one.key, first);
        if (entry.has(one.key) && entry.value.open == number + 1) entry.value = {one.sum, 0};
    }

    const Weights& weights;
    value_cache<sums> whole;
    std::vector<value_cache<group_sum>> groups;
    value_cache<known_label> labels;
    value_cache<std::uint64_t> numbers;
    std::uint64_t first = 0, next = 1;
    std::vector<state_sum> asked_moves;
    std::vector<open_sum> open;
    std::vector<asked_label> asked_labels;
    std::vector<std::uint64_t> keys, label_keys;
    std::size_t done_moves = 0, done_labels = 0, done_label_keys = 0;
};

}  // namespace markone

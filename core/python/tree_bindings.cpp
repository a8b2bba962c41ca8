// Python bindings of parsers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/order.h"
#include "parsing/exact_tree.h"
#include "parsing/tree.h"
#include "parsing/tree_bank.h"
#include "python/numpy.h"

using namespace nanobind::literals;

namespace markone {

void bind_trees(nb::module_& m);

namespace {

void need(bool holds, const char* problem) {
    if (!holds) throw std::invalid_argument(problem);
}

// Checks that positions in an array ascend from 0 to its end.
template <class Place>
void check_places(std::span<const Place> places, std::size_t size) {
    need(!places.empty() && places.front() == 0 && std::ranges::is_sorted(places) &&
             static_cast<std::size_t>(places.back()) == size,
         "the positions do not ascend from 0 to the end");
}

class strings {
  public:
    strings(const array<std::uint8_t, 1>& bytes, const array<std::int64_t, 1>& offsets)
        : bytes(view(bytes)), offsets(view(offsets)) {
        check_places(this->offsets, this->bytes.size());
    }
    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t i) const {
        const auto begin = static_cast<std::size_t>(offsets[i]), end = static_cast<std::size_t>(offsets[i + 1]);
        return {reinterpret_cast<const char*>(bytes.data()) + begin, end - begin};
    }

  private:
    std::span<const std::uint8_t> bytes;
    std::span<const std::int64_t> offsets;
};

// Sentences, and their trees if there are any.
struct tree_bank {
    static constexpr std::size_t atoms_of_word = sizeof(tree_word) / sizeof(std::uint64_t);

    changeable<std::uint64_t, 2> atoms;  // of the words, which may not fit into memory
    tree_words words;
    std::vector<std::int32_t> heads;
    std::vector<std::uint16_t> labels;
    std::size_t labels_needed = 0;

    gold_tree gold(std::size_t sentence) const {
        const std::size_t start = words.starts[sentence], size = words.length(sentence);
        return {std::span(heads).subspan(start, size), std::span(labels).subspan(start, size)};
    }
    void need_trees() const { need(heads.size() == words.words.size(), "these sentences have no trees"); }
};

constexpr std::size_t longest_sentence = 1 << 20;
constexpr std::size_t most_labels = 4096;
constexpr std::int32_t largest_unit = 256;

void make_bank(tree_bank* self, const array<std::int64_t, 1>& starts, const array<std::uint8_t, 1>& form_bytes,
               const array<std::int64_t, 1>& form_offsets, const array<std::uint8_t, 1>& tag_bytes,
               const array<std::int64_t, 1>& tag_offsets, changeable<std::uint64_t, 2> atoms) {
    const strings forms(form_bytes, form_offsets), tags(tag_bytes, tag_offsets);
    const std::span<const std::int64_t> places = view(starts);
    need(forms.size() == tags.size(), "there must be a tag for each word");
    check_places(places, forms.size());
    need(atoms.shape(0) == forms.size() && atoms.shape(1) == tree_bank::atoms_of_word,
         "the memory for the atoms of all words has the wrong size");
    tree_bank made;
    made.words.starts.assign(places.begin(), places.end());
    for (std::size_t i = 0; i < made.words.size(); ++i)
        need(made.words.length(i) <= longest_sentence, "a sentence is too long");
    made.words.words = {reinterpret_cast<tree_word*>(atoms.data()), forms.size()};
    made.atoms = std::move(atoms);
    {
        nb::gil_scoped_release unlocked;
        word_reader reader;
        for (std::size_t i = 0; i < forms.size(); ++i)
            std::construct_at(&made.words.words[i], read_tree_word(reader, forms[i], tags[i]));
    }
    new (self) tree_bank(std::move(made));
}

void set_trees(tree_bank& self, const array<std::int32_t, 1>& heads, const array<std::int32_t, 1>& labels) {
    const std::size_t size = self.words.words.size();
    need(heads.size() == size && labels.size() == size, "there must be a head and a label for each word");
    std::vector<std::int32_t> own(size);
    std::vector<std::uint16_t> numbers(size);
    for (std::size_t s = 0; s < self.words.size(); ++s) {
        const std::size_t start = self.words.starts[s], length = self.words.length(s);
        need(is_tree(view(heads).subspan(start, length)), "the heads are not a tree");
        for (std::size_t i = start; i < start + length; ++i) own[i] = own_head(heads.data()[i], length);
        std::vector<std::int32_t> lifted(own.begin() + static_cast<std::ptrdiff_t>(start),
                                         own.begin() + static_cast<std::ptrdiff_t>(start + length));
        need(make_projective(lifted) == 0, "a tree is not projective");
    }
    for (std::size_t i = 0; i < size; ++i) {
        need(labels.data()[i] >= 0 && static_cast<std::size_t>(labels.data()[i]) < most_labels, "no such label");
        numbers[i] = static_cast<std::uint16_t>(labels.data()[i]);
    }
    self.labels_needed = numbers.empty() ? 0 : 1 + std::size_t{*std::ranges::max_element(numbers)};
    self.heads = std::move(own);
    self.labels = std::move(numbers);
}

// ---- learning

// What a partition has changed in a pass (parsing/tree_mixing.h).
struct tree_changes {
    learned_moves::changes moves;
    learned_labels::changes labels;
    learned_arcs::changes arcs;
    std::int64_t steps;
};

// The search is exact if MIRA's C is given. Otherwise it is greedy if the beam has the width 1.
class tree_learner {
  public:
    tree_learner(std::vector<std::uint8_t> uses, std::size_t width, std::optional<double> C, std::int32_t unit)
        : weights(std::move(uses), unit), width(width), C(C) {
        if (C)
            how.emplace<exact_learner>(arcs, weights, *C);
        else if (width == 1)
            how.emplace<greedy_learner>(weights);
        else
            how.emplace<beam_learner>(weights, width);
    }

    bool is_exact() const { return std::holds_alternative<exact_learner>(how); }

    tree_tally learn(const tree_bank& bank, std::span<const std::int64_t> order, bool explore, std::uint64_t seed) {
        bank.need_trees();
        for (const std::int64_t one : order)
            need(one >= 0 && static_cast<std::size_t>(one) < bank.words.size(), "no such sentence");
        need(bank.labels_needed <= weights.uses.size(), "no such label");
        tree_tally tally;
        random_bits random(seed);
        for (const std::int64_t one : order) {
            const auto sentence = static_cast<std::size_t>(one);
            const std::span<const tree_word> words = bank.words[sentence];
            const gold_tree gold = bank.gold(sentence);
            if (auto* greedy = std::get_if<greedy_learner>(&how))
                greedy->learn(words, gold, explore, random, tally);
            else if (auto* beam = std::get_if<beam_learner>(&how))
                beam->learn(words, gold, tally);
            else if (auto* exact = std::get_if<exact_learner>(&how))
                exact->learn(words, gold, tally);
        }
        return tally;
    }

    // ---- partitions

    // Another learner with the same settings, which has learned nothing.
    std::unique_ptr<tree_learner> part() const {
        return std::make_unique<tree_learner>(weights.uses, width, C, weights.unit);
    }
    // Starts a pass of a partition at the weights of the base.
    void start_at(const tree_learner& base) {
        need(base.weights.uses.size() == weights.uses.size() && base.is_exact() == is_exact(),
             "the partition is of another learner");
        weights.moves.start_at(base.weights.moves);
        weights.labels.start_at(base.weights.labels);
        arcs.start_at(base.arcs);
        weights.steps = 0;
    }
    // What a partition has changed since it started. Before it learns again, it must start again.
    tree_changes take(const tree_learner& base) {
        const std::int64_t steps = weights.steps;
        return {weights.moves.take(base.weights.moves, steps), weights.labels.take(base.weights.labels, steps),
                arcs.take(base.arcs, steps), steps};
    }
    void mix(std::span<const tree_changes* const> all) {
        need(!all.empty(), "there are no partitions");
        for (const tree_changes* part : all) weights.steps += part->steps;
        const auto mix_in = [&](auto& some, auto of) {
            std::vector<decltype(&(all[0]->*of))> parts;
            for (const tree_changes* part : all) parts.push_back(&(part->*of));
            some.mix(parts, weights.steps);
        };
        mix_in(weights.moves, &tree_changes::moves);
        mix_in(weights.labels, &tree_changes::labels);
        mix_in(arcs, &tree_changes::arcs);
    }

    learned_weights weights;
    learned_arcs arcs;
    std::mutex busy;

  private:
    std::size_t width;
    std::optional<double> C;
    std::variant<std::monostate, greedy_learner, beam_learner, exact_learner> how;
};

std::vector<std::uint8_t> checked_uses(const array<std::uint8_t, 1>& uses) {
    need(uses.size() > 0 && uses.size() <= most_labels, "there must be labels, and not too many");
    return {uses.data(), uses.data() + uses.size()};
}
std::size_t checked_width(std::size_t width) {
    need(width >= 1 && width <= 4096, "the width of the beam must be from 1 to 4096");
    return width;
}

nb::dict get_state(tree_learner& self) {
    std::vector<std::uint64_t> move_keys, label_keys;
    std::vector<std::uint32_t> move_weights, label_ids;
    std::vector<std::int64_t> move_sums, label_starts{0}, label_sums;
    std::vector<std::int32_t> label_weights;
    std::vector<std::uint64_t> arc_keys;
    std::vector<float> arc_weights;
    std::vector<double> arc_sums;
    std::int64_t steps = 0;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(self.busy);
        steps = self.weights.steps;
        self.weights.moves.each([&](std::uint64_t key, auto w, auto u) {
            move_keys.push_back(key);
            move_weights.push_back(in_halves(w[0], static_cast<std::uint16_t>(w[1])));
            move_sums.insert(move_sums.end(), u.begin(), u.end());
        });
        self.weights.labels.each([&](std::uint64_t key, auto entries) {
            label_keys.push_back(key);
            for (const auto& one : entries) {
                label_ids.push_back(one.label);
                label_weights.push_back(one.w);
                label_sums.push_back(one.u);
            }
            label_starts.push_back(static_cast<std::int64_t>(label_ids.size()));
        });
        const learned_rows& arcs =
            self.arcs.rows;  // in their original order, because their squares are added in this order
        arc_keys.assign(arcs.keys().begin(), arcs.keys().end());
        for (std::uint32_t row = 0; row < arcs.size(); ++row) {
            arc_weights.push_back(*arcs.weights(row));
            arc_sums.push_back(*arcs.sums(row));
        }
    }
    nb::dict state;
    state["steps"] = steps;
    state["move_keys"] = own(std::move(move_keys));
    state["move_weights"] = own(std::move(move_weights));
    state["move_sums"] = own(std::move(move_sums));
    state["label_keys"] = own(std::move(label_keys));
    state["label_starts"] = own(std::move(label_starts));
    state["label_ids"] = own(std::move(label_ids));
    state["label_weights"] = own(std::move(label_weights));
    state["label_sums"] = own(std::move(label_sums));
    state["arc_keys"] = own(std::move(arc_keys));
    state["arc_weights"] = own(std::move(arc_weights));
    state["arc_sums"] = own(std::move(arc_sums));
    return state;
}

constexpr std::int64_t most_steps = std::int64_t{1} << 44;  // multiplied by any weight, it still fits
constexpr double largest_arc = 1e30;

bool is_ascending(std::span<const std::uint64_t> keys) {
    return std::ranges::adjacent_find(keys, std::greater_equal{}) == keys.end() && (keys.empty() || keys[0] != 0);
}
void check_weight(std::int32_t w) {
    need(w >= -largest_weight && w <= largest_weight, "a weight is too large");
}
// A sum adds up the changes of a weight, each multiplied by the number of steps before it. So it is the final weight
// times the number of steps, minus the sum of the weight over all steps.
void check_sums(std::span<const std::int64_t> sums, std::int64_t steps) {
    for (const std::int64_t u : sums)
        need(u >= -2 * largest_weight * steps && u <= 2 * largest_weight * steps, "a sum is too large");
}

// The parts of a saved state. Each is checked completely before any of it is used.
struct saved_moves {
    std::span<const std::uint64_t> keys;
    std::span<const std::uint32_t> weights;
    std::span<const std::int64_t> sums;

    void check(std::int64_t steps) const {
        need(weights.size() == keys.size() && sums.size() == 2 * keys.size(), "weights are missing");
        need(is_ascending(keys), "keys are not in order");
        need(std::ranges::adjacent_find(keys, {}, [](std::uint64_t key) { return key & kept_bits; }) == keys.end(),
             "a key occurs twice");
        for (const std::uint32_t both : weights) {
            check_weight(lower_half(both));
            check_weight(lower_half(both >> 16));
        }
        check_sums(sums, steps);
    }
    void put_into(learned_weights& to) const {
        to.moves.reserve(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i)
            to.moves.put(keys[i], {lower_half(weights[i]), lower_half(weights[i] >> 16)},
                         {sums[2 * i], sums[2 * i + 1]});
    }
};

struct saved_labels {
    std::span<const std::uint64_t> keys;
    std::span<const std::int64_t> starts;
    std::span<const std::uint32_t> ids;
    std::span<const std::int32_t> weights;
    std::span<const std::int64_t> sums;

    void check(std::int64_t steps, std::size_t labels) const {
        need(ids.size() == weights.size() && ids.size() == sums.size() && starts.size() == keys.size() + 1,
             "weights are missing");
        check_places(starts, ids.size());
        need(is_ascending(keys), "keys are not in order");
        std::ranges::for_each(weights, check_weight);
        check_sums(sums, steps);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto begin = static_cast<std::size_t>(starts[i]), end = static_cast<std::size_t>(starts[i + 1]);
            const auto own = ids.subspan(begin, end - begin);
            need(!own.empty() && std::ranges::adjacent_find(own, std::greater_equal{}) == own.end() &&
                     own.back() < labels,
                 "no such label");
        }
    }
    void put_into(learned_weights& to) const {
        to.labels.reserve(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i)
            for (auto j = static_cast<std::size_t>(starts[i]); j < static_cast<std::size_t>(starts[i + 1]); ++j)
                to.labels.put(keys[i], static_cast<std::uint16_t>(ids[j]), weights[j], sums[j]);
    }
};

struct saved_arcs {
    std::span<const std::uint64_t> keys;
    std::span<const float> weights;
    std::span<const double> sums;

    void check(std::int64_t steps) const {
        need(weights.size() == keys.size() && sums.size() == keys.size(), "weights are missing");
        std::vector<std::uint64_t> sorted(keys.begin(), keys.end());
        std::ranges::sort(sorted);
        need(is_ascending(sorted), "keys are not in order");
        const auto is_below = [](double number, double most) { return std::abs(number) <= most; };  // and is a number
        for (std::size_t i = 0; i < keys.size(); ++i)
            need(is_below(double{weights[i]}, largest_arc) &&
                     is_below(sums[i], largest_arc * static_cast<double>(steps)),
                 "a weight is too large");
    }
    void put_into(learned_arcs& to) const {
        for (std::size_t i = 0; i < keys.size(); ++i) to.rows.put(to.rows.row_of(keys[i]), 0, weights[i], sums[i]);
    }
};

void set_state(tree_learner& self, std::int64_t steps, const array<std::uint64_t, 1>& move_keys,
               const array<std::uint32_t, 1>& move_weights, const array<std::int64_t, 1>& move_sums,
               const array<std::uint64_t, 1>& label_keys, const array<std::int64_t, 1>& label_starts,
               const array<std::uint32_t, 1>& label_ids, const array<std::int32_t, 1>& label_weights,
               const array<std::int64_t, 1>& label_sums, const array<std::uint64_t, 1>& arc_keys,
               const array<float, 1>& arc_weights, const array<double, 1>& arc_sums) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(self.busy);
    learned_weights& w = self.weights;
    const saved_moves moves{view(move_keys), view(move_weights), view(move_sums)};
    const saved_labels labels{view(label_keys), view(label_starts), view(label_ids), view(label_weights),
                              view(label_sums)};
    const saved_arcs arcs{view(arc_keys), view(arc_weights), view(arc_sums)};
    need(w.steps == 0 && w.moves.size() + w.labels.size() + self.arcs.rows.size() == 0, "the learner is not new");
    need(steps >= 0 && steps <= most_steps, "the number of steps is negative or too large");
    need(steps > 0 || moves.keys.size() + labels.keys.size() + arcs.keys.size() == 0,
         "there are weights, but no steps");
    need(self.is_exact() ? moves.keys.empty() : arcs.keys.empty(), "the weights are those of another kind of search");
    moves.check(steps);
    labels.check(steps, w.uses.size());
    arcs.check(steps);
    w.steps = steps;
    moves.put_into(w);
    labels.put_into(w);
    arcs.put_into(self.arcs);
}

nb::dict get_average(tree_learner& self, std::size_t most, double smallest) {
    averaged_weights made;
    averaged_arcs arcs;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(self.busy);
        made = average(self.weights.moves, self.weights.labels, self.weights.steps, self.weights.unit, most, smallest);
        arcs = average(self.arcs, self.weights.steps, most);
    }
    nb::dict found;
    found["move_unit"] = made.move_unit;
    found["label_unit"] = made.label_unit;
    found["move_keys"] = own(std::move(made.move_keys));
    found["move_weights"] = own(std::move(made.move_weights));
    found["label_keys"] = own(std::move(made.label_keys));
    found["label_starts"] = own(std::move(made.label_starts));
    found["label_weights"] = own(std::move(made.label_weights));
    found["arc_keys"] = own(std::move(arcs.keys));
    found["arc_weights"] = own(std::move(arcs.weights));
    return found;
}

// ---- parsing

class tree_parser {
  public:
    tree_parser(std::vector<std::uint8_t> uses, std::size_t width, bool exact, std::span<const std::uint64_t> move_keys,
                std::span<const std::uint32_t> move_weights, std::span<const std::uint64_t> label_keys,
                std::span<const std::uint32_t> label_starts, std::span<const std::uint32_t> label_weights,
                std::span<const std::uint64_t> arc_keys, std::span<const float> arc_weights)
        : width(width), exact(exact) {
        need(arc_keys.size() == arc_weights.size(), "weights are missing");
        for (std::size_t i = 0; i < arc_keys.size(); ++i)
            need(arcs.numbers.find_or_add(arc_keys[i]) == i, "a key occurs twice");
        arcs.w.assign(arc_weights.begin(), arc_weights.end());
        need(move_keys.size() == move_weights.size(), "weights are missing");
        need(label_starts.size() == label_keys.size() + 1, "weights are missing");
        need(std::ranges::is_sorted(move_keys) && std::ranges::is_sorted(label_keys), "keys are not in order");
        check_places(label_starts, label_weights.size());
        for (const std::uint32_t one : label_weights) need(one >> 16 < uses.size(), "no such label");
        weights.uses = std::move(uses);
        build_table(move_keys.size() / 3 + 8, 1, [&](std::size_t size, std::uint64_t factor) {
            weights.moves.make(size, factor);
            for (std::size_t i = 0; i < move_keys.size(); ++i) {
                if (i > 0 && move_keys[i] == move_keys[i - 1]) continue;
                const std::size_t at = weights.moves.add(move_keys[i]);
                if (at == move_table::nowhere) return false;
                weights.moves.set(at, {lower_half(move_weights[i]), lower_half(move_weights[i] >> 16)});
            }
            return true;
        });
        weights.labels = frozen_labels(weights.uses.size(), label_keys, label_starts, label_weights);
    }

    void parse(const tree_words& words, std::span<std::int32_t> heads, std::span<std::int32_t> labels) const {
        const auto all = [&](auto search) {
            for (std::size_t s = 0; s < words.size(); ++s) {
                const parse_state& state = search.run(words[s]);
                const std::size_t start = words.starts[s], size = words.length(s);
                for (std::size_t i = 0; i < size; ++i) {
                    const found_word& one = state[static_cast<std::int32_t>(i)];
                    heads[start + i] = written_head(one.head, size);
                    labels[start + i] = one.label;
                }
            }
        };
        if (exact)
            all(labelled_search(arcs, weights));
        else if (width == 1)
            all(greedy_search(weights));
        else
            all(beam_search(weights, width));
    }

    // The moves and labels that lead to the parse of a sentence; a shift has no label.
    std::vector<beam_search<frozen_weights>::step> path(std::span<const tree_word> sentence) const {
        need(!exact, "the exact search makes no moves");
        beam_search search(weights, width);
        search.run(sentence);
        return search.path(2 * sentence.size(), 0);
    }

    frozen_weights weights;
    frozen_arcs arcs;
    std::size_t width;
    bool exact;
};

nb::tuple parse(const tree_parser& self, const tree_bank& bank) {
    const std::size_t size = bank.words.words.size();
    auto heads = std::make_unique_for_overwrite<std::int32_t[]>(size);
    auto labels = std::make_unique_for_overwrite<std::int32_t[]>(size);
    {
        nb::gil_scoped_release unlocked;
        self.parse(bank.words, {heads.get(), size}, {labels.get(), size});
    }
    return nb::make_tuple(own<std::int32_t>(std::move(heads), {size}), own<std::int32_t>(std::move(labels), {size}));
}

constexpr std::int32_t no_label_written = -1;

nb::tuple path(const tree_parser& self, const tree_bank& bank, std::size_t sentence) {
    need(sentence < bank.words.size(), "no such sentence");
    std::vector<std::int32_t> moves, labels;
    for (const auto& one : self.path(bank.words[sentence])) {
        moves.push_back(static_cast<std::int32_t>(one.how));
        labels.push_back(one.label == no_label ? no_label_written : one.label);
    }
    return nb::make_tuple(own(std::move(moves)), own(std::move(labels)));
}

// The state after these moves.
parse_state state_after(std::size_t size, std::span<const std::int32_t> moves, std::span<const std::int32_t> labels) {
    need(moves.size() == labels.size(), "there must be a label for each move");
    parse_state state;
    state.start(size);
    for (std::size_t i = 0; i < moves.size(); ++i) {
        need(moves[i] >= 0 && static_cast<std::size_t>(moves[i]) < move_count, "no such move");
        const auto how = static_cast<move>(moves[i]);
        need(state.allows(how), "a move is not allowed");
        need(how == move::shift || (labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < most_labels),
             "no such label");
        state.make(how, how == move::shift ? no_label : static_cast<std::uint16_t>(labels[i]));
    }
    return state;
}

// The weights of each feature for each move in the state after some moves, and the words at the nodes.
nb::tuple look_at_moves(const tree_parser& self, const tree_bank& bank, std::size_t sentence,
                        const array<std::int32_t, 1>& moves, const array<std::int32_t, 1>& labels) {
    need(sentence < bank.words.size(), "no such sentence");
    const parse_state state = state_after(bank.words.length(sentence), view(moves), view(labels));
    feature_reader reader;
    reader.start(bank.words[sentence]);
    std::array<std::uint64_t, feature_reader::move_keys> keys;
    reader.moves(state, keys.data());
    feature_reader::nodes at;
    at.fill(no_word);
    reader.find_nodes(state, at);
    std::vector<std::int32_t> weights;
    for (const std::uint64_t key : keys)
        for (const std::int64_t one : self.weights.moves.score({&key, 1}))
            weights.push_back(static_cast<std::int32_t>(one));
    return nb::make_tuple(own(std::move(weights)), own(std::vector<std::int32_t>(at.begin(), at.end())));
}
nb::tuple look_at_labels(const tree_parser& self, const tree_bank& bank, std::size_t sentence,
                         const array<std::int32_t, 1>& moves, const array<std::int32_t, 1>& labels, int how) {
    need(sentence < bank.words.size(), "no such sentence");
    const parse_state state = state_after(bank.words.length(sentence), view(moves), view(labels));
    need(how == static_cast<int>(move::left) || how == static_cast<int>(move::right), "no arc");
    need(state.allows(static_cast<move>(how)), "a move is not allowed");
    feature_reader reader;
    reader.start(bank.words[sentence]);
    std::array<std::uint64_t, feature_reader::label_keys> keys;
    reader.labels(state, static_cast<move>(how), keys.data());
    feature_reader::nodes at;
    at.fill(no_word);
    reader.find_nodes(state, static_cast<move>(how), at);
    const std::size_t count = self.weights.uses.size();
    std::vector<std::int64_t> scores(count + unused_scores);
    std::vector<std::int32_t> weights;
    for (const std::uint64_t key : keys) {
        self.weights.labels.score({&key, 1}, scores);
        for (const std::int64_t one : std::span(scores).first(count)) weights.push_back(static_cast<std::int32_t>(one));
    }
    return nb::make_tuple(own(std::move(weights)), own(std::vector<std::int32_t>(at.begin(), at.end())));
}

// The score of each possible arc of a sentence: a row for each head, and the row of the root at the end.
numpy<double> scores_of_arcs(const tree_parser& self, const tree_bank& bank, std::size_t sentence) {
    need(sentence < bank.words.size(), "no such sentence");
    const std::size_t size = bank.words.length(sentence);
    need(size <= longest_exact, "a sentence is too long for the exact search");
    exact_search search(self.arcs);
    search.score(bank.words[sentence]);
    auto memory = std::make_unique_for_overwrite<double[]>((size + 1) * size);
    for (std::size_t head = 0; head <= size; ++head)
        for (std::size_t child = 0; child < size; ++child) memory[head * size + child] = search.scores(head, child);
    return own<double>(std::move(memory), {size + 1, size});
}

// The weights of an arc's features: two for each template, and then those of the tags between, in their order.
numpy<float> look_at_arc(const tree_parser& self, const tree_bank& bank, std::size_t sentence, std::size_t head,
                         std::size_t child) {
    need(sentence < bank.words.size() && head <= bank.words.length(sentence) && child < bank.words.length(sentence) &&
             head != child,
         "no such arc");
    arc_reader reader;
    reader.start(bank.words[sentence]);
    std::vector<std::uint64_t> keys;
    reader.read(head, child, keys);
    std::vector<float> weights;
    for (const std::uint64_t key : keys) weights.push_back(self.arcs.weight(key));
    return own(std::move(weights));
}

// ---- trees

// The best tree with these scores of arcs: a row for each head, and the row of the root at the end.
numpy<std::int32_t> best_tree(const array<double, 2>& scores) {
    const std::size_t size = scores.shape(1);
    need(scores.shape(0) == size + 1 && size <= longest_exact,
         "there must be a row for each word and one for the root");
    arc_scores arcs;
    arcs.start(size);
    for (std::size_t head = 0; head <= size; ++head)
        for (std::size_t child = 0; child < size; ++child) arcs(head, child) = scores.data()[head * size + child];
    std::vector<std::int32_t> heads;
    eisner().best_tree(arcs, heads);
    for (std::int32_t& head : heads) head = written_head(head, size);
    return own(std::move(heads));
}

// The heads of projective trees after lifting arcs, and the number of lifted arcs in each sentence.
nb::tuple projective(const array<std::int64_t, 1>& starts, const array<std::int32_t, 1>& heads) {
    const std::span<const std::int64_t> places = view(starts);
    check_places(places, heads.size());
    std::vector<std::int32_t> made(heads.data(), heads.data() + heads.size());
    std::vector<std::int64_t> lifted;
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t s = 0; s + 1 < places.size(); ++s) {
            const auto begin = static_cast<std::size_t>(places[s]), end = static_cast<std::size_t>(places[s + 1]);
            const std::span<std::int32_t> some = std::span(made).subspan(begin, end - begin);
            need(is_tree(some), "the heads are not a tree");
            for (std::int32_t& head : some) head = own_head(head, some.size());
            lifted.push_back(static_cast<std::int64_t>(make_projective(some)));
            for (std::int32_t& head : some) head = written_head(head, some.size());
        }
    }
    return nb::make_tuple(own(std::move(made)), own(std::move(lifted)));
}

// The cost of each move in the state after some moves; -1 if it is not allowed.
std::vector<int> move_costs(const array<std::int32_t, 1>& heads, const array<std::int32_t, 1>& moves) {
    need(is_tree(view(heads)), "the heads are not a tree");
    std::vector<std::int32_t> own_heads;
    for (const std::int32_t head : view(heads)) own_heads.push_back(own_head(head, heads.size()));
    const std::vector<std::int32_t> labels(moves.size(), 0);
    const parse_state state = state_after(heads.size(), view(moves), labels);
    std::vector<int> found;
    for (const int cost : tree_oracle(own_heads).costs(state))
        found.push_back(cost == tree_oracle::forbidden ? -1 : cost);
    return found;
}

template <class Templates>
std::vector<std::vector<std::string>> names_of(const Templates& templates) {
    std::vector<std::vector<std::string>> all;
    for (const tree::feature_template& one : templates) {
        std::vector<std::string>& names = all.emplace_back();
        for (std::size_t i = 0; i < one.size; ++i)
            names.push_back(std::string(tree::node_names[one.atoms[i].of]) + " " +
                            tree::property_names[one.atoms[i].what]);
    }
    return all;
}

void bind_learner(nb::module_& m) {
    nb::class_<tree_bank>(m, "TreeBank")
        .def("__init__", &make_bank, "starts"_a.noconvert(), "form_bytes"_a.noconvert(), "form_offsets"_a.noconvert(),
             "tag_bytes"_a.noconvert(), "tag_offsets"_a.noconvert(), "atoms"_a.noconvert())
        .def_prop_ro_static("atoms_of_word", [](nb::handle) { return tree_bank::atoms_of_word; })
        .def("__len__", [](const tree_bank& self) { return self.words.size(); })
        .def("set_trees", &set_trees, "heads"_a.noconvert(), "labels"_a.noconvert());
    nb::class_<tree_changes>(m, "TreeChanges").def_ro("steps", &tree_changes::steps);
    nb::class_<tree_learner>(m, "TreeLearner")
        .def(
            "__init__",
            [](tree_learner* self, const array<std::uint8_t, 1>& uses, std::size_t width, std::optional<double> C,
               std::int32_t unit) {
                need(!C || *C > 0, "C must be greater than 0");
                need(unit >= 1 && unit <= largest_unit, "the unit must be from 1 to 256");
                new (self) tree_learner(checked_uses(uses), checked_width(width), C, unit);
            },
            "label_uses"_a.noconvert(), "width"_a, "C"_a.none() = nb::none(), "unit"_a = 1)
        .def(
            "learn",
            [](tree_learner& self, const tree_bank& bank, const array<std::int64_t, 1>& order, bool explore,
               std::uint64_t seed) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                const tree_tally tally = self.learn(bank, view(order), explore, seed);
                return std::tuple(tally.decisions, tally.mistakes, tally.updates);
            },
            "bank"_a, "order"_a.noconvert(), "explore"_a, "seed"_a)
        .def("average", &get_average, "most"_a, "smallest"_a)
        .def("start_anew",
             [](tree_learner& self) {
                 nb::gil_scoped_release unlocked;
                 const std::lock_guard guard(self.busy);
                 self.weights.start_anew();
                 self.arcs.start_anew(self.weights.steps);
             })
        .def("norm2",
             [](tree_learner& self) {
                 nb::gil_scoped_release unlocked;
                 const std::lock_guard guard(self.busy);
                 return self.weights.norm2() + self.arcs.norm2();
             })
        .def("part", &tree_learner::part)
        .def(
            "start_at",
            [](tree_learner& self, const tree_learner& base) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.start_at(base);
            },
            "base"_a)
        .def(
            "take_changes",
            [](tree_learner& self, const tree_learner& base) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                return self.take(base);
            },
            "base"_a)
        .def(
            "mix",
            [](tree_learner& self, const std::vector<const tree_changes*>& changes) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.mix(changes);
            },
            "changes"_a)
        .def("get_state", &get_state)
        .def("set_state", &set_state, "steps"_a, "move_keys"_a.noconvert(), "move_weights"_a.noconvert(),
             "move_sums"_a.noconvert(), "label_keys"_a.noconvert(), "label_starts"_a.noconvert(),
             "label_ids"_a.noconvert(), "label_weights"_a.noconvert(), "label_sums"_a.noconvert(),
             "arc_keys"_a.noconvert(), "arc_weights"_a.noconvert(), "arc_sums"_a.noconvert());
}

void bind_parser(nb::module_& m) {
    nb::class_<tree_parser>(m, "TreeParser")
        .def(
            "__init__",
            [](tree_parser* self, const array<std::uint8_t, 1>& uses, std::size_t width,
               const array<std::uint64_t, 1>& move_keys, const array<std::uint32_t, 1>& move_weights,
               const array<std::uint64_t, 1>& label_keys, const array<std::uint32_t, 1>& label_starts,
               const array<std::uint32_t, 1>& label_weights, const array<std::uint64_t, 1>& arc_keys,
               const array<float, 1>& arc_weights, bool exact) {
                new (self) tree_parser(checked_uses(uses), checked_width(width), exact, view(move_keys),
                                       view(move_weights), view(label_keys), view(label_starts), view(label_weights),
                                       view(arc_keys), view(arc_weights));
            },
            "label_uses"_a.noconvert(), "width"_a, "move_keys"_a.noconvert(), "move_weights"_a.noconvert(),
            "label_keys"_a.noconvert(), "label_starts"_a.noconvert(), "label_weights"_a.noconvert(),
            "arc_keys"_a.noconvert(), "arc_weights"_a.noconvert(), "exact"_a = false)
        .def("arc_scores", &scores_of_arcs, "bank"_a, "sentence"_a)
        .def("look_at_arc", &look_at_arc, "bank"_a, "sentence"_a, "head"_a, "child"_a)
        .def("parse", &parse, "bank"_a)
        .def("path", &path, "bank"_a, "sentence"_a)
        .def("look_at_moves", &look_at_moves, "bank"_a, "sentence"_a, "moves"_a.noconvert(), "labels"_a.noconvert())
        .def("look_at_labels", &look_at_labels, "bank"_a, "sentence"_a, "moves"_a.noconvert(), "labels"_a.noconvert(),
             "how"_a);
}

void bind_functions(nb::module_& m) {
    m.def("projective", &projective, "starts"_a.noconvert(), "heads"_a.noconvert());
    m.def("move_costs", &move_costs, "heads"_a.noconvert(), "moves"_a.noconvert());
    m.def("best_tree", &best_tree, "scores"_a.noconvert());
    m.def("arc_templates", [] { return names_of(tree::arc_templates); });
    m.def("move_templates", [] { return names_of(tree::move_templates); });
    m.def("label_templates", [] { return names_of(tree::label_templates); });
    m.def("tree_nodes", [] { return std::vector<std::string>(tree::node_names.begin(), tree::node_names.end()); });
}

}  // namespace

void bind_trees(nb::module_& m) {
    bind_learner(m);
    bind_parser(m);
    bind_functions(m);
}

}  // namespace markone

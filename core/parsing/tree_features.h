// The features of a parser. An atom is one property of one node of a state, for example the tag of the word on top of
// the stack, or the label of its last child. A template joins up to four atoms to the key of a feature. The templates
// follow Zhang & Nivre (2011), for the arc-hybrid system.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "parsing/transitions.h"
#include "tagging/word_atoms.h"
#include "text/vocabulary.h"

namespace markone {

// Hashes of the properties of one word. The last one has two bits of the tag, which represent it in sets of tags.
struct tree_word {
    std::uint64_t word = 0, tag = 0, suffix = 0, prefix = 0, shape = 0, tag_bits = 0;
};

// Sentences, one after the other.
struct tree_words {
    std::span<tree_word> words;
    std::vector<std::size_t> starts{0};

    std::size_t size() const { return starts.size() - 1; }
    std::size_t length(std::size_t sentence) const { return starts[sentence + 1] - starts[sentence]; }
    std::span<const tree_word> operator[](std::size_t sentence) const {
        return words.subspan(starts[sentence], length(sentence));
    }
};

inline tree_word read_tree_word(word_reader& reader, std::string_view form, std::string_view tag) {
    const word_atoms atoms = reader.read(form);
    const std::uint64_t hash = mix(hash_of(tag));
    return {.word = atoms.lower,
            .tag = hash,
            .suffix = atoms.suffix[2] != 0 ? atoms.suffix[2] : atoms.lower,
            .prefix = atoms.prefix[2] != 0 ? atoms.prefix[2] : atoms.lower,
            .shape = atoms.shape,
            .tag_bits = std::uint64_t{1} << (hash >> 58) | std::uint64_t{1} << (hash >> 52) % 64};
}

// ---- atoms

namespace tree {

// The nodes of a state: words on the stack (s) and in the buffer (b), their neighbours in the sentence, and its last
// word. The nodes of an arc: its head (h) and its child (c), their neighbours, and the next word of the buffer after
// the arc is made (n). After them come children on the left (l) and right (r): the last one, and the one before it.
enum node : std::uint8_t {
    s0,
    s1,
    s2,
    b0,
    b1,
    b2,
    b3,
    last,
    s0_before,
    s0_after,
    s1_before,
    s1_after,
    b0_before,
    s0l,
    s0l2,
    s0r,
    s0r2,
    s1l,
    s1r,
    s1r2,
    b0l,
    b0l2,
    h,
    c,
    h_before,
    h_after,
    c_before,
    c_before2,
    c_after,
    c_after2,
    n,
    cl,
    cl2,
    cr,
    hl,
    hr,
    hr2,
};
constexpr std::array node_names{"s0",   "s1",   "s2",   "b0",  "b1",   "b2",  "b3",   "last", "s0-1", "s0+1",
                                "s1-1", "s1+1", "b0-1", "s0l", "s0l2", "s0r", "s0r2", "s1l",  "s1r",  "s1r2",
                                "b0l",  "b0l2", "h",    "c",   "h-1",  "h+1", "c-1",  "c-2",  "c+1",  "c+2",
                                "n",    "cl",   "cl2",  "cr",  "hl",   "hr",  "hr2"};
constexpr std::size_t node_count = node_names.size();

// The distance and the side of a node are relative to the node with which an arc may join it: of s0 to s1, of b0 to s0,
// of c to h. `between` is the set of the tags of the words between them.
enum property : std::uint8_t {
    word,
    tag,
    suffix,
    prefix,
    shape,
    label,
    distance,
    side,
    between,
    lefts,
    rights,
    left_labels,
    right_labels
};
constexpr std::array property_names{"word", "tag",     "suffix", "prefix", "shape",       "label",       "distance",
                                    "side", "between", "lefts",  "rights", "left labels", "right labels"};
constexpr std::size_t property_count = property_names.size();

struct atom {
    node of;
    property what;
    constexpr std::size_t place() const { return std::size_t{of} * property_count + what; }
    constexpr bool operator==(const atom&) const = default;
};
constexpr std::size_t most_atoms = 4;
struct feature_template {
    std::array<atom, most_atoms> atoms;
    std::size_t size;
};
template <class... Atoms>
constexpr feature_template join_of(Atoms... atoms) {
    return {{atoms...}, sizeof...(atoms)};
}

constexpr atom w(node of) {
    return {of, word};
}
constexpr atom t(node of) {
    return {of, tag};
}
constexpr atom l(node of) {
    return {of, label};
}
constexpr atom end(node of) {
    return {of, suffix};
}
constexpr atom begin(node of) {
    return {of, prefix};
}
constexpr atom look(node of) {
    return {of, shape};
}
constexpr atom far(node of) {
    return {of, distance};
}
constexpr atom on(node of) {
    return {of, side};
}
constexpr atom inside(node of) {
    return {of, between};
}
constexpr atom nl(node of) {
    return {of, lefts};
}
constexpr atom nr(node of) {
    return {of, rights};
}
constexpr atom ll(node of) {
    return {of, left_labels};
}
constexpr atom lr(node of) {
    return {of, right_labels};
}

// clang-format off
constexpr std::array move_templates{
    // words alone
    join_of(t(s0)), join_of(w(b0), t(b0)), join_of(t(b0)), join_of(w(b1)), join_of(t(b1)), join_of(t(b2)),
    join_of(t(b3)),
    // pairs
    join_of(w(s0), w(b0)), join_of(t(s1), w(s0), t(s0)), join_of(t(s1), t(s0)), join_of(t(s1), t(b0)),
    join_of(t(b0), t(b1)), join_of(w(b0), t(b1)), join_of(w(b0), w(b1)), join_of(t(s2), t(b0)), join_of(t(s2), t(s0)),
    join_of(w(b1), t(b2)),
    // three and four
    join_of(t(b0), t(b1), t(b2)), join_of(t(s0), t(b0), t(b1)), join_of(t(s1), t(s0), t(b0), t(b1)),
    join_of(w(s0), t(b0), w(b1)), join_of(w(s1), t(s0), w(b0)), join_of(t(b1), t(b2), t(b3)),
    join_of(t(s1), t(b0), t(b1)), join_of(t(s0), t(b1), t(b2)),
    // neighbours, and how the sentence ends
    join_of(t(s0), t(s0_after), t(b0)), join_of(t(s0), t(b0_before), t(b0)),
    join_of(t(s0_before), t(s0), t(b0_before), t(b0)), join_of(t(s1), t(s1_after), t(s0_before), t(s0)),
    join_of(t(s1_before), t(s1), t(s0)), join_of(t(s1), t(s0), t(s0_after)), join_of(t(s0_before), t(s0)),
    join_of(w(s0_before), t(s0)), join_of(w(s0_after), t(s0)), join_of(t(s1_before), t(s1)),
    join_of(t(s1_after), t(s1)), join_of(w(s0_before), w(s0)), join_of(w(s1_after), t(s1)),
    join_of(w(last), t(s0), t(b0)), join_of(w(last), w(s0)),
    // distances, and what lies between
    join_of(t(s0), t(b0), far(b0)), join_of(t(s1), t(s0), t(b0), far(s0)), join_of(w(b0), inside(b0)),
    join_of(t(b0), inside(b0)), join_of(t(s1), t(s0), t(b0), inside(s0)), join_of(end(s0), t(b0), inside(b0)),
    // numbers of children
    join_of(w(s0), nl(s0)), join_of(t(b0), nl(b0)), join_of(t(s1), nr(s1)),
    // labels of children
    join_of(t(s0), lr(s0)), join_of(t(s0), ll(s0)), join_of(t(b0), ll(b0)), join_of(w(s1), lr(s1), t(b0)),
    join_of(t(s1), ll(s1), lr(s1)), join_of(t(s0), ll(s0), lr(s0), t(b0)), join_of(t(s1), t(s0), t(b0), ll(b0)),
    join_of(w(s1), ll(s1), lr(s1)),
    // children
    join_of(t(s0), t(s0l), t(b0)), join_of(t(s0), t(s0r), t(b0)), join_of(t(s0), t(b0), t(b0l)),
    join_of(t(s1), t(s0), t(s0r)), join_of(w(s1), t(s1), w(s0l)), join_of(t(s0l)), join_of(w(s0r)), join_of(t(s0r)),
    join_of(w(s1l)), join_of(l(s1l)), join_of(t(s1r)), join_of(w(b0l)), join_of(t(b0l)), join_of(l(b0l)),
    join_of(l(s0l2)), join_of(t(s0r2)), join_of(t(b0l2)), join_of(l(b0l2)), join_of(t(s1), t(s1r), t(s1r2)),
    join_of(w(s1r), t(s1), t(s0)), join_of(w(s0), w(b0l)), join_of(t(s1), l(s0l), t(s0)), join_of(t(s1), l(s1l), t(s0)),
    join_of(w(b0l), t(s0)), join_of(w(s0l), t(b0)), join_of(t(s1), t(s0), l(b0l)), join_of(w(s0), w(s0r), t(b0)),
    join_of(w(s1), w(s1r), t(s0)), join_of(w(b0), w(b0l), t(s0)), join_of(w(s0), w(s0r)),
    // shapes and affixes, for rare words
    join_of(end(s0), t(s0)), join_of(end(b0), t(b0)), join_of(look(b0), t(b0)), join_of(end(b1), t(b0)),
    join_of(look(s0), look(b0)), join_of(look(s1), look(s0)), join_of(look(b1), t(b1)), join_of(look(b0), t(s0), t(b0)),
    join_of(look(b0), look(b1)), join_of(end(s0), look(s0), t(s0), t(b0)), join_of(begin(s1), t(s1)),
    join_of(end(s2), t(s2)), join_of(end(s0l), t(s0)),
};

constexpr std::array label_templates{
    join_of(on(c), t(c)), join_of(look(c), t(c)), join_of(on(c), t(h), t(c), w(cl)), join_of(on(c), t(h), t(c), l(cl)),
    join_of(on(c), t(h), t(c), w(cr)), join_of(on(c), w(h), w(cl)), join_of(w(c), w(cl)), join_of(on(c), t(c), lr(c)),
    join_of(on(c), t(h), t(c), ll(h)), join_of(on(c), t(h), t(c), l(hl)), join_of(on(c), t(h), t(c), t(c_before)),
    join_of(on(c), t(h), t(c), t(c_after)), join_of(on(c), t(h), t(c), t(h_before)),
    join_of(on(c), t(h), t(c), t(h_after)), join_of(on(c), w(c_before), t(c)), join_of(on(c), w(c_after), t(c)),
    join_of(on(c), t(h), t(c), nl(h)), join_of(on(c), t(h), end(c), t(c)), join_of(on(c), begin(c), t(c)),
    join_of(w(c), w(c_after)), join_of(on(c), w(c), lr(c)), join_of(on(c), t(c), ll(c), lr(c)),
    join_of(on(c), t(h), t(c), w(hr)), join_of(on(c), t(h), t(c), l(cl2)), join_of(on(c), t(h), t(c), l(hr2)),
    join_of(on(c), t(c), t(c_before), t(c_before2)), join_of(on(c), t(h), t(c), w(h_after)),
    join_of(on(c), t(h), t(c), w(h_before)), join_of(on(c), t(h), w(c), inside(c)), join_of(on(c), w(c), w(n)),
    join_of(on(c), w(h), l(hr), t(c)), join_of(on(c), end(c), ll(c)), join_of(look(h), t(h), t(c)),
    join_of(on(c), end(h), lr(h), t(c)), join_of(on(c), t(c), w(c_after), w(c_after2)), join_of(on(c), begin(h), t(c)),
};

// The templates of an arc alone. The first one consists of both tags.
constexpr std::array arc_templates{
    join_of(on(c), t(h), t(c)), join_of(on(c), w(h), t(h)), join_of(on(c), w(h)), join_of(on(c), t(h)),
    join_of(on(c), w(c), t(c)), join_of(on(c), w(c)), join_of(on(c), t(c)),
    join_of(on(c), w(h), w(c)), join_of(on(c), w(h), t(c)), join_of(on(c), t(h), w(c)),
    join_of(on(c), w(h), t(h), t(c)), join_of(on(c), t(h), w(c), t(c)), join_of(on(c), end(h), end(c)),
    join_of(on(c), end(h), t(c)), join_of(on(c), t(h), end(c)),
    join_of(t(h), t(h_after), t(c_before), t(c)), join_of(t(h_before), t(h), t(c_before), t(c)),
    join_of(t(h), t(h_after), t(c), t(c_after)), join_of(t(h_before), t(h), t(c), t(c_after)),
    join_of(on(c), t(h), t(c_before), t(c)), join_of(on(c), t(h), t(c), t(c_after)),
    join_of(on(c), t(h_before), t(h), t(c)), join_of(on(c), t(h), t(h_after), t(c)),
};
// clang-format on

constexpr std::uint64_t atom_of_number(std::uint64_t number) {
    std::uint64_t z = number + 0x2545f4914f6cdd1d;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93;
    return z ^ (z >> 32);
}

// The atoms that some templates have.
template <const auto& templates>
struct atoms_of {
    static constexpr std::array<bool, node_count * property_count> used = [] {
        std::array<bool, node_count * property_count> found{};
        for (const feature_template& one : templates)
            for (std::size_t i = 0; i < one.size; ++i) found[one.atoms[i].place()] = true;
        return found;
    }();
    static constexpr std::size_t count = static_cast<std::size_t>(std::ranges::count(used, true));
    static constexpr std::array<atom, count> all = [] {
        std::array<atom, count> found{};
        std::size_t at = 0;
        for (std::size_t place = 0; place < used.size(); ++place)
            if (used[place])
                found[at++] = {static_cast<node>(place / property_count),
                               static_cast<property>(place % property_count)};
        return found;
    }();
    static constexpr std::array<std::uint64_t, templates.size()> seeds = [] {
        std::array<std::uint64_t, templates.size()> made{};
        for (std::size_t i = 0; i < made.size(); ++i)
            for (std::size_t j = 0; j < templates[i].size; ++j)
                made[i] = atom_of_number(made[i] + 1 + templates[i].atoms[j].place());
        return made;
    }();
};

// ---- the parts of a state

// What an atom of a state depends on: words on the stack and the next word of the buffer, from which their neighbours
// follow, and the children of some of them.
enum part : unsigned { next_word = 1, top = 2, second = 4, third = 8, next_kids = 16, top_kids = 32, second_kids = 64 };

constexpr unsigned parts_of(atom one) {
    const bool pair = one.what == distance || one.what == side || one.what == between;
    const bool of_kids = one.what == lefts || one.what == rights || one.what == left_labels || one.what == right_labels;
    switch (one.of) {
        case b0: return next_word | (pair ? top : 0u) | (of_kids ? next_kids : 0u);
        case b1:
        case b2:
        case b3:
        case b0_before: return next_word;
        case s0: return top | (pair ? second : 0u) | (of_kids ? top_kids : 0u);
        case s0_before:
        case s0_after: return top;
        case s1: return second | (of_kids ? second_kids : 0u);
        case s1_before:
        case s1_after: return second;
        case s2: return third;
        case s0l:
        case s0l2:
        case s0r:
        case s0r2: return top | top_kids;
        case s1l:
        case s1r:
        case s1r2: return second | second_kids;
        case b0l:
        case b0l2: return next_word | next_kids;
        case last: return 0;
        default: return ~0u;  // nodes of arcs
    }
}
constexpr unsigned parts_of(const feature_template& one) {
    unsigned found = 0;
    for (std::size_t i = 0; i < one.size; ++i) found |= parts_of(one.atoms[i]);
    return found;
}

// Groups of templates by the parts of a state that they depend on. Many states agree in some of these parts. The last
// group has all other templates.
constexpr unsigned all_parts = next_word | top | second | third | next_kids | top_kids | second_kids;
constexpr std::array<unsigned, 6> move_groups{
    next_word | top,
    next_word | top | second,
    next_word | top | top_kids,
    next_word | next_kids | top,
    second | second_kids | top,
    all_parts,
};

// The first group to which a template belongs.
constexpr std::size_t group_of(const feature_template& one) {
    std::size_t group = 0;
    while (group < move_groups.size() && (parts_of(one) & ~move_groups[group]) != 0) ++group;
    return group;
}
static_assert(std::ranges::all_of(move_templates,
                                  [](const feature_template& one) { return group_of(one) < move_groups.size(); }));
template <std::size_t group>
constexpr auto templates_of_group = [] {
    constexpr auto belongs = [](const feature_template& one) { return group_of(one) == group; };
    std::array<feature_template, static_cast<std::size_t>(std::ranges::count_if(move_templates, belongs))> found{};
    std::ranges::copy_if(move_templates, found.begin(), belongs);
    return found;
}();

}  // namespace tree

// Reads the keys of all features of a state, or of an arc that is to be made in it.
class feature_reader {
  public:
    static constexpr std::size_t move_keys = tree::move_templates.size();
    static constexpr std::size_t label_keys = tree::label_templates.size();
    static constexpr std::size_t arc_keys = tree::arc_templates.size();
    static constexpr std::size_t tags_of_arc = 0;  // the number of the template of both tags

    void start(std::span<const tree_word> sentence) { words = sentence; }

    // The word at each node; no_word if there is none.
    using nodes = std::array<std::int32_t, tree::node_count>;

    void find_nodes(const parse_state& state, nodes& at) const {
        using namespace tree;
        for (std::size_t i = 0; i < 3; ++i) at[s0 + i] = state.on_stack(i);
        for (std::size_t i = 0; i < 4; ++i) at[b0 + i] = state.waiting(static_cast<std::int32_t>(i));
        at[last] = state.size() - 1;
        at[s0_before] = before(at[s0]), at[s0_after] = after(state, at[s0]);
        at[s1_before] = before(at[s1]), at[s1_after] = after(state, at[s1]);
        at[b0_before] = before(at[b0]);
        const found_word &top = found(state, at[s0]), &second = found(state, at[s1]), &next = found(state, at[b0]);
        at[s0l] = top.left[0], at[s0l2] = top.left[1], at[s0r] = top.right[0], at[s0r2] = top.right[1];
        at[s1l] = second.left[0], at[s1r] = second.right[0], at[s1r2] = second.right[1];
        at[b0l] = next.left[0], at[b0l2] = next.left[1];
    }
    void find_nodes(const parse_state& state, move how, nodes& at) const {
        using namespace tree;
        find_neighbours(state, state.head_by(how), state.child(), at);
        at[n] = state.waiting(how == move::left ? 1 : 0);
        const found_word &head = state[at[h]], &child = state[at[c]];
        at[cl] = child.left[0], at[cl2] = child.left[1], at[cr] = child.right[0];
        at[hl] = head.left[0], at[hr] = head.right[0], at[hr2] = head.right[1];
    }

    void moves(const parse_state& state, std::uint64_t* keys) const {
        nodes at;
        find_nodes(state, at);
        write_keys<tree::move_templates>(state, at, keys);
    }
    // The keys of one group of templates. Returns their number.
    template <std::size_t group>
    std::size_t moves_of_group(const parse_state& state, const nodes& at, std::uint64_t* keys) const {
        write_keys<tree::templates_of_group<group>>(state, at, keys);
        return tree::templates_of_group<group>.size();
    }
    void labels(const parse_state& state, move how, std::uint64_t* keys) const {
        nodes at;
        find_nodes(state, how, at);
        write_keys<tree::label_templates>(state, at, keys);
    }

    // Returns the atom of the arc's side and length.
    std::uint64_t arcs(const parse_state& state, std::int32_t head, std::int32_t child, std::uint64_t* keys) const {
        using namespace tree;
        nodes at;
        find_neighbours(state, head, child, at);
        write_keys<arc_templates>(state, at, keys);
        return std::rotl(value<far(c)>(state, at), 29) ^ std::rotl(value<on(c)>(state, at), 7);
    }

  private:
    static constexpr found_word nothing{};
    static const found_word& found(const parse_state& state, std::int32_t word) {
        return word == no_word ? nothing : state[word];
    }

    // The neighbours of a word; none if there is no word.
    static std::int32_t before(std::int32_t word) { return std::max(word - 1, no_word); }
    static std::int32_t after(const parse_state& state, std::int32_t word) {
        return word == no_word || word >= state.size() ? no_word : word + 1;
    }
    void find_neighbours(const parse_state& state, std::int32_t head, std::int32_t child, nodes& at) const {
        using namespace tree;
        at[h] = head, at[c] = child;
        at[h_before] = before(head), at[h_after] = after(state, head);
        at[c_before] = before(child), at[c_before2] = before(at[c_before]);
        at[c_after] = after(state, child), at[c_after2] = after(state, at[c_after]);
    }

    // Numbers of different kinds have different atoms.
    static constexpr std::uint64_t small_atoms = 1024, of_nobody = 256, of_root = 263, of_distance = 270, of_side = 290,
                                   of_label = 300;
    static constexpr std::array<std::uint64_t, small_atoms> numbers = [] {
        std::array<std::uint64_t, small_atoms> made{};
        for (std::size_t i = 0; i < small_atoms; ++i) made[i] = tree::atom_of_number(i);
        return made;
    }();
    static constexpr auto seen_of = [](std::size_t kind) {
        return tree_word{.word = numbers[kind],
                         .tag = numbers[kind + 1],
                         .suffix = numbers[kind + 2],
                         .prefix = numbers[kind + 3],
                         .shape = numbers[kind + 4]};
    };
    static constexpr tree_word nobody_seen = seen_of(of_nobody), root_seen = seen_of(of_root);

    // 1 to 4, 5 to 7, 8 to 15, more
    static std::uint64_t distance_atom(std::int32_t one, std::int32_t other) {
        const std::int32_t distance = std::abs(one - other);
        const int kind = distance <= 4 ? distance : distance < 8 ? 5 : distance < 16 ? 6 : 7;
        return numbers[of_distance + static_cast<std::size_t>(kind)];
    }

    // Sets differ unless both bits of a tag belong to other tags. The first bit distinguishes an empty set from a
    // missing node.
    std::uint64_t tags_between(std::int32_t one, std::int32_t other) const {
        const auto [first, last] = std::minmax(one, other);
        std::uint64_t bits = 1;
        for (std::int32_t i = first + 1; i < last; ++i) bits |= words[static_cast<std::size_t>(i)].tag_bits;
        return mix(bits);
    }

    template <tree::atom which>
    std::uint64_t value(const parse_state& state, const nodes& at) const {
        using namespace tree;
        constexpr node of = which.of;
        constexpr property what = which.what;
        const std::int32_t here = at[of];
        if constexpr (what == word || what == tag || what == suffix || what == prefix || what == shape) {
            const tree_word& seen = here == no_word ? nobody_seen
                                    : static_cast<std::size_t>(here) < words.size()
                                        ? words[static_cast<std::size_t>(here)]
                                        : root_seen;
            if constexpr (what == word) return seen.word;
            if constexpr (what == tag) return seen.tag;
            if constexpr (what == suffix) return seen.suffix;
            if constexpr (what == prefix) return seen.prefix;
            return seen.shape;
        } else if constexpr (what == label) {
            if (here == no_word) return 0;
            const std::size_t number = of_label + found(state, here).label;
            return number < small_atoms ? numbers[number] : atom_of_number(number);
        } else if constexpr (what == distance || what == side || what == between) {
            constexpr node other = of == b0 ? s0 : of == s0 ? s1 : h;
            static_assert(of == b0 || of == s0 || of == c);
            if (here == no_word || at[other] == no_word) return 0;
            if constexpr (what == between) return tags_between(here, at[other]);
            return what == side ? numbers[of_side + (here < at[other])] : distance_atom(here, at[other]);
        } else {
            const found_word& one = found(state, here);
            if constexpr (what == lefts) return numbers[one.left_count];
            if constexpr (what == rights) return numbers[one.right_count];
            if constexpr (what == left_labels) return mix(one.left_labels);
            if constexpr (what == right_labels) return mix(one.right_labels);
        }
    }

    // Atoms are well mixed, and so is their combination, in which each is rotated by its own number of bits. No key is
    // 0.
    template <tree::feature_template which>
    static std::uint64_t key(std::uint64_t seed, const std::uint64_t* values) {
        std::uint64_t made = seed;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((made ^= std::rotl(values[which.atoms[i].place()], 17 * i)), ...);
        }(std::make_index_sequence<which.size>());
        return made | (made == 0);
    }

    // The compiler unrolls this, atom by atom and template by template.
    template <const auto& templates>
    void write_keys(const parse_state& state, const nodes& at, std::uint64_t* keys) const {
        using atoms = tree::atoms_of<templates>;
        std::array<std::uint64_t, tree::node_count * tree::property_count> values;
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((values[atoms::all[i].place()] = value<atoms::all[i]>(state, at)), ...);
        }(std::make_index_sequence<atoms::count>());
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((keys[i] = key<templates[i]>(atoms::seeds[i], values.data())), ...);
        }(std::make_index_sequence<templates.size()>());
    }

    std::span<const tree_word> words;
};

}  // namespace markone

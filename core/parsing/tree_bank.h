// Checks and conversions of trees.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "parsing/transitions.h"
#include "parsing/tree_features.h"
#include "readers/columns.h"

namespace markone {

// Converts heads of CoNLL-U, which are counted from 1 with 0 for the root, to our numbers and back.
inline std::int32_t own_head(std::int32_t head, std::size_t size) {
    return head == 0 ? static_cast<std::int32_t>(size) : head - 1;
}
inline std::int32_t written_head(std::int32_t head, std::size_t size) {
    return head == static_cast<std::int32_t>(size) ? 0 : head + 1;
}

// Whether these heads, counted as in CoNLL-U, form a tree with one root.
inline bool is_tree(std::span<const std::int32_t> heads) {
    const std::array<std::int64_t, 2> starts{0, static_cast<std::int64_t>(heads.size())};
    return !find_bad_tree(starts, heads).has_value();
}

// Lifts arcs until the tree is projective (Nivre & Nilsson 2005). An arc is not projective if it spans a word that is
// not a descendant of its head. The shortest such arc, or the first among equals, moves to the head of its head.
// Returns the number of lifted arcs. The heads have our numbers, and one word is the child of the root. All words are
// its descendants, so its own arcs are never lifted, and it stays the only child.
inline std::size_t make_projective(std::span<std::int32_t> heads) {
    const auto size = static_cast<std::int32_t>(heads.size());
    const auto head_of = [&](std::int32_t word) { return heads[static_cast<std::size_t>(word)]; };
    const auto is_below = [&](std::int32_t word, std::int32_t above) {
        while (word != above && word != size) word = head_of(word);
        return word == above;
    };
    for (std::size_t lifted = 0;; ++lifted) {
        std::int32_t shortest = size + 1, which = no_word;
        for (std::int32_t child = 0; child < size; ++child) {
            const std::int32_t head = head_of(child);
            const auto [first, last] = std::minmax(child, head);
            if (last - first >= shortest) continue;
            std::int32_t between = first + 1;
            while (between < last && is_below(between, head)) ++between;
            if (between < last) {
                shortest = last - first;
                which = child;
            }
        }
        if (which == no_word) return lifted;
        heads[static_cast<std::size_t>(which)] = head_of(head_of(which));
    }
}

}  // namespace markone

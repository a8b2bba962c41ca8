// The arc-hybrid system (Kuhlmann, Gómez-Rodríguez & Satta 2011), with the root after the last word.
//
// Words wait in a buffer and go through a stack. `shift` pushes the next word on the stack. `left` pops the topmost
// word s0 and makes it a child of the next word b0. `right` pops it and makes it a child of the word under it, s1. The
// root is never shifted, so each of n words is pushed once and popped once, in 2n moves, and all of them get a head.
// The last word on the stack becomes the root's only child.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace markone {

enum class move : std::uint8_t { shift, left, right };
constexpr std::size_t move_count = 3;

constexpr std::int32_t no_word = -1;
constexpr std::uint16_t no_label = 0xffff;

// The known arcs of a word: its head, the last two children on each side, and the numbers and labels of its children.
struct found_word {
    std::int32_t head = no_word;
    std::array<std::int32_t, 2> left{no_word, no_word};  // the last one found, and the one before it
    std::array<std::int32_t, 2> right{no_word, no_word};
    std::uint16_t label = no_label;
    std::uint8_t left_count = 0, right_count = 0;  // never more than `most_children`
    std::uint64_t left_labels = 0, right_labels = 0;
    std::uint64_t number = 0;  // of this word with these children, if the search has given it one
};
constexpr std::uint8_t most_children = 255;

// A sentence that is being parsed. Words are numbered from 0, and the root is number `size`.
class parse_state {
  public:
    void start(std::size_t size) {
        count = static_cast<std::int32_t>(size);
        next = 0;
        words.assign(size + 1, found_word{});
        stack.clear();
        stack.reserve(size + 1);
    }
    // Copies another state of the same sentence. Words that neither has reached yet need no copy.
    void copy(const parse_state& from) {
        const std::int32_t reached = std::max(next, from.next) + 1;
        if (count != from.count || words.size() != from.words.size()) {
            words = from.words;
        } else {
            const auto known = static_cast<std::size_t>(std::min(reached, count + 1));
            std::copy_n(from.words.begin(), known, words.begin());
        }
        count = from.count;
        next = from.next;
        stack = from.stack;
    }

    std::int32_t size() const { return count; }
    bool done() const { return next == count && stack.empty(); }
    // The words on the stack from the top, and those that wait.
    std::int32_t on_stack(std::size_t depth) const {
        return depth < stack.size() ? stack[stack.size() - 1 - depth] : no_word;
    }
    std::int32_t waiting(std::int32_t ahead) const { return next + ahead <= count ? next + ahead : no_word; }
    std::size_t height() const { return stack.size(); }
    std::span<const std::int32_t> stacked() const { return stack; }
    const found_word& operator[](std::int32_t word) const { return words[static_cast<std::size_t>(word)]; }

    // Only one word can be the root's child, so it must be the last one that is left.
    bool allows(move how) const {
        switch (how) {
            case move::shift: return next < count;
            case move::left: return !stack.empty() && (next < count || stack.size() == 1);
            case move::right: return stack.size() >= 2;
        }
        return false;
    }

    // The arc that a move would make.
    std::int32_t head_by(move how) const { return how == move::left ? next : stack[stack.size() - 2]; }
    std::int32_t child() const { return stack.back(); }

    void shift() { stack.push_back(next++); }
    void attach(move how, std::uint16_t label) {
        const std::int32_t head = head_by(how), child = stack.back();
        stack.pop_back();
        words[static_cast<std::size_t>(child)].head = head;
        words[static_cast<std::size_t>(child)].label = label;
        found_word& parent = words[static_cast<std::size_t>(head)];
        const std::uint64_t bit = std::uint64_t{1} << label % 64;
        if (how == move::left)
            add(parent.left, parent.left_count, parent.left_labels, child, bit);
        else
            add(parent.right, parent.right_count, parent.right_labels, child, bit);
    }
    void make(move how, std::uint16_t label) {
        if (how == move::shift)
            shift();
        else
            attach(how, label);
    }
    void set_number(std::int32_t word, std::uint64_t number) { words[static_cast<std::size_t>(word)].number = number; }

  private:
    static void add(std::array<std::int32_t, 2>& children, std::uint8_t& counted, std::uint64_t& labels,
                    std::int32_t child, std::uint64_t bit) {
        children = {child, children[0]};
        if (counted < most_children) ++counted;
        labels |= bit;
    }

    std::int32_t count = 0;
    std::int32_t next = 0;  // the first word of the buffer
    std::vector<std::int32_t> stack;
    std::vector<found_word> words;
};

// The dynamic oracle (Goldberg & Nivre 2013). The cost of a move is the number of arcs of the gold tree that can be
// reached before it, but not after it. Since the tree is projective, arcs are lost independently of each other. So
// there is always a move that costs nothing, and the costs of all moves add up to the number of wrong heads.
//
// The root has one child, the last word on the stack. Its arc is lost when another word lies under that child.
class tree_oracle {
  public:
    // The heads, numbered as in the state: the number of the root is the number of words.
    explicit tree_oracle(std::span<const std::int32_t> heads) : heads(heads) {}

    static constexpr int forbidden = std::numeric_limits<int>::max();

    std::array<int, move_count> costs(const parse_state& state) const {
        std::array<int, move_count> found;
        for (std::size_t i = 0; i < move_count; ++i)
            found[i] = state.allows(static_cast<move>(i)) ? cost(state, static_cast<move>(i)) : forbidden;
        return found;
    }
    // A move with the least cost. Moves that make arcs come before `shift`.
    move best(const parse_state& state) const {
        const std::array<int, move_count> found = costs(state);
        const auto [shift, left, right] = found;
        if (left <= shift && left <= right) return move::left;
        return right <= shift ? move::right : move::shift;
    }
    int cost(const parse_state& state, move how) const {
        const std::int32_t next = state.waiting(0), root = state.size();
        if (how == move::shift) {
            const std::int32_t head = heads[static_cast<std::size_t>(next)];
            int lost = head == root && state.height() > 0;
            const std::span<const std::int32_t> stack = state.stacked();
            for (std::size_t i = 0; i < stack.size(); ++i) {
                lost += heads[static_cast<std::size_t>(stack[i])] == next;
                lost += i + 1 < stack.size() && stack[i] == head;
            }
            return lost;
        }
        const std::int32_t child = state.child(), head = heads[static_cast<std::size_t>(child)];
        int lost = 0;
        for (std::int32_t word = next; word < root; ++word) lost += heads[static_cast<std::size_t>(word)] == child;
        if (head == root)
            lost += state.height() == 1 && !(how == move::left && next == root);
        else if (how == move::left)
            lost += head > next || head == state.on_stack(1);
        else
            lost += head >= next;
        return lost;
    }

  private:
    std::span<const std::int32_t> heads;
};

}  // namespace markone

// Eisner's algorithm: the best projective tree, if the score of a tree is the sum of its arcs' scores (Eisner 1996;
// McDonald, Crammer & Pereira 2005). It is the lecture's argmax over trees, in time n^3.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace markone {

// The score of each arc from a head to a child; the head of number `size` is the root.
class arc_scores {
  public:
    void start(std::size_t words) {
        size = words;
        scores.assign((words + 1) * words, 0);
    }
    std::size_t words() const { return size; }
    double& operator()(std::size_t head, std::size_t child) { return scores[head * size + child]; }
    double operator()(std::size_t head, std::size_t child) const { return scores[head * size + child]; }

  private:
    std::size_t size = 0;
    std::vector<double> scores;
};

// A span goes from one word to another, and one of its ends is the head of all words in it. It is either complete, or
// open: then it consists of the arc from its head to its other end, which may still get children on the outside. An
// open span joins two adjacent complete spans. A complete span is an open one and the complete one after it. The root
// has one child, which is the head of a complete span to the left and of one to the right.
class eisner {
  public:
    // The heads of the best tree. The number of the root is the number of words. Among equal trees, the one with the
    // first split point is chosen.
    void best_tree(const arc_scores& arcs, std::vector<std::int32_t>& heads) {
        const std::size_t size = arcs.words();
        heads.assign(size, 0);
        if (size == 0) return;
        n = size;
        for (auto& one : open) one.assign(n * n, {});
        for (auto& one : whole) one.assign(n * n, {});
        for (std::size_t length = 1; length < n; ++length)
            for (std::size_t first = 0; first + length < n; ++first) {
                const std::size_t last = first + length;
                best_of(first, last, [&](std::size_t at) {
                    return cell(whole, right, first, at).score + cell(whole, left, at + 1, last).score;
                });
                cell(open, right, first, last) = {found.score + arcs(first, last), found.at};
                cell(open, left, first, last) = {found.score + arcs(last, first), found.at};
                best_of(first, last, [&](std::size_t at) {
                    return cell(open, right, first, at + 1).score + cell(whole, right, at + 1, last).score;
                });
                cell(whole, right, first, last) = {found.score, found.at + 1};
                best_of(first, last, [&](std::size_t at) {
                    return cell(whole, left, first, at).score + cell(open, left, at, last).score;
                });
                cell(whole, left, first, last) = found;
            }
        best_of(0, n, [&](std::size_t at) {
            return arcs(n, at) + cell(whole, left, 0, at).score + cell(whole, right, at, n - 1).score;
        });
        const std::size_t top = found.at;
        heads[top] = static_cast<std::int32_t>(n);
        read_whole(left, 0, top, heads);
        read_whole(right, top, n - 1, heads);
    }

  private:
    // The direction of a span's arcs. If they go to the right, its head is its first word.
    enum side : std::size_t { left, right };
    struct span_score {
        double score = 0;
        std::size_t at = 0;  // the split point
    };
    using spans = std::array<std::vector<span_score>, 2>;

    span_score& cell(spans& of, side way, std::size_t first, std::size_t last) { return of[way][first * n + last]; }

    template <class Score>
    void best_of(std::size_t first, std::size_t last, Score score) {
        found = {-std::numeric_limits<double>::infinity(), first};
        for (std::size_t at = first; at < last; ++at)
            if (const double here = score(at); here > found.score) found = {here, at};
    }
    void read_whole(side way, std::size_t first, std::size_t last, std::vector<std::int32_t>& heads) {
        while (first != last) {
            const std::size_t at = cell(whole, way, first, last).at;
            if (way == right) {
                heads[at] = static_cast<std::int32_t>(first);
                read_open(right, first, at, heads);
                first = at;
            } else {
                heads[at] = static_cast<std::int32_t>(last);
                read_open(left, at, last, heads);
                last = at;
            }
        }
    }
    void read_open(side way, std::size_t first, std::size_t last, std::vector<std::int32_t>& heads) {
        const std::size_t at = cell(open, way, first, last).at;
        read_whole(right, first, at, heads);
        read_whole(left, at + 1, last, heads);
    }

    std::size_t n = 0;
    spans open, whole;
    span_score found;
};

}  // namespace markone

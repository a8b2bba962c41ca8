// The best sequence of tags: by Viterbi's algorithm, which is exact, or by a beam. Compiled once for each level of
// processors (loops.h).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tagging/sequence.h"

namespace markone {

namespace MARKONE_LEVEL {

namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

// Rows of scores are padded, so that a register has only numbers of one row.
constexpr std::size_t lanes = 8;
constexpr std::size_t padded(std::size_t tags) {
    return (tags + lanes - 1) / lanes * lanes;
}

// The scores for a search.
struct lattice {
    std::size_t tags, width;
    std::span<const float> moves;  // a row for the tag before, the last one for the beginning: -inf where forbidden
    std::span<const float> into;   // the same with a row for the tag after, without the beginning
    std::span<const float> ends;   // 0, or -inf
};

// The moves with a row for the tag after.
void turn_moves(std::span<const float> moves, std::size_t tags, std::vector<float>& into) {
    const std::size_t width = padded(tags);
    into.assign(tags * width, never);
    for (std::size_t before = 0; before < tags; ++before)
        for (std::size_t tag = 0; tag < tags; ++tag) into[tag * width + before] = moves[before * width + tag];
}

// The best score of each of some tags.
template <std::size_t count>
void step_block(const float* before, std::size_t tags, const float* moves, std::size_t width, float* best) {
    std::array<float, count> top;
    top.fill(never);
    for (std::size_t p = 0; p < tags; ++p) {
        const float score = before[p];
        const float* const row = moves + p * width;
        for (std::size_t j = 0; j < count; ++j) {
            const float candidate = score + row[j];
            top[j] = candidate > top[j] ? candidate : top[j];
        }
    }
    std::copy(top.begin(), top.end(), best);
}

void step(const float* before, const lattice& over, float* best) {
    std::size_t at = 0;
    const float* const moves = over.moves.data();
    for (; at + 4 * lanes <= over.width; at += 4 * lanes)
        step_block<4 * lanes>(before, over.tags, moves + at, over.width, best + at);
    const std::size_t left = (over.width - at) / lanes;
    if (left == 3) step_block<3 * lanes>(before, over.tags, moves + at, over.width, best + at);
    if (left == 2) step_block<2 * lanes>(before, over.tags, moves + at, over.width, best + at);
    if (left == 1) step_block<lanes>(before, over.tags, moves + at, over.width, best + at);
}

// The previous tag that leads to the best score of a tag; the first one among equals. Only the tags of the best
// sequence need it, so it is not computed with the scores.
std::size_t step_back(const float* before, const lattice& over, std::size_t tag) {
    const float* const moves = over.into.data() + tag * over.width;
    std::array<float, lanes> best;
    best.fill(never);
    for (std::size_t p = 0; p < over.width; p += lanes)
        for (std::size_t j = 0; j < lanes; ++j) {
            const float candidate = before[p + j] + moves[p + j];
            best[j] = candidate > best[j] ? candidate : best[j];
        }
    const float top = *std::ranges::max_element(best);
    std::size_t p = 0;
    while (p + 1 < over.tags && before[p] + moves[p] != top) ++p;
    return p;
}

// Viterbi's algorithm (1967): the best sequence that ends in a tag extends a best sequence that ends in another tag.
class viterbi {
  public:
    // The best of all sequences, for local scores with a padded row for each token.
    void find(const lattice& over, std::span<const float> local, std::span<std::uint32_t> path) {
        const std::size_t length = path.size(), width = over.width;
        if (length == 0) return;
        forward(over, local, length);
        const float* const last = alpha.data() + (length - 1) * width;
        std::size_t best = 0;
        for (std::size_t j = 1; j < over.tags; ++j)
            if (last[j] + over.ends[j] > last[best] + over.ends[best]) best = j;
        if (last[best] + over.ends[best] == never) throw std::invalid_argument("no sequence of tags is allowed");
        for (std::size_t i = length; i-- > 0;) {
            path[i] = static_cast<std::uint32_t>(best);
            if (i > 0) best = step_back(alpha.data() + (i - 1) * width, over, best);
        }
    }

    // The score of the best sequence through each tag of each token.
    void through(const lattice& over, std::span<const float> local, std::size_t length, float* out) {
        if (length == 0) return;
        const std::size_t width = over.width;
        forward(over, local, length);
        std::vector<float> after(over.ends.begin(), over.ends.end()), before(over.tags);
        for (std::size_t i = length; i-- > 0;) {
            for (std::size_t j = 0; j < over.tags; ++j) out[i * over.tags + j] = alpha[i * width + j] + after[j];
            if (i == 0) break;
            for (std::size_t p = 0; p < over.tags; ++p) {
                before[p] = never;
                for (std::size_t j = 0; j < over.tags; ++j)
                    before[p] = std::max(before[p], over.moves[p * width + j] + local[i * width + j] + after[j]);
            }
            after.swap(before);
        }
    }

    // At most k best sequences. Each tag of each token keeps the k best sequences that end in it.
    static std::vector<found_sequence> best(const lattice& over, std::span<const float> local, std::size_t length,
                                            std::size_t count) {
        struct way {
            double score;
            std::uint32_t tag, rank;  // of the way before
        };
        const auto better = [](const way& one, const way& other) {
            return one.score != other.score ? one.score > other.score
                                            : std::pair(one.tag, one.rank) < std::pair(other.tag, other.rank);
        };
        const auto keep = [&](std::vector<way>& ways) {
            std::erase_if(ways, [](const way& one) { return one.score == double{never}; });
            const std::size_t kept = std::min(count, ways.size());
            std::partial_sort(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(kept), ways.end(), better);
            ways.resize(kept);
        };
        std::vector<std::vector<way>> ways(length * over.tags);
        for (std::size_t i = 0; i < length; ++i)
            for (std::size_t j = 0; j < over.tags; ++j) {
                auto& mine = ways[i * over.tags + j];
                const float here = local[i * over.width + j];
                if (i == 0) mine.push_back({double{over.moves[over.tags * over.width + j]} + double{here}, 0, 0});
                for (std::size_t p = 0; i != 0 && p < over.tags; ++p) {
                    const auto& before = ways[(i - 1) * over.tags + p];
                    for (std::size_t rank = 0; rank < before.size(); ++rank)
                        mine.push_back({before[rank].score + double{over.moves[p * over.width + j]} + double{here},
                                        static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(rank)});
                }
                keep(mine);
            }
        std::vector<way> ends;
        if (length == 0) return {{0, {}}};
        for (std::size_t p = 0; p < over.tags; ++p) {
            const auto& last = ways[(length - 1) * over.tags + p];
            for (std::size_t rank = 0; rank < last.size(); ++rank)
                ends.push_back({last[rank].score + double{over.ends[p]}, static_cast<std::uint32_t>(p),
                                static_cast<std::uint32_t>(rank)});
        }
        keep(ends);
        std::vector<found_sequence> found;
        for (const way& end : ends) {
            found.push_back({end.score, std::vector<std::int32_t>(length)});
            way at = end;
            for (std::size_t i = length; i-- > 0;) {
                found.back().tags[i] = static_cast<std::int32_t>(at.tag);
                at = ways[i * over.tags + at.tag][at.rank];
            }
        }
        return found;
    }

  private:
    void forward(const lattice& over, std::span<const float> local, std::size_t length) {
        const std::size_t width = over.width;
        alpha.resize(std::max(alpha.size(), length * width));
        const float* const first = over.moves.data() + over.tags * width;
        for (std::size_t j = 0; j < width; ++j) alpha[j] = first[j] + local[j];
        for (std::size_t i = 1; i < length; ++i) {
            float* const here = alpha.data() + i * width;
            step(here - width, over, here);
            for (std::size_t j = 0; j < width; ++j) here[j] += local[i * width + j];
        }
    }

    std::vector<float> alpha;
};

// The previous tags, the last one first. Before the start of the sentence, it is the number of tags.
struct history {
    std::array<std::uint32_t, templates::longest_memory> tags{};

    static history before_all(std::size_t count) {
        history none;
        none.tags.fill(static_cast<std::uint32_t>(count));
        return none;
    }
    history then(std::size_t tag) const { return {{static_cast<std::uint32_t>(tag), tags[0]}}; }
    bool operator==(const history&) const = default;
};

template <class Path>
history history_at(const Path& path, std::size_t token, std::size_t count) {
    history found = history::before_all(count);
    for (std::size_t back = 1; back <= std::min(token, found.tags.size()); ++back)
        found.tags[back - 1] = static_cast<std::uint32_t>(path[token - back]);
    return found;
}

// Beam search: extends the best partial sequences. If no template can distinguish two of them any more, only the better
// one is kept.
class beam {
  public:
    struct item {
        double score;
        history said;
        std::uint32_t from, tag;
        bool right;  // whether all its tags are right, if this is known
    };

    // Calls add(i, said, scores) to get the scores of all tags of a token after previous tags, and see(i) after each.
    template <class Add, class See>
    void find(const tag_settings& what, std::size_t length, std::size_t memory, std::size_t width, Add add, See see,
              std::span<const std::int32_t> right = {}) {
        const std::size_t count = what.count();
        steps.resize(length);
        scores.resize(padded(count));
        const item start{0, history::before_all(count), 0, 0, !right.empty()};
        for (std::size_t i = 0; i < length; ++i) {
            candidates.clear();
            const std::span<const item> before = i == 0 ? std::span(&start, 1) : std::span(std::as_const(steps[i - 1]));
            for (std::uint32_t from = 0; from < before.size(); ++from) {
                add(i, before[from].said, scores.data());
                for (std::uint32_t tag = 0; tag < count; ++tag)
                    if (what.may(before[from].said.tags[0], tag) && (i + 1 < length || what.may(tag, count)))
                        candidates.push_back({before[from].score + double{scores[tag]}, before[from].said.then(tag),
                                              from, tag,
                                              before[from].right && static_cast<std::uint32_t>(right[i]) == tag});
            }
            if (candidates.empty()) throw std::invalid_argument("no sequence of tags is allowed");
            choose(steps[i], memory, width);
            see(i);
        }
    }
    std::span<const item> at(std::size_t token) const { return steps[token]; }
    // The sequence that ends with an item of a token.
    template <class Path>
    void trace(std::size_t token, std::size_t number, Path& path) const {
        for (std::size_t i = token + 1; i-- > 0;) {
            path[i] = static_cast<std::remove_cvref_t<decltype(path[i])>>(steps[i][number].tag);
            number = steps[i][number].from;
        }
    }

  private:
    void choose(std::vector<item>& kept, std::size_t memory, std::size_t width) {
        const auto better = [](const item& one, const item& other) {
            return one.score != other.score ? one.score > other.score
                                            : std::pair(one.from, one.tag) < std::pair(other.from, other.tag);
        };
        kept.clear();
        if (width == 1) {
            kept.push_back(*std::min_element(candidates.begin(), candidates.end(), better));
            return;
        }
        std::sort(candidates.begin(), candidates.end(), better);
        for (const item& one : candidates) {
            const bool twin = std::any_of(kept.begin(), kept.end(), [&](const item& other) {
                return std::equal(one.said.tags.begin(), one.said.tags.begin() + static_cast<std::ptrdiff_t>(memory),
                                  other.said.tags.begin());
            });
            if (!twin) kept.push_back(one);
            if (kept.size() == width) break;
        }
    }

    std::vector<std::vector<item>> steps;
    std::vector<item> candidates;
    std::vector<float> scores;
};

// The patterns that use previous tags, and those that do not.
struct divided_patterns {
    std::vector<std::size_t> local, looking_back;

    divided_patterns(const templates& how, decoder decode) {
        for (std::size_t p = 0; p < how.patterns.size(); ++p) {
            const pattern& one = how.patterns[p];
            (one.tags.empty() ? local : looking_back).push_back(p);
            const bool alone = one.pieces.empty() && one.tags == std::vector<std::size_t>{1};
            if (decode == decoder::viterbi && !one.tags.empty() && !alone)
                throw std::invalid_argument("the exact search can use only one previous tag");
        }
    }
};

std::uint64_t with_tags(std::uint64_t key, const pattern& of, const history& said) {
    for (const std::size_t back : of.tags) key = join(key, sentence_reader::tag_atom(said.tags[back - 1]));
    return key;
}

}  // namespace

}  // namespace MARKONE_LEVEL

}  // namespace markone

// Random orders that depend only on the seed: not on a library's version, the machine or the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace markone {

// SplitMix64 (Steele, Lea & Flood 2014): a counter, mixed.
class random_bits {
  public:
    explicit random_bits(std::uint64_t seed) : counter(seed) {}
    std::uint64_t next() {
        std::uint64_t z = counter += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    // A number below `bound` (at most 2^32): the high half of a product, whose bias of bound / 2^32 at most is too
    // small to matter for an order of rows.
    std::size_t below(std::uint64_t bound) { return static_cast<std::size_t>((next() >> 32) * bound >> 32); }

  private:
    std::uint64_t counter;
};

// The Fisher-Yates shuffle.
template <class Number>
void shuffle(std::span<Number> order, std::uint64_t seed) {
    random_bits random(seed);
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
}

}  // namespace markone

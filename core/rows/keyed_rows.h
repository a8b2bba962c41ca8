// Rows of weights that are found by a 64-bit key, for taggers and parsers, in which new features occur at any step, and
// few weights of a feature change. A row is created when one of its weights first changes, so that features without
// a mistake need no memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hash_table.h"

namespace markone {

// A key from several atoms, which are hashes; it depends on their order and their number.
constexpr std::uint64_t join(std::uint64_t key, std::uint64_t atom) {
    key = (key ^ atom) * 0x9e3779b97f4a7c15;
    return key ^ (key >> 32);
}

// Keys of joined atoms, numbered in the order of their first occurrence.
using row_numbers = numbered_keys<std::uint64_t, multiplied_spread>;

// Arrays of equal length, which do not move in memory when more are added.
template <class T>
class pages {
  public:
    explicit pages(std::size_t width) : width_of_row(width) {}
    T* operator[](std::size_t row) { return blocks[row / rows_in_block].get() + row % rows_in_block * width_of_row; }
    const T* operator[](std::size_t row) const {
        return blocks[row / rows_in_block].get() + row % rows_in_block * width_of_row;
    }
    void copy(const pages& other) {
        grow(other.blocks.size() * rows_in_block);
        for (std::size_t block = 0; block < other.blocks.size(); ++block)
            std::copy_n(other.blocks[block].get(), rows_in_block * width_of_row, blocks[block].get());
    }
    void grow(std::size_t rows) {
        while (blocks.size() * rows_in_block < rows)
            blocks.push_back(std::make_unique<T[]>(rows_in_block * width_of_row));
    }

  private:
    static constexpr std::size_t rows_in_block = 4096;
    std::size_t width_of_row;
    std::vector<std::unique_ptr<T[]>> blocks;
};

// Weights in training, with the sums for averaging: after step T the average of all weights is w - u / T,
// where u is the sum of each change times the number of steps before it.
class learned_rows {
  public:
    explicit learned_rows(std::size_t columns) : count(columns), w(columns), u(columns) {}

    std::size_t columns() const { return count; }
    std::size_t size() const { return numbers.size(); }
    std::span<const std::uint64_t> keys() const { return numbers.keys(); }
    void expect(std::uint64_t key) const { numbers.expect(key); }
    std::uint32_t find(std::uint64_t key) const { return numbers.find(key); }

    const float* weights(std::uint32_t row) const { return w[row]; }
    const double* sums(std::uint32_t row) const { return u[row]; }

    // The row of a key; a new row consists of zeros.
    std::uint32_t row_of(std::uint64_t key) {
        const std::uint32_t row = numbers.find_or_add(key);
        w.grow(row + std::size_t{1});
        u.grow(row + std::size_t{1});
        return row;
    }
    void move(std::uint32_t row, std::size_t column, float amount, double steps_before) {
        w[row][column] += amount;
        u[row][column] += double{amount} * steps_before;
    }
    // Takes over the keys and weights of other rows. Rows that they do not have must consist of zeros.
    void copy_weights(const learned_rows& other) {
        numbers = other.numbers;
        w.copy(other.w);
        u.grow(numbers.size());
    }
    // Restores a saved state.
    void put(std::uint32_t row, std::size_t column, float weight, double sum) {
        w[row][column] = weight;
        u[row][column] = sum;
    }

  private:
    std::size_t count;
    row_numbers numbers;
    pages<float> w;
    pages<double> u;
};

}  // namespace markone

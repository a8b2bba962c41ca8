// Weights that many runs have side by side, and what all of these runs do with a row at once.
//
// Each run rounds as a learner does that is alone: a line of numbers, one for each run, takes the place of a number,
// and the additions of a dot product come in the order that arithmetic.h has.
#pragma once

#include <cstddef>

#include "leave_one_out/replica_rows.h"
#include "online/line.h"

namespace markone::MARKONE_LEVEL {

// Some of the eight partial sums of a panel times a table that has a line for each feature: as many as registers hold.
template <class T>
struct some_sums {
    static constexpr std::size_t registers = line<T>::registers, many = 8 / registers;
    typename line<T>::pack sum[many][registers];

    MARKONE_INLINE some_sums(panel<T> x, std::size_t first, const line<T>* table) {
        for (auto& one : sum)
            for (auto& part : one) part = typename line<T>::pack{};
        for (const eight<T>& some : x)
            for (std::size_t i = 0; i < many; ++i)
                for (std::size_t r = 0; r < registers; ++r)
                    sum[i][r] += table[some.feature[first + i]].part[r] * some.value[first + i];
    }
    MARKONE_INLINE void store(line<T>* out) const {
        for (std::size_t i = 0; i < many; ++i)
            for (std::size_t r = 0; r < registers; ++r) out[i].part[r] = sum[i][r];
    }
};

// All eight. These loops are not inlined, as `dots` is not.
template <class T>
MARKONE_NOINLINE void eight_sums(panel<T> x, const line<T>* table, line<T>* out) {
    for (std::size_t first = 0; first < 8; first += some_sums<T>::many)
        some_sums<T>(x, first, table).store(out + first);
}

// A panel times a table, with eight partial sums.
template <class T>
MARKONE_NOINLINE void dot_lines(panel<T> x, const line<T>* table, line<T>& out) {
    line<T> sums[8];
    for (std::size_t first = 8; first > 0; first -= some_sums<T>::many)
        some_sums<T>(x, first - some_sums<T>::many, table).store(sums + first - some_sums<T>::many);
    fold_lines<8>(sums);
    for (std::size_t r = 0; r < line<T>::registers; ++r) out.part[r] = sums[0].part[r];
}

// Neighbouring columns of a table that has `columns` lines for each feature, in two partial sums each.
template <std::size_t many, class T>
MARKONE_INLINE void sum_columns(panel<T> x, const line<T>* table, std::size_t columns, line<T>* out) {
    constexpr std::size_t registers = line<T>::registers;
    typename line<T>::pack sum[2][many][registers];
    for (auto& side : sum)
        for (auto& column : side)
            for (auto& part : column) part = typename line<T>::pack{};
    for (const eight<T>& some : x)
        for (std::size_t i = 0; i < 8; ++i) {
            const line<T>* const from = table + some.feature[i] * columns;
            for (std::size_t k = 0; k < many; ++k)
                for (std::size_t r = 0; r < registers; ++r) sum[i % 2][k][r] += from[k].part[r] * some.value[i];
        }
    for (std::size_t k = 0; k < many; ++k)
        for (std::size_t r = 0; r < registers; ++r) out[k].part[r] = sum[0][k][r] + sum[1][k][r];
}

template <class T>
MARKONE_NOINLINE void all_columns(panel<T> x, const line<T>* table, std::size_t columns, line<T>* out) {
    std::size_t k = 0;
    for (; k + 2 <= columns; k += 2) sum_columns<2>(x, table + k, columns, out + k);
    if (k < columns) sum_columns<1>(x, table + k, columns, out + k);
}

// One column moves by a factor times the row, for each run by its own. `squares` is what the weights of the row's
// features then have for the sum of their squares.
template <class T>
MARKONE_NOINLINE void move_column(panel<T> x, const line<T>& factor, line<T>* table, std::size_t columns,
                                  line<T>& squares) {
    typename line<T>::pack by[line<T>::registers], sum[line<T>::registers];
    for (std::size_t r = 0; r < line<T>::registers; ++r) {
        by[r] = factor.part[r];
        sum[r] = typename line<T>::pack{};
    }
    for (const eight<T>& some : x)
        for (std::size_t i = 0; i < 8; ++i) {
            line<T>& w = table[some.feature[i] * columns];
            for (std::size_t r = 0; r < line<T>::registers; ++r) {
                const auto moved = w.part[r] + by[r] * some.value[i];
                w.part[r] = moved;
                sum[r] += moved * moved;
            }
        }
    for (std::size_t r = 0; r < line<T>::registers; ++r) squares.part[r] = sum[r];
}

}  // namespace markone::MARKONE_LEVEL

// Python bindings of functions of plain numbers. They compute everything that goes into a model's file or decides when
// training stops. NumPy is not used for this, because its logarithms, sums and matrix products are rounded differently
// in other versions and on other processors.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/exponential.h"
#include "base/logarithm.h"
#include "online/loops.h"
#include "python/numpy.h"

using namespace nanobind::literals;

namespace markone {

void bind_numbers(nb::module_& m);

namespace {

// f of each number.
template <class F>
numpy<double> each(const array<double, 1>& numbers, F f) {
    auto memory = std::make_unique_for_overwrite<double[]>(numbers.size());
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < numbers.size(); ++i) memory[i] = f(numbers.data()[i]);
    }
    return own<double>(std::move(memory), {numbers.size()});
}

// The sum of f(0), f(1) ..., added in eight partial sums on every processor (arithmetic.h).
template <class F>
double sum_of(std::size_t count, F f) {
    constexpr std::size_t lanes = 8;
    double part[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) part[lane] += f(i + lane);
    for (std::size_t lane = 0; i < count; ++i, ++lane) part[lane] += f(i);
    for (std::size_t width = lanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane) part[lane] += part[lane + width];
    return part[0];
}

double sum_of(const double* numbers, std::size_t count) {
    return sum_of(count, [&](std::size_t i) { return numbers[i]; });
}

void need_same(std::size_t one, std::size_t other) {
    if (one != other) throw std::invalid_argument("the sizes differ");
}

}  // namespace

void bind_numbers(nb::module_& m) {
    m.def(
        "log",
        [](const array<double, 1>& numbers) { return each(numbers, [](double x) { return logarithm_of_any(x); }); },
        "numbers"_a);
    m.def(
        "exp", [](const array<double, 1>& numbers) { return each(numbers, [](double x) { return exponential(x); }); },
        "numbers"_a);
    m.def(
        "sum",
        [](const array<double, 1>& numbers) {
            nb::gil_scoped_release unlocked;
            return sum_of(numbers.data(), numbers.size());
        },
        "numbers"_a);
    m.def(
        "sum_rows",
        [](const array<double, 2>& numbers) {
            const std::size_t rows = numbers.shape(0), columns = numbers.shape(1);
            auto memory = std::make_unique_for_overwrite<double[]>(rows);
            {
                nb::gil_scoped_release unlocked;
                for (std::size_t i = 0; i < rows; ++i) memory[i] = sum_of(numbers.data() + i * columns, columns);
            }
            return own<double>(std::move(memory), {rows});
        },
        "numbers"_a);
    // The product of each row with the vector.
    m.def(
        "multiply",
        [](const array<double, 2>& rows, const array<double, 1>& vector) {
            const std::size_t count = rows.shape(0), columns = rows.shape(1);
            need_same(vector.size(), columns);
            auto memory = std::make_unique_for_overwrite<double[]>(count);
            {
                nb::gil_scoped_release unlocked;
                const double* const v = vector.data();
                for (std::size_t i = 0; i < count; ++i) {
                    const double* const row = rows.data() + i * columns;
                    memory[i] = sum_of(columns, [&](std::size_t j) { return row[j] * v[j]; });
                }
            }
            return own<double>(std::move(memory), {count});
        },
        "rows"_a, "vector"_a);
    // The sum of the rows, each times its factor, added one after the other.
    m.def(
        "combine",
        [](const array<double, 1>& factors, const array<double, 2>& rows) {
            const std::size_t count = rows.shape(0), columns = rows.shape(1);
            need_same(factors.size(), count);
            auto memory = std::make_unique<double[]>(columns);
            {
                nb::gil_scoped_release unlocked;
                for (std::size_t i = 0; i < count; ++i) {
                    const double factor = factors.data()[i];
                    const double* const row = rows.data() + i * columns;
                    for (std::size_t j = 0; j < columns; ++j) memory[j] += factor * row[j];
                }
            }
            return own<double>(std::move(memory), {columns});
        },
        "factors"_a, "rows"_a);
}

}  // namespace markone

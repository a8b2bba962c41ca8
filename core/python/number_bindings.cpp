// What Python sees of functions of plain numbers. What goes into a model's file, or decides when a training stops, is
// computed by these and not by NumPy, whose logarithms and sums are rounded otherwise by other versions and processors.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
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

// Added in eight partial sums, whatever the processor (arithmetic.h).
double sum_of(const double* numbers, std::size_t count) {
    constexpr std::size_t lanes = 8;
    double part[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) part[lane] += numbers[i + lane];
    for (std::size_t lane = 0; i < count; ++i, ++lane) part[lane] += numbers[i];
    for (std::size_t width = lanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane) part[lane] += part[lane + width];
    return part[0];
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
}

}  // namespace markone

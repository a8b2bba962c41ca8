// Python bindings of naive Bayes. The counts are NumPy arrays, which the core changes and reads.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bayes/counts.h"
#include "bayes/counts_without.h"
#include "levels/levels.h"
#include "online/loops.h"
#include "python/numpy.h"
#include "rows/blocks.h"

using namespace nanobind::literals;

namespace markone {

void bind_counts(nb::module_& m);

namespace {

using namespace bayes;
using doubles = array<double, 1>;
using matrix = array<double, 2>;
using planes = array<double, 3>;

// Arrays that the core only reads are constant.
std::span<double> read_only(const double* from, std::size_t size) {
    return {const_cast<double*>(from), size};
}

event_counts counts_of(const event_groups& groups, const doubles& rows, const matrix& counts, const planes& numbers) {
    const event_counts found{groups, rows.size(), read_only(rows.data(), rows.size()),
                             read_only(counts.data(), counts.size()), read_only(numbers.data(), numbers.size())};
    found.check();
    return found;
}

smoothing smoothing_of(double k, std::optional<double> alpha, double of_variance) {
    return {k, alpha.value_or(0), alpha.has_value(), of_variance};
}

template <class T>
std::optional<std::span<const T>> view_of(const std::optional<array<T, 1>>& numbers) {
    if (!numbers) return std::nullopt;
    return view(*numbers);
}

visits visits_of(const array<std::int32_t, 1>& labels, const std::optional<doubles>& importance,
                 const std::optional<array<std::int64_t, 1>>& order = {}) {
    return {view(labels), view_of(importance), view_of(order)};
}

template <class T, class Block>
void bind_uses(nb::class_<event_groups>& groups_class, nb::class_<event_tables>& tables_class) {
    groups_class
        .def(
            "count",
            [](const event_groups& self, const Block& block, const array<std::int32_t, 1>& labels,
               const std::optional<doubles>& importance, const std::optional<array<std::int64_t, 1>>& order,
               const changeable<double, 1>& rows, const changeable<double, 2>& counts,
               const changeable<double, 3>& numbers) {
                nb::gil_scoped_release unlocked;
                const event_counts to{self,
                                      rows.size(),
                                      {rows.data(), rows.size()},
                                      {counts.data(), counts.size()},
                                      {numbers.data(), numbers.size()}};
                return best_event_loops<decltype(block.rows)>().count(to, block.rows,
                                                                      visits_of(labels, importance, order));
            },
            "block"_a, "labels"_a.noconvert(), "importance"_a.noconvert().none(), "order"_a.noconvert().none(),
            "rows"_a.noconvert(), "counts"_a.noconvert(), "numbers"_a.noconvert())
        .def(
            "find_unusable",
            [](const event_groups& self, const Block& block, const std::optional<array<std::int64_t, 1>>& order,
               double largest) {
                std::optional<unusable> found;
                {
                    nb::gil_scoped_release unlocked;
                    found = find_unusable<T>(self, block.rows, block.range, view_of(order), largest);
                }
                return found ? nb::object(nb::make_tuple(found->row, found->feature, found->value)) : nb::none();
            },
            "block"_a, "order"_a.noconvert().none(), "largest"_a);
    tables_class.def(
        "scores",
        [](const event_tables& self, const Block& block) {
            const std::size_t rows = block.rows.size(), columns = self.odds ? 1 : self.classes;
            auto memory = std::make_unique_for_overwrite<double[]>(rows * columns);
            {
                nb::gil_scoped_release unlocked;
                best_event_loops<decltype(block.rows)>().score(self, block.rows, memory.get());
            }
            return own<double>(std::move(memory), {rows, columns});
        },
        "block"_a);
}

template <class T, class Block>
void bind_scores_without_one(nb::module_& m) {
    m.def(
        "leave_one_out",
        [](const event_groups& groups, const doubles& rows, const matrix& counts, const planes& numbers,
           const matrix& others, const Block& block, const array<std::int32_t, 1>& labels,
           const std::optional<doubles>& importance, double k, std::optional<double> alpha, double of_variance,
           const std::optional<doubles>& priors, bool odds) {
            const std::size_t count = block.rows.size(), columns = odds ? 1 : rows.size();
            auto memory = std::make_unique_for_overwrite<double[]>(count * columns);
            {
                nb::gil_scoped_release unlocked;
                const event_counts from = counts_of(groups, rows, counts, numbers);
                const visits which = visits_of(labels, importance);
                check_visits(block.rows, which, groups.features, rows.size());
                without_row<T> without(from, {others.data(), others.size()}, smoothing_of(k, alpha, of_variance),
                                       view_of(priors), odds);
                score_without(without, block.rows, which, rows.size(), columns, memory.get());
            }
            return own<double>(std::move(memory), {count, columns});
        },
        nb::kw_only(), "groups"_a, "rows"_a.noconvert(), "counts"_a.noconvert(), "numbers"_a.noconvert(),
        "others"_a.noconvert(), "block"_a, "labels"_a.noconvert(), "importance"_a.noconvert().none(), "k"_a,
        "alpha"_a.none(), "of_variance"_a, "priors"_a.noconvert().none(), "odds"_a);
}

// For each of some features: its logarithms, and which classes cannot have it (1) or cannot lack it (-1).
nb::tuple logs_of(const event_tables& self, const array<std::uint32_t, 1>& features) {
    const std::size_t count = features.size(), columns = self.odds ? 1 : self.classes, classes = self.classes;
    auto logs = std::make_unique_for_overwrite<double[]>(count * columns);
    auto impossible = std::make_unique<std::int8_t[]>(count * classes);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t f = features.data()[i];
        if (f >= self.groups.features) throw std::out_of_range("no such feature");
        std::copy_n(self.logs.data() + f * self.stride, columns, logs.get() + i * columns);
        if (!self.impossible.empty())
            std::copy_n(self.impossible.data() + f * classes, classes, impossible.get() + i * classes);
    }
    return nb::make_tuple(own<double>(std::move(logs), {count, columns}),
                          own<std::int8_t>(std::move(impossible), {count, classes}));
}

// The initial scores of classes: the logarithm of the prior and of a row without features, and the impossible classes.
nb::tuple starts_of(const event_tables& self) {
    std::vector<double> priors, bases;
    std::vector<std::int64_t> impossible;
    for (const class_start& start : self.starts) {
        priors.push_back(start.log_prior);
        bases.push_back(from_fixed(start.base));
        impossible.push_back(start.impossible);
    }
    return nb::make_tuple(own(std::move(priors)), own(std::move(bases)), own(std::move(impossible)));
}

// Numbers × classes × mean, factor and constant of the density.
nb::object bells_of(const event_tables& self) {
    auto memory = std::make_unique_for_overwrite<double[]>(3 * self.bells.size());
    for (std::size_t i = 0; i < self.bells.size(); ++i) {
        memory[3 * i] = self.bells[i].mean;
        memory[3 * i + 1] = self.bells[i].factor;
        memory[3 * i + 2] = self.bells[i].constant;
    }
    return nb::cast(own<double>(std::move(memory), {self.groups.numbers, self.classes, std::size_t{3}}));
}

}  // namespace

void bind_counts(nb::module_& m) {
    nb::enum_<likelihood>(m, "Likelihood")
        .value("multinomial", likelihood::multinomial)
        .value("bernoulli", likelihood::bernoulli)
        .value("categorical", likelihood::categorical)
        .value("gaussian", likelihood::gaussian);
    auto groups_class =
        nb::class_<event_groups>(m, "EventGroups")
            .def(
                "__init__",
                [](event_groups* self,
                   const std::vector<std::tuple<likelihood, std::size_t, std::size_t, double>>& groups,
                   std::size_t features, const std::vector<std::pair<std::size_t, std::size_t>>& missing) {
                    std::vector<event_group> made;
                    for (const auto& [kind, start, end, size] : groups) made.push_back({kind, start, end, size});
                    new (self) event_groups(std::move(made), features, missing);
                },
                "groups"_a, "features"_a, "missing"_a)
            .def_prop_ro("features", [](const event_groups& self) { return self.features; })
            .def_prop_ro("numbers", [](const event_groups& self) { return self.numbers; });
    auto tables_class =
        nb::class_<event_tables>(m, "EventTables")
            .def(
                "__init__",
                [](event_tables* self, const event_groups& groups, const doubles& rows, const matrix& counts,
                   const planes& numbers, const matrix& others, double k, std::optional<double> alpha,
                   double of_variance, const std::optional<doubles>& priors, bool odds) {
                    nb::gil_scoped_release unlocked;
                    new (self) event_tables(counts_of(groups, rows, counts, numbers), {others.data(), others.size()},
                                            smoothing_of(k, alpha, of_variance), view_of(priors), odds);
                },
                nb::kw_only(), "groups"_a, "rows"_a.noconvert(), "counts"_a.noconvert(), "numbers"_a.noconvert(),
                "others"_a.noconvert(), "k"_a, "alpha"_a.none(), "of_variance"_a, "priors"_a.noconvert().none(),
                "odds"_a)
            .def("of", &logs_of, "features"_a.noconvert())
            .def("starts", &starts_of)
            .def("bells", &bells_of)
            .def("totals", [](const event_tables& self) {
                auto memory = std::make_unique_for_overwrite<double[]>(self.totals.size());
                std::copy(self.totals.begin(), self.totals.end(), memory.get());
                return own<double>(std::move(memory), {self.groups.groups.size(), self.classes});
            });
    bind_uses<float, sparse_block<float>>(groups_class, tables_class);
    bind_scores_without_one<float, sparse_block<float>>(m);
    bind_uses<float, dense_block<float>>(groups_class, tables_class);
    bind_scores_without_one<float, dense_block<float>>(m);
    bind_uses<double, sparse_block<double>>(groups_class, tables_class);
    bind_scores_without_one<double, sparse_block<double>>(m);
    bind_uses<double, dense_block<double>>(groups_class, tables_class);
    bind_scores_without_one<double, dense_block<double>>(m);
}

}  // namespace markone

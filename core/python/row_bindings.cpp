// Python bindings of the work on rows.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/free_memory.h"
#include "online/loops.h"
#include "python/numpy.h"
#include "rows/sparse_ops.h"

using namespace nanobind::literals;

namespace markone {

void bind_rows(nb::module_& m);

namespace {

using starts = array<std::int64_t, 1>;
using features = array<std::uint32_t, 1>;
using floats = array<float, 1>;

// Rows over checked arrays.
sparse_rows<float> rows_of(const starts& indptr, const features& indices, const floats& values, std::size_t width) {
    const sparse_rows<float> rows{view(indptr), view(indices), view(values), width};
    check(rows);
    return rows;
}

// Rows that may have no values, which are then all 1.
sparse_rows<float> rows_of(const starts& indptr, const features& indices, const std::optional<floats>& values,
                           std::size_t width) {
    if (values) return rows_of(indptr, indices, *values, width);
    const sparse_rows<float> rows{view(indptr), view(indices), {}, width};
    check_places(rows);
    return rows;
}

struct shared_counts : class_counts {
    mutable std::mutex busy;
};

// The counts of some features: classes × features.
nb::object table_of(const shared_counts& self, const features& wanted, const std::optional<features>& rows_with) {
    std::unique_ptr<std::uint32_t[]> memory;
    std::size_t classes = 0;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(self.busy);
        classes = self.classes();
        memory = std::make_unique_for_overwrite<std::uint32_t[]>(classes * wanted.size());
        std::span<const std::uint32_t> rows;
        if (rows_with) rows = view(*rows_with);
        self.write(view(wanted), rows, {memory.get(), classes * wanted.size()});
    }
    return nb::cast(own<std::uint32_t>(std::move(memory), {classes, wanted.size()}));
}

void bind_valuation(nb::module_& m) {
    nb::enum_<counted_as>(m, "CountedAs")
        .value("count", counted_as::count)
        .value("binary", counted_as::binary)
        .value("log", counted_as::log);
    m.def(
        "refine_rows",
        [](const starts& indptr, const features& indices, const std::optional<floats>& values, std::size_t width,
           counted_as value, const std::optional<features>& numbers, const std::optional<floats>& weights) {
            refined_rows rows;
            {
                nb::gil_scoped_release unlocked;
                std::span<const std::uint32_t> renumbered;
                valuation how{value, {}};
                if (numbers) renumbered = view(*numbers);
                if (weights) how.weights = view(*weights);
                if (numbers && renumbered.size() < width) throw std::invalid_argument("a feature has no new number");
                rows = refine(rows_of(indptr, indices, values, width), renumbered, how);
            }
            return row_arrays{own(std::move(rows.indptr)), own(std::move(rows.indices), {rows.stored}),
                              own(std::move(rows.values), {rows.stored})};
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert().none(), "width"_a, nb::kw_only(),
        "value"_a, "numbers"_a.noconvert().none() = nb::none(), "weights"_a.noconvert().none() = nb::none());
    m.def(
        "unit_rows",
        [](const starts& indptr, const nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values) {
            nb::gil_scoped_release unlocked;
            const auto begins = view(indptr);
            if (begins.empty() || begins.front() < 0 || !std::is_sorted(begins.begin(), begins.end()) ||
                static_cast<std::size_t>(begins.back()) > values.size())
                throw std::invalid_argument("the rows are not within their values");
            to_unit_length(begins, {values.data(), values.size()});
        },
        "indptr"_a.noconvert(), "values"_a.noconvert());
}

void bind_arrangement(nb::module_& m) {
    m.def(
        "join_rows",
        [](const std::vector<std::tuple<starts, features, floats, std::size_t>>& parts) {
            growing_rows rows;
            {
                nb::gil_scoped_release unlocked;
                std::vector<sparse_rows<float>> them;
                for (const auto& [indptr, indices, values, width] : parts)
                    them.push_back(rows_of(indptr, indices, values, width));
                join(them, rows);
            }
            return own(std::move(rows));
        },
        "parts"_a);
    m.def(
        "take_rows",
        [](const starts& indptr, const features& indices, const floats& values, std::size_t width,
           const array<std::int64_t, 1>& which) {
            growing_rows rows;
            {
                nb::gil_scoped_release unlocked;
                take(rows_of(indptr, indices, values, width), view(which), rows);
            }
            return own(std::move(rows));
        },
        "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "width"_a, "which"_a.noconvert());
    m.def(
        "sparse_rows",
        [](const array<float, 2>& dense) {
            growing_rows rows;
            {
                nb::gil_scoped_release unlocked;
                thin({dense.data(), dense.shape(0), dense.shape(1)}, rows);
            }
            return own(std::move(rows));
        },
        "dense"_a.noconvert());
}

void bind_numbering(nb::module_& m) {
    m.def(
        "count_columns",
        [](const features& columns, const changeable<std::int64_t, 1>& counts) {
            std::vector<std::uint32_t> order;
            {
                nb::gil_scoped_release unlocked;
                count_columns(view(columns), {counts.data(), counts.size()}, order);
            }
            return own(std::move(order));
        },
        "columns"_a.noconvert(), "counts"_a.noconvert());
    m.def(
        "renumber",
        [](const features& columns, const features& numbers) {
            constexpr std::uint32_t unknown = 0xffffffff;
            auto memory = std::make_unique_for_overwrite<std::uint32_t[]>(columns.size());
            bool known;
            {
                nb::gil_scoped_release unlocked;
                known = renumber(view(columns), view(numbers), unknown, memory.get());
            }
            return nb::make_tuple(own<std::uint32_t>(std::move(memory), {columns.size()}), known);
        },
        "columns"_a.noconvert(), "numbers"_a.noconvert());
}

void bind_class_counts(nb::module_& m) {
    nb::class_<shared_counts>(m, "ClassCounts")
        .def(nb::init<>())
        .def(
            "add",
            [](shared_counts& self, const starts& indptr, const features& indices, const std::optional<floats>& values,
               std::size_t width, const array<std::int32_t, 1>& labels, bool presence) {
                nb::gil_scoped_release unlocked;
                if (!values && !presence) throw std::invalid_argument("there are no values to add");
                const std::lock_guard guard(self.busy);
                self.add(rows_of(indptr, indices, values, width), view(labels), presence);
            },
            "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert().none(), "width"_a,
            "labels"_a.noconvert(), "presence"_a)
        .def("counts",
             [](const shared_counts& self) {
                 std::vector<std::vector<std::uint32_t>> found;
                 {
                     nb::gil_scoped_release unlocked;
                     const std::lock_guard guard(self.busy);
                     found = self.all();
                 }
                 std::vector<numpy<std::uint32_t>> arrays;
                 for (auto& one : found) arrays.push_back(own(std::move(one)));
                 return arrays;
             })
        .def(
            "add_counts",
            [](shared_counts& self, const std::vector<features>& counts, const features& numbers, bool presence) {
                std::vector<std::span<const std::uint32_t>> views;
                for (const features& one : counts) views.push_back(view(one));
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.add_all(views, view(numbers), presence);
            },
            "counts"_a, "numbers"_a.noconvert(), "presence"_a)
        .def("table", &table_of, "features"_a.noconvert(), "rows_with"_a.noconvert().none() = nb::none());
}

}  // namespace

void bind_rows(nb::module_& m) {
    bind_valuation(m);
    bind_arrangement(m);
    bind_class_counts(m);
    bind_numbering(m);
    m.def("give_back_memory", &give_back_memory, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace markone

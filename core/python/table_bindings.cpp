// Python bindings of the reader of tables.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/numpy.h"
#include "readers/table.h"

using namespace nanobind::literals;

namespace markone {

void bind_tables(nb::module_& m);

namespace {

using bytes = array<std::uint8_t, 1>;

std::string_view chars(const bytes& from) {
    return {reinterpret_cast<const char*>(from.data()), from.size()};
}

table_form form_of(const std::string& separator, const std::optional<std::string>& quote) {
    if (separator.size() != 1 || (quote.has_value() && quote->size() != 1))
        throw std::invalid_argument("a separator or a quote is one byte");
    if (separator == "\n" || separator == "\r" || quote == separator)
        throw std::invalid_argument("no such separator, or the quote is the same");
    return {separator[0], quote.has_value() ? std::optional((*quote)[0]) : std::nullopt};
}

struct table_read {
    nb::list columns;
    nb::object row_lines;
    line_tally tally;
};

// (bits of the values that are not missing, or None if none is missing; numbers), or (bits, offsets, data), or None for
// a skipped column.
nb::object arrays_of(table_column&& column) {
    if (column.kind == table_kind::skip) return nb::none();
    nb::object bits = column.there.missing == 0 ? nb::none() : nb::cast(own(std::move(column.there.bits)));
    if (column.kind == table_kind::number) return nb::make_tuple(bits, nb::cast(own(std::move(column.numbers))));
    return nb::make_tuple(bits, nb::cast(own(std::move(column.offsets))), nb::cast(own(std::move(column.bytes))));
}

table_read read_table(const table_reader& self, const bytes& chunk, bool skip_bad) {
    table_rows rows;
    line_tally tally;
    {
        nb::gil_scoped_release unlocked;
        tally = self.read(chars(chunk), skip_bad, rows);
    }
    table_read read{{}, nb::cast(own(std::move(rows.lines))), std::move(tally)};
    for (table_column& column : rows.columns) read.columns.append(arrays_of(std::move(column)));
    return read;
}

}  // namespace

void bind_tables(nb::module_& m) {
    nb::enum_<table_kind>(m, "TableKind")
        .value("skip", table_kind::skip)
        .value("text", table_kind::text)
        .value("word", table_kind::word)
        .value("number", table_kind::number);
    nb::class_<table_read>(m, "TableRows")
        .def_ro("columns", &table_read::columns)
        .def_ro("row_lines", &table_read::row_lines)
        .def_prop_ro("lines", [](const table_read& self) { return self.tally.lines; })
        .def_prop_ro("bad", [](const table_read& self) { return self.tally.bad; })
        .def_prop_ro("first_bad", [](const table_read& self) { return self.tally.first_bad; });
    nb::class_<table_reader>(m, "TableReader")
        .def(
            "__init__",
            [](table_reader* self, const std::string& separator, const std::optional<std::string>& quote,
               std::vector<std::string> missing, std::vector<table_kind> kinds, std::vector<std::string> names) {
                if (kinds.size() != names.size()) throw std::invalid_argument("every column has a kind and a name");
                new (self)
                    table_reader(form_of(separator, quote), std::move(missing), std::move(kinds), std::move(names));
            },
            nb::kw_only(), "separator"_a, "quote"_a.none(), "missing"_a, "kinds"_a, "names"_a)
        .def("read", &read_table, "chunk"_a.noconvert(), nb::kw_only(), "skip_bad"_a = false);
    m.def(
        "whole_rows",
        [](const bytes& chunk, const std::string& separator, const std::optional<std::string>& quote) {
            const table_form form = form_of(separator, quote);
            nb::gil_scoped_release unlocked;
            return whole_rows(chars(chunk), form);
        },
        "chunk"_a.noconvert(), nb::kw_only(), "separator"_a, "quote"_a.none());
    m.def(
        "first_row",
        [](const bytes& chunk, const std::string& separator, const std::optional<std::string>& quote) {
            const auto [row, end] = table_reader::first_row(chars(chunk), form_of(separator, quote));
            nb::list fields;
            for (const std::string& field : row) fields.append(nb::bytes(field.data(), field.size()));
            return nb::make_tuple(fields, end);
        },
        "chunk"_a.noconvert(), nb::kw_only(), "separator"_a, "quote"_a.none());
}

}  // namespace markone

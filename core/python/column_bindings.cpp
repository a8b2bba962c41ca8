// Python bindings of the readers of sentences.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "python/numpy.h"
#include "readers/columns.h"
#include "readers/plain_text.h"

using namespace nanobind::literals;

namespace markone {

void bind_columns(nb::module_& m);

namespace {

using bytes = array<std::uint8_t, 1>;
using places = array<std::int64_t, 1>;

std::string_view chars(const bytes& from) {
    return {reinterpret_cast<const char*>(from.data()), from.size()};
}

struct read_in_python {
    nb::object starts, ends, places, heads;
    std::vector<std::pair<nb::object, nb::object>> columns;
    std::size_t width;
};

template <class Read>
read_in_python read(Read from) {
    sentences_read found;
    {
        nb::gil_scoped_release unlocked;
        found = from();
    }
    std::vector<std::pair<nb::object, nb::object>> columns;
    for (many_strings& column : found.columns)
        columns.emplace_back(nb::cast(own(std::move(column.bytes))), nb::cast(own(std::move(column.offsets))));
    return {nb::cast(own(std::move(found.starts))),
            nb::cast(own(std::move(found.ends))),
            nb::cast(own(std::move(found.places))),
            nb::cast(own(std::move(found.heads))),
            std::move(columns),
            found.width};
}

void check_starts(std::span<const std::int64_t> starts, std::size_t words) {
    if (starts.empty() || starts.front() != 0 || !std::is_sorted(starts.begin(), starts.end()) ||
        static_cast<std::size_t>(starts.back()) != words)
        throw std::invalid_argument("the sentences do not start within their words");
}

void check_strings(std::span<const std::int64_t> offsets, std::size_t bytes, std::size_t words) {
    if (offsets.size() != words + 1 || offsets.front() < 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
        static_cast<std::size_t>(offsets.back()) > bytes)
        throw std::invalid_argument("a column has more or fewer strings than there are words");
}

// Columns for `words` words, as (number in CoNLL-U, bytes, offsets).
using columns_given = std::vector<std::tuple<std::size_t, bytes, places>>;

std::vector<new_column> look_at(const columns_given& given, std::size_t words) {
    std::vector<new_column> columns;
    for (const auto& [number, data, offsets] : given) {
        if (number == 0 || number >= conllu_format::width) throw std::invalid_argument("there is no such column");
        check_strings(view(offsets), data.size(), words);
        columns.push_back({number, view(data), view(offsets)});
    }
    return columns;
}

std::span<const std::int32_t> look_at(const std::optional<array<std::int32_t, 1>>& heads, std::size_t words) {
    if (!heads) return {};
    if (heads->size() != words) throw std::invalid_argument("there are more or fewer heads than words");
    return view(*heads);
}

void bind_readers(nb::module_& m) {
    nb::class_<read_in_python>(m, "SentencesRead")
        .def_ro("starts", &read_in_python::starts)
        .def_ro("ends", &read_in_python::ends)
        .def_ro("places", &read_in_python::places)
        .def_ro("heads", &read_in_python::heads)
        .def_ro("columns", &read_in_python::columns)
        .def_ro("width", &read_in_python::width);
    m.def(
        "read_conllu",
        [](const bytes& chunk, const std::vector<std::size_t>& wanted, bool heads) {
            return read([&] { return read_sentences(chars(chunk), conllu_format(wanted, heads)); });
        },
        "chunk"_a.noconvert(), "wanted"_a, "heads"_a);
    m.def(
        "read_columns",
        [](const bytes& chunk, std::size_t width, bool tabs) {
            return read([&] { return read_sentences(chars(chunk), column_format(width, tabs)); });
        },
        "chunk"_a.noconvert(), "width"_a, "tabs"_a);
    m.def(
        "read_text",
        [](const bytes& chunk, bool lines) { return read([&] { return text_cutter(chars(chunk), lines).cut(); }); },
        "chunk"_a.noconvert(), "lines"_a);
    m.def(
        "find_bad_tree",
        [](const places& starts,
           const array<std::int32_t, 1>& heads) -> std::optional<std::pair<std::size_t, std::string>> {
            nb::gil_scoped_release unlocked;
            check_starts(view(starts), heads.size());
            const auto found = find_bad_tree(view(starts), view(heads));
            if (!found) return {};
            return {{found->word, found->what}};
        },
        "starts"_a.noconvert(), "heads"_a.noconvert());
}

void bind_writers(nb::module_& m) {
    m.def(
        "rewrite_conllu",
        [](const bytes& chunk, const places& where, const columns_given& columns,
           const std::optional<array<std::int32_t, 1>>& heads) {
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release unlocked;
                const auto looked = look_at(columns, where.size());
                out = conllu_writer(looked, look_at(heads, where.size())).rewrite(chars(chunk), view(where));
            }
            return own(std::move(out));
        },
        "chunk"_a.noconvert(), "places"_a.noconvert(), "columns"_a, "heads"_a.none());
    m.def(
        "append_column",
        [](const bytes& chunk, const places& where, const bytes& data, const places& offsets, bool tabs) {
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release unlocked;
                check_strings(view(offsets), data.size(), where.size());
                const new_column column{0, view(data), view(offsets)};
                out = append_column(chars(chunk), view(where), column, tabs ? '\t' : ' ');
            }
            return own(std::move(out));
        },
        "chunk"_a.noconvert(), "places"_a.noconvert(), "data"_a.noconvert(), "offsets"_a.noconvert(), "tabs"_a);
    m.def(
        "write_conllu",
        [](const places& starts, const columns_given& columns, const std::optional<array<std::int32_t, 1>>& heads) {
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release unlocked;
                const auto from = view(starts);
                const std::size_t words = from.empty() ? 0 : static_cast<std::size_t>(from.back());
                check_starts(from, words);
                const auto looked = look_at(columns, words);
                out = conllu_writer(looked, look_at(heads, words)).write_new(from);
            }
            return own(std::move(out));
        },
        "starts"_a.noconvert(), "columns"_a, "heads"_a.none());
}

// ---- Python lists

// The strings of a column, in UTF-8.
struct words_read {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};

    // Returns false if it is not a string.
    bool add(PyObject* word) {
        if (!PyUnicode_CheckExact(word)) return false;
        if (PyUnicode_IS_COMPACT_ASCII(word)) {
            const auto* const data = static_cast<const std::uint8_t*>(PyUnicode_DATA(word));
            bytes.insert(bytes.end(), data, data + PyUnicode_GET_LENGTH(word));
        } else {
            const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(word, "utf-8", "surrogatepass"));
            if (!encoded.is_valid()) throw nb::python_error();
            const auto* const data = reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(encoded.ptr()));
            bytes.insert(bytes.end(), data, data + PyBytes_GET_SIZE(encoded.ptr()));
        }
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
        return true;
    }
};

bool is_sequence(PyObject* one) {
    return PyList_CheckExact(one) || PyTuple_CheckExact(one);
}

// Adds a word: a string, or a tuple of as many strings as there are columns. Returns false if it is neither.
bool add_word(PyObject* word, std::vector<words_read>& columns) {
    if (!PyTuple_CheckExact(word)) return columns.size() == 1 && columns[0].add(word);
    const auto width = static_cast<std::size_t>(PyTuple_GET_SIZE(word));
    bool good = width == columns.size();
    for (std::size_t i = 0; good && i < width; ++i)
        good = columns[i].add(PyTuple_GET_ITEM(word, static_cast<Py_ssize_t>(i)));
    return good;
}

using lists_read = std::tuple<nb::object, std::vector<std::pair<nb::object, nb::object>>, bool>;

// The columns of sentences that are lists of strings, or of tuples of strings; and whether they are tuples. None if
// they are something else, or if there are no words.
std::optional<lists_read> read_lists(const nb::list& sentences) {
    std::vector<std::int64_t> starts{0};
    std::vector<words_read> columns;
    bool are_tuples = false;
    for (std::size_t number = 0; number < sentences.size(); ++number) {
        const nb::object sentence = sentences[number];
        if (!is_sequence(sentence.ptr())) return std::nullopt;
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sentence.ptr()); ++i) {
            const nb::object word = nb::borrow(PySequence_Fast_GET_ITEM(sentence.ptr(), i));
            if (columns.empty()) {
                are_tuples = PyTuple_CheckExact(word.ptr());
                columns.resize(are_tuples ? static_cast<std::size_t>(PyTuple_GET_SIZE(word.ptr())) : 1);
            }
            if (PyTuple_CheckExact(word.ptr()) != are_tuples || !add_word(word.ptr(), columns)) return std::nullopt;
        }
        starts.push_back(columns.empty() ? 0 : std::ssize(columns[0].offsets) - 1);
    }
    if (columns.empty()) return std::nullopt;
    std::vector<std::pair<nb::object, nb::object>> found;
    for (words_read& one : columns)
        found.emplace_back(nb::cast(own(std::move(one.bytes))), nb::cast(own(std::move(one.offsets))));
    return lists_read{nb::cast(own(std::move(starts))), std::move(found), are_tuples};
}

// For each sentence, the list of the names that its words have by number.
nb::list lists_of_names(const array<std::int32_t, 1>& numbers, const places& starts, const nb::list& names) {
    const std::span<const std::int64_t> begins = view(starts);
    if (begins.empty() || begins.front() != 0 || !std::ranges::is_sorted(begins) ||
        static_cast<std::size_t>(begins.back()) != numbers.size())
        throw std::invalid_argument("the sentences do not ascend from 0 to the end");
    std::vector<nb::object> of_number;
    for (const nb::handle one : names) of_number.push_back(nb::borrow(one));
    for (const std::int32_t number : view(numbers))
        if (number < 0 || static_cast<std::size_t>(number) >= of_number.size())
            throw std::out_of_range("there is no name for a number");
    const nb::object all = nb::steal(PyList_New(static_cast<Py_ssize_t>(begins.size() - 1)));
    if (!all.is_valid()) throw nb::python_error();
    for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
        nb::object one = nb::steal(PyList_New(begins[s + 1] - begins[s]));
        if (!one.is_valid()) throw nb::python_error();
        for (std::int64_t i = begins[s]; i < begins[s + 1]; ++i) {
            const auto number = static_cast<std::size_t>(numbers.data()[i]);
            PyList_SET_ITEM(one.ptr(), i - begins[s], nb::object(of_number[number]).release().ptr());
        }
        PyList_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(s), one.release().ptr());
    }
    return nb::borrow<nb::list>(all);
}

}  // namespace

void bind_columns(nb::module_& m) {
    m.def("read_lists", &read_lists, "sentences"_a);
    m.def("lists_of_names", &lists_of_names, "numbers"_a.noconvert(), "starts"_a.noconvert(), "names"_a);
    bind_readers(m);
    bind_writers(m);
}

}  // namespace markone

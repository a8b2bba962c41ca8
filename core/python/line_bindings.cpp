// Python bindings of the readers of lines.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/numpy.h"
#include "readers/labelled_text.h"
#include "readers/libsvm.h"
#include "readers/vw.h"

using namespace nanobind::literals;

namespace markone {

void bind_lines(nb::module_& m);

namespace {

// A reader that several Python threads may use. One of them at a time is inside, without holding Python's lock.
template <class Reader>
struct shared_reader : Reader {
    mutable std::mutex busy;
};
template <class Reader, class Do>
auto inside(Reader& self, Do act) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(self.busy);
    return act();
}

// ---- the results of reading

struct rows_read {
    nb::object indptr, indices, values, labels, importance;
    line_tally tally;
};
struct texts_read {
    nb::object labels, starts, ends;
    line_tally tally;
};

template <class Read>
void bind_tally(nb::class_<Read>& read_class) {
    read_class.def_prop_ro("lines", [](const Read& self) { return self.tally.lines; })
        .def_prop_ro("bad", [](const Read& self) { return self.tally.bad; })
        .def_prop_ro("first_bad", [](const Read& self) { return self.tally.first_bad; });
}

using bytes = array<std::uint8_t, 1>;

std::string_view chars(const bytes& from) {
    return {reinterpret_cast<const char*>(from.data()), from.size()};
}

template <class Reader, bool as_indices = false>
rows_read read_rows(Reader& self, const bytes& chunk, bool skip_bad) {
    labelled_rows rows;
    constexpr std::size_t shortest_piece = 4, usual_line = 64;
    rows.reserve(chunk.size() / shortest_piece, chunk.size() / usual_line);
    line_tally tally = inside(self, [&] {
        return each_line(chars(chunk), skip_bad, [&](std::string_view line) {
            if constexpr (as_indices)
                self.read_indices(line, rows);
            else
                self.read(line, rows);
        });
    });
    constexpr bool has_importance = std::is_base_of_v<vw_reader, Reader>;
    return {nb::cast(own(std::move(rows.indptr))),
            nb::cast(own(std::move(rows.indices))),
            nb::cast(own(std::move(rows.values))),
            nb::cast(own(std::move(rows.labels))),
            has_importance ? nb::cast(own(std::move(rows.importance))) : nb::none(),
            std::move(tally)};
}

template <class Reader>
texts_read read_texts(Reader& self, const bytes& chunk, bool skip_bad) {
    labelled_texts texts;
    const std::string_view all = chars(chunk);
    line_tally tally = inside(self, [&] {
        return each_line(all, skip_bad, [&](std::string_view line) { self.read(line, all.data(), texts); });
    });
    return {nb::cast(own(std::move(texts.labels))), nb::cast(own(std::move(texts.starts))),
            nb::cast(own(std::move(texts.ends))), std::move(tally)};
}

// The texts, joined without anything between them: text i is data[offsets[i] : offsets[i + 1]].
std::pair<numpy<std::int32_t>, numpy<std::uint8_t>> gather(const bytes& chunk, const array<std::int64_t, 1>& starts,
                                                           const array<std::int64_t, 1>& ends) {
    std::vector<std::int32_t> offsets;
    std::unique_ptr<std::uint8_t[]> data;
    std::size_t size = 0;
    {
        nb::gil_scoped_release unlocked;
        const auto from = view(starts), to = view(ends);
        if (from.size() != to.size()) throw std::invalid_argument("there are more starts than ends, or fewer");
        offsets.reserve(from.size() + 1);
        offsets.push_back(0);
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (from[i] < 0 || to[i] < from[i] || static_cast<std::size_t>(to[i]) > chunk.size())
                throw std::invalid_argument("a text is not within the chunk");
            size += static_cast<std::size_t>(to[i] - from[i]);
            if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
                throw std::length_error("the texts are longer than 2 GiB");
            offsets.push_back(static_cast<std::int32_t>(size));
        }
        data = std::make_unique_for_overwrite<std::uint8_t[]>(size);
        for (std::size_t i = 0; i < from.size(); ++i)
            std::copy(chunk.data() + from[i], chunk.data() + to[i], data.get() + offsets[i]);
    }
    return {own(std::move(offsets)), own(std::move(data), {size})};
}

// ---- names, which are bytes; in Python's strings, invalid UTF-8 is escaped

template <class Names>
nb::object shown(const Names& names, std::uint32_t number, std::mutex& busy) {
    std::string name;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(busy);
        if (number >= names.size()) throw std::out_of_range("no such name");
        name = name_of(names, number);
    }
    PyObject* text = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "backslashreplace");
    if (text == nullptr) throw nb::python_error();
    return nb::steal(text);
}

// Name i is data[offsets[i] : offsets[i + 1]], as in Arrow's arrays.
using name_arrays = std::pair<numpy<std::int64_t>, numpy<std::uint8_t>>;

template <class Names>
name_arrays names_since(const Names& names, std::size_t start, std::mutex& busy) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint8_t> data;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(busy);
        for (std::size_t i = start; i < names.size(); ++i) {
            const std::string name = name_of(names, static_cast<std::uint32_t>(i));
            data.insert(data.end(), name.begin(), name.end());
            offsets.push_back(static_cast<std::int64_t>(data.size()));
        }
    }
    return {own(std::move(offsets)), own(std::move(data))};
}

// Adds the names of another reader, in their order, and returns their numbers in this reader.
template <class Number, class Names>
numpy<Number> add_names(Names& names, const array<std::int64_t, 1>& offsets, const bytes& data, std::mutex& busy) {
    std::vector<Number> numbers;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(busy);
        const auto starts = view(offsets);
        if (starts.empty() || starts.front() < 0 || !std::is_sorted(starts.begin(), starts.end()) ||
            static_cast<std::size_t>(starts.back()) > data.size())
            throw std::invalid_argument("the names are not within their bytes");
        for (std::size_t i = 1; i < starts.size(); ++i) {
            const auto begin = static_cast<std::size_t>(starts[i - 1]), end = static_cast<std::size_t>(starts[i]);
            const std::uint32_t number = add_name(names, chars(data).substr(begin, end - begin));
            if (number > static_cast<std::uint32_t>(std::numeric_limits<Number>::max()))
                throw std::length_error("too many names");
            numbers.push_back(static_cast<Number>(number));
        }
    }
    return own(std::move(numbers));
}

// names(reader) is one of the reader's tables; Number is what rows have for one of its names.
template <class Number, class Reader, class Names>
void bind_names(nb::class_<Reader>& reader_class, const std::string& what, Names names) {
    reader_class
        .def_prop_ro((what + "s").c_str(),
                     [names](const Reader& self) { return inside(self, [&] { return names(self).size(); }); })
        .def((what + "_name").c_str(),
             [names](const Reader& self, std::uint32_t number) { return shown(names(self), number, self.busy); },
             "number"_a)
        .def((what + "_names").c_str(),
             [names](const Reader& self, std::size_t start) { return names_since(names(self), start, self.busy); },
             "start"_a = 0)
        .def(("add_" + what + "s").c_str(),
             [names](Reader& self, const array<std::int64_t, 1>& offsets, const bytes& data) {
                 return add_names<Number>(names(self), offsets, data, self.busy);
             },
             "offsets"_a.noconvert(), "data"_a.noconvert());
}

// ---- the readers

template <class Lines>
void bind_row_reader(nb::module_& m, const char* name) {
    using reader = shared_reader<Lines>;
    auto reader_class =
        nb::class_<reader>(m, name)
            .def(nb::init<>())
            .def("read", &read_rows<reader, false>, "chunk"_a.noconvert(), nb::kw_only(), "skip_bad"_a = false);
    bind_names<std::uint32_t>(reader_class, "feature", [](auto& self) -> auto& { return self.features; });
    bind_names<std::int32_t>(reader_class, "label", [](auto& self) -> auto& { return self.labels; });
    if constexpr (std::is_same_v<Lines, libsvm_reader>)
        reader_class
            .def(
                "read_indices",
                [](reader& self, const bytes& chunk, bool skip_bad) {
                    return read_rows<reader, true>(self, chunk, skip_bad);
                },
                "chunk"_a.noconvert(), nb::kw_only(), "skip_bad"_a = false)
            .def(
                "number",
                [](reader& self, const changeable<std::uint32_t, 1>& indices) {
                    inside(self, [&] { self.number_all({indices.data(), indices.size()}); });
                },
                "indices"_a.noconvert());
}

template <class Lines>
void bind_text_reader(nb::module_& m, const char* name) {
    using reader = shared_reader<Lines>;
    auto reader_class =
        nb::class_<reader>(m, name)
            .def(nb::init<>())
            .def("read", &read_texts<reader>, "chunk"_a.noconvert(), nb::kw_only(), "skip_bad"_a = false);
    bind_names<std::int32_t>(reader_class, "label", [](auto& self) -> auto& { return self.labels; });
    if constexpr (std::is_same_v<Lines, fasttext_reader>) reader_class.def_rw("several", &reader::several);
}

void bind_bad_line(nb::module_& m) {
    // nb::exception would keep the sentence only.
    const nb::object type = nb::steal(PyErr_NewExceptionWithDoc(
        "markone._core.BadLine",
        "A line that cannot be read: `line` (from 1) and `offset` in the chunk, and `problem`.", PyExc_ValueError,
        nullptr));
    m.attr("BadLine") = type;
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* bad_line_type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const bad_line& wrong) {
                nb::object error = nb::handle(static_cast<PyObject*>(bad_line_type))(wrong.what());
                error.attr("line") = wrong.line;
                error.attr("offset") = wrong.offset;
                error.attr("problem") = wrong.problem;
                PyErr_SetObject(static_cast<PyObject*>(bad_line_type), error.ptr());
            }
        },
        type.ptr());
}

}  // namespace

void bind_lines(nb::module_& m) {
    bind_bad_line(m);
    auto rows_class = nb::class_<rows_read>(m, "LabelledRows")
                          .def_ro("indptr", &rows_read::indptr)
                          .def_ro("indices", &rows_read::indices)
                          .def_ro("values", &rows_read::values)
                          .def_ro("labels", &rows_read::labels)
                          .def_ro("importance", &rows_read::importance);
    bind_tally(rows_class);
    auto texts_class = nb::class_<texts_read>(m, "LabelledTexts")
                           .def_ro("labels", &texts_read::labels)
                           .def_ro("starts", &texts_read::starts)
                           .def_ro("ends", &texts_read::ends);
    bind_tally(texts_class);
    bind_row_reader<libsvm_reader>(m, "LibsvmReader");
    bind_row_reader<vw_reader>(m, "VWReader");
    bind_text_reader<fasttext_reader>(m, "FastTextReader");
    bind_text_reader<tab_reader>(m, "TabReader");
    m.def("gather", &gather, "chunk"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert());
}

}  // namespace markone

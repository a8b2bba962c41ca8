// What Python sees of the work on text.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <string>
#include <tuple>

#include "ngrams.h"
#include "numpy.h"

using namespace nanobind::literals;

namespace markone {

void bind_text(nb::module_& m);

namespace {

// A counter that several threads of Python may hold: one of them at a time is inside.
struct shared_counter : ngram_counter {
    mutable std::mutex busy;
    using ngram_counter::ngram_counter;
};

// Text i is bytes[offsets[i] : offsets[i + 1]], as in Arrow's arrays.
template <class Offset>
std::tuple<numpy<std::int64_t>, numpy<std::uint32_t>, numpy<float>> count(shared_counter& self,
                                                                          const array<Offset, 1>& offsets,
                                                                          const array<std::uint8_t, 1>& bytes) {
    growing_rows rows;
    {
        nb::gil_scoped_release unlocked;
        const std::lock_guard guard(self.busy);
        const auto starts = view(offsets);
        if (starts.empty() || starts.front() < 0) throw std::invalid_argument("the texts start before their bytes");
        for (std::size_t i = 1; i < starts.size(); ++i)
            if (starts[i] < starts[i - 1]) throw std::invalid_argument("the starts of the texts are not in order");
        if (static_cast<std::size_t>(starts.back()) > bytes.size())
            throw std::invalid_argument("the texts end after their bytes");
        const auto* all = reinterpret_cast<const char*>(bytes.data());
        for (std::size_t i = 1; i < starts.size(); ++i)
            self.add_row({all + starts[i - 1], static_cast<std::size_t>(starts[i] - starts[i - 1])}, rows);
    }
    return {own(std::move(rows.indptr)), own(std::move(rows.indices)), own(std::move(rows.values))};
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<shared_counter>(m, "NgramCounter")
        .def(
            "__init__",
            [](shared_counter* self, bool fold, bool signs, std::size_t shortest, std::size_t longest) {
                new (self) shared_counter(ngram_settings{{fold, signs}, shortest, longest});
            },
            nb::kw_only(), "fold"_a, "signs"_a, "shortest"_a, "longest"_a)
        .def_prop_ro("known", [](const shared_counter& self) { return self.known(); })
        .def_prop_ro("features", [](const shared_counter& self) { return self.features(); })
        .def("count", &count<std::int32_t>, "offsets"_a.noconvert(), "data"_a.noconvert())
        .def("count", &count<std::int64_t>, "offsets"_a.noconvert(), "data"_a.noconvert())
        .def(
            "keep",
            [](shared_counter& self, const array<std::uint32_t, 1>& chosen) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.keep(view(chosen));
            },
            "chosen"_a.noconvert())
        .def(
            "name",
            [](const shared_counter& self, std::uint32_t number) {
                const std::lock_guard guard(self.busy);
                const std::string name = self.name(number);
                return nb::str(name.data(), name.size());
            },
            "number"_a);
    m.attr("UNICODE_VERSION") = unicode::version;
}

}  // namespace markone

// Python bindings of the work on images.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "python/numpy.h"
#include "rows/image_patterns.h"

using namespace nanobind::literals;

namespace markone {

void bind_images(nb::module_& m);

namespace {

// Patterns that several Python threads may use: many may read them, or one may change them.
struct shared_patterns {
    shared_patterns() = default;
    explicit shared_patterns(const array<std::uint64_t, 1>& keys) : patterns(view(keys)) {}

    pattern_table patterns;
    mutable std::shared_mutex busy;
};

using images = array<std::uint8_t, 3>;

image_block block_of(const images& pixels, std::uint8_t level) {
    if (level == 0) throw std::invalid_argument("a pixel of brightness 0 cannot be on");
    return {pixels.data(), pixels.shape(0), pixels.shape(1), pixels.shape(2), level};
}

// numbers(patterns) is one of its lists.
template <class Numbers>
auto copy_of(Numbers numbers) {
    return [numbers](const shared_patterns& self) {
        const std::shared_lock guard(self.busy);
        auto copy = numbers(self.patterns);
        return own(std::move(copy));
    };
}

}  // namespace

void bind_images(nb::module_& m) {
    nb::class_<shared_patterns>(m, "Patterns")
        .def(nb::init<>())
        .def(nb::init<const array<std::uint64_t, 1>&>(), "keys"_a.noconvert())
        .def("__len__", [](const shared_patterns& self) { return self.patterns.keys.size(); })
        .def_prop_ro("keys", copy_of([](const pattern_table& them) { return them.keys.keys(); }),
                     nb::rv_policy::automatic)
        .def_prop_ro("counts", copy_of([](const pattern_table& them) { return them.counts; }), nb::rv_policy::automatic)
        .def(
            "count_patches",
            [](shared_patterns& self, const images& pixels, std::size_t size, std::uint8_t level) {
                nb::gil_scoped_release unlocked;
                const std::unique_lock guard(self.busy);
                const image_block block = block_of(pixels, level);
                count_patterns(block, patch_reader(block, size), self.patterns);
            },
            "images"_a.noconvert(), nb::kw_only(), "size"_a, "level"_a)
        .def(
            "find_patches",
            [](const shared_patterns& self, const images& pixels, std::size_t size, std::uint8_t level) {
                std::vector<std::int64_t> indptr;
                std::vector<std::uint32_t> indices;
                {
                    nb::gil_scoped_release unlocked;
                    const std::shared_lock guard(self.busy);
                    const image_block block = block_of(pixels, level);
                    find_patterns(block, patch_reader(block, size), self.patterns, indptr, indices);
                }
                return std::tuple{own(std::move(indptr)), own(std::move(indices))};
            },
            "images"_a.noconvert(), nb::kw_only(), "size"_a, "level"_a)
        .def(
            "add",
            [](shared_patterns& self, const shared_patterns& more) {
                if (&self == &more) throw std::invalid_argument("patterns cannot be added to themselves");
                nb::gil_scoped_release unlocked;
                const std::scoped_lock guard(self.busy, more.busy);
                self.patterns.add(more.patterns);
            },
            "more"_a)
        .def(
            "reorder",
            [](shared_patterns& self, const array<std::int64_t, 1>& order) {
                nb::gil_scoped_release unlocked;
                const std::unique_lock guard(self.busy);
                self.patterns.reorder(view(order));
            },
            "order"_a.noconvert());
}

}  // namespace markone

// What Python sees of the support vector machine's solver.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "blocks.h"
#include "dual.h"
#include "numpy.h"

using namespace nanobind::literals;

namespace markone {

void bind_dual(nb::module_& m);

#define MARKONE_DUALS(level)                                                                                      \
    namespace level {                                                                                             \
    std::unique_ptr<dual> make_dual(const dual_settings&, const sparse_rows<float>&, const visits&, std::size_t,  \
                                    std::size_t);                                                                 \
    std::unique_ptr<dual> make_dual(const dual_settings&, const sparse_rows<double>&, const visits&, std::size_t, \
                                    std::size_t);                                                                 \
    std::unique_ptr<dual> make_dual(const dual_settings&, const dense_rows<float>&, const visits&, std::size_t,   \
                                    std::size_t);                                                                 \
    std::unique_ptr<dual> make_dual(const dual_settings&, const dense_rows<double>&, const visits&, std::size_t,  \
                                    std::size_t);                                                                 \
    }
MARKONE_DUALS(baseline)
MARKONE_DUALS(v3)
#undef MARKONE_DUALS

namespace {

template <class Rows>
std::unique_ptr<dual> make_fastest(const dual_settings& how, const Rows& rows, const visits& which,
                                   std::size_t features, std::size_t classes) {
#if defined(MARKONE_HAS_V3)
    if (has_v3()) return v3::make_dual(how, rows, which, features, classes);
#endif
    return baseline::make_dual(how, rows, which, features, classes);
}

// One thread at a time is inside.
struct shared_dual {
    std::unique_ptr<dual> of;
    mutable std::mutex busy;

    explicit shared_dual(std::unique_ptr<dual> of) : of(std::move(of)) {}
};

template <class Block>
void bind_making(nb::class_<shared_dual>& dual_class) {
    dual_class.def(
        "__init__",
        [](shared_dual* self, const Block& block, const array<std::int32_t, 1>& labels,
           const std::optional<array<double, 1>>& importance, const std::optional<array<std::int64_t, 1>>& order,
           std::size_t features, std::size_t classes, double C, bool squared, bool bias) {
            if (!(C > 0)) throw std::invalid_argument("C is not greater than 0");
            nb::gil_scoped_release unlocked;
            visits which{view(labels), {}, {}};
            if (importance) which.importance = view(*importance);
            if (order) which.order = view(*order);
            new (self) shared_dual(make_fastest({C, squared, bias}, block.rows, which, features, classes));
        },
        nb::keep_alive<1, 2>(), "rows"_a, "labels"_a.noconvert(), "importance"_a.noconvert().none(),
        "order"_a.noconvert().none(), nb::kw_only(), "features"_a, "classes"_a, "C"_a, "squared"_a, "bias"_a);
}

// The columns of a matrix whose rows are padded.
template <class From>
nb::object columns_of_all(const From& from, const dual& of) {
    const std::size_t rows = from.size() / of.stride, columns = of.columns();
    auto memory = std::make_unique_for_overwrite<double[]>(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
        std::copy_n(from.data() + i * of.stride, columns, memory.get() + i * columns);
    return nb::cast(own<double>(std::move(memory), {rows, columns}));
}

template <class To>
void fill(To& to, const array<double, 2>& from, const dual& of) {
    const std::size_t columns = of.columns();
    if (from.shape(1) != columns || from.shape(0) * of.stride != to.size())
        throw std::invalid_argument("an array of the solver's state has the wrong shape");
    for (std::size_t i = 0; i < from.shape(0); ++i)
        std::copy_n(from.data() + i * columns, columns, to.data() + i * of.stride);
}

nb::dict get_state(const shared_dual& self) {
    const std::lock_guard guard(self.busy);
    const dual& of = *self.of;
    nb::dict state;
    state["alpha"] = columns_of_all(of.alpha, of);
    state["w"] = columns_of_all(of.w, of);
    state["best"] = columns_of_all(of.best, of);
    state["best_scores"] = columns_of_all(of.best_scores, of);
    state["pauses"] = nb::cast(own(std::vector(of.pauses)));
    state["naps"] = nb::cast(own(std::vector(of.naps)));
    state["rivals"] = nb::cast(own(std::vector(of.rivals)));
    state["numbers"] =
        nb::cast(own(std::vector<double>{of.how.C, of.primal, of.own, of.bound, of.norm2, of.before.most,
                                         of.before.least, of.before.gap, of.now.most, of.now.least, of.now.gap}));
    return state;
}

void set_state(shared_dual& self, const nb::dict& state) {
    const std::lock_guard guard(self.busy);
    dual& of = *self.of;
    const auto matrix = [&](const char* name) { return nb::cast<array<double, 2>>(state[name]); };
    const auto pauses = nb::cast<array<std::uint8_t, 1>>(state["pauses"]);
    const auto naps = nb::cast<array<std::uint8_t, 1>>(state["naps"]);
    const auto rivals = nb::cast<array<std::uint64_t, 1>>(state["rivals"]);
    const auto numbers = nb::cast<array<double, 1>>(state["numbers"]);
    if (pauses.size() != of.size() || naps.size() != of.size() || rivals.size() != of.rivals.size() ||
        numbers.size() != 11)
        throw std::invalid_argument("an array of the solver's state has the wrong shape");
    fill(of.alpha, matrix("alpha"), of);
    fill(of.w, matrix("w"), of);
    fill(of.best, matrix("best"), of);
    fill(of.best_scores, matrix("best_scores"), of);
    of.pauses.assign(pauses.data(), pauses.data() + pauses.size());
    of.naps.assign(naps.data(), naps.data() + naps.size());
    of.rivals.assign(rivals.data(), rivals.data() + rivals.size());
    const double* const n = numbers.data();
    if (!(n[0] > 0)) throw std::invalid_argument("C is not greater than 0");
    of.set_C(n[0]);
    of.primal = n[1];
    of.own = n[2];
    of.bound = n[3];
    of.norm2 = n[4];
    of.before = {n[5], n[6], n[7]};
    of.now = {n[8], n[9], n[10]};
}

}  // namespace

void bind_dual(nb::module_& m) {
    auto dual_class = nb::class_<shared_dual>(m, "Dual");
    bind_making<sparse_block<float>>(dual_class);
    bind_making<sparse_block<double>>(dual_class);
    bind_making<dense_block<float>>(dual_class);
    bind_making<dense_block<double>>(dual_class);
    dual_class.def("__len__", [](const shared_dual& self) { return self.of->size(); })
        .def(
            "begin_pass",
            [](shared_dual& self, std::optional<std::uint64_t> seed, std::size_t skip) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.of->begin_pass(seed, skip);
                return self.of->left();
            },
            "seed"_a.none(), "skip"_a)
        .def(
            "begin_visits",
            [](shared_dual& self, const array<std::int64_t, 1>& which) {
                const std::lock_guard guard(self.busy);
                self.of->begin_visits(view(which));
            },
            "which"_a.noconvert())
        .def(
            "learn",
            [](shared_dual& self, std::size_t most) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                return self.of->learn(most);
            },
            "most"_a)
        .def("measure",
             [](shared_dual& self) {
                 nb::gil_scoped_release unlocked;
                 const std::lock_guard guard(self.busy);
                 self.of->measure();
             })
        .def(
            "start_at",
            [](shared_dual& self, const array<double, 2>& alpha) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                std::vector<double> from(self.of->alpha.size());
                fill(from, alpha, *self.of);
                self.of->start_at(from);
            },
            "alpha"_a.noconvert())
        .def(
            "scale_to",
            [](shared_dual& self, double C) {
                if (!(C > 0)) throw std::invalid_argument("C is not greater than 0");
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.of->scale_to(C);
            },
            "C"_a)
        .def(
            "narrow",
            [](const shared_dual& self, const array<double, 2>& weights) {
                std::vector<double> by(self.of->w.size());
                fill(by, weights, *self.of);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                const auto [margin, i, rival] = self.of->narrow(by);
                return std::tuple(margin, i, rival);
            },
            "weights"_a.noconvert())
        .def(
            "write",
            [](const shared_dual& self, std::size_t i) {
                if (i >= self.of->size()) throw std::out_of_range("no such example");
                auto memory = std::make_unique_for_overwrite<double[]>(self.of->features + 1);
                self.of->write(i, memory.get());
                return own<double>(std::move(memory), {self.of->features + 1});
            },
            "i"_a)
        .def_prop_ro("C", [](const shared_dual& self) { return self.of->how.C; })
        .def_prop_ro("primal", [](const shared_dual& self) { return self.of->primal; })
        .def_prop_ro("own", [](const shared_dual& self) { return self.of->own; })
        .def_prop_ro("bound", [](const shared_dual& self) { return self.of->bound; })
        .def_prop_ro("typical2", [](const shared_dual& self) { return self.of->typical2; })
        .def_prop_ro("norm2", [](const shared_dual& self) { return self.of->norm2; })
        .def_prop_ro("seen_gap", [](const shared_dual& self) { return self.of->before.gap; })
        .def_prop_ro("seen_room", [](const shared_dual& self) { return self.of->before.most - self.of->before.least; })
        .def_prop_ro("last", [](const shared_dual& self) { return self.of->last(); })
        .def_prop_ro("hopeless", [](const shared_dual& self) { return self.of->hopeless; })
        .def_prop_ro("resting",
                     [](const shared_dual& self) { return std::ranges::count(self.of->pauses, dual::asleep); })
        .def("rows", [](const shared_dual& self) { return own(std::vector(self.of->numbers)); })
        .def("labels", [](const shared_dual& self) { return own(std::vector(self.of->labels)); })
        .def("alpha", [](const shared_dual& self) { return columns_of_all(self.of->alpha, *self.of); })
        .def(
            "weights",
            [](const shared_dual& self, bool best) {
                const std::lock_guard guard(self.busy);
                return columns_of_all(best ? self.of->best : self.of->w, *self.of);
            },
            "best"_a)
        .def("get_state", &get_state)
        .def("set_state", &set_state, "state"_a);
}

}  // namespace markone

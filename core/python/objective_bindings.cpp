// Python bindings of logistic regression's objective.
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

#include "base/state_checks.h"
#include "levels/levels.h"
#include "optimum/objective.h"
#include "python/numpy.h"
#include "rows/blocks.h"

using namespace nanobind::literals;

namespace markone {

void bind_objective(nb::module_& m);

namespace {

using weights_in = array<double, 2>;
using weights_out = changeable<double, 2>;

// Only one thread at a time may use it, because it stores results for later calls.
struct shared_objective {
    std::unique_ptr<objective> of;
    bool turned = false, apart = false, factorised = false;
    mutable std::mutex busy;

    explicit shared_objective(std::unique_ptr<objective> of) : of(std::move(of)) {}

    template <class Array>
    void need_rows(const Array& array) const {
        need(array.shape(0) == of->rows() && array.shape(1) == of->stride());
    }
    template <class Array>
    void need_features(const Array& array) const {
        need(array.shape(0) == of->features + 1 && array.shape(1) == of->stride());
    }
    static void need(bool fits) { markone::need(fits, "an array has not the shape of the objective"); }
    void need_pairs(std::span<const std::uint32_t> pairs) const {
        if (!turned || apart) throw std::invalid_argument("the rows are not laid out by all columns");
        for (const std::uint32_t pair : pairs)
            if (pair >= of->by_features() || pair % of->stride() >= of->columns())
                throw std::out_of_range("no such weight");
    }
};

template <class Block>
void bind_making(nb::class_<shared_objective>& objective_class) {
    objective_class.def(
        "__init__",
        [](shared_objective* self, const Block& block, const array<std::int32_t, 1>& labels, std::size_t classes,
           const std::optional<array<double, 1>>& importance, const std::optional<array<std::int64_t, 1>>& order) {
            visits which{view(labels), {}, {}};
            if (importance) which.importance = view(*importance);
            if (order) which.order = view(*order);
            std::unique_ptr<objective> made;
            {
                nb::gil_scoped_release unlocked;
                made = best_optimum_makers<decltype(block.rows)>().make_objective(block.rows, which, classes);
            }
            new (self) shared_objective(std::move(made));
        },
        nb::keep_alive<1, 2>(), "rows"_a, "labels"_a.noconvert(), "classes"_a,
        "importance"_a.noconvert().none() = nb::none(), "order"_a.noconvert().none() = nb::none());
}

void bind_facts(nb::class_<shared_objective>& objective_class) {
    objective_class.def_prop_ro("rows", [](const shared_objective& self) { return self.of->rows(); })
        .def_prop_ro("features", [](const shared_objective& self) { return self.of->features; })
        .def_prop_ro("classes", [](const shared_objective& self) { return self.of->classes; })
        .def_prop_ro("stride", [](const shared_objective& self) { return self.of->stride(); })
        .def_prop_ro("importance", [](const shared_objective& self) { return self.of->importance; })
        .def("stored", [](const shared_objective& self) {
            nb::gil_scoped_release unlocked;
            return self.of->stored();
        });
}

// Functions of the scores of all rows.
void bind_rows_of_scores(nb::class_<shared_objective>& objective_class) {
    objective_class
        .def(
            "judge",
            [](shared_objective& self, const weights_in& scores, const weights_out& pulls) {
                self.need_rows(scores);
                self.need_rows(pulls);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                const judgement found = self.of->judge(scores.data(), pulls.data());
                return std::tuple(found.loss, found.mistakes);
            },
            "scores"_a.noconvert(), "pulls"_a.noconvert())
        .def(
            "along",
            [](const shared_objective& self, const weights_in& scores, const weights_in& steps, double t) {
                self.need_rows(scores);
                self.need_rows(steps);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                const line_point found = self.of->along(scores.data(), steps.data(), t);
                return std::tuple(found.loss, found.slope, found.curvature);
            },
            "scores"_a.noconvert(), "steps"_a.noconvert(), "t"_a)
        .def(
            "bend",
            [](const shared_objective& self, const weights_in& steps, const weights_out& out) {
                self.need_rows(steps);
                self.need_rows(out);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                return self.of->bend(steps.data(), out.data());
            },
            "steps"_a.noconvert(), "out"_a.noconvert())
        .def("shares",
             [](const shared_objective& self) {
                 const std::span<const double> shares = self.of->shares();
                 auto memory = std::make_unique_for_overwrite<double[]>(shares.size());
                 std::copy(shares.begin(), shares.end(), memory.get());
                 return own<double>(std::move(memory), {shares.size()});
             })
        .def(
            "sums",
            [](const shared_objective& self, const weights_in& pulls) {
                self.need_rows(pulls);
                auto memory = std::make_unique_for_overwrite<double[]>(self.of->stride());
                {
                    nb::gil_scoped_release unlocked;
                    self.of->sums(pulls.data(), memory.get());
                }
                return own<double>(std::move(memory), {self.of->stride()});
            },
            "pulls"_a.noconvert())
        .def(
            "inner",
            [](const shared_objective& self, const weights_in& a, const weights_in& b) {
                shared_objective::need(a.size() == b.size());
                nb::gil_scoped_release unlocked;
                return self.of->inner({a.data(), a.size()}, {b.data(), b.size()});
            },
            "a"_a.noconvert(), "b"_a.noconvert());
}

// Products of weights and rows.
void bind_products(nb::class_<shared_objective>& objective_class) {
    objective_class
        .def(
            "score",
            [](const shared_objective& self, const weights_in& w, const weights_out& scores) {
                self.need_features(w);
                self.need_rows(scores);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.of->score(w.data(), scores.data());
            },
            "w"_a.noconvert(), "scores"_a.noconvert())
        .def(
            "gather",
            [](const shared_objective& self, const weights_in& pulls, const weights_out& out) {
                self.need_rows(pulls);
                self.need_features(out);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.of->gather(pulls.data(), out.data());
            },
            "pulls"_a.noconvert(), "out"_a.noconvert())
        .def(
            "product",
            [](const shared_objective& self, const weights_in& v, const weights_out& steps, const weights_out& out) {
                self.need_features(v);
                self.need_rows(steps);
                self.need_features(out);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                return self.of->product(v.data(), steps.data(), out.data());
            },
            "v"_a.noconvert(), "steps"_a.noconvert(), "out"_a.noconvert());
}

// Functions that need the rows in column order.
void bind_kernel(nb::class_<shared_objective>& objective_class) {
    objective_class
        .def(
            "turn",
            [](shared_objective& self, bool apart) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.turned = self.apart = false;  // what is there already is overwritten
                self.of->turn(apart);
                self.turned = true;
                self.apart = apart;
            },
            "apart"_a)
        .def(
            "kernel",
            [](const shared_objective& self, const weights_in& c, const weights_out& out) {
                self.need_rows(c);
                self.need_rows(out);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                if (!self.apart) throw std::invalid_argument("the rows are not laid out by columns");
                return self.of->kernel(c.data(), out.data());
            },
            "c"_a.noconvert(), "out"_a.noconvert())
        .def(
            "combine",
            [](const shared_objective& self, const weights_in& c, const weights_out& w) {
                self.need_rows(c);
                self.need_features(w);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                if (!self.turned) throw std::invalid_argument("the rows are not laid out by columns");
                self.of->combine(c.data(), w.data());
            },
            "c"_a.noconvert(), "w"_a.noconvert());
}

// Coordinate descent over pairs of a feature and a column.
void bind_descent(nb::class_<shared_objective>& objective_class) {
    objective_class
        .def(
            "diagonal",
            [](const shared_objective& self, const array<std::uint32_t, 1>& pairs) {
                auto memory = std::make_unique_for_overwrite<double[]>(pairs.size());
                {
                    nb::gil_scoped_release unlocked;
                    const std::lock_guard guard(self.busy);
                    self.need_pairs(view(pairs));
                    self.of->diagonal(view(pairs), memory.get());
                }
                return own<double>(std::move(memory), {pairs.size()});
            },
            "pairs"_a.noconvert())
        .def(
            "sweep",
            [](const shared_objective& self, const array<std::uint32_t, 1>& pairs, const weights_in& gradient,
               const array<double, 1>& diagonal, const weights_out& target, const weights_out& steps,
               const changeable<double, 1>& means, double strength) {
                self.need_features(gradient);
                self.need_features(target);
                self.need_rows(steps);
                shared_objective::need(diagonal.size() == pairs.size() && means.size() == self.of->rows());
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.need_pairs(view(pairs));
                return self.of->sweep(view(pairs), {gradient.data(), diagonal.data(), target.data(), steps.data(),
                                                    means.data(), strength});
            },
            "pairs"_a.noconvert(), "gradient"_a.noconvert(), "diagonal"_a.noconvert(), "target"_a.noconvert(),
            "steps"_a.noconvert(), "means"_a.noconvert(), "strength"_a);
}

void bind_preconditioner(nb::class_<shared_objective>& objective_class) {
    objective_class
        .def(
            "curvatures",
            [](const shared_objective& self, const weights_out& out) {
                self.need_features(out);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.of->curvatures(out.data());
            },
            "out"_a.noconvert())
        .def(
            "factorise",
            [](shared_objective& self, std::size_t every, double strength, const array<std::uint32_t, 2>& at,
               const array<double, 1>& values) {
                if (every == 0) throw std::invalid_argument("every 0th row is none");
                shared_objective::need(at.shape(0) == values.size() && at.shape(1) == 2);
                std::vector<objective::penalty_entry> more;
                for (std::size_t i = 0; i < values.size(); ++i) {
                    more.push_back({at.data()[2 * i], at.data()[2 * i + 1], values.data()[i]});
                    if (more.back().row >= self.of->features || more.back().column > more.back().row)
                        throw std::invalid_argument("an entry must be in the lower half of the features' block");
                }
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                self.of->factorise(every, strength, more);
                self.factorised = true;
            },
            "every"_a, "strength"_a, "at"_a.noconvert(), "values"_a.noconvert())
        .def(
            "precondition",
            [](const shared_objective& self, const weights_in& r, const weights_out& out) {
                self.need_features(r);
                self.need_features(out);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                if (!self.factorised) throw std::invalid_argument("there is no preconditioner yet");
                self.of->precondition(r.data(), out.data());
            },
            "r"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace

void bind_objective(nb::module_& m) {
    auto objective_class = nb::class_<shared_objective>(m, "Objective");
    bind_making<sparse_block<float>>(objective_class);
    bind_making<sparse_block<double>>(objective_class);
    bind_making<dense_block<float>>(objective_class);
    bind_making<dense_block<double>>(objective_class);
    bind_facts(objective_class);
    bind_rows_of_scores(objective_class);
    bind_products(objective_class);
    bind_kernel(objective_class);
    bind_descent(objective_class);
    bind_preconditioner(objective_class);
}

}  // namespace markone

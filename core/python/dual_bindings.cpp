// Python bindings of the support vector machine's solver.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
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
#include "optimum/dual.h"
#include "python/numpy.h"
#include "rows/blocks.h"

using namespace nanobind::literals;

namespace markone {

void bind_dual(nb::module_& m);

namespace {

// A solver that one thread at a time may use.
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
            const auto& makers = best_optimum_makers<decltype(block.rows)>();
            new (self) shared_dual(makers.make_dual({C, squared, bias}, block.rows, which, features, classes));
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

constexpr const char* wrong_shape = "an array of the solver's state has the wrong shape";

template <class To>
void fill(To& to, const array<double, 2>& from, const dual& of) {
    const std::size_t columns = of.columns();
    need(from.shape(1) == columns && from.shape(0) * of.stride == to.size(), wrong_shape);
    for (std::size_t i = 0; i < from.shape(0); ++i)
        std::copy_n(from.data() + i * columns, columns, to.data() + i * of.stride);
}

// The state of the examples, without any weights.
nb::dict examples_of(const dual& of) {
    nb::dict state;
    state["alpha"] = columns_of_all(of.alpha, of);
    state["pauses"] = nb::cast(own(std::vector(of.pauses)));
    state["naps"] = nb::cast(own(std::vector(of.naps)));
    state["rivals"] = nb::cast(own(std::vector(of.rivals)));
    return state;
}

nb::dict get_state(const shared_dual& self) {
    const std::lock_guard guard(self.busy);
    const dual& of = *self.of;
    nb::dict state = examples_of(of);
    state["w"] = columns_of_all(of.w, of);
    state["best"] = columns_of_all(of.best, of);
    state["best_scores"] = columns_of_all(of.best_scores, of);
    state["numbers"] =
        nb::cast(own(std::vector<double>{of.how.C, of.primal, of.own, of.bound, of.norm2, of.before.most,
                                         of.before.least, of.before.gap, of.now.most, of.now.least, of.now.gap}));
    return state;
}

nb::dict get_part(const shared_dual& self) {
    const std::lock_guard guard(self.busy);
    const dual& of = *self.of;
    nb::dict state = examples_of(of);
    state["sights"] = nb::cast(own(std::vector<double>{of.before.most, of.before.least, of.before.gap}));
    return state;
}

// The saved state of the examples of this solver, for some C. Everything that the loops rely on is checked.
struct checked_examples {
    array<double, 2> alpha;
    std::vector<std::uint8_t> pauses, naps;
    std::vector<std::uint64_t> rivals;

    checked_examples(const dual& of, const nb::dict& state)
        : alpha(matrix_of(state, "alpha", of.size(), of)),
          pauses(copied<std::uint8_t>(state, "pauses")),
          naps(copied<std::uint8_t>(state, "naps")),
          rivals(copied<std::uint64_t>(state, "rivals")) {
        need(pauses.size() == of.size() && naps.size() == of.size() && rivals.size() == of.rivals.size(), wrong_shape);
        need(std::ranges::all_of(naps, [](std::uint8_t nap) { return nap <= dual::longest_nap; }) &&
                 std::ranges::all_of(pauses,
                                     [](std::uint8_t pause) {
                                         const int left = pause % dual::visited;
                                         return left <= dual::longest_nap || left == dual::asleep;
                                     }),
             "an example of the state pauses for an impossible time");
        check_rivals(of);
    }
    // Those of two classes are between 0 and their bound; those of the wrong ones among many are at most 0.
    void check_multipliers(const dual& of, double C) const {
        constexpr double rounding = 1e-9;
        const std::size_t columns = of.columns();
        for (std::size_t i = 0; i < of.size(); ++i) {
            const double* const mine = alpha.data() + i * columns;
            const std::size_t right = columns == 1 ? 0 : of.labels[i];
            double others = 0;
            for (std::size_t k = 0; k < columns; ++k) {
                if (k == right) continue;
                need(mine[k] <= 0, "a multiplier of the state is beyond its bound");
                others -= mine[k];
            }
            need(mine[right] >= -rounding * others && mine[right] <= of.cap_for(i, C) * (1 + rounding),
                 "a multiplier of the state is beyond its bound");
        }
    }
    void put_into(dual& of) {
        fill(of.alpha, alpha, of);
        of.pauses.swap(pauses);
        of.naps.swap(naps);
        of.rivals.swap(rivals);
    }

  protected:
    static array<double, 2> matrix_of(const nb::dict& state, const char* name, std::size_t rows, const dual& of) {
        auto found = array_of<double, 2>(state, name);
        need(found.shape(0) == rows && found.shape(1) == of.columns(), wrong_shape);
        need_finite(entries_of(found));
        constexpr double largest = 1e100;  // so that no square or product overflows
        need(std::ranges::all_of(entries_of(found), [](double number) { return std::abs(number) <= largest; }),
             "a number of the state is too large");
        return found;
    }
    static void check_sights(double most, double least, double gap) {
        need(std::isfinite(most) && most >= 0 && std::isfinite(least) && least <= 0 && !std::isnan(gap),
             "the slopes of the state are impossible");
    }

  private:
    // Every bit stands for a class, and the own class of an example never rests.
    void check_rivals(const dual& of) const {
        const std::size_t words = of.words(), spare = 64 * words - of.classes;
        for (std::size_t i = 0; words > 0 && i < of.size(); ++i) {
            const std::uint64_t* const mine = rivals.data() + i * words;
            need(spare == 0 || mine[words - 1] >> (64 - spare) == 0, "the state names a class that does not exist");
            need((mine[of.labels[i] / 64] >> of.labels[i] % 64 & 1) != 0, "the own class of an example rests");
        }
    }
};

// A saved state for this solver.
struct checked_state : checked_examples {
    array<double, 2> w, best, best_scores;
    std::vector<double> numbers;

    checked_state(const dual& of, const nb::dict& state)
        : checked_examples(of, state),
          w(matrix_of(state, "w", of.features + 1, of)),
          best(matrix_of(state, "best", of.features + 1, of)),
          best_scores(matrix_of(state, "best_scores", of.size(), of)),
          numbers(copied<double>(state, "numbers")) {
        need(numbers.size() == 11, wrong_shape);
        check_numbers();
        check_multipliers(of, numbers[0]);
    }

  private:
    void check_numbers() const {
        need(std::ranges::none_of(numbers, [](double number) { return std::isnan(number); }),
             "the state contains NaN or infinity");
        const double C = numbers[0], primal = numbers[1], own = numbers[2], bound = numbers[3], norm2 = numbers[4];
        need(C > 0, "C is not greater than 0");
        need(primal >= 0 && own >= 0 && std::isfinite(bound) && std::isfinite(norm2) && norm2 >= 0,
             "an objective of the state is impossible");
        for (const std::size_t seen : {5, 8}) check_sights(numbers[seen], numbers[seen + 1], numbers[seen + 2]);
    }
};

// The saved state of a part of all examples.
struct checked_part : checked_examples {
    std::vector<double> sights;

    checked_part(const dual& of, const nb::dict& state, double C)
        : checked_examples(of, state), sights(copied<double>(state, "sights")) {
        need(C > 0 && std::isfinite(C), "C is not greater than 0");
        need(sights.size() == 3, wrong_shape);
        check_sights(sights[0], sights[1], sights[2]);
        check_multipliers(of, C);
    }
};

void set_part(shared_dual& self, const nb::dict& state, double C) {
    const std::lock_guard guard(self.busy);
    dual& of = *self.of;
    checked_part from(of, state, C);
    from.put_into(of);
    of.set_C(C);
    of.before = {from.sights[0], from.sights[1], from.sights[2]};
}

void set_state(shared_dual& self, const nb::dict& state) {
    const std::lock_guard guard(self.busy);
    dual& of = *self.of;
    checked_state from(of, state);
    from.put_into(of);
    fill(of.w, from.w, of);
    fill(of.best, from.best, of);
    fill(of.best_scores, from.best_scores, of);
    const std::vector<double>& n = from.numbers;
    of.set_C(n[0]);
    of.primal = n[1];
    of.own = n[2];
    of.bound = n[3];
    of.norm2 = n[4];
    of.before = {n[5], n[6], n[7]};
    of.now = {n[8], n[9], n[10]};
}

void check_has_weights(const dual& of) {
    if (of.w.empty() || of.best.empty()) throw std::logic_error("the solver has only a part of the examples");
}

void bind_learning(nb::class_<shared_dual>& dual_class) {
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
                check_has_weights(*self.of);
                return self.of->learn(most);
            },
            "most"_a)
        .def("measure", [](shared_dual& self) {
            nb::gil_scoped_release unlocked;
            const std::lock_guard guard(self.busy);
            check_has_weights(*self.of);
            self.of->measure();
        });
}

std::vector<double> padded(const array<double, 2>& weights, const dual& of) {
    std::vector<double> found((of.features + 1) * of.stride);
    fill(found, weights, of);
    need_finite(found);
    return found;
}

void bind_parts(nb::class_<shared_dual>& dual_class) {
    dual_class
        .def(
            "learn_part",
            [](shared_dual& self, const array<double, 2>& weights, double spread, std::optional<std::uint64_t> seed) {
                if (!(spread > 0)) throw std::invalid_argument("the spread is not greater than 0");
                dual& of = *self.of;
                const auto [sums, moves] = [&] {
                    nb::gil_scoped_release unlocked;
                    const std::lock_guard guard(self.busy);
                    const tally made = of.learn_part(padded(weights, of), spread, seed);
                    of.best = {};  // many parts may wait for their next turn, and need no weights until then
                    return std::pair(made, std::exchange(of.w, {}));
                }();
                return std::tuple(sums, columns_of_all(moves, of));
            },
            "weights"_a.noconvert(), nb::kw_only(), "spread"_a, "seed"_a.none())
        .def(
            "measure_part",
            [](shared_dual& self, const array<double, 2>& start, const array<double, 2>& end, std::size_t points) {
                if (points < 2) throw std::invalid_argument("there are fewer than two points");
                std::vector<double> costs(points);
                {
                    nb::gil_scoped_release unlocked;
                    const std::lock_guard guard(self.busy);
                    self.of->measure_part(padded(start, *self.of), padded(end, *self.of), costs);
                }
                return own(std::move(costs));
            },
            "start"_a.noconvert(), "end"_a.noconvert(), "points"_a)
        .def("get_part", &get_part)
        .def("set_part", &set_part, "state"_a, "C"_a);
}

void bind_starting(nb::class_<shared_dual>& dual_class) {
    dual_class
        .def(
            "start_at",
            [](shared_dual& self, const array<double, 2>& alpha) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                std::vector<double> from(self.of->alpha.size());
                fill(from, alpha, *self.of);
                need_finite(from);
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
            "i"_a);
}

void bind_results(nb::class_<shared_dual>& dual_class) {
    dual_class.def_prop_ro("C", [](const shared_dual& self) { return self.of->how.C; })
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
        .def(
            "check_state",
            [](const shared_dual& self, const nb::dict& state) {
                const std::lock_guard guard(self.busy);
                checked_state(*self.of, state);
            },
            "state"_a)
        .def("set_state", &set_state, "state"_a);
}

}  // namespace

void bind_dual(nb::module_& m) {
    auto dual_class = nb::class_<shared_dual>(m, "Dual");
    bind_making<sparse_block<float>>(dual_class);
    bind_making<sparse_block<double>>(dual_class);
    bind_making<dense_block<float>>(dual_class);
    bind_making<dense_block<double>>(dual_class);
    bind_learning(dual_class);
    bind_parts(dual_class);
    bind_starting(dual_class);
    bind_results(dual_class);
}

}  // namespace markone

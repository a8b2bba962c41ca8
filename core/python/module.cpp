// Python bindings of the core, and nothing else. Arrays come in with the right type and layout (markone.data.blocks)
// or are refused; no loop runs with the interpreter locked.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/order.h"
#include "base/state_checks.h"
#include "online/loops.h"
#include "online/mixing.h"
#include "online/state.h"
#include "online/weights.h"
#include "python/numpy.h"
#include "rows/blocks.h"
#include "rows/sparse_ops.h"

using namespace nanobind::literals;

namespace markone {

void bind_numbers(nb::module_& m);        // number_bindings.cpp
void bind_rows(nb::module_& m);           // row_bindings.cpp
void bind_text(nb::module_& m);           // text_bindings.cpp
void bind_lines(nb::module_& m);          // line_bindings.cpp
void bind_images(nb::module_& m);         // image_bindings.cpp
void bind_tables(nb::module_& m);         // table_bindings.cpp
void bind_networks(nb::module_& m);       // network_bindings.cpp
void bind_counts(nb::module_& m);         // counts_bindings.cpp
void bind_objective(nb::module_& m);      // objective_bindings.cpp
void bind_leave_one_out(nb::module_& m);  // leave_one_out_bindings.cpp
void bind_dual(nb::module_& m);           // dual_bindings.cpp
void bind_sequences(nb::module_& m);      // sequence_bindings.cpp
void bind_columns(nb::module_& m);        // column_bindings.cpp
void bind_trees(nb::module_& m);          // tree_bindings.cpp
void bind_levels(nb::module_& m);         // level_bindings.cpp
void bind_labels(nb::module_& m);         // label_bindings.cpp

namespace {

// A learner that several Python threads may hold. One of them at a time is inside.
template <class T>
struct shared_state : state<T> {
    mutable std::shared_mutex busy;  // shared by threads that read, or that mix other weights
    using state<T>::state;

    // For callers that hold the interpreter's lock inside: they release it while they wait.
    std::unique_lock<std::shared_mutex> enter() const {
        std::unique_lock guard(busy, std::try_to_lock);
        if (!guard) {
            nb::gil_scoped_release unlocked;
            guard.lock();
        }
        return guard;
    }
};

template <class T>
nb::object columns_to_numpy(const T* from, std::size_t rows, std::size_t columns, std::size_t stride) {
    auto memory = std::make_unique_for_overwrite<T[]>(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < columns; ++k) memory[i * columns + k] = from[i * stride + k];
    return nb::cast(own<T>(std::move(memory), {rows, columns}));
}

// A view of an array whose shape was checked.
template <class T, class To>
void columns_from_numpy(const array<T, 2>& from, To& to, std::size_t columns, std::size_t stride) {
    for (std::size_t i = 0; i < from.shape(0); ++i)
        for (std::size_t k = 0; k < columns; ++k) to[i * stride + k] = from.data()[i * columns + k];
}

template <class T>
nb::object to_numpy(const T* from, std::size_t size) {
    auto memory = std::make_unique_for_overwrite<T[]>(size);
    std::copy(from, from + size, memory.get());
    return nb::cast(own<T>(std::move(memory), {size}));
}

// The complete state of a learner, as named arrays, from which training can be resumed.
template <class T>
nb::dict get_state(const shared_state<T>& self) {
    const auto guard = self.enter();
    nb::dict state;
    const auto put = [&](const char* prefix, const auto& layers, std::size_t rows) {
        const auto name = [&](const char* what) { return nb::str((std::string(prefix) + what).c_str()); };
        state[name("v")] = columns_to_numpy(layers.v.data(), rows, self.columns(), self.stride());
        if (self.how.average) state[name("u")] = columns_to_numpy(layers.u.data(), rows, self.columns(), self.stride());
        if (self.adagrad())
            state[name("squares")] = columns_to_numpy(layers.squares.data(), rows, self.columns(), self.stride());
    };
    put("", self.weight, self.features);
    put("bias_", self.bias, 1);
    if (self.settles()) {
        state["settled"] = to_numpy(self.settled.data(), self.settled.size());
        state["owed_visits"] = to_numpy(self.owed.visits.data(), self.owed.visits.size());
        state["owed_asked"] = to_numpy(self.owed.asked.data(), self.owed.asked.size());
        state["owed_asked_area"] = to_numpy(self.owed.asked_area.data(), self.owed.asked_area.size());
    }
    const double clocks[3] = {self.scale, self.clock, self.time};
    state["clocks"] = to_numpy(clocks, 3);
    return state;
}

// A saved state for this learner. Everything that the loops rely on is checked.
template <class T>
struct checked_state {
    struct layers {
        array<T, 2> v;
        array<double, 2> u, squares;  // where the learner has them
    };
    layers weight, bias;
    table<std::uint32_t> settled;
    debts owed;
    double scale, clock, time;

    checked_state(const shared_state<T>& self, const nb::dict& state)
        : weight(layers_of(self, state, "", self.features)), bias(layers_of(self, state, "bias_", 1)) {
        if (self.settles()) {
            const auto positions = array_of<std::uint32_t, 1>(state, "settled");
            settled.assign(positions.data(), positions.data() + positions.size());
            owed.visits = copied<double>(state, "owed_visits");
            owed.asked = copied<double>(state, "owed_asked");
            owed.asked_area = copied<double>(state, "owed_asked_area");
            check_debts(self.features);
        }
        const auto clocks = copied<double>(state, "clocks");
        need(clocks.size() == 3, wrong_shape);
        need_finite(clocks);
        scale = clocks[0];
        clock = clocks[1];
        time = clocks[2];
        need(self.scales() ? scale > 0 && scale <= 1 : scale == 1, "the weights of the state have an impossible scale");
        need(clock >= 0 && time >= 0, "the clocks of the state go backwards");
    }

  private:
    static constexpr const char* wrong_shape = "an array of the state has the wrong shape";

    static layers layers_of(const shared_state<T>& self, const nb::dict& state, const std::string& prefix,
                            std::size_t rows) {
        const auto get = [&]<class Number>(Number, const char* name) {
            const auto found = array_of<Number, 2>(state, (prefix + name).c_str());
            need(found.shape(0) == rows && found.shape(1) == self.columns(), wrong_shape);
            need_finite(entries_of(found));
            return found;
        };
        layers found{get(T{}, "v"), {}, {}};
        if (self.how.average) found.u = get(double{}, "u");
        if (self.adagrad()) {
            found.squares = get(double{}, "squares");
            need_no_negative(entries_of(found.squares));
        }
        return found;
    }
    void check_debts(std::size_t features) const {
        const std::size_t length = owed.asked.size();
        need(settled.size() == features && owed.visits.size() == length && owed.asked_area.size() == length,
             wrong_shape);
        need(length >= 1 && length <= state<T>::longest_history, "the state has debts of an impossible length");
        for (const auto* sums : {&owed.visits, &owed.asked, &owed.asked_area}) {
            need_finite(*sums);
            need(sums->front() == 0 && std::ranges::is_sorted(*sums), "the debts of the state do not grow");
        }
        need(std::ranges::all_of(settled, [&](std::uint32_t position) { return position < length; }),
             "the state names a moment that never was");
    }
};

template <class T>
void set_state(shared_state<T>& self, const nb::dict& state) {
    const auto guard = self.enter();
    checked_state<T> from(self, state);
    const auto take = [&](const auto& layers, auto& to) {
        columns_from_numpy(layers.v, to.v, self.columns(), self.stride());
        if (self.how.average) columns_from_numpy(layers.u, to.u, self.columns(), self.stride());
        if (self.adagrad()) columns_from_numpy(layers.squares, to.squares, self.columns(), self.stride());
    };
    take(from.weight, self.weight);
    take(from.bias, self.bias);
    self.settled.swap(from.settled);
    std::swap(self.owed, from.owed);
    self.scale = from.scale;
    self.clock = from.clock;
    self.time = from.time;
}

template <class T, class Scores>
numpy<T> scores_of(std::size_t rows, std::size_t columns, Scores write) {
    auto memory = std::make_unique_for_overwrite<T[]>(rows * columns);
    {
        nb::gil_scoped_release unlocked;
        write(memory.get());
    }
    return own<T>(std::move(memory), {rows, columns});
}

using label_array = array<std::int32_t, 1>;
using importance_array = std::optional<array<double, 1>>;
using order_array = std::optional<array<std::int64_t, 1>>;

visits visits_of(const label_array& labels, const importance_array& importance, const order_array& order) {
    visits which{view(labels), {}, {}};
    if (importance) which.importance = view(*importance);
    if (order) which.order = view(*order);
    return which;
}

template <class T, class Block>
tally learn_block(shared_state<T>& self, const Block& block, const label_array& labels,
                  const importance_array& importance, const order_array& order, std::vector<mistake>* noted) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(self.busy);
    visits which = visits_of(labels, importance, order);
    which.noted = noted;
    if constexpr (requires { block.counted; })
        if (const auto counted = block.counted.rows(block.rows)) return learn(self, *counted, which);
    return learn(self, block.rows, which);
}

// The labels of the rows are numbers of sets.
template <class T, class Block>
tally learn_label_sets(shared_state<T>& self, const Block& block, const label_array& labels,
                       const importance_array& importance, const order_array& order,
                       const array<std::uint32_t, 1>& sets, std::size_t count) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(self.busy);
    const visits which = visits_of(labels, importance, order);
    const label_sets of{view(sets), count};
    if constexpr (requires { block.counted; })
        if (const auto counted = block.counted.rows(block.rows)) return learn_labels(self, *counted, which, of);
    return learn_labels(self, block.rows, which, of);
}

// The result of the visits and, for each mistake, the row and its margin before the step.
template <class T, class Block>
nb::tuple learn_noting(shared_state<T>& self, const Block& block, const label_array& labels,
                       const importance_array& importance, const order_array& order) {
    std::vector<mistake> noted;
    const tally sums = learn_block(self, block, labels, importance, order, &noted);
    auto rows = std::make_unique_for_overwrite<std::int64_t[]>(noted.size());
    auto margins = std::make_unique_for_overwrite<double[]>(noted.size());
    for (std::size_t i = 0; i < noted.size(); ++i) {
        rows[i] = noted[i].row;
        margins[i] = noted[i].margin;
    }
    return nb::make_tuple(sums, own<std::int64_t>(std::move(rows), {noted.size()}),
                          own<double>(std::move(margins), {noted.size()}));
}

template <class T, class Block>
void bind_uses(nb::class_<shared_state<T>>& learner_class, nb::class_<weights<T>>& weights_class) {
    learner_class.def(
        "learn",
        [](shared_state<T>& self, const Block& block, const label_array& labels, const importance_array& importance,
           const order_array& order) { return learn_block(self, block, labels, importance, order, nullptr); },
        "rows"_a, "labels"_a.noconvert(), "importance"_a.noconvert().none() = nb::none(),
        "order"_a.noconvert().none() = nb::none());
    learner_class.def("learn_noting", &learn_noting<T, Block>, "rows"_a, "labels"_a.noconvert(),
                      "importance"_a.noconvert().none() = nb::none(), "order"_a.noconvert().none() = nb::none());
    learner_class.def("learn_labels", &learn_label_sets<T, Block>, "rows"_a, "labels"_a.noconvert(),
                      "importance"_a.noconvert().none(), "order"_a.noconvert().none(), "sets"_a.noconvert(), "count"_a);
    weights_class.def(
        "scores",
        [](const weights<T>& self, const Block& block) {
            return scores_of<T>(block.rows.size(), self.columns(), [&](T* out) { score(self, block.rows, out); });
        },
        "rows"_a);
}

// The scores of a few rows, with the same bits as those of a snapshot, but without visiting every feature.
template <class T>
numpy<T> score_few(const shared_state<T>& self, const sparse_block<T>& block, bool averaged) {
    return scores_of<T>(block.rows.size(), self.columns(), [&](T* out) {
        const std::lock_guard guard(self.busy);
        const auto& rows = block.rows;
        if (averaged && !self.how.average) throw std::invalid_argument("this learner does not average");
        if (rows.width() > self.features) throw std::invalid_argument("rows are wider than the weights");
        const auto first = static_cast<std::size_t>(rows.indptr.front());
        weights<T> near(rows.stored(), self.classes);  // the weights of these rows' features, in the order met
        std::vector<std::uint32_t> places(first + rows.stored());
        for (std::size_t i = 0; i < rows.stored(); ++i) {
            self.read(rows.indices[first + i], averaged, near.w.data() + i * self.stride());
            places[first + i] = static_cast<std::uint32_t>(i);
        }
        self.read_bias(averaged, near.bias.data());
        score(near, sparse_rows<T>{rows.indptr, places, rows.values, rows.stored()}, out);
    });
}

template <class T>
void bind_blocks(nb::module_& m, const std::string& bits) {
    auto sparse_class = nb::class_<sparse_block<T>>(m, ("SparseRows" + bits).c_str());
    const auto bind_init = [&]<class Start, class Index>(Start, Index) {
        sparse_class.def(nb::init<array<Start, 1>, array<Index, 1>, array<T, 1>, std::size_t>(), "indptr"_a.noconvert(),
                         "indices"_a.noconvert(), "values"_a.noconvert(), "width"_a);
    };
    bind_init(std::int32_t{}, std::int32_t{});
    bind_init(std::int64_t{}, std::int64_t{});
    bind_init(std::int64_t{}, std::int32_t{});
    bind_init(std::int64_t{}, std::uint32_t{});
    sparse_class.def("__len__", [](const sparse_block<T>& self) { return self.rows.size(); })
        .def_prop_ro("width", [](const sparse_block<T>& self) { return self.rows.width(); })
        .def_prop_ro("stored", [](const sparse_block<T>& self) { return self.rows.stored(); })
        .def_prop_ro("least", [](const sparse_block<T>& self) { return self.range.least; })
        .def("pack_counts",
             [](const sparse_block<T>& self) {
                 nb::gil_scoped_release unlocked;
                 return self.counted.make(self.rows);
             })
        .def("names_twice",
             [](const sparse_block<T>& self) {
                 nb::gil_scoped_release unlocked;
                 return self.names_twice();
             })
        .def(
            "count_with",
            [](const sparse_block<T>& self, const array<std::int32_t, 1>& labels,
               const array<std::uint32_t, 1>& features, const array<std::uint32_t, 1>& classes,
               const changeable<std::int64_t, 1>& inside, const changeable<std::int64_t, 1>& total) {
                nb::gil_scoped_release unlocked;
                count_rows_with(self.rows, view(labels), {view(features), view(classes)},
                                {inside.data(), inside.size()}, {total.data(), total.size()});
            },
            "labels"_a.noconvert(), "features"_a.noconvert(), "classes"_a.noconvert(), "inside"_a.noconvert(),
            "total"_a.noconvert());
    nb::class_<dense_block<T>>(m, ("DenseRows" + bits).c_str())
        .def(nb::init<array<T, 2>>(), "values"_a.noconvert())
        .def("__len__", [](const dense_block<T>& self) { return self.rows.size(); })
        .def_prop_ro("width", [](const dense_block<T>& self) { return self.rows.width(); })
        .def_prop_ro("stored", [](const dense_block<T>& self) { return self.rows.stored(); })
        .def_prop_ro("least", [](const dense_block<T>& self) { return self.range.least; });
}

template <class T>
nb::class_<weights<T>> bind_weights(nb::module_& m, const std::string& bits) {
    return nb::class_<weights<T>>(m, ("Weights" + bits).c_str())
        .def(
            "__init__",
            [](weights<T>* self, const array<T, 2>& matrix, const array<T, 1>& bias, std::size_t classes,
               bool several) {
                const std::size_t columns = several ? classes : columns_of(classes);
                if (classes < (several ? 1 : 2) || matrix.shape(1) != columns || bias.size() != columns)
                    throw std::invalid_argument("the weights have the wrong shape");
                const auto kept = std::make_shared<array<T, 2>>(matrix);
                new (self) weights<T>({kept, kept->data()}, kept->shape(0), view(bias), classes);
            },
            "matrix"_a.noconvert(), "bias"_a.noconvert(), "classes"_a, "several"_a = false)
        .def_prop_ro("features", [](const weights<T>& self) { return self.features; })
        .def_prop_ro("classes", [](const weights<T>& self) { return self.classes; })
        .def("matrix",
             [](const weights<T>& self) {
                 return columns_to_numpy(self.data(), self.features, self.columns(), self.stride());
             })
        .def("view",
             [](nb::pointer_and_handle<weights<T>> self) {
                 const weights<T>& from = *self.p;
                 return nb::ndarray<nb::numpy, const T>(from.data(), {from.features, from.columns()}, self.h,
                                                        {static_cast<std::int64_t>(from.stride()), 1});
             })
        .def(
            "of",
            [](const weights<T>& self, const array<std::uint32_t, 1>& features) {
                const std::size_t columns = self.columns();
                auto memory = std::make_unique_for_overwrite<T[]>(features.size() * columns);
                for (std::size_t i = 0; i < features.size(); ++i) {
                    const std::size_t feature = features.data()[i];
                    if (feature >= self.features) throw std::out_of_range("no such feature");
                    std::copy_n(self.data() + feature * self.stride(), columns, memory.get() + i * columns);
                }
                return own<T>(std::move(memory), {features.size(), columns});
            },
            "features"_a.noconvert())
        .def("bias", [](const weights<T>& self) { return to_numpy(self.bias.data(), self.columns()); });
}

template <class T>
nb::class_<shared_state<T>> bind_learner(nb::module_& m, const std::string& bits) {
    using state_type = shared_state<T>;
    return nb::class_<state_type>(m, ("Learner" + bits).c_str())
        .def(nb::init<const settings&, std::size_t, std::size_t>(), nb::call_guard<nb::gil_scoped_release>(),
             "settings"_a, "features"_a, "classes"_a)
        .def_prop_ro("features", [](const state_type& self) { return self.features; })
        .def_prop_ro("classes", [](const state_type& self) { return self.classes; })
        .def_prop_ro("time", [](const state_type& self) { return self.time; })
        .def_prop_ro_static("labels_together", [](nb::handle) { return labels_together<T>; })
        .def(
            "grow",
            [](state_type& self, std::size_t features, std::size_t classes, const std::vector<std::size_t>& places) {
                const auto guard = self.enter();
                self.grow(features, classes, places);
            },
            "features"_a, "classes"_a, "places"_a)
        .def(
            "start_at",
            [](state_type& self, const array<T, 2>& matrix, const array<T, 2>& bias) {
                const auto guard = self.enter();
                if (self.time > 0) throw std::invalid_argument("a learner that has begun cannot start again");
                need(matrix.shape(0) == self.features && matrix.shape(1) == self.columns() && bias.shape(0) == 1 &&
                         bias.shape(1) == self.columns(),
                     "the first weights have the wrong shape");
                need_finite(entries_of(matrix));
                need_finite(entries_of(bias));
                columns_from_numpy(matrix, self.weight.v, self.columns(), self.stride());
                columns_from_numpy(bias, self.bias.v, self.columns(), self.stride());
            },
            "matrix"_a.noconvert(), "bias"_a.noconvert())
        .def(
            "snapshot",
            [](const state_type& self, bool averaged) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                if (averaged && !self.how.average) throw std::invalid_argument("this learner does not average");
                return self.snapshot(averaged);
            },
            "averaged"_a)
        .def("scores", &score_few<T>, "rows"_a, "averaged"_a)
        .def(
            "norm2",
            [](const state_type& self, std::size_t first, std::size_t last) {
                nb::gil_scoped_release unlocked;
                const std::shared_lock guard(self.busy);
                return self.norm2(first, last);
            },
            "first"_a, "last"_a)
        .def("get_state", &get_state<T>)
        .def(
            "check_state",
            [](const state_type& self, const nb::dict& state) {
                const auto guard = self.enter();
                checked_state<T>(self, state);
            },
            "state"_a)
        .def("set_state", &set_state<T>, "state"_a);
}

// The arrays of changes: places, moves, sums and squares.
using change_arrays = std::tuple<array<std::uint32_t, 1>, array<double, 1>, array<double, 1>, array<double, 1>>;

// The changes of two sets of partitions, each with its share.
using two_changes = std::tuple<change_arrays, double, change_arrays, double>;

share_of_changes share_in(const change_arrays& from, double share) {
    const auto& [places, moved, sums, squares] = from;
    return {{view(places), view(moved), view(sums), view(squares)}, share};
}
pair_of_changes changes_in(const two_changes& from) {
    const auto& [a, share_of_a, b, share_of_b] = from;
    return {share_in(a, share_of_a), share_in(b, share_of_b)};
}
nb::tuple to_numpy(changes&& from) {
    return nb::make_tuple(own(std::move(from.places)), own(std::move(from.moved)), own(std::move(from.sums)),
                          own(std::move(from.squares)));
}

// Partitions of this process, each with its shares of the weights and of the bias.
template <class T>
using shares_of_parts = std::vector<std::tuple<shared_state<T>*, double, double>>;

template <class T>
std::vector<share_of_part<T>> parts_in(const shares_of_parts<T>& from) {
    std::vector<share_of_part<T>> all;
    for (const auto& [part, share, share_of_bias] : from) {
        if (part == nullptr) throw std::invalid_argument("a partition is missing");
        all.push_back({part, share, share_of_bias});
    }
    return all;
}

template <class T>
void bind_mixing(nb::class_<shared_state<T>>& learner_class) {
    using state_type = shared_state<T>;
    learner_class
        .def("settle",
             [](state_type& self) {
                 nb::gil_scoped_release unlocked;
                 const std::lock_guard guard(self.busy);
                 self.settle_all();
             })
        .def(
            "start_part",
            [](state_type& self, const state_type& base) {
                nb::gil_scoped_release unlocked;
                mixing<T>::start(self, base);
            },
            "base"_a)
        .def(
            "start_again",
            [](state_type& self, const state_type& base) {
                nb::gil_scoped_release unlocked;
                mixing<T>::start_again(self, base);
            },
            "base"_a)
        .def(
            "take_changes",
            [](state_type& self, const state_type& base) {
                changes found, of_bias;
                clocks when{};
                {
                    nb::gil_scoped_release unlocked;
                    found = mixing<T>::take(self, base, of_bias, when);
                }
                return nb::make_tuple(to_numpy(std::move(found)), to_numpy(std::move(of_bias)),
                                      nb::make_tuple(when.scale, when.clock, when.time));
            },
            "base"_a)
        .def(
            "mix_bias",
            [](state_type& self, const two_changes& changes, double scale, double clock, double time) {
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                mixing<T>::mix_bias(self, changes_in(changes), {scale, clock, time});
            },
            "changes"_a, "scale"_a, "clock"_a, "time"_a)
        .def(
            "finish_part",
            [](state_type& self, const state_type& base) {
                nb::gil_scoped_release unlocked;
                const clocks when = mixing<T>::finish(self, base);
                return std::tuple(when.scale, when.clock, when.time);
            },
            "base"_a)
        .def(
            "mix_bias_of",
            [](state_type& self, const shares_of_parts<T>& parts, double scale, double clock, double time) {
                const auto all = parts_in(parts);
                nb::gil_scoped_release unlocked;
                const std::lock_guard guard(self.busy);
                mixing<T>::mix_bias(self, all, {scale, clock, time});
            },
            "parts"_a, "scale"_a, "clock"_a, "time"_a)
        .def_prop_ro("groups", [](const state_type& self) { return mixing<T>::groups(self); })
        // Threads call this for ranges that do not overlap.
        .def(
            "mix_groups",
            [](state_type& self, const shares_of_parts<T>& parts, const std::vector<state_type*>& others,
               std::size_t first, std::size_t last) {
                const auto all = parts_in(parts);
                const std::vector<state<T>*> states(others.begin(), others.end());
                nb::gil_scoped_release unlocked;
                const std::shared_lock guard(self.busy);
                mixing<T>::mix_groups(self, all, states, first, last);
            },
            "parts"_a, "others"_a, "first"_a, "last"_a)
        // Threads call this for ranges that do not overlap.
        .def(
            "mix_weights",
            [](state_type& self, const std::vector<state_type*>& others, const two_changes& changes, std::size_t first,
               std::size_t last) {
                const std::vector<state<T>*> states(others.begin(), others.end());
                nb::gil_scoped_release unlocked;
                const std::shared_lock guard(self.busy);
                mixing<T>::mix_weights(self, states, changes_in(changes), first, last);
            },
            "others"_a, "changes"_a, "first"_a, "last"_a);
}

template <class T>
void bind_arithmetic(nb::module_& m, const std::string& bits) {
    bind_blocks<T>(m, bits);
    auto weights_class = bind_weights<T>(m, bits);
    auto learner_class = bind_learner<T>(m, bits);
    bind_mixing<T>(learner_class);
    bind_uses<T, sparse_block<T>>(learner_class, weights_class);
    bind_uses<T, dense_block<T>>(learner_class, weights_class);
    m.def(
        "winners",
        [](const array<T, 2>& scores, tie ties) {
            const std::size_t rows = scores.shape(0), columns = scores.shape(1);
            if (columns == 0) throw std::invalid_argument("there are no scores");
            auto memory = std::make_unique_for_overwrite<std::int64_t[]>(rows);
            for (std::size_t i = 0; i < rows; ++i) memory[i] = winner(scores.data() + i * columns, columns, ties);
            return own<std::int64_t>(std::move(memory), {rows});
        },
        "scores"_a.noconvert(), "ties"_a);
}

}  // namespace
}  // namespace markone

NB_MODULE(_core, m) {
    using namespace markone;
    nb::set_leak_warnings(false);  // objects that users still hold when Python ends are not our leaks
    nb::enum_<schedule>(m, "Schedule")
        .value("constant", schedule::constant)
        .value("sqrt", schedule::sqrt)
        .value("inverse", schedule::inverse)
        .value("adagrad", schedule::adagrad);
    nb::enum_<penalty>(m, "Penalty").value("none", penalty::none).value("l1", penalty::l1).value("l2", penalty::l2);
    nb::enum_<tie>(m, "Tie")
        .value("negative", tie::negative)
        .value("error", tie::error)
        .value("positive", tie::positive);
    nb::enum_<update>(m, "Update").value("margin", update::margin).value("mistake", update::mistake);
    nb::class_<settings>(m, "Settings")
        .def(
            "__init__",
            [](settings* self, const std::string& rule, schedule schedule, penalty penalty, tie ties, update update,
               double eta, double C, double strength, bool difference, bool average, bool bias) {
                new (self) settings{rule, schedule, penalty, ties, update, eta, C, strength, difference, average, bias};
            },
            nb::kw_only(), "rule"_a, "schedule"_a, "penalty"_a, "ties"_a, "update"_a, "eta"_a, "C"_a, "strength"_a,
            "difference"_a, "average"_a, "bias"_a);
    nb::class_<tally>(m, "Tally")
        .def_ro("visits", &tally::visits)
        .def_ro("mistakes", &tally::mistakes)
        .def_ro("updates", &tally::updates)
        .def_ro("importance", &tally::importance)
        .def_ro("loss", &tally::loss);
    nb::exception<not_finite>(m, "NotFinite", PyExc_ValueError);
    bind_arithmetic<float>(m, "32");
    bind_arithmetic<double>(m, "64");
    m.def(
        "merge_changes",
        [](const two_changes& from) {
            changes both;
            {
                nb::gil_scoped_release unlocked;
                both = merge(changes_in(from));
            }
            return to_numpy(std::move(both));
        },
        "changes"_a);
    bind_numbers(m);
    bind_rows(m);
    bind_text(m);
    bind_lines(m);
    bind_images(m);
    bind_tables(m);
    bind_networks(m);
    bind_counts(m);
    bind_objective(m);
    bind_leave_one_out(m);
    bind_dual(m);
    bind_sequences(m);
    bind_columns(m);
    bind_trees(m);
    m.def(
        "shuffle",
        [](nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> order, std::uint64_t seed) {
            nb::gil_scoped_release unlocked;
            shuffle(std::span(order.data(), order.size()), seed);
        },
        "order"_a.noconvert(), "seed"_a);
    bind_levels(m);
    bind_labels(m);
}

// Python bindings of networks. The arrays belong to Python, and the core reads and changes them in place.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/state_checks.h"
#include "network/network.h"
#include "online/loops.h"
#include "python/numpy.h"
#include "rows/blocks.h"

using namespace nanobind::literals;

namespace markone {

void bind_networks(nb::module_& m);

namespace {

using tables = std::vector<array<float, 2>>;
using vectors = std::vector<array<float, 1>>;
using changeable_tables = std::vector<changeable<float, 2>>;
using changeable_vectors = std::vector<changeable<float, 1>>;

// Checks that there is a table of the right shape for each layer. There may be no features, as for texts without words.
template <class Tables, class Vectors>
void check_shapes(const std::vector<std::size_t>& widths, const Tables& w, const Vectors& bias) {
    need(widths.size() >= 2 && w.size() == widths.size() - 1 && bias.size() == w.size(), "a layer is missing");
    need(std::all_of(widths.begin() + 1, widths.end(), [](std::size_t width) { return width > 0; }),
         "a layer is empty");
    for (std::size_t l = 0; l < w.size(); ++l)
        need(w[l].shape(0) == widths[l] && w[l].shape(1) == padded(widths[l + 1]) &&
                 bias[l].size() == padded(widths[l + 1]),
             "a layer has the wrong shape");
}

template <class Tables, class Vectors>
network over(bend by, const std::vector<std::size_t>& widths, const Tables& w, const Vectors& bias) {
    check_shapes(widths, w, bias);
    network net{by, {}};
    for (std::size_t l = 0; l < w.size(); ++l)
        net.layers.push_back({w[l].data(), bias[l].data(), widths[l], widths[l + 1]});
    return net;
}

struct kept_network {
    tables w;
    vectors bias;
    network net;

    kept_network(bend by, const std::vector<std::size_t>& widths, tables w, vectors bias)
        : w(std::move(w)), bias(std::move(bias)), net(over(by, widths, this->w, this->bias)) {}
};

struct kept_teaching {
    std::vector<changeable_tables> tables_kept;
    std::vector<changeable_vectors> vectors_kept;
    changeable<std::uint32_t, 1> met;
    std::vector<std::uint32_t> places;
    network net;
    teaching how;
    std::mutex busy;

    // Weights, then means and squares if the optimizer has them.
    std::vector<changing> keep(const std::vector<std::size_t>& widths, changeable_tables w, changeable_vectors bias,
                               bool needed) {
        std::vector<changing> layers(widths.size() - 1);
        if (!needed) return layers;
        check_shapes(widths, w, bias);
        for (std::size_t l = 0; l < w.size(); ++l) layers[l] = {w[l].data(), bias[l].data()};
        tables_kept.push_back(std::move(w));
        vectors_kept.push_back(std::move(bias));
        return layers;
    }
};

template <class Block>
nb::object scores_of(const kept_network& self, const Block& block) {
    const std::size_t rows = block.rows.size(), columns = self.net.columns();
    auto memory = std::make_unique_for_overwrite<float[]>(rows * columns);
    {
        nb::gil_scoped_release unlocked;
        score(self.net, block.rows, memory.get());
    }
    return nb::cast(own<float>(std::move(memory), {rows, columns}));
}

template <class Block>
tally teach_block(kept_teaching& self, const Block& block, const array<std::int32_t, 1>& labels,
                  const std::optional<array<double, 1>>& importance, const std::optional<array<std::int64_t, 1>>& order,
                  const array<std::int64_t, 1>& ends) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard guard(self.busy);
    visits which{view(labels), {}, {}};
    if (importance) which.importance = view(*importance);
    if (order) which.order = view(*order);
    return teach(self.net, self.how, block.rows, which, view(ends));
}

}  // namespace

void bind_networks(nb::module_& m) {
    nb::enum_<bend>(m, "Bend").value("relu", bend::relu).value("tanh", bend::tanh).value("sigmoid", bend::sigmoid);
    nb::enum_<optimizer>(m, "Optimizer")
        .value("sgd", optimizer::sgd)
        .value("adagrad", optimizer::adagrad)
        .value("adam", optimizer::adam);
    nb::class_<kept_network>(m, "Network")
        .def(nb::init<bend, const std::vector<std::size_t>&, tables, vectors>(), "bend"_a, "widths"_a,
             "weights"_a.noconvert(), "biases"_a.noconvert())
        .def("scores", &scores_of<sparse_block<float>>, "rows"_a)
        .def("scores", &scores_of<dense_block<float>>, "rows"_a)
        .def("scores", &scores_of<sparse_block<double>>, "rows"_a)
        .def("scores", &scores_of<dense_block<double>>, "rows"_a);
    nb::class_<kept_teaching>(m, "Teaching")
        .def(
            "__init__",
            [](kept_teaching* self, bend by, const std::vector<std::size_t>& widths, changeable_tables weights,
               changeable_vectors biases, changeable_tables means, changeable_vectors mean_biases,
               changeable_tables squares, changeable_vectors square_biases, changeable<std::uint32_t, 1> met,
               std::uint64_t steps, optimizer how, double eta, float strength, float dropout, std::uint64_t seed,
               float bound) {
                need(met.size() == widths.at(0), "there is not one clock for each feature");
                need(eta > 0 && eta < std::numeric_limits<float>::max(), "the rate is no number");
                need(strength >= 0 && dropout >= 0 && dropout < 1, "a setting is out of its range");
                auto* const made = new (self) kept_teaching{
                    {}, {}, met, std::vector<std::uint32_t>(widths[0]), over(by, widths, weights, biases), {}, {}};
                made->how = {how,
                             rates_of(how, eta),
                             strength,
                             dropout,
                             seed,
                             bound,
                             made->keep(widths, std::move(weights), std::move(biases), true),
                             made->keep(widths, std::move(means), std::move(mean_biases), how == optimizer::adam),
                             made->keep(widths, std::move(squares), std::move(square_biases), how != optimizer::sgd),
                             made->met.data(),
                             made->places.data(),
                             steps};
            },
            nb::kw_only(), "bend"_a, "widths"_a, "weights"_a.noconvert(), "biases"_a.noconvert(), "means"_a.noconvert(),
            "mean_biases"_a.noconvert(), "squares"_a.noconvert(), "square_biases"_a.noconvert(), "met"_a.noconvert(),
            "steps"_a, "optimizer"_a, "eta"_a, "strength"_a, "dropout"_a, "seed"_a, "bound"_a)
        .def_prop_ro("steps", [](const kept_teaching& self) { return self.how.steps; })
        .def("teach", &teach_block<sparse_block<float>>, "rows"_a, "labels"_a.noconvert(),
             "importance"_a.noconvert().none(), "order"_a.noconvert().none(), "ends"_a.noconvert())
        .def("teach", &teach_block<dense_block<float>>, "rows"_a, "labels"_a.noconvert(),
             "importance"_a.noconvert().none(), "order"_a.noconvert().none(), "ends"_a.noconvert());
}

}  // namespace markone

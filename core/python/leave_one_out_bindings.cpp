// Python bindings of leave-one-out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "leave_one_out/leave_one_out.h"
#include "python/numpy.h"
#include "rows/blocks.h"

using namespace nanobind::literals;

namespace markone {

void bind_leave_one_out(nb::module_& m);

namespace {

// Keeps the rows alive, and copies everything else that it uses.
template <class T>
struct kept_left_out {
    nb::object rows;
    std::vector<std::int32_t> labels;
    std::vector<double> importance;
    std::vector<std::int64_t> orders;
    std::shared_ptr<left_out<T>> run;

    template <class Block>
    kept_left_out(const settings& how, const weights<T>& start, nb::handle_t<Block> rows,
                  const array<std::int32_t, 1>& labels, const std::optional<array<double, 1>>& importance,
                  const array<std::int64_t, 2>& orders, bool rests)
        : rows(nb::borrow(rows)),
          labels(labels.data(), labels.data() + labels.size()),
          orders(orders.data(), orders.data() + orders.size()) {
        const Block& block = nb::cast<const Block&>(this->rows);
        if (importance) this->importance.assign(importance->data(), importance->data() + importance->size());
        course all{{this->labels, {}, {}}, this->orders, rests};
        if (importance) all.which.importance = this->importance;
        nb::gil_scoped_release unlocked;
        run = leave_one_out(how, start, block.rows, all);
    }
};

using answered = std::pair<numpy<std::int64_t>, numpy<bool>>;

template <class T, class Ask>
answered ask(const kept_left_out<T>& self, const array<std::int64_t, 1>& rows, bool of_movers, Ask get) {
    std::vector<answer> answers;
    {
        nb::gil_scoped_release unlocked;
        for (const std::int64_t row : view(rows)) {
            if (row < 0 || static_cast<std::size_t>(row) >= self.run->first_step.size())
                throw std::out_of_range("no such row");
            if ((self.run->first_step[static_cast<std::size_t>(row)] >= 0) != of_movers)
                throw std::invalid_argument("a row that makes steps is retrained; one that makes none is free");
        }
        answers = get(view(rows));
    }
    auto winners = std::make_unique_for_overwrite<std::int64_t[]>(answers.size());
    auto certain = std::make_unique_for_overwrite<bool[]>(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
        winners[i] = answers[i].winner;
        certain[i] = answers[i].certain;
    }
    return {own<std::int64_t>(std::move(winners), {answers.size()}), own<bool>(std::move(certain), {answers.size()})};
}

template <class T>
void bind_left_out(nb::module_& m, const char* name) {
    using kept = kept_left_out<T>;
    auto left_out_class = nb::class_<kept>(m, name);
    const auto bind_init = [&]<class Block>(std::type_identity<Block>) {
        left_out_class.def(nb::init<const settings&, const weights<T>&, nb::handle_t<Block>, array<std::int32_t, 1>,
                                    std::optional<array<double, 1>>, array<std::int64_t, 2>, bool>(),
                           "settings"_a, "start"_a, "rows"_a, "labels"_a.noconvert(), "importance"_a.noconvert().none(),
                           "orders"_a.noconvert(), "rests"_a);
    };
    bind_init(std::type_identity<sparse_block<T>>());
    bind_init(std::type_identity<dense_block<T>>());
    left_out_class
        .def("first_steps",
             [](const kept& self) {
                 std::vector<std::int64_t> steps = self.run->first_step;
                 return own(std::move(steps));
             })
        .def(
            "free",
            [](const kept& self, const array<std::int64_t, 1>& rows) {
                return ask(self, rows, false, [&](auto which) { return self.run->free(which); });
            },
            "rows"_a.noconvert())
        .def(
            "retrain",
            [](const kept& self, const array<std::int64_t, 1>& rows) {
                return ask(self, rows, true, [&](auto which) { return self.run->retrain(which); });
            },
            "rows"_a.noconvert());
}

}  // namespace

void bind_leave_one_out(nb::module_& m) {
    bind_left_out<float>(m, "LeftOut32");
    bind_left_out<double>(m, "LeftOut64");
}

}  // namespace markone

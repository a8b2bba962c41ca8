// Python bindings of the shortest way from a few rows to their labels. A call of it costs about as much as the checks
// of one array elsewhere.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "online/loops.h"
#include "online/weights.h"
#include "python/numpy.h"

using namespace nanobind::literals;

namespace markone {

void bind_labels(nb::module_& m);

namespace {

// More values than these are left to the longer way, which releases the interpreter's lock.
constexpr std::size_t most_values = 4096;

// An array of Python through the buffer protocol, which is the fastest way to look at one. It is absent where the array
// is not contiguous.
class borrowed {
  public:
    explicit borrowed(PyObject* from) {
        if (PyObject_GetBuffer(from, &view_, PyBUF_ND | PyBUF_FORMAT) != 0) {
            PyErr_Clear();
            view_.obj = nullptr;
        }
    }
    borrowed(const borrowed&) = delete;
    borrowed& operator=(const borrowed&) = delete;
    ~borrowed() {
        if (view_.obj != nullptr) PyBuffer_Release(&view_);
    }

    // Whether it has this many dimensions and numbers of this kind, in the order of this machine's bytes.
    template <class Number>
    bool has(int dimensions) const {
        if (view_.obj == nullptr || view_.ndim != dimensions || view_.itemsize != sizeof(Number)) return false;
        const char kind = view_.format == nullptr ? 'B' : view_.format[0];
        if (kind == '\0' || view_.format[1] != '\0') return false;
        if (reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(Number) != 0) return false;
        return std::strchr(std::is_floating_point_v<Number> ? "fd" : "ilq", kind) != nullptr;
    }
    std::size_t shape(int dimension) const { return static_cast<std::size_t>(view_.shape[dimension]); }
    template <class Number>
    std::span<const Number> numbers() const {
        return {static_cast<const Number*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(Number)};
    }

  private:
    Py_buffer view_;
};

// An attribute, or nothing.
nb::object attribute_of(nb::handle of, PyObject* name) {
    nb::object found = nb::steal(PyObject_GetAttr(of.ptr(), name));
    if (!found.is_valid()) PyErr_Clear();
    return found;
}

struct attribute_names {
    PyObject* shape = PyUnicode_InternFromString("shape");
    PyObject* indptr = PyUnicode_InternFromString("indptr");
    PyObject* indices = PyUnicode_InternFromString("indices");
    PyObject* data = PyUnicode_InternFromString("data");
    PyObject* copy = PyUnicode_InternFromString("copy");
    PyObject* take = PyUnicode_InternFromString("take");
};
const attribute_names& names() {
    static const attribute_names known;  // as long as the process
    return known;
}

// Finished weights and the labels of their classes. `label` answers for rows that can be read as they are, and returns
// None for all others, also for wrong ones, whose errors are explained elsewhere.
template <class T>
class labeller {
  public:
    labeller(nb::object weights_object, tie ties, nb::object labels)
        : kept_(std::move(weights_object)),
          weights_(nb::cast<const weights<T>*>(kept_)),
          ties_(ties),
          labels_(std::move(labels)),
          array_(Py_TYPE(labels_.ptr())),
          single_(weights_->classes),
          scores_(weights_->columns()) {
        if (weights_->classes < 2 || nb::len(labels_) != weights_->classes)
            throw std::invalid_argument("there must be a label for each class");
    }

    // `labels` must be those that this was made with. The user can assign others to a classifier.
    nb::object label(nb::handle rows, nb::handle labels) {
        if (labels.is(labels_)) {
            const PyTypeObject* const type = Py_TYPE(rows.ptr());
            try {
                if (type == array_) return label_dense(rows);
                if (std::strcmp(type->tp_name, "csr_matrix") == 0 || std::strcmp(type->tp_name, "csr_array") == 0)
                    return label_sparse(rows);
            } catch (const std::invalid_argument&) {  // a value that is not finite
            } catch (const std::out_of_range&) {      // a feature beyond the width
            }
        }
        return nb::none();
    }

  private:
    nb::object label_dense(nb::handle rows) {
        const borrowed values(rows.ptr());
        if (!values.template has<T>(2) || values.shape(1) != weights_->features) return nb::none();
        return answer(dense_rows<T>{values.template numbers<T>().data(), values.shape(0), values.shape(1)});
    }

    nb::object label_sparse(nb::handle rows) {
        const nb::object shape = attribute_of(rows, names().shape);
        if (!shape.is_valid() || !PyTuple_CheckExact(shape.ptr()) || PyTuple_GET_SIZE(shape.ptr()) != 2)
            return nb::none();
        const std::size_t width = PyLong_AsSize_t(PyTuple_GET_ITEM(shape.ptr(), 1));
        if (PyErr_Occurred() != nullptr) PyErr_Clear();  // the width is then larger than any
        if (width != weights_->features) return nb::none();
        const nb::object starts_object = attribute_of(rows, names().indptr);
        const nb::object features_object = attribute_of(rows, names().indices);
        const nb::object values_object = attribute_of(rows, names().data);
        if (!starts_object.is_valid() || !features_object.is_valid() || !values_object.is_valid()) return nb::none();
        const borrowed starts(starts_object.ptr()), features(features_object.ptr()), values(values_object.ptr());
        if (!values.template has<T>(1)) return nb::none();
        if (starts.template has<std::int32_t>(1) && features.template has<std::int32_t>(1))
            return label_read<std::int32_t>(starts, features, values, width);
        if (starts.template has<std::int64_t>(1) && features.template has<std::int64_t>(1))
            return label_read<std::int64_t>(starts, features, values, width);
        return nb::none();
    }

    // The starts and feature numbers are copied before they are checked, as `sparse_block` explains.
    template <class Index>
    nb::object label_read(const borrowed& starts, const borrowed& features, const borrowed& values, std::size_t width) {
        if (starts.shape(0) > most_values || features.shape(0) > most_values) return nb::none();
        const auto given_starts = starts.template numbers<Index>(), given_features = features.template numbers<Index>();
        starts_.assign(given_starts.begin(), given_starts.end());
        features_.clear();
        for (const Index feature : given_features) {
            if (static_cast<std::make_unsigned_t<Index>>(feature) >= width) return nb::none();
            features_.push_back(static_cast<std::uint32_t>(feature));
        }
        const sparse_rows<T> rows{starts_, features_, values.template numbers<T>(), width};
        return starts_.size() < 2 ? nb::none() : answer(rows);
    }

    template <class Rows>
    nb::object answer(const Rows& rows) {
        if (rows.size() == 0) return nb::none();
        if constexpr (std::is_same_v<Rows, dense_rows<T>>)
            if (rows.stored() > most_values) return nb::none();
        check(rows);
        scores_.resize(rows.size() * weights_->columns());
        score(*weights_, rows, scores_.data());
        const std::size_t columns = weights_->columns();
        if (rows.size() == 1) return single(static_cast<std::size_t>(winner(scores_.data(), columns, ties_)));
        auto numbers = std::make_unique_for_overwrite<std::int64_t[]>(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) numbers[i] = winner(scores_.data() + i * columns, columns, ties_);
        return labels_.attr(nb::handle(names().take))(own<std::int64_t>(std::move(numbers), {rows.size()}));
    }

    // A copy of a view of one label: an array of their type, which follows a change of the labels.
    nb::object single(std::size_t number) {
        nb::object& one = single_[number];
        if (!one.is_valid()) one = labels_[nb::slice(number, number + 1)];
        PyObject* const self = one.ptr();
        nb::object made = nb::steal(PyObject_VectorcallMethod(names().copy, &self, 1, nullptr));
        if (!made.is_valid()) throw nb::python_error();
        return made;
    }

    nb::object kept_;
    const weights<T>* weights_;
    tie ties_;
    nb::object labels_;
    PyTypeObject* array_;
    std::vector<nb::object> single_;
    // Used by one call at a time: the interpreter is locked.
    std::vector<T> scores_;
    std::vector<std::int64_t> starts_;
    std::vector<std::uint32_t> features_;
};

template <class T>
void bind(nb::module_& m, const std::string& bits) {
    nb::class_<labeller<T>>(m, ("Labeller" + bits).c_str())
        .def(nb::init<nb::object, tie, nb::object>(), "weights"_a, "ties"_a, "labels"_a)
        .def("label", &labeller<T>::label, "rows"_a.none(), "labels"_a.none());
}

}  // namespace

void bind_labels(nb::module_& m) {
    bind<float>(m, "32");
    bind<double>(m, "64");
}

}  // namespace markone

// Python bindings of the levels, and of the build.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <vector>

#include "levels/levels.h"
#include "python/numpy.h"

namespace markone {

void bind_levels(nb::module_& m);

namespace {

std::string compiler() {
#if defined(__clang__)
    return std::string("Clang ") + __clang_version__;
#elif defined(__GNUC__)
    return std::string("GCC ") + __VERSION__;
#else
    return "unknown";
#endif
}

// A level that is not available is a wrong setting.
void raise_wrong_level(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const wrong_level& problem) {
        const nb::object type = nb::module_::import_("markone.errors").attr("SettingsError");
        const nb::object error = type("MARKONE_CPU", problem.what());
        PyErr_SetObject(type.ptr(), error.ptr());
    }
}

}  // namespace

void bind_levels(nb::module_& m) {
    nb::register_exception_translator(raise_wrong_level);
    m.def("cpu_level", [] { return best_level().name; });
    m.def("cpu_levels", [] {
        std::map<std::string, std::vector<std::string>> missing;
        for (const level& one : all_levels()) missing[one.name] = one.missing;
        return missing;
    });
    m.def("compiler", &compiler);
}

}  // namespace markone

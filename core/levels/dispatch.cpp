// The choice of a level, when it is first needed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leave_one_out/replicas.h"
#include "levels/levels.h"

#if defined(MARKONE_HAS_V3)
#include <cpuid.h>
#endif

namespace markone {

namespace baseline {
const compiled_loops& loops_of_level();
}
#if defined(MARKONE_HAS_V3)
namespace v3 {
const compiled_loops& loops_of_level();
}
#endif

namespace {

#if defined(MARKONE_HAS_V3)
struct cpuid_words {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

    cpuid_words(unsigned leaf) { __get_cpuid_count(leaf, 0, &eax, &ebx, &ecx, &edx); }
};

// Whether the system keeps the wide registers of each process: without that, AVX is there but of no use.
bool system_keeps_wide_registers() {
    constexpr unsigned xmm_and_ymm = 6;
    unsigned low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & xmm_and_ymm) == xmm_and_ymm;
}

// All that the ABI of x86-64 asks of level 3, beyond what every processor with AVX2 has from level 2.
std::vector<std::string> missing_for_v3() {
    const unsigned basic = cpuid_words(1).ecx, extended = cpuid_words(7).ebx, amd = cpuid_words(0x80000001).ecx;
    const bool kept = (basic >> 27 & 1) != 0 && system_keeps_wide_registers();
    const std::pair<const char*, bool> wanted[] = {
        {"avx", (basic >> 28 & 1) != 0},    {"avx2", (extended >> 5 & 1) != 0}, {"bmi1", (extended >> 3 & 1) != 0},
        {"bmi2", (extended >> 8 & 1) != 0}, {"f16c", (basic >> 29 & 1) != 0},   {"fma", (basic >> 12 & 1) != 0},
        {"lzcnt", (amd >> 5 & 1) != 0},     {"movbe", (basic >> 22 & 1) != 0},  {"osxsave", kept},
    };
    std::vector<std::string> missing;
    for (const auto& [name, is_there] : wanted)
        if (!is_there) missing.emplace_back(name);
    return missing;
}
#endif

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    return all;
}

const level& chosen_level() {
    const std::vector<level>& all = all_levels();
    const char* const set = std::getenv("MARKONE_CPU");
    const std::string_view wish = set == nullptr ? "" : set;
    const level* best = &all.front();
    std::vector<std::string> names;
    for (const level& one : all) {
        if (one.missing.empty()) best = &one;
        names.push_back(one.name);
    }
    if (wish.empty()) return *best;
    for (const level& one : all) {
        if (one.name != wish) continue;
        if (one.missing.empty()) return one;
        throw wrong_level("is " + one.name + ", but this processor lacks " + joined(one.missing) +
                          "; leave it unset to use the best level that runs here");
    }
    throw wrong_level("is '" + std::string(wish) +
                      "', which is not a level that was built; choose one of: " + joined(names));
}

}  // namespace

const std::vector<level>& all_levels() {
    static const std::vector<level> all = {
        {"baseline", baseline::loops_of_level, {}},
#if defined(MARKONE_HAS_V3)
        {"x86-64-v3", v3::loops_of_level, missing_for_v3()},
#endif
    };
    return all;
}

const level& best_level() {
    static const level& best = chosen_level();
    return best;
}

// What headers declare that know nothing of levels.
template <>
const loops<float>& fastest_loops() {
    return std::get<loops<float>>(at_best_level().online);
}
template <>
const loops<double>& fastest_loops() {
    return std::get<loops<double>>(at_best_level().online);
}
template <>
std::unique_ptr<replicas<float>> make_replicas(const common_course<float>& course) {
    return std::get<replica_maker<float>>(at_best_level().make_replicas)(course);
}
template <>
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>& course) {
    return std::get<replica_maker<double>>(at_best_level().make_replicas)(course);
}
const network_loops& fastest_network_loops() {
    return at_best_level().networks;
}

}  // namespace markone

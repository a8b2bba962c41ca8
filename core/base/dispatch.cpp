// Which of the loops' versions this processor can run.
#include <cstdlib>
#include <memory>
#include <string_view>

#include "leave_one_out/replicas.h"
#include "network/network.h"
#include "online/loops.h"

namespace markone {

namespace baseline {
const loops<float>& loops32();
const loops<double>& loops64();
std::unique_ptr<replicas<float>> make_replicas(const common_course<float>&);
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>&);
const network_loops& loops_of_networks();
}  // namespace baseline
namespace v3 {
const loops<float>& loops32();
const loops<double>& loops64();
std::unique_ptr<replicas<float>> make_replicas(const common_course<float>&);
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>&);
const network_loops& loops_of_networks();
}  // namespace v3

// MARKONE_CPU=baseline asks for the plain version, to compare the two on one machine.
bool has_v3() {
#if defined(MARKONE_HAS_V3)
    static const bool answer = [] {
        const char* wish = std::getenv("MARKONE_CPU");
        if (wish != nullptr && std::string_view(wish) == "baseline") return false;
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    }();
    return answer;
#else
    return false;
#endif
}

#if defined(MARKONE_HAS_V3)
template <>
const loops<float>& fastest_loops() {
    return has_v3() ? v3::loops32() : baseline::loops32();
}
template <>
const loops<double>& fastest_loops() {
    return has_v3() ? v3::loops64() : baseline::loops64();
}
template <>
std::unique_ptr<replicas<float>> make_replicas(const common_course<float>& course) {
    return has_v3() ? v3::make_replicas(course) : baseline::make_replicas(course);
}
template <>
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>& course) {
    return has_v3() ? v3::make_replicas(course) : baseline::make_replicas(course);
}
const network_loops& fastest_network_loops() {
    return has_v3() ? v3::loops_of_networks() : baseline::loops_of_networks();
}
#else
template <>
const loops<float>& fastest_loops() {
    return baseline::loops32();
}
template <>
const loops<double>& fastest_loops() {
    return baseline::loops64();
}
template <>
std::unique_ptr<replicas<float>> make_replicas(const common_course<float>& course) {
    return baseline::make_replicas(course);
}
template <>
std::unique_ptr<replicas<double>> make_replicas(const common_course<double>& course) {
    return baseline::make_replicas(course);
}
const network_loops& fastest_network_loops() {
    return baseline::loops_of_networks();
}
#endif

}  // namespace markone

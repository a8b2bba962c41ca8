// Runs all tests of the core, and prints which of them fail.
#include <exception>

#include "tests/check.h"

int main() {
    auto& all = markone::tests::registry::all();
    for (const auto& [name, test] : all.tests) {
        const int before = all.failures;
        try {
            test();
        } catch (const std::exception& error) {
            std::printf("an exception: %s\n", error.what());
            ++all.failures;
        }
        if (all.failures != before) std::printf("FAILED %s\n", name);
    }
    std::printf("%zu tests, %d failures\n", all.tests.size(), all.failures);
    return all.failures == 0 ? 0 : 1;
}

// A small test framework. PyPI has no package with the headers of one, and a new machine has only packages that pip
// installs.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace markone::tests {

struct registry {
    std::vector<std::pair<const char*, void (*)()>> tests;
    int failures = 0;

    static registry& all() {
        static registry one;
        return one;
    }
    bool add(const char* name, void (*test)()) {
        tests.emplace_back(name, test);
        return true;
    }
};

inline void check(bool holds, const char* what, const char* file, int line) {
    if (holds) return;
    std::printf("%s:%d: failed: %s\n", file, line, what);
    ++registry::all().failures;
}

template <class Error, class Call>
bool throws(Call call) {
    try {
        call();
    } catch (const Error&) {
        return true;
    }
    return false;
}

}  // namespace markone::tests

#define TEST(name)                                                                                         \
    static void name();                                                                                    \
    [[maybe_unused]] static const bool name##_is_known = markone::tests::registry::all().add(#name, name); \
    static void name()

#define CHECK(...) markone::tests::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

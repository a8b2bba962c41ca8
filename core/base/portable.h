// Common names for features that differ between compilers and systems. All other code is plain C++20, except for packs
// of numbers (`vector_size`), which GCC and Clang both have, and instructions of single processors, which are inside
// an #if where they are used.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(_WIN32)
#include <malloc.h>
#elif defined(__linux__)
#include <sys/mman.h>
#endif

#if !defined(__GNUC__) && !defined(__clang__)  // Clang is not GNU's where it takes the place of Microsoft's
#error "Markone's core needs GCC or Clang"
#endif

#define MARKONE_INLINE [[gnu::always_inline]] inline
// For loops whose sums would not stay in registers if they were inlined into a large function.
#define MARKONE_NOINLINE [[gnu::noinline]]

namespace markone {

// Numbers of 128 bits.
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

// Prefetches a cache line before it is read or changed.
MARKONE_INLINE void prefetch(const void* at) {
    __builtin_prefetch(at);
}
MARKONE_INLINE void prefetch_to_write(const void* at) {
    __builtin_prefetch(at, 1);
}

// Reads a number exactly once. Another thread of Python may change its array meanwhile, so the checked value must be
// the value that is used.
template <class Number>
MARKONE_INLINE Number read_once(const Number& from) {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

// Memory that starts at a multiple of `alignment`, a power of two that divides `bytes`.
inline void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
#if defined(_WIN32)
    void* const memory = _aligned_malloc(bytes, alignment);
#else
    void* const memory = std::aligned_alloc(alignment, bytes);
#endif
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
inline void free_aligned(void* memory) {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    std::free(memory);
#endif
}

// Only a hint: if the system ignores it, the program is just slower.
inline void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace markone

// Memory for large tables that are read at random places: on huge pages if the system has them, so that reads rarely
// miss the translation lookaside buffer.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "base/portable.h"

namespace markone {

template <class T>
struct table_allocator {
    using value_type = T;

    table_allocator() = default;
    template <class U>
    table_allocator(const table_allocator<U>&) {}

    static constexpr std::size_t cache_line = 64;
    static constexpr std::size_t huge_page = std::size_t{1} << 21;

    T* allocate(std::size_t count) {
        if (count > std::numeric_limits<std::size_t>::max() / (2 * sizeof(T)) - huge_page) throw std::bad_alloc();
        const std::size_t alignment = count * sizeof(T) >= huge_page / 4 ? huge_page : cache_line;
        const std::size_t bytes = (count * sizeof(T) + alignment - 1) / alignment * alignment;
        void* const memory = allocate_aligned(alignment, bytes);
        if (alignment == huge_page) ask_for_huge_pages(memory, bytes);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { free_aligned(memory); }

    template <class U>
    bool operator==(const table_allocator<U>&) const {
        return true;
    }
};

template <class T>
using table = std::vector<T, table_allocator<T>>;

}  // namespace markone

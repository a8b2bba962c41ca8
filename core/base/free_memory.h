// Memory that was freed, and is not yet the system's again.
#pragma once

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace markone {

// Gives it back to the system. glibc otherwise keeps it for the next objects of the same size.
inline void give_back_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

}  // namespace markone

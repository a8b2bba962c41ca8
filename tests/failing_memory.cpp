// A memory allocator that fails when it is told to: the n-th request of at least so many bytes that Markone's core
// makes after it was armed, and none after that. Tests put it before the system's (LD_PRELOAD). Others' requests never
// fail: how they bear that is not ours to test.
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

std::atomic<long> left{0};  // requests until one fails; 0 where none will
std::size_t least = 0;

bool is_core(void* caller) {
    Dl_info found;
    return dladdr(caller, &found) != 0 && found.dli_fname != nullptr &&
           std::strstr(found.dli_fname, "markone/_core") != nullptr;
}

bool fails(std::size_t size, void* caller) {
    if (left.load() <= 0 || size < least || !is_core(caller)) return false;
    return left.fetch_sub(1) == 1;
}

void* checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

extern "C" void arm_failing_memory(long requests, std::size_t size) {
    least = size;
    left = requests;
}
// How many requests there were still to be; 0 where one has failed.
extern "C" long disarm_failing_memory() {
    return left.exchange(0);
}

void* operator new(std::size_t size) {
    if (fails(size, __builtin_return_address(0))) throw std::bad_alloc();
    return checked(__libc_malloc(size));
}
void* operator new[](std::size_t size) {
    if (fails(size, __builtin_return_address(0))) throw std::bad_alloc();
    return checked(__libc_malloc(size));
}
extern "C" void* malloc(std::size_t size) {
    if (!fails(size, __builtin_return_address(0))) return __libc_malloc(size);
    errno = ENOMEM;
    return nullptr;
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
    if (!fails(size, __builtin_return_address(0))) return __libc_memalign(alignment, size);
    errno = ENOMEM;
    return nullptr;
}

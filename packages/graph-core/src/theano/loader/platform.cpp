/* Each operating system's way to do what platform.h lists. */
#include "platform.h"

#include <cstdint>
#include <cstdlib>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <malloc.h>
#include <windows.h>
#else
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace theano {

static char *up_to_huge_page(void *address) {
    return reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(address) + kHugePage - 1) / kHugePage * kHugePage);
}

#if defined(_WIN32)

void *library_open(const std::string &path) { /* Python gives paths as UTF-8 */
    std::wstring wide(path.size() + 1, L'\0');
    if (!MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, &wide[0], int(wide.size()))) return nullptr;
    return LoadLibraryExW(wide.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
}

void *library_symbol(void *library, const std::string &name) {
    return reinterpret_cast<void *>(GetProcAddress(static_cast<HMODULE>(library), name.c_str()));
}

void library_close(void *library) { FreeLibrary(static_cast<HMODULE>(library)); }

std::string library_error() { return "error " + std::to_string(GetLastError()) + " of Windows"; }

/* A part of what was reserved cannot be given back, so the rest before the first multiple stays reserved with it. */
char *pages_map(size_t bytes) {
    void *room = VirtualAlloc(nullptr, bytes + kHugePage, MEM_RESERVE, PAGE_READWRITE);
    if (!room) return nullptr;
    void *data = VirtualAlloc(up_to_huge_page(room), bytes, MEM_COMMIT, PAGE_READWRITE);
    if (!data) VirtualFree(room, 0, MEM_RELEASE);
    return static_cast<char *>(data);
}

void pages_unmap(char *data, size_t) {
    MEMORY_BASIC_INFORMATION found;
    if (VirtualQuery(data, &found, sizeof found)) VirtualFree(found.AllocationBase, 0, MEM_RELEASE);
}

void *aligned_new(size_t bytes) { return _aligned_malloc(bytes, 64); }
void aligned_free(void *data) { _aligned_free(data); }

size_t machine_memory() {
    MEMORYSTATUSEX found;
    found.dwLength = sizeof found;
    return GlobalMemoryStatusEx(&found) ? size_t(found.ullTotalPhys) : 0;
}

int process_processors() {
    DWORD_PTR mask = 0, all = 0;
    return GetProcessAffinityMask(GetCurrentProcess(), &mask, &all) ? __builtin_popcountll(mask) : 1;
}

void at_fork(void (*)(), void (*)(), void (*)()) {}

#else

void *library_open(const std::string &path) { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); }

void *library_symbol(void *library, const std::string &name) {
    dlerror();
    return dlsym(library, name.c_str());
}

void library_close(void *library) { dlclose(library); }

std::string library_error() {
    const char *text = dlerror();
    return text ? text : "unknown error of the dynamic loader";
}

char *pages_map(size_t bytes) {
    const size_t room = bytes + kHugePage;
    void *got = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return nullptr;
    char *start = static_cast<char *>(got), *data = up_to_huge_page(got);
    if (data != start) munmap(start, size_t(data - start));
    if (data + bytes != start + room) munmap(data + bytes, size_t(start + room - (data + bytes)));
#ifdef MADV_HUGEPAGE
    madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE); /* a wish; without it small pages do */
#endif
    return data;
}

void pages_unmap(char *data, size_t bytes) { munmap(data, bytes); }

void *aligned_new(size_t bytes) {
    void *got = nullptr;
    return posix_memalign(&got, 64, bytes) == 0 ? got : nullptr;
}

void aligned_free(void *data) { std::free(data); }

size_t machine_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? size_t(pages) * size_t(size) : 0;
}

int process_processors() {
#ifdef __linux__
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) return CPU_COUNT(&mask);
#endif
    return int(sysconf(_SC_NPROCESSORS_ONLN));
}

void at_fork(void (*before)(), void (*parent)(), void (*child)()) { pthread_atfork(before, parent, child); }

#endif

#ifdef __linux__
int current_processor() { return sched_getcpu(); }

void exclude_processor(pthread_t thread, int processor) {
    cpu_set_t mask;
    if (processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof mask, &mask) != 0) return;
    CPU_CLR(size_t(processor), &mask);
    if (CPU_COUNT(&mask)) pthread_setaffinity_np(thread, sizeof mask, &mask);
}
#else
int current_processor() { return -1; }
void exclude_processor(pthread_t, int) {}
#endif

} // namespace theano

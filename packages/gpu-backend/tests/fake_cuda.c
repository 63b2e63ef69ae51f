/* CUDA's driver as far as kernels/c/cuda.c asks it, for machines without one: copies are done at once, launches do nothing, but
 * for functions of host_device.py, which run at once. It writes down what it was asked for; `fake_failing` is what the named
 * function answers. Graphs: `fake_graphs.h`.
 *
 * Memory is the host's, but only while something of the device's runs: who reads it otherwise has a fault, as with a card. */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int CUresult;

enum { ROOM = 1 << 22 }; /* bytes of both devices */

static char log_text[1 << 16];
static size_t used;
static uintptr_t made = 16; /* handles: small numbers, none twice */
static char failing[64];
static int code;
static int64_t live; /* bytes */
static int quiet; /* it writes nothing down: for who measures */
int64_t fake_launches;

static CUresult say(const char *function, const char *format, ...)
{
    if (quiet)
        return 0;
    va_list list;
    va_start(list, format);
    if (used + 200 < sizeof log_text) {
        used += (size_t)snprintf(log_text + used, 64, "%s ", function);
        used += (size_t)vsnprintf(log_text + used, 128, format, list);
        log_text[used++] = '\n';
        log_text[used] = 0;
    }
    va_end(list);
    return strcmp(failing, function) ? 0 : code;
}

void fake_fail(const char *function, int answer)
{
    snprintf(failing, sizeof failing, "%s", function);
    code = answer;
}

const char *fake_log(void)
{
    used = 0;
    return log_text;
}

void fake_quiet(int whether) { quiet = whether; }
void fake_clear(void) { log_text[used = 0] = 0; }
int64_t fake_live(void) { return live; }

static void *handle(void) { return (void *)made++; }

CUresult cuInit(unsigned flags) { return say("init", "%u", flags); }
CUresult cuDeviceGet(int *device, int number) { return *device = number, number < 2 ? 0 : 101; }
CUresult cuDeviceGetName(char *name, int room, int device) { return snprintf(name, (size_t)room, "fake %d", device), 0; }
CUresult cuDeviceGetAttribute(int *value, int which, int device) { return *value = which == 75 ? 8 : which == 76 ? 0 : 4, device ? 0 : 0; }
CUresult cuDeviceTotalMem_v2(size_t *bytes, int device) { return *bytes = ROOM, device ? 0 : 0; }
CUresult cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { return say("flags", "%d %u", device, flags); }
CUresult cuDevicePrimaryCtxRetain(void **context, int device) { return *context = (void *)(uintptr_t)(device + 1), 0; }
CUresult cuDevicePrimaryCtxRelease_v2(int device) { return say("release", "%d", device); }
CUresult cuCtxSetCurrent(void *context) { return context ? 0 : 201; }
CUresult cuCtxSynchronize(void) { return say("synchronize", "all"); }
CUresult cuPointerGetAttribute(void *value, int which, uint64_t address)
{
    *(int *)value = which == 9 && address % 512 != 64 ? 0 : 1; /* a test's memory of the other device */
    return address == 8 ? 1 : 0;                               /* and what is no memory of a device's */
}
CUresult cuStreamCreate(void **stream, unsigned flags) { return *stream = handle(), say("stream", "%zu", (size_t)*stream); }
CUresult cuStreamSynchronize(void *stream) { return say("wait", "%zu", (size_t)stream); }
CUresult cuEventCreate(void **event, unsigned flags) { return *event = handle(), flags == 2 ? 0 : 1; }
CUresult cuEventRecord(void *event, void *stream) { return say("record", "%zu %zu", (size_t)event, (size_t)stream); }
CUresult cuEventDestroy_v2(void *event) { return event ? 0 : 1; }
CUresult cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return say("follow", "%zu %zu", (size_t)stream, (size_t)event); }

/* Addresses of the device's, in whole pages. */
enum { PAGE = 4096 };
static const size_t reserved = (size_t)1 << 34;
static char *region, *fresh;
typedef struct piece {
    struct piece *next; /* of its list */
    char *memory;
    size_t bytes, pages;
} piece;
static piece *pieces, *unused;
static int users;
static pthread_mutex_t region_lock = PTHREAD_MUTEX_INITIALIZER;

static int memory_begins(void)
{
    pthread_mutex_lock(&region_lock);
    if (users++ == 0 && region)
        mprotect(region, (size_t)(fresh - region), PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&region_lock);
    return 0;
}
static void memory_ends(int *token)
{
    (void)token;
    pthread_mutex_lock(&region_lock);
    if (--users == 0 && region)
        mprotect(region, (size_t)(fresh - region), PROT_NONE);
    pthread_mutex_unlock(&region_lock);
}
/* In a block of which this is the first line the device's memory may be read and written. */
#define IN_MEMORY __attribute__((cleanup(memory_ends), unused)) int in_memory = memory_begins();

CUresult cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    const CUresult status = say("allocate", "%zu", bytes);
    if (status || live + (int64_t)bytes > ROOM)
        return status ? status : 2;
    const size_t pages = (bytes + 256 + PAGE - 1) / PAGE;
    pthread_mutex_lock(&region_lock);
    if (region == NULL)
        region = fresh = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    piece **from = &unused, *found;
    while (*from && (*from)->pages != pages)
        from = &(*from)->next;
    if ((found = *from) != NULL) {
        *from = found->next;
    } else {
        found = malloc(sizeof *found);
        *found = (piece){.memory = fresh, .pages = pages};
        if (users)
            mprotect(fresh, pages * PAGE, PROT_READ | PROT_WRITE);
        fresh += pages * PAGE;
    }
    found->bytes = bytes;
    found->next = pieces;
    pieces = found;
    live += (int64_t)bytes;
    pthread_mutex_unlock(&region_lock);
    return *address = (uint64_t)(uintptr_t)(found->memory + 256), 0;
}

CUresult cuMemFree_v2(uint64_t address)
{
    pthread_mutex_lock(&region_lock);
    piece **from = &pieces, *found;
    while ((*from)->memory + 256 != (char *)(uintptr_t)address)
        from = &(*from)->next;
    found = *from;
    *from = found->next;
    found->next = unused;
    unused = found;
    live -= (int64_t)found->bytes;
    pthread_mutex_unlock(&region_lock);
    return say("free", "%d", address != 0);
}

static CUresult copied(const char *what, uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    const CUresult status = say(what, "%zu %zu", bytes, (size_t)stream);
    if (status == 0) {
        IN_MEMORY
        memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    }
    return status;
}

CUresult cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) { return copied("to", to, (uintptr_t)from, bytes, stream); }
CUresult cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) { return copied("from", (uintptr_t)to, from, bytes, stream); }
CUresult cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) { return copied("within", to, from, bytes, stream); }
CUresult cuMemcpyPeerAsync(uint64_t to, void *context, uint64_t from, void *other, size_t bytes, void *stream)
{
    return context == other ? 1 : copied("peer", to, from, bytes, stream);
}

CUresult cuModuleLoadData(void **module, const void *image) { return *module = handle(), say("load", "%d", image != NULL); }
CUresult cuModuleUnload(void *module) { return say("unload", "%d", module != NULL); }
CUresult cuModuleGetFunction(void **function, void *module, const char *name) { return *function = handle(), say("function", "%s", name); }

/* A function of host_kernels.h; the handles that this driver makes are small numbers. */
typedef struct host_function host_function;
struct host_function {
    void (*run)(const host_function *, int64_t groups, int64_t group, char *const *pointers, const void *told);
    void *kernel;
    int64_t pointers, bytes;
};

enum { POINTERS = 16, BYTES = 4096, FUNCTIONS_OF_CUDA = 1 << 20 };
typedef struct launched {
    const host_function *function; /* NULL: one of CUDA's, which nothing here can run */
    int64_t groups, group;
    char *pointers[POINTERS], told[BYTES];
} launched;

static launched launch_of(void *function, unsigned groups, unsigned group, void **args)
{
    launched l = {.function = (uintptr_t)function > FUNCTIONS_OF_CUDA ? function : NULL, .groups = groups, .group = group};
    if (l.function == NULL)
        return l;
    for (int64_t k = 0; k < l.function->pointers; ++k)
        l.pointers[k] = *(char **)args[k];
    memcpy(l.told, args[l.function->pointers], (size_t)l.function->bytes);
    return l;
}

static void launch(const launched *l)
{
    ++fake_launches;
    if (l->function) {
        IN_MEMORY
        l->function->run(l->function, l->groups, l->group, l->pointers, l->told);
    }
}

CUresult cuLaunchKernel(void *f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned shared, void *stream,
                        void **args, void **extra)
{
    (void)b, (void)c, (void)e, (void)g, (void)shared, (void)extra;
    const CUresult status = say("launch", "%u %zu", a, (size_t)stream);
    if (status == 0 && (uintptr_t)f <= FUNCTIONS_OF_CUDA) {
        ++fake_launches; /* nothing else: there is who measures how long it takes to ask for this */
    } else if (status == 0) {
        const launched l = launch_of(f, a, d, args);
        launch(&l);
    }
    return status;
}

#include "fake_graphs.h"

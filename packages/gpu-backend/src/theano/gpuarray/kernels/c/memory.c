/* A cache of device memory: released pieces are kept, by size class, for later requests of the same class.
 *
 * An allocation by the driver takes longer than most kernels. Since a device does one thing after the other, memory can be
 * handed to the next kernel while the last one still runs.
 *
 * Overhead: a piece is at most an eighth longer than requested (or 512 bytes). Cached pieces never make a request fail: if a
 * new piece does not fit, all cached ones go back to the driver first. So a request fails only if the pieces in use and the
 * new one together exceed the device's memory, less the overhead of the driver and of the arena.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

struct th_gpu_waiting {
    char *memory;
    th_gpu_waiting *next;
};

/* The class of a size, of which there are eight for each doubling, and the size of that class. */
static int class_of(size_t bytes, size_t *rounded)
{
    if (bytes < 512)
        bytes = 512;
    const int top = 63 - __builtin_clzll(bytes);
    const size_t step = (size_t)1 << (top - 3);
    *rounded = (bytes + step - 1) / step * step;
    const int base = 63 - __builtin_clzll(*rounded);
    return (base - 9) * 8 + (int)((*rounded - ((size_t)1 << base)) >> (base - 3));
}

/* To the arena, or to the driver. */
static void give_back(th_gpu *gpu, char *memory, size_t rounded)
{
    if (th_gpu_arena_give(&gpu->arena, memory, rounded))
        return;
    gpu->counts.taken -= (int64_t)rounded;
    th_gpu_submit(gpu); /* whose failure the next request reports */
    gpu->driver->release(gpu, memory, rounded);
}

/* Tests: whether this call is the one that fails. */
static int fault(th_gpu *gpu, int which)
{
    if (gpu->fail_in[which] == 0 || __atomic_sub_fetch(&gpu->fail_in[which], 1, __ATOMIC_RELAXED))
        return 0;
    th_gpu_complain(gpu, "a fault that a test asked for", which);
    return 1;
}

static void drop_waiting(th_gpu *gpu)
{
    for (int k = 0; k < TH_GPU_CLASSES; ++k) {
        while (gpu->waiting[k]) {
            th_gpu_waiting *first = gpu->waiting[k];
            gpu->waiting[k] = first->next;
            size_t rounded = ((size_t)1 << (k / 8 + 9)) + ((size_t)(k % 8) << (k / 8 + 6));
            gpu->counts.waiting -= (int64_t)rounded;
            give_back(gpu, first->memory, rounded);
            free(first);
        }
    }
}

static char *fresh(th_gpu *gpu, size_t rounded)
{
    const int64_t wanted = gpu->counts.live + gpu->counts.waiting + (int64_t)rounded;
    if (gpu->limit && wanted > gpu->limit) {
        snprintf(gpu->error, sizeof gpu->error, "its limit is %lld bytes, of which %lld are in use", (long long)gpu->limit, (long long)gpu->counts.live);
        return NULL;
    }
    char *memory = th_gpu_arena_take(&gpu->arena, rounded);
    if (memory == NULL && (memory = gpu->driver->allocate(gpu, rounded)) != NULL)
        gpu->counts.taken += (int64_t)rounded;
    gpu->counts.refused += memory == NULL;
    return memory;
}

static char *take(th_gpu *gpu, size_t bytes)
{
    size_t rounded;
    const int k = class_of(bytes, &rounded);
    char *memory = NULL;
    if (k >= TH_GPU_CLASSES)
        return NULL;
    if (fault(gpu, TH_GPU_ALLOCATE))
        return NULL;
    if (gpu->waiting[k]) {
        th_gpu_waiting *first = gpu->waiting[k];
        gpu->waiting[k] = first->next;
        gpu->counts.waiting -= (int64_t)rounded;
        memory = first->memory;
        free(first);
    } else {
        memory = fresh(gpu, rounded);
        if (memory == NULL) { /* what waits may be what is missing */
            drop_waiting(gpu);
            memory = fresh(gpu, rounded);
        }
    }
    if (memory) {
        gpu->counts.allocations++;
        gpu->counts.live += (int64_t)rounded;
        if (gpu->counts.live > gpu->counts.peak)
            gpu->counts.peak = gpu->counts.live;
    }
    return memory;
}

static char *allocate(const th_device *device, size_t bytes)
{
    th_gpu *gpu = (th_gpu *)device;
    pthread_mutex_lock(&gpu->lock);
    char *memory = take(gpu, bytes);
    pthread_mutex_unlock(&gpu->lock);
    return memory;
}

static void release(const th_device *device, char *memory, size_t bytes)
{
    th_gpu *gpu = (th_gpu *)device;
    size_t rounded;
    const int k = class_of(bytes, &rounded);
    th_gpu_waiting *entry = gpu->keeps ? malloc(sizeof *entry) : NULL;
    pthread_mutex_lock(&gpu->lock);
    gpu->counts.live -= (int64_t)rounded;
    if (entry) {
        *entry = (th_gpu_waiting){memory, gpu->waiting[k]};
        gpu->waiting[k] = entry;
        gpu->counts.waiting += (int64_t)rounded;
    } else {
        give_back(gpu, memory, rounded);
    }
    pthread_mutex_unlock(&gpu->lock);
}

static int copy(const th_device *device, char *to, const char *from, size_t bytes, int32_t direction)
{
    th_gpu *gpu = (th_gpu *)device;
    __atomic_add_fetch(direction == TH_TO_DEVICE ? &gpu->counts.to : &gpu->counts.from, 1, __ATOMIC_RELAXED);
    return fault(gpu, TH_GPU_COPY) || th_gpu_submit(gpu) ? -1 : gpu->driver->copy(gpu, to, from, bytes, direction);
}

static int copy_from(const th_device *device, char *to, const th_device *other, const char *from, size_t bytes)
{
    th_gpu *gpu = (th_gpu *)device, *there = (th_gpu *)other;
    if (other->copy_from != copy_from || gpu->driver != there->driver) /* another layer's, or another driver's */
        return 1;
    if (fault(gpu, TH_GPU_COPY) || th_gpu_submit(there) || th_gpu_submit(gpu))
        return -1;
    const int status = gpu->driver->copy_from(gpu, to, there, from, bytes);
    if (status == 0)
        __atomic_add_fetch(&gpu->counts.between, 1, __ATOMIC_RELAXED);
    return status;
}

static const char *error(const th_device *device) { return ((const th_gpu *)device)->error; }

/* ------------------------------------------------------------------------------------------------------------------ */

void th_gpu_setup(th_gpu *gpu, const th_gpu_driver *driver, void *state)
{
    memset(gpu, 0, sizeof *gpu);
    gpu->memory = (th_device){allocate, release, copy, th_gpu_gather, th_gpu_scatter, copy_from, error, NULL, NULL};
    gpu->keeps = 1;
    gpu->driver = driver;
    gpu->state = state;
    pthread_mutex_init(&gpu->lock, NULL);
}

int th_gpu_launched(th_gpu *gpu, const th_gpu_launch *launch)
{
    __atomic_add_fetch(&gpu->counts.launches, 1, __ATOMIC_RELAXED);
    return fault(gpu, TH_GPU_LAUNCH) ? -1 : th_gpu_launch_later(gpu, launch);
}

int th_gpu_called(th_gpu *gpu, const th_gpu_call *call)
{
    __atomic_add_fetch(&gpu->counts.launches, 1, __ATOMIC_RELAXED);
    return th_gpu_submit(gpu) ? -1 : gpu->driver->call(gpu, call);
}

/* For Python: three numbers of groups and three of work-items, then as `th_gpu_call`. 0, or -1: `th_gpu_error`. */
TH_EXPORT int th_gpu_call_kernel(const th_gpu_kernel *kernel, const int64_t *sizes, int64_t shared, int64_t nargs,
                                 const int64_t *bytes, void **values)
{
    th_gpu_call call = {.function = kernel->function, .shared = shared, .nargs = (int)nargs, .bytes = bytes, .values = values};
    for (int d = 0; d < 3; ++d) {
        call.groups[d] = sizes[d];
        call.group[d] = sizes[3 + d];
    }
    return th_gpu_called(kernel->gpu, &call);
}

void th_gpu_complain(th_gpu *gpu, const char *what, int code) { snprintf(gpu->error, sizeof gpu->error, "%s (%d)", what, code); }

char *th_gpu_scratch(th_gpu *gpu, size_t bytes) { return allocate(&gpu->memory, bytes); }

void th_gpu_scratch_release(th_gpu *gpu, char *memory, size_t bytes) { release(&gpu->memory, memory, bytes); }

int th_gpu_failed(th_ctx *ctx, th_gpu *gpu) { return ctx->rt->fail(ctx, TH_ERR_DEVICE, "the device failed: %s", gpu->error); }

int th_gpu_launch_items(th_ctx *ctx, const th_gpu_kernel *kernel, int64_t n, int npointers, char **pointers, void *args, size_t bytes)
{
    th_gpu *gpu = kernel->gpu;
    const th_gpu_launch launch = {kernel->function, (n + gpu->group - 1) / gpu->group, gpu->group, npointers, pointers, args, bytes};
    return n && th_gpu_launched(gpu, &launch) ? th_gpu_failed(ctx, gpu) : 0;
}

int th_gpu_no_room(th_ctx *ctx, size_t bytes) { return ctx->rt->fail(ctx, TH_ERR_DEVICE_MEMORY, "no memory for %zu bytes on the device", bytes); }

int th_gpu_operands(th_ctx *ctx, uint64_t hosts, th_buffer **operands)
{
    int count = 0;
    for (int k = 0; k < ctx->nin; ++k) {
        if (!(hosts >> k & 1))
            operands[count++] = ctx->in[k];
    }
    for (int k = 0; k < ctx->nout; ++k)
        operands[count++] = ctx->out[k];
    return count;
}

char *th_gpu_numbers(th_ctx *ctx, uint64_t hosts, char *to, const void *constants, int64_t bytes)
{
    for (; hosts; hosts &= hosts - 1, to += 8) {
        const th_buffer *number = ctx->in[__builtin_ctzll(hosts)];
        memset(to, 0, 8);
        memcpy(to, number->data, (size_t)number->itemsize);
    }
    memcpy(to, constants, (size_t)bytes);
    return to + bytes;
}

double th_gpu_number(const th_buffer *x)
{
    float narrow;
    double wide;
    if (x->dtype == TH_FLOAT32) {
        memcpy(&narrow, x->data, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, x->data, sizeof wide);
    return wide;
}

int th_gpu_collapse(int ndim, int64_t *shape, int nops, int64_t *strides)
{
    int left = 0;
    for (int d = 0; d < ndim; ++d) {
        if (shape[d] == 1)
            continue;
        int joins = left > 0;
        for (int k = 0; joins && k < nops; ++k)
            joins = strides[k * ndim + left - 1] == strides[k * ndim + d] * shape[d];
        if (joins) {
            shape[left - 1] *= shape[d];
        } else {
            shape[left++] = shape[d];
        }
        for (int k = 0; k < nops; ++k)
            strides[k * ndim + left - 1] = strides[k * ndim + d];
    }
    for (int k = 1; k < nops; ++k)
        memmove(strides + k * left, strides + k * ndim, (size_t)left * sizeof *strides);
    return left;
}

/* The axis, except the last, with the smallest stride of some operand; -1 if the last has the smallest stride of each. */
static int other_axis(int axes, const int64_t *shape, int nops, const int64_t *strides)
{
    int found = -1;
    for (int k = 0; k < nops; ++k) {
        const int64_t *steps = strides + k * axes, last = th_gpu_distance(steps[axes - 1]);
        for (int d = 0; d < axes - 1; ++d) {
            if (steps[d] != 0 && th_gpu_distance(steps[d]) < last && shape[d] > 1 && (found < 0 || th_gpu_distance(steps[d]) < th_gpu_distance(steps[found])))
                found = d;
        }
    }
    return found;
}

/* The length of the side of a tile: the largest power of two up to `most` that divides an axis. */
static int64_t side(int64_t length, int64_t most)
{
    while (length % most)
        most /= 2;
    return most;
}

int th_gpu_tile(int axes, int64_t *shape, int nops, int64_t *strides)
{
    const int other = axes > 1 ? other_axis(axes, shape, nops, strides) : -1, last = axes - 1;
    if (other < 0)
        return axes;
    const int64_t high = side(shape[other], 8), wide = side(shape[last], 4); /* 8 numbers of 4 bytes, 4 packs of 16 bytes */
    if (high * wide < 8)
        return axes;
    for (int k = nops - 1; k >= 0; --k) { /* from the end, since rows become longer */
        int64_t steps[TH_MAX_NDIM + TH_GPU_TILING];
        memcpy(steps, strides + k * axes, (size_t)axes * sizeof *steps);
        steps[axes] = steps[other];
        steps[axes + 1] = steps[last];
        steps[other] *= high;
        steps[last] *= wide;
        memcpy(strides + k * (axes + TH_GPU_TILING), steps, (size_t)(axes + TH_GPU_TILING) * sizeof *steps);
    }
    shape[other] /= high;
    shape[last] /= wide;
    shape[axes] = high;
    shape[axes + 1] = wide;
    return axes + TH_GPU_TILING;
}

int th_gpu_in_packs(const th_buffer *b, int64_t width, int64_t step, int axes, const int64_t *others)
{
    const int64_t bytes = width * b->itemsize < 16 ? width * b->itemsize : 16;
    int64_t apart = (int64_t)(uintptr_t)b->data;
    for (int d = 0; d < axes; ++d)
        apart |= others[d];
    return step == 0 || (step == b->itemsize && apart % bytes == 0);
}

/* ------------------------------------------------------------------------------------------- for Python, by ctypes */

TH_EXPORT void th_gpu_read_counts(const th_gpu *gpu, int64_t *to) { memcpy(to, &gpu->counts, sizeof gpu->counts); }

TH_EXPORT int th_gpu_wait(th_gpu *gpu) { return fault(gpu, TH_GPU_WAIT) || th_gpu_submit(gpu) ? -1 : gpu->driver->wait(gpu); }

TH_EXPORT void th_gpu_trim(th_gpu *gpu)
{
    th_gpu_forget_recordings(gpu);
    pthread_mutex_lock(&gpu->lock);
    drop_waiting(gpu);
    pthread_mutex_unlock(&gpu->lock);
}

TH_EXPORT void th_gpu_set_limit(th_gpu *gpu, int64_t limit) { gpu->limit = limit; }

TH_EXPORT void th_gpu_set_fault(th_gpu *gpu, int64_t which, int64_t fail_in) { gpu->fail_in[which] = fail_in; }

/* Take an arena (once), or, below 0, cache nothing. Returns 0, or -1 if the arena does not fit. */
TH_EXPORT int th_gpu_preallocate(th_gpu *gpu, int64_t bytes)
{
    pthread_mutex_lock(&gpu->lock);
    int status = 0;
    gpu->keeps = bytes >= 0;
    if (bytes > 0 && gpu->arena.start == NULL) {
        gpu->arena.start = gpu->driver->allocate(gpu, (size_t)bytes);
        status = gpu->arena.start == NULL ? -1 : 0;
        if (status == 0) {
            gpu->arena.bytes = (size_t)bytes / 256 * 256;
            gpu->counts.taken += bytes;
            th_gpu_arena_give(&gpu->arena, gpu->arena.start, gpu->arena.bytes);
        }
    }
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

TH_EXPORT void th_gpu_set_mover(th_gpu *gpu, int64_t number, th_gpu_kernel *kernel) { (&gpu->movers.copy[0])[number] = kernel; }

TH_EXPORT const char *th_gpu_error(const th_gpu *gpu) { return gpu->error; }

TH_EXPORT th_gpu_kernel *th_gpu_kernel_new(th_gpu *gpu, void *function)
{
    th_gpu_kernel *kernel = malloc(sizeof *kernel);
    if (kernel)
        *kernel = (th_gpu_kernel){gpu, function};
    return kernel;
}

TH_EXPORT void th_gpu_kernel_free(th_gpu_kernel *kernel) { free(kernel); }

/* The driver for OpenCL 1.2 and later.
 *
 * Python finds the device, makes the context and the queue and builds programs; what runs for each launch is here. The
 * library is opened where Python found it, so this file needs no header of OpenCL's: the few types and numbers it uses are
 * those of the standard's ABI.
 *
 * A buffer of OpenCL has a handle and no address. Kernels of ours see addresses, which can be added to; so each buffer
 * reserves a range of addresses of this process without read or write access, and is found by it.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef struct opaque *cl_object;

enum { CL_MEM_READ_WRITE = 1, CL_TRUE = 1, CL_MEM_SIZE = 0x1102, CL_MEM_CONTEXT = 0x1106 };

/* NAME, what it returns, what it takes */
#define FUNCTIONS(X)                                                                                                              \
    X(clCreateBuffer, cl_object, (cl_object, uint64_t, size_t, void *, cl_int *))                                                 \
    X(clReleaseMemObject, cl_int, (cl_object))                                                                                    \
    X(clRetainMemObject, cl_int, (cl_object))                                                                                     \
    X(clGetMemObjectInfo, cl_int, (cl_object, cl_uint, size_t, void *, size_t *))                                                 \
    X(clEnqueueMarkerWithWaitList, cl_int, (cl_object, cl_uint, const cl_object *, cl_object *))                                  \
    X(clEnqueueBarrierWithWaitList, cl_int, (cl_object, cl_uint, const cl_object *, cl_object *))                                 \
    X(clReleaseEvent, cl_int, (cl_object))                                                                                        \
    X(clEnqueueWriteBuffer, cl_int,                                                                                               \
      (cl_object, cl_object, cl_uint, size_t, size_t, const void *, cl_uint, const cl_object *, cl_object *))                     \
    X(clEnqueueReadBuffer, cl_int, (cl_object, cl_object, cl_uint, size_t, size_t, void *, cl_uint, const cl_object *, cl_object *)) \
    X(clEnqueueCopyBuffer, cl_int,                                                                                                \
      (cl_object, cl_object, cl_object, size_t, size_t, size_t, cl_uint, const cl_object *, cl_object *))                         \
    X(clSetKernelArg, cl_int, (cl_object, cl_uint, size_t, const void *))                                                         \
    X(clEnqueueNDRangeKernel, cl_int,                                                                                             \
      (cl_object, cl_object, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint, const cl_object *, cl_object *))   \
    X(clFlush, cl_int, (cl_object))                                                                                               \
    X(clFinish, cl_int, (cl_object))

typedef struct buffer {
    char *start;
    size_t bytes;
    cl_object handle;
    int users; /* the pool, and arrays of other libraries that are this buffer */
} buffer;

typedef struct opencl {
    cl_object context, queue;
    pthread_mutex_t lock; /* of the table, and of the arguments of kernels, which are set before a launch */
    buffer *buffers;      /* by their addresses */
    size_t count, room;
#define X(name, returns, takes) returns(*name) takes;
    FUNCTIONS(X)
#undef X
} opencl;

/* How many buffers begin at or before an address. */
static size_t position(const opencl *cl, const char *address)
{
    size_t low = 0, high = cl->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cl->buffers[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static buffer *buffer_at(const opencl *cl, const char *address)
{
    const size_t k = position(cl, address);
    buffer *found = k ? &cl->buffers[k - 1] : NULL;
    return found && address < found->start + found->bytes ? found : NULL;
}

static int failed(th_gpu *gpu, const char *what, cl_int code)
{
    th_gpu_complain(gpu, what, code);
    return -1;
}

static int enter(opencl *cl, buffer one)
{
    if (cl->count == cl->room) {
        const size_t room = cl->room ? 2 * cl->room : 64;
        buffer *more = realloc(cl->buffers, room * sizeof *more);
        if (more == NULL)
            return -1;
        cl->buffers = more;
        cl->room = room;
    }
    const size_t k = position(cl, one.start);
    memmove(cl->buffers + k + 1, cl->buffers + k, (cl->count - k) * sizeof *cl->buffers);
    cl->buffers[k] = one;
    cl->count++;
    return 0;
}

static char *allocate(th_gpu *gpu, size_t bytes)
{
    opencl *cl = gpu->state;
    cl_int status = 0;
    char *start = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    cl_object handle = cl->clCreateBuffer(cl->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (handle && status == 0) {
        pthread_mutex_lock(&cl->lock);
        status = enter(cl, (buffer){start, bytes, handle, 1});
        pthread_mutex_unlock(&cl->lock);
        if (status == 0)
            return start;
        cl->clReleaseMemObject(handle);
    }
    th_gpu_complain(gpu, "clCreateBuffer", status);
    munmap(start, bytes);
    return NULL;
}

static void release(th_gpu *gpu, char *memory, size_t bytes)
{
    opencl *cl = gpu->state;
    pthread_mutex_lock(&cl->lock);
    const size_t k = position(cl, memory);
    cl_object handle = cl->buffers[k - 1].handle;
    memmove(cl->buffers + k - 1, cl->buffers + k, (cl->count - k) * sizeof *cl->buffers);
    cl->count--;
    pthread_mutex_unlock(&cl->lock);
    cl->clReleaseMemObject(handle); /* commands submitted before are done first */
    munmap(memory, bytes);
}

static int copy(th_gpu *gpu, char *to, const char *from, size_t bytes, int32_t direction)
{
    opencl *cl = gpu->state;
    pthread_mutex_lock(&cl->lock);
    const buffer *found = buffer_at(cl, direction == TH_TO_DEVICE ? to : from);
    const buffer one = found ? *found : (buffer){NULL, 0, NULL, 0};
    pthread_mutex_unlock(&cl->lock);
    if (one.handle == NULL)
        return failed(gpu, "a copy between addresses that are not the device's", 0);
    cl_int status = direction == TH_TO_DEVICE
                        ? cl->clEnqueueWriteBuffer(cl->queue, one.handle, CL_TRUE, (size_t)(to - one.start), bytes, from, 0, NULL, NULL)
                        : cl->clEnqueueReadBuffer(cl->queue, one.handle, CL_TRUE, (size_t)(from - one.start), bytes, to, 0, NULL, NULL);
    return status ? failed(gpu, "a transfer", status) : 0;
}

static int launch_locked(th_gpu *gpu, opencl *cl, const th_gpu_launch *launch)
{
    cl_object kernel = launch->function;
    cl_int status = 0;
    for (int k = 0; k < launch->npointers && status == 0; ++k) {
        const buffer *found = buffer_at(cl, launch->pointers[k]);
        if (found == NULL)
            return failed(gpu, "an operand that is not in the device's memory", k);
        launch->args[k] = launch->pointers[k] - found->start;
        status = cl->clSetKernelArg(kernel, (cl_uint)k, sizeof found->handle, &found->handle);
    }
    if (status == 0)
        status = cl->clSetKernelArg(kernel, (cl_uint)launch->npointers, launch->bytes, launch->args);
    if (status)
        return failed(gpu, "clSetKernelArg", status);
    const size_t items = (size_t)(launch->groups * launch->group), group = (size_t)launch->group;
    status = cl->clEnqueueNDRangeKernel(cl->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL);
    return status ? failed(gpu, "clEnqueueNDRangeKernel", status) : 0;
}

static int launch(th_gpu *gpu, const th_gpu_launch *what)
{
    opencl *cl = gpu->state;
    pthread_mutex_lock(&cl->lock);
    const int status = launch_locked(gpu, cl, what);
    pthread_mutex_unlock(&cl->lock);
    return status;
}

static int call_locked(th_gpu *gpu, opencl *cl, const th_gpu_call *call)
{
    cl_object kernel = call->function;
    cl_int status = 0;
    for (int k = 0; k < call->nargs && status == 0; ++k) {
        if (call->bytes[k]) {
            status = cl->clSetKernelArg(kernel, (cl_uint)k, (size_t)call->bytes[k], call->values[k]);
            continue;
        }
        const buffer *found = buffer_at(cl, call->values[k]);
        if (found == NULL || found->start != call->values[k])
            return failed(gpu, "an argument that is not the beginning of memory of the device's", k);
        status = cl->clSetKernelArg(kernel, (cl_uint)k, sizeof found->handle, &found->handle);
    }
    if (status == 0 && call->shared)
        status = cl->clSetKernelArg(kernel, (cl_uint)call->nargs, (size_t)call->shared, NULL);
    if (status)
        return failed(gpu, "clSetKernelArg", status);
    size_t items[3], group[3];
    for (int d = 0; d < 3; ++d) {
        group[d] = (size_t)call->group[d];
        items[d] = (size_t)(call->groups[d] * call->group[d]);
    }
    status = cl->clEnqueueNDRangeKernel(cl->queue, kernel, 3, NULL, items, group, 0, NULL, NULL);
    return status ? failed(gpu, "clEnqueueNDRangeKernel", status) : 0;
}

static int call(th_gpu *gpu, const th_gpu_call *what)
{
    opencl *cl = gpu->state;
    pthread_mutex_lock(&cl->lock);
    const int status = call_locked(gpu, cl, what);
    pthread_mutex_unlock(&cl->lock);
    return status;
}

static int wait_for_all(th_gpu *gpu)
{
    opencl *cl = gpu->state;
    const cl_int status = cl->clFinish(cl->queue);
    return status ? failed(gpu, "clFinish", status) : 0;
}

/* The queue waits for what another one was asked for until now. */
static cl_int follow(const opencl *cl, const opencl *other)
{
    cl_object done = NULL;
    cl_int status = cl->clEnqueueMarkerWithWaitList(other->queue, 0, NULL, &done);
    if (status == 0)
        status = cl->clEnqueueBarrierWithWaitList(cl->queue, 1, &done, NULL);
    if (done)
        cl->clReleaseEvent(done);
    return status ? status : cl->clFlush(other->queue);
}

static int copy_from(th_gpu *gpu, char *to, th_gpu *other, const char *from, size_t bytes)
{
    opencl *cl = gpu->state, *there = other->state;
    buffer ends[2] = {{NULL, 0, NULL, 0}, {NULL, 0, NULL, 0}};
    if (cl->context != there->context)
        return 1;
    for (int k = 0; k < 2; ++k) {
        opencl *side = k ? there : cl;
        pthread_mutex_lock(&side->lock);
        const buffer *found = buffer_at(side, k ? from : to);
        if (found)
            ends[k] = *found;
        pthread_mutex_unlock(&side->lock);
        if (found == NULL)
            return failed(gpu, "a copy between addresses that are not the devices'", 0);
    }
    cl_int status = follow(cl, there);
    if (status == 0)
        status = cl->clEnqueueCopyBuffer(cl->queue, ends[1].handle, ends[0].handle, (size_t)(from - ends[1].start),
                                         (size_t)(to - ends[0].start), bytes, 0, NULL, NULL);
    if (status == 0)
        status = follow(there, cl); /* the source may be overwritten only then */
    return status ? failed(gpu, "a copy from another device", status) : 0;
}

static void stop(th_gpu *gpu)
{
    opencl *cl = gpu->state;
    free(cl->buffers);
    free(cl);
}

static const th_gpu_driver driver = {allocate, release, copy, launch, call, NULL, wait_for_all, copy_from, stop};

/* A device whose context and queue Python has made; NULL: `library` is not OpenCL's. */
TH_EXPORT th_gpu *th_gpu_opencl(const char *library, void *context, void *queue, int64_t group, int64_t processors)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    opencl *cl = calloc(1, sizeof *cl);
    th_gpu *gpu = malloc(sizeof *gpu);
    int missing = handle == NULL || cl == NULL || gpu == NULL;
    if (!missing) {
#define X(name, returns, takes) missing |= (*(void **)&cl->name = dlsym(handle, #name)) == NULL;
        FUNCTIONS(X)
#undef X
    }
    if (missing) {
        free(cl);
        free(gpu);
        return NULL;
    }
    pthread_mutex_init(&cl->lock, NULL);
    cl->context = context;
    cl->queue = queue;
    th_gpu_setup(gpu, &driver, cl);
    gpu->group = group;
    gpu->processors = processors;
    return gpu;
}

/* ------------------------------------------------------------------------------ buffers of other libraries, and for them */

/* The buffer at an address, and how many bytes from its beginning that is. NULL: none of this device's. */
TH_EXPORT void *th_gpu_opencl_lend(th_gpu *gpu, const char *address, int64_t *offset)
{
    opencl *cl = gpu->state;
    pthread_mutex_lock(&cl->lock);
    const buffer *found = buffer_at(cl, address);
    *offset = found ? address - found->start : 0;
    void *handle = found ? found->handle : NULL;
    pthread_mutex_unlock(&cl->lock);
    return handle;
}

static buffer *known(opencl *cl, cl_object handle)
{
    for (size_t k = 0; k < cl->count; ++k) {
        if (cl->buffers[k].handle == handle)
            return &cl->buffers[k];
    }
    return NULL;
}

/* The address at which a buffer begins from now on, and its bytes; `th_gpu_opencl_forget` ends that. NULL: it is of
 * another context of OpenCL's. */
TH_EXPORT char *th_gpu_opencl_adopt(th_gpu *gpu, void *handle, int64_t *bytes)
{
    opencl *cl = gpu->state;
    cl_object context = NULL;
    size_t size = 0;
    if (cl->clGetMemObjectInfo(handle, CL_MEM_CONTEXT, sizeof context, &context, NULL) || context != cl->context)
        return NULL;
    if (cl->clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof size, &size, NULL))
        return NULL;
    *bytes = (int64_t)size;
    pthread_mutex_lock(&cl->lock);
    buffer *found = known(cl, handle);
    char *start = found ? found->start : mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found) {
        found->users++;
    } else if (start == MAP_FAILED) {
        start = NULL;
    } else if (enter(cl, (buffer){start, size, handle, 1})) {
        munmap(start, size);
        start = NULL;
    } else {
        cl->clRetainMemObject(handle);
    }
    pthread_mutex_unlock(&cl->lock);
    return start;
}

TH_EXPORT void th_gpu_opencl_forget(th_gpu *gpu, char *start)
{
    opencl *cl = gpu->state;
    pthread_mutex_lock(&cl->lock);
    buffer *found = buffer_at(cl, start);
    const int last = found && --found->users == 0;
    const size_t bytes = found ? found->bytes : 0;
    pthread_mutex_unlock(&cl->lock);
    if (last)
        release(gpu, start, bytes);
}

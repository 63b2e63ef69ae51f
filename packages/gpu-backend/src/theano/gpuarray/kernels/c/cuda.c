/* The driver for CUDA, on the driver's own interface (libcuda), which is opened when a device is started.
 *
 * Programs are compiled by NVRTC, from Python; their machine code is loaded here. One stream per device keeps the order.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

typedef th_cuda cuda;

enum { COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76, PROCESSORS = 16 }; /* CU_DEVICE_ATTRIBUTE_... */

static int failed(th_gpu *gpu, const char *what, CUresult code)
{
    th_gpu_complain(gpu, what, code);
    return -1;
}

static char *allocate(th_gpu *gpu, size_t bytes)
{
    cuda *cu = gpu->state;
    CUdeviceptr made = 0;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuMemAlloc_v2(&made, bytes);
    if (status == 0)
        return (char *)(uintptr_t)made;
    th_gpu_complain(gpu, "cuMemAlloc", status);
    return NULL;
}

static void release(th_gpu *gpu, char *memory, size_t bytes)
{
    cuda *cu = gpu->state;
    (void)bytes;
    if (cu->cuCtxSetCurrent(cu->context) == 0)
        cu->cuMemFree_v2((CUdeviceptr)(uintptr_t)memory); /* which waits for the work submitted before */
}

static int copy(th_gpu *gpu, char *to, const char *from, size_t bytes, int32_t direction)
{
    cuda *cu = gpu->state;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = direction == TH_TO_DEVICE ? cu->cuMemcpyHtoDAsync_v2((CUdeviceptr)(uintptr_t)to, from, bytes, cu->stream)
                                           : cu->cuMemcpyDtoHAsync_v2(to, (CUdeviceptr)(uintptr_t)from, bytes, cu->stream);
    if (status == 0)
        status = cu->cuStreamSynchronize(cu->stream);
    return status ? failed(gpu, "a transfer", status) : 0;
}

static int launch(th_gpu *gpu, const th_gpu_launch *what)
{
    cuda *cu = gpu->state;
    void *args[TH_GPU_POINTERS + 1];
    for (int k = 0; k < what->npointers; ++k) {
        what->args[k] = 0;
        args[k] = (void *)&what->pointers[k];
    }
    args[what->npointers] = what->args;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuLaunchKernel(what->function, (unsigned)what->groups, 1, 1, (unsigned)what->group, 1, 1, 0, cu->stream, args, NULL);
    return status ? failed(gpu, "cuLaunchKernel", status) : 0;
}

static int call(th_gpu *gpu, const th_gpu_call *what)
{
    cuda *cu = gpu->state;
    void *args[TH_GPU_POINTERS];
    for (int k = 0; k < what->nargs; ++k)
        args[k] = what->bytes[k] ? what->values[k] : (void *)&what->values[k];
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuLaunchKernel(what->function, (unsigned)what->groups[0], (unsigned)what->groups[1], (unsigned)what->groups[2],
                                    (unsigned)what->group[0], (unsigned)what->group[1], (unsigned)what->group[2],
                                    (unsigned)what->shared, cu->stream, args, NULL);
    return status ? failed(gpu, "cuLaunchKernel", status) : 0;
}

static void *enter(th_gpu *gpu)
{
    cuda *cu = gpu->state;
    const CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status)
        th_gpu_complain(gpu, "cuCtxSetCurrent", status);
    return status ? NULL : cu->stream;
}

static int wait_for_all(th_gpu *gpu)
{
    cuda *cu = gpu->state;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuStreamSynchronize(cu->stream);
    return status ? failed(gpu, "cuStreamSynchronize", status) : 0;
}

/* A stream waits for what another one, of a context, was asked for until now. */
static CUresult follow(const cuda *cu, void *stream, void *other, void *context_of_other)
{
    void *event = NULL;
    CUresult status = cu->cuCtxSetCurrent(context_of_other);
    if (status == 0)
        status = cu->cuEventCreate(&event, 2); /* CU_EVENT_DISABLE_TIMING */
    if (status == 0)
        status = cu->cuEventRecord(event, other);
    if (status == 0)
        status = cu->cuStreamWaitEvent(stream, event, 0);
    if (event)
        cu->cuEventDestroy_v2(event); /* once nothing waits for it */
    return status;
}

static int copy_from(th_gpu *gpu, char *to, th_gpu *other, const char *from, size_t bytes)
{
    const cuda *cu = gpu->state, *there = other->state;
    const CUdeviceptr target = (CUdeviceptr)(uintptr_t)to, source = (CUdeviceptr)(uintptr_t)from;
    CUresult status = follow(cu, cu->stream, there->stream, there->context);
    if (status == 0)
        status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->context == there->context ? cu->cuMemcpyDtoDAsync_v2(target, source, bytes, cu->stream)
                                               : cu->cuMemcpyPeerAsync(target, cu->context, source, there->context, bytes, cu->stream);
    if (status == 0)
        status = follow(cu, there->stream, cu->stream, cu->context); /* the source may be overwritten only then */
    return status ? failed(gpu, "a copy from another device", status) : 0;
}

static void stop(th_gpu *gpu)
{
    cuda *cu = gpu->state;
    cu->cuDevicePrimaryCtxRelease_v2(cu->device);
    free(cu);
}

static const th_gpu_driver driver = {allocate, release, copy, launch, call, enter, wait_for_all, copy_from, stop};

static CUresult start(cuda *cu, int number, unsigned schedule)
{
    CUresult status = cu->cuInit(0);
    if (status == 0)
        status = cu->cuDeviceGet(&cu->device, number);
    if (status == 0 && schedule)
        status = cu->cuDevicePrimaryCtxSetFlags_v2(cu->device, schedule);
    if (status == 0)
        status = cu->cuDevicePrimaryCtxRetain(&cu->context, cu->device);
    if (status == 0)
        status = cu->cuCtxSetCurrent(cu->context);
    return status ? status : cu->cuStreamCreate(&cu->stream, 1); /* one that waits for no other */
}

static int opens_graphs(cuda *cu, void *library)
{
    int missing = 0;
#define X(name, takes) missing |= (*(void **)&cu->name = dlsym(library, #name)) == NULL;
    TH_CUDA_GRAPH_FUNCTIONS(X)
#undef X
    return !missing;
}

/* The device of that number, on which threads wait as `schedule` says (CU_CTX_SCHED_...; 0: as the driver likes). NULL:
 * `*code` is the error of the driver, or -1 if the driver is missing. */
TH_EXPORT th_gpu *th_gpu_cuda(const char *library, int64_t number, int64_t group, int64_t schedule, int64_t *code)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    cuda *cu = calloc(1, sizeof *cu);
    th_gpu *gpu = malloc(sizeof *gpu);
    int missing = handle == NULL || cu == NULL || gpu == NULL;
    *code = -1;
    if (!missing) {
#define X(name, takes) missing |= (*(void **)&cu->name = dlsym(handle, #name)) == NULL;
        TH_CUDA_FUNCTIONS(X)
#undef X
    }
    if (missing || (*code = start(cu, (int)number, (unsigned)schedule)) != 0) {
        free(cu);
        free(gpu);
        return NULL;
    }
    int processors = 0;
    cu->cuDeviceGetAttribute(&processors, PROCESSORS, cu->device);
    th_gpu_setup(gpu, &driver, cu);
    if (opens_graphs(cu, handle))
        th_gpu_use_recorder(gpu, &th_cuda_recorder);
    gpu->group = group;
    gpu->processors = processors;
    return gpu;
}

/* Its name and its compute capability (10 times the major number, and the minor one). */
TH_EXPORT int64_t th_gpu_cuda_describe(const th_gpu *gpu, char *name, int64_t room)
{
    const cuda *cu = gpu->state;
    int major = 0, minor = 0;
    cu->cuDeviceGetName(name, (int)room, cu->device);
    cu->cuDeviceGetAttribute(&major, COMPUTE_MAJOR, cu->device);
    cu->cuDeviceGetAttribute(&minor, COMPUTE_MINOR, cu->device);
    return 10 * major + minor;
}

/* A module of machine code (`binary`, from NVRTC), and a function of it. NULL: `th_gpu_error` says why. */
TH_EXPORT void *th_gpu_cuda_module(th_gpu *gpu, const char *binary)
{
    cuda *cu = gpu->state;
    void *module = NULL;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0)
        status = cu->cuModuleLoadData(&module, binary);
    if (status)
        th_gpu_complain(gpu, "cuModuleLoadData", status);
    return status ? NULL : module;
}

TH_EXPORT void th_gpu_cuda_unload(th_gpu *gpu, void *module)
{
    cuda *cu = gpu->state;
    if (cu->cuCtxSetCurrent(cu->context) == 0)
        cu->cuModuleUnload(module);
}

TH_EXPORT void *th_gpu_cuda_function(th_gpu *gpu, void *module, const char *name)
{
    cuda *cu = gpu->state;
    void *function = NULL;
    const CUresult status = cu->cuModuleGetFunction(&function, module, name);
    if (status)
        th_gpu_complain(gpu, "cuModuleGetFunction", status);
    return status ? NULL : function;
}

TH_EXPORT int64_t th_gpu_cuda_memory(const th_gpu *gpu)
{
    const cuda *cu = gpu->state;
    size_t bytes = 0;
    return cu->cuDeviceTotalMem_v2(&bytes, cu->device) ? 0 : (int64_t)bytes;
}

/* The stream on which everything happens; what was put off is asked for now, so that who waits for the stream waits for that, too. */
TH_EXPORT void *th_gpu_cuda_stream(th_gpu *gpu)
{
    th_gpu_submit(gpu);
    return ((const cuda *)gpu->state)->stream;
}

/* One of the two waits for the other: our stream for another library's (`ours` not 0), or that one for ours. Where its
 * stream is not known (NULL), the host waits for everything. 0, or -1. */
TH_EXPORT int th_gpu_cuda_follow(th_gpu *gpu, void *stream, int64_t ours)
{
    const cuda *cu = gpu->state;
    if (th_gpu_submit(gpu))
        return -1;
    CUresult status = cu->cuCtxSetCurrent(cu->context);
    if (status == 0 && stream == NULL)
        status = cu->cuCtxSynchronize();
    else if (status == 0)
        status = ours ? follow(cu, cu->stream, stream, cu->context) : follow(cu, stream, cu->stream, cu->context);
    return status ? failed(gpu, "waiting for a stream", status) : 0;
}

/* The number of the device on which an address is; -1: none. */
TH_EXPORT int64_t th_gpu_cuda_place(const th_gpu *gpu, const char *address)
{
    const cuda *cu = gpu->state;
    int number = -1;
    const CUresult status = cu->cuPointerGetAttribute(&number, 9, (CUdeviceptr)(uintptr_t)address); /* ..._DEVICE_ORDINAL */
    return status ? -1 : number;
}

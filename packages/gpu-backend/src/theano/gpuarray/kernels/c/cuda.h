/* CUDA's driver as `cuda.c` has opened it. */
#ifndef THEANO_GPU_CUDA_H
#define THEANO_GPU_CUDA_H

#include "gpu.h"

typedef int CUresult;
typedef uint64_t CUdeviceptr;

/* A launch as graphs have it: CUDA_KERNEL_NODE_PARAMS_v2. */
typedef struct th_cuda_node {
    void *function;
    unsigned groups[3], group[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
} th_cuda_node;

/* NAME, what it takes */
#define TH_CUDA_FUNCTIONS(X)                                                                                               \
    X(cuInit, (unsigned))                                                                                                  \
    X(cuDeviceGet, (int *, int))                                                                                           \
    X(cuDeviceGetName, (char *, int, int))                                                                                 \
    X(cuDeviceGetAttribute, (int *, int, int))                                                                             \
    X(cuDeviceTotalMem_v2, (size_t *, int))                                                                                \
    X(cuDevicePrimaryCtxSetFlags_v2, (int, unsigned))                                                                      \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                            \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                                 \
    X(cuCtxSetCurrent, (void *))                                                                                           \
    X(cuPointerGetAttribute, (void *, int, CUdeviceptr))                                                                   \
    X(cuCtxSynchronize, (void))                                                                                            \
    X(cuEventCreate, (void **, unsigned))                                                                                  \
    X(cuEventRecord, (void *, void *))                                                                                     \
    X(cuEventDestroy_v2, (void *))                                                                                         \
    X(cuStreamWaitEvent, (void *, void *, unsigned))                                                                       \
    X(cuStreamCreate, (void **, unsigned))                                                                                 \
    X(cuStreamSynchronize, (void *))                                                                                       \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                              \
    X(cuMemFree_v2, (CUdeviceptr))                                                                                         \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, void *))                                                   \
    X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, void *))                                                         \
    X(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, void *))                                                    \
    X(cuMemcpyPeerAsync, (CUdeviceptr, void *, CUdeviceptr, void *, size_t, void *))                                       \
    X(cuModuleLoadData, (void **, const void *))                                                                           \
    X(cuModuleUnload, (void *))                                                                                            \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                                \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))

/* Those of graphs, which a driver of CUDA 12 has; without them nothing is recorded. */
#define TH_CUDA_GRAPH_FUNCTIONS(X)                                                                                         \
    X(cuStreamBeginCapture_v2, (void *, int))                                                                              \
    X(cuStreamEndCapture, (void *, void **))                                                                               \
    X(cuGraphCreate, (void **, unsigned))                                                                                  \
    X(cuGraphDestroy, (void *))                                                                                            \
    X(cuGraphAddKernelNode_v2, (void **, void *, void *const *, size_t, const th_cuda_node *))                             \
    X(cuGraphAddChildGraphNode, (void **, void *, void *const *, size_t, void *))                                          \
    X(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                                                  \
    X(cuGraphExecKernelNodeSetParams_v2, (void *, void *, const th_cuda_node *))                                           \
    X(cuGraphExecChildGraphNodeSetParams, (void *, void *, void *))                                                        \
    X(cuGraphLaunch, (void *, void *))                                                                                     \
    X(cuGraphExecDestroy, (void *))

typedef struct th_cuda {
    int device;
    void *context, *stream;
    void *side; /* another stream, on which nothing is done but recorded; NULL: not made yet */
#define X(name, takes) CUresult(*name) takes;
    TH_CUDA_FUNCTIONS(X)
    TH_CUDA_GRAPH_FUNCTIONS(X)
#undef X
} th_cuda;

extern const th_gpu_recorder th_cuda_recorder; /* `cuda_graph.c` */

#endif

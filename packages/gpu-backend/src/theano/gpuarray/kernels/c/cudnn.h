/* The calls of cuDNN: convolutions (`cudnn.c`) and pooling (`cudnn_pool.c`). */
#ifndef THEANO_GPU_CUDNN_H
#define THEANO_GPU_CUDNN_H

#include <stddef.h>

#include "gpu.h"

/* Its numbers for types, layouts, kinds of convolution, kinds of arithmetic, and pooling. */
enum th_cudnn_number {
    TH_CUDNN_DATA_FLOAT = 0,
    TH_CUDNN_DATA_DOUBLE = 1,
    TH_CUDNN_DATA_HALF = 2,
    TH_CUDNN_TENSOR_NCHW = 0,
    TH_CUDNN_CONVOLUTION = 0,
    TH_CUDNN_CROSS_CORRELATION = 1,
    TH_CUDNN_DEFAULT_MATH = 0,
    TH_CUDNN_FMA_MATH = 3,
    TH_CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING = 1,
    TH_CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING = 2,
    TH_CUDNN_PROPAGATE_NAN = 1,
};

enum { TH_CUDNN_AXES = 5 }; /* of a tensor, at most: images, channels, places */

/* What cuDNN says of an algorithm: cudnnConvolutionFwdAlgoPerf_t, and the same of gradients. */
typedef struct th_cudnn_algorithm {
    int number, status;
    float time;
    size_t bytes; /* of working memory */
    int is_deterministic, math, reserved[3];
} th_cudnn_algorithm;

/* NAME, what it takes: enumerations are ints, descriptors and what is on the device addresses */
#define TH_CUDNN_FUNCTIONS(X)                                                                                                      \
    X(cudnnCreate, (void **))                                                                                                      \
    X(cudnnSetStream, (void *, void *))                                                                                            \
    X(cudnnCreateTensorDescriptor, (void **))                                                                                      \
    X(cudnnSetTensorNdDescriptor, (void *, int, int, const int *, const int *))                                                    \
    X(cudnnCreateFilterDescriptor, (void **))                                                                                      \
    X(cudnnSetFilterNdDescriptor, (void *, int, int, int, const int *))                                                            \
    X(cudnnCreateConvolutionDescriptor, (void **))                                                                                 \
    X(cudnnSetConvolutionNdDescriptor, (void *, int, const int *, const int *, const int *, int, int))                             \
    X(cudnnSetConvolutionGroupCount, (void *, int))                                                                                \
    X(cudnnSetConvolutionMathType, (void *, int))                                                                                  \
    X(cudnnGetConvolutionForwardAlgorithm_v7, (void *, void *, void *, void *, void *, int, int *, th_cudnn_algorithm *))          \
    X(cudnnGetConvolutionBackwardDataAlgorithm_v7, (void *, void *, void *, void *, void *, int, int *, th_cudnn_algorithm *))     \
    X(cudnnGetConvolutionBackwardFilterAlgorithm_v7, (void *, void *, void *, void *, void *, int, int *, th_cudnn_algorithm *))   \
    X(cudnnConvolutionForward, (void *, const void *, void *, const void *, void *, const void *, void *, int, void *, size_t,     \
                                const void *, void *, void *))                                                                     \
    X(cudnnConvolutionBackwardData, (void *, const void *, void *, const void *, void *, const void *, void *, int, void *,        \
                                     size_t, const void *, void *, void *))                                                        \
    X(cudnnConvolutionBackwardFilter, (void *, const void *, void *, const void *, void *, const void *, void *, int, void *,      \
                                       size_t, const void *, void *, void *))                                                      \
    X(cudnnCreatePoolingDescriptor, (void **))                                                                                     \
    X(cudnnSetPoolingNdDescriptor, (void *, int, int, int, const int *, const int *, const int *))                                 \
    X(cudnnPoolingForward, (void *, void *, const void *, void *, const void *, const void *, void *, void *))                     \
    X(cudnnPoolingBackward, (void *, void *, const void *, void *, const void *, void *, const void *, void *, const void *,       \
                             const void *, void *, void *))

typedef struct th_cudnn_choice th_cudnn_choice; /* `cudnn.c` */

struct th_gpu_cudnn {
    void *handle, *stream; /* that it is on */
    void *image, *output, *kernel, *convolution, *pooling; /* descriptors */
    size_t room; /* bytes to work in, at most */
    int tf32, count;
    th_cudnn_choice *chosen; /* earlier ones, of which each new one replaces the oldest */
    pthread_mutex_t lock;    /* a handle is for one thread at a time */
#define X(name, takes) int(*name) takes;
    TH_CUDNN_FUNCTIONS(X)
#undef X
};

/* Lengths, and distances in elements, of a tensor with strides in bytes. 0: cuDNN has no words for that. */
int th_cudnn_describe(int ndim, const int64_t *length, const int64_t *stride, int64_t size, int *lengths, int *steps);

/* Its number for a dtype of floats. */
static inline int th_cudnn_type(int32_t dtype)
{
    return dtype == TH_FLOAT64 ? TH_CUDNN_DATA_DOUBLE : dtype == TH_FLOAT16 ? TH_CUDNN_DATA_HALF : TH_CUDNN_DATA_FLOAT;
}

/* The factors 0 and 1 of new results and old values; float32 for float16, too. */
static inline const void *th_cudnn_factor(int type, int which)
{
    static const float singles[] = {0, 1};
    static const double doubles[] = {0, 1};
    return type == TH_CUDNN_DATA_DOUBLE ? (const void *)(doubles + which) : (const void *)(singles + which);
}

/* For a `th_gpu_run`: calls of cuDNN on a stream, no other thread's between them. 0, or -1 with the error about `what` set. */
typedef int th_cudnn_calls(struct th_gpu_cudnn *dnn, const void *told);
int th_cudnn_run(th_gpu *gpu, void *stream, th_cudnn_calls *calls, const void *told, const char *what);

#endif

/* The functions of cuDNN that are called (`cudnn.c`). */
#ifndef THEANO_GPU_CUDNN_H
#define THEANO_GPU_CUDNN_H

#include <stddef.h>

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
                                       size_t, const void *, void *, void *))

#endif

/* The three tensors of a convolution, of which one is computed. */
#ifndef THEANO_GPU_CONV_H
#define THEANO_GPU_CONV_H

#include "gpu.h"
#include "conv_sizes.h"
#include "parameters.h"

/* A tensor: strides of its first two axes that are not places, of the others, and of places if it is unshared filters. */
typedef struct tensor {
    char *data;
    int64_t outer, inner, at[TH_CONV_AXES], own[TH_CONV_AXES];
} tensor;

typedef struct convolution {
    const th_device_convolution_params *p;
    th_conv_axis axis[TH_CONV_AXES];
    int64_t batch, groups, channels, filters; /* the last two in a group */
    tensor image, kernel, output;
} convolution;

/* By cuDNN (`cudnn.c`): 1 done; 0 it is not there, or has no words for the tensors; -1 with the error set. */
int th_cudnn_convolve(th_ctx *ctx, const convolution *q);

#endif

/* Pooling, and who computes it. */
#ifndef THEANO_GPU_POOL_H
#define THEANO_GPU_POOL_H

#include "gpu.h"
#include "parameters.h"
#include "pool_sizes.h"

/* By cuDNN (`cudnn_pool.c`), an operation whose result has elements: 1 done; 0 cuDNN is missing, or does not support the
 * operation; -1 with the error set. */
int th_cudnn_pool(th_ctx *ctx, const th_device_pool_params *p, const th_pool_axis *axes);

#endif

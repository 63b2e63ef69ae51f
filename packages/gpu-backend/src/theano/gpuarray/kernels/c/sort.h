/* Order on a device (dialect/sort.cl), for kernels that need it among other things. */
#ifndef THEANO_GPU_SORT_H
#define THEANO_GPU_SORT_H

#include "gpu.h"

enum { TH_SORT_AXES = 16 };

/* The request for an order: the first `keep` elements of each line, in order, their places, or both.
 * Strides are in bytes: of x, of the elements, of the places; the axes beside the lines are those that are left by
 * `th_gpu_collapse`. `data` of what is not wanted is NULL. */
typedef struct th_gpu_order {
    const th_gpu_kernel *blocks, *merge, *put;
    char *x, *values, *places;
    int32_t dtype;
    int64_t itemsize, place_bytes, n, keep, from_end;
    int64_t step[3];
    int64_t axes, shape[TH_SORT_AXES], strides[3][TH_SORT_AXES];
} th_gpu_order;

int th_gpu_sort(th_ctx *ctx, const th_gpu_order *order); /* 0, or -1 with the error set */

#endif

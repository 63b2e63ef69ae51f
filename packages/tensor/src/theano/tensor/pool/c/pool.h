/* Pooling over windows of the last axes, and its derivatives.
 *
 * A plane is what the pooled axes span, and planes know nothing of each other. Lines are along the last of these axes. The
 * window of a line of the result reaches over several lines of the input, its box; these are joined element by element, as
 * whole vectors, and the rest is a window along one line. Derivatives go the other way: a line of the result is spread
 * to where its elements come from, and then met by each line of its box.
 */
#ifndef THEANO_TENSOR_POOL_H
#define THEANO_TENSOR_POOL_H

#include "kernels.h"
#include "pool_sizes.h"

typedef struct {
    int nd;
    int32_t mode;
    int with_padding; /* whether a mean counts its elements */
    th_pool_axis axis[TH_MAX_NDIM];
    int64_t planes, full, pooled; /* elements of a plane before and after */
    const char *x, *largest, *given; /* what is pooled; its largest elements; gradient or direction */
    char *out;
    int64_t parts; /* of the work */
    char *space;
    int64_t line_bytes, part_bytes;
} th_pool;

TH_LOCAL void th_pool_f32(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_f64(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_max_grad_f32(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_max_grad_f64(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_max_grad_grad_f32(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_max_grad_grad_f64(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_sum_grad_f32(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_sum_grad_f64(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_max_direction_f32(void *job, int64_t lo, int64_t hi);
TH_LOCAL void th_pool_max_direction_f64(void *job, int64_t lo, int64_t hi);

#endif

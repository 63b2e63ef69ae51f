/* Pooling over windows of the last axes, and its derivatives.
 *
 * A plane is what the pooled axes span, and planes know nothing of each other. Along the last of these axes lie lines. The
 * window of a line of the result reaches over several lines of the input, its box; these are joined element by element, as
 * whole vectors, and what is left is a window along one line. Derivatives go the other way: a line of the result is spread
 * to where its elements come from, and then met by each line of its box.
 */
#ifndef THEANO_TENSOR_POOL_H
#define THEANO_TENSOR_POOL_H

#include "kernels.h"

/* An axis that is pooled: its length, how many windows it has, and these. */
typedef struct {
    int64_t n, windows, size, stride, pad;
} th_pool_axis;

typedef struct {
    int nd;
    int32_t mode;
    th_pool_axis axis[TH_MAX_NDIM];
    int64_t planes, full, pooled; /* elements of a plane before and after */
    const char *x, *largest, *given; /* what is pooled; its largest elements; gradient or direction */
    char *out;
    int64_t parts; /* of the work */
    char *space;
    int64_t line_bytes, part_bytes;
} th_pool;

TH_HELPER int64_t th_pool_lo(const th_pool_axis *a, int64_t window)
{
    const int64_t begin = window * a->stride - a->pad;
    return begin < 0 ? 0 : begin;
}

TH_HELPER int64_t th_pool_hi(const th_pool_axis *a, int64_t window)
{
    const int64_t end = window * a->stride - a->pad + a->size;
    return end > a->n ? a->n : end;
}

/* By how many elements the sum over a window is divided, as far as this axis goes. */
TH_HELPER int64_t th_pool_count(const th_pool_axis *a, int64_t window, int32_t mode)
{
    if (mode == TH_POOL_MODE_MEAN)
        return th_pool_hi(a, window) - th_pool_lo(a, window);
    const int64_t begin = window * a->stride - a->pad, end = begin + a->size, last = a->n + a->pad;
    return (end > last ? last : end) - begin;
}

/* The windows whose element `k` lies on the line: from the first one to the one before the last. */
TH_HELPER void th_pool_meets(const th_pool_axis *a, int64_t k, int64_t *first, int64_t *last)
{
    const int64_t before = a->pad - k, behind = a->n - 1 + a->pad - k;
    const int64_t lo = before <= 0 ? 0 : (before + a->stride - 1) / a->stride;
    int64_t hi = behind < 0 ? 0 : behind / a->stride + 1;
    hi = hi > a->windows ? a->windows : hi;
    *first = lo < hi ? lo : hi;
    *last = hi;
}

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

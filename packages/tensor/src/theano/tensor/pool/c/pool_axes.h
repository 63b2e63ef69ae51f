/* An axis that is pooled, and its windows. Devices compile this text, too (theano.gpuarray): it is C99 without its library. */
#ifndef THEANO_TENSOR_POOL_AXES_H
#define THEANO_TENSOR_POOL_AXES_H

/* Its length, how many windows it has, and these. */
typedef struct {
    int64_t n, windows, size, stride, pad;
} th_pool_axis;

/* The elements of a window on the line: from the first one to the one before the last. */
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
TH_HELPER int64_t th_pool_count(const th_pool_axis *a, int64_t window, int with_padding)
{
    if (!with_padding)
        return th_pool_hi(a, window) - th_pool_lo(a, window);
    const int64_t begin = window * a->stride - a->pad, end = begin + a->size, last = a->n + a->pad;
    return (end > last ? last : end) - begin;
}

/* The windows whose element `k` is on the line: from the first one to the one before the last. */
TH_HELPER void th_pool_meets(const th_pool_axis *a, int64_t k, int64_t *first, int64_t *last)
{
    const int64_t before = a->pad - k, behind = a->n - 1 + a->pad - k;
    const int64_t lo = before <= 0 ? 0 : (before + a->stride - 1) / a->stride;
    int64_t hi = behind < 0 ? 0 : behind / a->stride + 1;
    hi = hi > a->windows ? a->windows : hi;
    *first = lo < hi ? lo : hi;
    *last = hi;
}

/* The windows that have an element: from the first one to the one before the last. */
TH_HELPER void th_pool_around(const th_pool_axis *a, int64_t element, int64_t *first, int64_t *last)
{
    const int64_t since_begin = element + a->pad, since_end = since_begin - a->size; /* of window 0 */
    const int64_t hi = since_begin / a->stride + 1;
    *first = since_end < 0 ? 0 : since_end / a->stride + 1;
    *last = hi > a->windows ? a->windows : hi;
}

#endif

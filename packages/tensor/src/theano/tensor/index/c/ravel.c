/* Places in a flat array and indexes along each of its axes, made of one another. */
#include "kernels.h"

/* The lengths of the axes, their strides in elements, and the number of all; NumPy's rules for what is too large. */
typedef struct {
    int nd;
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM], size;
} form;

static int form_of(th_ctx *ctx, const th_buffer *dims, int wanted, int backwards, form *f)
{
    if (dims->shape[0] != wanted)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "%d indexes belong to a shape of %lld lengths", wanted, (long long)dims->shape[0]);
    f->nd = wanted;
    f->size = 1;
    for (int k = 0; k < f->nd; ++k) {
        const int d = backwards ? k : f->nd - 1 - k;
        f->shape[d] = th_integer(dims, d);
        f->strides[d] = f->size;
        if (f->shape[d] < 0)
            return TH_FAIL(ctx, TH_ERR_VALUE, "axis %d of the shape has the negative length %lld", d, (long long)f->shape[d]);
        if (__builtin_mul_overflow(f->size, f->shape[d], &f->size))
            return TH_FAIL(ctx, TH_ERR_VALUE, "dimensions are too large: the number of elements does not fit in 64 bits");
    }
    return 0;
}

typedef struct {
    const form *f;
    const int64_t *places;
    int64_t *to[TH_MAX_NDIM];
    int backwards;
} unravelling;

/* Division of 32 bits takes a third of the time of that of 64. */
#define UNRAVEL(NAME, NUMBER) \
    static TH_LOOP void unravel_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const unravelling *u = arg; \
        const form *f = u->f; \
        for (int64_t i = lo; i < hi; ++i) { \
            NUMBER rest = (NUMBER)u->places[i]; \
            for (int k = 0; k < f->nd; ++k) { \
                const int d = u->backwards ? k : f->nd - 1 - k; \
                const NUMBER n = (NUMBER)f->shape[d], more = rest / n; \
                u->to[d][i] = (int64_t)(rest - more * n); \
                rest = more; \
            } \
        } \
    }
UNRAVEL(u4, uint32_t)
UNRAVEL(u8, uint64_t)

/* inputs: places, a shape. outputs: an index for each axis. */
TH_EXPORT int th_kernel_unravel(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    form f;
    unravelling u = {.f = &f, .backwards = (int)((const th_order_params *)ctx->params)->first_fastest};
    if (form_of(ctx, ctx->in[1], ctx->nout, u.backwards, &f) || !(u.places = (const int64_t *)th_packed_in(ctx, x, TH_INT64, 8)))
        return -1;
    const int64_t n = th_size(x->ndim, x->shape);
    for (int64_t i = 0; i < n; ++i)
        if (u.places[i] < 0 || u.places[i] >= f.size)
            return TH_FAIL(ctx, TH_ERR_VALUE, "index %lld is out of bounds for array with size %lld", (long long)u.places[i],
                           (long long)f.size);
    for (int d = 0; d < ctx->nout; ++d) {
        if (ctx->rt->ensure(ctx, ctx->out[d], x->shape))
            return -1;
    }
    for (int d = 0; d < ctx->nout; ++d)
        u.to[d] = (int64_t *)ctx->out[d]->data;
    return ctx->rt->parallel_for(ctx, n, th_grain(4.0 * f.nd), f.size <= UINT32_MAX ? unravel_u4 : unravel_u8, &u);
}

/* The shape to which all inputs but the last one are stretched. */
static int common_shape(th_ctx *ctx, int nd, int64_t *shape)
{
    for (int d = 0; d < nd; ++d) {
        shape[d] = 1;
        for (int i = 0; i < ctx->nin - 1; ++i) {
            const int64_t n = ctx->in[i]->shape[d];
            if (n != 1 && shape[d] != 1 && n != shape[d])
                return TH_FAIL(ctx, TH_ERR_SHAPE, "the indexes do not fit together: along axis %d one has length %lld, another %lld",
                               d, (long long)shape[d], (long long)n);
            shape[d] = n != 1 ? n : shape[d];
        }
    }
    return 0;
}

/* to += the index along an axis, times its stride. */
static int add_index(th_ctx *ctx, const form *f, int axis, int mode, int64_t n, const int64_t *index, int64_t *to)
{
    const int64_t length = f->shape[axis], stride = f->strides[axis];
    for (int64_t i = 0; i < n; ++i) {
        int64_t at = index[i];
        if (at < 0 || at >= length) {
            if (mode == TH_OUT_OF_RANGE_RAISE || length == 0)
                return TH_FAIL(ctx, TH_ERR_VALUE, "index %lld is out of bounds for axis %d with size %lld", (long long)at, axis,
                               (long long)length);
            if (mode == TH_OUT_OF_RANGE_CLIP)
                at = at < 0 ? 0 : length - 1;
            else
                at = at % length + (at % length < 0 ? length : 0);
        }
        to[i] += at * stride;
    }
    return 0;
}

/* inputs: an index for each axis, all of as many dimensions, and a shape. */
TH_EXPORT int th_kernel_ravel(th_ctx *ctx)
{
    const th_ravel_params *p = ctx->params;
    const int axes = ctx->nin - 1, nd = ctx->in[0]->ndim;
    form f;
    int64_t shape[TH_MAX_NDIM];
    if (form_of(ctx, ctx->in[axes], axes, (int)p->first_fastest, &f) || common_shape(ctx, nd, shape) || ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    const int64_t n = th_size(nd, shape);
    int64_t *to = (int64_t *)ctx->out[0]->data, *scratch = ctx->rt->scratch(ctx, (size_t)(n ? n : 1) * sizeof *scratch);
    if (!scratch)
        return -1;
    memset(to, 0, (size_t)n * sizeof *to);
    th_window all, from;
    th_window_of(&all, ctx->out[0]);
    all.data = (char *)scratch;
    for (int d = 0; d < axes; ++d) {
        th_window_of(&from, ctx->in[d]);
        if (th_stretch(ctx, &all, &from, ~UINT64_C(0)))
            return -1;
        th_copy_into(&all, &from);
        if (add_index(ctx, &f, d, (int)p->mode, n, scratch, to))
            return -1;
    }
    return 0;
}

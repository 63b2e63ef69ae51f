/* What the files of this folder that are compiled with the layer share. */
#ifndef THEANO_TENSOR_KERNELS_H
#define THEANO_TENSOR_KERNELS_H

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi.h"
#include "blocks.h"
#include "buffers.h"
#include "c/base.h" /* the scalar layer's: half precision, casts of bits */
#include "loops.h"
#include "parameters.h" /* written from parameters.py */

#if defined(_WIN32)
#ifndef TH_EXPORT
#define TH_EXPORT __declspec(dllexport)
#endif
#define TH_LOCAL
#else
#ifndef TH_EXPORT /* an exported model shows no kernel */
#define TH_EXPORT __attribute__((visibility("default")))
#endif
#ifndef TH_LOCAL
#define TH_LOCAL __attribute__((visibility("hidden")))
#endif
#endif

/* How many elements make one piece of work for a thread. */
TH_HELPER int64_t th_grain(double ns_per_element)
{
    double grain = TH_PIECE_NS / ns_per_element;
    return grain < 1.0 ? 1 : (int64_t)grain;
}

/* A strided piece of memory that is no buffer of its own. */
typedef struct {
    char *data;
    int nd;
    int32_t dtype;
    int64_t itemsize;
    const th_device *device; /* NULL: the host's memory; only th_copy and those of its return look at it */
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
} th_window;

/* copy.c */
/* These write no more of the tables than there are axes: all of a window would cost more than a small kernel. */
TH_LOCAL void th_window_of(th_window *w, const th_buffer *b);
TH_LOCAL void th_window_like(th_window *w, const th_window *like);
/* These serve the memory of devices, too: 0, or -1 with the error set, which the host's own memory never gives. */
TH_LOCAL int th_copy(th_ctx *ctx, const th_window *to, const th_window *from);
TH_LOCAL int th_add(th_ctx *ctx, const th_window *to, const th_window *from);
TH_LOCAL int th_clear(th_ctx *ctx, const th_buffer *out);
/* On a device: along `axis` one of the two has its elements at offsets; -1: neither (`abi.h`). */
TH_LOCAL int th_gather(th_ctx *ctx, const th_window *to, const th_window *from, int axis, const int64_t *offsets);
TH_LOCAL int th_scatter(th_ctx *ctx, const th_window *to, const th_window *from, int axis, const int64_t *offsets, int adds);
TH_LOCAL void th_copy_into(const th_window *to, const th_window *from);
TH_LOCAL void th_add_into(const th_window *to, const th_window *from);
TH_LOCAL const char *th_packed_in(th_ctx *ctx, const th_buffer *b, int32_t dtype, int64_t itemsize);
TH_LOCAL int th_stretch(th_ctx *ctx, const th_window *to, th_window *from, uint64_t ones);

/* `out` becomes a copy of a window; or views `base`, a window of it or all of it. */
TH_HELPER int th_copy_of(th_ctx *ctx, th_buffer *out, const th_window *w)
{
    th_window to;
    if (ctx->rt->ensure(ctx, out, w->shape))
        return -1;
    th_window_of(&to, out);
    return th_copy(ctx, &to, w);
}
TH_HELPER int th_view_of(th_ctx *ctx, th_buffer *out, const th_buffer *base, const th_window *w)
{
    return ctx->rt->view(ctx, out, base, w->data, w->nd, w->shape, w->strides);
}
TH_HELPER int th_alias(th_ctx *ctx, th_buffer *out, const th_buffer *base)
{
    return ctx->rt->view(ctx, out, base, base->data, base->ndim, base->shape, base->strides);
}

/* n elements of one dtype moved, or added, from one line to another. */
typedef void (*th_line)(int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step);
TH_LOCAL th_line th_mover(int64_t itemsize);
TH_LOCAL th_line th_adder(int32_t dtype);

/* index.c: output 0 starts as input 0, as a copy of it or in its place; what a slice
 * means; a number counted from 0, if it exists. */
TH_LOCAL int th_started(th_ctx *ctx, int64_t in_place);
TH_LOCAL int th_bounded(th_ctx *ctx, int64_t *i, int axis, int64_t n);
TH_LOCAL int th_sliced(th_ctx *ctx, const th_index_entry *e, int64_t n, int64_t *start, int64_t *step, int64_t *count);

/* places.c: how many elements are not 0, and where: one list for each axis. */
TH_LOCAL int64_t th_count_true(const th_buffer *b);
TH_LOCAL void th_find_true(const th_buffer *b, int64_t count, int64_t *const *places);

/* numbers.c */
TH_LOCAL double th_real(const th_buffer *b);

#endif

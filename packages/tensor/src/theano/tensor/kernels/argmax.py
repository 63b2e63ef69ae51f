"""Where the largest element is: argmax over any axes, alone or with the maximum itself.

As in NumPy, the first of several equal elements wins, and the first nan wins over everything.
"""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np

from theano.codegen.kernel import Kernel
from theano.codegen.text import comment_text
from theano.graph.apply import Apply
from theano.scalar.ctypes import c_type, compute_type, load, storage_support, store
from theano.tensor.kernels.common import c_text, dtypes_of, ndim_of, normal_axes, title

_SOURCE = Template("""\
/* $comment */
typedef $x KERNEL_x;
typedef $value KERNEL_value;
enum { KERNEL_LANES = $lanes, KERNEL_TILE = 128 };

static inline KERNEL_value KERNEL_load(const char *p)
{
    return $load;
}

/* Whether b takes the place of a, which came before it. */
static inline int KERNEL_better(const KERNEL_value b, const KERNEL_value a)
{
    return $better;
}

typedef struct {
    const char *x;
    char *value;                                   /* NULL if only places are wanted */
    int64_t *place;
    int64_t shape[$room], strides[$room];          /* axes of the result */
    int64_t gone_shape[$room], gone_strides[$room]; /* axes searched, in the order in which places count */
} KERNEL_job;

static inline KERNEL_value KERNEL_largest(int64_t n, const char *p, int64_t step)
{
    KERNEL_value lane[KERNEL_LANES], r = KERNEL_load(p);
    int64_t i = 0;
    if (step == sizeof(KERNEL_x) && n >= 2 * KERNEL_LANES) {
        for (int l = 0; l < KERNEL_LANES; ++l)
            lane[l] = KERNEL_load(p + l * sizeof(KERNEL_x));
        for (i = KERNEL_LANES; i + KERNEL_LANES <= n; i += KERNEL_LANES)
            for (int l = 0; l < KERNEL_LANES; ++l) {
                const KERNEL_value v = KERNEL_load(p + (i + l) * sizeof(KERNEL_x));
                lane[l] = KERNEL_better(v, lane[l]) ? v : lane[l];
            }
        for (int l = 0; l < KERNEL_LANES; ++l)
            r = KERNEL_better(lane[l], r) ? lane[l] : r;
    }
    for (; i < n; ++i) {
        const KERNEL_value v = KERNEL_load(p + i * step);
        r = KERNEL_better(v, r) ? v : r;
    }
    return r;
}

/* The largest of a run, if it beats *best; only the block that holds it is searched for its place. */
static inline void
KERNEL_run(int64_t n, const char *p, int64_t step, int64_t start, KERNEL_value *best, int64_t *place)
{
    int64_t found = -1;
    for (int64_t block = 0; block < n; block += 256) {
        const int64_t count = n - block < 256 ? n - block : 256;
        const KERNEL_value r = KERNEL_largest(count, p + block * step, step);
        if (*place < 0 || KERNEL_better(r, *best)) {
            *best = r;
            *place = start;
            found = block;
        }
    }
    if (found >= 0) {
        while (KERNEL_better(*best, KERNEL_load(p + found * step)))
            ++found;
        *place = start + found;
    }
}

static void KERNEL_along(void *arg, int64_t lo, int64_t hi)
{
    const KERNEL_job *job = arg;
    const int outer = $ngone - 1;
    const int64_t n = job->gone_shape[outer], rows = th_size(outer, job->gone_shape);
    int64_t index[$room];
    char *p = (char *)job->x;
    th_seek(1, $nkept, job->shape, job->strides, lo, index, &p);
    for (; lo < hi; ++lo) {
        KERNEL_value best = KERNEL_load(p);
        int64_t place = -1, inside[$room] = {0};
        char *at = p;
        for (int64_t row = 0; row < rows; ++row) {
            KERNEL_run(n, at, job->gone_strides[outer], row * n, &best, &place);
            th_advance(1, outer, job->gone_shape, job->gone_strides, inside, &at);
        }
        job->place[lo] = place;
        if (job->value) {
            $store
        }
        th_advance(1, $nkept, job->shape, job->strides, index, &p);
    }
}

/* Neighbouring results advance together; `lo` and `hi` count tiles of the last kept axis. */
static void KERNEL_across(void *arg, int64_t lo, int64_t hi)
{
    const KERNEL_job *job = arg;
    const int inner = $nkept - 1, outer = $ngone - 1;
    const int64_t width = job->shape[inner < 0 ? 0 : inner], next = job->strides[inner < 0 ? 0 : inner];
    const int64_t tiles = (width + KERNEL_TILE - 1) / KERNEL_TILE;
    const int64_t total = th_size($ngone, job->gone_shape);
    (void)outer;
    for (; lo < hi; ++lo) {
        const int64_t start = lo % tiles * KERNEL_TILE, w = width - start < KERNEL_TILE ? width - start : KERNEL_TILE;
        int64_t index[$room], inside[$room] = {0}, place[KERNEL_TILE];
        KERNEL_value best[KERNEL_TILE];
        char *p = (char *)job->x;
        th_seek(1, inner, job->shape, job->strides, lo / tiles, index, &p);
        p += start * next;
        for (int64_t j = 0; j < w; ++j) {
            best[j] = KERNEL_load(p + j * next);
            place[j] = 0;
        }
        for (int64_t i = 1; i < total; ++i) {
            th_advance(1, $ngone, job->gone_shape, job->gone_strides, inside, &p);
            TH_INDEPENDENT
            for (int64_t j = 0; j < w; ++j) {
                const KERNEL_value v = KERNEL_load(p + j * next);
                const int take = KERNEL_better(v, best[j]);
                best[j] = take ? v : best[j];
                place[j] = take ? i : place[j];
            }
        }
        const int64_t first = lo / tiles * width + start;
        memcpy(job->place + first, place, (size_t)w * sizeof *place);
        if (job->value)
            for (int64_t j = 0; j < w; ++j) {
                $store_tile
            }
    }
}

int KERNEL(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    static const int kept_axis[] = {$kept_axes-1}, gone_axis[] = {$gone_axes-1};
    KERNEL_job job = {.x = x->data};
    int64_t kept = 1, gone = 1;
    for (int d = 0; d < $nkept; ++d) {
        kept *= job.shape[d] = x->shape[kept_axis[d]];
        job.strides[d] = x->strides[kept_axis[d]];
    }
    for (int d = 0; d < $ngone; ++d) {
        gone *= job.gone_shape[d] = x->shape[gone_axis[d]];
        job.gone_strides[d] = x->strides[gone_axis[d]];
    }
    for (int i = 0; i < ctx->nout; ++i)
        if (ctx->rt->ensure(ctx, ctx->out[i], job.shape))
            return -1;
    if (kept == 0)
        return 0;
    if (gone == 0)
        return ctx->rt->fail(ctx, TH_ERR_VALUE, "attempt to get argmax of an empty sequence");
    job.value = $nout == 2 ? ctx->out[0]->data : NULL;
    job.place = (int64_t *)ctx->out[$nout - 1]->data;
    const int64_t run = job.gone_shape[$ngone > 0 ? $ngone - 1 : 0];
    const int64_t width = $nkept > 0 ? job.shape[$nkept > 0 ? $nkept - 1 : 0] : 1;
    const int64_t next = job.strides[$nkept > 0 ? $nkept - 1 : 0], row = job.gone_strides[$ngone > 0 ? $ngone - 1 : 0];
    const double each = 0.5 * (double)gone;
    const int across = width >= 8 && (run < 32 || (next < 0 ? -next : next) < (row < 0 ? -row : row));
    const int64_t n = across ? kept / width * ((width + KERNEL_TILE - 1) / KERNEL_TILE) : kept;
    const int64_t tile = !across ? 1 : width < KERNEL_TILE ? width : KERNEL_TILE, grain = th_grain(each * (double)tile);
    if (each * (double)kept >= TH_SERIAL_NS)
        return ctx->rt->parallel_for(ctx, n, grain, across ? KERNEL_across : KERNEL_along, &job);
    (across ? KERNEL_across : KERNEL_along)(&job, 0, n);
    return 0;
}
""")


def argmax_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the C form of argmax (one output) or of max-and-argmax (two).

    Parameters
    ----------
    op : Op
        ``axis`` is read: None, an integer or several axes, which then count as one, in C order.
    node : Apply
        Places are int64.

    Returns
    -------
    Kernel or None
        None for complex numbers and for objects.
    """
    dtypes = dtypes_of([node.inputs[0], *node.outputs])
    if dtypes is None or dtypes[-1] != "int64" or dtypes[0].startswith("complex"):
        return None
    x, nout = dtypes[0], len(node.outputs)
    if nout > 2 or (nout == 2 and dtypes[1] != x):
        return None
    ndim = ndim_of(node.inputs[0])
    gone = normal_axes(op.axis, ndim)
    kept = [d for d in range(ndim) if d not in gone]
    if ndim_of(node.outputs[0]) != len(kept):
        return None
    real = x.startswith("float")
    # A scalar is searched as a run of one.
    source = _SOURCE.substitute(
        comment=comment_text(f"argmax over axes {gone} of {ndim}: {x}"),
        x=c_type(x),
        value=compute_type(x),
        lanes=max(8, 256 // np.dtype(x).itemsize if x != "float16" else 64),
        load=load(x, f"*(const {c_type(x)} *)p"),
        better="(b > a) | ((b != b) & (a == a))" if real else "b > a",
        store=store(x, f"(({c_type(x)} *)job->value)[lo]", "best"),
        store_tile=store(x, f"(({c_type(x)} *)job->value)[first + j]", "best[j]"),
        room=max(ndim, 1),
        nkept=len(kept),
        ngone=len(gone),
        nout=nout,
        kept_axes="".join(f"{d}, " for d in kept),
        gone_axes="".join(f"{d}, " for d in gone),
    )
    return Kernel(title(op, node), source, (c_text("loops.h"), *storage_support(x)), b"", 0.5)

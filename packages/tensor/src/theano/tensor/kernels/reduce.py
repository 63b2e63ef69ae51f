"""Reductions: sum, product, maximum, ... over any axes, by any associative scalar operation.

Two ways to walk, chosen at run time from the strides:

along
    Each output is one run over its inputs. A run keeps as many partial results as fill four vector registers,
    and long runs are halved again and again (pairwise), which is both fast and accurate.
across
    A tile of neighbouring outputs advances together, row by row. For sums over the first axis of a C-ordered
    array, and for very short runs.

Partial results are always combined in the same order, whatever the number of threads.
"""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np

from theano.codegen.kernel import Kernel
from theano.codegen.text import comment_text, string_literal
from theano.graph.apply import Apply
from theano.scalar.c import support
from theano.scalar.ctypes import c_type, compute_type, convert, literal, load, storage_support, store
from theano.tensor.kernels.argmax import argmax_kernel
from theano.tensor.kernels.common import c_text, dtypes_of, ndim_of, normal_axes, title

__all__ = ["argmax_kernel", "careduce_kernel", "normal_axes"]

_LANE_BYTES = 256

_MANY = Template("""\
static TH_GLUE void KERNEL_along(void *arg, int64_t lo, int64_t hi)
{
    const KERNEL_job *job = arg;
    char *p[2] = {(char *)job->x, job->y};
    int64_t index[$room];
    th_seek(2, job->kept, job->shape, job->strides, lo, index, p);
    for (; lo < hi; ++lo) {
        KERNEL_store(p[1], KERNEL_one(job, p[0]));
        th_advance(2, job->kept, job->shape, job->strides, index, p);
    }
}

/* Add n rows of w neighbours to acc; `fresh`: the first row starts it. */
static TH_LOOP void
KERNEL_rows(int64_t w, const char *p, int64_t n, int64_t row, KERNEL_acc *acc, int fresh)
{
    const int64_t next = sizeof(KERNEL_x);
    int64_t i = 0;
    if (fresh) {
        TH_INDEPENDENT
        for (int64_t j = 0; j < w; ++j)
            acc[j] = KERNEL_load(p + j * next);
        i = 1;
    }
    for (; i + 4 <= n; i += 4) {
        const char *a = p + i * row, *b = a + row, *c = b + row, *d = c + row;
        TH_INDEPENDENT
        for (int64_t j = 0; j < w; ++j) {
            $four_rows
        }
    }
    for (; i < n; ++i) {
        TH_INDEPENDENT
        for (int64_t j = 0; j < w; ++j)
            acc[j] = KERNEL_combine(acc[j], KERNEL_load(p + i * row + j * next));
    }
}

static TH_GLUE void
KERNEL_all_rows(int64_t w, const char *p, int64_t next, int64_t n, int64_t row, KERNEL_acc *acc, int fresh)
{
    if (next == sizeof(KERNEL_x)) {
        KERNEL_rows(w, p, n, row, acc, fresh);
        return;
    }
    KERNEL_x band[KERNEL_BAND * KERNEL_TILE];
    for (int64_t i = 0; i < n; i += KERNEL_BAND) {
        const int64_t count = n - i < KERNEL_BAND ? n - i : KERNEL_BAND;
        for (int64_t k = 0; k < count; ++k)
            KERNEL_gather(w, p + (i + k) * row, next, band + k * KERNEL_TILE);
        KERNEL_rows(w, (const char *)band, count, KERNEL_TILE * sizeof(KERNEL_x), acc, fresh && i == 0);
    }
}

static TH_GLUE void KERNEL_tile(const KERNEL_job *job, int64_t w, const char *p, char *y)
{
    const int outer = job->gone - 1, inner = job->kept - 1;
    const int64_t n = job->gone_shape[outer], row = job->gone_strides[outer], next = job->strides[2 * inner];
    const int64_t rows = th_size(outer, job->gone_shape), fold = job->fold, whole = n / fold * fold;
    KERNEL_acc acc[KERNEL_TILE];
    int64_t index[$room] = {0};
    char *at = (char *)p;
    for (int64_t r = 0; r < rows; ++r) {
        /* Rows that follow each other in memory count as one longer row, which fills the vectors. */
        KERNEL_all_rows(w * fold, at, next, n / fold, row * fold, acc, r == 0);
        at += whole * row;
        if (fold > 1 && r == rows - 1) {
            for (int64_t k = 1; k < fold; ++k)
                for (int64_t j = 0; j < w; ++j) {
                    TH_PLAIN_LOOP;
                    acc[j] = KERNEL_combine(acc[j], acc[k * w + j]);
                }
        }
        if (whole < n)
            KERNEL_all_rows(w, at, next, n - whole, row, acc, 0);
        at -= whole * row;
        th_advance(1, outer, job->gone_shape, job->gone_strides, index, &at);
    }
    const int64_t y_next = job->strides[2 * inner + 1];
    for (int64_t j = 0; j < w; ++j) {
        TH_PLAIN_LOOP;
        KERNEL_store(y + j * y_next, acc[j]);
    }
}

static TH_GLUE void KERNEL_across(void *arg, int64_t lo, int64_t hi)
{
    const KERNEL_job *job = arg;
    const int inner = job->kept - 1;
    const int64_t *step = job->strides + 2 * inner;
    for (; lo < hi; ++lo) {
        char *p[2] = {(char *)job->x, job->y};
        int64_t index[$room];
        const int64_t start = lo % job->tiles * job->width, left = job->shape[inner] - start;
        th_seek(2, inner, job->shape, job->strides, lo / job->tiles, index, p);
        KERNEL_tile(job, left < job->width ? left : job->width, p[0] + start * step[0], p[1] + start * step[1]);
    }
}

static TH_GLUE int KERNEL_many(th_ctx *ctx, KERNEL_job *job, int64_t kept, int64_t gone)
{
    const int inner = job->kept - 1, last = job->gone - 1;
    const int64_t width = job->shape[inner], next = job->strides[2 * inner], run = job->gone_shape[last];
    const int64_t row = job->gone_strides[last], near = next < 0 ? -next : next, far = row < 0 ? -row : row;
    const int follows = row == width * next && 2 * width <= KERNEL_TILE;
    const double each = $work * (double)gone;
    if (run >= 2 * KERNEL_LANES ? far <= near || (width < 16 && !follows) : width < 8) {
        if (each * (double)kept < TH_SERIAL_NS)
            KERNEL_along(job, 0, kept);
        else
            return ctx->rt->parallel_for(ctx, kept, th_grain(each), KERNEL_along, job);
        return 0;
    }
    job->fold = follows ? KERNEL_TILE / width : 1;
    if (job->fold > run)
        job->fold = run;
    job->width = width < KERNEL_TILE ? width : KERNEL_TILE;
    job->tiles = (width + job->width - 1) / job->width;
    const int64_t n = kept / width * job->tiles;
    if (each * (double)kept < TH_SERIAL_NS)
        KERNEL_across(job, 0, n);
    else
        return ctx->rt->parallel_for(ctx, n, th_grain(each * (double)job->width), KERNEL_across, job);
    return 0;
}
""")

# Sums are more accurate as a tree; selections are exact in any order, and compilers vectorise them only in a chain.
_TREE = """\
const KERNEL_acc ab = KERNEL_combine(KERNEL_load(a + j * next), KERNEL_load(b + j * next));
            const KERNEL_acc cd = KERNEL_combine(KERNEL_load(c + j * next), KERNEL_load(d + j * next));
            acc[j] = KERNEL_combine(acc[j], KERNEL_combine(ab, cd));"""
_CHAIN = """\
const KERNEL_acc ab = KERNEL_combine(KERNEL_combine(acc[j], KERNEL_load(a + j * next)), KERNEL_load(b + j * next));
            acc[j] = KERNEL_combine(KERNEL_combine(ab, KERNEL_load(c + j * next)), KERNEL_load(d + j * next));"""

_SOURCE = Template("""\
/* $comment */
typedef $x KERNEL_x;
typedef $acc KERNEL_acc;
enum { KERNEL_LANES = $lanes, KERNEL_RUN = 64 * KERNEL_LANES, KERNEL_TILE = 256, KERNEL_BAND = 8 };

static inline KERNEL_acc KERNEL_combine(const KERNEL_acc a, const KERNEL_acc b)
{
    KERNEL_acc r;
    $combine
    return r;
}

static inline KERNEL_acc KERNEL_load(const char *p)
{
    const $x_value v = $load;
    return $x_to_acc;
}

static inline void KERNEL_store(char *p, const KERNEL_acc r)
{
    const $y_value v = $acc_to_y;
    $store
}

/* n >= 1 neighbours. */
static TH_LOOP KERNEL_acc KERNEL_block(int64_t n, const KERNEL_x *x)
{
    const char *p = (const char *)x;
    int64_t i = KERNEL_LANES;
    KERNEL_acc lane[KERNEL_LANES], r;
    if (n < 2 * KERNEL_LANES) {
        r = KERNEL_load(p);
        i = 1;
    } else {
        for (int l = 0; l < KERNEL_LANES; ++l)
            lane[l] = KERNEL_load(p + l * sizeof *x);
        for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)
            for (int l = 0; l < KERNEL_LANES; ++l)
                lane[l] = KERNEL_combine(lane[l], KERNEL_load(p + (i + l) * sizeof *x));
        for (int half = KERNEL_LANES / 2; half > 0; half /= 2)
            for (int l = 0; l < half; ++l)
                lane[l] = KERNEL_combine(lane[l], lane[l + half]);
        r = lane[0];
    }
    for (; i < n; ++i) {
        TH_PLAIN_LOOP;
        r = KERNEL_combine(r, KERNEL_load(p + i * sizeof *x));
    }
    return r;
}

/* Elements that are not neighbours are brought together first: one loop to compute, whatever the strides. */
static TH_LOOP void KERNEL_gather(int64_t n, const char *p, int64_t step, KERNEL_x *x)
{
    TH_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
        x[i] = *(const KERNEL_x *)(p + i * step);
}

/* n >= 1 elements that are `step` bytes apart. */
static KERNEL_acc KERNEL_run(int64_t n, const char *p, const int64_t step)
{
    if (n > KERNEL_RUN) {
        const int64_t half = n / (2 * KERNEL_LANES) * KERNEL_LANES;
        const KERNEL_acc left = KERNEL_run(half, p, step);
        return KERNEL_combine(left, KERNEL_run(n - half, p + half * step, step));
    }
    if (step == sizeof(KERNEL_x))
        return KERNEL_block(n, (const KERNEL_x *)p);
    KERNEL_x x[KERNEL_RUN];
    KERNEL_gather(n, p, step, x);
    return KERNEL_block(n, x);
}

typedef struct {
    const char *x;
    char *y;
    int kept, gone;                                     /* axes of the result, axes that are reduced */
    int64_t shape[$room], strides[$room2];              /* kept axes: strides of x and y */
    int64_t gone_shape[$room], gone_strides[$room];
    int64_t width, fold, tiles;                         /* across: outputs per tile, rows per super-row */
} KERNEL_job;

/* Everything that makes one output. */
static TH_GLUE KERNEL_acc KERNEL_one(const KERNEL_job *job, const char *p)
{
    const int outer = job->gone - 1;
    const int64_t n = job->gone_shape[outer], step = job->gone_strides[outer];
    KERNEL_acc r = KERNEL_run(n, p, step);
    if (outer > 0) {
        int64_t index[$room] = {0};
        char *at = (char *)p;
        const int64_t rows = th_size(outer, job->gone_shape);
        for (int64_t row = 1; row < rows; ++row) {
            th_advance(1, outer, job->gone_shape, job->gone_strides, index, &at);
            r = KERNEL_combine(r, KERNEL_run(n, at, step));
        }
    }
    return r;
}

/* One piece of a single long run; the results of all pieces are combined afterwards. */
static TH_GLUE void KERNEL_piece(void *arg, int64_t lo, int64_t hi)
{
    const KERNEL_job *job = arg;
    const int64_t step = job->gone_strides[0];
    for (; lo < hi; ++lo) {
        const int64_t start = lo * 65536, left = job->gone_shape[0] - start;
        ((KERNEL_acc *)job->y)[lo] = KERNEL_run(left < 65536 ? left : 65536, job->x + start * step, step);
    }
}

$many
static TH_GLUE int KERNEL_single(th_ctx *ctx, KERNEL_job *job)
{
    const int64_t n = job->gone_shape[0], pieces = (n + 65535) / 65536;
    if (job->gone > 1 || $work * (double)n < TH_SERIAL_NS || pieces < 2) {
        KERNEL_store(job->y, KERNEL_one(job, job->x));
        return 0;
    }
    char *y = job->y;
    KERNEL_acc *part = ctx->rt->scratch(ctx, (size_t)pieces * sizeof(KERNEL_acc));
    if (part == NULL)
        return -1;
    job->y = (char *)part;
    if (ctx->rt->parallel_for(ctx, pieces, 1, KERNEL_piece, job))
        return -1;
    for (int64_t m = pieces; m > 1; m = (m + 1) / 2)
        for (int64_t i = 0; i < (m + 1) / 2; ++i) {
            TH_PLAIN_LOOP;
            part[i] = 2 * i + 1 < m ? KERNEL_combine(part[2 * i], part[2 * i + 1]) : part[2 * i];
        }
    KERNEL_store(y, part[0]);
    return 0;
}

int KERNEL(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0];
    th_buffer *y = ctx->out[0];
    static const int kept_axis[] = {$kept_axes-1}, gone_axis[] = {$gone_axes-1};
    int64_t shape[$room] = {0};
    KERNEL_job job;
    int64_t kept = 1, gone = 1;
    for (int d = 0; d < $nkept; ++d)
        kept *= shape[d] = x->shape[kept_axis[d]];
    for (int d = 0; d < $ngone; ++d)
        gone *= job.gone_shape[d] = x->shape[gone_axis[d]];
    if (ctx->rt->ensure(ctx, y, shape))
        return -1;
    if (gone == 0) {
        $empty
    }
    if (kept == 0)
        return 0;
    if ($nkept == 0 && $work * (double)gone < TH_SERIAL_NS && th_packed(x, $ndim)) {
        KERNEL_store(y->data, KERNEL_run(gone, x->data, sizeof(KERNEL_x)));
        return 0;
    }
    job.x = x->data;
    job.y = y->data;
    for (int d = 0; d < $nkept; ++d) {
        job.shape[d] = shape[d];
        job.strides[2 * d] = x->strides[kept_axis[d]];
        job.strides[2 * d + 1] = y->strides[d];
    }
    for (int d = 0; d < $ngone; ++d)
        job.gone_strides[d] = x->strides[gone_axis[d]];
    job.kept = th_collapse(2, $nkept, job.shape, job.strides);
    job.gone = th_collapse(1, $ngone, job.gone_shape, job.gone_strides);
    $finish
}
""")


def careduce_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the C form of a reduction.

    Parameters
    ----------
    op : CAReduce
        ``scalar_op`` (and its ``identity``), ``axis`` and, if there is one, ``acc_dtype`` are read.
    node : Apply

    Returns
    -------
    Kernel or None
        None where the scalar operation has no C form for these dtypes.
    """
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or len(dtypes) != 2:
        return None
    ndim = ndim_of(node.inputs[0])
    gone = normal_axes(op.axis, ndim)
    kept = [d for d in range(ndim) if d not in gone]
    if ndim_of(node.outputs[0]) != len(kept):
        return None
    x, y = dtypes
    acc = getattr(op, "acc_dtype", None) or y
    acc = "float32" if acc == "float16" else acc
    if acc.startswith("complex") < x.startswith("complex") and acc != "bool":
        return None
    if y.startswith("complex") < acc.startswith("complex") and y != "bool":
        return None
    body = op.scalar_op.c_statements(["a", "b"], [acc, acc], ["r"], [acc])
    if body is None:
        return None
    fields = dict(
        _types(x, acc, y),
        comment=comment_text(f"{op.scalar_op} over axes {gone} of {ndim}: {x} in {acc} to {y}"),
        combine="\n    ".join(body.lines),
        lanes=max(8, _LANE_BYTES // _size(acc)),
        room=max(ndim, 1),
        room2=2 * max(ndim, 1),
        ndim=ndim,
        nkept=len(kept),
        ngone=len(gone),
        kept_axes="".join(f"{d}, " for d in kept),
        gone_axes="".join(f"{d}, " for d in gone),
        four_rows=_CHAIN if getattr(op.scalar_op, "identity", None) is None else _TREE,
        empty=_empty(op.scalar_op, acc),
        work=f"{_work(body):.2f}",
    )
    # A reduction to one number has no use for tiles, and its compiler none for reading about them.
    fields["many"] = _MANY.substitute(fields) if kept else ""
    choice = "kept == 1 ? KERNEL_single(ctx, &job) : KERNEL_many(ctx, &job, kept, gone)"
    fields["finish"] = f"return {choice if kept else 'KERNEL_single(ctx, &job)'};"
    source = _SOURCE.substitute(fields)
    # The list of kept axes ends with -1 so that it is never empty, which C does not allow.
    support = (c_text("loops.h"), *dict.fromkeys((*storage_support(x, y), *_round_support(acc, y), *body.support)))
    return Kernel(title(op, node), source, support, b"", _work(body))


def _types(x: str, acc: str, y: str) -> dict[str, str]:
    """Return the C types of a reduction and the ways between them."""
    return {
        "x": c_type(x),
        "acc": compute_type(acc),
        "x_value": compute_type(x),
        "y_value": compute_type(y),
        "load": load(x, f"*(const {c_type(x)} *)p"),
        "x_to_acc": convert("v", x, acc),
        "acc_to_y": "r" if y == "float16" and acc == "float32" else convert("r", acc, y),
        "store": store(y, f"*({c_type(y)} *)p", "v"),
    }


def _round_support(acc: str, y: str) -> tuple[str, ...]:
    from_names = convert("r", acc, y)
    if "th_round_f16" in from_names and acc != "float32":
        return support(["round_f16"])
    return support(["cmplx"]) if y.startswith("complex") else ()


def _size(dtype: str) -> int:
    return np.dtype(dtype).itemsize


def _work(body: Any) -> float:
    return 0.15 + 0.5 * min(len(body.support), 4)


def _empty(scalar_op: Any, acc: str) -> str:
    """Return the statements for a reduction of nothing."""
    identity = getattr(scalar_op, "identity", None)
    if identity is None:
        text = f"zero-size array to reduction operation {scalar_op}, which has no identity"
        return f'return ctx->rt->fail(ctx, TH_ERR_VALUE, "%s", {string_literal(text)});'
    return (
        "for (int64_t i = 0; i < kept; ++i)\n"
        f"            KERNEL_store(y->data + i * y->itemsize, {_identity(identity, acc)});\n"
        "        return 0;"
    )


def _identity(identity: Any, acc: str) -> str:
    # All bits set is how "and" of unsigned integers spells the -1 of signed ones.
    if acc.startswith("uint") and identity < 0:
        identity = int(identity) % (1 << (8 * _size(acc)))
    return literal(identity, acc)

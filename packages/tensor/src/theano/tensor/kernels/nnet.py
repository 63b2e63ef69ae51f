"""Softmax and its relatives, a row at a time in one pass through the cache.

Long rows are walked one by one: largest element, exponentials and their sum, scaling. Short rows would leave vector
registers half empty, so they are taken in groups and turned around: each step then works on one column of many rows.
"""

from __future__ import annotations

from string import Template
from typing import Any

from theano.codegen.kernel import Kernel
from theano.codegen.text import comment_text
from theano.graph.apply import Apply
from theano.scalar.c import support, symbol
from theano.scalar.ctypes import c_type
from theano.tensor.kernels.common import c_text, dtypes_of, is_integer, ndim_of, title

_FLOATS = ("float32", "float64")

_ERRORS = """\
TH_ERROR int th_not_one_each(th_ctx *ctx, const char *what, int64_t count, int64_t rows)
{
    return ctx->rt->fail(ctx, TH_ERR_SHAPE, "%lld %s for %lld rows", (long long)count, what, (long long)rows);
}

TH_ERROR int th_bad_label(th_ctx *ctx, int64_t row, int64_t label, int64_t columns)
{
    return ctx->rt->fail(ctx, TH_ERR_VALUE,
                         "y_i value out of bounds: row %lld has label %lld, but there are %lld columns", (long long)row,
                         (long long)label, (long long)columns);
}
"""

_SOFTMAX = Template("""\
/* $comment */
typedef $real KERNEL_real;
typedef $label KERNEL_label;
enum {
    KERNEL_BIAS = $bias, /* x + b in place of x */
    KERNEL_LOG = $log,   /* the logarithm of the softmax */
    KERNEL_LOSS = $loss, /* also minus the logarithm at each row's label, and the place of the largest element */
    KERNEL_LANES = $lanes,
    KERNEL_SHORT = 32,
    KERNEL_GROUP = 64
};

typedef struct {
    const char *x, *b, *label;
    KERNEL_real *y, *loss;
    KERNEL_label *place;
    int64_t n, x_row, x_step, b_step, label_step;
} KERNEL_job;

static inline int64_t KERNEL_label_of(const KERNEL_job *job, int64_t row)
{
    return (int64_t) * (const KERNEL_label *)(job->label + row * job->label_step);
}

static inline KERNEL_real KERNEL_at(const KERNEL_job *job, int64_t row, int64_t j)
{
    const KERNEL_real v = *(const KERNEL_real *)(job->x + row * job->x_row + j * job->x_step);
    return KERNEL_BIAS ? v + *(const KERNEL_real *)(job->b + j * job->b_step) : v;
}

/* The first nan if there is one (then the sum is nan too), else the first of the largest. */
static int64_t KERNEL_first(const KERNEL_job *job, int64_t row, KERNEL_real largest, KERNEL_real sum)
{
    if (sum != sum)
        for (int64_t j = 0; j < job->n; ++j)
            if (KERNEL_at(job, row, j) != KERNEL_at(job, row, j))
                return j;
    int64_t j = 0;
    while (j + 1 < job->n && KERNEL_at(job, row, j) != largest)
        ++j;
    return j;
}

static void KERNEL_long(const KERNEL_job *job, int64_t row)
{
    const int64_t n = job->n, whole = n / KERNEL_LANES * KERNEL_LANES;
    KERNEL_real *y = job->y + row * n, largest, sum = 0, lane[KERNEL_LANES];
    if (job->x_step == sizeof(KERNEL_real) && (!KERNEL_BIAS || job->b_step == sizeof(KERNEL_real))) {
        const KERNEL_real *x = (const KERNEL_real *)(job->x + row * job->x_row), *b = (const KERNEL_real *)job->b;
        (void)b;
        TH_INDEPENDENT
        for (int64_t j = 0; j < n; ++j)
            y[j] = KERNEL_BIAS ? x[j] + b[j] : x[j];
    } else {
        for (int64_t j = 0; j < n; ++j)
            y[j] = KERNEL_at(job, row, j);
    }
    largest = y[0];
    for (int l = 0; l < KERNEL_LANES; ++l)
        lane[l] = largest;
    for (int64_t j = 0; j < whole; j += KERNEL_LANES)
        for (int l = 0; l < KERNEL_LANES; ++l)
            lane[l] = y[j + l] > lane[l] ? y[j + l] : lane[l];
    for (int l = 0; l < KERNEL_LANES; ++l)
        largest = lane[l] > largest ? lane[l] : largest;
    for (int64_t j = whole; j < n; ++j)
        largest = y[j] > largest ? y[j] : largest;
    const KERNEL_real at_label = KERNEL_LOSS ? y[KERNEL_label_of(job, row)] - largest : 0;
    for (int l = 0; l < KERNEL_LANES; ++l)
        lane[l] = 0;
    for (int64_t j = 0; j < whole; j += KERNEL_LANES)
        for (int l = 0; l < KERNEL_LANES; ++l) {
            const KERNEL_real v = y[j + l] - largest, e = $exp(v);
            y[j + l] = KERNEL_LOG ? v : e;
            lane[l] += e;
        }
    TH_INDEPENDENT
    for (int64_t j = whole; j < n; ++j) {
        const KERNEL_real v = y[j] - largest, e = $exp(v);
        y[j] = KERNEL_LOG ? v : e;
        lane[j - whole] += e;
    }
    for (int half = KERNEL_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l)
            lane[l] += lane[l + half];
    sum = lane[0];
    const KERNEL_real scale = KERNEL_LOG ? $logarithm(sum) : 1 / sum;
    for (int64_t j = 0; j < n; ++j)
        y[j] = KERNEL_LOG ? y[j] - scale : y[j] * scale;
    if (KERNEL_LOSS) {
        job->loss[row] = $logarithm(sum) - at_label;
        job->place[row] = (KERNEL_label)KERNEL_first(job, row, largest, sum);
    }
}

static void KERNEL_short(const KERNEL_job *job, int64_t first, int64_t rows)
{
    const int64_t n = job->n;
    KERNEL_real v[KERNEL_SHORT * KERNEL_GROUP], largest[KERNEL_GROUP], sum[KERNEL_GROUP], at_label[KERNEL_GROUP];
    const char *x = job->x + first * job->x_row;
    for (int64_t j = 0; j < n; ++j) {
        const KERNEL_real b = KERNEL_BIAS ? *(const KERNEL_real *)(job->b + j * job->b_step) : 0;
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const KERNEL_real u = *(const KERNEL_real *)(x + i * job->x_row + j * job->x_step);
            v[j * KERNEL_GROUP + i] = KERNEL_BIAS ? u + b : u;
        }
    }
    memcpy(largest, v, (size_t)rows * sizeof *v);
    for (int64_t j = 1; j < n; ++j) {
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const KERNEL_real u = v[j * KERNEL_GROUP + i];
            largest[i] = u > largest[i] ? u : largest[i];
        }
    }
    if (KERNEL_LOSS)
        for (int64_t i = 0; i < rows; ++i)
            at_label[i] = v[KERNEL_label_of(job, first + i) * KERNEL_GROUP + i] - largest[i];
    memset(sum, 0, sizeof sum);
    for (int64_t j = 0; j < n; ++j) {
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const KERNEL_real u = v[j * KERNEL_GROUP + i] - largest[i], e = $exp(u);
            v[j * KERNEL_GROUP + i] = KERNEL_LOG ? u : e;
            sum[i] += e;
        }
    }
    if (KERNEL_LOSS)
        for (int64_t i = 0; i < rows; ++i) {
            job->loss[first + i] = $logarithm(sum[i]) - at_label[i];
            job->place[first + i] = (KERNEL_label)KERNEL_first(job, first + i, largest[i], sum[i]);
        }
    TH_INDEPENDENT
    for (int64_t i = 0; i < rows; ++i)
        sum[i] = KERNEL_LOG ? $logarithm(sum[i]) : 1 / sum[i];
    KERNEL_real *y = job->y + first * n;
    for (int64_t j = 0; j < n; ++j) {
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const KERNEL_real u = v[j * KERNEL_GROUP + i];
            y[i * n + j] = KERNEL_LOG ? u - sum[i] : u * sum[i];
        }
    }
}

static void KERNEL_rows(void *arg, int64_t lo, int64_t hi)
{
    const KERNEL_job *job = arg;
    while (lo < hi) {
        const int64_t rows = hi - lo < KERNEL_GROUP ? hi - lo : KERNEL_GROUP;
        if (job->n <= KERNEL_SHORT && rows >= 8)
            KERNEL_short(job, lo, rows);
        else
            for (int64_t i = 0; i < rows; ++i)
                KERNEL_long(job, lo + i);
        lo += rows;
    }
}

int KERNEL(th_ctx *ctx)
{
    const th_buffer *x = ctx->in[0], *b = KERNEL_BIAS ? ctx->in[1] : NULL, *label = KERNEL_LOSS ? ctx->in[2] : NULL;
    const int64_t rows = x->shape[0], n = x->shape[1];
    KERNEL_job job = {.x = x->data, .n = n, .x_row = x->strides[0], .x_step = x->strides[1]};
    if (KERNEL_BIAS) {
        if (b->shape[0] != n)
            return ctx->rt->fail(ctx, TH_ERR_SHAPE, "the bias has %lld elements, the rows have %lld",
                                 (long long)b->shape[0], (long long)n);
        job.b = b->data;
        job.b_step = b->strides[0];
    }
    if (KERNEL_LOSS) {
        if (label->shape[0] != rows)
            return th_not_one_each(ctx, "labels", label->shape[0], rows);
        job.label = label->data;
        job.label_step = label->strides[0];
        for (int64_t i = 0; i < rows; ++i) {
            const int64_t k = KERNEL_label_of(&job, i);
            if (k < 0 || k >= n)
                return th_bad_label(ctx, i, k, n);
        }
    }
    for (int i = 0; i < ctx->nout; ++i) {
        if (ctx->rt->ensure(ctx, ctx->out[i], x->shape))
            return -1;
    }
    if (rows == 0 || n == 0)
        return 0;
    job.y = (KERNEL_real *)ctx->out[KERNEL_LOSS ? 1 : 0]->data;
    if (KERNEL_LOSS) {
        job.loss = (KERNEL_real *)ctx->out[0]->data;
        job.place = (KERNEL_label *)ctx->out[2]->data;
    }
    const double each = 1.5 * (double)n;
    if (each * (double)rows < TH_SERIAL_NS)
        KERNEL_rows(&job, 0, rows);
    else
        return ctx->rt->parallel_for(ctx, rows, th_grain(each), KERNEL_rows, &job);
    return 0;
}
""")

_GRADIENT = Template("""\
/* $comment */
typedef $real KERNEL_real;

static inline KERNEL_real KERNEL_at(const th_buffer *b, int64_t i, int64_t j)
{
    return *(const KERNEL_real *)(b->data + i * b->strides[0] + j * b->strides[1]);
}

/* sm * (dy - sum(dy * sm)) of each row */
static void KERNEL_rows(void *arg, int64_t lo, int64_t hi)
{
    const th_ctx *ctx = arg;
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1];
    const int64_t n = sm->shape[1];
    KERNEL_real *y = (KERNEL_real *)ctx->out[0]->data;
    const int dense = dy->strides[1] == sizeof(KERNEL_real) && sm->strides[1] == sizeof(KERNEL_real);
    for (; lo < hi; ++lo) {
        KERNEL_real sum = 0, lane[8] = {0}, *to = y + lo * n;
        int64_t j = 0;
        if (dense) {
            const KERNEL_real *g = (const KERNEL_real *)(dy->data + lo * dy->strides[0]);
            const KERNEL_real *s = (const KERNEL_real *)(sm->data + lo * sm->strides[0]);
            for (; j + 8 <= n; j += 8)
                for (int l = 0; l < 8; ++l)
                    lane[l] += g[j + l] * s[j + l];
            for (; j < n; ++j)
                sum += g[j] * s[j];
            for (int l = 0; l < 8; ++l)
                sum += lane[l];
            TH_INDEPENDENT
            for (j = 0; j < n; ++j)
                to[j] = s[j] * (g[j] - sum);
        } else {
            for (; j < n; ++j)
                sum += KERNEL_at(dy, lo, j) * KERNEL_at(sm, lo, j);
            for (j = 0; j < n; ++j)
                to[j] = KERNEL_at(sm, lo, j) * (KERNEL_at(dy, lo, j) - sum);
        }
    }
}

int KERNEL(th_ctx *ctx)
{
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1];
    for (int d = 0; d < 2; ++d)
        if (dy->shape[d] != sm->shape[d])
            return th_mismatch(ctx, d, 0, dy->shape[d], 1, sm->shape[d]);
    if (ctx->rt->ensure(ctx, ctx->out[0], sm->shape))
        return -1;
    const int64_t rows = sm->shape[0];
    const double each = 1.0 * (double)sm->shape[1];
    if (each * (double)rows < TH_SERIAL_NS)
        KERNEL_rows(ctx, 0, rows);
    else
        return ctx->rt->parallel_for(ctx, rows, th_grain(each), KERNEL_rows, ctx);
    return 0;
}
""")

_LOSS_GRADIENT = Template("""\
/* $comment */
typedef $real KERNEL_real;
typedef $label KERNEL_label;

int KERNEL(th_ctx *ctx)
{
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1], *label = ctx->in[2];
    const int64_t rows = sm->shape[0], n = sm->shape[1], step = sm->strides[1];
    if (dy->shape[0] != rows && dy->shape[0] != 1)
        return th_not_one_each(ctx, "gradients", dy->shape[0], rows);
    if (label->shape[0] != rows)
        return th_not_one_each(ctx, "labels", label->shape[0], rows);
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t k = (int64_t) * (const KERNEL_label *)(label->data + i * label->strides[0]);
        if (k < 0 || k >= n)
            return th_bad_label(ctx, i, k, n);
    }
    if (ctx->rt->ensure(ctx, ctx->out[0], sm->shape))
        return -1;
    const int64_t next = dy->shape[0] == 1 ? 0 : dy->strides[0];
    for (int64_t i = 0; i < rows; ++i) {
        const KERNEL_real g = *(const KERNEL_real *)(dy->data + i * next);
        const char *s = sm->data + i * sm->strides[0];
        KERNEL_real *to = (KERNEL_real *)ctx->out[0]->data + i * n;
        if (step == sizeof(KERNEL_real)) {
            TH_INDEPENDENT
            for (int64_t j = 0; j < n; ++j)
                to[j] = g * ((const KERNEL_real *)s)[j];
        } else {
            for (int64_t j = 0; j < n; ++j)
                to[j] = g * *(const KERNEL_real *)(s + j * step);
        }
        to[*(const KERNEL_label *)(label->data + i * label->strides[0])] -= g;
    }
    return 0;
}
""")


def _softmax(op: Any, node: Apply, bias: bool = False, log: bool = False, loss: bool = False) -> Kernel | None:
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or ndim_of(node.inputs[0]) != 2:
        return None
    label = dtypes[2] if loss else "int64"
    floats = [d for d in dtypes if d != label]
    dtype = dtypes[0]
    if dtype not in _FLOATS or any(d != dtype for d in floats) or not is_integer(label):
        return None
    if loss and dtypes[-1] != label:
        return None
    exp, log_function = symbol("exp", dtype), symbol("log", dtype)
    assert exp is not None and log_function is not None
    source = _SOFTMAX.substitute(
        comment=comment_text(f"{op}: {'log-' * log}softmax of the rows of x{' + b' * bias}, {dtype}"),
        real=c_type(dtype),
        label=c_type(label),
        bias=int(bias),
        log=int(log),
        loss=int(loss),
        lanes=32 if dtype == "float64" else 64,
        exp=exp[0],
        logarithm=log_function[0],
    )
    blocks = support([block for _, block in (exp, log_function) if block])
    return Kernel(title(op, node), source, (c_text("loops.h"), _ERRORS, *blocks), b"", 1.5, plain_loops=True)


def softmax_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the softmax of each row of a matrix."""
    return _softmax(op, node)


def softmax_with_bias_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the softmax of each row of ``x + b``."""
    return _softmax(op, node, bias=True)


def log_softmax_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the logarithm of the softmax of each row of a matrix."""
    return _softmax(op, node, log=True)


def crossentropy_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return three things about the rows ``x + b``, for inputs x, b, labels.

    Minus the logarithm of the softmax at the labels, the softmax, and the place of the largest element.
    """
    return _softmax(op, node, bias=True, loss=True)


def softmax_grad_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the gradient of a softmax, for inputs dy, sm."""
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or len(set(dtypes)) != 1 or dtypes[0] not in _FLOATS or ndim_of(node.inputs[0]) != 2:
        return None
    source = _GRADIENT.substitute(comment=comment_text(f"{op}, {dtypes[0]}"), real=c_type(dtypes[0]))
    return Kernel(title(op, node), source, (c_text("loops.h"),), b"", 1.0, plain_loops=True)


def crossentropy_dx_kernel(op: Any, node: Apply) -> Kernel | None:
    """Return the gradient of the cross entropies, for inputs dy (one or as many as rows), sm, labels."""
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or not is_integer(dtypes[2]):
        return None
    real = dtypes[0]
    if real not in _FLOATS or not real == dtypes[1] == dtypes[3]:
        return None
    comment = comment_text(f"{op}, {real}")
    source = _LOSS_GRADIENT.substitute(comment=comment, real=c_type(real), label=c_type(dtypes[2]))
    return Kernel(title(op, node), source, (c_text("loops.h"), _ERRORS), b"", 1.0, plain_loops=True)

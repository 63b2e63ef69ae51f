/* A runtime for tests: it does what abi.h promises, checks what kernels promise back, and nothing more. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "elementwise.cpp" /* the loader's, which is C as well, */
#include "move.cpp"        /* as is this */

typedef struct {
    char message[512];
    int kind, nscratch, pieces;
    void *scratch[64];
} state;

static int64_t bytes_of(const th_buffer *b)
{
    int64_t n = b->itemsize;
    for (int d = 0; d < b->ndim; ++d)
        n *= b->shape[d];
    return n;
}

static int ensure(th_ctx *ctx, th_buffer *out, const int64_t *shape)
{
    (void)ctx;
    int64_t step = out->itemsize;
    for (int d = out->ndim - 1; d >= 0; --d) {
        out->shape[d] = shape[d];
        out->strides[d] = step;
        step *= shape[d];
    }
    int64_t n = bytes_of(out);
    if (posix_memalign((void **)&out->data, 64, n ? (size_t)n : 1))
        return -1;
    memset(out->data, 0xa5, (size_t)n);
    out->priv = out->data;
    return 0;
}

static int view(th_ctx *ctx, th_buffer *out, const th_buffer *base, char *data, int32_t ndim, const int64_t *shape,
                const int64_t *strides)
{
    (void)ctx, (void)base;
    if (ndim != out->ndim)
        abort();
    out->data = data;
    memcpy(out->shape, shape, (size_t)ndim * sizeof *shape);
    memcpy(out->strides, strides, (size_t)ndim * sizeof *strides);
    out->priv = NULL;
    return 0;
}

static int fail(th_ctx *ctx, int32_t kind, const char *fmt, ...)
{
    state *s = ctx->priv;
    va_list args;
    va_start(args, fmt);
    vsnprintf(s->message, sizeof s->message, fmt, args);
    va_end(args);
    s->kind = kind;
    return -1;
}

static void *scratch(th_ctx *ctx, size_t bytes)
{
    state *s = ctx->priv;
    void *p = NULL;
    if (s->nscratch == 64 || posix_memalign(&p, 64, bytes ? bytes : 1))
        abort();
    return s->scratch[s->nscratch++] = p;
}

static int parallel_for(th_ctx *ctx, int64_t n, int64_t grain, th_body body, void *arg)
{
    state *s = ctx->priv;
    /* From the last piece to the first: nothing may depend on the order. */
    for (int64_t hi = n; hi > 0;) {
        int64_t lo = (hi - 1) / grain * grain;
        body(arg, lo, hi);
        hi = lo;
        s->pieces++;
    }
    return 0;
}

static const th_runtime runtime = {TH_ABI_VERSION, ensure, view, fail, scratch, parallel_for, th_elementwise, th_move,
                                   th_size_outputs, NULL};

static void point(th_buffer **to, th_buffer *buffers, int n)
{
    for (int i = 0; i < n; ++i)
        to[i] = &buffers[i];
}

/* Returns the kernel's own result; message, kind and number of parallel pieces go to the caller. */
int run_kernel(th_thunk kernel, const void *params, int nin, th_buffer *ins, int nout, th_buffer *outs, char *message,
               int *kind, int *pieces)
{
    state s = {{0}, 0, 0, 0, {0}};
    th_buffer *in[nin + 1], *out[nout + 1];
    point(in, ins, nin), point(out, outs, nout);
    th_ctx ctx = {in, out, &runtime, params, nin, nout, 0, &s};
    int result = kernel(&ctx);
    for (int i = 0; i < s.nscratch; ++i)
        free(s.scratch[i]);
    memcpy(message, s.message, sizeof s.message);
    *kind = s.kind;
    *pieces = s.pieces;
    return result;
}

/* A copy with the loops of one level of instructions, 0 to 2; -1: this machine does not have it. */
int move_at_level(int level, char *to, int64_t to_row, int64_t to_step, const char *from, int64_t from_row,
                  int64_t from_step, int64_t rows, int64_t n, int64_t itemsize)
{
    const mover *all = movers_base;
#ifdef MOVE_LEVELS
    const mover *most = find_movers();
    all = level == 2 ? movers_v4 : level == 1 ? movers_v3 : movers_base;
    if ((level == 2 && most != movers_v4) || (level == 1 && most == movers_base))
        return -1;
#else
    if (level)
        return -1;
#endif
    move_with(mover_of(all, itemsize), to, to_row, to_step, from, from_row, from_step, rows, n, itemsize);
    return 0;
}

void release(void *p) { free(p); }

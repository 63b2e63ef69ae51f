/* Products of chosen blocks of a matrix with pieces of vectors. */
#include "kernels.h"

/* An array of blocks or pieces: where those of a number, or of an example and a number, are. */
static inline char *place(const th_buffer *b, int64_t i, int64_t j)
{
    return b->data + i * b->strides[0] + j * b->strides[1];
}

/* The number of a block, counted from 0; it has been checked. */
static inline int64_t block_at(const th_buffer *numbers, int64_t b, int64_t i, int64_t blocks)
{
    const th_buffer row = {.data = numbers->data + b * numbers->strides[0], .ndim = 1, .dtype = numbers->dtype,
                           .strides = numbers->strides + 1};
    const int64_t k = th_integer(&row, i);
    return k < 0 ? k + blocks : k;
}

static int check_numbers(th_ctx *ctx, const th_buffer *numbers, int64_t blocks)
{
    for (int64_t b = 0; b < numbers->shape[0]; ++b)
        for (int64_t i = 0; i < numbers->shape[1]; ++i) {
            const int64_t k = block_at(numbers, b, i, blocks);
            if (k < 0 || k >= blocks)
                return TH_FAIL(ctx, TH_ERR_INDEX, "there is a block number %lld, and there are %lld blocks", (long long)k,
                               (long long)blocks);
        }
    return 0;
}

/* to += factor * from, for elements that need not be contiguous. */
#define ADD_SCALED(NAME, T) \
    static TH_LOOP void add_##NAME(int64_t n, T factor, char *to_, int64_t to_step, const char *from_, int64_t from_step) \
    { \
        if (to_step == sizeof(T) && from_step == sizeof(T)) { \
            T *to = (T *)to_; \
            const T *from = (const T *)from_; \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < n; ++i) \
                to[i] += factor * from[i]; \
            return; \
        } \
        for (int64_t i = 0; i < n; ++i) \
            *(T *)(to_ + i * to_step) += factor * *(const T *)(from_ + i * from_step); \
    }
ADD_SCALED(f32, float)
ADD_SCALED(f64, double)

static void add_scaled(int32_t dtype, int64_t n, double factor, char *to, int64_t to_step, const char *from, int64_t from_step)
{
    if (dtype == TH_FLOAT32)
        add_f32(n, (float)factor, to, to_step, from, from_step);
    else
        add_f64(n, factor, to, to_step, from, from_step);
}

static double number_at(int32_t dtype, const char *p) { return dtype == TH_FLOAT32 ? *(const float *)p : *(const double *)p; }

static int mismatch(th_ctx *ctx)
{
    return TH_FAIL(ctx, TH_ERR_SHAPE, "shapes do not belong together. The sizes of blocks are those of the pieces; there are as "
                   "many numbers of blocks as pieces.");
}

static int same2(const th_buffer *a, const th_buffer *b) { return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1]; }

static void gemv_examples(void *arg, int64_t lo, int64_t hi)
{
    th_ctx *ctx = arg;
    const th_buffer *w = ctx->in[1], *h = ctx->in[2], *rows = ctx->in[3], *columns = ctx->in[4], *out = ctx->out[0];
    for (int64_t b = lo; b < hi; ++b)
        for (int64_t j = 0; j < columns->shape[1]; ++j) {
            const int64_t column = block_at(columns, b, j, w->shape[1]);
            for (int64_t i = 0; i < rows->shape[1]; ++i) {
                const char *block = place(w, block_at(rows, b, i, w->shape[0]), column), *piece = place(h, b, i);
                for (int64_t k = 0; k < w->shape[2]; ++k)
                    add_scaled(w->dtype, w->shape[3], number_at(w->dtype, piece + k * h->strides[2]), place(out, b, j),
                               out->strides[2], block + k * w->strides[2], w->strides[3]);
            }
        }
}

/* inputs: what is added to, blocks, pieces, their blocks by rows and by columns. */
TH_EXPORT int th_kernel_sparse_block_gemv(th_ctx *ctx)
{
    const th_buffer *o = ctx->in[0], *w = ctx->in[1], *h = ctx->in[2], *rows = ctx->in[3], *columns = ctx->in[4];
    const th_in_place_params *p = ctx->params;
    if (!same2(rows, h) || !same2(columns, o) || o->shape[0] != h->shape[0] || w->shape[2] != h->shape[2] ||
        w->shape[3] != o->shape[2])
        return mismatch(ctx);
    if (check_numbers(ctx, rows, w->shape[0]) || check_numbers(ctx, columns, w->shape[1]) || th_started(ctx, p->in_place))
        return -1;
    const double each = 0.2 * (double)(rows->shape[1] * columns->shape[1]) * (double)(w->shape[2] * w->shape[3]);
    return ctx->rt->parallel_for(ctx, o->shape[0], th_grain(each + 1.0), gemv_examples, ctx);
}

/* inputs: blocks that are added to, two arrays of pieces, their blocks by rows and by columns, a factor. */
TH_EXPORT int th_kernel_sparse_block_outer(th_ctx *ctx)
{
    const th_buffer *o = ctx->in[0], *x = ctx->in[1], *y = ctx->in[2], *rows = ctx->in[3], *columns = ctx->in[4];
    const th_in_place_params *p = ctx->params;
    if (!same2(rows, x) || !same2(columns, y) || x->shape[0] != y->shape[0] || o->shape[2] != x->shape[2] ||
        o->shape[3] != y->shape[2])
        return mismatch(ctx);
    if (check_numbers(ctx, rows, o->shape[0]) || check_numbers(ctx, columns, o->shape[1]) || th_started(ctx, p->in_place))
        return -1;
    const th_buffer *out = ctx->out[0];
    const double alpha = th_real(ctx->in[5]);
    for (int64_t b = 0; b < x->shape[0]; ++b)
        for (int64_t i = 0; i < x->shape[1]; ++i)
            for (int64_t j = 0; j < y->shape[1]; ++j) {
                char *block = place(out, block_at(rows, b, i, out->shape[0]), block_at(columns, b, j, out->shape[1]));
                for (int64_t k = 0; k < x->shape[2]; ++k)
                    add_scaled(x->dtype, y->shape[2], alpha * number_at(x->dtype, place(x, b, i) + k * x->strides[2]),
                               block + k * out->strides[2], out->strides[3], place(y, b, j), y->strides[2]);
            }
    return 0;
}

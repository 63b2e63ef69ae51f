/* The host's half of products of chosen blocks. The host reads the numbers of blocks, so that a wrong one is an error. */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "job.h"
#include "parameters.h"

typedef th_device_blocks_params params_t;

static int mismatch(th_ctx *ctx)
{
    return ctx->rt->fail(ctx, TH_ERR_SHAPE, "shapes do not belong together. The sizes of blocks are those of the pieces; there are as "
                         "many numbers of blocks as pieces.");
}

static int same2(const th_buffer *a, const th_buffer *b) { return a->shape[0] == b->shape[0] && a->shape[1] == b->shape[1]; }

/* Numbers of blocks, counted from 0; NULL: one of them is that of no block. */
static int64_t *numbers_of(th_ctx *ctx, const th_buffer *numbers, int64_t blocks)
{
    const int64_t n = numbers->shape[1];
    int64_t *found = ctx->rt->scratch(ctx, (size_t)(numbers->shape[0] * n + 1) * sizeof *found);
    for (int64_t b = 0; found && b < numbers->shape[0]; ++b) {
        const th_buffer row = {.data = numbers->data + b * numbers->strides[0], .ndim = 1, .dtype = numbers->dtype,
                               .strides = numbers->strides + 1};
        for (int64_t i = 0; i < n; ++i) {
            const int64_t given = th_integer(&row, i), k = given < 0 ? given + blocks : given;
            if (k < 0 || k >= blocks) {
                ctx->rt->fail(ctx, TH_ERR_INDEX, "there is a block number %lld, and there are %lld blocks", (long long)k, (long long)blocks);
                return NULL;
            }
            found[b * n + i] = k;
        }
    }
    return found;
}

/* The output: the first input itself, or of its shape. */
static int make_output(th_ctx *ctx, const params_t *p)
{
    const th_buffer *o = ctx->in[0];
    return p->in_place ? ctx->rt->view(ctx, ctx->out[0], o, o->data, o->ndim, o->shape, o->strides)
                       : ctx->rt->ensure(ctx, ctx->out[0], o->shape);
}

static int64_t size_of(const th_buffer *b)
{
    int64_t size = 1;
    for (int d = 0; d < b->ndim; ++d)
        size *= b->shape[d];
    return size;
}

/* inputs: what is added to, blocks, pieces, their blocks by rows and by columns. */
static int gemv(job *j)
{
    th_ctx *ctx = j->ctx;
    const params_t *p = ctx->params;
    const th_buffer *o = ctx->in[0], *w = ctx->in[1], *h = ctx->in[2], *rows = ctx->in[3], *columns = ctx->in[4];
    if (!same2(rows, h) || !same2(columns, o) || o->shape[0] != h->shape[0] || w->shape[2] != h->shape[2] ||
        w->shape[3] != o->shape[2])
        return mismatch(ctx);
    struct {
        int64_t at[6], batch, rows, columns, height, width, w[4], h[3], o[3], sums[3];
    } a = {.batch = o->shape[0], .rows = rows->shape[1], .columns = columns->shape[1], .height = w->shape[2], .width = w->shape[3]};
    int64_t *by_rows = numbers_of(ctx, rows, w->shape[0]), *by_columns = by_rows ? numbers_of(ctx, columns, w->shape[1]) : NULL;
    if (by_columns == NULL || make_output(ctx, p))
        return -1;
    const int64_t all = size_of(o);
    if (all == 0)
        return 0;
    if (size_of(h) == 0)
        a.rows = 0; /* nothing is added */
    memcpy(a.w, w->strides, sizeof a.w);
    memcpy(a.h, h->strides, sizeof a.h);
    memcpy(a.o, o->strides, sizeof a.o);
    memcpy(a.sums, ctx->out[0]->strides, sizeof a.sums);
    char *first = th_take_copy(j, by_rows, size_of(rows) * 8), *second = first ? th_take_copy(j, by_columns, size_of(columns) * 8) : NULL;
    char *pointers[6] = {o->data, a.rows ? w->data : o->data, a.rows ? h->data : o->data, first, second, ctx->out[0]->data};
    return second ? th_launch(j, p->chosen_products, (all + 255) / 256, 6, pointers, &a, sizeof a) : -1;
}

/* A pair of pieces, and the block that it goes to. */
typedef struct pair {
    int64_t block, number;
} pair;

static int by_block(const void *x, const void *y)
{
    const pair *a = x, *b = y;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* For each block that is named its row, its column and where its list begins, and the lists. */
static int64_t *table_of(th_ctx *ctx, const int64_t *by_rows, const int64_t *by_columns, int64_t batch, int64_t rows, int64_t columns,
                         int64_t across, int64_t *blocks)
{
    const int64_t n = batch * rows * columns;
    pair *all = ctx->rt->scratch(ctx, (size_t)(n + 1) * sizeof *all);
    int64_t *table = ctx->rt->scratch(ctx, (size_t)(4 * n + 3) * sizeof *table), *named = table;
    if (!all || !table)
        return NULL;
    for (int64_t e = 0; e < n; ++e)
        all[e] = (pair){by_rows[e / columns] * across + by_columns[e / columns / rows * columns + e % columns], e};
    qsort(all, (size_t)n, sizeof *all, by_block);
    *blocks = 0;
    for (int64_t e = 0; e < n; ++e)
        if (e == 0 || all[e].block != all[e - 1].block) {
            *named++ = all[e].block / across;
            *named++ = all[e].block % across;
            *named++ = e;
            ++*blocks;
        }
    named[0] = named[1] = 0;
    named[2] = n;
    for (int64_t e = 0; e < n; ++e)
        named[3 + e] = all[e].number;
    return table;
}

/* inputs: blocks that are added to, two arrays of pieces, their blocks by rows and by columns, a factor. */
static int outer(job *j)
{
    th_ctx *ctx = j->ctx;
    const params_t *p = ctx->params;
    const th_buffer *o = ctx->in[0], *x = ctx->in[1], *y = ctx->in[2], *rows = ctx->in[3], *columns = ctx->in[4];
    if (!same2(rows, x) || !same2(columns, y) || x->shape[0] != y->shape[0] || o->shape[2] != x->shape[2] ||
        o->shape[3] != y->shape[2])
        return mismatch(ctx);
    struct {
        int64_t at[4], blocks, rows, columns, height, width, sums[4], x[3], y[3];
        double factor;
    } a = {.rows = rows->shape[1], .columns = columns->shape[1], .height = o->shape[2], .width = o->shape[3],
           .factor = th_gpu_number(ctx->in[5])};
    int64_t *by_rows = numbers_of(ctx, rows, o->shape[0]), *by_columns = by_rows ? numbers_of(ctx, columns, o->shape[1]) : NULL;
    if (by_columns == NULL || make_output(ctx, p))
        return -1;
    th_buffer *out = ctx->out[0];
    if (size_of(o) == 0 || (!p->in_place && th_move(j, 4, o->shape, out->data, out->strides, o->data, o->strides, -1, NULL)))
        return size_of(o) == 0 ? 0 : -1;
    const int64_t n = x->shape[0] * a.rows * a.columns;
    if (n == 0)
        return 0;
    int64_t *table = table_of(ctx, by_rows, by_columns, x->shape[0], a.rows, a.columns, o->shape[1], &a.blocks);
    char *there = table ? th_take_copy(j, table, (3 * (a.blocks + 1) + n) * 8) : NULL;
    memcpy(a.sums, out->strides, sizeof a.sums);
    memcpy(a.x, x->strides, sizeof a.x);
    memcpy(a.y, y->strides, sizeof a.y);
    char *pointers[4] = {out->data, x->data, y->data, there};
    return there ? th_launch(j, p->outer_products, a.blocks, 4, pointers, &a, sizeof a) : -1;
}

#define KERNEL(name, step)                    \
    TH_EXPORT int th_kernel_gpu_##name(th_ctx *ctx) \
    {                                         \
        job j;                                \
        th_job_begin(&j, ctx, ((const params_t *)ctx->params)->chosen_products->gpu); \
        return th_job_end(&j, step(&j));      \
    }
KERNEL(sparse_block_gemv, gemv)
KERNEL(sparse_block_outer, outer)

/* Uniform numbers of MRG31k3p (P. L'Ecuyer and R. Touzin, 2000); tensor/random/mrg31k3p.py has the recurrences.
 *
 * Number i is the next one of stream i % n, for n streams. Streams are adjacent elements of vectors: a block of them takes
 * all its steps before the next block, so that its states stay in the nearest cache.
 */
#include "kernels.h"
#include "draw.h"
#include "mrg_step.h"

enum { BLOCK = 512 };

typedef struct {
    const int32_t *states;
    th_buffer *next, *out;
    int64_t streams, count;
} draw;

/* One step of `width` streams. x[0] is the newest of each; the oldest makes room for the next one. */
#define STEP(NAME, X, CONVERT) \
    TH_LOOP static void step_##NAME(int64_t width, uint32_t *const *x, uint32_t *const *y, X *to) \
    { \
        uint32_t *x1 = x[1], *x2 = x[2], *y0 = y[0], *y2 = y[2]; \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < width; ++i) { \
            const uint32_t a = th_mrg_next_x(x1[i], x2[i]); \
            const uint32_t b = th_mrg_next_y(y0[i], y2[i]); \
            x2[i] = a; \
            y2[i] = b; \
            to[i] = CONVERT(th_mrg_drawn(a, b)); \
        } \
    }
STEP(f4, float, TH_MRG_FLOAT)
STEP(f8, double, TH_MRG_DOUBLE)

static void turn(uint32_t **x)
{
    uint32_t *last = x[2];
    x[2] = x[1];
    x[1] = x[0];
    x[0] = last;
}

static void step(const draw *d, int64_t width, uint32_t **x, uint32_t **y, int64_t at)
{
    char *to = d->out->data + at * d->out->itemsize;
    if (d->out->dtype == TH_FLOAT32)
        step_f4(width, x, y, (float *)to);
    else
        step_f8(width, x, y, (double *)to);
    turn(x);
    turn(y);
}

static void store(const draw *d, int64_t first, int64_t from, int64_t to, uint32_t *const *x, uint32_t *const *y)
{
    const int64_t row = d->next->strides[0], column = d->next->strides[1];
    for (int64_t i = from; i < to; ++i) {
        char *p = d->next->data + (first + i) * row;
        for (int k = 0; k < 3; ++k) {
            *(int32_t *)(p + k * column) = (int32_t)x[k][i];
            *(int32_t *)(p + (k + 3) * column) = (int32_t)y[k][i];
        }
    }
}

static void draw_blocks(void *arg, int64_t lo, int64_t hi)
{
    const draw *d = arg;
    uint32_t room[6][BLOCK];
    for (int64_t block = lo; block < hi; ++block) {
        const int64_t first = block * BLOCK, width = d->streams - first < BLOCK ? d->streams - first : BLOCK;
        const int64_t rounds = d->count / d->streams, rest = d->count % d->streams - first;
        /* How many of these streams draw one number more than the others. */
        const int64_t more = rest < 0 ? 0 : rest < width ? rest : width;
        uint32_t *x[3] = {room[0], room[1], room[2]}, *y[3] = {room[3], room[4], room[5]};
        for (int64_t i = 0; i < width; ++i)
            for (int k = 0; k < 6; ++k)
                room[k][i] = (uint32_t)d->states[(first + i) * 6 + k];
        for (int64_t round = 0; round < rounds; ++round)
            step(d, width, x, y, round * d->streams + first);
        store(d, first, more, width, x, y);
        if (more > 0) {
            step(d, more, x, y, rounds * d->streams + first);
            store(d, first, 0, more, x, y);
        }
    }
}

/* inputs: states, a row of 6 for each stream; lengths. outputs: the next states, numbers. */
TH_EXPORT int th_kernel_mrg_uniform(th_ctx *ctx)
{
    const th_mrg_uniform_params *p = ctx->params;
    const th_buffer *states = ctx->in[0];
    draw d = {NULL, ctx->out[0], ctx->out[1], states->shape[0], 0};
    if (states->shape[1] != 6)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the states of MRG31k3p have 6 columns, not %lld", (long long)states->shape[1]);
    if (th_draw_outputs(ctx, p->in_place, (int64_t)TH_MRG_M1, &d.count))
        return -1;
    if (d.streams == 0)
        return d.count == 0 ? 0 : TH_FAIL(ctx, TH_ERR_VALUE, "there are no streams to draw from: the states have no row");
    d.states = (const int32_t *)th_packed_in(ctx, states, TH_INT32, 4);
    if (!d.states)
        return -1;
    const int64_t blocks = (d.streams + BLOCK - 1) / BLOCK;
    const double work = 1.0 * BLOCK * (double)(d.count / d.streams + 2);
    return ctx->rt->parallel_for(ctx, blocks, th_grain(work), draw_blocks, &d);
}

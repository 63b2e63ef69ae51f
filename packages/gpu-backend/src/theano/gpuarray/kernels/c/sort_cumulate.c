/* The host's half of sums and products up to each place. */
#include <string.h>

#include "gpu.h"
#include "parameters.h"

typedef th_device_cumulation_params params_t;

enum { GROUP = 256, PARTS = 2048, AT_ONCE = 4 }; /* groups that a processor runs at the same time */

typedef struct plan {
    int64_t length[2][TH_MAX_NDIM], step[2][2][TH_MAX_NDIM]; /* axes that are kept, and those of a line; of both operands */
    int axes[2];
    int64_t lines, n, lanes, items, parts, part; /* `part`: elements of each but the last */
} plan;

/* The axes that are kept, or those of a line, as few as possible. */
static void split(plan *q, const params_t *p, const th_buffer *x, const int64_t *to, int of_line)
{
    int64_t strides[2 * TH_MAX_NDIM], *shape = q->length[of_line], n = 1;
    int count = 0, at = 0;
    for (int d = 0; d < x->ndim; ++d)
        count += (p->axis < 0 || p->axis == d) == of_line;
    for (int d = 0; d < x->ndim; ++d) {
        if ((p->axis < 0 || p->axis == d) != of_line)
            continue;
        shape[at] = x->shape[d];
        strides[at] = x->strides[d];
        strides[count + at++] = to[d];
        n *= x->shape[d];
    }
    const int left = q->axes[of_line] = th_gpu_collapse(count, shape, 2, strides);
    for (int k = 0; k < 2; ++k)
        memcpy(q->step[k][of_line], strides + k * left, (size_t)left * sizeof *strides);
    *(of_line ? &q->n : &q->lines) = n;
}

static int64_t inner(const plan *q, int of_line)
{
    const int axes = q->axes[of_line];
    return axes ? th_gpu_distance(q->step[0][of_line][axes - 1]) : of_line ? 0 : INT64_MAX;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* How many work-items take each line, `most` elements each at a time, and in how many parts: these are read twice, so there are
 * none where lines keep it busy, or where a second launch takes longer than the steps that are left.
 *
 * What is close in memory is read together: elements of one line, by 8 lanes at least, or those of 16 lines. */
static void share(const th_gpu *gpu, plan *q, int neighbours, int64_t most)
{
    const int64_t wanted = gpu->processors * 2 * GROUP, together = neighbours ? 1 : least(q->lines, 16);
    const int64_t few = neighbours ? least(q->n, 8) : 1, some = neighbours ? 32 : q->lines < wanted ? 16 : 1;
    int64_t lanes = 1, parts = 1;
    while (2 * lanes * together <= GROUP && (lanes < few || (lanes * most < q->n && (lanes < some || q->lines * lanes < wanted))))
        lanes *= 2;
    q->lanes = lanes;
    q->items = 2 * q->n > lanes * most ? most : (q->n - 1) / lanes + 1;
    const int64_t step = lanes * q->items, steps = (q->n - 1) / step + 1, groups = (q->lines - 1) / (GROUP / lanes) + 1;
    if (steps >= 4 && groups < 2 * gpu->processors)
        parts = least(least(steps, PARTS), AT_ONCE * gpu->processors / groups);
    q->part = ((steps - 1) / parts + 1) * step;
    q->parts = (q->n - 1) / q->part + 1;
}

static int launch(th_gpu *gpu, const th_gpu_kernel *kernel, int64_t groups, char **pointers, int64_t *args, const int64_t *end)
{
    const th_gpu_launch what = {kernel->function, groups, GROUP, 3, pointers, args, (size_t)(end - args) * sizeof *args};
    return th_gpu_launched(gpu, &what);
}

TH_EXPORT int th_kernel_gpu_cumulate(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_gpu *gpu = p->cumulated->gpu;
    const th_buffer *x = ctx->in[0];
    th_buffer *out = ctx->out[0];
    const int ndim = x->ndim;
    int64_t size = 1, to[TH_MAX_NDIM];
    for (int d = 0; d < ndim; ++d)
        size *= x->shape[d];
    if (ctx->rt->ensure(ctx, out, p->axis < 0 ? &size : x->shape))
        return -1;
    if (size == 0)
        return 0;
    int64_t step = p->axis < 0 ? out->strides[0] : 0;
    for (int d = ndim - 1; d >= 0; step *= x->shape[d], --d)
        to[d] = p->axis < 0 ? step : out->strides[d];
    plan q;
    split(&q, p, x, to, 0);
    split(&q, p, x, to, 1);
    int64_t args[TH_GPU_ARGS / 8], *a = args + 3;
    const int neighbours = inner(&q, 1) <= inner(&q, 0), room = ndim ? ndim : 1;
    share(gpu, &q, neighbours, x->itemsize > 4 ? 8 : 16);
    const int64_t head[] = {q.lines, q.n, q.lanes, q.items, q.parts, q.part, neighbours, q.axes[0], q.axes[1]};
    memcpy(a, head, sizeof head);
    a += sizeof head / sizeof *head;
    memset(a, 0, (size_t)(6 * room) * sizeof *a);
    for (int of_line = 0; of_line < 2; ++of_line) {
        const size_t bytes = (size_t)q.axes[of_line] * sizeof *a;
        memcpy(a + of_line * room, q.length[of_line], bytes);
        for (int k = 0; k < 2; ++k)
            memcpy(a + (2 + 2 * k + of_line) * room, q.step[k][of_line], bytes);
    }
    a += 6 * room;
    const int64_t groups = ((q.lines - 1) / (GROUP / q.lanes) + 1) * q.parts;
    const size_t bytes = (size_t)(q.lines * q.parts) * 8;
    char *totals = q.parts > 1 ? th_gpu_scratch(gpu, bytes) : NULL, *pointers[] = {x->data, out->data, totals ? totals : x->data};
    if (q.parts > 1 && totals == NULL)
        return th_gpu_no_room(ctx, bytes);
    int status = q.parts > 1 ? launch(gpu, p->totals, groups, pointers, args, a) : 0;
    if (status == 0)
        status = launch(gpu, p->cumulated, groups, pointers, args, a);
    if (totals)
        th_gpu_scratch_release(gpu, totals, bytes);
    return status ? th_gpu_failed(ctx, gpu) : 0;
}

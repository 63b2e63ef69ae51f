/* The host's half of sort, argsort and topk. */
#include <string.h>

#include "buffers.h"
#include "sort.h"
#include "parameters.h"

enum { BLOCK = 1024, GROUP = 256 };

/* As sort.cl has it. */
typedef struct arguments {
    int64_t at[5], lines, n, keep, bytes, kind, from_end, width, run, pitch, next, place_bytes, values, step[3];
    int64_t nkept, kept[TH_SORT_AXES], kept_step[3][TH_SORT_AXES];
} arguments;

static int kind_of(int32_t dtype)
{
    const int is_signed = dtype == TH_INT8 || dtype == TH_INT16 || dtype == TH_INT32 || dtype == TH_INT64;
    return dtype >= TH_FLOAT16 ? 2 : is_signed;
}

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

static int launch(const th_gpu_kernel *kernel, int64_t groups, int64_t group, int npointers, char **pointers, arguments *a)
{
    const th_gpu_launch what = {kernel->function, groups, group, npointers, pointers, (int64_t *)a, sizeof *a};
    return th_gpu_launched(kernel->gpu, &what);
}

static int launch_items(const th_gpu_kernel *kernel, int64_t n, int npointers, char **pointers, arguments *a)
{
    const int64_t group = kernel->gpu->group;
    return launch(kernel, (n + group - 1) / group, group, npointers, pointers, a);
}

/* How many pairs there are at most: a last run without another one to merge it with has room for both, too. */
static int64_t most_of(const arguments *a)
{
    int64_t most = 0;
    for (int64_t run = a->run;; run *= 2) {
        const int64_t room = ((a->n - 1) / run + 1) * least(least(run, a->n), a->keep);
        most = room > most ? room : most;
        if (run >= a->n)
            return a->lines * most;
    }
}

/* Runs ordered and merged until each line is one; `room` has two halves, of keys and places each, which are read and
 * written in turn. Returns where the places are, or NULL. */
static char *merged(const th_gpu_order *order, arguments *a, char *room, int64_t most, int64_t key)
{
    char *keys[2] = {room + 16 * most, room + (16 + key) * most}, *places[2] = {room, room + 8 * most};
    char *start[] = {order->x, keys[0], places[0]};
    const int64_t per_group = BLOCK / a->width, runs = a->lines * ((a->n - 1) / a->run + 1);
    int now = 0;
    if (launch(order->blocks, (runs + per_group - 1) / per_group, GROUP, 3, start, a))
        return NULL;
    for (; a->run < a->n; a->run *= 2, a->pitch = a->next, now = !now) {
        char *pointers[] = {keys[now], places[now], keys[!now], places[!now]};
        a->next = least(2 * a->run, a->keep);
        if (launch_items(order->merge, a->lines * ((a->n - 1) / a->run + 1) * a->pitch, 4, pointers, a))
            return NULL;
    }
    return places[now];
}

int th_gpu_sort(th_ctx *ctx, const th_gpu_order *order)
{
    th_gpu *gpu = order->put->gpu;
    arguments a = {.lines = 1, .n = order->n, .keep = order->keep, .bytes = order->itemsize, .kind = kind_of(order->dtype),
                   .from_end = order->from_end, .width = 1, .place_bytes = order->places ? order->place_bytes : 0,
                   .values = order->values != NULL, .nkept = order->axes};
    memcpy(a.step, order->step, sizeof a.step);
    memcpy(a.kept, order->shape, sizeof a.kept);
    memcpy(a.kept_step, order->strides, sizeof a.kept_step);
    for (int d = 0; d < order->axes; ++d)
        a.lines *= order->shape[d];
    if (a.lines == 0 || a.n == 0 || a.keep == 0)
        return 0;
    while (a.width < BLOCK && a.width < a.n)
        a.width *= 2;
    a.run = a.width;
    a.pitch = least(least(a.run, a.n), a.keep);
    const int64_t key = order->itemsize == 8 ? 8 : 4, most = most_of(&a);
    const size_t bytes = (size_t)(most * (16 + 2 * key));
    char *room = th_gpu_scratch(gpu, bytes);
    if (room == NULL)
        return th_gpu_no_room(ctx, bytes);
    char *places = merged(order, &a, room, most, key);
    char *pointers[] = {order->x, places, order->values ? order->values : room, order->places ? order->places : room};
    const int status = places == NULL || launch_items(order->put, a.lines * a.keep, 4, pointers, &a);
    th_gpu_scratch_release(gpu, room, bytes);
    return status ? th_gpu_failed(ctx, gpu) : 0;
}

/* The axes other than that of the lines, of x and of the outputs. */
static int64_t kept_axes(th_gpu_order *order, const th_buffer *const *operands, int axis)
{
    const int nd = operands[0]->ndim;
    int64_t shape[TH_MAX_NDIM], strides[3 * TH_MAX_NDIM];
    for (int d = 0, at = 0; d < nd; ++d) {
        if (d == axis)
            continue;
        shape[at] = operands[0]->shape[d];
        for (int k = 0; k < 3; ++k)
            strides[k * (nd - 1) + at] = operands[k]->strides[d];
        ++at;
    }
    const int left = th_gpu_collapse(nd - 1, shape, 3, strides);
    memcpy(order->shape, shape, (size_t)(left <= TH_SORT_AXES ? left : 0) * sizeof *shape);
    for (int k = 0; k < 3 && left <= TH_SORT_AXES; ++k) {
        memcpy(order->strides[k], strides + k * left, (size_t)left * sizeof *strides);
        order->step[k] = operands[k]->strides[axis];
    }
    return left;
}

/* inputs: x, an axis or how many are wanted (the host's). */
TH_EXPORT int th_kernel_gpu_sort(th_ctx *ctx)
{
    const th_device_sort_params *p = ctx->params;
    const th_buffer *x = ctx->in[0];
    const int64_t nd = x->ndim, number = th_integer(ctx->in[1], 0), axis = p->selects ? p->axis : number + (number < 0 ? nd : 0);
    if (axis < 0 || axis >= nd)
        return TH_FAIL(ctx, TH_ERR_INDEX, "axis %lld is out of bounds for array of dimension %lld", (long long)number, (long long)nd);
    const int64_t n = x->shape[axis], keep = !p->selects ? n : number < 0 ? -number : number;
    if (p->selects && (number == 0 || keep > n || keep < 0))
        return TH_FAIL(ctx, TH_ERR_SHAPE, "topk: kth must be 1 to %lld, the length of axis %d, or its negative; got %lld",
                       (long long)n, (int)axis, (long long)number);
    int64_t shape[TH_MAX_NDIM];
    memcpy(shape, x->shape, (size_t)nd * sizeof *shape);
    shape[axis] = keep;
    for (int i = 0; i < ctx->nout; ++i) {
        if (ctx->rt->ensure(ctx, ctx->out[i], shape))
            return -1;
    }
    const th_buffer *values = p->values ? ctx->out[0] : NULL, *places = p->places ? ctx->out[p->values] : NULL;
    const th_buffer *operands[] = {x, values ? values : x, places ? places : x};
    th_gpu_order order = {p->blocks, p->merge, p->put, x->data, values ? values->data : NULL, places ? places->data : NULL,
                          x->dtype, x->itemsize, places ? places->itemsize : 0, n, keep, p->selects && number > 0, {0}, 0, {0}, {{0}}};
    order.axes = kept_axes(&order, operands, (int)axis);
    if (order.axes > TH_SORT_AXES)
        return TH_FAIL(ctx, TH_ERR_VALUE, "arrays of too many axes for a device: %lld", (long long)nd);
    if (order.from_end && n) { /* seen from its end */
        order.x += (n - 1) * order.step[0];
        order.step[0] = -order.step[0];
    }
    return th_gpu_sort(ctx, &order);
}

/* The host's half of indexing by arrays that are on the device: NumPy's rules, as selection.h of the tensor layer has them for
 * those of the host. Duplicate indices act in order: offsets are sorted stably, and the first work-item of each run of
 * equal offsets applies all of its updates. One small copy to the host confirms that all places exist, before anything is
 * moved. */
#include <string.h>

#include "buffers.h"
#include "parameters.h"
#include "sort.h"

typedef th_device_selection_params params_t;

enum { AXES = TH_SORT_AXES, TAKE = 0, SET = 1, ADD = 2 };

/* As index_advanced.cl has them. */
typedef struct points {
    int64_t n, axes, shape[AXES], strides[AXES];
} points;
typedef struct locating {
    int64_t at[3], bytes, is_signed, size, step, entry, start, adds;
    points points;
} locating;
typedef struct tabling {
    int64_t at[4], what, step;
    points points;
} tabling;

/* The group of axes that the arrays make, and the other axes of x. */
typedef struct selection {
    int wide, place, rest; /* axes of the group, those before it, all others */
    int64_t lengths[TH_MAX_NDIM], shape[TH_MAX_NDIM], strides[TH_MAX_NDIM], n, start;
    int64_t offsets; /* what offsets in x are made of multiples of, joined by "or" */
} selection;

static int wrong_place(th_ctx *ctx, int64_t place, int axis, int64_t size)
{
    return TH_FAIL(ctx, TH_ERR_INDEX, "index %lld is out of bounds for axis %d with size %lld", (long long)place, axis, (long long)size);
}

static int broadcast(th_ctx *ctx, const params_t *p, selection *s)
{
    for (int k = 0; k < p->count; ++k) {
        const int nd = p->entries[k] < 0 ? 0 : ctx->in[p->entries[k]]->ndim;
        s->wide = nd > s->wide ? nd : s->wide;
    }
    s->n = 1;
    for (int d = 0; d < s->wide; ++d) {
        int64_t length = 1;
        for (int k = 0; k < p->count; ++k) {
            const th_buffer *b = p->entries[k] < 0 ? NULL : ctx->in[p->entries[k]];
            const int own = b ? d - s->wide + b->ndim : -1;
            const int64_t n = own < 0 ? 1 : b->shape[own];
            if (n != 1 && length != 1 && n != length)
                return TH_FAIL(ctx, TH_ERR_INDEX,
                               "shape mismatch: indexing arrays could not be broadcast together: along axis %d of their "
                               "common shape one has length %lld, another %lld",
                               d, (long long)length, (long long)n);
            length = n != 1 ? n : length;
        }
        s->lengths[d] = length;
        s->n *= length;
    }
    return 0;
}

/* Which axes are left, where the group stands among them, and what single numbers of the host's add to all offsets. */
static int read_index(th_ctx *ctx, const params_t *p, const int64_t *strides, selection *s)
{
    const th_buffer *x = ctx->in[0];
    int arrays = 0, previous = 0;
    for (int d = 0; d < x->ndim; ++d) {
        const int array = d < p->count && p->entries[d] >= 0;
        if (array && !previous)
            s->place = arrays ? 0 : s->rest; /* a second group of neighbours sends all to the front */
        previous = array;
        arrays += array;
        if (!array) {
            s->shape[s->rest] = x->shape[d];
            s->strides[s->rest++] = strides[d];
            continue;
        }
        const th_buffer *b = ctx->in[p->entries[d]];
        s->offsets |= strides[d];
        if (b->device == NULL) {
            const int64_t i = th_integer(b, 0);
            if (i < -x->shape[d] || i >= x->shape[d])
                return wrong_place(ctx, i, d, x->shape[d]);
            s->start += (i < 0 ? i + x->shape[d] : i) * strides[d];
        }
    }
    return broadcast(ctx, p, s);
}

/* The group's axes as few as there can be, with an operand's strides along them. */
static int points_of(th_ctx *ctx, const selection *s, const int64_t *strides, points *to)
{
    int64_t shape[TH_MAX_NDIM], steps[TH_MAX_NDIM];
    memcpy(shape, s->lengths, (size_t)s->wide * sizeof *shape);
    memcpy(steps, strides, (size_t)s->wide * sizeof *shape);
    memset(to, 0, sizeof *to);
    to->n = s->n;
    to->axes = th_gpu_collapse(s->wide, shape, 1, steps);
    if (to->axes > AXES)
        return TH_FAIL(ctx, TH_ERR_VALUE, "arrays of too many axes for a device: %d", s->wide);
    memcpy(to->shape, shape, (size_t)to->axes * sizeof *shape);
    memcpy(to->strides, steps, (size_t)to->axes * sizeof *shape);
    return 0;
}

/* The offsets of all points, and whether all of them exist, which is read back. `wrong` is 16 bytes of the device's. */
static int offsets_of(th_ctx *ctx, const params_t *p, const int64_t *strides, const selection *s, char *offsets, char *wrong)
{
    th_gpu *gpu = p->locate->gpu;
    int64_t none[2] = {0, 0}, two = 2, step = 8, found[2];
    const th_buffer to = {wrong, 1, TH_INT64, &two, &step, 8, NULL, &gpu->memory};
    const th_buffer from = {(char *)none, 1, TH_INT64, &two, none, 8, NULL, NULL}; /* one number for all of them */
    if (gpu->memory.gather(&gpu->memory, &to, &from, -1, NULL))
        return th_gpu_failed(ctx, gpu);
    int adds = 0;
    for (int d = 0; d < p->count; ++d) {
        const th_buffer *b = p->entries[d] < 0 ? NULL : ctx->in[p->entries[d]];
        if (b == NULL || b->device == NULL)
            continue;
        int64_t steps[TH_MAX_NDIM];
        for (int k = 0; k < s->wide; ++k) {
            const int own = k - s->wide + b->ndim;
            steps[k] = own < 0 || b->shape[own] == 1 ? 0 : b->strides[own];
        }
        const int is_signed = b->dtype == TH_INT8 || b->dtype == TH_INT16 || b->dtype == TH_INT32 || b->dtype == TH_INT64;
        locating a = {{0}, b->itemsize, is_signed, ctx->in[0]->shape[d], strides[d], d + 1, s->start, adds, {0}};
        char *pointers[] = {b->data, offsets, wrong};
        if (points_of(ctx, s, steps, &a.points) || th_gpu_launch_items(ctx, p->locate, s->n, 3, pointers, &a, sizeof a))
            return -1;
        adds = 1;
    }
    if (gpu->memory.copy(&gpu->memory, (char *)found, wrong, sizeof found, TH_FROM_DEVICE))
        return th_gpu_failed(ctx, gpu);
    const int axis = (int)found[0] - 1;
    return axis < 0 ? 0 : wrong_place(ctx, found[1], axis, ctx->in[0]->shape[axis]);
}

/* Axes with the group as one among them. */
static th_buffer with_group(const selection *s, const th_buffer *like, char *data, const int64_t *strides, int64_t group, int64_t *room)
{
    th_buffer made = *like;
    made.ndim = s->rest + 1;
    made.shape = room;
    made.strides = room + made.ndim;
    made.data = data;
    for (int d = 0; d < s->rest; ++d) {
        made.shape[d + (d >= s->place)] = s->shape[d];
        made.strides[d + (d >= s->place)] = strides[d];
    }
    made.shape[s->place] = s->n;
    made.strides[s->place] = group;
    return made;
}

static void shape_of(const selection *s, int64_t *shape)
{
    memcpy(shape, s->shape, (size_t)s->place * sizeof *shape);
    memcpy(shape + s->place, s->lengths, (size_t)s->wide * sizeof *shape);
    memcpy(shape + s->place + s->wide, s->shape + s->place, (size_t)(s->rest - s->place) * sizeof *shape);
}

/* The strides of y, stretched to the shape of the part. */
static int stretched(th_ctx *ctx, const params_t *p, const th_buffer *y, int nd, const int64_t *shape, int64_t *strides)
{
    const int extra = nd - y->ndim;
    for (int d = 0; d < nd; ++d) {
        const int own = d - extra, repeats = own >= 0 && y->shape[own] == 1 && shape[d] != 1;
        if (own >= 0 && (repeats ? !(p->ones >> own & 1) : y->shape[own] != shape[d])) {
            th_text a, b;
            return TH_FAIL(ctx, TH_ERR_SHAPE, "a value of shape %s does not fit in one of shape %s%s",
                           th_shape_text(a, y->ndim, y->shape), th_shape_text(b, nd, shape),
                           repeats ? ". A length of 1 is stretched only if the variable's type says it is always 1" : "");
        }
        strides[d] = own < 0 || repeats ? 0 : y->strides[own];
    }
    return 0;
}

static int take(th_ctx *ctx, const params_t *p, const selection *s, char *room)
{
    th_gpu *gpu = p->tables->gpu;
    const th_buffer *x = ctx->in[0], *out = ctx->out[0];
    int64_t axes[4 * TH_MAX_NDIM + 4], others[TH_MAX_NDIM], step = out->itemsize;
    for (int d = s->rest - 1; d >= s->place; --d)
        step *= s->shape[d];
    memcpy(others, out->strides, (size_t)s->place * sizeof *others);
    memcpy(others + s->place, out->strides + s->place + s->wide, (size_t)(s->rest - s->place) * sizeof *others);
    const th_buffer to = with_group(s, out, out->data, others, step, axes);
    const th_buffer from = with_group(s, x, x->data, s->strides, 0, axes + 2 * TH_MAX_NDIM + 2);
    tabling a = {.what = TAKE, .step = step, .points = {.n = s->n}};
    char *offsets = room + 16, *table = offsets + 8 * s->n, *pointers[] = {offsets, offsets, table};
    if (th_gpu_launch_items(ctx, p->tables, s->n + 1, 3, pointers, &a, sizeof a))
        return -1;
    return th_gpu_move_by_table(gpu, &to, &from, s->place, s->n, table, s->offsets, 0) ? th_gpu_failed(ctx, gpu) : 0;
}

static int started(th_ctx *ctx, const params_t *p)
{
    th_gpu *gpu = p->tables->gpu;
    const th_buffer *x = ctx->in[0];
    if (p->in_place)
        return ctx->rt->view(ctx, ctx->out[0], x, x->data, x->ndim, x->shape, x->strides);
    if (ctx->rt->ensure(ctx, ctx->out[0], x->shape))
        return -1;
    for (int d = 0; d < x->ndim; ++d) {
        if (x->shape[d] == 0)
            return 0;
    }
    return gpu->memory.gather(&gpu->memory, ctx->out[0], x, -1, NULL) ? th_gpu_failed(ctx, gpu) : 0;
}

static int write(th_ctx *ctx, const params_t *p, const selection *s, const int64_t *y_strides, char *room)
{
    th_gpu *gpu = p->tables->gpu;
    const th_buffer *y = ctx->in[1];
    char *offsets = room + 16, *sorted = offsets + 8 * s->n, *numbers = sorted + 8 * s->n, *table = numbers + 8 * s->n;
    const th_gpu_order order = {p->blocks, p->merge, p->put, offsets, sorted, numbers, TH_INT64, 8, 8, s->n, s->n, 0, {8, 8, 8}, 0, {0}, {{0}}};
    tabling a = {.what = p->sets ? SET : ADD};
    char *pointers[] = {sorted, numbers, table};
    if (points_of(ctx, s, y_strides + s->place, &a.points) || th_gpu_sort(ctx, &order) ||
        th_gpu_launch_items(ctx, p->tables, s->n + 1, 3, pointers, &a, sizeof a))
        return -1;
    int64_t axes[4 * TH_MAX_NDIM + 4], others[TH_MAX_NDIM];
    memcpy(others, y_strides, (size_t)s->place * sizeof *others);
    memcpy(others + s->place, y_strides + s->place + s->wide, (size_t)(s->rest - s->place) * sizeof *others);
    const th_buffer from = with_group(s, y, y->data, others, 0, axes);
    const th_buffer to = with_group(s, ctx->out[0], ctx->out[0]->data, s->strides, 0, axes + 2 * TH_MAX_NDIM + 2);
    int64_t apart = s->offsets;
    for (int d = 0; d < s->wide; ++d)
        apart |= y_strides[s->place + d];
    return th_gpu_move_by_table(gpu, &to, &from, s->place, s->n, table, apart, !p->sets) ? th_gpu_failed(ctx, gpu) : 0;
}

static int selected(th_ctx *ctx, const params_t *p, const int64_t *strides, const selection *s, char *room)
{
    int64_t shape[2 * TH_MAX_NDIM], y_strides[2 * TH_MAX_NDIM], elements = 1;
    const int nd = s->rest + s->wide;
    shape_of(s, shape);
    for (int d = 0; d < nd; ++d)
        elements *= shape[d];
    if (s->n && offsets_of(ctx, p, strides, s, room + 16, room))
        return -1;
    if (p->writes ? stretched(ctx, p, ctx->in[1], nd, shape, y_strides) || started(ctx, p) : ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    if (elements == 0)
        return 0;
    return p->writes ? write(ctx, p, s, y_strides, room) : take(ctx, p, s, room);
}

/* inputs: x[, y], arrays of places. */
TH_EXPORT int th_kernel_gpu_advanced(th_ctx *ctx)
{
    const params_t *p = ctx->params;
    th_gpu *gpu = p->tables->gpu;
    const th_buffer *x = ctx->in[0];
    int64_t strides[TH_MAX_NDIM], step = x->itemsize;
    for (int d = x->ndim - 1; d >= 0; step *= x->shape[d], --d) /* those of the copy that is written to, where there is one */
        strides[d] = p->writes && !p->in_place ? step : x->strides[d];
    selection s = {0};
    if (read_index(ctx, p, strides, &s))
        return -1;
    const size_t bytes = (size_t)(6 * s.n + 4) * 8;
    char *room = th_gpu_scratch(gpu, bytes);
    if (room == NULL)
        return th_gpu_no_room(ctx, bytes);
    const int status = selected(ctx, p, strides, &s, room);
    th_gpu_scratch_release(gpu, room, bytes);
    return status;
}

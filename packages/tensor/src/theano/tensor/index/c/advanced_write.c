/* Elements that arrays of whole numbers and masks select together, set or added to: selection.h says how they are found. */
#include "selection.h"

typedef struct {
    cell c;
    int set, far;
    th_line line;
    int32_t dtype;
} writing;

#define SET(BYTES, TYPE) \
    case BYTES: { \
        int64_t i = 0; \
        EACH_CELL(w->far, to, offsets, n, *(TYPE *)(to + offsets[i]) = *(const TYPE *)(from + i * step)) \
        return; \
    }
#define ADD_ONE(TYPE, k) *(TYPE *)(to + offsets[i + (k)]) += *(const TYPE *)(from + (i + (k)) * step)
/* A sum that is read again just after it was written takes a CPU the longer way through memory: four of one place in
 * turn, as sorted groups have them, are added in a register, in the same order. */
#define ADD(CODE, TYPE) \
    case CODE: { \
        int64_t i = 0; \
        for (; !w->far && i + 4 <= n; i += 4) { \
            const int64_t at = offsets[i]; \
            if (at == offsets[i + 3] && at == offsets[i + 1] && at == offsets[i + 2]) { \
                const char *v = from + i * step; \
                TYPE sum = *(TYPE *)(to + at); \
                sum += *(const TYPE *)v; \
                sum += *(const TYPE *)(v + step); \
                sum += *(const TYPE *)(v + 2 * step); \
                sum += *(const TYPE *)(v + 3 * step); \
                *(TYPE *)(to + at) = sum; \
            } else { \
                ADD_ONE(TYPE, 0); \
                ADD_ONE(TYPE, 1); \
                ADD_ONE(TYPE, 2); \
                ADD_ONE(TYPE, 3); \
            } \
        } \
        EACH_CELL(w->far, to, offsets, n, ADD_ONE(TYPE, 0)) \
        return; \
    }

/* n cells at the offsets, from cells that are `step` apart. */
static TH_LOOP void write_cells(const writing *w, int64_t n, const int64_t *offsets, char *to, const char *from, int64_t step)
{
    const cell *c = &w->c;
    if (c->line && c->n == 1) {
        if (w->set)
            switch (c->to.itemsize) {
                SET(1, uint8_t)
                SET(2, uint16_t)
                SET(4, uint32_t)
                SET(8, uint64_t)
                SET(16, th_pair)
            }
        switch (w->dtype) {
            ADD(TH_FLOAT32, float)
            ADD(TH_FLOAT64, double)
            ADD(TH_INT32, uint32_t)
            ADD(TH_INT64, uint64_t)
        }
    }
    if (w->set && is_packed(c)) {
        for (int64_t i = 0; i < n; ++i)
            memcpy(to + offsets[i], from + i * step, (size_t)(c->n * c->to.itemsize));
    } else if (c->line) {
        for (int64_t i = 0; i < n; ++i)
            w->line(c->n, to + offsets[i], c->to_step, from + i * step, c->from_step);
    } else {
        for (int64_t i = 0; i < n; ++i)
            in_window(c, to + offsets[i], from + i * step, w->set ? th_copy_into : th_add_into);
    }
}

/* Axes `first` .. `first + count` of a window as a nest of their own, neighbours joined. */
static int axes_of(const th_window *w, int first, int count, int64_t *shape, int64_t *strides)
{
    memcpy(shape, w->shape + first, (size_t)count * sizeof *shape);
    memcpy(strides, w->strides + first, (size_t)count * sizeof *strides);
    return join_axes(1, count, shape, strides);
}

/* All cells of x (at `to`) and y (stretched to the shape of the part). */
static void write_all(const selection *s, const int64_t *offsets, char *to, const th_window *y, int set)
{
    const int place = s->place, behind = s->part.nd - place;
    th_window from;
    th_window_like(&from, y);
    memmove(from.strides + place, y->strides + place + s->wide, (size_t)behind * sizeof *from.strides);
    writing w;
    set_cell(&w.c, &s->part, &from, place);
    w.set = set;
    w.far = s->far;
    w.dtype = y->dtype;
    w.line = set ? th_mover(y->itemsize) : th_adder(y->dtype);
    int64_t both[2 * TH_MAX_NDIM], index[TH_MAX_NDIM] = {0};
    for (int d = 0; d < place; ++d) {
        both[2 * d] = s->part.strides[d];
        both[2 * d + 1] = y->strides[d];
    }
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    const int nd = axes_of(y, place, s->wide, shape, strides);
    const int64_t run = nd ? shape[nd - 1] : 1, step = nd ? strides[nd - 1] : 0;
    char *p[2] = {to, y->data};
    for (int64_t b = th_size(place, s->part.shape); b > 0; --b) {
        int64_t at[TH_MAX_NDIM] = {0};
        char *q = p[1];
        for (int64_t start = 0; start < s->n; start += run) {
            write_cells(&w, run, offsets + start, p[0], q, step);
            th_advance(1, nd - 1, shape, strides, at, &q);
        }
        th_advance(2, place, s->part.shape, both, index, p);
    }
}

static void packed_strides(th_window *w)
{
    int64_t stride = w->itemsize;
    for (int d = w->nd - 1; d >= 0; --d) {
        w->strides[d] = stride;
        stride *= w->shape[d];
    }
}

/* Axes `place` .. `place + wide` of y as one of n places, `stride` apart. */
static int write_group(const selection *s, const int64_t *offsets, char *to, const th_window *y, int64_t stride, int set)
{
    const int place = s->place, behind = s->part.nd - place;
    th_window bare_y, into, from;
    th_window_like(&bare_y, y);
    bare_y.nd = s->part.nd;
    memmove(bare_y.shape + place, y->shape + place + s->wide, (size_t)behind * sizeof *y->shape);
    memmove(bare_y.strides + place, y->strides + place + s->wide, (size_t)behind * sizeof *y->strides);
    with_group(&into, &s->part, place, s->n, 0);
    with_group(&from, &bare_y, place, s->n, stride);
    into.data = to;
    return th_scatter(s->ctx, &into, &from, place, offsets, !set);
}

/* The same on a device, with the axes of the group as one: of a copy of y, where its own do not make one. So offsets are
 * moved to the device once. */
static int write_there(const selection *s, const int64_t *offsets, char *to, const th_window *y, int set)
{
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM];
    const int nd = axes_of(y, s->place, s->wide, shape, strides);
    if (nd <= 1)
        return write_group(s, offsets, to, y, nd ? strides[0] : 0, set);
    const th_device *device = y->device;
    const size_t bytes = (size_t)(th_size(y->nd, y->shape) * y->itemsize);
    th_window copy;
    th_window_like(&copy, y);
    packed_strides(&copy);
    if (!device || !(copy.data = device->allocate(device, bytes)))
        return TH_FAIL(s->ctx, TH_ERR_DEVICE_MEMORY, "the device has no room for %zu bytes of what is written by indices", bytes);
    const int64_t stride = copy.strides[s->place + s->wide - 1];
    const int status = th_gather(s->ctx, &copy, y, -1, NULL) || write_group(s, offsets, to, &copy, stride, set) ? -1 : 0;
    device->release(device, copy.data, bytes);
    return status;
}

/* y as it is, or a copy in the type of x. */
static int converted(th_ctx *ctx, th_window *y, const th_window *x)
{
    if (y->dtype == x->dtype)
        return 0;
    th_window made;
    th_window_like(&made, y);
    made.dtype = x->dtype;
    made.itemsize = x->itemsize;
    packed_strides(&made);
    const int64_t size = th_size(y->nd, y->shape);
    made.data = ctx->rt->scratch(ctx, (size_t)(size ? size : 1) * (size_t)x->itemsize);
    if (!made.data)
        return -1;
    th_copy_into(&made, y);
    th_window_like(y, &made);
    return 0;
}

/* inputs: x, y, arrays. */
TH_EXPORT int th_kernel_advanced_inc_subtensor(th_ctx *ctx)
{
    const th_inc_subtensor_params *p = ctx->params;
    selection s;
    th_window x, y, part;
    th_window_of(&x, ctx->in[0]);
    th_window_of(&y, ctx->in[1]);
    if (!p->write.in_place)
        packed_strides(&x); /* those of the copy that is written to */
    const int64_t *offsets = NULL;
    /* All is checked before anything is written: a failed call leaves x as it was. */
    if (selected(ctx, p->count_index, p->index, &x, &s) || !(offsets = all_offsets(&s)))
        return -1;
    part.nd = s.part.nd + s.wide;
    shape_of(&s, part.shape);
    if (converted(ctx, &y, &x) || th_stretch(ctx, &part, &y, p->write.ones) || th_started(ctx, p->write.in_place))
        return -1;
    char *to = ctx->out[0]->data + (s.part.data - x.data);
    if (th_size(part.nd, part.shape) == 0)
        return 0;
    s.part.device = ctx->out[0]->device;
    if (s.part.device)
        return write_there(&s, offsets, to, &y, (int)p->write.sets);
    write_all(&s, offsets, to, &y, (int)p->write.sets);
    return 0;
}

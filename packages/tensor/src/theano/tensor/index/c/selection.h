/* Elements that arrays of whole numbers and masks select together, with slices and new axes: taken, set, or added to.
 *
 * NumPy's rules: the arrays broadcast to one group of axes, which stands where they stood if they were neighbours, else
 * in front; a mask counts as the lists of its true places, one for each axis it covers. The selected elements are seen as
 * cells: one for each point of the axes before the group and each point of the group, with all axes behind it in it.
 *
 *     result[before ..., group ..., behind ...] = x[start + before + offset(group) + behind]
 *
 * An offset is the sum of place times stride over the arrays. Offsets are worked out in pieces of CHUNK: the places are
 * widened to int64, checked, those that count from the end turned around, all without a branch for each. What is
 * taken is split among threads; what is written is not, since a place that is named twice is written in the order of its
 * names.
 */
#ifndef THEANO_TENSOR_SELECTION_H
#define THEANO_TENSOR_SELECTION_H

#include "kernels.h"

enum { CHUNK = TH_SELECTION_CHUNK, AHEAD = TH_TAKE_AHEAD };

typedef struct {
    th_ctx *ctx;
    int arrays;
    const char *data[TH_MAX_NDIM];
    int32_t dtype[TH_MAX_NDIM];
    int axis[TH_MAX_NDIM];                        /* of x; -1: none, the array has a length only */
    int64_t size[TH_MAX_NDIM], step[TH_MAX_NDIM]; /* of that axis */
    int wide;                                     /* axes of the group, as the result has them */
    int64_t lengths[TH_MAX_NDIM];
    int nd;                                       /* axes of the group, neighbours joined where all arrays allow it */
    int64_t shape[TH_MAX_NDIM], strides[TH_MAX_NDIM * TH_MAX_NDIM]; /* strides[d * arrays + k] */
    int64_t n;
    th_window part; /* the other axes of the result, at their first points */
    int place;      /* how many of them come before the group */
    int far;        /* x is so large that its elements come slowly */
} selection;

/* Do something for each cell from number i to n. Those that are far are fetched AHEAD: a CPU looks forward over fewer loads
 * than memory can answer at once. */
#define EACH_CELL(is_far, base, offsets, n, DONE) \
    if (is_far) \
        for (; i + AHEAD < n; ++i) { \
            __builtin_prefetch(base + offsets[i + AHEAD]); \
            DONE; \
        } \
    for (; i < n; ++i) \
        DONE;

/* ------------------------------------------------------------------------- what the index says */

/* The arrays as they come, before they are broadcast. */
typedef struct {
    int nd[TH_MAX_NDIM];
    const int64_t *shape[TH_MAX_NDIM], *strides[TH_MAX_NDIM];
} arrays_given;

static void add_array(selection *s, arrays_given *given, const char *data, int32_t dtype, int nd, const int64_t *shape,
                      const int64_t *strides, int axis, const th_window *x)
{
    const int k = s->arrays++;
    s->data[k] = data;
    s->dtype[k] = dtype;
    s->axis[k] = axis;
    s->size[k] = axis < 0 ? 1 : x->shape[axis];
    s->step[k] = axis < 0 ? 0 : x->strides[axis];
    given->nd[k] = nd;
    given->shape[k] = shape;
    given->strides[k] = strides;
}

static int add_mask(selection *s, arrays_given *given, const th_buffer *mask, int axis, const th_window *x)
{
    static const int64_t zero = 0, next = sizeof(int64_t);
    th_ctx *ctx = s->ctx;
    for (int d = 0; d < mask->ndim; ++d)
        if (mask->shape[d] != x->shape[axis + d])
            return TH_FAIL(ctx, TH_ERR_INDEX,
                           "boolean index did not match indexed array along axis %d; size of axis is %lld but size of "
                           "corresponding boolean axis is %lld",
                           axis + d, (long long)x->shape[axis + d], (long long)mask->shape[d]);
    const int lists = mask->ndim ? mask->ndim : 1;
    int64_t *scratch = ctx->rt->scratch(ctx, sizeof(int64_t));
    if (!scratch)
        return -1;
    const int64_t count = *scratch = mask->ndim ? th_count_true(mask) : *(const uint8_t *)mask->data != 0;
    const size_t bytes = (size_t)(count ? count : 1) * sizeof(int64_t);
    int64_t *places[TH_MAX_NDIM];
    for (int d = 0; d < lists; ++d) {
        places[d] = ctx->rt->scratch(ctx, bytes);
        if (!places[d])
            return -1;
        places[d][0] = 0;
        const int through = mask->ndim > 0;
        add_array(s, given, (const char *)places[d], TH_INT64, 1, scratch, through ? &next : &zero, through ? axis + d : -1, x);
    }
    if (mask->ndim)
        th_find_true(mask, count, places);
    return 0;
}

static void keep_axis(selection *s, int64_t length, int64_t stride)
{
    s->part.shape[s->part.nd] = length;
    s->part.strides[s->part.nd++] = stride;
}

/* Neighbouring axes become one where every operand goes on steadily; their order stays. Returns how many are left. */
static int join_axes(int nop, int nd, int64_t *shape, int64_t *strides)
{
    int kept = 0;
    for (int d = 0; d < nd; ++d) {
        if (shape[d] == 1)
            continue;
        int merges = kept > 0;
        for (int k = 0; k < nop && merges; ++k)
            merges = strides[(kept - 1) * nop + k] == shape[d] * strides[d * nop + k];
        const int at = merges ? kept - 1 : kept++;
        shape[at] = merges ? shape[at] * shape[d] : shape[d];
        memmove(strides + at * nop, strides + d * nop, (size_t)nop * sizeof *strides);
    }
    return kept;
}

static int broadcast_arrays(selection *s, const arrays_given *given)
{
    s->wide = 0;
    for (int k = 0; k < s->arrays; ++k)
        s->wide = given->nd[k] > s->wide ? given->nd[k] : s->wide;
    s->n = 1;
    for (int d = 0; d < s->wide; ++d) {
        int64_t length = 1;
        for (int k = 0; k < s->arrays; ++k) {
            const int own = d - s->wide + given->nd[k];
            const int64_t n = own < 0 ? 1 : given->shape[k][own];
            if (n != 1 && length != 1 && n != length)
                return TH_FAIL(s->ctx, TH_ERR_INDEX,
                               "shape mismatch: indexing arrays could not be broadcast together: along axis %d of their "
                               "common shape one has length %lld, another %lld",
                               d, (long long)length, (long long)n);
            length = n != 1 ? n : length;
            s->strides[d * s->arrays + k] = own < 0 || n == 1 ? 0 : given->strides[k][own];
        }
        s->lengths[d] = s->shape[d] = length;
        s->n *= length;
    }
    s->nd = join_axes(s->arrays, s->wide, s->shape, s->strides);
    return 0;
}

/* The entries of the parameters (their number, then for each a kind and six numbers) applied to x, or to something
 * with its shape. */
static int selected(th_ctx *ctx, int64_t entries, const th_index_entry *e, const th_window *x, selection *s)
{
    arrays_given given;
    s->ctx = ctx;
    s->arrays = s->place = 0;
    s->part.data = x->data;
    s->part.nd = 0;
    s->part.dtype = x->dtype;
    s->part.itemsize = x->itemsize;
    s->part.device = x->device;
    s->far = th_size(x->nd, x->shape) * x->itemsize >= TH_TAKE_FAR_BYTES;
    int axis = 0, previous = 0; /* whether the entry before was an array */
    for (; entries > 0; --entries, ++e) {
        const int array = e->kind == TH_INDEX_KIND_ARRAY || e->kind == TH_INDEX_KIND_MASK;
        if (array && !previous)
            s->place = s->arrays ? 0 : s->part.nd; /* a second group of neighbours sends all to the front */
        previous = array;
        if (e->kind == TH_INDEX_KIND_SLICE) {
            int64_t start = 0, step = 1, count = 0;
            if (th_sliced(ctx, e, x->shape[axis], &start, &step, &count))
                return -1;
            s->part.data += count > 0 ? start * x->strides[axis] : 0;
            keep_axis(s, count, step * x->strides[axis]);
            ++axis;
        } else if (e->kind == TH_INDEX_KIND_NEW) {
            keep_axis(s, 1, 0);
        } else if (e->kind == TH_INDEX_KIND_ARRAY) {
            const th_buffer *b = ctx->in[e->start.value];
            /* A single number must exist even where an empty array beside it leaves nothing to do. */
            int64_t number = b->ndim ? 0 : th_integer(b, 0);
            if (b->ndim == 0 && th_bounded(ctx, &number, axis, x->shape[axis]))
                return -1;
            add_array(s, &given, b->data, b->dtype, b->ndim, b->shape, b->strides, axis, x);
            ++axis;
        } else {
            if (add_mask(s, &given, ctx->in[e->start.value], axis, x))
                return -1;
            axis += ctx->in[e->start.value]->ndim;
        }
    }
    for (; axis < x->nd; ++axis)
        keep_axis(s, x->shape[axis], x->strides[axis]);
    return broadcast_arrays(s, &given);
}

/* ------------------------------------------------------------------------------------- offsets */

#define WIDEN(CODE, TYPE) \
    case CODE: \
        for (int64_t i = 0; i < n; ++i) \
            to[i] = (int64_t)*(const TYPE *)(p + i * step); \
        break;

static TH_LOOP void widen(int32_t dtype, int64_t n, const char *p, int64_t step, int64_t *to)
{
    switch (dtype) {
        WIDEN(TH_INT8, int8_t)
        WIDEN(TH_UINT8, uint8_t)
        WIDEN(TH_INT16, int16_t)
        WIDEN(TH_UINT16, uint16_t)
        WIDEN(TH_INT32, int32_t)
        WIDEN(TH_UINT32, uint32_t)
    default:
        WIDEN(TH_INT64, int64_t)
    }
}

/* The places start .. start + n (at most CHUNK) that array k names, in C order of the group. */
static const int64_t *places_of(const selection *s, int k, int64_t start, int64_t n, int64_t *scratch)
{
    if (s->nd == 0) {
        widen(s->dtype[k], n, s->data[k], 0, scratch);
        return scratch;
    }
    const int last = s->nd - 1;
    const int64_t length = s->shape[last], step = s->strides[last * s->arrays + k];
    if (last == 0 && step == sizeof(int64_t) && (s->dtype[k] == TH_INT64 || s->dtype[k] == TH_UINT64))
        return (const int64_t *)s->data[k] + start;
    for (int64_t done = 0, m; done < n; done += m) {
        int64_t outer = (start + done) / length;
        const int64_t inner = (start + done) % length;
        const char *p = s->data[k] + inner * step;
        for (int d = last - 1; d >= 0; --d) {
            p += outer % s->shape[d] * s->strides[d * s->arrays + k];
            outer /= s->shape[d];
        }
        m = n - done < length - inner ? n - done : length - inner;
        widen(s->dtype[k], m, p, step, scratch + done);
    }
    return scratch;
}

/* Allowed is -size <= i < size: then both i + size and what it lacks to 2 size - 1 have their sign bit clear. */
static TH_LOOP int64_t add_offsets(int64_t n, const int64_t *places, int64_t size, int64_t step, int64_t *offsets)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t at = places[i], up = at + size;
        wrong |= up | (2 * size - 1 - up);
        offsets[i] += (at + (size & (at >> 63))) * step;
    }
    return wrong;
}

TH_ERROR int out_of_bounds(const selection *s, int k, int64_t n, const int64_t *places)
{
    int64_t i = 0;
    while (i < n - 1 && places[i] >= -s->size[k] && places[i] < s->size[k])
        ++i;
    int64_t number = places[i];
    return th_bounded(s->ctx, &number, s->axis[k], s->size[k]);
}

/* The offsets of points start .. start + n (at most CHUNK) of the group; -1 if one does not exist. */
static int offsets_of(const selection *s, int64_t start, int64_t n, int64_t *offsets)
{
    int64_t scratch[CHUNK];
    memset(offsets, 0, (size_t)n * sizeof *offsets);
    for (int k = 0; k < s->arrays; ++k) {
        const int64_t *places = places_of(s, k, start, n, scratch);
        if (add_offsets(n, places, s->size[k], s->step[k], offsets) < 0)
            return out_of_bounds(s, k, n, places);
    }
    return 0;
}

static int64_t piece(int64_t left) { return left < CHUNK ? left : CHUNK; }

/* All of them, in scratch memory; NULL: error set. */
static int64_t *all_offsets(const selection *s)
{
    int64_t *offsets = s->ctx->rt->scratch(s->ctx, (size_t)(s->n ? s->n : 1) * sizeof *offsets);
    for (int64_t start = 0; offsets && start < s->n; start += CHUNK)
        if (offsets_of(s, start, piece(s->n - start), offsets + start))
            return NULL;
    return offsets;
}

/* --------------------------------------------------------------------------------------- cells */

/* What is behind the group: one line of n elements in both operands, or (lines is 0) a window like any other. */
typedef struct {
    int line;
    int64_t n, to_step, from_step;
    th_window to, from; /* their axes behind the group */
} cell;

static void bare(th_window *w, const th_window *like, int nd)
{
    w->nd = nd;
    w->dtype = like->dtype;
    w->itemsize = like->itemsize;
}

static void set_cell(cell *c, const th_window *to, const th_window *from, int first)
{
    int64_t shape[TH_MAX_NDIM + 1], strides[2 * (TH_MAX_NDIM + 1)];
    const int nd = to->nd - first;
    bare(&c->to, to, nd);
    bare(&c->from, from, nd);
    for (int d = 0; d < nd; ++d) {
        c->to.shape[d] = c->from.shape[d] = shape[d] = to->shape[first + d];
        c->to.strides[d] = strides[2 * d] = to->strides[first + d];
        c->from.strides[d] = strides[2 * d + 1] = from->strides[first + d];
    }
    c->line = nd == 0 || th_collapse(2, nd, shape, strides) == 1;
    c->n = nd == 0 ? 1 : shape[0];
    c->to_step = c->n == 1 ? to->itemsize : strides[0];
    c->from_step = c->n == 1 ? from->itemsize : strides[1];
}

static int is_packed(const cell *c) { return c->line && c->to_step == c->to.itemsize && c->from_step == c->to.itemsize; }

static void in_window(const cell *c, char *to, const char *from, void (*what)(const th_window *, const th_window *))
{
    th_window target, source;
    th_window_like(&target, &c->to);
    th_window_like(&source, &c->from);
    target.data = to;
    source.data = (char *)from;
    what(&target, &source);
}

typedef struct { uint64_t a, b; } th_pair;

/* A window with an axis of n places more, before axis `place`. */
static void with_group(th_window *w, const th_window *like, int place, int64_t n, int64_t stride)
{
    th_window_like(w, like);
    const size_t behind = (size_t)(like->nd - place) * sizeof *w->shape;
    memcpy(w->shape + place + 1, like->shape + place, behind);
    memcpy(w->strides + place + 1, like->strides + place, behind);
    w->shape[place] = n;
    w->strides[place] = stride;
    w->nd = like->nd + 1;
}

static void shape_of(const selection *s, int64_t *shape)
{
    const size_t one = sizeof *shape;
    memcpy(shape, s->part.shape, (size_t)s->place * one);
    memcpy(shape + s->place, s->lengths, (size_t)s->wide * one);
    memcpy(shape + s->place + s->wide, s->part.shape + s->place, (size_t)(s->part.nd - s->place) * one);
}

#endif

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
#include "kernels.h"

enum { CHUNK = 256 };
enum { SLICE = 1, NEW = 2, ARRAY = 3, MASK = 4 };

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
} selection;

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
    int64_t *room = ctx->rt->scratch(ctx, sizeof(int64_t));
    if (!room)
        return -1;
    const int64_t count = *room = mask->ndim ? th_count_true(mask) : *(const uint8_t *)mask->data != 0;
    const size_t bytes = (size_t)(count ? count : 1) * sizeof(int64_t);
    int64_t *places[TH_MAX_NDIM];
    for (int d = 0; d < lists; ++d) {
        places[d] = ctx->rt->scratch(ctx, bytes);
        if (!places[d])
            return -1;
        places[d][0] = 0;
        const int through = mask->ndim > 0;
        add_array(s, given, (const char *)places[d], TH_INT64, 1, room, through ? &next : &zero, through ? axis + d : -1, x);
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
        int joins = kept > 0;
        for (int k = 0; k < nop && joins; ++k)
            joins = strides[(kept - 1) * nop + k] == shape[d] * strides[d * nop + k];
        const int at = joins ? kept - 1 : kept++;
        shape[at] = joins ? shape[at] * shape[d] : shape[d];
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
static int selected(th_ctx *ctx, const int64_t *p, const th_window *x, selection *s)
{
    arrays_given given;
    s->ctx = ctx;
    s->arrays = s->place = 0;
    s->part.data = x->data;
    s->part.nd = 0;
    s->part.dtype = x->dtype;
    s->part.itemsize = x->itemsize;
    int axis = 0, previous = 0;
    for (int64_t entries = *p++; entries > 0; --entries, p += 7) {
        const int array = p[0] == ARRAY || p[0] == MASK;
        if (array && previous != ARRAY)
            s->place = s->arrays ? 0 : s->part.nd; /* a second group of neighbours sends all to the front */
        previous = array ? ARRAY : SLICE;
        if (p[0] == SLICE) {
            int64_t start = 0, step = 1, count = 0;
            if (th_sliced(ctx, p + 1, x->shape[axis], &start, &step, &count))
                return -1;
            s->part.data += count > 0 ? start * x->strides[axis] : 0;
            keep_axis(s, count, step * x->strides[axis]);
            ++axis;
        } else if (p[0] == NEW) {
            keep_axis(s, 1, 0);
        } else if (p[0] == ARRAY) {
            const th_buffer *b = ctx->in[p[1]];
            /* A single number must exist even where an empty array beside it leaves nothing to do. */
            int64_t number = b->ndim ? 0 : th_integer(b, 0);
            if (b->ndim == 0 && th_bounded(ctx, &number, axis, x->shape[axis]))
                return -1;
            add_array(s, &given, b->data, b->dtype, b->ndim, b->shape, b->strides, axis, x);
            ++axis;
        } else {
            if (add_mask(s, &given, ctx->in[p[1]], axis, x))
                return -1;
            axis += ctx->in[p[1]]->ndim;
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
static const int64_t *places_of(const selection *s, int k, int64_t start, int64_t n, int64_t *room)
{
    if (s->nd == 0) {
        widen(s->dtype[k], n, s->data[k], 0, room);
        return room;
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
        widen(s->dtype[k], m, p, step, room + done);
    }
    return room;
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
    int64_t room[CHUNK];
    memset(offsets, 0, (size_t)n * sizeof *offsets);
    for (int k = 0; k < s->arrays; ++k) {
        const int64_t *places = places_of(s, k, start, n, room);
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

/* --------------------------------------------------------------------------------------- taken */

typedef struct {
    const selection *s;
    const int64_t *offsets; /* NULL: worked out piece by piece */
    char *to;
    cell c;
    int64_t bytes; /* of a cell in the result */
    int wrong;
} taking;

/* A cell may be several smaller elements, which begin anywhere. */
typedef uint16_t loose_2 __attribute__((aligned(1)));
typedef uint32_t loose_4 __attribute__((aligned(1)));
typedef uint64_t loose_8 __attribute__((aligned(1)));
typedef struct { uint64_t a, b; } __attribute__((packed)) loose_16;

#define TAKE(BYTES, TYPE) \
    case BYTES: \
        for (int64_t i = 0; i < n; ++i) \
            ((TYPE *)to)[i] = *(const TYPE *)(from + offsets[i]); \
        return;

static TH_LOOP void take_cells(const taking *t, int64_t n, const int64_t *offsets, char *to, const char *from)
{
    const int64_t bytes = t->bytes;
    if (is_packed(&t->c)) {
        switch (bytes) {
            TAKE(1, uint8_t)
            TAKE(2, loose_2)
            TAKE(4, loose_4)
            TAKE(8, loose_8)
            TAKE(16, loose_16)
        }
        for (int64_t i = 0; i < n; ++i)
            memcpy(to + i * bytes, from + offsets[i], (size_t)bytes);
    } else if (t->c.line) {
        const th_line move = th_mover(t->c.to.itemsize);
        for (int64_t i = 0; i < n; ++i)
            move(t->c.n, to + i * bytes, t->c.to_step, from + offsets[i], t->c.from_step);
    } else {
        for (int64_t i = 0; i < n; ++i)
            in_window(&t->c, to + i * bytes, from + offsets[i], th_copy_into);
    }
}

/* Single elements by one packed array of int64 or int32, in one pass: its loads are met by chance, and the more of them
 * are under way at once the better; the branch is never taken but for an error. Returns where it stopped. */
#define TAKE_ONE(BYTES, TYPE) \
    case BYTES: \
        for (; i < n; ++i) { \
            const int64_t at = places[i], up = at + size; \
            if (up < 0 || up >= 2 * size) \
                break; \
            ((TYPE *)to)[i] = *(const TYPE *)(from + (at + (size & (at >> 63))) * step); \
        } \
        break;
#define TAKE_DIRECTLY(NAME, INDEX) \
    static TH_LOOP int64_t take_##NAME(int64_t n, const INDEX *places, int64_t size, int64_t bytes, char *to, \
                                       const char *from, int64_t step) \
    { \
        int64_t i = 0; \
        switch (bytes) { \
            TAKE_ONE(1, uint8_t) \
            TAKE_ONE(2, loose_2) \
            TAKE_ONE(4, loose_4) \
            TAKE_ONE(8, loose_8) \
            TAKE_ONE(16, loose_16) \
        } \
        return i; \
    }
TAKE_DIRECTLY(i8, int64_t)
TAKE_DIRECTLY(i4, int32_t)

/* How far the shortcut came; 0 where it is none. */
static int64_t taken_directly(const taking *t, int64_t lo, int64_t hi)
{
    const selection *s = t->s;
    const int64_t width = s->arrays == 1 && s->nd == 1 ? s->strides[0] : 0;
    char *to = t->to + lo * t->bytes;
    if (t->offsets || !is_packed(&t->c))
        return 0;
    if (s->dtype[0] == TH_INT64 && width == 8)
        return take_i8(hi - lo, (const int64_t *)s->data[0] + lo, s->size[0], t->bytes, to, s->part.data, s->step[0]);
    if (s->dtype[0] == TH_INT32 && width == 4)
        return take_i4(hi - lo, (const int32_t *)s->data[0] + lo, s->size[0], t->bytes, to, s->part.data, s->step[0]);
    return 0;
}

/* Cells lo .. hi of the result: those of the group once for each point before it. */
static void take_range(void *arg, int64_t lo, int64_t hi)
{
    taking *t = arg;
    const selection *s = t->s;
    int64_t index[TH_MAX_NDIM] = {0}, room[CHUNK];
    char *from = s->part.data;
    lo += taken_directly(t, lo, hi);
    th_seek(1, s->place, s->part.shape, s->part.strides, lo / s->n, index, &from);
    for (int64_t at = lo % s->n, m; lo < hi; lo += m) {
        m = hi - lo < s->n - at ? hi - lo : s->n - at;
        if (!t->offsets && offsets_of(s, at, m = piece(m), room)) {
            __atomic_store_n(&t->wrong, 1, __ATOMIC_RELAXED);
            return;
        }
        take_cells(t, m, t->offsets ? t->offsets + at : room, t->to + lo * t->bytes, from);
        at += m;
        if (at == s->n) {
            at = 0;
            th_advance(1, s->place, s->part.shape, s->part.strides, index, &from);
        }
    }
}

static void shape_of(const selection *s, int64_t *shape)
{
    const size_t one = sizeof *shape;
    memcpy(shape, s->part.shape, (size_t)s->place * one);
    memcpy(shape + s->place, s->lengths, (size_t)s->wide * one);
    memcpy(shape + s->place + s->wide, s->part.shape + s->place, (size_t)(s->part.nd - s->place) * one);
}

/* inputs: x, arrays. params: the index. */
TH_EXPORT int th_kernel_advanced_subtensor(th_ctx *ctx)
{
    selection s;
    taking t;
    t.s = &s;
    t.offsets = NULL;
    t.wrong = 0;
    th_window x, to;
    th_window_of(&x, ctx->in[0]);
    if (selected(ctx, ctx->params, &x, &s))
        return -1;
    const int64_t before = th_size(s.place, s.part.shape);
    int64_t shape[2 * TH_MAX_NDIM];
    shape_of(&s, shape);
    if (before != 1 && !(t.offsets = all_offsets(&s)))
        return -1;
    if (ctx->rt->ensure(ctx, ctx->out[0], shape))
        return -1;
    t.to = ctx->out[0]->data;
    th_window_of(&to, ctx->out[0]);
    /* The result's axes behind the group, beside those of x. */
    memmove(to.strides + s.place, to.strides + s.place + s.wide, (size_t)(s.part.nd - s.place) * sizeof *to.strides);
    memcpy(to.shape, s.part.shape, (size_t)s.part.nd * sizeof *to.shape);
    to.nd = s.part.nd;
    t.bytes = to.itemsize * th_size(to.nd - s.place, to.shape + s.place);
    if (t.bytes == 0 || s.n * before == 0)
        return s.n && !t.offsets && !all_offsets(&s) ? -1 : 0; /* nothing to take, but something to check */
    set_cell(&t.c, &to, &s.part, s.place);
    /* About one line of memory met by chance for each cell, and what it is long: ns. */
    const double work = 0.5 + 0.5 * s.arrays + (double)t.bytes * 0.03;
    return ctx->rt->parallel_for(ctx, s.n * before, th_grain(work), take_range, &t) || t.wrong ? -1 : 0;
}

/* ------------------------------------------------------------------------------------- written */

typedef struct {
    cell c;
    int set;
    th_line line;
    int32_t dtype;
} writing;

#define SET(BYTES, TYPE) \
    case BYTES: \
        for (int64_t i = 0; i < n; ++i) \
            *(TYPE *)(to + offsets[i]) = *(const TYPE *)(from + i * step); \
        return;
#define ADD(CODE, TYPE) \
    case CODE: \
        for (int64_t i = 0; i < n; ++i) \
            *(TYPE *)(to + offsets[i]) += *(const TYPE *)(from + i * step); \
        return;

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

/* inputs: x, y, arrays. params: in place, set (not add), axes of y that are 1 long by its type, the index. */
TH_EXPORT int th_kernel_advanced_inc_subtensor(th_ctx *ctx)
{
    const int64_t *p = ctx->params;
    selection s;
    th_window x, y, part;
    th_window_of(&x, ctx->in[0]);
    th_window_of(&y, ctx->in[1]);
    if (!p[0])
        packed_strides(&x); /* those of the copy that is written to */
    const int64_t *offsets = NULL;
    /* All is checked before anything is written: a failed call leaves x as it was. */
    if (selected(ctx, p + 3, &x, &s) || !(offsets = all_offsets(&s)))
        return -1;
    part.nd = s.part.nd + s.wide;
    shape_of(&s, part.shape);
    if (converted(ctx, &y, &x) || th_stretch(ctx, &part, &y, (uint64_t)p[2]) || th_started(ctx, p[0]))
        return -1;
    if (th_size(part.nd, part.shape) > 0)
        write_all(&s, offsets, ctx->out[0]->data + (s.part.data - x.data), &y, (int)p[1]);
    return 0;
}

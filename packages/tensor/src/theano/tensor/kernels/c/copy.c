/* Copies between strided windows, with conversion of element types, and addition into a window. */
#include "kernels.h"

static void set_axes(th_window *w, int nd, const int64_t *shape, const int64_t *strides)
{
    w->nd = nd;
    for (int d = 0; d < nd; ++d) {
        TH_PLAIN_LOOP;
        w->shape[d] = shape[d];
        w->strides[d] = strides[d];
    }
}

void th_window_of(th_window *w, const th_buffer *b)
{
    w->data = b->data;
    w->dtype = b->dtype;
    w->itemsize = b->itemsize;
    w->device = b->device;
    set_axes(w, b->ndim, b->shape, b->strides);
}

void th_window_like(th_window *w, const th_window *like)
{
    w->data = like->data;
    w->dtype = like->dtype;
    w->itemsize = like->itemsize;
    w->device = like->device;
    set_axes(w, like->nd, like->shape, like->strides);
}

/* Stretch `from` to the shape of `to`: axes are matched from the last one, and those that its type says are 1 long (bit
 * d of `ones` for axis d) repeat. A length that only happens to be 1 does not: the gradient, which knows types alone,
 * would have another shape. */
int th_stretch(th_ctx *ctx, const th_window *to, th_window *from, uint64_t ones)
{
    const int extra = to->nd - from->nd;
    for (int s = 0; s < from->nd; ++s) {
        const int d = s + extra, repeats = from->shape[s] == 1 && to->shape[d] != 1;
        if ((repeats ? !(ones >> s & 1) : from->shape[s] != to->shape[d])) {
            th_text a, b;
            return TH_FAIL(ctx, TH_ERR_SHAPE, "a value of shape %s does not fit in one of shape %s%s",
                           th_shape_text(a, from->nd, from->shape), th_shape_text(b, to->nd, to->shape),
                           repeats ? ". A length of 1 is stretched only if the variable's type says it is always 1" : "");
        }
    }
    for (int d = to->nd - 1; d >= 0; --d) { /* from the end: nothing is written before it is read */
        const int s = d - extra;
        from->strides[d] = s < 0 || (from->shape[s] == 1 && to->shape[d] != 1) ? 0 : from->strides[s];
        from->shape[d] = to->shape[d];
    }
    from->nd = to->nd;
    return 0;
}

/* Element types: code, suffix, type in memory, type to compute in, load, store, and how a double becomes one. */
#define PLAIN(v) (v)
#define AS_BOOL(v) ((v) != 0)
#define REALS(X) \
    X(TH_BOOL, b1, uint8_t, double, PLAIN, AS_BOOL, PLAIN) /* 0.5 and 256 are not 0 */ \
    X(TH_INT8, i1, int8_t, int8_t, PLAIN, PLAIN, th_i32_of_f64) \
    X(TH_UINT8, u1, uint8_t, uint8_t, PLAIN, PLAIN, th_i32_of_f64) \
    X(TH_INT16, i2, int16_t, int16_t, PLAIN, PLAIN, th_i32_of_f64) \
    X(TH_UINT16, u2, uint16_t, uint16_t, PLAIN, PLAIN, th_i32_of_f64) \
    X(TH_INT32, i4, int32_t, int32_t, PLAIN, PLAIN, th_i32_of_f64) \
    X(TH_UINT32, u4, uint32_t, uint32_t, PLAIN, PLAIN, th_u32_of_f64) \
    X(TH_INT64, i8, int64_t, int64_t, PLAIN, PLAIN, th_i64_of_f64) \
    X(TH_UINT64, u8, uint64_t, uint64_t, PLAIN, PLAIN, th_u64_of_f64) \
    X(TH_FLOAT16, f2, uint16_t, float, th_load_f16, th_store_f16, PLAIN) \
    X(TH_FLOAT32, f4, float, float, PLAIN, PLAIN, PLAIN) \
    X(TH_FLOAT64, f8, double, double, PLAIN, PLAIN, PLAIN)

/* All conversions meet in int64, uint64 or double, whichever holds the source exactly: reading and
 * writing are then written once per type, not once per pair of types. */
enum { CHUNK = TH_COPY_CHUNK };
typedef union {
    int64_t i[CHUNK];
    double f[CHUNK];
    double _Complex c[CHUNK];
} th_chunk;

#define READ(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, WHOLE) \
    static void read_##NAME(int64_t n, th_chunk *chunk, const char *p, int64_t step, int real) \
    { \
        for (int64_t i = 0; i < n; ++i) { \
            const COMPUTE v = LOAD(*(const MEMORY *)(p + i * step)); \
            if (real) \
                chunk->f[i] = (double)v; \
            else \
                chunk->i[i] = (int64_t)v; \
        } \
    } \
    static void write_##NAME(int64_t n, char *p, int64_t step, const th_chunk *chunk, int real) \
    { \
        for (int64_t i = 0; i < n; ++i) { \
            if (real) \
                *(MEMORY *)(p + i * step) = (MEMORY)STORE((COMPUTE)WHOLE(chunk->f[i])); \
            else \
                *(MEMORY *)(p + i * step) = (MEMORY)STORE((COMPUTE)chunk->i[i]); \
        } \
    }
REALS(READ)

typedef void (*th_reader)(int64_t, th_chunk *, const char *, int64_t, int);
typedef void (*th_writer)(int64_t, char *, int64_t, const th_chunk *, int);
#define READER(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, WHOLE) [CODE] = read_##NAME,
#define WRITER(CODE, NAME, MEMORY, COMPUTE, LOAD, STORE, WHOLE) [CODE] = write_##NAME,
static const th_reader readers[TH_NDTYPES] = {REALS(READER)};
static const th_writer writers[TH_NDTYPES] = {REALS(WRITER)};

static int is_real(int32_t dtype) { return dtype >= TH_FLOAT16; }
static int is_complex(int32_t dtype) { return dtype >= TH_COMPLEX64; }

static void widen_to_complex(int64_t n, th_chunk *chunk)
{
    /* From the end: the wider elements overwrite the narrower ones already read. */
    for (int64_t i = n; i-- > 0;) {
        const double v = chunk->f[i];
        chunk->c[i] = v;
    }
}

static void convert_line(int32_t to_type, int32_t from_type, int64_t n, char *to, int64_t to_step, const char *from,
                         int64_t from_step)
{
    th_chunk chunk;
    /* bool from anything asks "is it not 0", which an integer type in between must not decide. */
    const int real = is_real(to_type) || is_real(from_type);
    for (int64_t start = 0; start < n; start += CHUNK) {
        const int64_t m = n - start < CHUNK ? n - start : CHUNK;
        char *q = to + start * to_step;
        const char *p = from + start * from_step;
        if (from_type == TH_UINT64 && real)
            for (int64_t i = 0; i < m; ++i)
                chunk.f[i] = (double)*(const uint64_t *)(p + i * from_step);
        else if (from_type == TH_COMPLEX64)
            for (int64_t i = 0; i < m; ++i)
                chunk.c[i] = *(const float _Complex *)(p + i * from_step);
        else if (from_type == TH_COMPLEX128)
            for (int64_t i = 0; i < m; ++i)
                chunk.c[i] = *(const double _Complex *)(p + i * from_step);
        else
            readers[from_type](m, &chunk, p, from_step, real);
        if (is_complex(to_type) && !is_complex(from_type))
            widen_to_complex(m, &chunk);
        if (to_type == TH_COMPLEX64)
            for (int64_t i = 0; i < m; ++i)
                *(float _Complex *)(q + i * to_step) = (float _Complex)chunk.c[i];
        else if (to_type == TH_COMPLEX128)
            for (int64_t i = 0; i < m; ++i)
                *(double _Complex *)(q + i * to_step) = chunk.c[i];
        else
            writers[to_type](m, q, to_step, &chunk, real);
    }
}

typedef struct { uint64_t a, b; } th_pair;

#define MOVE(NAME, TYPE) \
    static void move_##NAME(int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) \
    { \
        if (from_step == 0 && to_step == sizeof(TYPE)) { \
            const TYPE v = *(const TYPE *)from; \
            for (int64_t i = 0; i < n; ++i) \
                ((TYPE *)to)[i] = v; \
        } else if (to_step == sizeof(TYPE)) { \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < n; ++i) \
                ((TYPE *)to)[i] = *(const TYPE *)(from + i * from_step); \
        } else { \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < n; ++i) \
                *(TYPE *)(to + i * to_step) = *(const TYPE *)(from + i * from_step); \
        } \
    }
MOVE(1, uint8_t)
MOVE(2, uint16_t)
MOVE(4, uint32_t)
MOVE(8, uint64_t)
MOVE(16, th_pair)

th_line th_mover(int64_t itemsize)
{
    return itemsize == 8 ? move_8 : itemsize == 4 ? move_4 : itemsize == 1 ? move_1 : itemsize == 2 ? move_2 : move_16;
}

/* Sums wrap: signed overflow is not defined in C, so integers add as unsigned. */
#define ADD(NAME, MEMORY, SUM) \
    static void add_##NAME(int64_t n, char *to, int64_t to_step, const char *from, int64_t from_step) \
    { \
        if (to_step == sizeof(MEMORY) && from_step == sizeof(MEMORY)) { \
            MEMORY *into = (MEMORY *)to; \
            const MEMORY *terms = (const MEMORY *)from; \
            TH_INDEPENDENT \
            for (int64_t i = 0; i < n; ++i) { \
                MEMORY *a = into + i; \
                const MEMORY b = terms[i]; \
                *a = SUM; \
            } \
            return; \
        } \
        for (int64_t i = 0; i < n; ++i) { \
            MEMORY *a = (MEMORY *)(to + i * to_step); \
            const MEMORY b = *(const MEMORY *)(from + i * from_step); \
            *a = SUM; \
        } \
    }
ADD(b1, uint8_t, *a | b)
ADD(u1, uint8_t, (uint8_t)(*a + b))
ADD(u2, uint16_t, (uint16_t)(*a + b))
ADD(u4, uint32_t, *a + b)
ADD(u8, uint64_t, *a + b)
ADD(f2, uint16_t, th_store_f16(th_load_f16(*a) + th_load_f16(b)))
ADD(f4, float, *a + b)
ADD(f8, double, *a + b)
ADD(c8, float _Complex, *a + b)
ADD(c16, double _Complex, *a + b)
static const th_line adders[TH_NDTYPES] = {
    [TH_BOOL] = add_b1, [TH_INT8] = add_u1, [TH_UINT8] = add_u1, [TH_INT16] = add_u2, [TH_UINT16] = add_u2,
    [TH_INT32] = add_u4, [TH_UINT32] = add_u4, [TH_INT64] = add_u8, [TH_UINT64] = add_u8, [TH_FLOAT16] = add_f2,
    [TH_FLOAT32] = add_f4, [TH_FLOAT64] = add_f8, [TH_COMPLEX64] = add_c8, [TH_COMPLEX128] = add_c16};

th_line th_adder(int32_t dtype) { return adders[dtype]; }

/* Both windows as one short loop nest; 0 if no element is to be copied. */
static int nest(const th_window *to, const th_window *from, int64_t *shape, int64_t *strides)
{
    for (int d = 0; d < to->nd; ++d) {
        if (to->shape[d] == 0)
            return 0;
        shape[d] = to->shape[d];
        strides[2 * d] = to->strides[d];
        strides[2 * d + 1] = from->strides[d];
    }
    if (to->nd == 0) {
        shape[0] = 1;
        strides[0] = strides[1] = 0;
        return 1;
    }
    return th_collapse(2, to->nd, shape, strides);
}

/* Shapes must agree (th_stretch sees to it); the windows must not overlap. For what is small, or has no call of its
 * own: th_copy is for the rest. */
void th_copy_into(const th_window *to, const th_window *from)
{
    int64_t shape[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM], index[TH_MAX_NDIM];
    const int nd = nest(to, from, shape, strides), same = to->dtype == from->dtype;
    if (nd == 0)
        return;
    memset(index, 0, (size_t)nd * sizeof *index);
    const int64_t n = shape[nd - 1], *step = strides + 2 * (nd - 1), size = to->itemsize, rows = th_size(nd - 1, shape);
    const int packed = same && step[0] == size && step[1] == size;
    const th_line move = th_mover(size);
    char *p[2] = {to->data, from->data};
    for (int64_t r = 0; r < rows; ++r) {
        if (packed)
            memcpy(p[0], p[1], (size_t)(n * size));
        else if (same)
            move(n, p[0], step[0], p[1], step[1]);
        else
            convert_line(to->dtype, from->dtype, n, p[0], step[0], p[1], step[1]);
        th_advance(2, nd - 1, shape, strides, index, p);
    }
}

/* The elements one after the other in a type: where they are, or a copy in scratch memory; NULL: error set. */
const char *th_packed_in(th_ctx *ctx, const th_buffer *b, int32_t dtype, int64_t itemsize)
{
    if (b->dtype == dtype && th_packed(b, b->ndim))
        return b->data;
    const int64_t size = th_size(b->ndim, b->shape);
    th_window from, to;
    th_window_of(&from, b);
    th_window_of(&to, b);
    to.data = ctx->rt->scratch(ctx, (size_t)(size ? size : 1) * (size_t)itemsize);
    to.dtype = dtype;
    to.itemsize = itemsize;
    for (int d = b->ndim - 1; d >= 0; itemsize *= b->shape[d], --d)
        to.strides[d] = itemsize;
    if (to.data)
        th_copy_into(&to, &from);
    return to.data;
}

/* A copy of one dtype as rectangles: the last two axes, or those that remain. */
typedef struct {
    const th_runtime *rt;
    int nd;
    int64_t shape[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM];
    char *to, *from;
    int64_t size, band, bands; /* of an element, in bytes; rows of a piece of work; pieces of a rectangle */
} copying;

static void copy_bands(void *arg, int64_t lo, int64_t hi)
{
    const copying *c = arg;
    const int outer = c->nd - 2;
    const int64_t m = c->shape[outer], n = c->shape[outer + 1], *row = c->strides + 2 * outer, *step = row + 2;
    int64_t index[TH_MAX_NDIM];
    char *p[2] = {c->to, c->from};
    th_seek(2, outer, c->shape, c->strides, lo / c->bands, index, p);
    while (lo < hi) {
        const int64_t first = lo % c->bands, count = c->bands - first < hi - lo ? c->bands - first : hi - lo;
        const int64_t r = first * c->band, rows = r + count * c->band < m ? count * c->band : m - r;
        c->rt->move(p[0] + r * row[0], row[0], step[0], p[1] + r * row[1], row[1], step[1], rows, n, c->size);
        lo += count;
        th_advance(2, outer, c->shape, c->strides, index, p);
    }
}

/* Make the axis along which one side has its neighbours the one before the last, where that is not the last. */
static int bring_neighbours_inside(copying *c)
{
    const int last = c->nd - 1;
    for (int k = 0; k < 2; ++k) {
        if (c->strides[2 * last + k] == c->size || c->strides[2 * last + k] == 0)
            continue;
        for (int d = last - 1; d >= 0; --d) {
            if (c->strides[2 * d + k] != c->size)
                continue;
            const int64_t length = c->shape[d], step[2] = {c->strides[2 * d], c->strides[2 * d + 1]};
            memmove(c->shape + d, c->shape + d + 1, (size_t)(last - 1 - d) * sizeof length);
            memmove(c->strides + 2 * d, c->strides + 2 * (d + 1), (size_t)(last - 1 - d) * sizeof step);
            c->shape[last - 1] = length;
            memcpy(c->strides + 2 * (last - 1), step, sizeof step);
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------- on a device */

static th_buffer buffer_of(const th_window *w)
{
    return (th_buffer){w->data, w->nd, w->dtype, (int64_t *)w->shape, (int64_t *)w->strides, w->itemsize, NULL, w->device};
}

static int has_something(const th_window *w) { return th_size(w->nd, w->shape) > 0; }

static int cannot_move(th_ctx *ctx, const th_window *to, const th_window *from, int status)
{
    th_text text;
    if (to->dtype != from->dtype)
        return TH_FAIL(ctx, TH_ERR_TYPE, "a device does not convert elements while it moves them");
    const char *shape = th_shape_text(text, to->nd, to->shape);
    if (status == TH_NO_ROOM)
        return TH_FAIL(ctx, TH_ERR_DEVICE_MEMORY, "the device has no room to move elements of shape %s", shape);
    return TH_FAIL(ctx, TH_ERR_DEVICE, "the device could not move elements of shape %s: %s", shape,
                   to->device && to->device->error ? to->device->error(to->device) : "it does not say why");
}

int th_gather(th_ctx *ctx, const th_window *to, const th_window *from, int axis, const int64_t *offsets)
{
    const th_device *device = to->device;
    const th_buffer into = buffer_of(to), out_of = buffer_of(from);
    if (!has_something(to))
        return 0;
    const int can = to->dtype == from->dtype && device && device->gather;
    const int status = can ? device->gather(device, &into, &out_of, axis, offsets) : -1;
    return status ? cannot_move(ctx, to, from, status) : 0;
}

int th_scatter(th_ctx *ctx, const th_window *to, const th_window *from, int axis, const int64_t *offsets, int adds)
{
    const th_device *device = to->device;
    const th_buffer into = buffer_of(to), out_of = buffer_of(from);
    if (!has_something(to))
        return 0;
    const int can = to->dtype == from->dtype && device && device->scatter;
    const int status = can ? device->scatter(device, &into, &out_of, axis, offsets, adds) : -1;
    return status ? cannot_move(ctx, to, from, status) : 0;
}

/* ------------------------------------------------------------------------------------------- of any size */

static void copy_host(th_ctx *ctx, const th_window *to, const th_window *from);

/* The same for copies of any size, on as many threads as they are worth. */
int th_copy(th_ctx *ctx, const th_window *to, const th_window *from)
{
    if (to->device || from->device)
        return th_gather(ctx, to, from, -1, NULL);
    copy_host(ctx, to, from);
    return 0;
}

static void copy_host(th_ctx *ctx, const th_window *to, const th_window *from)
{
    enum { BAND = TH_COPY_BAND, PIECE = TH_COPY_PIECE, LONG = TH_COPY_LONG };
    copying c;
    if (to->dtype != from->dtype) {
        th_copy_into(to, from);
        return;
    }
    if (to->nd == 1 && to->shape[0] * to->itemsize < LONG) {
        if (to->shape[0] > 0)
            ctx->rt->move(to->data, 0, to->strides[0], from->data, 0, from->strides[0], 1, to->shape[0], to->itemsize);
        return;
    }
    c.rt = ctx->rt;
    c.to = to->data;
    c.from = from->data;
    c.size = to->itemsize;
    c.band = 1;
    c.nd = nest(to, from, c.shape, c.strides);
    if (c.nd == 0)
        return;
    const int64_t size = c.size, total = th_size(c.nd, c.shape);
    if (c.nd == 1) { /* a line; a long one is cut so that threads can share it */
        const int64_t whole = total * size < LONG ? 0 : total / PIECE, done = whole * PIECE, *step = c.strides;
        ctx->rt->move(c.to + done * step[0], 0, step[0], c.from + done * step[1], 0, step[1], 1, total - done, size);
        if (!whole)
            return;
        c.nd = 2;
        c.shape[0] = whole;
        c.shape[1] = PIECE;
        for (int k = 0; k < 2; ++k) {
            c.strides[2 + k] = step[k];
            c.strides[k] = PIECE * step[k];
        }
    } else if (bring_neighbours_inside(&c)) {
        c.band = BAND;
    }
    c.bands = (c.shape[c.nd - 2] + c.band - 1) / c.band;
    const int64_t pieces = th_size(c.nd - 2, c.shape) * c.bands;
    /* Nanoseconds a byte from the caches, and from memory. */
    const double ns = (total * size < LONG ? 0.03 : 0.08) * (double)size * (double)total / (double)pieces;
    if (ns * (double)pieces < TH_SERIAL_NS)
        copy_bands(&c, 0, pieces);
    else
        ctx->rt->parallel_for(ctx, pieces, th_grain(ns), copy_bands, &c);
}

/* Zeros. */
int th_clear(th_ctx *ctx, const th_buffer *out)
{
    const int64_t size = th_size(out->ndim, out->shape) * out->itemsize;
    if (!out->device) {
        memset(out->data, 0, (size_t)size);
        return 0;
    }
    const uint64_t zero[2] = {0, 0};
    th_window to, from;
    th_window_of(&to, out);
    th_window_of(&from, out);
    from.data = (char *)zero;
    from.device = NULL;
    memset(from.strides, 0, (size_t)from.nd * sizeof *from.strides);
    return th_copy(ctx, &to, &from);
}

/* to += from, elements of `from` converted first. */
int th_add(th_ctx *ctx, const th_window *to, const th_window *from)
{
    if (to->device)
        return th_scatter(ctx, to, from, -1, NULL, 1);
    th_add_into(to, from);
    return 0;
}

void th_add_into(const th_window *to, const th_window *from)
{
    int64_t shape[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM], index[TH_MAX_NDIM];
    const int nd = nest(to, from, shape, strides);
    if (nd == 0)
        return;
    memset(index, 0, (size_t)nd * sizeof *index);
    const int64_t n = shape[nd - 1], *step = strides + 2 * (nd - 1), rows = th_size(nd - 1, shape);
    const th_line add = adders[to->dtype];
    char *p[2] = {to->data, from->data};
    for (int64_t r = 0; r < rows; ++r) {
        if (to->dtype == from->dtype) {
            add(n, p[0], step[0], p[1], step[1]);
        } else {
            char line[CHUNK * 16];
            for (int64_t start = 0; start < n; start += CHUNK) {
                const int64_t m = n - start < CHUNK ? n - start : CHUNK;
                convert_line(to->dtype, from->dtype, m, line, to->itemsize, p[1] + start * step[1], step[1]);
                add(m, p[0] + start * step[0], step[0], line, to->itemsize);
            }
        }
        th_advance(2, nd - 1, shape, strides, index, p);
    }
}

/* Rows of a tensor that a vector of whole numbers names: taken, set, or added to.
 *
 * The numbers are (but for a shortcut) read in pieces of CHUNK: widened to int64, checked, those that count from the end turned around, all
 * without a branch per number, and then used. What is taken is split among threads; what is written is not, since a row
 * that is named twice is written in the order of its names.
 */
#include "kernels.h"

enum { CHUNK = 256 };

#define WIDEN(CODE, TYPE) \
    case CODE: \
        if (step == sizeof(TYPE)) \
            for (int64_t k = 0; k < n; ++k) \
                places[k] = (int64_t)((const TYPE *)p)[k]; \
        else \
            for (int64_t k = 0; k < n; ++k) \
                places[k] = (int64_t)*(const TYPE *)(p + k * step); \
        break;

/* The places start .. start + n (at most CHUNK) of a list, in a tensor of `size` rows; -1 if one does not exist. */
static int rows_at(th_ctx *ctx, const th_buffer *rows, int64_t start, int64_t n, int64_t size, int64_t *places)
{
    const int64_t step = rows->strides[0];
    const char *p = rows->data + start * step;
    switch (rows->dtype) {
        WIDEN(TH_INT8, int8_t)
        WIDEN(TH_UINT8, uint8_t)
        WIDEN(TH_INT16, int16_t)
        WIDEN(TH_UINT16, uint16_t)
        WIDEN(TH_INT32, int32_t)
        WIDEN(TH_UINT32, uint32_t)
    default:
        WIDEN(TH_INT64, int64_t)
    }
    /* Allowed is -size <= i < size: then both i + size and what it lacks to 2 size - 1 have their sign bit clear. */
    int64_t wrong = 0;
    for (int64_t k = 0; k < n; ++k) {
        const int64_t i = places[k], up = i + size;
        wrong |= up | (2 * size - 1 - up);
        places[k] = i + (size & (i >> 63));
    }
    if (wrong >= 0)
        return 0;
    for (int64_t k = 0; k < n; ++k) {
        const int64_t i = th_integer(rows, start + k);
        if (i < -size || i >= size)
            return TH_FAIL(ctx, TH_ERR_INDEX, "index %lld is out of bounds for axis 0 with size %lld", (long long)i,
                           (long long)size);
    }
    return 0;
}

static int64_t piece(int64_t left) { return left < CHUNK ? left : CHUNK; }

static th_window row_of(const th_window *w, int64_t i)
{
    th_window row = {.data = w->data + i * w->strides[0], .nd = w->nd - 1, .dtype = w->dtype, .itemsize = w->itemsize};
    memcpy(row.shape, w->shape + 1, (size_t)row.nd * sizeof(int64_t));
    memcpy(row.strides, w->strides + 1, (size_t)row.nd * sizeof(int64_t));
    return row;
}

/* The length of a row in bytes if it is one piece of memory, else -1. */
static int64_t solid(const th_window *w)
{
    int64_t bytes = w->itemsize;
    for (int d = w->nd - 1; d > 0; --d) {
        if (w->shape[d] != 1 && w->strides[d] != bytes)
            return -1;
        bytes *= w->shape[d];
    }
    return bytes;
}

/* ------------------------------------------------------------------ taken */

typedef struct {
    th_ctx *ctx;
    th_window from, to;
    int64_t bytes; /* of a row that is one piece of memory */
    int wrong;
} taking;

typedef struct { uint64_t a, b; } th_pair;

/* Single elements by packed int64 or int32, in one pass: its loads are met by chance, and the more of them are under
 * way at once the better; the branch is never taken but for an error. Returns where it stopped. */
#define TAKE_ONE(BYTES, TYPE) \
    case BYTES: \
        for (; k < n; ++k) { \
            const int64_t i = places[k], up = i + size; \
            if (up < 0 || up >= 2 * size) \
                break; \
            ((TYPE *)to)[k] = *(const TYPE *)(from + (i + (size & (i >> 63))) * step); \
        } \
        break;
#define TAKE_DIRECTLY(NAME, INDEX) \
    static int64_t take_##NAME(int64_t n, const INDEX *places, int64_t size, int64_t bytes, char *to, const char *from, \
                               int64_t step) \
    { \
        int64_t k = 0; \
        switch (bytes) { \
            TAKE_ONE(1, uint8_t) \
            TAKE_ONE(2, uint16_t) \
            TAKE_ONE(4, uint32_t) \
            TAKE_ONE(8, uint64_t) \
            TAKE_ONE(16, th_pair) \
        } \
        return k; \
    }
TAKE_DIRECTLY(i8, int64_t)
TAKE_DIRECTLY(i4, int32_t)

#define TAKE(BYTES, TYPE) \
    case BYTES: \
        for (int64_t k = 0; k < m; ++k) \
            ((TYPE *)to)[k] = *(const TYPE *)(from + places[k] * step); \
        break;

static void take_range(void *arg, int64_t lo, int64_t hi)
{
    taking *t = arg;
    const char *from = t->from.data;
    const int64_t step = t->from.strides[0], bytes = t->bytes;
    int64_t places[CHUNK];
    const th_buffer *rows = t->ctx->in[1];
    if (bytes > 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0 && rows->strides[0] == rows->itemsize) {
        /* What is not taken here (other types, or a place that does not exist) is left to the loop below. */
        char *to = t->to.data + lo * bytes;
        if (rows->dtype == TH_INT64)
            lo += take_i8(hi - lo, (const int64_t *)rows->data + lo, t->from.shape[0], bytes, to, from, step);
        else if (rows->dtype == TH_INT32)
            lo += take_i4(hi - lo, (const int32_t *)rows->data + lo, t->from.shape[0], bytes, to, from, step);
    }
    for (int64_t m; lo < hi; lo += m) {
        m = piece(hi - lo);
        if (rows_at(t->ctx, rows, lo, m, t->from.shape[0], places)) {
            __atomic_store_n(&t->wrong, 1, __ATOMIC_RELAXED);
            return;
        }
        char *to = t->to.data + lo * t->to.strides[0];
        switch (bytes) {
            TAKE(1, uint8_t)
            TAKE(2, uint16_t)
            TAKE(4, uint32_t)
            TAKE(8, uint64_t)
            TAKE(16, th_pair)
        case -1:
            for (int64_t k = 0; k < m; ++k) {
                const th_window source = row_of(&t->from, places[k]), target = row_of(&t->to, lo + k);
                th_copy_into(&target, &source);
            }
            break;
        default:
            for (int64_t k = 0; k < m; ++k)
                memcpy(to + k * bytes, from + places[k] * step, (size_t)bytes);
        }
    }
}

/* inputs: x, rows. */
TH_EXPORT int th_kernel_take_rows(th_ctx *ctx)
{
    th_buffer *out = ctx->out[0];
    taking t = {.ctx = ctx, .from = th_window_of(ctx->in[0])};
    const int64_t n = ctx->in[1]->shape[0];
    int64_t shape[TH_MAX_NDIM];
    memcpy(shape, t.from.shape, (size_t)t.from.nd * sizeof *shape);
    shape[0] = n;
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    t.to = th_window_of(out);
    t.bytes = solid(&t.from);
    if (t.from.shape[0] == 0 && n > 0) {
        int64_t places[CHUNK];
        return rows_at(ctx, ctx->in[1], 0, piece(n), 0, places);
    }
    /* About one line of memory met by chance for each row, and what it is long: ns. */
    const double work = 1.0 + (double)th_size(t.from.nd - 1, t.from.shape + 1) * (double)t.from.itemsize * 0.03;
    return ctx->rt->parallel_for(ctx, n, th_grain(work), take_range, &t) || t.wrong ? -1 : 0;
}

/* ---------------------------------------------------------------- written */

#define MIX(NAME, TO, FROM) \
    static void add_##NAME(int64_t n, char *to, const char *from) \
    { \
        TO *into = (TO *)to; \
        const FROM *terms = (const FROM *)from; \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) \
            into[i] += (TO)terms[i]; \
    } \
    static void set_##NAME(int64_t n, char *to, const char *from) \
    { \
        TO *into = (TO *)to; \
        const FROM *terms = (const FROM *)from; \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) \
            into[i] = (TO)terms[i]; \
    }
MIX(f8_f4, double, float)
MIX(f4_f8, float, double)

/* How one row is written: as one line of elements, or (line and mixed NULL) as a window like any other. */
typedef struct {
    th_line line;
    void (*mixed)(int64_t n, char *to, const char *from);
    int64_t n, to_step, from_step;
} writing;

static writing way_of(const th_window *to, const th_window *from, int set)
{
    writing w = {0};
    int64_t shape[TH_MAX_NDIM], strides[2 * TH_MAX_NDIM];
    const int nd = to->nd - 1;
    for (int d = 0; d < nd; ++d) {
        shape[d] = to->shape[d + 1];
        strides[2 * d] = to->strides[d + 1];
        strides[2 * d + 1] = from->strides[d + 1];
    }
    shape[nd] = 1;
    strides[2 * nd] = strides[2 * nd + 1] = 0;
    if (th_collapse(2, nd + 1, shape, strides) != 1)
        return w;
    w.n = shape[0];
    w.to_step = strides[0];
    w.from_step = strides[1];
    const int packed = w.n == 1 || (w.to_step == to->itemsize && w.from_step == from->itemsize);
    if (to->dtype == from->dtype)
        w.line = set ? th_mover(to->itemsize) : th_adder(to->dtype);
    else if (packed && to->dtype == TH_FLOAT64 && from->dtype == TH_FLOAT32)
        w.mixed = set ? set_f8_f4 : add_f8_f4;
    else if (packed && to->dtype == TH_FLOAT32 && from->dtype == TH_FLOAT64)
        w.mixed = set ? set_f4_f8 : add_f4_f8;
    return w;
}

static void write_rows(const th_window *to, const th_window *from, const writing *w, int set, int64_t start, int64_t m,
                       const int64_t *places)
{
    const int64_t bytes = w->n * to->itemsize;
    const int whole = set && w->line && w->to_step == to->itemsize && w->from_step == to->itemsize && w->n > 1;
    for (int64_t k = 0; k < m; ++k) {
        char *into = to->data + places[k] * to->strides[0];
        const char *what = from->data + (start + k) * from->strides[0];
        if (whole) {
            memcpy(into, what, (size_t)bytes);
        } else if (w->line) {
            w->line(w->n, into, w->to_step, what, w->from_step);
        } else if (w->mixed) {
            w->mixed(w->n, into, what);
        } else {
            const th_window target = row_of(to, places[k]), source = row_of(from, start + k);
            (set ? th_copy_into : th_add_into)(&target, &source);
        }
    }
}

/* inputs: x, y, rows. params: in place, set (not add). A row that is named twice is added to twice. */
TH_EXPORT int th_kernel_inc_rows(th_ctx *ctx)
{
    const int64_t *p = ctx->params;
    const th_buffer *rows = ctx->in[2];
    th_window whole = th_window_of(ctx->in[0]), y = th_window_of(ctx->in[1]);
    const int64_t size = whole.shape[0], n = rows->shape[0];
    int64_t places[CHUNK];
    th_text a, b;
    whole.shape[0] = n;
    if (th_stretch(&whole, &y))
        return TH_FAIL(ctx, TH_ERR_SHAPE, "cannot write a value of shape %s into rows of shape %s",
                       th_shape_text(a, y.nd, y.shape), th_shape_text(b, whole.nd, whole.shape));
    /* All places are checked before anything is written: a failed call leaves x as it was. */
    for (int64_t start = 0; start < n; start += CHUNK)
        if (rows_at(ctx, rows, start, piece(n - start), size, places))
            return -1;
    if (th_started(ctx, p[0]))
        return -1;
    const th_window out = th_window_of(ctx->out[0]);
    if (th_size(out.nd, out.shape) == 0)
        return 0;
    const writing w = way_of(&out, &y, (int)p[1]);
    for (int64_t start = 0; start < n; start += CHUNK) {
        const int64_t m = piece(n - start);
        if (n > CHUNK) /* a short list is still there from the check */
            rows_at(ctx, rows, start, m, size, places);
        write_rows(&out, &y, &w, (int)p[1], start, m, places);
    }
    return 0;
}

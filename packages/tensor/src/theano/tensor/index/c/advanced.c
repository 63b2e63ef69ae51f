/* Elements that arrays of whole numbers and masks select together, taken: selection.h says how they are found. */
#include "selection.h"

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
    case BYTES: { \
        int64_t i = 0; \
        EACH_CELL(t->s->far, from, offsets, n, ((TYPE *)to)[i] = *(const TYPE *)(from + offsets[i])) \
        return; \
    }

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
 * are under way at once the better; the branch is never taken but for an error. Returns where it stopped.
 *
 * Neighbours, no place of which counts from the end, are looked at together, and taken without a question each; those that
 * are far are fetched ahead, as in EACH_CELL: their places have not been checked, which a fetch does not need. */
enum { TOGETHER = TH_TAKE_TOGETHER };
#define TAKE_ONE(BYTES, TYPE) \
    case BYTES: \
        for (; i + TOGETHER <= n && step == BYTES; i += TOGETHER) { \
            int outside = 0; \
            for (int64_t j = 0; j < TOGETHER; ++j) \
                outside |= places[i + j] < 0 || places[i + j] >= size; \
            if (outside) \
                break; \
            if (is_far && i + TOGETHER + AHEAD <= n) \
                for (int64_t j = 0; j < TOGETHER; ++j) { \
                    __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)places[i + j + AHEAD] * BYTES)); \
                    ((TYPE *)to)[i + j] = ((const TYPE *)from)[places[i + j]]; \
                } \
            else \
                for (int64_t j = 0; j < TOGETHER; ++j) \
                    ((TYPE *)to)[i + j] = ((const TYPE *)from)[places[i + j]]; \
        } \
        for (; i < n; ++i) { \
            const int64_t at = places[i], up = at + size; \
            if (up < 0 || up >= 2 * size) \
                break; \
            ((TYPE *)to)[i] = *(const TYPE *)(from + (at + (size & (at >> 63))) * step); \
        } \
        break;
#define TAKE_DIRECTLY(NAME, INDEX) \
    static TH_LOOP int64_t take_##NAME(int64_t n, const INDEX *places, int64_t size, int64_t bytes, char *to, \
                                       const char *from, int64_t step, int is_far) \
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
        return take_i8(hi - lo, (const int64_t *)s->data[0] + lo, s->size[0], t->bytes, to, s->part.data, s->step[0], s->far);
    if (s->dtype[0] == TH_INT32 && width == 4)
        return take_i4(hi - lo, (const int32_t *)s->data[0] + lo, s->size[0], t->bytes, to, s->part.data, s->step[0], s->far);
    return 0;
}

/* Cells lo .. hi of the result: those of the group once for each point before it. */
static void take_range(void *arg, int64_t lo, int64_t hi)
{
    taking *t = arg;
    const selection *s = t->s;
    int64_t index[TH_MAX_NDIM] = {0}, scratch[CHUNK];
    char *from = s->part.data;
    lo += taken_directly(t, lo, hi);
    th_seek(1, s->place, s->part.shape, s->part.strides, lo / s->n, index, &from);
    for (int64_t at = lo % s->n, m; lo < hi; lo += m) {
        m = hi - lo < s->n - at ? hi - lo : s->n - at;
        if (!t->offsets && offsets_of(s, at, m = piece(m), scratch)) {
            __atomic_store_n(&t->wrong, 1, __ATOMIC_RELAXED);
            return;
        }
        take_cells(t, m, t->offsets ? t->offsets + at : scratch, t->to + lo * t->bytes, from);
        at += m;
        if (at == s->n) {
            at = 0;
            th_advance(1, s->place, s->part.shape, s->part.strides, index, &from);
        }
    }
}

/* inputs: x, arrays. */
TH_EXPORT int th_kernel_advanced_subtensor(th_ctx *ctx)
{
    const th_subtensor_params *p = ctx->params;
    selection s;
    taking t;
    t.s = &s;
    t.offsets = NULL;
    t.wrong = 0;
    th_window x, to;
    th_window_of(&x, ctx->in[0]);
    if (selected(ctx, p->count_index, p->index, &x, &s))
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
    if (to.device) {
        th_window into, from;
        with_group(&into, &to, s.place, s.n, t.bytes);
        with_group(&from, &s.part, s.place, s.n, 0);
        const int64_t *offsets = t.offsets ? t.offsets : all_offsets(&s);
        return offsets ? th_gather(ctx, &into, &from, s.place, offsets) : -1;
    }
    set_cell(&t.c, &to, &s.part, s.place);
    /* About one line of memory met by chance for each cell, and what it is long: ns. */
    const double work = 0.5 + 0.5 * s.arrays + (double)t.bytes * 0.03;
    return ctx->rt->parallel_for(ctx, s.n * before, th_grain(work), take_range, &t) || t.wrong ? -1 : 0;
}

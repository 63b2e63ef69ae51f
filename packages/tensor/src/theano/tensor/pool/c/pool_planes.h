/* The planes of one part of the work, for elements T, and integers BITS of their size. */

/* As NumPy's maximum: what is no number stays. The first line is one instruction; a branch on which of two numbers is larger
 * is foreseen half of the time, one on what is no number nearly always. */
static inline T NAME(larger)(T a, T b)
{
    const T most = a > b ? a : b;
    return a != a ? a : most;
}

#define LARGER(a, b) NAME(larger)(a, b)
#define SUM(a, b) ((a) + (b))

/* -- a line of the result and its box ------------------------------------------------------------------------------ */

/* Where a walk over the lines of the result of a plane is, and over the lines of its box. */
typedef struct {
    int64_t window[TH_MAX_NDIM], lo[TH_MAX_NDIM], hi[TH_MAX_NDIM], at[TH_MAX_NDIM];
    int64_t count; /* by which a mean is divided, but for the last axis */
} NAME(walk);

static int NAME(box)(const th_pool *p, NAME(walk) *w)
{
    int some = 1;
    w->count = 1;
    for (int d = 0; d < p->nd - 1; ++d) {
        w->lo[d] = w->at[d] = th_pool_lo(p->axis + d, w->window[d]);
        w->hi[d] = th_pool_hi(p->axis + d, w->window[d]);
        some &= w->lo[d] < w->hi[d];
        if (p->mode >= TH_POOL_MODE_MEAN)
            w->count *= th_pool_count(p->axis + d, w->window[d], p->with_padding);
    }
    return some;
}

/* The next of what counts from `lo` to `hi`, or 0 behind the last one. */
static int NAME(next)(int nd, int64_t *at, const int64_t *lo, const int64_t *hi)
{
    for (int d = nd - 1; d >= 0; --d) {
        if (++at[d] < hi[d])
            return 1;
        at[d] = lo[d];
    }
    return 0;
}

static int64_t NAME(line)(const th_pool *p, const NAME(walk) *w)
{
    int64_t line = 0;
    for (int d = 0; d < p->nd - 1; ++d)
        line = line * p->axis[d].n + w->at[d];
    return line * p->axis[p->nd - 1].n;
}

static int NAME(next_line)(const th_pool *p, NAME(walk) *w)
{
    return NAME(next)(p->nd - 1, w->at, w->lo, w->hi);
}

static int NAME(next_window)(const th_pool *p, NAME(walk) *w)
{
    for (int d = p->nd - 2; d >= 0; --d) {
        if (++w->window[d] < p->axis[d].windows)
            return 1;
        w->window[d] = 0;
    }
    return 0;
}

/* -- lines ----------------------------------------------------------------------------------------------------------- */

#define WINDOW(WHAT, JOIN, SIZE, STRIDE) \
    static TH_LOOP void NAME(WHAT)(int64_t count, T *restrict to, const T *restrict from) \
    { \
        TH_INDEPENDENT \
        for (int64_t j = 0; j < count; ++j) { \
            T v = from[j * STRIDE]; \
            for (int k = 1; k < SIZE; ++k) { \
                const T next = from[j * STRIDE + k]; \
                v = JOIN(v, next); \
            } \
            to[j] = v; \
        } \
    }

#define LINES(WHAT, JOIN) \
    static TH_LOOP void NAME(WHAT##_join)(int64_t n, T *to, const T *a, const T *b) \
    { \
        TH_INDEPENDENT \
        for (int64_t i = 0; i < n; ++i) { \
            const T u = a[i], v = b[i]; \
            to[i] = JOIN(u, v); \
        } \
    } \
    static TH_LOOP void NAME(WHAT##_step)(int64_t count, int64_t stride, T *restrict to, const T *restrict from) \
    { \
        TH_INDEPENDENT \
        for (int64_t j = 0; j < count; ++j) { \
            const T u = to[j], v = from[j * stride]; \
            to[j] = JOIN(u, v); \
        } \
    } \
    WINDOW(WHAT##_2_2, JOIN, 2, 2) \
    WINDOW(WHAT##_3_2, JOIN, 3, 2) \
    WINDOW(WHAT##_2_1, JOIN, 2, 1) \
    WINDOW(WHAT##_3_1, JOIN, 3, 1) \
    WINDOW(WHAT##_3_3, JOIN, 3, 3) \
    /* The windows along a line; those that reach over its ends get what there is. */ \
    static void NAME(WHAT##_windows)(const th_pool_axis *a, T *to, const T *from) \
    { \
        int64_t first, last, unused; \
        th_pool_meets(a, 0, &first, &unused); \
        th_pool_meets(a, a->size - 1, &unused, &last); \
        first = first < last ? first : last; \
        for (int64_t j = 0; j < a->windows; ++j) { \
            if (j == first) \
                j = last; \
            if (j >= a->windows) \
                break; \
            const int64_t end = th_pool_hi(a, j); \
            int64_t i = th_pool_lo(a, j); \
            T v = i < end ? from[i] : (T)0; /* in the padding alone: a sum */ \
            while (++i < end) \
                v = JOIN(v, from[i]); \
            to[j] = v; \
        } \
        if (first >= last) \
            return; \
        const int64_t count = last - first; \
        to += first; \
        from += first * a->stride - a->pad; \
        switch (a->size << 8 | (a->stride < 255 ? a->stride : 255)) { \
        case 2 << 8 | 2: NAME(WHAT##_2_2)(count, to, from); return; \
        case 3 << 8 | 2: NAME(WHAT##_3_2)(count, to, from); return; \
        case 2 << 8 | 1: NAME(WHAT##_2_1)(count, to, from); return; \
        case 3 << 8 | 1: NAME(WHAT##_3_1)(count, to, from); return; \
        case 3 << 8 | 3: NAME(WHAT##_3_3)(count, to, from); return; \
        default: break; \
        } \
        for (int64_t j = 0; j < count; ++j) \
            to[j] = from[j * a->stride]; \
        for (int64_t k = 1; k < a->size; ++k) \
            NAME(WHAT##_step)(count, a->stride, to, from + k); \
    } \
    static const T *NAME(WHAT##_box)(const th_pool *p, NAME(walk) *w, const T *plane, T *space) \
    { \
        const int64_t n = p->axis[p->nd - 1].n; \
        const T *so_far = plane + NAME(line)(p, w); \
        while (NAME(next_line)(p, w)) { \
            NAME(WHAT##_join)(n, space, so_far, plane + NAME(line)(p, w)); \
            so_far = space; \
        } \
        return so_far; \
    }

LINES(max, LARGER)
LINES(sum, SUM)

static TH_LOOP void NAME(divide)(int64_t n, T *to, T by)
{
    TH_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
        to[i] /= by;
}

/* Divide the elements of a line of the result by how many elements their windows have. */
static void NAME(divide_line)(const th_pool *p, const NAME(walk) *w, T *line)
{
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t j = 0; j < a->windows;) {
        const int64_t count = th_pool_count(a, j, p->with_padding);
        int64_t end = j + 1;
        while (end < a->windows && th_pool_count(a, end, p->with_padding) == count)
            ++end;
        NAME(divide)(end - j, line + j, (T)(count * w->count));
        j = end;
    }
}

/* -- pooling ----------------------------------------------------------------------------------------------------- */

static void NAME(planes_of)(const th_pool *p, int64_t part, int64_t *from, int64_t *to)
{
    *from = p->planes * part / p->parts;
    *to = p->planes * (part + 1) / p->parts;
}

/* A window without elements: axes of length 0 have such. */
static void NAME(fill_empty)(const th_pool *p, const NAME(walk) *w, T *to)
{
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t j = 0; j < a->windows; ++j) {
        to[j] = p->mode == TH_POOL_MODE_MAX ? -(T)INFINITY : (T)0;
        if (p->mode >= TH_POOL_MODE_MEAN)
            to[j] /= (T)(w->count * th_pool_count(a, j, p->with_padding));
    }
}

void NAME(th_pool)(void *job, int64_t lo, int64_t hi)
{
    const th_pool *p = job;
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t part = lo; part < hi; ++part) {
        T *space = (T *)(p->space + part * p->part_bytes);
        int64_t plane, end;
        NAME(planes_of)(p, part, &plane, &end);
        T *to = (T *)p->out + plane * p->pooled;
        for (; plane < end; ++plane) {
            const T *x = (const T *)p->x + plane * p->full;
            NAME(walk) w = {0};
            do {
                if (!NAME(box)(p, &w) || a->n == 0) {
                    NAME(fill_empty)(p, &w, to);
                } else if (p->mode == TH_POOL_MODE_MAX) {
                    NAME(max_windows)(a, to, NAME(max_box)(p, &w, x, space));
                } else {
                    NAME(sum_windows)(a, to, NAME(sum_box)(p, &w, x, space));
                    if (p->mode != TH_POOL_MODE_SUM)
                        NAME(divide_line)(p, &w, to);
                }
                to += a->windows;
            } while (NAME(next_window)(p, &w));
        }
    }
}

/* -- derivatives ------------------------------------------------------------------------------------------------- */

static TH_LOOP void NAME(pairs)(int64_t count, T *restrict to, const T *restrict from)
{
    TH_INDEPENDENT
    for (int64_t j = 0; j < count; ++j) {
        to[2 * j] = from[j];
        to[2 * j + 1] = from[j];
    }
}

/* Spread a line of the result to its elements number `k`, `k + 1`, ... below `end`, at most as many as a stride, so that
 * no two of them are one. Elsewhere is `rest`. */
static void NAME(spread)(const th_pool_axis *a, int64_t k, int64_t end, T rest, T *restrict to, const T *restrict from)
{
    int64_t begin = 0, done = 0, paired = 0, unpaired = 0, unused;
    if (a->stride == 2 && end - k == 2) {
        th_pool_meets(a, k, &begin, &unused);
        th_pool_meets(a, k + 1, &unused, &done);
        if (begin < done) {
            paired = begin * 2 + k - a->pad;
            unpaired = done * 2 + k - a->pad;
            NAME(pairs)(done - begin, to + paired, from + begin);
        }
    }
    for (int64_t i = 0; i < paired; ++i)
        to[i] = rest;
    for (int64_t i = unpaired; i < a->n; ++i)
        to[i] = rest;
    for (; k < end; ++k) {
        int64_t j, last;
        th_pool_meets(a, k, &j, &last);
        for (; j < last; ++j) {
            if (begin < done && j == begin)
                j = done;
            if (j < last)
                to[j * a->stride + k - a->pad] = from[j];
        }
    }
}

static TH_LOOP void NAME(add_where)(int64_t n, T *restrict to, const T *restrict x, const T *restrict largest, const T *restrict given)
{
    /* With masks, since a branch on where the largest are would rarely be foreseen. */
    const BITS *bits = (const BITS *)given;
    TH_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
        const BITS kept = bits[i] & -(BITS)(x[i] == largest[i]);
        T share;
        memcpy(&share, &kept, sizeof share);
        to[i] += share;
    }
}

static TH_LOOP void NAME(add)(int64_t n, T *restrict to, const T *restrict from)
{
    TH_INDEPENDENT
    for (int64_t i = 0; i < n; ++i)
        to[i] += from[i];
}

/* The number of lines into which a line of the result is spread. */
TH_HELPER int64_t NAME(spreads)(const th_pool_axis *a)
{
    return a->size < a->stride ? 1 : (a->size + a->stride - 1) / a->stride;
}

void NAME(th_pool_max_grad)(void *job, int64_t lo, int64_t hi)
{
    const th_pool *p = job;
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t part = lo; part < hi; ++part) {
        char *space = p->space + part * p->part_bytes;
        T *largest = (T *)space, *given = (T *)(space + p->line_bytes);
        int64_t plane, end;
        NAME(planes_of)(p, part, &plane, &end);
        for (; plane < end; ++plane) {
            const T *x = (const T *)p->x + plane * p->full;
            const T *m = (const T *)p->largest + plane * p->pooled, *g = (const T *)p->given + plane * p->pooled;
            T *to = (T *)p->out + plane * p->full;
            memset(to, 0, (size_t)p->full * sizeof(T));
            NAME(walk) w = {0};
            do {
                for (int64_t k = 0; k < a->size && NAME(box)(p, &w); k += a->stride) {
                    const int64_t stop = k + a->stride < a->size ? k + a->stride : a->size;
                    int64_t first = 0, last = a->n, begin = 0;
                    const T *most = largest, *share = given;
                    if (a->stride == 1) { /* lines as they are, some elements further */
                        th_pool_meets(a, k, &first, &last);
                        most = m + first;
                        share = g + first;
                        begin = first + k - a->pad;
                    } else {
                        NAME(spread)(a, k, stop, (T)NAN, largest, m);
                        NAME(spread)(a, k, stop, (T)0, given, g);
                    }
                    do {
                        const int64_t line = NAME(line)(p, &w) + begin;
                        NAME(add_where)(last - first, to + line, x + line, most, share);
                    } while (NAME(next_line)(p, &w));
                }
                m += a->windows;
                g += a->windows;
            } while (NAME(next_window)(p, &w));
        }
    }
}

void NAME(th_pool_max_grad_grad)(void *job, int64_t lo, int64_t hi)
{
    const th_pool *p = job;
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t part = lo; part < hi; ++part) {
        char *space = p->space + part * p->part_bytes;
        T *largest = (T *)space, *sums = (T *)(space + p->line_bytes);
        int64_t plane, end;
        NAME(planes_of)(p, part, &plane, &end);
        for (; plane < end; ++plane) {
            const T *x = (const T *)p->x + plane * p->full, *g = (const T *)p->given + plane * p->full;
            const T *m = (const T *)p->largest + plane * p->pooled;
            T *to = (T *)p->out + plane * p->pooled;
            NAME(walk) w = {0};
            do {
                memset(to, 0, (size_t)a->windows * sizeof(T));
                for (int64_t k = 0; k < a->size && NAME(box)(p, &w); k += a->stride) {
                    const int64_t stop = k + a->stride < a->size ? k + a->stride : a->size;
                    NAME(spread)(a, k, stop, (T)NAN, largest, m);
                    memset(sums, 0, (size_t)a->n * sizeof(T));
                    do {
                        const int64_t line = NAME(line)(p, &w);
                        NAME(add_where)(a->n, sums, x + line, largest, g + line);
                    } while (NAME(next_line)(p, &w));
                    for (int64_t each = k; each < stop; ++each) {
                        int64_t first, last;
                        th_pool_meets(a, each, &first, &last);
                        NAME(sum_step)(last - first, a->stride, to + first, sums + first * a->stride + each - a->pad);
                    }
                }
                to += a->windows;
                m += a->windows;
            } while (NAME(next_window)(p, &w));
        }
    }
}

void NAME(th_pool_sum_grad)(void *job, int64_t lo, int64_t hi)
{
    const th_pool *p = job;
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t part = lo; part < hi; ++part) {
        char *space = p->space + part * p->part_bytes;
        T *all = (T *)space, *given = (T *)(space + p->line_bytes), *share = (T *)(space + 2 * p->line_bytes);
        int64_t plane, end;
        NAME(planes_of)(p, part, &plane, &end);
        for (; plane < end; ++plane) {
            const T *g = (const T *)p->given + plane * p->pooled;
            T *to = (T *)p->out + plane * p->full;
            memset(to, 0, (size_t)p->full * sizeof(T));
            NAME(walk) w = {0};
            do {
                if (NAME(box)(p, &w)) {
                    memcpy(share, g, (size_t)a->windows * sizeof(T));
                    if (p->mode >= TH_POOL_MODE_MEAN)
                        NAME(divide_line)(p, &w, share);
                    for (int64_t k = 0; k < a->size; k += a->stride) {
                        const int64_t last = k + a->stride < a->size ? k + a->stride : a->size;
                        NAME(spread)(a, k, last, (T)0, k == 0 ? all : given, share);
                        if (k > 0)
                            NAME(add)(a->n, all, given);
                    }
                    do
                        NAME(add)(a->n, to + NAME(line)(p, &w), all);
                    while (NAME(next_line)(p, &w));
                }
                g += a->windows;
            } while (NAME(next_window)(p, &w));
        }
    }
}

/* What belongs to the first of the largest elements of each window. */
void NAME(th_pool_max_direction)(void *job, int64_t lo, int64_t hi)
{
    const th_pool *p = job;
    const th_pool_axis *a = p->axis + p->nd - 1;
    for (int64_t part = lo; part < hi; ++part) {
        T *largest = (T *)(p->space + part * p->part_bytes);
        int64_t plane, end;
        NAME(planes_of)(p, part, &plane, &end);
        T *to = (T *)p->out + plane * p->pooled;
        for (; plane < end; ++plane) {
            const T *x = (const T *)p->x + plane * p->full, *g = (const T *)p->given + plane * p->full;
            NAME(walk) w = {0};
            do {
                memset(to, 0, (size_t)a->windows * sizeof(T));
                int begun = 0;
                if (NAME(box)(p, &w) && a->n) {
                    do {
                        const int64_t line = NAME(line)(p, &w);
                        for (int64_t j = 0; j < a->windows; ++j) {
                            int64_t i = th_pool_lo(a, j);
                            const int64_t stop = th_pool_hi(a, j);
                            if (!begun) {
                                largest[j] = x[line + i];
                                to[j] = g[line + i];
                                ++i;
                            }
                            for (; i < stop; ++i)
                                if (x[line + i] > largest[j]) {
                                    largest[j] = x[line + i];
                                    to[j] = g[line + i];
                                }
                        }
                        begun = 1;
                    } while (NAME(next_line)(p, &w));
                }
                to += a->windows;
            } while (NAME(next_window)(p, &w));
        }
    }
}

/* Lines fetched from memory, transformed and put back: SIDE of them side by side, or one after the other. */
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline, unused))

/* Elements of a line in SIDE lanes fill a line of the cache. */
#define SIDE ((int64_t)(64 / sizeof(T)))

/* Real and imaginary parts. */
typedef struct {
    T *re, *im;
} planes;

#include "fft_plan.h"

#define V T
#define WIDTH 1
#define STAGE(x) NAME(x)
#include "fft_stage.h"
#undef V
#undef WIDTH
#undef STAGE

typedef T NAME(four) __attribute__((vector_size(4 * sizeof(T)), aligned(1), may_alias));
#define V NAME(four)
#define WIDTH 4
#define STAGE(x) NAME(four_##x)
#include "fft_stage.h"
#undef V
#undef WIDTH
#undef STAGE

#if defined(__AVX512F__)
#define WIDTH ((int64_t)(64 / sizeof(T)))
#elif defined(__AVX2__)
#define WIDTH ((int64_t)(32 / sizeof(T)))
#else
#define WIDTH ((int64_t)(16 / sizeof(T)))
#endif
typedef T NAME(wide) __attribute__((vector_size(WIDTH * sizeof(T)), aligned(1), may_alias));
#define V NAME(wide)
#define STAGE(x) NAME(wide_##x)
#include "fft_stage.h"
#undef V
#undef STAGE

static planes NAME(in_stages)(const plan *p, int64_t s, planes x, planes y)
{
    int64_t left = p->n;
    for (int i = 0; i < p->stages; ++i) {
        const int r = p->radices[i];
        left /= r;
        if (s % WIDTH == 0)
            NAME(wide_pass)(r, s, left, x, y, p->turns[i], p->roots[i]);
        else if (s % 4 == 0)
            NAME(four_pass)(r, s, left, x, y, p->turns[i], p->roots[i]);
        else
            NAME(pass)(r, s, left, x, y, p->turns[i], p->roots[i]);
        const planes kept = x;
        x = y;
        y = kept;
        s *= r;
    }
    return x;
}

/* n elements of s lanes, times those of a table, or of its conjugate. */
static void NAME(multiply)(planes x, const T *re, const T *im, int64_t n, int64_t s, T sign)
{
#define MULTIPLIED(q, c, d) \
    do { \
        const T a = x.re[q], b = x.im[q]; \
        x.re[q] = a * (c) - b * (d); \
        x.im[q] = a * (d) + b * (c); \
    } while (0)
    if (s == 1) {
        TH_INDEPENDENT
        for (int64_t k = 0; k < n; ++k)
            MULTIPLIED(k, re[k], im[k] * sign);
        return;
    }
    for (int64_t k = 0; k < n; ++k) {
        const T c = re[k], d = im[k] * sign;
        TH_INDEPENDENT
        for (int64_t q = k * SIDE; q < (k + 1) * SIDE; ++q)
            MULTIPLIED(q, c, d);
    }
}

INLINE planes NAME(exchanged)(planes x) { return (planes){x.im, x.re}; }

/* x, of which y is the workspace, transformed: in one of the two. */
static planes NAME(transform)(const plan *p, int64_t s, planes x, planes y)
{
    if (p->inner == NULL)
        return NAME(in_stages)(p, s, x, y);
    const int64_t n = p->n, m = p->inner->n;
    const size_t rest = (size_t)((m - n) * s) * sizeof(T);
    NAME(multiply)(x, p->chirp, p->chirp + n, n, s, -1);
    memset(x.re + n * s, 0, rest);
    memset(x.im + n * s, 0, rest);
    planes found = NAME(in_stages)(p->inner, s, x, y), other = found.re == x.re ? y : x;
    NAME(multiply)(found, p->spectrum, p->spectrum + m, m, s, 1);
    found = NAME(exchanged)(NAME(in_stages)(p->inner, s, NAME(exchanged)(found), NAME(exchanged)(other)));
    NAME(multiply)(found, p->chirp, p->chirp + n, n, s, -1);
    return found;
}

/* -- memory ------------------------------------------------------------------------------------------- */

typedef T NAME(anywhere) __attribute__((aligned(1), may_alias));
#define READ(p) (*(const NAME(anywhere) *)(p))
#define WRITE(p) (*(NAME(anywhere) *)(p))

/* Whether lines begin one number after the other. */
static int NAME(are_columns)(const char *const *lines, int64_t count, int64_t imaginary)
{
    int64_t i = 1;
    while (i < count && lines[0] != NULL && lines[i] == lines[0] + 2 * i * (int64_t)sizeof(T))
        ++i;
    return count == SIDE && i == count && imaginary == (int64_t)sizeof(T);
}

/* The first n numbers of `count` lines of `s` lanes; lines that are NULL, and lanes without one, are zeros. */
static TH_LOOP void NAME(fetch)(planes to, int64_t s, const char *const *lines, int64_t count, int64_t n, int64_t step, int64_t imaginary)
{
    const int64_t size = sizeof(T);
    if (s > 1 && NAME(are_columns)(lines, count, imaginary)) {
        for (int64_t k = 0; k < n; ++k) {
            const char *from = lines[0] + k * step;
            TH_INDEPENDENT
            for (int64_t l = 0; l < SIDE; ++l) {
                to.re[k * SIDE + l] = READ(from + 2 * l * size);
                to.im[k * SIDE + l] = READ(from + (2 * l + 1) * size);
            }
        }
        return;
    }
    for (int64_t l = 0; l < s; ++l) {
        const char *from = l < count ? lines[l] : NULL;
        if (from == NULL)
            for (int64_t k = 0; k < n; ++k)
                to.re[k * s + l] = to.im[k * s + l] = 0;
        else if (s == 1 && step == 2 * size && imaginary == size)
            TH_INDEPENDENT
            for (int64_t k = 0; k < n; ++k) {
                to.re[k] = READ(from + 2 * k * size);
                to.im[k] = READ(from + (2 * k + 1) * size);
            }
        else
            for (int64_t k = 0; k < n; ++k) {
                to.re[k * s + l] = READ(from + k * step);
                to.im[k * s + l] = READ(from + k * step + imaginary);
            }
    }
}

static TH_LOOP void NAME(put_back)(char *const *lines, int64_t count, planes from, int64_t s, int64_t n, int64_t step, int64_t imaginary)
{
    const int64_t size = sizeof(T);
    if (s > 1 && NAME(are_columns)((const char *const *)lines, count, imaginary)) {
        for (int64_t k = 0; k < n; ++k) {
            char *to = lines[0] + k * step;
            TH_INDEPENDENT
            for (int64_t l = 0; l < SIDE; ++l) {
                WRITE(to + 2 * l * size) = from.re[k * SIDE + l];
                WRITE(to + (2 * l + 1) * size) = from.im[k * SIDE + l];
            }
        }
        return;
    }
    for (int64_t l = 0; l < count; ++l) {
        char *to = lines[l];
        if (s == 1 && step == 2 * size && imaginary == size)
            TH_INDEPENDENT
            for (int64_t k = 0; k < n; ++k) {
                WRITE(to + 2 * k * size) = from.re[k];
                WRITE(to + (2 * k + 1) * size) = from.im[k];
            }
        else
            for (int64_t k = 0; k < n; ++k) {
                WRITE(to + k * step) = from.re[k * s + l];
                WRITE(to + k * step + imaginary) = from.im[k * s + l];
            }
    }
}

/* One real number of each line: element k. */
static void NAME(fetch_real)(T *to, int64_t s, const char *const *lines, int64_t count, int64_t offset)
{
    for (int64_t l = 0; l < s; ++l)
        to[l] = l < count && lines[l] != NULL ? READ(lines[l] + offset) : 0;
}

static void NAME(clear)(planes x, int64_t s, int64_t from, int64_t to)
{
    if (from < to) {
        memset(x.re + from * s, 0, (size_t)((to - from) * s) * sizeof(T));
        memset(x.im + from * s, 0, (size_t)((to - from) * s) * sizeof(T));
    }
}

/* -- real lines --------------------------------------------------------------------------------------- */

/* Z is the spectrum of the even elements plus i times that of the odd ones; these are E = (Z[k] + conj Z[h-k]) / 2 and
 * O = -i (Z[k] - conj Z[h-k]) / 2, and the whole one is E + root^k O. */
static TH_LOOP void NAME(take_apart)(planes z, planes x, const T *restrict half, int64_t h, int64_t s)
{
    for (int64_t l = 0; l < s; ++l) {
        const T re = z.re[l], im = z.im[l];
        x.re[l] = re + im;
        x.re[h * s + l] = re - im;
        x.im[l] = x.im[h * s + l] = 0;
    }
#define APART(c, d, a, b) \
    do { \
        const T er = (z.re[a] + z.re[b]) * (T)0.5, ei = (z.im[a] - z.im[b]) * (T)0.5; \
        const T or = (z.im[a] + z.im[b]) * (T)0.5, oi = (z.re[b] - z.re[a]) * (T)0.5; \
        x.re[a] = er + (or * c - oi * d); \
        x.im[a] = ei + (or * d + oi * c); \
    } while (0)
    if (s == 1) {
        TH_INDEPENDENT
        for (int64_t k = 1; k < h; ++k)
            APART(half[k], half[h + k], k, h - k);
        return;
    }
    for (int64_t k = 1; k < h; ++k) {
        const T c = half[k], d = half[h + k];
        TH_INDEPENDENT
        for (int64_t l = 0; l < SIDE; ++l)
            APART(c, d, k * SIDE + l, (h - k) * SIDE + l);
    }
}

/* The same the other way, times 2: Z = (X[k] + conj X[h-k]) + i conj(root^k) (X[k] - conj X[h-k]). */
static TH_LOOP void NAME(put_together)(planes x, planes z, const T *restrict half, int64_t h, int64_t s)
{
    for (int64_t l = 0; l < s; ++l) {
        const T first = x.re[l], last = x.re[h * s + l];
        z.re[l] = first + last;
        z.im[l] = first - last;
    }
#define TOGETHER(c, d, a, b) \
    do { \
        const T dr = x.re[a] - x.re[b], di = x.im[a] + x.im[b]; \
        z.re[a] = x.re[a] + x.re[b] + (dr * d - di * c); \
        z.im[a] = x.im[a] - x.im[b] + (dr * c + di * d); \
    } while (0)
    if (s == 1) {
        TH_INDEPENDENT
        for (int64_t k = 1; k < h; ++k)
            TOGETHER(half[k], half[h + k], k, h - k);
        return;
    }
    for (int64_t k = 1; k < h; ++k) {
        const T c = half[k], d = half[h + k];
        TH_INDEPENDENT
        for (int64_t l = 0; l < SIDE; ++l)
            TOGETHER(c, d, k * SIDE + l, (h - k) * SIDE + l);
    }
}

/* -- lines -------------------------------------------------------------------------------------------- */

typedef struct {
    const fft_lines *lines;
    const plan *plan;
    char *memory;
    int64_t s, blocks, pieces, bytes; /* lanes; blocks of lanes; pieces of work and the workspace of each */
} NAME(job);

static void NAME(from_real)(const NAME(job) *j, const char *const *from, char *const *to, int64_t count, planes x, planes y)
{
    const fft_lines *f = j->lines;
    const plan *p = j->plan;
    const int64_t s = j->s, have = f->have;
    if (p->halved) {
        NAME(fetch)(x, s, from, count, have / 2, 2 * f->from_step, f->from_step);
        NAME(clear)(x, s, have / 2, p->n);
        if (have % 2)
            NAME(fetch_real)(x.re + have / 2 * s, s, from, count, (have - 1) * f->from_step);
        const planes z = NAME(transform)(p, s, x, y), other = z.re == x.re ? y : x;
        NAME(take_apart)(z, other, p->half, p->n, s);
        NAME(put_back)(to, count, other, s, p->n + 1, f->to_step, f->to_imaginary);
        return;
    }
    NAME(fetch)(x, s, from, count, have, f->from_step, 0);
    NAME(clear)(x, s, have, p->n);
    memset(x.im, 0, (size_t)(p->n * s) * sizeof(T));
    NAME(put_back)(to, count, NAME(transform)(p, s, x, y), s, p->n / 2 + 1, f->to_step, f->to_imaginary);
}

static void NAME(to_real)(const NAME(job) *j, const char *const *from, char *const *to, int64_t count, planes x, planes y)
{
    const fft_lines *f = j->lines;
    const plan *p = j->plan;
    const int64_t s = j->s, n = p->n;
    NAME(fetch)(x, s, from, count, f->have, f->from_step, f->from_imaginary);
    NAME(clear)(x, s, f->have, f->length / 2 + 1);
    if (p->halved) {
        NAME(put_together)(x, y, p->half, n, s);
        const planes z = NAME(exchanged)(NAME(transform)(p, s, NAME(exchanged)(y), NAME(exchanged)(x)));
        NAME(put_back)(to, count, z, s, n, 2 * f->to_step, f->to_step);
        return;
    }
    memset(x.im, 0, (size_t)s * sizeof(T));
    for (int64_t k = 1; k <= n / 2; ++k)
        for (int64_t l = 0; l < s; ++l) {
            x.re[(n - k) * s + l] = x.re[k * s + l];
            x.im[(n - k) * s + l] = -x.im[k * s + l];
        }
    const planes z = NAME(exchanged)(NAME(transform)(p, s, NAME(exchanged)(x), NAME(exchanged)(y)));
    for (int64_t l = 0; l < count; ++l)
        for (int64_t k = 0; k < n; ++k)
            WRITE(to[l] + k * f->to_step) = z.re[k * s + l];
}

static void NAME(complex_lines)(const NAME(job) *j, const char *const *from, char *const *to, int64_t count, planes x, planes y)
{
    const fft_lines *f = j->lines;
    const int back = f->kind == FFT_BACK;
    NAME(fetch)(x, j->s, from, count, f->have, f->from_step, f->from_imaginary);
    NAME(clear)(x, j->s, f->have, f->length);
    planes z = NAME(transform)(j->plan, j->s, back ? NAME(exchanged)(x) : x, back ? NAME(exchanged)(y) : y);
    z = back ? NAME(exchanged)(z) : z;
    NAME(put_back)(to, count, z, j->s, f->length, f->to_step, f->to_imaginary);
}

/* Where a line is read and written. */
static void NAME(find_line)(const fft_lines *f, int64_t row, const char **from, char **to)
{
    *from = f->from;
    *to = f->to;
    for (int d = f->nd - 1; d >= 0; --d) {
        const int64_t i = row % f->shape[d];
        row /= f->shape[d];
        *to += i * f->to_strides[d];
        *from = *from == NULL || i >= f->limit[d] ? NULL : *from + i * f->from_strides[d];
    }
}

static void NAME(some_blocks)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *j = arg;
    const fft_lines *f = j->lines;
    const int64_t plane = (j->plan->width * j->s + 15) / 16 * 16;
    for (; lo < hi; ++lo) {
        T *scratch = (T *)(j->memory + lo * j->bytes);
        const planes x = {scratch, scratch + plane}, y = {scratch + 2 * plane, scratch + 3 * plane};
        const int64_t last = j->blocks * (lo + 1) / j->pieces;
        for (int64_t b = j->blocks * lo / j->pieces; b < last; ++b) {
            const int64_t first = b * j->s, count = f->rows - first < j->s ? f->rows - first : j->s;
            const char *from[SIDE];
            char *to[SIDE];
            for (int64_t l = 0; l < count; ++l)
                NAME(find_line)(f, first + l, from + l, to + l);
            if (f->kind == FFT_FROM_REAL)
                NAME(from_real)(j, from, to, count, x, y);
            else if (f->kind == FFT_TO_REAL)
                NAME(to_real)(j, from, to, count, x, y);
            else
                NAME(complex_lines)(j, from, to, count, x, y);
        }
    }
}

/* How many lines are worked on side by side. Columns are fetched by whole lines of the cache; a line whose elements are
 * neighbours fills vectors by itself, unless it is short or its first pass is an odd one. */
static int64_t NAME(lanes)(const fft_lines *f, const plan *p)
{
    const int64_t bytes = 4 * p->width * (int64_t)sizeof(T) * SIDE, pair = 2 * sizeof(T);
    const int are_rows = f->from_step <= pair && f->from_step >= -pair && f->to_step <= pair;
    if (f->rows <= SIDE / 2)
        return 1;
    if (!are_rows)
        return bytes <= TH_FFT_COLUMN_BYTES ? SIDE : 1;
    return bytes <= TH_FFT_ROW_BYTES && (p->width <= TH_FFT_SHORT || (p->inner == NULL && p->n % 4)) ? SIDE : 1;
}

int NAME(th_fft)(th_ctx *ctx, const fft_lines *lines)
{
    if (lines->rows == 0)
        return 0;
    int own;
    plan *p = NAME(plan_of)(lines->length, lines->kind, &own);
    if (p == NULL)
        return TH_FAIL(ctx, TH_ERR_MEMORY, "no memory for the roots of one of a transform of length %lld", (long long)lines->length);
    const int64_t line_bytes = 4 * p->width * (int64_t)sizeof(T), steps = 64 - __builtin_clzll((uint64_t)p->width);
    NAME(job) j = {.lines = lines, .plan = p, .s = NAME(lanes)(lines, p)};
    j.blocks = (lines->rows + j.s - 1) / j.s;
    j.bytes = (line_bytes * j.s + 4 * 16 * (int64_t)sizeof(T) + 63) / 64 * 64;
    const double work = (double)lines->rows * (double)p->width * (double)steps * 0.3;
    int64_t pieces = work < TH_SERIAL_NS ? 1 : (int64_t)(work / TH_PIECE_NS);
    pieces = pieces > TH_FFT_PIECES ? TH_FFT_PIECES : pieces;
    pieces = pieces > TH_FFT_ALL_BYTES / j.bytes ? TH_FFT_ALL_BYTES / j.bytes : pieces;
    pieces = pieces > j.blocks ? j.blocks : pieces;
    j.pieces = pieces < 1 ? 1 : pieces;
    j.memory = ctx->rt->scratch(ctx, (size_t)(j.bytes * j.pieces));
    const int failed = j.memory == NULL ? -1 : ctx->rt->parallel_for(ctx, j.pieces, 1, NAME(some_blocks), &j);
    if (own)
        NAME(forget)(p);
    return failed;
}

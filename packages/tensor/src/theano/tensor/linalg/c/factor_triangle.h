/* Equations with a triangle, and the inverse of one. */

#define BASE TH_FACTOR_BASE
/* Rows, and vectors of each, that are held in registers while the rows above are subtracted. */
#define GROUP 8
#if VECTOR_BYTES == 64
#define ABREAST 3
#else
#define ABREAST 1
#endif
#define STRIP (ABREAST * LANES)
_Static_assert(BASE % GROUP == 0 && BASE % LANES == 0, "a block is whole groups of rows and whole vectors");

/* A lower triangle as base_strip wants it: negative below its diagonal, on which its reciprocals are; filled up with
 * the identity to a multiple of GROUP rows. */
static void NAME(pack_triangle)(T *to, matrix t, int unit)
{
    const int64_t n = t.rows, filled = (n + GROUP - 1) / GROUP * GROUP;
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < i; ++k)
            to[i * BASE + k] = -AT(t, i, k);
        to[i * BASE + i] = unit ? 1 : 1 / AT(t, i, i);
    }
    for (int64_t i = n; i < filled; ++i) {
        memset(to + i * BASE, 0, (size_t)i * sizeof(T));
        to[i * BASE + i] = 1;
    }
}

/* The solution for STRIP right-hand sides in place of them. */
static void NAME(base_strip)(const T *t, int64_t groups, char *x, int64_t step)
{
    for (int64_t g = 0; g < groups; ++g) {
        const T *own = t + g * GROUP * (BASE + 1), *before = t + g * GROUP * BASE;
        char *rows = x + g * GROUP * step;
        vec sums[GROUP][ABREAST];
        _Pragma("GCC unroll 8") for (int i = 0; i < GROUP; ++i)
            _Pragma("GCC unroll 3") for (int v = 0; v < ABREAST; ++v)
                sums[i][v] = load(rows + i * step + v * VECTOR_BYTES);
        for (int64_t k = 0; k < g * GROUP; ++k)
            _Pragma("GCC unroll 3") for (int v = 0; v < ABREAST; ++v) {
                const vec known = load(x + k * step + v * VECTOR_BYTES);
                _Pragma("GCC unroll 8") for (int i = 0; i < GROUP; ++i)
                    sums[i][v] = fused(all(before[i * BASE + k]), known, sums[i][v]);
            }
        _Pragma("GCC unroll 8") for (int i = 0; i < GROUP; ++i) {
            _Pragma("GCC unroll 8") for (int k = 0; k < i; ++k)
                _Pragma("GCC unroll 3") for (int v = 0; v < ABREAST; ++v)
                    sums[i][v] = fused(all(own[i * BASE + k]), sums[k][v], sums[i][v]);
            _Pragma("GCC unroll 3") for (int v = 0; v < ABREAST; ++v) {
                sums[i][v] *= all(own[i * BASE + i]);
                store(rows + i * step + v * VECTOR_BYTES, sums[i][v]);
            }
        }
    }
}

/* Lower triangles of up to BASE rows. */
static void NAME(base_solve)(work *w, int unit, matrix t, matrix b)
{
    T packed[BASE * BASE] __attribute__((aligned(64))), strip[BASE * STRIP] __attribute__((aligned(64)));
    const int64_t n = t.rows, groups = (n + GROUP - 1) / GROUP, size = sizeof(T);
    NAME(pack_triangle)(packed, t, unit);
    memset(strip + n * STRIP, 0, (size_t)((groups * GROUP - n) * STRIP) * sizeof(T));
    for (int64_t c = 0; c < b.cols; c += STRIP) {
        const int64_t width = b.cols - c < STRIP ? b.cols - c : STRIP;
        char *at = b.data + c * b.col;
        if (b.col == size && width == STRIP && n == groups * GROUP) {
            NAME(base_strip)(packed, groups, at, b.row);
            continue;
        }
        if (width < STRIP)
            memset(strip, 0, (size_t)(n * STRIP) * sizeof(T));
        w->rt.move((char *)strip, STRIP * size, size, at, b.row, b.col, n, width, size);
        NAME(base_strip)(packed, groups, (char *)strip, STRIP * size);
        w->rt.move(at, b.row, b.col, (const char *)strip, STRIP * size, size, n, width, size);
    }
}

/* Blocks of one right-hand side whose elements are neighbours: each is freed of the blocks before it, then solved. */
#define VECTOR_BASE TH_FACTOR_VECTOR_BASE
static int NAME(solve_vector)(work *w, int upper, int unit, matrix t, char *x)
{
    const int64_t n = t.rows, size = sizeof(T), blocks = (n + VECTOR_BASE - 1) / VECTOR_BASE;
    const T minus = -1, one = 1;
    for (int64_t q = 0; q < blocks; ++q) {
        const int64_t lo = (upper ? blocks - 1 - q : q) * VECTOR_BASE, hi = lo + VECTOR_BASE < n ? lo + VECTOR_BASE : n;
        const matrix off = upper ? part(t, lo, hi, hi - lo, n - hi) : part(t, lo, 0, hi - lo, lo);
        char *known = upper ? x + hi * size : x;
        T *y = (T *)x;
        if (off.cols > 0) {
            const int done = NAME(th_gemv)(&w->ctx, w->threads, &minus, off, known, size, &one, x + lo * size, size, x + lo * size, size);
            const matrix to = {x + lo * size, hi - lo, 1, size, size}, from = {known, off.cols, 1, size, size};
            if (done < 0 || (done == 1 && NAME(subtract)(w, to, off, from)))
                return -1;
        }
        for (int64_t s = 0; s < hi - lo; ++s) {
            const int64_t j = upper ? hi - 1 - s : lo + s;
            const T found = unit ? y[j] : y[j] / AT(t, j, j);
            y[j] = found;
            for (int64_t i = upper ? lo : j + 1; i < (upper ? j : hi); ++i)
                y[i] -= AT(t, i, j) * found;
        }
    }
    return 0;
}

/* The halves of T X = B, and the product that the later half waits for: Y -= M X. */
typedef struct {
    matrix t, b, later_t, later_b, m;
} halves;

static halves halves_of(int upper, matrix t, matrix b)
{
    const int64_t n = t.rows, h = half_of(n, BASE);
    const matrix first = part(t, 0, 0, h, h), last = part(t, h, h, n - h, n - h);
    const matrix top = part(b, 0, 0, h, b.cols), bottom = part(b, h, 0, n - h, b.cols);
    return upper ? (halves){last, bottom, first, top, part(t, 0, h, h, n - h)}
                 : (halves){first, top, last, bottom, part(t, h, 0, n - h, h)};
}

static int NAME(solve_sides)(work *w, int upper, int unit, matrix t, matrix b)
{
    if (t.rows <= BASE) {
        NAME(base_solve)(w, unit, upper ? reversed(t) : t, upper ? reversed_rows(b) : b);
        return 0;
    }
    const halves h = halves_of(upper, t, b);
    return NAME(solve_sides)(w, upper, unit, h.t, h.b) || NAME(subtract)(w, h.later_b, h.m, h.b) ||
                   NAME(solve_sides)(w, upper, unit, h.later_t, h.later_b) ? -1 : 0;
}

/* The workspace of the products in that, in bytes. */
static int64_t NAME(sides_space)(int upper, matrix t, matrix b)
{
    if (t.rows <= BASE)
        return 0;
    const halves h = halves_of(upper, t, b);
    const int64_t own = NAME(th_gemm_space)(h.m, h.b, h.later_b), first = NAME(sides_space)(upper, h.t, h.b);
    const int64_t later = NAME(sides_space)(upper, h.later_t, h.later_b), most = own > first ? own : first;
    return most > later ? most : later;
}

/* Right-hand sides in pieces, which threads share. */
typedef struct {
    const work *w;
    int upper, unit;
    matrix t, b;
    int64_t pieces, bytes;
    char *space;
} NAME(shared_sides);

INLINE matrix NAME(piece_of)(const NAME(shared_sides) *s, int64_t q)
{
    const int64_t strips = (s->b.cols + STRIP - 1) / STRIP, from = q * strips / s->pieces * STRIP, to = (q + 1) * strips / s->pieces * STRIP;
    return part(s->b, 0, from, s->b.rows, (to < s->b.cols ? to : s->b.cols) - from);
}

static void NAME(solve_pieces)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(shared_sides) *s = arg;
    for (int64_t q = lo; q < hi; ++q) {
        work own = *s->w;
        own.ctx.rt = &own.rt;
        own.threads = 1;
        own.scratch = s->space + q * s->bytes;
        own.bytes = (size_t)s->bytes;
        NAME(solve_sides)(&own, s->upper, s->unit, s->t, NAME(piece_of)(s, q));
    }
}

/* Longer sums are cut by the width of a product, so then one thread solves the same pieces as several do. */
static int64_t NAME(pieces)(int64_t threads, int64_t rows, int64_t sides)
{
    const double multiplications = 0.5 * (double)rows * (double)rows * (double)sides;
    int64_t pieces = 1;
    if (multiplications < TH_GEMM_WORTH_THREADS || (threads == 1 && half_of(rows, BASE) <= SLICE))
        return 1;
    while (pieces < TH_FACTOR_PIECES && 2 * pieces * TH_FACTOR_STRIPS * STRIP <= sides)
        pieces *= 2;
    return pieces;
}

static int NAME(triangular)(work *w, int upper, int unit, matrix t, matrix b)
{
    if (t.rows == 0 || b.cols == 0)
        return 0;
    if (b.cols == 1 && b.row == (int64_t)sizeof(T))
        return NAME(solve_vector)(w, upper, unit, t, b.data);
    NAME(shared_sides) s = {w, upper, unit, t, b, NAME(pieces)(w->threads, t.rows, b.cols), 0, NULL};
    if (w->threads == 1 || s.pieces == 1) {
        for (int64_t q = 0; q < s.pieces; ++q)
            if (NAME(solve_sides)(w, upper, unit, t, NAME(piece_of)(&s, q)))
                return -1;
        return 0;
    }
    for (int64_t q = 0; q < s.pieces; ++q) {
        const int64_t bytes = (NAME(sides_space)(upper, t, NAME(piece_of)(&s, q)) + 63) / 64 * 64;
        s.bytes = bytes > s.bytes ? bytes : s.bytes;
    }
    if (s.bytes && (s.space = same_room(&w->ctx, (size_t)(s.pieces * s.bytes))) == NULL)
        return -1;
    return w->rt.parallel_for(&w->ctx, s.pieces, w->threads ? (s.pieces + w->threads - 1) / w->threads : 1, NAME(solve_pieces), &s);
}

int NAME(th_triangular)(th_ctx *ctx, int64_t threads, int upper, int unit, matrix t, matrix b)
{
    BEGIN_WORK(w, ctx, threads);
    return NAME(triangular)(&w, upper, unit, t, b);
}

/* The inverse of [A 0; B C] is [A^-1 0; -C^-1 B A^-1, C^-1]. */
static int NAME(triangle_inverse)(work *w, matrix t)
{
    const int64_t n = t.rows, size = sizeof(T);
    if (n <= BASE) {
        T found[BASE * BASE] __attribute__((aligned(64))) = {0};
        const matrix ones = {(char *)found, n, n, BASE * size, size};
        for (int64_t i = 0; i < n; ++i)
            found[i * BASE + i] = 1;
        NAME(base_solve)(w, 0, t, ones);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j <= i; ++j)
                AT(t, i, j) = found[i * BASE + j];
        return 0;
    }
    const int64_t h = half_of(n, BASE);
    const matrix a = part(t, 0, 0, h, h), b = part(t, h, 0, n - h, h), c = part(t, h, h, n - h, n - h);
    if (NAME(triangular)(w, 0, 0, c, b) || NAME(triangular)(w, 1, 0, turned(a), turned(b)))
        return -1;
    for (int64_t i = 0; i < n - h; ++i)
        for (int64_t j = 0; j < h; ++j)
            AT(b, i, j) = -AT(b, i, j);
    return NAME(triangle_inverse)(w, a) || NAME(triangle_inverse)(w, c) ? -1 : 0;
}

int NAME(th_triangle_inverse)(th_ctx *ctx, int64_t threads, matrix t)
{
    BEGIN_WORK(w, ctx, threads);
    return NAME(triangle_inverse)(&w, t);
}

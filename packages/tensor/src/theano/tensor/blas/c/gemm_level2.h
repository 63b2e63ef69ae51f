/* Products with a vector. All of the matrix is read once, so memory bandwidth is the limit: it is read in place, by rows. */

#define REACH ((int64_t)(TH_GEMM_REACH_BYTES / sizeof(T)))
#define WORTH_READING TH_GEMM_WORTH_READING
#define LONG_PIECE TH_GEMM_LONG_PIECE
#define FEW_LONG_ROWS TH_GEMM_FEW_LONG_ROWS
#define NARROW_ROWS TH_GEMM_NARROW_ROWS
#define MOST_NARROW 4

/* sums[i] = the products of row i, `next` bytes from the one before, with x, added up. Counts are constants. */
INLINE void NAME(row_sums)(const int rows, const int vectors, const char *a, int64_t next, const char *x, int64_t n, T *sums)
{
    vec s[4][8];
    _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i)
        _Pragma("GCC unroll 8") for (int v = 0; v < vectors; ++v)
            s[i][v] = (vec){0};
    for (; n >= vectors * LANES; n -= vectors * LANES) {
        _Pragma("GCC unroll 8") for (int v = 0; v < vectors; ++v) {
            const vec right = load(x + v * VECTOR_BYTES);
            _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i)
                s[i][v] = fused(load(a + i * next + v * VECTOR_BYTES), right, s[i][v]);
        }
        a += vectors * VECTOR_BYTES;
        x += vectors * VECTOR_BYTES;
    }
    for (; n > 0; n -= LANES) {
        const int64_t here = n < LANES ? n : LANES;
        const vec right = load_some(x, here);
        _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i)
            s[i][0] = fused(load_some(a + i * next, here), right, s[i][0]);
        a += VECTOR_BYTES;
        x += VECTOR_BYTES;
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < rows; ++i) {
        _Pragma("GCC unroll 8") for (int half = vectors / 2; half > 0; half /= 2)
            _Pragma("GCC unroll 8") for (int v = 0; v < half; ++v)
                s[i][v] += s[i][v + half];
        sums[i] = sum_of(s[i][0]);
    }
}

static __attribute__((noinline)) void NAME(four_sums)(const char *a, int64_t next, const char *x, int64_t n, T *sums)
{
    NAME(row_sums)(4, 2, a, next, x, n, sums);
}

static __attribute__((noinline)) void NAME(one_sum)(const char *a, const char *x, int64_t n, T *sum)
{
    NAME(row_sums)(1, 8, a, 0, x, n, sum);
}

/* Up to eight rows, each times a number of its own, added to `to`, or to zeros. */
INLINE void NAME(add_rows)(const int rows, const char *a, int64_t next, const T *factors, char *to, int64_t n, int fresh)
{
    vec f[8];
    _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i)
        f[i] = all(factors[i]);
    for (; n > 0; n -= LANES, a += VECTOR_BYTES, to += VECTOR_BYTES) {
        const int64_t here = n < LANES ? n : LANES;
        if (here == LANES) {
            vec s = fresh ? (vec){0} : load(to);
            _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i)
                s = fused(f[i], load(a + i * next), s);
            store(to, s);
        } else {
            vec s = fresh ? (vec){0} : load_some(to, here);
            _Pragma("GCC unroll 8") for (int i = 0; i < rows; ++i)
                s = fused(f[i], load_some(a + i * next, here), s);
            store_some(to, s, here);
        }
    }
}

static __attribute__((noinline)) void NAME(add_eight)(const char *a, int64_t next, const T *factors, char *to, int64_t n, int fresh)
{
    NAME(add_rows)(8, a, next, factors, to, n, fresh);
}

static __attribute__((noinline)) void NAME(add_one)(const char *a, const T *factor, char *to, int64_t n, int fresh)
{
    NAME(add_rows)(1, a, 0, factor, to, n, fresh);
}

/* A vector, of which n elements are there if it is not whole: to say so costs more than the product. */
INLINE vec load_up_to(const int whole, const void *p, int64_t n) { return whole ? load(p) : load_some(p, n); }

/* Rows, each times a number, added up without a look at memory: `vectors` of them side by side, the last one cut to `n`
 * elements unless it is whole. Two sums take turns where there are few, since one waits for itself. */
INLINE void NAME(mixed_rows)(const int vectors, const int whole, const char *a, int64_t next, const char *x, int64_t step,
                             int64_t count, int64_t n, vec *sums)
{
    const int turns = vectors <= 4 ? 2 : 1;
    const int64_t last = (vectors - 1) * VECTOR_BYTES;
    vec s[2][8];
    _Pragma("GCC unroll 2") for (int t = 0; t < turns; ++t)
        _Pragma("GCC unroll 8") for (int v = 0; v < vectors; ++v)
            s[t][v] = (vec){0};
    for (; count >= turns; count -= turns) {
        _Pragma("GCC unroll 2") for (int t = 0; t < turns; ++t, a += next, x += step) {
            const vec f = all(*(const T *)x);
            _Pragma("GCC unroll 8") for (int v = 0; v < vectors - 1; ++v)
                s[t][v] = fused(f, load(a + v * VECTOR_BYTES), s[t][v]);
            s[t][vectors - 1] = fused(f, load_up_to(whole, a + last, n), s[t][vectors - 1]);
        }
    }
    if (count) {
        const vec f = all(*(const T *)x);
        _Pragma("GCC unroll 8") for (int v = 0; v < vectors - 1; ++v)
            s[0][v] = fused(f, load(a + v * VECTOR_BYTES), s[0][v]);
        s[0][vectors - 1] = fused(f, load_up_to(whole, a + last, n), s[0][vectors - 1]);
    }
    _Pragma("GCC unroll 8") for (int v = 0; v < vectors; ++v)
        sums[v] = s[0][v];
    _Pragma("GCC unroll 8") for (int v = 0; turns == 2 && v < vectors; ++v)
        sums[v] += s[1][v];
}

#define MIXED(N)                                                                                                       \
    static __attribute__((noinline)) void NAME(mixed_##N)(const char *a, int64_t next, const char *x, int64_t step,    \
                                                          int64_t count, int64_t n, vec *sums)                         \
    {                                                                                                                  \
        if (n == LANES)                                                                                                \
            NAME(mixed_rows)(N, 1, a, next, x, step, count, n, sums);                                                  \
        else                                                                                                           \
            NAME(mixed_rows)(N, 0, a, next, x, step, count, n, sums);                                                  \
    }
MIXED(1) MIXED(2) MIXED(3) MIXED(4) MIXED(5) MIXED(6) MIXED(7) MIXED(8)

/* Results of so few vectors stay in the registers while the matrix goes by. */
#define FEW_VECTORS 8

static void (*const NAME(mixed)[FEW_VECTORS + 1])(const char *, int64_t, const char *, int64_t, int64_t, int64_t, vec *) = {
    NULL, NAME(mixed_1), NAME(mixed_2), NAME(mixed_3), NAME(mixed_4), NAME(mixed_5), NAME(mixed_6), NAME(mixed_7), NAME(mixed_8)};

typedef struct {
    matrix a;
    const char *x, *z;
    char *y;
    int64_t x_step, y_step, z_step, piece;
    T alpha, beta;
    T *part; /* sums of pieces of rows */
} NAME(level2);

INLINE void NAME(end_sum)(const NAME(level2) *g, int64_t r, T sum)
{
    T v = sum * g->alpha;
    if (g->beta != 0)
        v += g->beta * *(const T *)(g->z + r * g->z_step);
    *(T *)(g->y + r * g->y_step) = v;
}

/* Rows of few numbers, one behind the other: compilers take vectors of them apart by shuffles. */
INLINE void NAME(narrow_sums)(const int cols, const T *a, const T *x, T alpha, int64_t n, T *restrict sums)
{
    T f[MOST_NARROW];
    _Pragma("GCC unroll 4") for (int c = 0; c < cols; ++c)
        f[c] = x[c];
    for (int64_t i = 0; i < n; ++i) {
        T sum = a[i * cols] * f[0];
        _Pragma("GCC unroll 4") for (int c = 1; c < cols; ++c)
            sum += a[i * cols + c] * f[c];
        sums[i] = sum * alpha;
    }
}

static void NAME(narrow_rows)(const NAME(level2) *g, int64_t from, int64_t end)
{
    T aside[NARROW_ROWS];
    const int in_place = g->beta == 0 && g->y_step == (int64_t)sizeof(T);
    for (int64_t n; from < end; from += n) {
        const T *a = (const T *)(g->a.data + from * g->a.row), *x = (const T *)g->x;
        T *sums = in_place ? (T *)g->y + from : aside;
        n = end - from < NARROW_ROWS ? end - from : NARROW_ROWS;
        if (g->a.cols == 2)
            NAME(narrow_sums)(2, a, x, g->alpha, n, sums);
        else if (g->a.cols == 3)
            NAME(narrow_sums)(3, a, x, g->alpha, n, sums);
        else
            NAME(narrow_sums)(4, a, x, g->alpha, n, sums);
        for (int64_t r = in_place ? n : 0; r < n; ++r) {
            const T v = g->beta != 0 ? g->beta * *(const T *)(g->z + (from + r) * g->z_step) : 0;
            *(T *)(g->y + (from + r) * g->y_step) = sums[r] + v;
        }
    }
}

/* Groups of four elements of y, lo to hi, of a matrix whose rows' elements are neighbours, as those of x are. */
static void NAME(sum_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(level2) *g = arg;
    const int64_t end = hi * 4 < g->a.rows ? hi * 4 : g->a.rows;
    T sums[4];
    if (g->a.cols >= 2 && g->a.cols <= MOST_NARROW && g->a.row == g->a.cols * (int64_t)sizeof(T)) {
        NAME(narrow_rows)(g, lo * 4, end);
        return;
    }
    for (int64_t i = lo * 4, done; i < end; i += done) {
        done = end - i >= 4 ? 4 : 1;
        const char *a = g->a.data + i * g->a.row;
        if (done == 4)
            NAME(four_sums)(a, g->a.row, g->x, g->a.cols, sums);
        else
            NAME(one_sum)(a, g->x, g->a.cols, sums);
        for (int64_t r = i; r < i + done; ++r)
            NAME(end_sum)(g, r, sums[r - i]);
    }
}

/* Sums of pieces lo to hi of long rows. */
static void NAME(sum_pieces)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(level2) *g = arg;
    const int64_t size = sizeof(T), pieces = parts_of(g->a.cols, g->piece);
    for (int64_t q = lo; q < hi; ++q) {
        const int64_t from = q % pieces * g->piece, n = g->a.cols - from < g->piece ? g->a.cols - from : g->piece;
        NAME(one_sum)(g->a.data + q / pieces * g->a.row + from * size, g->x + from * size, n, g->part + q);
    }
}

/* y = alpha A x + beta z, of few long rows: in pieces that do not depend on the number of threads. */
static int NAME(long_rows)(th_ctx *ctx, int64_t threads, NAME(level2) *g)
{
    g->piece = LONG_PIECE;
    const int64_t pieces = parts_of(g->a.cols, g->piece), all = g->a.rows * pieces;
    g->part = ctx->rt->scratch(ctx, (size_t)all * sizeof(T));
    if (g->part == NULL)
        return -1;
    if (NAME(spread)(ctx, threads, all, NAME(sum_pieces), g))
        return -1;
    for (int64_t r = 0; r < g->a.rows; ++r) {
        T sum = g->part[r * pieces];
        for (int64_t q = 1; q < pieces; ++q)
            sum += g->part[r * pieces + q];
        NAME(end_sum)(g, r, sum);
    }
    return 0;
}

/* y = alpha x A + beta z, of one short contiguous row, and a matrix whose columns are neighbours. */
int NAME(th_short_row)(const T *alpha, const char *x, int64_t x_step, int64_t count, const char *a, int64_t next, int64_t n,
                       const T *beta, const char *z, int64_t z_step, char *y)
{
    if (n < 1 || n > FEW_VECTORS * LANES)
        return 1;
    vec sums[FEW_VECTORS];
    const int64_t vectors = parts_of(n, LANES), rest = n - (vectors - 1) * LANES;
    NAME(mixed)[vectors](a, next, x, x_step, count, rest, sums);
    const T scale = alpha ? *alpha : 1, b = beta ? *beta : 0;
    for (int64_t v = 0; v < vectors; ++v, y += VECTOR_BYTES, z += LANES * z_step) {
        const int64_t here = v == vectors - 1 ? rest : LANES;
        vec s = sums[v] * all(scale);
        if (b != 0 && z_step == (int64_t)sizeof(T))
            s = fused(all(b), load_up_to(here == LANES, z, here), s);
        else if (b != 0)
            for (int64_t l = 0; l < here; ++l)
                s[l] += b * *(const T *)(z + l * z_step);
        if (here == LANES)
            store(y, s);
        else
            store_some(y, s, here);
    }
    return 0;
}

/* Pieces lo to hi of y, which is contiguous, of a matrix whose columns' elements are neighbours. */
static void NAME(add_columns)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(level2) *g = arg;
    const int64_t size = sizeof(T);
    for (int64_t q = lo; q < hi; ++q) {
        const int64_t from = q * g->piece, n = g->a.rows - from < g->piece ? g->a.rows - from : g->piece;
        const char *a = g->a.data + from * size, *x = g->x;
        char *y = g->y + from * size;
        if (g->beta != 0)
            for (int64_t i = 0; i < n; ++i)
                ((T *)y)[i] = g->beta * *(const T *)(g->z + (from + i) * g->z_step);
        for (int64_t j = 0, done; j < g->a.cols; j += done) {
            T factors[8];
            done = g->a.cols - j >= 8 ? 8 : 1;
            for (int64_t c = 0; c < done; ++c, x += g->x_step)
                factors[c] = *(const T *)x * g->alpha;
            if (done == 8)
                NAME(add_eight)(a, g->a.col, factors, y, n, j == 0 && g->beta == 0);
            else
                NAME(add_one)(a, factors, y, n, j == 0 && g->beta == 0);
            a += done * g->a.col;
        }
    }
}

/* y = alpha A x + beta z. 1 if the matrix's axes have no neighbours: this is for th_gemm then. */
int NAME(th_gemv)(th_ctx *ctx, int64_t threads, const T *alpha, matrix a, char *x, int64_t x_step, const T *beta, char *z,
                  int64_t z_step, char *y, int64_t y_step)
{
    const int64_t size = sizeof(T);
    NAME(level2) g = {a, x, z, y, x_step, y_step, z_step, 0, alpha ? *alpha : 1, beta ? *beta : 0, NULL};
    if (a.rows * a.cols < WORTH_READING)
        threads = 1;
    if (a.col == size || a.cols <= 1) {
        if (x_step != size && a.cols > 1) {
            char *scratch = ctx->rt->scratch(ctx, (size_t)(a.cols * size));
            if (scratch == NULL)
                return -1;
            for (int64_t j = 0; j < a.cols; ++j)
                memcpy(scratch + j * size, x + j * x_step, (size_t)size);
            g.x = scratch;
        }
        if (a.rows <= FEW_LONG_ROWS && a.cols > 2 * LONG_PIECE)
            return NAME(long_rows)(ctx, threads, &g);
        const int64_t groups = parts_of(a.rows, 4);
        if (threads == 1) {
            NAME(sum_rows)(&g, 0, groups);
            return 0;
        }
        return ctx->rt->parallel_for(ctx, groups, threads ? parts_of(groups, threads) : 1 + 40000 / (4 * a.cols), NAME(sum_rows), &g);
    }
    if (a.row != size || (y_step != size && a.rows > 1))
        return 1;
    if (NAME(th_short_row)(alpha, x, x_step, a.cols, a.data, a.col, a.rows, beta, z, z_step, y) == 0)
        return 0;
    /* Threads had better not read more often across rows than they must. */
    const int64_t share = parts_of(parts_of(a.rows, 4), LANES) * LANES;
    g.piece = threads == 1 || share > REACH ? REACH : share < TH_GEMM_SHARE ? TH_GEMM_SHARE : share;
    return NAME(spread)(ctx, threads, parts_of(a.rows, g.piece), NAME(add_columns), &g);
}

/* C = beta Z + alpha x y' */
typedef struct {
    matrix c, z;
    const char *x, *y;
    int64_t x_step;
    T alpha, beta;
} NAME(outer);

static void NAME(outer_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(outer) *g = arg;
    const vec beta = all(g->beta);
    for (int64_t i = lo; i < hi; ++i) {
        const vec f = all(*(const T *)(g->x + i * g->x_step) * g->alpha);
        const char *y = g->y, *from = g->z.data + i * g->z.row;
        char *to = g->c.data + i * g->c.row;
        int64_t n = g->c.cols;
        if (g->beta == 0) {
            for (; n >= LANES; n -= LANES, y += VECTOR_BYTES, to += VECTOR_BYTES)
                store(to, f * load(y));
            store_some(to, f * load_some(y, n), n);
        } else {
            for (; n >= LANES; n -= LANES, y += VECTOR_BYTES, from += VECTOR_BYTES, to += VECTOR_BYTES)
                store(to, fused(f, load(y), load(from) * beta));
            store_some(to, fused(f, load_some(y, n), load_some(from, n) * beta), n);
        }
    }
}

/* C = beta Z + alpha x y'. 1 if the columns of C, of Z or the elements of y are no neighbours. */
int NAME(th_ger)(th_ctx *ctx, int64_t threads, const T *alpha, char *x, int64_t x_step, char *y, int64_t y_step,
                 const T *beta, matrix z, matrix c)
{
    const int64_t size = sizeof(T);
    if (c.cols > 1 && (c.col != size || (beta && z.col != size) || y_step != size))
        return 1;
    NAME(outer) g = {c, z, x, y, x_step, alpha ? *alpha : 1, beta ? *beta : 0};
    if (threads == 1 || c.rows * c.cols < WORTH_READING) {
        NAME(outer_rows)(&g, 0, c.rows);
        return 0;
    }
    return ctx->rt->parallel_for(ctx, c.rows, threads ? parts_of(c.rows, threads) : 1 + 20000 / c.cols, NAME(outer_rows), &g);
}

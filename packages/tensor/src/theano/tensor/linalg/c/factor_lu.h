/* Elimination with row exchanges, of matrices whose columns' elements are neighbours. */

#define PANEL TH_FACTOR_PANEL

#if VECTOR_BYTES == 64
#define UNROLLED 4
#else
#define UNROLLED 2
#endif

INLINE T *NAME(column_of)(matrix a, int64_t j) { return (T *)(a.data + j * a.col); }

/* y[0 .. n] -= sum over k of factors[k] x_k, the columns x_k lying `step` elements apart. */
static void NAME(subtract_columns)(T *y, const T *x, int64_t step, const T *factors, int64_t count, int64_t n)
{
    int64_t i = 0;
    for (; i + UNROLLED * LANES <= n; i += UNROLLED * LANES) {
        vec sums[UNROLLED];
        _Pragma("GCC unroll 4") for (int v = 0; v < UNROLLED; ++v)
            sums[v] = load(y + i + v * LANES);
        for (int64_t k = 0; k < count; ++k) {
            const vec f = all(-factors[k]);
            _Pragma("GCC unroll 4") for (int v = 0; v < UNROLLED; ++v)
                sums[v] = fused(f, load(x + k * step + i + v * LANES), sums[v]);
        }
        _Pragma("GCC unroll 4") for (int v = 0; v < UNROLLED; ++v)
            store(y + i + v * LANES, sums[v]);
    }
    for (; i < n; i += LANES) {
        const int64_t rest = n - i < LANES ? n - i : LANES;
        vec sum = load_some(y + i, rest);
        for (int64_t k = 0; k < count; ++k)
            sum = fused(all(-factors[k]), load_some(x + k * step + i, rest), sum);
        store_some(y + i, sum, rest);
    }
}

/* Where the largest absolute value is. */
static int64_t NAME(place_of_largest)(const T *x, int64_t n)
{
    int64_t place = 0;
    T largest[64 / sizeof(T)] = {0}, most = 0;
    const int64_t lanes = 64 / sizeof(T), whole = n / lanes * lanes;
    for (int64_t i = 0; i < whole; i += lanes)
        for (int64_t l = 0; l < lanes; ++l) {
            const T size = x[i + l] < 0 ? -x[i + l] : x[i + l];
            largest[l] = size > largest[l] ? size : largest[l];
        }
    for (int64_t l = 0; l < lanes; ++l)
        most = largest[l] > most ? largest[l] : most;
    for (int64_t i = whole; i < n; ++i) {
        const T size = x[i] < 0 ? -x[i] : x[i];
        most = size > most ? size : most;
    }
    while (place < n && x[place] != most && x[place] != -most)
        ++place;
    return place < n ? place : 0;
}

/* Rows i and pivots[i] exchanged for i = 0, 1, ... */
static void NAME(exchange)(matrix a, const int64_t *pivots, int64_t count)
{
    for (int64_t j = 0; j < a.cols; ++j) {
        T *column = NAME(column_of)(a, j);
        for (int64_t i = 0; i < count; ++i) {
            const T kept = column[i];
            column[i] = column[pivots[i]];
            column[pivots[i]] = kept;
        }
    }
}

/* Up to PANEL columns: each is freed of those before it, then its pivot is sought. */
static int64_t NAME(panel_lu)(matrix a, int64_t *pivots)
{
    const int64_t m = a.rows, n = a.cols, step = a.col / (int64_t)sizeof(T);
    int64_t failed = 0;
    for (int64_t j = 0; j < n; ++j) {
        T *own = NAME(column_of)(a, j), *first = NAME(column_of)(a, 0);
        NAME(exchange)(part(a, 0, j, m, 1), pivots, j);
        for (int64_t k = 0; k < j; ++k)
            for (int64_t i = k + 1; i < j; ++i)
                own[i] -= first[k * step + i] * own[k];
        NAME(subtract_columns)(own + j, first + j, step, own, j, m - j);
        const int64_t p = pivots[j] = j + NAME(place_of_largest)(own + j, m - j);
        for (int64_t k = 0; k <= j && p != j; ++k) {
            T *column = NAME(column_of)(a, k);
            const T kept = column[j];
            column[j] = column[p];
            column[p] = kept;
        }
        const T pivot = own[j], inverse = 1 / pivot;
        if (pivot == 0) {
            failed = failed ? failed : j + 1;
            continue;
        }
        if (inverse - inverse == 0)
            for (int64_t i = j + 1; i < m; ++i)
                own[i] *= inverse;
        else
            for (int64_t i = j + 1; i < m; ++i)
                own[i] /= pivot;
    }
    return failed;
}

static int64_t NAME(lu)(work *w, matrix a, int64_t *pivots)
{
    const int64_t m = a.rows, n = a.cols;
    if (n <= PANEL)
        return NAME(panel_lu)(a, pivots);
    const int64_t h = half_of(n, PANEL);
    const matrix left = part(a, 0, 0, m, h), right = part(a, 0, h, m, n - h), last = part(a, h, h, m - h, n - h);
    const int64_t first_failed = NAME(lu)(w, left, pivots);
    if (first_failed < 0)
        return -1;
    NAME(exchange)(right, pivots, h);
    const matrix top = part(a, 0, h, h, n - h);
    if (NAME(triangular)(w, 0, 1, part(a, 0, 0, h, h), top) || NAME(subtract)(w, last, part(a, h, 0, m - h, h), top))
        return -1;
    const int64_t last_failed = NAME(lu)(w, last, pivots + h);
    if (last_failed < 0)
        return -1;
    NAME(exchange)(part(a, h, 0, m - h, h), pivots + h, n - h);
    for (int64_t i = h; i < n; ++i)
        pivots[i] += h;
    return first_failed ? first_failed : last_failed ? last_failed + h : 0;
}

int64_t NAME(th_lu)(th_ctx *ctx, int64_t threads, matrix a, int64_t *pivots)
{
    BEGIN_WORK(w, ctx, threads);
    return NAME(lu)(&w, a, pivots);
}

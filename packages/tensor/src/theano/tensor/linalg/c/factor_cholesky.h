/* Cholesky's factor of a symmetric matrix, of which the lower half is read and written. */

/* Up to BASE rows, columns held as rows of a small table. */
static int64_t NAME(base_cholesky)(matrix a)
{
    T table[BASE * BASE] __attribute__((aligned(64)));
    const int64_t n = a.rows, vectors = (n + LANES - 1) / LANES;
    for (int64_t k = 0; k < n; ++k) {
        for (int64_t i = k / LANES * LANES; i < vectors * LANES; ++i)
            table[k * BASE + i] = i >= k && i < n ? AT(a, i, k) : 0;
    }
    for (int64_t k = 0; k < n; ++k) {
        T *column = table + k * BASE;
        const T d = column[k];
        if (!(d > 0 && d < (T)INFINITY))
            return k + 1;
        const T root = (T)(sizeof(T) == 4 ? sqrtf((float)d) : sqrt((double)d));
        const vec scale = all(1 / root);
        for (int64_t v = k / LANES; v < vectors; ++v)
            store(column + v * LANES, load(column + v * LANES) * scale);
        column[k] = root;
        for (int64_t j = k + 1; j < n; ++j) {
            const vec factor = all(-column[j]);
            T *other = table + j * BASE;
            for (int64_t v = j / LANES; v < vectors; ++v)
                store(other + v * LANES, fused(factor, load(column + v * LANES), load(other + v * LANES)));
        }
    }
    for (int64_t k = 0; k < n; ++k)
        for (int64_t i = k; i < n; ++i)
            AT(a, i, k) = table[k * BASE + i];
    return 0;
}

/* C -= X X'; some of what is above the diagonal is computed too, and not wanted. */
static int NAME(subtract_gram)(work *w, matrix c, matrix x)
{
    const int64_t n = c.rows;
    if (n <= 3 * BASE)
        return NAME(subtract)(w, c, x, turned(x));
    const int64_t h = half_of(n, BASE);
    const matrix top = part(x, 0, 0, h, x.cols), bottom = part(x, h, 0, n - h, x.cols);
    return NAME(subtract_gram)(w, part(c, 0, 0, h, h), top) || NAME(subtract)(w, part(c, h, 0, n - h, h), bottom, turned(top)) ||
                   NAME(subtract_gram)(w, part(c, h, h, n - h, n - h), bottom) ? -1 : 0;
}

static int64_t NAME(cholesky)(work *w, matrix a)
{
    const int64_t n = a.rows;
    if (n <= BASE)
        return NAME(base_cholesky)(a);
    const int64_t h = half_of(n, BASE);
    const matrix first = part(a, 0, 0, h, h), below = part(a, h, 0, n - h, h), last = part(a, h, h, n - h, n - h);
    int64_t failed = NAME(cholesky)(w, first);
    if (failed)
        return failed;
    if (NAME(triangular)(w, 0, 0, first, turned(below)) || NAME(subtract_gram)(w, last, below))
        return -1;
    failed = NAME(cholesky)(w, last);
    return failed > 0 ? failed + h : failed;
}

int64_t NAME(th_cholesky)(th_ctx *ctx, int64_t threads, matrix a)
{
    BEGIN_WORK(w, ctx, threads);
    return NAME(cholesky)(&w, a);
}

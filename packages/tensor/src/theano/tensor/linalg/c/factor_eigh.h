/* Eigenvalues and eigenvectors of small symmetric matrices: reflections to three diagonals, then the QL algorithm with
 * implicit shifts (Parlett, "The Symmetric Eigenvalue Problem", 1980, chapter 8). Vectors are rows, so that every
 * rotation mixes neighbours; what LAPACK gains by other plans it gains on larger matrices. */

/* Sweeps for an eigenvalue, at most: it takes two, more or less. */
#define SWEEPS 60

/* A, of which both halves are there, becomes three diagonals d and e, and vectors of reflections in the rows above the
 * diagonal. `p` is space for two vectors. */
static void NAME(tridiagonal)(matrix a, double *d, double *e, T *scales, T *p)
{
    const int64_t n = a.rows, step = a.row / (int64_t)sizeof(T);
    T *w = p + n;
    for (int64_t k = 0; k < n; ++k) {
        T *row = (T *)(a.data + k * a.row), *v = row + k + 1, *rest = v + step;
        const int64_t m = n - k - 1;
        d[k] = row[k];
        e[k] = 0;
        scales[k] = 0;
        if (m == 0)
            break;
        scales[k] = NAME(reflection)(v, m);
        e[k] = v[0];
        v[0] = 1;
        const T scale = scales[k];
        if (scale == 0)
            continue;
        T along;
        int64_t i = 0;
        for (; i + 4 <= m; i += 4)
            NAME(dots)(p + i, v, rest + i * step, step, 4, m);
        for (; i < m; ++i)
            NAME(dots)(p + i, v, rest + i * step, step, 1, m);
        NAME(dots)(&along, p, v, 0, 1, m);
        along *= -scale * scale / 2;
        for (i = 0; i < m; ++i)
            w[i] = scale * p[i] + along * v[i];
        /* A - v w' - w v' */
        for (i = 0; i < m; ++i) {
            T *to = rest + i * step;
            const vec by_w = all(-v[i]), by_v = all(-w[i]);
            int64_t j = 0;
            for (; j + LANES <= m; j += LANES)
                store(to + j, fused(by_w, load(w + j), fused(by_v, load(v + j), load(to + j))));
            if (j < m)
                store_some(to + j, fused(by_w, load_some(w + j, m - j), fused(by_v, load_some(v + j, m - j), load_some(to + j, m - j))), m - j);
        }
    }
}

/* The product of the reflections, transposed: one vector in each row of z. */
static void NAME(gather_reflections)(matrix a, const T *scales, matrix z)
{
    const int64_t n = a.rows, step = z.row / (int64_t)sizeof(T);
    for (int64_t i = 0; i < n; ++i) {
        memset(z.data + i * z.row, 0, (size_t)n * sizeof(T));
        AT(z, i, i) = 1;
    }
    for (int64_t k = n - 2; k >= 0; --k) {
        const T *v = &AT(a, k, k + 1);
        const int64_t m = n - k - 1;
        T *rows = &AT(z, k + 1, k + 1), factors[4];
        for (int64_t i = 0, done; i < m && scales[k] != 0; i += done) {
            done = m - i >= 4 ? 4 : 1;
            if (done == 4)
                NAME(dots)(factors, v, rows + i * step, step, 4, m);
            else
                NAME(dots)(factors, v, rows + i * step, step, 1, m);
            for (int c = 0; c < done; ++c)
                factors[c] *= -scales[k];
            if (done == 4)
                NAME(add_multiples)(rows + i * step, step, factors, v, 4, m);
            else
                NAME(add_multiples)(rows + i * step, step, factors, v, 1, m);
        }
    }
}

/* Rows i and i + 1 of z turned by cosines[i] and sines[i], for i from `top` - 1 down to `low`: the row that two
 * rotations share stays in registers between them. */
#define ABREAST_ROTATED 4
static void NAME(rotate_rows)(matrix z, const T *cosines, const T *sines, int64_t low, int64_t top)
{
    const int64_t n = z.cols, step = z.row / (int64_t)sizeof(T);
    int64_t c = 0;
    for (; c + ABREAST_ROTATED * LANES <= n; c += ABREAST_ROTATED * LANES) {
        T *row = (T *)(z.data + top * z.row) + c;
        vec kept[ABREAST_ROTATED];
        _Pragma("GCC unroll 4") for (int v = 0; v < ABREAST_ROTATED; ++v)
            kept[v] = load(row + v * LANES);
        for (int64_t i = top - 1; i >= low; --i, row -= step) {
            const vec cosine = all(cosines[i]), sine = all(sines[i]);
            _Pragma("GCC unroll 4") for (int v = 0; v < ABREAST_ROTATED; ++v) {
                const vec above = load(row - step + v * LANES);
                store(row + v * LANES, fused(sine, above, cosine * kept[v]));
                kept[v] = fused(cosine, above, -(sine * kept[v]));
            }
        }
        _Pragma("GCC unroll 4") for (int v = 0; v < ABREAST_ROTATED; ++v)
            store(row + v * LANES, kept[v]);
    }
    for (; c < n; c += LANES) {
        const int64_t rest = n - c < LANES ? n - c : LANES;
        T *row = (T *)(z.data + top * z.row) + c;
        vec kept = load_some(row, rest);
        for (int64_t i = top - 1; i >= low; --i, row -= step) {
            const vec cosine = all(cosines[i]), sine = all(sines[i]), above = load_some(row - step, rest);
            store_some(row, fused(sine, above, cosine * kept), rest);
            kept = fused(cosine, above, -(sine * kept));
        }
        store_some(row, kept, rest);
    }
}

/* The diagonals become eigenvalues, the rows of z eigenvectors. 1 if that does not converge. */
static int NAME(diagonalise)(double *d, double *e, matrix z, T *cosines, T *sines)
{
    const int64_t n = z.rows;
    const double tiny = sizeof(T) == 4 ? 5.9604644775390625e-08 : 1.1102230246251565e-16;
    double least = 0; /* what is far below the rounding of the largest is noise, of which no sweep makes an end */
    for (int64_t i = 0; i < n; ++i)
        least = fabs(d[i]) + fabs(e[i]) > least ? fabs(d[i]) + fabs(e[i]) : least;
    least *= tiny * tiny;
    for (int64_t l = 0; l < n; ++l) {
        for (int sweep = 0;; ++sweep) {
            int64_t m = l;
            while (m < n - 1 && !(fabs(e[m]) <= tiny * (fabs(d[m]) + fabs(d[m + 1])) + least))
                ++m;
            if (m == l)
                break;
            if (sweep == SWEEPS)
                return 1;
            double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1), s = 1, c = 1, p = 0;
            g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
            int64_t i = m - 1;
            for (; i >= l; --i) {
                const double f = s * e[i], b = c * e[i];
                const double square = f * f + g * g;
                r = square > 1e-280 ? sqrt(square) : hypot(f, g);
                e[i + 1] = r;
                if (r == 0) {
                    d[i + 1] -= p;
                    e[m] = 0;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                cosines[i] = (T)c;
                sines[i] = (T)s;
            }
            NAME(rotate_rows)(z, cosines, sines, i + 1, m);
            if (i >= l)
                continue;
            d[l] -= p;
            e[l] = g;
            e[m] = 0;
        }
    }
    return 0;
}

static void NAME(swap_pairs)(double *d, matrix z, int64_t i, int64_t j, T *scratch)
{
    const double kept = d[i];
    char *a = z.data + i * z.row, *b = z.data + j * z.row;
    const size_t bytes = (size_t)z.cols * sizeof(T);
    d[i] = d[j];
    d[j] = kept;
    memcpy(scratch, a, bytes);
    memcpy(a, b, bytes);
    memcpy(b, scratch, bytes);
}

/* The QL algorithm wants what is large at the end: else everything is taken in reverse. */
static void NAME(put_large_last)(double *d, double *e, matrix z, T *scratch)
{
    const int64_t n = z.rows;
    if (fabs(d[0]) <= fabs(d[n - 1]))
        return;
    for (int64_t i = 0; i < n / 2; ++i)
        NAME(swap_pairs)(d, z, i, n - 1 - i, scratch);
    for (int64_t i = 0; i < (n - 1) / 2; ++i) {
        const double kept = e[i];
        e[i] = e[n - 2 - i];
        e[n - 2 - i] = kept;
    }
}

/* In ascending order. */
static void NAME(sort_pairs)(double *d, matrix z, T *scratch)
{
    for (int64_t i = 0; i < z.rows - 1; ++i) {
        int64_t least = i;
        for (int64_t j = i + 1; j < z.rows; ++j)
            least = d[j] < d[least] ? j : least;
        if (least != i)
            NAME(swap_pairs)(d, z, i, least, scratch);
    }
}

int NAME(th_eigh)(th_ctx *ctx, int lower, matrix a, void *values, matrix z)
{
    const int64_t n = a.rows, size = sizeof(T);
    double *d = ctx->rt->scratch(ctx, (size_t)(2 * n * (int64_t)sizeof(double) + 4 * n * size));
    if (d == NULL)
        return -1;
    double *e = d + n, largest = 0;
    T *scales = (T *)(e + n), *scratch = scales + n;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            const T here = lower ? AT(a, i, j) : AT(a, j, i);
            const double magnitude = fabs((double)here);
            AT(a, i, j) = AT(a, j, i) = here;
            largest = magnitude > largest || magnitude != magnitude ? magnitude : largest;
        }
    if (largest - largest != 0)
        return 1;
    /* Squares of elements must neither overflow nor vanish. */
    const double limit = sizeof(T) == 4 ? 1e12 : 1e100;
    const T scale = largest > limit || (largest != 0 && largest < 1 / limit) ? (T)(1 / largest) : 1;
    for (int64_t i = 0; i < n * n && scale != 1; ++i)
        ((T *)a.data)[i] *= scale;
    NAME(tridiagonal)(a, d, e, scales, scratch);
    NAME(gather_reflections)(a, scales, z);
    NAME(put_large_last)(d, e, z, scratch);
    if (NAME(diagonalise)(d, e, z, scratch, scratch + n))
        return 1;
    NAME(sort_pairs)(d, z, scratch);
    for (int64_t i = 0; i < n; ++i)
        ((T *)values)[i] = (T)(d[i] / (double)scale);
    return 0;
}

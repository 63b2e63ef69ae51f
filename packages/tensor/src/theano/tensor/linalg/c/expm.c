/* The exponential of a matrix: Pade approximants with scaling and squaring.
 *
 * Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26, 2005;
 * Al-Mohy and Higham, "A new scaling and squaring algorithm for the matrix exponential", ibid. 31, 2009. Norms of powers
 * that would have to be estimated are bounded by those of the powers that are there.
 *
 * All is computed in double. A complex matrix R + iI becomes the real one of its blocks R, -I, I, R, whose exponential has
 * the same form. */
#include "lapack.h"

typedef struct {
    th_ctx *ctx;
    int64_t threads, n;
    double *a, *a2, *a4, *a6, *u, *v, *w, *sums; /* the matrix and its powers; what the approximant is made of; two rows */
} expm;

static matrix whole(const expm *e, double *data) { return plain_matrix((char *)data, e->n, e->n, sizeof(double)); }

static int multiply(const expm *e, double *to, double *a, double *b)
{
    return th_gemm_f64(e->ctx, e->threads, NULL, whole(e, a), whole(e, b), NULL, whole(e, to), whole(e, to));
}

/* The largest sum of a column's absolute values; NaN if there is one. */
static double norm_of(const expm *e, const double *a)
{
    double most = 0;
    memset(e->sums, 0, (size_t)e->n * sizeof(double));
    for (int64_t i = 0; i < e->n; ++i)
        for (int64_t j = 0; j < e->n; ++j)
            e->sums[j] += fabs(a[i * e->n + j]);
    for (int64_t j = 0; j < e->n; ++j)
        most = e->sums[j] > most || e->sums[j] != e->sums[j] ? e->sums[j] : most;
    return most;
}

/* An approximant of degree m: how large the matrix may be, what its first neglected term is divided by, and its
 * coefficients. */
typedef struct {
    int m;
    double theta, divisor;
    double b[14];
} approximant;

static const approximant degrees[] = {
    {3, 1.495585217958292e-2, 100800., {120, 60, 12, 1}},
    {5, 2.539398330063230e-1, 10059033600., {30240, 15120, 3360, 420, 30, 1}},
    {7, 9.504178996162932e-1, 4487938430976000., {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}},
    {9, 2.097847961257068, 5914384781877411840000.,
     {17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}},
    {13, 4.25, 113250775606021113483283660800000000.,
     {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
      670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}},
};

/* How often the matrix must be halved besides, for the neglected terms to vanish in rounding: the sum of a column of the
 * power 2m + 1 of the absolute values tells. */
static double further_halvings(const expm *e, const approximant *by, double norm, double scale)
{
    const int64_t n = e->n;
    double *x = e->sums, *y = e->sums + n, most = 0;
    if (norm == 0)
        return 0;
    for (int64_t j = 0; j < n; ++j)
        x[j] = 1;
    /* Each step is divided by the norm, so that nothing overflows. */
    for (int step = 0; step < 2 * by->m + 1; ++step) {
        memset(y, 0, (size_t)n * sizeof(double));
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j)
                y[j] += fabs(e->a[i * n + j]) * x[i];
        for (int64_t j = 0; j < n; ++j)
            x[j] = y[j] / norm;
    }
    for (int64_t j = 0; j < n; ++j)
        most = x[j] > most ? x[j] : most;
    if (most == 0)
        return 0;
    const double terms = log2(most) + 2 * by->m * log2(norm * scale) - log2(by->divisor) + 53;
    const double halvings = ceil(terms / (2 * by->m));
    return halvings > 0 ? halvings : 0;
}

/* to = c8 A8 + c6 A6 + c4 A4 + c2 A2 + c0; powers with the factor 0 are not read. `a8` may be `to`. */
static void combine(const expm *e, double *to, const double *a8, double c8, double c6, double c4, double c2, double c0)
{
    const int64_t n = e->n;
    for (int64_t i = 0; i < n * n; ++i) {
        double sum = c2 * e->a2[i];
        sum += c4 != 0 ? c4 * e->a4[i] : 0;
        sum += c6 != 0 ? c6 * e->a6[i] : 0;
        to[i] = sum + (c8 != 0 ? c8 * a8[i] : 0);
    }
    for (int64_t i = 0; i < n && c0 != 0; ++i)
        to[i * (n + 1)] += c0;
}

static void add(const expm *e, double *to, const double *x)
{
    for (int64_t i = 0; i < e->n * e->n; ++i)
        to[i] += x[i];
}

/* u and v: the odd and the even part of the approximant's numerator. */
static int parts(const expm *e, const approximant *by)
{
    const double *b = by->b;
    if (by->m == 13) {
        combine(e, e->w, NULL, 0, b[13], b[11], b[9], 0);
        if (multiply(e, e->v, e->a6, e->w))
            return -1;
        combine(e, e->w, NULL, 0, b[7], b[5], b[3], b[1]);
        add(e, e->w, e->v);
        if (multiply(e, e->u, e->a, e->w))
            return -1;
        combine(e, e->w, NULL, 0, b[12], b[10], b[8], 0);
        if (multiply(e, e->v, e->a6, e->w))
            return -1;
        combine(e, e->w, NULL, 0, b[6], b[4], b[2], b[0]);
        add(e, e->v, e->w);
        return 0;
    }
    /* (coefficients beyond the degree are 0) */
    if (by->m == 9 && multiply(e, e->v, e->a4, e->a4))
        return -1;
    combine(e, e->w, e->v, b[9], b[7], b[5], b[3], b[1]);
    combine(e, e->v, e->v, b[8], b[6], b[4], b[2], b[0]);
    return multiply(e, e->u, e->a, e->w);
}

/* (v - u)^-1 (v + u), in u. */
static int quotient(const expm *e)
{
    const int64_t n = e->n;
    int64_t *pivots = e->ctx->rt->scratch(e->ctx, (size_t)n * sizeof(int64_t));
    if (pivots == NULL)
        return -1;
    for (int64_t i = 0; i < n * n; ++i) {
        const double u = e->u[i], v = e->v[i];
        e->w[i] = v - u;
        e->u[i] = v + u;
    }
    /* Elimination is given the transposed matrix, whose columns' elements are neighbours: see lapack.c. */
    const matrix m = whole(e, e->w), turned = {m.data, n, n, m.col, m.row};
    const int64_t failed = th_lu_f64(e->ctx, e->threads, turned, pivots);
    if (failed > 0)
        return TH_FAIL(e->ctx, TH_ERR_LINALG, "the exponential was not found: is there NaN or infinity in the matrix?");
    if (failed < 0 || th_triangular_f64(e->ctx, e->threads, 0, 0, m, whole(e, e->u)) ||
        th_triangular_f64(e->ctx, e->threads, 1, 1, m, whole(e, e->u)))
        return -1;
    th_exchange_back((char *)e->u, pivots, n, n * (int64_t)sizeof(double));
    return 0;
}

static void scale(const expm *e, double *x, double by)
{
    for (int64_t i = 0; i < e->n * e->n; ++i)
        x[i] *= by;
}

static double root(double x, double degree) { return pow(x, 1 / degree); }
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* Which approximant, and how often the matrix is halved; powers are made as far as they are needed. NULL: an error, or
 * with `halvings` -1 a matrix that is too large to be squared. */
static const approximant *choose(const expm *e, double *halvings)
{
    const double norm = norm_of(e, e->a);
    *halvings = 0;
    if (multiply(e, e->a2, e->a, e->a))
        return NULL;
    const double n2 = norm_of(e, e->a2);
    if (!(norm < 1e300 && n2 < 1e300)) {
        *halvings = -1;
        return NULL;
    }
    if (sqrt(n2) <= degrees[0].theta && further_halvings(e, degrees, norm, 1) == 0)
        return degrees;
    if (multiply(e, e->a4, e->a2, e->a2))
        return NULL;
    const double n4 = norm_of(e, e->a4), d4 = root(n4, 4);
    if (larger(d4, root(n2, 6) * root(n4, 6)) <= degrees[1].theta && further_halvings(e, degrees + 1, norm, 1) == 0)
        return degrees + 1;
    if (multiply(e, e->a6, e->a4, e->a2))
        return NULL;
    const double n6 = norm_of(e, e->a6), d8 = smaller(d4, root(n2, 8) * root(n6, 8)), d10 = root(n4, 10) * root(n6, 10);
    const double eta = larger(root(n6, 6), d8);
    for (int i = 2; i < 4; ++i)
        if (eta <= degrees[i].theta && further_halvings(e, degrees + i, norm, 1) == 0)
            return degrees + i;
    if (!(n4 < 1e300 && n6 < 1e300)) {
        *halvings = -1;
        return NULL;
    }
    const double least = smaller(eta, larger(d8, d10)), count = least > 0 ? ceil(log2(least / degrees[4].theta)) : 0;
    *halvings = count > 0 ? count : 0;
    *halvings += further_halvings(e, degrees + 4, norm, exp2(-*halvings));
    return degrees + 4;
}

/* The exponential of e->a, whose place is returned; NULL with the error set, or nothing where it has none. */
static double *exponential(expm *e, int *too_large)
{
    double halvings;
    const approximant *by = choose(e, &halvings);
    *too_large = by == NULL && halvings < 0;
    if (by == NULL)
        return NULL;
    if (halvings > 0) {
        scale(e, e->a, exp2(-halvings));
        scale(e, e->a2, exp2(-2 * halvings));
        scale(e, e->a4, exp2(-4 * halvings));
        scale(e, e->a6, exp2(-6 * halvings));
    }
    if (parts(e, by) || quotient(e))
        return NULL;
    double *found = e->u, *other = e->v;
    for (; halvings > 0; --halvings) {
        if (multiply(e, other, found, found))
            return NULL;
        double *kept = found;
        found = other;
        other = kept;
    }
    return found;
}

/* A square matrix as doubles in C order: an element, or a block of 2 x 2, for each of its elements. */
static void load_matrix(double *to, const th_buffer *a)
{
    const int64_t n = a->shape[0], wide = is_complex(a->dtype) ? 2 * n : n, half = a->itemsize / 2;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
            const char *at = a->data + i * a->strides[0] + j * a->strides[1];
            double parts[2];
            for (int k = 0; k <= is_complex(a->dtype); ++k)
                if (is_single(a->dtype)) {
                    float x;
                    memcpy(&x, at + k * half, sizeof x);
                    parts[k] = x;
                } else {
                    memcpy(parts + k, at + k * half, sizeof(double));
                }
            to[i * wide + j] = parts[0];
            if (wide > n) {
                to[(i + n) * wide + j + n] = parts[0];
                to[(i + n) * wide + j] = parts[1];
                to[i * wide + j + n] = -parts[1];
            }
        }
}

static void store_matrix(const th_buffer *out, const double *from)
{
    const int64_t n = out->shape[0], parts = is_complex(out->dtype) ? 2 : 1, wide = parts * n;
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t k = 0; k < parts; ++k) {
                const double x = from == NULL ? (double)NAN : from[(i + k * n) * wide + j];
                if (is_single(out->dtype))
                    ((float *)out->data)[(i * n + j) * parts + k] = (float)x;
                else
                    ((double *)out->data)[(i * n + j) * parts + k] = x;
            }
}

/* input: a square matrix of any layout. */
TH_EXPORT int th_kernel_expm(th_ctx *ctx)
{
    const th_buffer *a = ctx->in[0];
    th_buffer *out = ctx->out[0];
    if (th_square(ctx, a) || ctx->rt->ensure(ctx, out, a->shape))
        return -1;
    const int64_t n = a->shape[0] * (is_complex(a->dtype) ? 2 : 1), size = (n * n + 7) / 8 * 8;
    if (n == 0)
        return 0;
    double *scratch = ctx->rt->scratch(ctx, (size_t)(7 * size + 2 * n) * sizeof(double));
    if (scratch == NULL)
        return -1;
    expm e = {ctx, ((const th_expm_params *)ctx->params)->threads, n,
              scratch, scratch + size, scratch + 2 * size, scratch + 3 * size, scratch + 4 * size, scratch + 5 * size, scratch + 6 * size, scratch + 7 * size};
    int too_large = 0;
    load_matrix(e.a, a);
    if (n == 1) {
        e.a[0] = exp(e.a[0]);
        store_matrix(out, e.a);
        return 0;
    }
    const double *found = exponential(&e, &too_large);
    if (found == NULL && !too_large)
        return -1;
    store_matrix(out, found);
    return 0;
}

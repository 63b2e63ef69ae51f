/* The exponential of a matrix, on any processor: Pade approximants with scaling and squaring.
 *
 * Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26, 2005;
 * Al-Mohy and Higham, "A new scaling and squaring algorithm for the matrix exponential", ibid. 31, 2009. Norms of powers
 * that would have to be estimated are bounded by those of the powers that are there.
 *
 * All is computed in double. Who includes this (theano.gpuarray does, too) says what `struct expm` is, and defines the steps that
 * follow: each returns 0, or -1 with the error set. */
#ifndef THEANO_TENSOR_EXPM_H
#define THEANO_TENSOR_EXPM_H

#include <math.h>
#include <stdint.h>

typedef struct expm expm;

/* The matrix and its powers, and what the approximant is made of: square matrices of one size. */
enum { EXPM_A, EXPM_A2, EXPM_A4, EXPM_A6, EXPM_U, EXPM_V, EXPM_W, EXPM_MATRICES };

static int multiply(const expm *e, int to, int a, int b);
/* to = factors[0] A + factors[1] A2 + ... + ones I; what has the factor 0 is not read. */
static int combine(const expm *e, int to, const double *factors, double ones);
/* The largest sum of a column of the power `count` of the absolute values of matrix `a`, NaN if there is one. Each step is divided
 * by `by`, so that nothing overflows. */
static int power_norm(const expm *e, int a, int count, double by, double *norm);
/* The solution X of W X = U in place of U. */
static int solve_w(const expm *e);

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
static int further_halvings(const expm *e, const approximant *by, double norm, double scale, double *halvings)
{
    double most = 0;
    *halvings = 0;
    if (norm == 0)
        return 0;
    if (power_norm(e, EXPM_A, 2 * by->m + 1, norm, &most))
        return -1;
    if (most == 0)
        return 0;
    const double terms = log2(most) + 2 * by->m * log2(norm * scale) - log2(by->divisor) + 53;
    *halvings = fmax(0, ceil(terms / (2 * by->m)));
    return 0;
}

/* to = c8 V + c6 A6 + c4 A4 + c2 A2 + c0, where V may be the power 8. */
static int even_powers(const expm *e, int to, double c8, double c6, double c4, double c2, double c0)
{
    const double factors[EXPM_MATRICES] = {[EXPM_A2] = c2, [EXPM_A4] = c4, [EXPM_A6] = c6, [EXPM_V] = c8};
    return combine(e, to, factors, c0);
}

/* U and V: the odd and the even part of the approximant's numerator. */
static int parts(const expm *e, const approximant *by)
{
    const double *b = by->b;
    if (by->m == 13)
        return even_powers(e, EXPM_W, 0, b[13], b[11], b[9], 0) || multiply(e, EXPM_V, EXPM_A6, EXPM_W) ||
               even_powers(e, EXPM_W, 1, b[7], b[5], b[3], b[1]) || multiply(e, EXPM_U, EXPM_A, EXPM_W) ||
               even_powers(e, EXPM_W, 0, b[12], b[10], b[8], 0) || multiply(e, EXPM_V, EXPM_A6, EXPM_W) ||
               even_powers(e, EXPM_V, 1, b[6], b[4], b[2], b[0]) ? -1 : 0;
    /* (coefficients beyond the degree are 0) */
    return (by->m == 9 && multiply(e, EXPM_V, EXPM_A4, EXPM_A4)) || even_powers(e, EXPM_W, b[9], b[7], b[5], b[3], b[1]) ||
           even_powers(e, EXPM_V, b[8], b[6], b[4], b[2], b[0]) || multiply(e, EXPM_U, EXPM_A, EXPM_W) ? -1 : 0;
}

/* (V - U)^-1 (V + U), in U. */
static int quotient(const expm *e)
{
    const double difference[EXPM_MATRICES] = {[EXPM_U] = -1, [EXPM_V] = 1}, sum[EXPM_MATRICES] = {[EXPM_U] = 1, [EXPM_V] = 1};
    return combine(e, EXPM_W, difference, 0) || combine(e, EXPM_U, sum, 0) || solve_w(e) ? -1 : 0;
}

static double root(double x, double degree) { return pow(x, 1 / degree); }

/* Whether an approximant does, of which `size` is known, without halving. */
static int suffices(const expm *e, const approximant *by, double size, double norm, int *does)
{
    double halvings = 0;
    *does = size <= by->theta;
    if (*does && further_halvings(e, by, norm, 1, &halvings))
        return -1;
    *does &= halvings == 0;
    return 0;
}

/* Which approximant, and how often the matrix is halved; powers are made as far as they are needed. 1: the matrix is too large to
 * be squared. */
static int choose(const expm *e, const approximant **by, double *halvings)
{
    double norm, n2, n4, n6, more;
    int does;
    *halvings = 0;
    if (power_norm(e, EXPM_A, 1, 1, &norm) || multiply(e, EXPM_A2, EXPM_A, EXPM_A) || power_norm(e, EXPM_A2, 1, 1, &n2))
        return -1;
    if (!(norm < 1e300 && n2 < 1e300))
        return 1;
    *by = degrees;
    if (suffices(e, *by, sqrt(n2), norm, &does))
        return -1;
    if (does)
        return 0;
    if (multiply(e, EXPM_A4, EXPM_A2, EXPM_A2) || power_norm(e, EXPM_A4, 1, 1, &n4))
        return -1;
    const double d4 = root(n4, 4);
    *by = degrees + 1;
    if (suffices(e, *by, fmax(d4, root(n2, 6) * root(n4, 6)), norm, &does))
        return -1;
    if (does)
        return 0;
    if (multiply(e, EXPM_A6, EXPM_A4, EXPM_A2) || power_norm(e, EXPM_A6, 1, 1, &n6))
        return -1;
    const double d8 = fmin(d4, root(n2, 8) * root(n6, 8)), d10 = root(n4, 10) * root(n6, 10), eta = fmax(root(n6, 6), d8);
    for (*by = degrees + 2; *by < degrees + 4; ++*by) {
        if (suffices(e, *by, eta, norm, &does))
            return -1;
        if (does)
            return 0;
    }
    if (!(n4 < 1e300 && n6 < 1e300))
        return 1;
    const double least = fmin(eta, fmax(d8, d10)), count = least > 0 ? fmax(0, ceil(log2(least / (*by)->theta))) : 0;
    *halvings = count;
    if (further_halvings(e, *by, norm, exp2(-count), &more))
        return -1;
    *halvings += more;
    return 0;
}

/* The exponential of matrix A; `found` becomes the number of the one that has it. 1: A is too large, or has what is no number. */
static int exponential(const expm *e, int *found)
{
    const int powers[] = {[EXPM_A] = 1, [EXPM_A2] = 2, [EXPM_A4] = 4, [EXPM_A6] = 6};
    const approximant *by;
    double halvings;
    const int status = choose(e, &by, &halvings);
    if (status)
        return status;
    for (int k = EXPM_A; halvings > 0 && k <= EXPM_A6; ++k) {
        double factors[EXPM_MATRICES] = {0};
        factors[k] = exp2(-powers[k] * halvings);
        if (combine(e, k, factors, 0))
            return -1;
    }
    if (parts(e, by) || quotient(e))
        return -1;
    *found = EXPM_U;
    for (; halvings > 0; --halvings) {
        const int other = *found == EXPM_U ? EXPM_V : EXPM_U;
        if (multiply(e, other, *found, *found))
            return -1;
        *found = other;
    }
    return 0;
}

#endif

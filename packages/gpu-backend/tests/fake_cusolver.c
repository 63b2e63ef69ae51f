/* cuSOLVER on the CPU, with the driver that tests have in CUDA's place: LAPACK does its work, whose functions tests name.
 *
 * What the documentation of cuSOLVER asks for is asked for: matrices by columns, at least as far apart as they are long, and
 * working memory of exactly the sizes that were told before, all of which is written to.
 */
#include "fake_cublas.c"

enum { POTRF, GETRF, GETRS, GEQRF, ORMQR, SYEVD, GESVD, FUNCTIONS };
static void *lapack[2][FUNCTIONS]; /* of float32, of float64 */
EXPORT int64_t fake_solved[FUNCTIONS];
EXPORT int fake_refuses; /* what all functions answer */
static void *params_of_handle = &params_of_handle, *solver_stream;

EXPORT void fake_lapack(int wide, int which, void *function) { lapack[wide][which] = function; }
EXPORT int cusolverDnCreate(void **handle) { *handle = &lapack; return 0; }
EXPORT int cusolverDnSetStream(void *handle, void *stream) { solver_stream = stream; return handle != &lapack; }
EXPORT int cusolverDnCreateParams(void **params) { *params = &params_of_handle; return 0; }

typedef void general(void *, ...);
static general *of(int type, int which) { ++fake_solved[which]; return (general *)lapack[type][which]; }

/* Sizes that nobody guesses. */
static int sizes(int64_t n, int64_t m, size_t *device, size_t *host)
{
    *device = (size_t)(n * m * 8 + 72);
    *host = (size_t)(n + 5);
    return fake_refuses;
}
static int wrong(void *handle, void *params, int64_t n, int64_t m, void *device, size_t bytes, void *host, size_t host_bytes)
{
    size_t right, right_of_host;
    sizes(n, m, &right, &right_of_host);
    if (handle != &lapack || params != &params_of_handle || bytes != right || host_bytes != right_of_host || solver_stream == NULL)
        return 3;
    memset(device, 0xA5, bytes);
    memset(host, 0xA5, host_bytes);
    return fake_refuses;
}
static int apart(int64_t ld, int64_t rows) { return ld >= (rows > 1 ? rows : 1); }

EXPORT int cusolverDnXpotrf_bufferSize(void *h, void *p, int uplo, int64_t n, int ta, const void *a, int64_t lda, int tc, size_t *d, size_t *o)
{
    (void)h, (void)p, (void)uplo, (void)ta, (void)a, (void)lda, (void)tc;
    return sizes(n, 1, d, o);
}
EXPORT int cusolverDnXpotrf(void *h, void *p, int uplo, int64_t n, int ta, void *a, int64_t lda, int tc, void *d, size_t db, void *o, size_t ob, int *info)
{
    IN_MEMORY
    const int status = wrong(h, p, n, 1, d, db, o, ob);
    int rows = (int)n, ld = (int)lda;
    if (status || ta != tc || !apart(lda, n))
        return status ? status : 3;
    of(ta, POTRF)(uplo ? "U" : "L", &rows, a, &ld, info);
    return 0;
}

EXPORT int cusolverDnXgetrf_bufferSize(void *h, void *p, int64_t m, int64_t n, int ta, const void *a, int64_t lda, int tc, size_t *d, size_t *o)
{
    (void)h, (void)p, (void)ta, (void)a, (void)lda, (void)tc;
    return sizes(n, m, d, o);
}
EXPORT int cusolverDnXgetrf(void *h, void *p, int64_t m, int64_t n, int ta, void *a, int64_t lda, int64_t *exchanged, int tc, void *d, size_t db, void *o, size_t ob, int *info)
{
    IN_MEMORY
    const int status = wrong(h, p, n, m, d, db, o, ob);
    int rows = (int)m, columns = (int)n, ld = (int)lda, *places = malloc((size_t)(n + 1) * sizeof *places);
    if (status == 0 && ta == tc && apart(lda, m)) {
        of(ta, GETRF)(&rows, &columns, a, &ld, places, info);
        for (int64_t k = 0; k < n; ++k)
            exchanged[k] = places[k];
    }
    free(places);
    return status ? status : ta == tc && apart(lda, m) ? 0 : 3;
}
EXPORT int cusolverDnXgetrs(void *h, void *p, int trans, int64_t n, int64_t count, int ta, const void *a, int64_t lda, const int64_t *exchanged, int tb, void *b, int64_t ldb, int *info)
{
    IN_MEMORY
    int rows = (int)n, columns = (int)count, la = (int)lda, lb = (int)ldb;
    if (h != &lapack || p != &params_of_handle || ta != tb || !apart(lda, n) || !apart(ldb, n) || fake_refuses)
        return fake_refuses ? fake_refuses : 3;
    int *places = malloc((size_t)(n + 1) * sizeof *places);
    for (int64_t k = 0; k < n; ++k)
        places[k] = (int)exchanged[k];
    of(ta, GETRS)(trans ? "T" : "N", &rows, &columns, (void *)a, &la, places, b, &lb, info);
    free(places);
    return 0;
}

EXPORT int cusolverDnXgeqrf_bufferSize(void *h, void *p, int64_t m, int64_t n, int ta, const void *a, int64_t lda, int tt, const void *tau, int tc, size_t *d, size_t *o)
{
    (void)h, (void)p, (void)ta, (void)a, (void)lda, (void)tt, (void)tau, (void)tc;
    return sizes(n, m, d, o);
}
EXPORT int cusolverDnXgeqrf(void *h, void *p, int64_t m, int64_t n, int ta, void *a, int64_t lda, int tt, void *tau, int tc, void *d, size_t db, void *o, size_t ob, int *info)
{
    IN_MEMORY
    const int status = wrong(h, p, n, m, d, db, o, ob);
    int rows = (int)m, columns = (int)n, ld = (int)lda, room = 64 * (columns + 1);
    if (status || ta != tc || ta != tt || !apart(lda, m))
        return status ? status : 3;
    void *work = malloc((size_t)room * 8);
    of(ta, GEQRF)(&rows, &columns, a, &ld, tau, work, &room, info);
    free(work);
    return 0;
}

static int reflect(int type, void *h, int side, int trans, int m, int n, int k, const void *a, int lda, const void *tau, void *c, int ldc, void *given, int numbers, int *info)
{
    IN_MEMORY
    int room = 64 * (n + m);
    if (h != &lapack || side || trans || k > m || !apart(lda, m) || !apart(ldc, m) || numbers != n + 7 || fake_refuses)
        return fake_refuses ? fake_refuses : 3;
    memset(given, 0xA5, (size_t)numbers * (type ? 8 : 4));
    void *work = malloc((size_t)room * 8);
    of(type, ORMQR)("L", "N", &m, &n, &k, (void *)a, &lda, (void *)tau, c, &ldc, work, &room, info);
    free(work);
    return 0;
}
#define ORMQR_OF(letter, type, wide)                                                                                              \
    EXPORT int cusolverDn##letter##ormqr_bufferSize(void *h, int side, int trans, int m, int n, int k, const type *a, int lda,    \
                                                    const type *tau, const type *c, int ldc, int *numbers)                        \
    {                                                                                                                             \
        (void)h, (void)side, (void)trans, (void)m, (void)k, (void)a, (void)lda, (void)tau, (void)c, (void)ldc;                    \
        return *numbers = n + 7, fake_refuses;                                                                                    \
    }                                                                                                                             \
    EXPORT int cusolverDn##letter##ormqr(void *h, int side, int trans, int m, int n, int k, const type *a, int lda, const type *tau, \
                                         type *c, int ldc, type *work, int numbers, int *info)                                    \
    {                                                                                                                             \
        return reflect(wide, h, side, trans, m, n, k, a, lda, tau, c, ldc, work, numbers, info);                                  \
    }
ORMQR_OF(S, float, 0)
ORMQR_OF(D, double, 1)

EXPORT int cusolverDnXsyevd_bufferSize(void *h, void *p, int job, int uplo, int64_t n, int ta, const void *a, int64_t lda, int tw, const void *w, int tc, size_t *d, size_t *o)
{
    (void)h, (void)p, (void)job, (void)uplo, (void)ta, (void)a, (void)lda, (void)tw, (void)w, (void)tc;
    return sizes(n, 2, d, o);
}
EXPORT int cusolverDnXsyevd(void *h, void *p, int job, int uplo, int64_t n, int ta, void *a, int64_t lda, int tw, void *w, int tc, void *d, size_t db, void *o, size_t ob, int *info)
{
    IN_MEMORY
    const int status = wrong(h, p, n, 2, d, db, o, ob);
    int rows = (int)n, ld = (int)lda, room = 1 + 6 * rows + 2 * rows * rows, whole = 3 + 5 * rows;
    if (status || ta != tc || ta != tw || !apart(lda, n))
        return status ? status : 3;
    void *work = malloc((size_t)room * 8), *numbers = malloc((size_t)whole * 4);
    of(ta, SYEVD)(job ? "V" : "N", uplo ? "U" : "L", &rows, a, &ld, w, work, &room, numbers, &whole, info);
    free(work);
    free(numbers);
    return 0;
}

EXPORT int cusolverDnXgesvd_bufferSize(void *h, void *p, signed char ju, signed char jv, int64_t m, int64_t n, int ta, const void *a, int64_t lda, int ts, const void *s, int tu, const void *u, int64_t ldu, int tv, const void *v, int64_t ldv, int tc, size_t *d, size_t *o)
{
    (void)h, (void)p, (void)ju, (void)jv, (void)ta, (void)a, (void)lda, (void)ts, (void)s, (void)tu, (void)u, (void)ldu, (void)tv, (void)v, (void)ldv, (void)tc;
    return sizes(n, m, d, o);
}
EXPORT int cusolverDnXgesvd(void *h, void *p, signed char ju, signed char jv, int64_t m, int64_t n, int ta, void *a, int64_t lda, int ts, void *s, int tu, void *u, int64_t ldu, int tv, void *v, int64_t ldv, int tc, void *d, size_t db, void *o, size_t ob, int *info)
{
    IN_MEMORY
    const int status = wrong(h, p, n, m, d, db, o, ob);
    const char left[2] = {(char)ju, 0}, right[2] = {(char)jv, 0};
    int rows = (int)m, columns = (int)n, la = (int)lda, lu = (int)ldu, lv = (int)ldv, room = 64 * (rows + columns);
    if (status || m < n || ta != tc || ta != ts || ta != tu || ta != tv || !apart(lda, m) || !apart(ldu, m) || !apart(ldv, n))
        return status ? status : 3; /* it has no words for wide matrices */
    void *work = malloc((size_t)room * 8);
    of(ta, GESVD)(left, right, &rows, &columns, a, &la, s, u, &lu, v, &lv, work, &room, info);
    free(work);
    return 0;
}

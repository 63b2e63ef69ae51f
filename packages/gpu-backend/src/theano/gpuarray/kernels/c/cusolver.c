/* Factors of matrices by cuSOLVER, where Python has found it (`libraries.py`).
 *
 * cuSOLVER has matrices by columns, as LAPACK does, at any distance of columns. One by rows is its transpose: of a symmetric matrix
 * the other triangle is meant then, and equations are solved by the factors of the transpose. What it does is asked for at
 * once, not put off: most functions need memory of the host's, and are waited for.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "cusolver.h"

enum { R_32F = 0, R_64F = 1, LOWER = 0, LEFT = 0, OP_N = 0, OP_T = 1 };
enum { NO_ROOM = -2 }; /* beside what cuSOLVER says: the error is set */

struct th_gpu_cusolver {
    void *handle, *params;
    pthread_mutex_t lock; /* a handle is for one thread at a time */
#define X(name, takes) int(*name) takes;
    TH_CUSOLVER_FUNCTIONS(X)
#undef X
};

/* One call: what it works in, and where it says how it went. */
typedef struct call {
    job *j;
    struct th_gpu_cusolver *cs;
    int type;
    size_t device_bytes, host_bytes;
    void *device, *host;
    int *info;
} call;

int th_cusolver_is_there(const job *j) { return j->gpu->cusolver && (j->dtype == TH_FLOAT32 || j->dtype == TH_FLOAT64); }

/* The distance of columns, in elements, of a matrix by columns; 0: it is none. */
static int64_t leading(const job *j, matrix a)
{
    const int64_t rows = a.rows > 1 ? a.rows : 1;
    if (a.rows > 1 && a.row != j->size)
        return 0;
    if (a.columns <= 1)
        return rows;
    return a.column % j->size == 0 && a.column / j->size >= rows ? a.column / j->size : 0;
}

static int failed(job *j, const char *what, int status)
{
    th_gpu_complain(j->gpu, what, status);
    return th_gpu_failed(j->ctx, j->gpu);
}

/* The handle for this thread, after all that was asked for. -1: the error is set, and nothing is locked. */
static int begin(call *c, job *j)
{
    *c = (call){.j = j, .cs = j->gpu->cusolver, .type = j->dtype == TH_FLOAT64 ? R_64F : R_32F};
    if ((c->info = (int *)th_take(j, 8)) == NULL)
        return -1;
    if (th_gpu_submit(j->gpu) || j->gpu->driver->enter(j->gpu) == NULL)
        return th_gpu_failed(j->ctx, j->gpu);
    pthread_mutex_lock(&c->cs->lock);
    return 0;
}

static int take_workspace(call *c)
{
    job *j = c->j;
    c->device = th_take(j, (int64_t)c->device_bytes);
    c->host = c->host_bytes ? j->ctx->rt->scratch(j->ctx, c->host_bytes) : NULL;
    return c->device == NULL || (c->host_bytes && c->host == NULL) ? NO_ROOM : 0;
}

/* The end of a call that has asked for something, or failed: what it works in may be used again. */
static int end(call *c, const char *what, int status)
{
    __atomic_add_fetch(&c->j->gpu->counts.launches, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&c->cs->lock);
    if (status == NO_ROOM)
        return -1;
    if (status == 0 && c->host_bytes && c->j->gpu->driver->wait(c->j->gpu)) /* memory of the host's ends with the kernel */
        status = -1;
    return status ? failed(c->j, what, status) : 1;
}

/* What it said: 0, or a number that has a meaning. -1: the error is set. */
static int info_of(call *c)
{
    int info = 0;
    return th_to_host(c->j, &info, (const char *)c->info, sizeof info) ? -1 : info;
}

/* The lower triangle is always that of a matrix by columns: of the upper one cuSOLVER does not say that NaN is no factor. */
int th_cusolver_cholesky(job *j, matrix a)
{
    call c;
    matrix work = a;
    const int lies_otherwise = leading(j, a) == 0;
    if (!th_cusolver_is_there(j))
        return 0;
    if (lies_otherwise && (th_take_matrix(j, &work, a.rows, a.rows, 1) || th_copied(j, work, a)))
        return -1;
    if (begin(&c, j))
        return -1;
    struct th_gpu_cusolver *cs = c.cs;
    const int64_t ld = leading(j, work);
    int status = cs->cusolverDnXpotrf_bufferSize(cs->handle, cs->params, LOWER, a.rows, c.type, work.data, ld, c.type,
                                                 &c.device_bytes, &c.host_bytes);
    if (status == 0 && (status = take_workspace(&c)) == 0) /* the order of the minor that is not positive goes to the table */
        status = cs->cusolverDnXpotrf(cs->handle, cs->params, LOWER, a.rows, c.type, work.data, ld, c.type, c.device, c.device_bytes,
                                      c.host, c.host_bytes, (int *)j->table);
    if (end(&c, "cusolverDnXpotrf", status) < 0 || (lies_otherwise && th_copied(j, a, work)))
        return -1;
    return 1;
}

/* Factors by elimination, with the rows that were exchanged; the first pivot that is 0 goes to the table. */
static int eliminate(job *j, matrix a, int64_t ld, int64_t *exchanged)
{
    call c;
    if (begin(&c, j))
        return -1;
    struct th_gpu_cusolver *cs = c.cs;
    int status = cs->cusolverDnXgetrf_bufferSize(cs->handle, cs->params, a.rows, a.rows, c.type, a.data, ld, c.type, &c.device_bytes,
                                                 &c.host_bytes);
    if (status == 0 && (status = take_workspace(&c)) == 0)
        status = cs->cusolverDnXgetrf(cs->handle, cs->params, a.rows, a.rows, c.type, a.data, ld, exchanged, c.type, c.device,
                                      c.device_bytes, c.host, c.host_bytes, (int *)j->table);
    return end(&c, "cusolverDnXgetrf", status) < 0 ? -1 : 0;
}

int th_cusolver_solve(job *j, matrix a, matrix x)
{
    call c;
    matrix right = x;
    int64_t ld = leading(j, a);
    const int turned = ld ? OP_N : OP_T;
    ld = ld ? ld : leading(j, th_turned(a));
    if (!th_cusolver_is_there(j) || ld == 0)
        return 0;
    int64_t *exchanged = (int64_t *)th_take(j, a.rows * (int64_t)sizeof *exchanged);
    if (exchanged == NULL || eliminate(j, a, ld, exchanged))
        return -1;
    const int lies_otherwise = leading(j, x) == 0;
    if (lies_otherwise && (th_take_matrix(j, &right, x.rows, x.columns, 1) || th_copied(j, right, x)))
        return -1;
    if (begin(&c, j))
        return -1;
    const int status = c.cs->cusolverDnXgetrs(c.cs->handle, c.cs->params, turned, a.rows, x.columns, c.type, a.data, ld, exchanged,
                                              c.type, right.data, leading(j, right), c.info);
    if (end(&c, "cusolverDnXgetrs", status) < 0 || (lies_otherwise && th_copied(j, x, right)))
        return -1;
    return 1;
}

int th_cusolver_reflections(job *j, matrix a, char *factors)
{
    call c;
    const int64_t ld = leading(j, a);
    if (!th_cusolver_is_there(j) || ld == 0)
        return 0;
    if (begin(&c, j))
        return -1;
    struct th_gpu_cusolver *cs = c.cs;
    int status = cs->cusolverDnXgeqrf_bufferSize(cs->handle, cs->params, a.rows, a.columns, c.type, a.data, ld, c.type, factors,
                                                 c.type, &c.device_bytes, &c.host_bytes);
    if (status == 0 && (status = take_workspace(&c)) == 0)
        status = cs->cusolverDnXgeqrf(cs->handle, cs->params, a.rows, a.columns, c.type, a.data, ld, c.type, factors, c.type, c.device,
                                      c.device_bytes, c.host, c.host_bytes, c.info);
    return end(&c, "cusolverDnXgeqrf", status);
}

int th_cusolver_reflect(job *j, matrix q, char *factors, matrix to)
{
    call c;
    int numbers = 0;
    const int64_t count = q.rows < q.columns ? q.rows : q.columns, ldq = leading(j, q), ldc = leading(j, to);
    if (!th_cusolver_is_there(j) || ldq == 0 || ldc == 0 || ldq > INT_MAX || ldc > INT_MAX || to.columns > INT_MAX)
        return 0;
    if (begin(&c, j))
        return -1;
    const int m = (int)to.rows, n = (int)to.columns, k = (int)count, a = (int)ldq, b = (int)ldc;
    struct th_gpu_cusolver *cs = c.cs;
    void *factor = factors, *from = q.data, *target = to.data;
    int status = j->size == 8 ? cs->cusolverDnDormqr_bufferSize(cs->handle, LEFT, OP_N, m, n, k, from, a, factor, target, b, &numbers)
                              : cs->cusolverDnSormqr_bufferSize(cs->handle, LEFT, OP_N, m, n, k, from, a, factor, target, b, &numbers);
    c.device_bytes = (size_t)numbers * (size_t)j->size;
    if (status == 0 && (status = take_workspace(&c)) == 0)
        status = j->size == 8
                     ? cs->cusolverDnDormqr(cs->handle, LEFT, OP_N, m, n, k, from, a, factor, target, b, c.device, numbers, c.info)
                     : cs->cusolverDnSormqr(cs->handle, LEFT, OP_N, m, n, k, from, a, factor, target, b, c.device, numbers, c.info);
    return end(&c, "cusolverDnDormqr", status);
}

/* 1, or -1 with the error set, of an iteration that has ended. */
static int converged(call *c, const char *otherwise)
{
    th_ctx *ctx = c->j->ctx;
    const int info = info_of(c);
    return info < 0 ? -1 : info > 0 ? ctx->rt->fail(ctx, TH_ERR_LINALG, otherwise) : 1;
}

int th_cusolver_symmetric(job *j, matrix a, char *values, int vectors)
{
    call c;
    const int64_t ld = leading(j, a);
    if (!th_cusolver_is_there(j) || ld == 0)
        return 0;
    if (begin(&c, j))
        return -1;
    struct th_gpu_cusolver *cs = c.cs;
    int status = cs->cusolverDnXsyevd_bufferSize(cs->handle, cs->params, vectors, LOWER, a.rows, c.type, a.data, ld, c.type, values,
                                                 c.type, &c.device_bytes, &c.host_bytes);
    if (status == 0 && (status = take_workspace(&c)) == 0)
        status = cs->cusolverDnXsyevd(cs->handle, cs->params, vectors, LOWER, a.rows, c.type, a.data, ld, c.type, values, c.type,
                                      c.device, c.device_bytes, c.host, c.host_bytes, c.info);
    if (end(&c, "cusolverDnXsyevd", status) < 0)
        return -1;
    return converged(&c, "Eigenvalues did not converge");
}

int th_cusolver_svd(job *j, matrix a, char *values, const matrix *u, const matrix *vt)
{
    call c;
    const int64_t ld = leading(j, a), ldu = u ? leading(j, *u) : a.rows, ldv = vt ? leading(j, *vt) : a.columns;
    const signed char left = u == NULL ? 'N' : u->columns == a.rows ? 'A' : 'S', right = vt == NULL ? 'N' : 'A';
    if (!th_cusolver_is_there(j) || ld == 0 || ldu == 0 || ldv == 0)
        return 0;
    if (begin(&c, j))
        return -1;
    struct th_gpu_cusolver *cs = c.cs;
    void *first = u ? u->data : NULL, *second = vt ? vt->data : NULL;
    int status = cs->cusolverDnXgesvd_bufferSize(cs->handle, cs->params, left, right, a.rows, a.columns, c.type, a.data, ld, c.type,
                                                 values, c.type, first, ldu, c.type, second, ldv, c.type, &c.device_bytes, &c.host_bytes);
    if (status == 0 && (status = take_workspace(&c)) == 0)
        status = cs->cusolverDnXgesvd(cs->handle, cs->params, left, right, a.rows, a.columns, c.type, a.data, ld, c.type, values, c.type,
                                      first, ldu, c.type, second, ldv, c.type, c.device, c.device_bytes, c.host, c.host_bytes, c.info);
    if (end(&c, "cusolverDnXgesvd", status) < 0)
        return -1;
    return converged(&c, "SVD did not converge");
}

/* Let a device of CUDA factorise by cuSOLVER, a library that was opened. 0; what cuSOLVER said; or -1: it lacks a function. */
TH_EXPORT int th_gpu_use_cusolver(th_gpu *gpu, void *library)
{
    struct th_gpu_cusolver *made = calloc(1, sizeof *made);
    void *stream = gpu->driver->enter ? gpu->driver->enter(gpu) : NULL;
    int status = made == NULL || stream == NULL ? -1 : 0;
#define X(name, takes)                                                                      \
    if (status == 0 && (*(void **)&made->name = dlsym(library, #name)) == NULL)             \
        status = -1;
    TH_CUSOLVER_FUNCTIONS(X)
#undef X
    if (status == 0)
        status = made->cusolverDnCreate(&made->handle);
    if (status == 0)
        status = made->cusolverDnSetStream(made->handle, stream);
    if (status == 0)
        status = made->cusolverDnCreateParams(&made->params);
    if (status) {
        free(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    gpu->cusolver = made;
    return 0;
}

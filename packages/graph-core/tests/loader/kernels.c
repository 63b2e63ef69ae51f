/* Tiny kernels for the tests of the machine, compiled directly against abi.h. */
#include "abi.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char theano_unit_key[] = "test-kernels";

static char *at(const th_buffer *b, int64_t flat) {
    char *p = b->data;
    for (int d = b->ndim - 1; d >= 0; --d) {
        p += flat % b->shape[d] * b->strides[d];
        flat /= b->shape[d];
    }
    return p;
}
static int64_t size(const th_buffer *b) {
    int64_t n = 1;
    for (int d = 0; d < b->ndim; ++d) n *= b->shape[d];
    return n;
}
#define D(b, i) (*(double *)at(b, i))

/* y = x + params[0] */
int add_const(th_ctx *c) {
    double k = *(const double *)c->params;
    if (c->rt->ensure(c, c->out[0], c->in[0]->shape)) return -1;
    for (int64_t i = 0, n = size(c->in[0]); i < n; ++i) D(c->out[0], i) = D(c->in[0], i) + k;
    return 0;
}
int add(th_ctx *c) {
    th_buffer *a = c->in[0], *b = c->in[1];
    for (int d = 0; d < a->ndim; ++d)
        if (a->shape[d] != b->shape[d]) return c->rt->fail(c, TH_ERR_SHAPE, "dimension %d: %d and %d", d, (int)a->shape[d], (int)b->shape[d]);
    if (c->rt->ensure(c, c->out[0], a->shape)) return -1;
    for (int64_t i = 0, n = size(a); i < n; ++i) D(c->out[0], i) = D(a, i) + D(b, i);
    return 0;
}
/* in place: x += params[0] */
int add_inplace(th_ctx *c) {
    th_buffer *x = c->in[0];
    if (c->rt->view(c, c->out[0], x, x->data, x->ndim, x->shape, x->strides)) return -1;
    for (int64_t i = 0, n = size(x); i < n; ++i) D(c->out[0], i) += *(const double *)c->params;
    return 0;
}
/* y = x[::-1], one dimension */
int reverse_view(th_ctx *c) {
    th_buffer *x = c->in[0];
    int64_t stride = -x->strides[0];
    return c->rt->view(c, c->out[0], x, x->data + (x->shape[0] - 1) * x->strides[0], 1, x->shape, &stride);
}
/* 0-d to 1-d of length 1 */
int expand_view(th_ctx *c) {
    int64_t shape = 1, stride = 0;
    return c->rt->view(c, c->out[0], c->in[0], c->in[0]->data, 1, &shape, &stride);
}
int always_fails(th_ctx *c) { return c->rt->fail(c, *(const int32_t *)c->params, "it failed on purpose: %d%%", 100); }
int always_fails_shape(th_ctx *c) { return c->rt->fail(c, TH_ERR_SHAPE, "it does not fit"); }
int says_nothing(th_ctx *c) { (void)c; return -1; }
int bad_shape(th_ctx *c) {
    int64_t shape[1] = {*(const int64_t *)c->params};
    return c->rt->ensure(c, c->out[0], shape);
}
/* lazy: in[0] ? in[1] : in[2]; also counts in params how often it ran */
int choose(th_ctx *c) {
    if (!c->in[0]->data) { c->need = 0; return 1; }
    int k = *(double *)c->in[0]->data != 0 ? 1 : 2;
    th_buffer *x = c->in[k];
    if (!x->data) { c->need = k; return 1; }
    return c->rt->view(c, c->out[0], x, x->data, x->ndim, x->shape, x->strides);
}
int asks_for_nothing(th_ctx *c) { c->need = 0; return 1; }
/* busy for params[0] ns */
int busy(th_ctx *c) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do clock_gettime(CLOCK_MONOTONIC, &b);
    while ((b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec) < *(const int64_t *)c->params);
    return add_const(c);
}
/* ensure twice, with scratch in between */
int scratchy(th_ctx *c) {
    int64_t n = size(c->in[0]), more = n + 3;
    if (c->rt->ensure(c, c->out[0], &more)) return -1;
    double *a = c->rt->scratch(c, (size_t)n * 8), *b = c->rt->scratch(c, (size_t)n * 8 + 100000);
    if (!a || !b || ((size_t)a & 63) || ((size_t)b & 63)) return -1;
    for (int64_t i = 0; i < n; ++i) a[i] = D(c->in[0], i);
    memcpy(b, a, (size_t)n * 8);
    if (c->rt->ensure(c, c->out[0], c->in[0]->shape)) return -1;
    for (int64_t i = 0; i < n; ++i) D(c->out[0], i) = a[i] + b[i];
    return 0;
}
/* in place: x += y, through scratch memory that it asks for after its output */
int add_scratchy(th_ctx *c) {
    th_buffer *x = c->in[0], *y = c->in[1];
    int64_t n = size(x);
    if (c->rt->view(c, c->out[0], x, x->data, x->ndim, x->shape, x->strides)) return -1;
    double *a = c->rt->scratch(c, (size_t)n * 8 + 1), *b = c->rt->scratch(c, 50000);
    if (!a || !b) return -1;
    for (int64_t i = 0; i < n; ++i) a[i] = D(y, i);
    memset(b, 0, 50000);
    for (int64_t i = 0; i < n; ++i) D(c->out[0], i) += a[i] + b[i];
    return 0;
}
struct job { const double *x; double *y; th_ctx *c; };
static void square_part(void *arg, int64_t lo, int64_t hi) {
    struct job *j = arg;
    for (int64_t i = lo; i < hi; ++i) j->y[i] += j->x[i] * j->x[i];
}
/* y = x * x on the pool, contiguous x; params[0] is the grain */
int square(th_ctx *c) {
    if (c->rt->ensure(c, c->out[0], c->in[0]->shape)) return -1;
    int64_t n = size(c->in[0]);
    memset(c->out[0]->data, 0, (size_t)n * 8);
    struct job j = {(const double *)c->in[0]->data, (double *)c->out[0]->data, c};
    return c->rt->parallel_for(c, n, *(const int64_t *)c->params, square_part, &j);
}
static void measure_part(void *arg, int64_t lo, int64_t hi) {
    struct job *j = arg;
    for (int64_t i = lo; i < hi; ++i) j->y[i] = (double)(hi - lo);
}
/* y[i] is the length of the part that index i was computed in */
int part_lengths(th_ctx *c) {
    if (c->rt->ensure(c, c->out[0], c->in[0]->shape)) return -1;
    struct job j = {0, (double *)c->out[0]->data, c};
    return c->rt->parallel_for(c, size(c->in[0]), 1, measure_part, &j);
}
static void fail_part(void *arg, int64_t lo, int64_t hi) {
    struct job *j = arg;
    j->c->rt->fail(j->c, TH_ERR_INDEX, "part %d to %d", (int)lo, (int)hi);
}
int square_fails(th_ctx *c) {
    if (c->rt->ensure(c, c->out[0], c->in[0]->shape)) return -1;
    struct job j = {0, 0, c};
    return c->rt->parallel_for(c, size(c->in[0]), 1, fail_part, &j);
}
/* whether ctx->out[0] memory, as a float64 0-d, is 64-byte aligned */
int add_scalar(th_ctx *c) {
    if (c->rt->ensure(c, c->out[0], c->in[0]->shape)) return -1;
    *(double *)c->out[0]->data = *(double *)c->in[0]->data + *(double *)c->in[1]->data;
    return 0;
}

/* A device whose addresses are those of the host with one bit turned, so that nobody else can use them. */
static char *turned(const char *p) { return (char *)((uintptr_t)p ^ ((uintptr_t)1 << 52)); }
int64_t device_bytes = 0;
static char *device_allocate(const th_device *d, size_t bytes) {
    (void)d;
    char *p = malloc(bytes);
    if (!p) return NULL;
    device_bytes += (int64_t)bytes;
    return turned(p);
}
static void device_release(const th_device *d, char *p, size_t bytes) {
    (void)d;
    device_bytes -= (int64_t)bytes;
    free(turned(p));
}
static int device_copy(const th_device *d, char *to, const char *from, size_t bytes, int32_t direction) {
    (void)d;
    if (bytes == 24) return -1; /* three doubles: it has to fail once */
    if (direction == TH_TO_DEVICE) memcpy(turned(to), from, bytes);
    else memcpy(to, turned(from), bytes);
    return 0;
}
/* Of vectors. */
static int device_gather(const th_device *d, const th_buffer *to, const th_buffer *from, int axis, const int64_t *offsets) {
    (void)d;
    if (from->ndim != 1 || axis != -1 || offsets) return -1;
    for (int64_t k = 0; k < from->shape[0]; ++k)
        memcpy(turned(to->data) + k * to->strides[0], turned(from->data) + k * from->strides[0], (size_t)from->itemsize);
    return 0;
}

static int64_t device_direct = 0; /* copies from another device */
static int device_copy_from(const th_device *d, char *to, const th_device *other, const char *from, size_t bytes) {
    if (d == other) return 1; /* by way of the host: that is tried as well */
    if (bytes == 40) return -1; /* five doubles: it has to fail once */
    memcpy(turned(to), turned(from), bytes);
    ++device_direct;
    return 0;
}
static const char *device_error(const th_device *d) {
    (void)d;
    return "it was to fail";
}
int64_t direct_copies(void) { return device_direct; }

/* Calls that began and that ended; the next ending fails if that is asked for. */
static int64_t device_calls[3];
static void device_begin(const th_device *d) { (void)d; device_calls[0]++; }
static int device_finish(const th_device *d) {
    (void)d;
    device_calls[1]++;
    if (!device_calls[2]) return 0;
    device_calls[2] = 0;
    return -1;
}
int64_t *calls_of_device(void) { return device_calls; }

const th_device device = {device_allocate, device_release, device_copy, device_gather, NULL, device_copy_from, device_error, device_begin, device_finish};
const th_device other_device = {device_allocate, device_release, device_copy, device_gather, NULL, device_copy_from, device_error, NULL, NULL};
const th_device silent_device = {device_allocate, device_release, device_copy, device_gather, NULL, NULL, NULL, NULL, NULL};
int transfer(th_ctx *c) { return c->rt->transfer(c, c->out[0], c->in[0]); }

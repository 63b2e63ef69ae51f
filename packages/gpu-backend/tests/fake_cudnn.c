/* cuDNN's convolutions and pooling on the CPU, with the driver that tests have in CUDA's place, as its documentation has them. */
#include <stddef.h>

#include "fake_cuda.c"

#define EXPORT __attribute__((visibility("default")))

enum { AXES = 5, ALGORITHM = 6, WORKSPACE = 1000 };
EXPORT int64_t fake_convolved[3]; /* outputs, gradients of images, of filters */
EXPORT int64_t fake_pooled[2];    /* windows, gradients */
EXPORT int fake_refuses, fake_finds = 4, fake_math; /* what calls answer; how many algorithms there are; that of the last call */

typedef struct tensor {
    int type, ndim, length[AXES], step[AXES];
} tensor;
typedef struct convolution {
    int ndim, padding[3], step[3], dilation[3], mode, compute, groups, math;
} convolution;
typedef struct algorithm {
    int number, status;
    float time;
    size_t bytes;
    int is_deterministic, math, reserved[3];
} algorithm;

static void *dnn_stream;
EXPORT int cudnnCreate(void **handle) { *handle = &fake_convolved; return 0; }
EXPORT int cudnnSetStream(void *handle, void *stream) { dnn_stream = stream; return handle != &fake_convolved; }
EXPORT int cudnnCreateTensorDescriptor(void **d) { return (*d = calloc(1, sizeof(tensor))) == NULL; }
EXPORT int cudnnCreateFilterDescriptor(void **d) { return (*d = calloc(1, sizeof(tensor))) == NULL; }
EXPORT int cudnnCreateConvolutionDescriptor(void **d) { return (*d = calloc(1, sizeof(convolution))) == NULL; }

EXPORT int cudnnSetTensorNdDescriptor(void *to, int type, int ndim, const int *length, const int *step)
{
    tensor *t = to;
    *t = (tensor){.type = type, .ndim = ndim};
    if (ndim < 4 || ndim > AXES)
        return 3;
    for (int d = 0; d < ndim; ++d) {
        if (length[d] < 1 || step[d] < 1)
            return 3;
        t->length[d] = length[d];
        t->step[d] = step[d];
    }
    return 0;
}
EXPORT int cudnnSetFilterNdDescriptor(void *to, int type, int format, int ndim, const int *length)
{
    int step[AXES], whole = 1;
    for (int d = ndim - 1; d >= 0; whole *= length[d], --d)
        step[d] = whole;
    return format ? 3 : cudnnSetTensorNdDescriptor(to, type, ndim, length, step);
}
EXPORT int cudnnSetConvolutionNdDescriptor(void *to, int ndim, const int *padding, const int *step, const int *dilation, int mode, int compute)
{
    convolution *c = to;
    *c = (convolution){.ndim = ndim, .mode = mode, .compute = compute, .groups = 1};
    for (int d = 0; d < ndim; ++d) {
        c->padding[d] = padding[d];
        c->step[d] = step[d];
        c->dilation[d] = dilation[d];
        if (padding[d] < 0 || step[d] < 1 || dilation[d] < 1)
            return 3;
    }
    return 0;
}
EXPORT int cudnnSetConvolutionGroupCount(void *to, int groups) { ((convolution *)to)->groups = groups; return groups < 1; }
EXPORT int cudnnSetConvolutionMathType(void *to, int math) { ((convolution *)to)->math = math; return 0; }

/* Do the lengths belong together? */
static int agree(const tensor *x, const tensor *w, const convolution *c, const tensor *y)
{
    int good = x->type == w->type && w->type == y->type && x->ndim == w->ndim && w->ndim == y->ndim && c->ndim == x->ndim - 2 &&
               c->compute == (x->type == 1) && x->length[0] == y->length[0] && x->length[1] == w->length[1] * c->groups &&
               y->length[1] == w->length[0] && w->length[0] % c->groups == 0;
    for (int d = 0; good && d < c->ndim; ++d) {
        const int covered = (w->length[2 + d] - 1) * c->dilation[d] + 1;
        good = y->length[2 + d] == 1 + (x->length[2 + d] + 2 * c->padding[d] - covered) / c->step[d];
    }
    return good;
}

/* The first ones will not do: one that cannot, one that differs each time, and one that wants too much memory. */
static int found(const convolution *c, int asked, int *count, algorithm *to)
{
    for (*count = 0; *count < asked && *count < fake_finds; ++*count)
        to[*count] = (algorithm){*count, 0, 1.0f, 64, 1, c->math, {0}};
    if (*count > 0)
        to[0].status = 9;
    if (*count > 1)
        to[1].is_deterministic = 0;
    if (*count > 2)
        to[2].bytes = (size_t)1 << 40;
    if (*count > 3)
        to[3].bytes = WORKSPACE, to[3].number = ALGORITHM;
    return fake_refuses;
}
EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(void *h, void *x, void *w, void *c, void *y, int asked, int *count, algorithm *to)
{
    return h == &fake_convolved && agree(x, w, c, y) ? found(c, asked, count, to) : 3;
}
EXPORT int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *h, void *w, void *y, void *c, void *x, int asked, int *count, algorithm *to)
{
    return cudnnGetConvolutionForwardAlgorithm_v7(h, x, w, c, y, asked, count, to);
}
EXPORT int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *h, void *x, void *y, void *c, void *w, int asked, int *count, algorithm *to)
{
    return cudnnGetConvolutionForwardAlgorithm_v7(h, x, w, c, y, asked, count, to);
}

static double load(const char *p, int type, int64_t k)
{
    return type == 1 ? ((const double *)p)[k] : type == 2 ? (double)((const _Float16 *)p)[k] : (double)((const float *)p)[k];
}
static void store(char *p, int type, int64_t k, double x)
{
    if (type == 1)
        ((double *)p)[k] = x;
    else if (type == 2)
        ((_Float16 *)p)[k] = (_Float16)x;
    else
        ((float *)p)[k] = (float)x;
}

typedef struct product {
    tensor x, w, y;
    convolution c;
    char *image, *kernel, *output;
    int which;
} product;

/* The next index; 0: there is none. */
static int next(int *i, const int *length, int ndim)
{
    for (int d = ndim - 1; d >= 0; --d) {
        if (++i[d] < length[d])
            return 1;
        i[d] = 0;
    }
    return 0;
}
static int64_t at(const tensor *t, const int *i)
{
    int64_t k = 0;
    for (int d = 0; d < t->ndim; ++d)
        k += (int64_t)i[d] * t->step[d];
    return k;
}

static void convolve(const void *told)
{
    const product *p = told;
    const tensor *target = p->which == 0 ? &p->y : p->which == 1 ? &p->x : &p->w;
    char *to = p->which == 0 ? p->output : p->which == 1 ? p->image : p->kernel;
    int i[AXES] = {0}, j[AXES] = {0}, x[AXES], t[AXES] = {0};
    int64_t last = 0;
    for (int d = 0; d < target->ndim; ++d)
        last += (int64_t)(target->length[d] - 1) * target->step[d];
    double *sums = calloc((size_t)last + 1, sizeof *sums);
    do { /* i: a place of the output; j: an element of a filter */
        const int group = i[1] / (p->y.length[1] / p->c.groups);
        memset(j, 0, sizeof j);
        j[0] = i[1];
        do {
            int inside = j[0] == i[1];
            x[0] = i[0];
            x[1] = group * p->w.length[1] + j[1];
            for (int d = 0; d < p->c.ndim && inside; ++d) {
                const int k = p->c.mode ? j[2 + d] : p->w.length[2 + d] - 1 - j[2 + d];
                x[2 + d] = i[2 + d] * p->c.step[d] + k * p->c.dilation[d] - p->c.padding[d];
                inside = x[2 + d] >= 0 && x[2 + d] < p->x.length[2 + d];
            }
            if (!inside)
                continue;
            const double a = p->which == 1 ? 1 : load(p->image, p->x.type, at(&p->x, x));
            const double b = p->which == 2 ? 1 : load(p->kernel, p->x.type, at(&p->w, j));
            const double c = p->which == 0 ? 1 : load(p->output, p->x.type, at(&p->y, i));
            sums[p->which == 0 ? at(&p->y, i) : p->which == 1 ? at(&p->x, x) : at(&p->w, j)] += a * b * c;
        } while (next(j, p->w.length, p->w.ndim) && j[0] <= i[1]);
    } while (next(i, p->y.length, p->y.ndim));
    do
        store(to, p->x.type, at(target, t), sums[at(target, t)]);
    while (next(t, target->length, target->ndim));
    free(sums);
}

static int called(int which, void *h, const void *alpha, const void *beta, const tensor *x, const void *image, const tensor *w,
                  const void *kernel, const convolution *c, const tensor *y, const void *output, int number, void *work, size_t bytes)
{
    const double one = x->type == 1 ? *(const double *)alpha : *(const float *)alpha, none = x->type == 1 ? *(const double *)beta : *(const float *)beta;
    const product p = {*x, *w, *y, *c, (char *)image, (char *)kernel, (char *)output, which};
    if (h != &fake_convolved || !agree(x, w, c, y) || one != 1 || none != 0 || number != ALGORITHM || bytes != WORKSPACE || work == NULL ||
        dnn_stream == NULL || fake_refuses)
        return fake_refuses ? fake_refuses : 3;
    IN_MEMORY
    memset(work, 0xA5, bytes);
    fake_convolved[which]++;
    fake_math = c->math;
    fake_do(dnn_stream, convolve, &p, sizeof p);
    return 0;
}
EXPORT int cudnnConvolutionForward(void *h, const void *alpha, void *x, const void *image, void *w, const void *kernel, void *c, int number,
                                   void *work, size_t bytes, const void *beta, void *y, void *output)
{
    return called(0, h, alpha, beta, x, image, w, kernel, c, y, output, number, work, bytes);
}
EXPORT int cudnnConvolutionBackwardData(void *h, const void *alpha, void *w, const void *kernel, void *y, const void *output, void *c,
                                        int number, void *work, size_t bytes, const void *beta, void *x, void *image)
{
    return called(1, h, alpha, beta, x, image, w, kernel, c, y, output, number, work, bytes);
}
EXPORT int cudnnConvolutionBackwardFilter(void *h, const void *alpha, void *x, const void *image, void *y, const void *output, void *c,
                                          int number, void *work, size_t bytes, const void *beta, void *w, void *kernel)
{
    return called(2, h, alpha, beta, x, image, w, kernel, c, y, output, number, work, bytes);
}

/* -- pooling --------------------------------------------------------------------------------------------------------- */

typedef struct pooling {
    int mode, nan, ndim, size[3], padding[3], step[3];
} pooling;

EXPORT int cudnnCreatePoolingDescriptor(void **d) { return (*d = calloc(1, sizeof(pooling))) == NULL; }
EXPORT int cudnnSetPoolingNdDescriptor(void *to, int mode, int nan, int ndim, const int *size, const int *padding, const int *step)
{
    pooling *p = to;
    *p = (pooling){.mode = mode, .nan = nan, .ndim = ndim};
    if (ndim < 2 || ndim > 3 || (mode != 1 && mode != 2))
        return 3;
    for (int d = 0; d < ndim; ++d) {
        p->size[d] = size[d];
        p->padding[d] = padding[d];
        p->step[d] = step[d];
        if (size[d] < 1 || padding[d] < 0 || padding[d] >= size[d] || step[d] < 1)
            return 3;
    }
    return 0;
}

/* Do the lengths belong together, and are elements neighbours? */
static int pools(const tensor *x, const pooling *p, const tensor *y)
{
    int good = x->type == y->type && x->ndim == y->ndim && p->ndim == x->ndim - 2 && x->length[0] == y->length[0] &&
               x->length[1] == y->length[1] && x->step[x->ndim - 1] == 1 && y->step[y->ndim - 1] == 1;
    for (int d = 0; good && d < p->ndim; ++d)
        good = y->length[2 + d] == 1 + (x->length[2 + d] + 2 * p->padding[d] - p->size[d]) / p->step[d];
    return good;
}

typedef struct windows {
    tensor x, y;
    pooling p;
    char *image, *pooled;
} windows;

/* Where place `j` of window `i` is among the images, or -1: in the padding. */
static int64_t inside(const windows *w, const int *i, const int *j)
{
    int x[AXES] = {i[0], i[1]};
    for (int d = 0; d < w->p.ndim; ++d) {
        x[2 + d] = i[2 + d] * w->p.step[d] - w->p.padding[d] + j[d];
        if (x[2 + d] < 0 || x[2 + d] >= w->x.length[2 + d])
            return -1;
    }
    return at(&w->x, x);
}

/* By how much a mean over a window is divided. */
static int shares(const windows *w, const int *i)
{
    int j[AXES] = {0}, count = 0;
    do
        count += w->p.mode == 1 || inside(w, i, j) >= 0;
    while (next(j, w->p.size, w->p.ndim));
    return count;
}

static void pool(const void *told)
{
    const windows *w = told;
    int i[AXES] = {0};
    do {
        int j[AXES] = {0};
        double sum = 0;
        do {
            const int64_t k = inside(w, i, j);
            sum += k < 0 ? 0 : load(w->image, w->x.type, k);
        } while (next(j, w->p.size, w->p.ndim));
        store(w->pooled, w->y.type, at(&w->y, i), sum / shares(w, i));
    } while (next(i, w->y.length, w->y.ndim));
}

/* The gradient of means. */
static void spread(const void *told)
{
    const windows *w = told;
    int i[AXES] = {0}, x[AXES] = {0};
    int64_t last = 0;
    for (int d = 0; d < w->x.ndim; ++d)
        last += (int64_t)(w->x.length[d] - 1) * w->x.step[d];
    double *sums = calloc((size_t)last + 1, sizeof *sums);
    do {
        const double each = load(w->pooled, w->y.type, at(&w->y, i)) / shares(w, i);
        int j[AXES] = {0};
        do {
            const int64_t k = inside(w, i, j);
            if (k >= 0)
                sums[k] += each;
        } while (next(j, w->p.size, w->p.ndim));
    } while (next(i, w->y.length, w->y.ndim));
    do
        store(w->image, w->x.type, at(&w->x, x), sums[at(&w->x, x)]);
    while (next(x, w->x.length, w->x.ndim));
    free(sums);
}

static int pooling_called(int which, void *h, const pooling *p, const void *alpha, const void *beta, const tensor *x, const void *image,
                          const tensor *y, const void *pooled)
{
    const double one = x->type == 1 ? *(const double *)alpha : *(const float *)alpha, none = x->type == 1 ? *(const double *)beta : *(const float *)beta;
    const windows w = {*x, *y, *p, (char *)image, (char *)pooled};
    if (h != &fake_convolved || !pools(x, p, y) || one != 1 || none != 0 || image == NULL || pooled == NULL || dnn_stream == NULL || fake_refuses)
        return fake_refuses ? fake_refuses : 3;
    fake_pooled[which]++;
    fake_do(dnn_stream, which ? spread : pool, &w, sizeof w);
    return 0;
}
EXPORT int cudnnPoolingForward(void *h, void *p, const void *alpha, void *x, const void *image, const void *beta, void *y, void *pooled)
{
    return pooling_called(0, h, p, alpha, beta, x, image, y, pooled);
}
/* That of largest elements is not here, since nobody may ask for it: who of several gets the gradient is not documented. */
EXPORT int cudnnPoolingBackward(void *h, void *p, const void *alpha, void *y, const void *pooled, void *dy, const void *pooled_gradient,
                                void *x, const void *image, const void *beta, void *dx, void *image_gradient)
{
    const int mode = ((const pooling *)p)->mode;
    if ((mode != 1 && mode != 2) || memcmp(y, dy, sizeof(tensor)) || memcmp(x, dx, sizeof(tensor)) || pooled == NULL || image == NULL)
        return 3;
    return pooling_called(1, h, p, alpha, beta, dx, image_gradient, dy, pooled_gradient);
}

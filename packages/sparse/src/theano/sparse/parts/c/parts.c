/* The parts of matrices: checked, in the other format, and read at the places of another matrix or of a dense one. */
#include "sparse.h"

static int refused(th_ctx *ctx, int found, const th_lines *x)
{
    static const char *const problems[] = {
        "", "indptr must have one entry more than there are lines", "indptr must begin with 0", "indptr must not decrease",
        "indptr ends behind the stored numbers", "an index lies outside the lines", "data and indices must be equally long"};
    return TH_FAIL(ctx, TH_ERR_VALUE, "no sparse matrix of %lld lines of %lld places: %s.", (long long)x->m,
                   (long long)x->n, problems[-found]);
}

/* inputs and outputs: indices, indptr, shape, data. */
TH_EXPORT int th_kernel_checked_parts(th_ctx *ctx)
{
    const th_compressed_params *how = ctx->params;
    th_lines x;
    if (ctx->in[2]->shape[0] != 2)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the shape of a matrix is two lengths, not %lld", (long long)ctx->in[2]->shape[0]);
    if (th_lines_of(ctx, &x, -1, 0, how->columns))
        return -1;
    const int found = th_examine(x.indices, x.indptr, 0, x.stored, ctx->in[1]->shape[0], ctx->in[3]->shape[0], x.m, x.n);
    if (found < 0)
        return refused(ctx, found, &x);
    const int64_t end = x.indptr[x.m];
    for (int i = 0; i < 4; ++i) {
        const th_buffer *in = ctx->in[i];
        const int64_t n = i == 0 || i == 3 ? end : in->shape[0];
        if (ctx->rt->view(ctx, ctx->out[i], in, in->data, 1, &n, in->strides))
            return -1;
    }
    return 0;
}

/* Elements of SIZE bytes, one for each of n places. */
#define PICK(BYTES, TYPE) \
    case BYTES: \
        for (int64_t k = 0; k < n; ++k) \
            ((TYPE *)to)[k] = ((const TYPE *)data)[from[k]]; \
        break;
typedef struct {
    uint64_t a, b;
} pair;
static void pick(int64_t n, int64_t size, char *to, const char *data, const int32_t *from)
{
    switch (size) {
        PICK(1, uint8_t)
        PICK(2, uint16_t)
        PICK(4, uint32_t)
        PICK(8, uint64_t)
        PICK(16, pair)
    }
}

/* inputs: data, indices, indptr, shape; outputs: data, indices, indptr. */
TH_EXPORT int th_kernel_recompressed(th_ctx *ctx)
{
    const th_compressed_params *how = ctx->params;
    th_lines x;
    if (th_lines_of(ctx, &x, 0, 1, how->columns))
        return -1;
    const int64_t lines = x.n + 1;
    for (int i = 0; i < 3; ++i)
        if (ctx->rt->ensure(ctx, ctx->out[i], i < 2 ? &x.stored : &lines))
            return -1;
    int32_t *from = ctx->rt->scratch(ctx, (size_t)(x.stored + 1) * sizeof *from);
    if (!from)
        return -1;
    th_turn(&x, (int32_t *)ctx->out[2]->data, (int32_t *)ctx->out[1]->data, from);
    pick(x.stored, ctx->out[0]->itemsize, ctx->out[0]->data, x.data, from);
    return 0;
}

/* -- the elements of a dense matrix, and back ------------------------------------------------------------------------ */

typedef struct {
    const th_lines *at;
    char *dense, *data;
    int64_t along, across, itemsize; /* bytes from a place of a line to the next, and from a line to the next */
    int32_t dtype;
} elements;

#define READ(BYTES, TYPE) \
    case BYTES: \
        for (int64_t i = lo; i < hi; ++i) { \
            const char *line = e->dense + i * e->across; \
            for (int32_t k = indptr[i]; k < indptr[i + 1]; ++k) \
                ((TYPE *)e->data)[k] = *(const TYPE *)(line + indices[k] * e->along); \
        } \
        break;
static void read_lines(void *arg, int64_t lo, int64_t hi)
{
    const elements *e = arg;
    const int32_t *indices = e->at->indices, *indptr = e->at->indptr;
    switch (e->itemsize) {
        READ(1, uint8_t)
        READ(2, uint16_t)
        READ(4, uint32_t)
        READ(8, uint64_t)
        READ(16, pair)
    }
}

/* inputs: indices, indptr, shape, dense. */
TH_EXPORT int th_kernel_elements_at(th_ctx *ctx)
{
    const th_stretched_params *how = ctx->params;
    const th_buffer *dense = ctx->in[3];
    th_lines at;
    if (th_lines_of(ctx, &at, -1, 0, how->columns))
        return -1;
    const int64_t rows = how->columns ? at.n : at.m, columns = how->columns ? at.m : at.n;
    if ((dense->shape[0] != rows && !how->one_row) || (dense->shape[1] != columns && !how->one_column))
        return TH_FAIL(ctx, TH_ERR_SHAPE, "a dense matrix of shape (%lld, %lld) meets a sparse one of shape (%lld, %lld)",
                       (long long)dense->shape[0], (long long)dense->shape[1], (long long)rows, (long long)columns);
    if (ctx->rt->ensure(ctx, ctx->out[0], &at.stored))
        return -1;
    const int64_t row = how->one_row ? 0 : dense->strides[0], column = how->one_column ? 0 : dense->strides[1];
    elements e = {.at = &at, .dense = dense->data, .data = ctx->out[0]->data, .itemsize = dense->itemsize,
                  .along = how->columns ? row : column, .across = how->columns ? column : row};
    return th_over_lines(ctx, &at, 1.5, read_lines, &e);
}

#define WRITE(CODE, TYPE) \
    case CODE: \
        for (int64_t i = lo; i < hi; ++i) { \
            char *line = e->dense + i * e->across; \
            for (int32_t k = indptr[i]; k < indptr[i + 1]; ++k) \
                *(TYPE *)(line + indices[k] * e->along) += ((const TYPE *)e->data)[k]; \
        } \
        break;
static void write_lines(void *arg, int64_t lo, int64_t hi)
{
    const elements *e = arg;
    const int32_t *indices = e->at->indices, *indptr = e->at->indptr;
    switch (e->dtype) {
        WRITE(TH_INT8, uint8_t)
        WRITE(TH_UINT8, uint8_t)
        WRITE(TH_INT16, uint16_t)
        WRITE(TH_UINT16, uint16_t)
        WRITE(TH_INT32, uint32_t)
        WRITE(TH_UINT32, uint32_t)
        WRITE(TH_INT64, uint64_t)
        WRITE(TH_UINT64, uint64_t)
        WRITE(TH_FLOAT32, float)
        WRITE(TH_FLOAT64, double)
    }
}

/* inputs: data, indices, indptr, shape. */
TH_EXPORT int th_kernel_scattered(th_ctx *ctx)
{
    const th_compressed_params *how = ctx->params;
    th_buffer *out = ctx->out[0];
    th_lines at;
    if (th_lines_of(ctx, &at, 0, 1, how->columns))
        return -1;
    const int64_t shape[2] = {how->columns ? at.n : at.m, how->columns ? at.m : at.n}, size = out->itemsize;
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    if (shape[0] == 0 || shape[1] == 0)
        return 0;
    memset(out->data, 0, (size_t)(shape[0] * shape[1] * size));
    elements e = {.at = &at, .dense = out->data, .data = (char *)at.data, .itemsize = size, .dtype = out->dtype,
                  .along = how->columns ? shape[1] * size : size, .across = how->columns ? size : shape[1] * size};
    return th_over_lines(ctx, &at, 2.0, write_lines, &e);
}

/* -- one matrix at the places of another ------------------------------------------------------------------------------ */

#define LOOK_UP(NAME, T) \
    static void look_up_##NAME(const th_lines *x, const th_lines *g, char *room, char *out) \
    { \
        T *line = (T *)room; \
        for (int64_t i = 0; i < x->m; ++i) { \
            for (int32_t k = g->indptr[i]; k < g->indptr[i + 1]; ++k) \
                line[g->indices[k]] += ((const T *)g->data)[k]; \
            for (int32_t k = x->indptr[i]; k < x->indptr[i + 1]; ++k) \
                ((T *)out)[k] = line[x->indices[k]]; \
            for (int32_t k = g->indptr[i]; k < g->indptr[i + 1]; ++k) \
                line[g->indices[k]] = 0; \
        } \
    }
LOOK_UP(f32, float)
LOOK_UP(f64, double)

/* inputs: data, indices, indptr and shape of a matrix, then those of the one that is read. */
TH_EXPORT int th_kernel_csm_grad(th_ctx *ctx)
{
    const th_compressed_params *how = ctx->params;
    const th_buffer *shape = ctx->in[3], *other = ctx->in[7];
    th_lines x, g;
    (void)how;
    /* Whether lines are rows or columns is the same to all: they are as many as indptr says. */
    if (th_lines_of(ctx, &x, -1, 1, 0) || th_lines_of(ctx, &g, 4, 5, 0))
        return -1;
    for (int axis = 0; axis < 2; ++axis)
        if (*(const int32_t *)(shape->data + axis * shape->strides[0]) != *(const int32_t *)(other->data + axis * other->strides[0]))
            return TH_FAIL(ctx, TH_ERR_SHAPE, "the gradient of a sparse matrix has another shape");
    const int64_t size = ctx->out[0]->itemsize, places = x.m > x.n ? x.m : x.n;
    x.m = g.m = ctx->in[2]->shape[0] - 1;
    if (ctx->rt->ensure(ctx, ctx->out[0], &x.stored))
        return -1;
    char *out = ctx->out[0]->data;
    if (x.stored == g.stored && memcmp(x.indices, g.indices, (size_t)x.stored * 4) == 0 &&
        memcmp(x.indptr, g.indptr, (size_t)(x.m + 1) * 4) == 0) {
        memcpy(out, g.data, (size_t)(x.stored * size));
        return 0;
    }
    char *room = ctx->rt->scratch(ctx, (size_t)(places * size) + 8);
    if (!room)
        return -1;
    memset(room, 0, (size_t)(places * size));
    (ctx->out[0]->dtype == TH_FLOAT32 ? look_up_f32 : look_up_f64)(&x, &g, room, out);
    return 0;
}

/* The product of a sparse matrix with a dense one.
 *
 * A row of the result is a sum of rows of the dense operand. It is kept in registers, a band of columns at a time, while
 * these pass by; the rows that come next are prefetched, since nobody could guess where they lie. Compressed columns
 * say for each row of the dense operand to which rows of the result it goes: these are added to in memory, or, where
 * there are enough columns for it to pay, the matrix is turned into compressed rows first. */
#include "vectors.h"

enum { AHEAD = 8, TURNED = 8 }; /* rows that are prefetched; columns from which on a matrix is turned */

typedef struct {
    const th_lines *a;
    const int32_t *from; /* where the numbers lie, if the lines were turned */
    const char *b;
    char *out;
    int64_t columns, ldb; /* ldb: elements from a row of b to the next */
    double alpha;
    int adds;             /* to what is there */
    int scaled;
} product;

#define LANES(T) ((int64_t)(TH_VECTOR / sizeof(T)))

#define NUMBER(k) (from ? data[from[k]] : data[k])

/* COUNT registers of columns of all rows lo <= i < hi. */
#define BAND(NAME, T, V, COUNT) \
    static inline __attribute__((always_inline)) void band_##COUNT##_##NAME( \
        const product *p, int64_t i, int64_t at, T alpha, const T *data, const int32_t *from) \
    { \
        const th_lines *a = p->a; \
        const T *b = (const T *)p->b + at; \
        T *out = (T *)p->out + i * p->columns + at; \
        const int64_t ldb = p->ldb; \
        const int32_t *indices = a->indices; \
        V sum[COUNT]; \
        for (int r = 0; r < COUNT; ++r) \
            sum[r] = (V){0}; \
        const int32_t last = (int32_t)a->stored - 1; \
        for (int32_t k = a->indptr[i]; k < a->indptr[i + 1]; ++k) { \
            const T v = NUMBER(k); \
            const T *row = b + indices[k] * ldb; \
            const int32_t next = k + AHEAD < last ? k + AHEAD : last; \
            const char *soon = (const char *)(b + indices[next] * ldb); \
            for (int64_t byte = 0; byte < COUNT * TH_VECTOR; byte += 64) \
                __builtin_prefetch(soon + byte); \
            for (int r = 0; r < COUNT; ++r) \
                sum[r] += v * *(const V *)(row + r * LANES(T)); \
        } \
        for (int r = 0; r < COUNT; ++r) { \
            V *to = (V *)(out + r * LANES(T)); \
            if (p->adds) \
                *to += alpha * sum[r]; \
            else \
                *to = sum[r]; \
        } \
    }

#define PRODUCT(NAME, T, V) \
    BAND(NAME, T, V, 8) \
    BAND(NAME, T, V, 4) \
    BAND(NAME, T, V, 2) \
    BAND(NAME, T, V, 1) \
    static void rows_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const product *p = arg; \
        const th_lines *a = p->a; \
        const T *data = (const T *)a->data; \
        const int32_t *from = p->from; \
        const int64_t n = p->columns; \
        const T alpha = (T)p->alpha; \
        for (int64_t i = lo; i < hi; ++i) { \
            int64_t at = 0; \
            for (; at + 8 * LANES(T) <= n; at += 8 * LANES(T)) \
                band_8_##NAME(p, i, at, alpha, data, from); \
            if (at + 4 * LANES(T) <= n) \
                band_4_##NAME(p, i, at, alpha, data, from), at += 4 * LANES(T); \
            if (at + 2 * LANES(T) <= n) \
                band_2_##NAME(p, i, at, alpha, data, from), at += 2 * LANES(T); \
            if (at + LANES(T) <= n) \
                band_1_##NAME(p, i, at, alpha, data, from), at += LANES(T); \
            for (; at < n; ++at) { \
                const T *b = (const T *)p->b + at; \
                T sum = 0; \
                for (int32_t k = a->indptr[i]; k < a->indptr[i + 1]; ++k) \
                    sum += NUMBER(k) * b[a->indices[k] * p->ldb]; \
                T *to = (T *)p->out + i * n + at; \
                *to = p->adds ? *to + alpha * sum : sum; \
            } \
        } \
    } \
    /* One column: the products of a line, two sums at a time. */ \
    static void vector_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const product *p = arg; \
        const int32_t *indices = p->a->indices, *indptr = p->a->indptr; \
        const T *data = (const T *)p->a->data, *b = (const T *)p->b; \
        T *out = (T *)p->out; \
        const T alpha = (T)p->alpha; \
        for (int64_t i = lo; i < hi; ++i) { \
            T even = 0, odd = 0; \
            int32_t k = indptr[i]; \
            const int32_t end = indptr[i + 1]; \
            for (; k + 1 < end; k += 2) { \
                even += data[k] * b[indices[k]]; \
                odd += data[k + 1] * b[indices[k + 1]]; \
            } \
            if (k < end) \
                even += data[k] * b[indices[k]]; \
            out[i] = p->adds ? out[i] + alpha * (even + odd) : even + odd; \
        } \
    } \
    /* Compressed columns as they are. */ \
    static void spread_##NAME(const product *p) \
    { \
        const th_lines *a = p->a; \
        const T *data = (const T *)a->data; \
        const int64_t n = p->columns; \
        if (n == 1) { \
            const T *restrict b = (const T *)p->b, *restrict from = data; \
            const int32_t *restrict indices = a->indices, *restrict indptr = a->indptr; \
            T *restrict out = (T *)p->out; \
            const T alpha = (T)p->alpha; \
            const int64_t m = a->m, ldb = p->ldb; \
            for (int64_t j = 0; j < m; ++j) { \
                const T v = alpha * b[j * ldb]; \
                const int32_t end = indptr[j + 1]; \
                for (int32_t k = indptr[j]; k < end; ++k) \
                    out[indices[k]] += v * from[k]; \
            } \
            return; \
        } \
        for (int64_t j = 0; j < a->m; ++j) { \
            const T *row = (const T *)p->b + j * p->ldb; \
            for (int32_t k = a->indptr[j]; k < a->indptr[j + 1]; ++k) { \
                const T v = p->scaled ? (T)p->alpha * data[k] : data[k]; \
                T *to = (T *)p->out + a->indices[k] * n; \
                TH_INDEPENDENT \
                for (int64_t c = 0; c < n; ++c) \
                    to[c] += v * row[c]; \
            } \
        } \
    }
PRODUCT(f32, float, th_vf32)
PRODUCT(f64, double, th_vf64)

/* The dense operand with rows of neighbouring elements: itself, or a copy. */
static const char *packed_rows(th_ctx *ctx, const th_buffer *b, int64_t *ld)
{
    const int64_t rows = b->shape[0], columns = b->ndim > 1 ? b->shape[1] : 1, size = b->itemsize;
    const int64_t row = b->strides[0], step = b->ndim > 1 ? b->strides[1] : size;
    if ((columns <= 1 || step == size) && row % size == 0 && (b->ndim > 1 || row == size || rows <= 1)) {
        *ld = rows <= 1 ? columns : row / size;
        return b->data;
    }
    *ld = columns;
    char *copy = ctx->rt->scratch(ctx, (size_t)(rows * columns * size));
    if (copy)
        ctx->rt->move(copy, columns * size, size, b->data, row, step, rows, columns, size);
    return copy;
}

/* Output 0 starts as input z, stretched where it is 1 long, or in its place. */
static int begun(th_ctx *ctx, const th_buffer *z, int64_t rows, int64_t columns, int in_place)
{
    th_buffer *out = ctx->out[0];
    const int64_t shape[2] = {rows, columns}, size = out->itemsize;
    int64_t row = z->strides[0], step = z->strides[1];
    if ((z->shape[0] != rows && z->shape[0] != 1) || (z->shape[1] != columns && z->shape[1] != 1))
        return TH_FAIL(ctx, TH_ERR_SHAPE, "z has the shape (%lld, %lld), but the product (%lld, %lld)", (long long)z->shape[0],
                       (long long)z->shape[1], (long long)rows, (long long)columns);
    const int same = z->shape[0] == rows && z->shape[1] == columns;
    if (in_place && same && (columns <= 1 || step == size) && (rows <= 1 || row == columns * size))
        return ctx->rt->view(ctx, out, z, z->data, 2, z->shape, z->strides);
    if (ctx->rt->ensure(ctx, out, shape))
        return -1;
    row = z->shape[0] == 1 && rows != 1 ? 0 : row;
    step = z->shape[1] == 1 && columns != 1 ? 0 : step;
    if (rows && columns)
        ctx->rt->move(out->data, columns * size, size, z->data, row, step, rows, columns, size);
    return 0;
}

static double number_of(const th_buffer *b)
{
    return b->dtype == TH_FLOAT32 ? *(const float *)b->data : *(const double *)b->data;
}

/* inputs: data, indices, indptr, shape, b; with a number before these and a matrix behind them if it is added. */
TH_EXPORT int th_kernel_sparse_dense(th_ctx *ctx)
{
    const th_product_params *how = ctx->params;
    const int first = how->added ? 1 : 0;
    const th_buffer *b = ctx->in[first + 4];
    th_buffer *out = ctx->out[0];
    th_lines a, turned;
    if (th_lines_of(ctx, &a, first, first + 1, how->columns))
        return -1;
    const int64_t rows = how->columns ? a.n : a.m, inner = how->columns ? a.m : a.n;
    const int64_t columns = b->ndim > 1 ? b->shape[1] : 1, shape[2] = {rows, columns};
    if (b->shape[0] != inner)
        return TH_FAIL(ctx, TH_ERR_SHAPE, "Shape mismatch: %lld columns against %lld rows.", (long long)inner,
                       (long long)b->shape[0]);
    product p = {.a = &a, .columns = columns, .alpha = 1.0};
    if (how->added) {
        if (begun(ctx, ctx->in[6], rows, columns, how->in_place))
            return -1;
        p.alpha = number_of(ctx->in[0]);
        p.adds = p.scaled = 1;
    } else if (ctx->rt->ensure(ctx, out, shape)) {
        return -1;
    }
    p.out = out->data;
    if (rows == 0 || columns == 0)
        return 0;
    if (!(p.b = packed_rows(ctx, b, &p.ldb)) && inner)
        return -1;
    const int single = out->dtype == TH_FLOAT32;
    if (how->columns && columns < TURNED) {
        if (!how->added)
            memset(out->data, 0, (size_t)(rows * columns * out->itemsize));
        (single ? spread_f32 : spread_f64)(&p);
        return 0;
    }
    if (how->columns) {
        int32_t *work = ctx->rt->scratch(ctx, (size_t)(a.n + 1 + 2 * a.stored) * sizeof *work);
        if (!work)
            return -1;
        th_turn(&a, work, work + a.n + 1, work + a.n + 1 + a.stored);
        turned = a;
        turned.m = a.n, turned.n = a.m;
        turned.indptr = work, turned.indices = work + a.n + 1;
        p.from = work + a.n + 1 + a.stored;
        p.a = &turned;
    }
    if (columns == 1 && p.ldb == 1 && !p.from)
        return th_over_lines(ctx, p.a, 1.0, single ? vector_f32 : vector_f64, &p);
    return th_over_lines(ctx, p.a, 1.0 + 0.15 * (double)columns, single ? rows_f32 : rows_f64, &p);
}

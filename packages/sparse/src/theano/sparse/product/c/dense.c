/* The product of a sparse matrix with a dense one.
 *
 * A row of the result is a sum of rows of the dense operand. It is kept in registers, a band of columns at a time, while
 * these pass by; the rows that come next are prefetched, since the CPU cannot predict their addresses. Compressed columns
 * say for each row of the dense operand to which rows of the result it goes: these are added to in memory, prefetched too.
 * That is quicker than to turn the matrix into compressed rows first, at any number of columns. Threads share the rows of the
 * result, and each picks out the numbers that go to its own: were columns shared, each would write beside another. */
#include "vectors.h"

enum {
    AHEAD = 8,        /* rows that are prefetched */
    TOGETHER = 256,   /* numbers that are picked out before they are used */
    PART_BYTES = 128, /* of a row of the dense operand, for each part of the result: all parts look at all numbers */
};

typedef struct {
    const th_lines *a;
    const char *b;
    char *out;
    int64_t columns, ldb; /* ldb: elements from a row of b to the next */
    double alpha;
    int adds; /* to the existing result */
} product;

#define LANES(T) ((int64_t)(TH_VECTOR / sizeof(T)))

/* COUNT registers of columns of all rows lo <= i < hi. */
#define BAND(NAME, T, V, COUNT) \
    static inline __attribute__((always_inline)) void band_##COUNT##_##NAME( \
        const product *p, int64_t i, int64_t at, T alpha, const T *data) \
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
            const T v = data[k]; \
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

/* So few columns that they do not fill a register, their number known to the compiler. */
#define FEW(OF) OF(1) OF(2) OF(3) OF(4) OF(5) OF(6) OF(7) OF(8) OF(9) OF(10) OF(11) OF(12) OF(13) OF(14) OF(15)
#define SUM_FEW(N) \
    case N: \
        for (int32_t k = a->indptr[i]; k < a->indptr[i + 1]; ++k) \
            for (int c = 0; c < N; ++c) \
                sums[c < (int)(sizeof sums / sizeof *sums) ? c : 0] += data[k] * b[a->indices[k] * ldb + c]; \
        break;
#define SPREAD_FEW(N) \
    case N: \
        for (int64_t j = 0; j < a->m; ++j) { \
            const int32_t end = a->indptr[j + 1]; \
            for (int32_t k = a->indptr[j]; k < end; ++k) \
                for (int c = 0; c < N; ++c) \
                    out[indices[k] * N + c] += alpha * data[k] * b[j * ldb + c]; \
        } \
        break;

/* The columns that do not fill a register: with their neighbours to the left, which are stored already, if there are. */
#define REST(NAME, T, V) \
    static void rest_##NAME(const product *p, int64_t i, int64_t at, T alpha, const T *data) \
    { \
        const th_lines *a = p->a; \
        const int64_t n = p->columns, first = n >= LANES(T) ? n - LANES(T) : 0, ldb = p->ldb; \
        const T *b = (const T *)p->b + first; \
        T *out = (T *)p->out + i * n; \
        T sums[TH_VECTOR / sizeof(T)] = {0}; \
        if (n >= LANES(T)) { \
            V sum = {0}; \
            for (int32_t k = a->indptr[i]; k < a->indptr[i + 1]; ++k) \
                sum += data[k] * *(const V *)(b + a->indices[k] * ldb); \
            memcpy(sums, &sum, sizeof sums); \
        } else { \
            switch (n) { \
                FEW(SUM_FEW) \
            } \
        } \
        for (int64_t c = at; c < n; ++c) \
            out[c] = p->adds ? out[c] + alpha * sums[c - first] : sums[c - first]; \
    }

/* Four elements, whatever the width of a register. */
#define QUAD(T) quad_##T
typedef double quad_double __attribute__((vector_size(32), aligned(8), may_alias));
typedef float quad_float __attribute__((vector_size(16), aligned(4), may_alias));
/* Their bits, and masks: the four from `eight - n` on keep the first n, the next four those behind them. */
#define QUAD_BITS(T) quad_bits_##T
typedef int64_t quad_bits_double __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t quad_bits_float __attribute__((vector_size(16), aligned(4), may_alias));
static const int64_t kept_double[16] = {-1, -1, -1, -1, -1, -1, -1, -1}, *const eight_double = kept_double + 8;
static const int32_t kept_float[16] = {-1, -1, -1, -1, -1, -1, -1, -1}, *const eight_float = kept_float + 8;
#define QUAD_AT(T, k) \
    (*(const QUAD(T) *)(data + (k)) * (QUAD(T)){b[indices[k]], b[indices[(k) + 1]], b[indices[(k) + 2]], b[indices[(k) + 3]]})
#define ADD_KEPT(T, k, kept) sums += (QUAD(T))((QUAD_BITS(T))QUAD_AT(T, k) & *(const QUAD_BITS(T) *)(kept))

#define PRODUCT(NAME, T, V) \
    REST(NAME, T, V) \
    BAND(NAME, T, V, 8) \
    BAND(NAME, T, V, 4) \
    BAND(NAME, T, V, 2) \
    BAND(NAME, T, V, 1) \
    static void rows_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const product *p = arg; \
        const th_lines *a = p->a; \
        const T *data = (const T *)a->data; \
        const int64_t n = p->columns; \
        const T alpha = (T)p->alpha; \
        for (int64_t i = lo; i < hi; ++i) { \
            int64_t at = 0; \
            for (; at + 8 * LANES(T) <= n; at += 8 * LANES(T)) \
                band_8_##NAME(p, i, at, alpha, data); \
            if (at + 4 * LANES(T) <= n) \
                band_4_##NAME(p, i, at, alpha, data), at += 4 * LANES(T); \
            if (at + 2 * LANES(T) <= n) \
                band_2_##NAME(p, i, at, alpha, data), at += 2 * LANES(T); \
            if (at + LANES(T) <= n) \
                band_1_##NAME(p, i, at, alpha, data), at += LANES(T); \
            if (at < n) \
                rest_##NAME(p, i, at, alpha, data); \
        } \
    } \
    /* One column: the products of a line, four sums at a time. Where a line ends, the CPU cannot foresee: eight products are */ \
    /* computed, and those behind the end left out, as long as that many numbers are stored. */ \
    static void vector_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const product *p = arg; \
        const int32_t *indices = p->a->indices, *indptr = p->a->indptr, last = indptr[p->a->m] - 8; \
        const T *restrict data = (const T *)p->a->data, *restrict b = (const T *)p->b; \
        T *restrict out = (T *)p->out; \
        const T alpha = (T)p->alpha; \
        for (int64_t i = lo; i < hi; ++i) { \
            QUAD(T) sums = {0}; \
            int32_t k = indptr[i]; \
            const int32_t end = indptr[i + 1]; \
            for (; k < end && k <= last; k += 8) { \
                const int32_t left = end - k < 8 ? end - k : 8; \
                ADD_KEPT(T, k, eight_##T - left); \
                ADD_KEPT(T, k + 4, eight_##T - left + 4); \
            } \
            for (int32_t at = 0; k < end; ++k, ++at) \
                sums[at % 4] += data[k] * b[indices[k]]; \
            const T sum = (sums[0] + sums[1]) + (sums[2] + sums[3]); \
            out[i] = p->adds ? out[i] + alpha * sum : sum; \
        } \
    } \
    /* Compressed columns, one column. */ \
    static void spread_vector_##NAME(const product *p) \
    { \
        const int32_t *restrict indices = p->a->indices, *restrict indptr = p->a->indptr; \
        const T *restrict data = (const T *)p->a->data, *restrict b = (const T *)p->b; \
        T *restrict out = (T *)p->out; \
        const T alpha = (T)p->alpha; \
        const int64_t m = p->a->m, ldb = p->ldb; \
        for (int64_t j = 0; j < m; ++j) { \
            const T v = alpha * b[j * ldb]; \
            int32_t k = indptr[j]; \
            const int32_t end = indptr[j + 1]; \
            for (; k + 3 < end; k += 4) { \
                const T p0 = v * data[k], p1 = v * data[k + 1], p2 = v * data[k + 2], p3 = v * data[k + 3]; \
                out[indices[k]] += p0; \
                out[indices[k + 1]] += p1; \
                out[indices[k + 2]] += p2; \
                out[indices[k + 3]] += p3; \
            } \
            for (; k < end; ++k) \
                out[indices[k]] += v * data[k]; \
        } \
    } \
    /* Add v times a row of the dense operand, and prefetch the row of the result that is `soon` added to. */ \
    static inline __attribute__((always_inline)) void add_##NAME(T *restrict to, const T *restrict row, T v, int64_t n, const T *soon) \
    { \
        int64_t c = 0; \
        for (; c + LANES(T) <= n; c += LANES(T)) { \
            __builtin_prefetch(soon + c, 1); \
            *(V *)(to + c) += v * *(const V *)(row + c); \
        } \
        for (; c < n; ++c) \
            to[c] += v * row[c]; \
    } \
    static void spread_all_##NAME(const product *p) \
    { \
        const th_lines *a = p->a; \
        const T *restrict data = (const T *)a->data, *restrict b = (const T *)p->b; \
        const int32_t *restrict indices = a->indices; \
        const int64_t n = p->columns, ldb = p->ldb; \
        const int32_t last = (int32_t)a->stored - 1; \
        T *restrict out = (T *)p->out; \
        const T alpha = (T)p->alpha; \
        if (n < LANES(T)) { \
            switch (n) { \
                FEW(SPREAD_FEW) \
            } \
            return; \
        } \
        for (int64_t j = 0; j < a->m; ++j) { \
            const int32_t end = a->indptr[j + 1]; \
            for (int32_t k = a->indptr[j]; k < end; ++k) \
                add_##NAME(out + indices[k] * n, b + j * ldb, alpha * data[k], n, \
                           out + indices[k + AHEAD < last ? k + AHEAD : last] * n); \
        } \
    } \
    /* Numbers that were picked out, each with the row of the dense operand that it meets. */ \
    static void spread_these_##NAME(const product *p, int32_t count, const int32_t *number, const int32_t *row) \
    { \
        const T *data = (const T *)p->a->data, *b = (const T *)p->b, alpha = (T)p->alpha; \
        const int32_t *indices = p->a->indices; \
        const int64_t n = p->columns; \
        T *out = (T *)p->out; \
        for (int32_t e = 0; e < count; ++e) { \
            const int32_t k = number[e], soon = number[e + AHEAD < count ? e + AHEAD : count - 1]; \
            add_##NAME(out + indices[k] * n, b + row[e] * p->ldb, alpha * data[k], n, out + indices[soon] * n); \
        } \
    } \
    /* Only the rows lo <= i < hi of the result. */ \
    static void spread_some_##NAME(const product *p, int64_t lo, int64_t hi) \
    { \
        const th_lines *a = p->a; \
        const int32_t *indices = a->indices; \
        const uint32_t some = (uint32_t)(hi - lo); \
        int32_t number[TOGETHER], row[TOGETHER], found = 0; \
        for (int64_t j = 0; j < a->m; ++j) { \
            const int32_t end = a->indptr[j + 1]; \
            for (int32_t k = a->indptr[j]; k < end;) { \
                const int32_t stop = end - k < TOGETHER - found ? end : k + TOGETHER - found; \
                for (; k < stop; ++k) { \
                    number[found] = k; \
                    row[found] = (int32_t)j; \
                    found += (uint32_t)indices[k] - (uint32_t)lo < some; \
                } \
                if (found == TOGETHER) { \
                    spread_these_##NAME(p, found, number, row); \
                    found = 0; \
                } \
            } \
        } \
        spread_these_##NAME(p, found, number, row); \
    } \
    /* Compressed columns. A part of the rows is asked for only where there are many columns. */ \
    static void spread_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const product *p = arg; \
        if (!p->adds) \
            memset((T *)p->out + lo * p->columns, 0, (size_t)((hi - lo) * p->columns) * sizeof(T)); \
        if (hi - lo < p->a->n) \
            spread_some_##NAME(p, lo, hi); \
        else if (p->columns == 1) \
            spread_vector_##NAME(p); \
        else \
            spread_all_##NAME(p); \
    }
PRODUCT(f32, float, th_vf32)
PRODUCT(f64, double, th_vf64)

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>

/* One column, where a CPU gathers a register faster than it loads its numbers one by one: a mask ends the line. */
#define GATHERED(NAME, T, V, LANES, MASK, NUMBERS, PLACES, PS) \
    static void gathered_##NAME(void *arg, int64_t lo, int64_t hi) \
    { \
        const product *p = arg; \
        const int32_t *indices = p->a->indices, *indptr = p->a->indptr; \
        const T *data = (const T *)p->a->data, *b = (const T *)p->b, alpha = (T)p->alpha; \
        T *out = (T *)p->out; \
        for (int64_t i = lo; i < hi; ++i) { \
            V sums = _mm512_setzero_##PS(); \
            const int32_t end = indptr[i + 1]; \
            for (int32_t k = indptr[i]; k < end; k += LANES) { \
                const MASK in = end - k < LANES ? (MASK)((1u << (end - k)) - 1) : (MASK)-1; \
                const V x = NUMBERS(in, PLACES(in, indices + k), b); \
                sums = _mm512_fmadd_##PS(_mm512_maskz_loadu_##PS(in, data + k), x, sums); \
            } \
            const T sum = _mm512_reduce_add_##PS(sums); \
            out[i] = p->adds ? out[i] + alpha * sum : sum; \
        } \
    }
#define EIGHT(in, places, b) _mm512_mask_i32gather_pd(_mm512_setzero_pd(), in, places, b, 8)
#define SIXTEEN(in, places, b) _mm512_mask_i32gather_ps(_mm512_setzero_ps(), in, places, b, 4)
GATHERED(f64, double, __m512d, 8, __mmask8, EIGHT, _mm256_maskz_loadu_epi32, pd)
GATHERED(f32, float, __m512, 16, __mmask16, SIXTEEN, _mm512_maskz_loadu_epi32, ps)

#endif

/* Lines times one column. Intel's CPUs gather fast since Sapphire Rapids; those before it slowly, mended by their microcode, and
 * so does Zen 5. */
static th_body vector_body(int single)
{
#if defined(__AVX512F__) && defined(__AVX512VL__)
    if (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx512bf16"))
        return single ? gathered_f32 : gathered_f64;
#endif
    return single ? vector_f32 : vector_f64;
}

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
    th_lines a;
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
        p.adds = 1;
    } else if (ctx->rt->ensure(ctx, out, shape)) {
        return -1;
    }
    p.out = out->data;
    if (rows == 0 || columns == 0)
        return 0;
    if (!(p.b = packed_rows(ctx, b, &p.ldb)) && inner)
        return -1;
    const int single = out->dtype == TH_FLOAT32;
    if (how->columns) {
        const int worth_threads = (double)a.stored * (1.0 + 0.15 * (double)columns) >= 4 * TH_PIECE_NS;
        const int64_t parts = worth_threads ? columns * out->itemsize / PART_BYTES : 1;
        const int64_t grain = parts > 1 ? (rows + parts - 1) / parts : rows;
        return ctx->rt->parallel_for(ctx, rows, grain, single ? spread_f32 : spread_f64, &p);
    }
    if (columns == 1 && p.ldb == 1)
        return th_over_lines(ctx, &a, 1.0, vector_body(single), &p);
    return th_over_lines(ctx, &a, 1.0 + 0.15 * (double)columns, single ? rows_f32 : rows_f64, &p);
}

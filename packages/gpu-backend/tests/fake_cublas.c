/* cuBLAS on the CPU, with the driver that tests have in CUDA's place (`fake_cuda.c`). */
#include "fake_cuda.c"

#define EXPORT __attribute__((visibility("default")))

EXPORT int64_t fake_products, fake_computes;

static void *stream_of_handle;
EXPORT void *fake_workspace;

EXPORT int cublasCreate_v2(void **handle) { *handle = &fake_products; return 0; }
EXPORT int cublasSetStream_v2(void *handle, void *stream)
{
    stream_of_handle = stream;
    fake_workspace = NULL;
    return handle != &fake_products || stream == NULL;
}
EXPORT int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes)
{
    fake_workspace = workspace;
    return handle != &fake_products || workspace == NULL || bytes == 0;
}

static double load(const char *x, int type, int64_t k) { return type == 1 ? ((const double *)x)[k] : ((const float *)x)[k]; }

typedef struct product {
    int transa, transb, m, n, k, lda, ldb, ldc, type, count;
    long long stride_a, stride_b, stride_c;
    double alpha, beta;
    const char *a, *b;
    char *c;
} product;

/* As the documentation of cuBLAS defines it, by columns. */
static void multiply(const void *told)
{
    const product p = *(const product *)told;
    for (int64_t g = 0; g < p.count; ++g) {
        for (int64_t i = 0; i < p.m; ++i) {
            for (int64_t j = 0; j < p.n; ++j) {
                double sum = 0;
                for (int64_t l = 0; l < p.k; ++l)
                    sum += load(p.a, p.type, g * p.stride_a + (p.transa ? l + i * p.lda : i + l * p.lda)) *
                           load(p.b, p.type, g * p.stride_b + (p.transb ? j + l * p.ldb : l + j * p.ldb));
                const int64_t at = g * p.stride_c + i + j * p.ldc;
                const double value = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * load(p.c, p.type, at));
                if (p.type == 1)
                    ((double *)p.c)[at] = value;
                else
                    ((float *)p.c)[at] = (float)value;
            }
        }
    }
}

EXPORT int cublasGemmStridedBatchedEx(void *handle, int transa, int transb, int m, int n, int k, const void *alpha, const void *a,
                                      int atype, int lda, long long stride_a, const void *b, int btype, int ldb, long long stride_b,
                                      const void *beta, void *c, int ctype, int ldc, long long stride_c, int count, int compute, int algo)
{
    const int ra = transa ? k : m, rb = transb ? n : k;
    if (handle != &fake_products || atype != btype || btype != ctype || (ctype != 0 && ctype != 1) || algo != -1)
        return 15;
    if (lda < ra || ldb < rb || ldc < m || lda < 1 || ldb < 1 || ldc < 1)
        return 7;
    fake_products++;
    fake_computes = compute;
    const product p = {transa, transb, m, n, k, lda, ldb, ldc, ctype, count, stride_a, stride_b, stride_c,
                       load(alpha, ctype, 0), load(beta, ctype, 0), a, b, c};
    fake_do(stream_of_handle, multiply, &p, sizeof p);
    return 0;
}

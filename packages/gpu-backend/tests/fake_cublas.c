/* cuBLAS on the CPU, with the driver that tests have in CUDA's place (`fake_cuda.c`). */
#include "fake_cuda.c"

#define EXPORT __attribute__((visibility("default")))

EXPORT int64_t fake_products, fake_computes;

EXPORT int cublasCreate_v2(void **handle) { *handle = &fake_products; return 0; }
EXPORT int cublasSetStream_v2(void *handle, void *stream) { return handle != &fake_products || stream == NULL; }

static double load(const char *x, int type, int64_t k) { return type == 1 ? ((const double *)x)[k] : ((const float *)x)[k]; }

/* As the documentation of cuBLAS defines it, by columns. */
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
    const double x = load(alpha, ctype, 0), y = load(beta, ctype, 0);
    for (int64_t g = 0; g < count; ++g) {
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (int64_t l = 0; l < k; ++l)
                    sum += load(a, atype, g * stride_a + (transa ? l + i * lda : i + l * lda)) *
                           load(b, btype, g * stride_b + (transb ? j + l * ldb : l + j * ldb));
                const int64_t at = g * stride_c + i + j * ldc;
                const double value = x * sum + (y == 0 ? 0 : y * load(c, ctype, at));
                if (ctype == 1)
                    ((double *)c)[at] = value;
                else
                    ((float *)c)[at] = (float)value;
            }
        }
    }
    return 0;
}

/* Products of matrices: C[b, i, j] = scale Z[b, i, j] + factor (sum over k of A[b, i, k] B[b, k, j]), of any strides.
 *
 * `tiled` computes tiles of 64 x 64 elements in groups of 16 x 16 work-items, of 4 x 4 elements each; what they read goes
 * through local memory. `thin` is for products with few elements of long sums: a group computes one of them. */
typedef struct {
    int64_t at[4], batch, m, n, k;
    int64_t a[3], b[3], z[3], c[3]; /* strides in bytes: batch, row, column */
    int64_t added;                  /* whether there is a Z */
    double factor[2], scale[2]; /* the second of each is the imaginary part */
} product_args;

enum { TILE = 64, DEPTH = 16, EACH = 4 };

TH_INLINE void write_element(GLOBAL char *p2, GLOBAL char *p3, const product_args *a, const int64_t b, const int64_t i,
                             const int64_t j, const COMPUTE sum)
{
    COMPUTE value = sum;
    if (a->factor[0] != 1.0 || a->factor[1] != 0.0)
        value = TIMES(FROM_PARTS(a->factor), value);
    if (a->added && (a->scale[0] != 0.0 || a->scale[1] != 0.0)) {
        const COMPUTE z = LOAD(*(GLOBAL const NUMBER *)(p2 + a->at[2] + b * a->z[0] + i * a->z[1] + j * a->z[2]));
        value = PLUS(value, a->scale[0] == 1.0 && a->scale[1] == 0.0 ? z : TIMES(FROM_PARTS(a->scale), z));
    }
    *(GLOBAL NUMBER *)(p3 + a->at[3] + b * a->c[0] + i * a->c[1] + j * a->c[2]) = STORE(value);
}

KERNEL void tiled(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS product_args a)
{
    LOCAL COMPUTE left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    const int me = LOCAL_ID(), row = me / 16, column = me % 16;
    const int64_t across = (a.n + TILE - 1) / TILE, down = (a.m + TILE - 1) / TILE;
    const int64_t b = GROUP_ID() / (across * down), tile = GROUP_ID() - b * across * down;
    const int64_t i0 = tile / across * TILE, j0 = (tile - tile / across * across) * TILE;
    GLOBAL const char *x = p0 + a.at[0] + b * a.a[0];
    GLOBAL const char *y = p1 + a.at[1] + b * a.b[0];
    /* neighbours in memory are read by neighbours */
    const int by_rows = a.a[2] <= a.a[1], by_columns = a.b[2] <= a.b[1];
    COMPUTE sum[EACH][EACH];
    for (int r = 0; r < EACH; ++r)
        for (int s = 0; s < EACH; ++s)
            sum[r][s] = NONE;
    for (int64_t k0 = 0; k0 < a.k; k0 += DEPTH) {
        for (int part = 0; part < TILE * DEPTH / 256; ++part) {
            const int at = me + 256 * part;
            const int i = by_rows ? at / DEPTH : at % TILE, ik = by_rows ? at % DEPTH : at / TILE;
            const int j = by_columns ? at % TILE : at / DEPTH, jk = by_columns ? at / TILE : at % DEPTH;
            left[ik][i] = i0 + i < a.m && k0 + ik < a.k ? LOAD(*(GLOBAL const NUMBER *)(x + (i0 + i) * a.a[1] + (k0 + ik) * a.a[2])) : NONE;
            right[jk][j] = j0 + j < a.n && k0 + jk < a.k ? LOAD(*(GLOBAL const NUMBER *)(y + (k0 + jk) * a.b[1] + (j0 + j) * a.b[2])) : NONE;
        }
        BARRIER();
        for (int k = 0; k < DEPTH; ++k) {
            COMPUTE u[EACH], v[EACH];
            for (int r = 0; r < EACH; ++r)
                u[r] = left[k][row + 16 * r];
            for (int s = 0; s < EACH; ++s)
                v[s] = right[k][column + 16 * s];
            for (int r = 0; r < EACH; ++r)
                for (int s = 0; s < EACH; ++s)
                    sum[r][s] = MULTIPLY_ADD(u[r], v[s], sum[r][s]);
        }
        BARRIER();
    }
    for (int r = 0; r < EACH; ++r) {
        const int64_t i = i0 + row + 16 * r;
        for (int s = 0; s < EACH; ++s) {
            const int64_t j = j0 + column + 16 * s;
            if (i < a.m && j < a.n)
                write_element(p2, p3, &a, b, i, j, sum[r][s]);
        }
    }
}

KERNEL void thin(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS product_args a)
{
    LOCAL COMPUTE shared[256];
    const int me = LOCAL_ID();
    const int64_t b = GROUP_ID() / (a.m * a.n), element = GROUP_ID() - b * a.m * a.n, i = element / a.n, j = element - i * a.n;
    GLOBAL const char *x = p0 + a.at[0] + b * a.a[0] + i * a.a[1];
    GLOBAL const char *y = p1 + a.at[1] + b * a.b[0] + j * a.b[2];
    COMPUTE sum = NONE;
    for (int64_t k = me; k < a.k; k += 256)
        sum = MULTIPLY_ADD(LOAD(*(GLOBAL const NUMBER *)(x + k * a.a[2])), LOAD(*(GLOBAL const NUMBER *)(y + k * a.b[1])), sum);
    shared[me] = sum;
    for (int half_of = 128; half_of > 0; half_of /= 2) {
        BARRIER();
        if (me < half_of)
            shared[me] = PLUS(shared[me], shared[me + half_of]);
    }
    if (me == 0)
        write_element(p2, p3, &a, b, i, j, shared[0]);
}

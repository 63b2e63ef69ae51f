/* What the other files see: a product of matrices, in the orientation that suits it. */

#define OWN_TRANSPOSE TH_GEMM_OWN_TRANSPOSE
#define MIRRORED TH_GEMM_MIRRORED

/* C = beta Z, where nothing is summed. */
static void NAME(scale)(const NAME(ending) *end, int64_t m, int64_t n)
{
    const T zero = 0;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            NAME(ending) e = *end;
            e.to += i * e.to_row + j * e.to_col;
            e.from += i * e.from_row + j * e.from_col;
            NAME(end_anywhere)(&e, &zero, 1, 1, 1);
        }
}

/* A vector holds elements of neighbouring columns of the result. These should be contiguous, and not be much fewer than a
 * vector holds: else the transposed product is the one to compute. */
static int NAME(is_sideways)(const matrix *c)
{
    const int64_t as_is = parts_of(c->cols, LANES) * LANES * c->rows, transposed = parts_of(c->rows, LANES) * LANES * c->cols;
    return c->col == (int64_t)sizeof(T) ? as_is > 2 * transposed : c->row == (int64_t)sizeof(T) ? 2 * as_is > transposed : as_is > transposed;
}

/* Whether half of the product is computed, and copied to the other one. */
INLINE int NAME(is_halved)(matrix a, matrix b) { return a.rows >= OWN_TRANSPOSE && is_own_transpose(a, b); }

/* What is above the diagonal becomes what is below it. */
static void NAME(mirror)(const NAME(ending) *end, int64_t n)
{
    for (int64_t r = 0; r < n; r += MIRRORED)
        for (int64_t c = r; c < n; c += MIRRORED)
            for (int64_t i = r; i < n && i < r + MIRRORED; ++i)
                for (int64_t j = c > i ? c : i + 1; j < n && j < c + MIRRORED; ++j)
                    memcpy(end->to + i * end->to_row + j * end->to_col, end->to + j * end->to_row + i * end->to_col, sizeof(T));
}

/* The bytes for copies of factors. */
int64_t NAME(th_gemm_space)(matrix a, matrix b, matrix c)
{
    if (NAME(is_sideways)(&c)) {
        const matrix t = a;
        a = turned(b);
        b = turned(t);
    }
    if (a.cols == 0 || a.rows == 0 || b.cols == 0 || (!NAME(is_halved)(a, b) && NAME(is_direct)(&a, &b)))
        return 0;
    const NAME(blocking) k = NAME(blocking_of)(&a, &b);
    return k.left_bytes + k.right_bytes;
}

static int NAME(product)(th_ctx *ctx, int64_t threads, const T *alpha, matrix a, matrix b, const T *beta, matrix z, matrix c, char *space)
{
    if (c.rows == 0 || c.cols == 0)
        return 0;
    if (NAME(is_sideways)(&c)) {
        const matrix t = a;
        a = turned(b);
        b = turned(t);
        c = turned(c);
        z = turned(z);
    }
    const NAME(ending) end = {c.data, z.data, c.row, c.col, z.row, z.col, alpha ? *alpha : 1, beta ? *beta : 0};
    if (a.cols == 0) {
        NAME(scale)(&end, c.rows, c.cols);
        return 0;
    }
    if (end.beta == 0 && NAME(is_halved)(a, b)) {
        if (NAME(multiply_packed)(ctx, threads, a, b, end, 1, space))
            return -1;
        NAME(mirror)(&end, a.rows);
        return 0;
    }
    if (NAME(is_direct)(&a, &b))
        return NAME(multiply_direct)(ctx, threads, a, b, end);
    return NAME(multiply_packed)(ctx, threads, a, b, end, 0, space);
}

int NAME(th_gemm)(th_ctx *ctx, int64_t threads, const T *alpha, matrix a, matrix b, const T *beta, matrix z, matrix c)
{
    return NAME(product)(ctx, threads, alpha, a, b, beta, z, c, NULL);
}

void NAME(th_gemm_within)(char *space, const T *alpha, matrix a, matrix b, const T *beta, matrix z, matrix c)
{
    NAME(product)(NULL, 1, alpha, a, b, beta, z, c, space);
}

void NAME(th_gemm_batch)(char *space, matrix a, matrix b, matrix c, int64_t a_next, int64_t b_next, int64_t c_next, int64_t count)
{
    if (NAME(is_sideways)(&c)) {
        const matrix t = a;
        const int64_t t_next = a_next;
        a = turned(b), a_next = b_next;
        b = turned(t), b_next = t_next;
        c = turned(c);
    }
    if (a.cols == 0 || a.cols > DIRECT_SLICE || NAME(is_halved)(a, b) || !NAME(is_direct)(&a, &b)) {
        for (; count > 0; --count, a.data += a_next, b.data += b_next, c.data += c_next)
            NAME(product)(NULL, 1, NULL, a, b, NULL, c, c, space);
        return;
    }
    /* Small ones take no longer than it takes to find out how each is to be computed: all are computed like the first. */
    NAME(direct_job) j = {.a = a, .b = b, .end = {c.data, c.data, c.row, c.col, c.row, c.col, 1, 0}, .terms = a.cols, .panels = NAME(panels_of)(b.cols)};
    for (; count > 0; --count, j.a.data += a_next, j.b.data += b_next, j.end.to += c_next)
        NAME(direct_columns)(&j, 0, j.panels.parts);
}

/* Q and R by Householder's reflections, gathered into blocks I - V S V' (Schreiber and Van Loan, "A storage-efficient WY
 * representation for products of Householder transformations", SIAM J. Sci. Stat. Comput. 10, 1989). */

#define BLOCK TH_FACTOR_REFLECTIONS

/* Products of x with `count` columns (at most 4) `step` elements apart. */
INLINE void NAME(dots)(T *sums, const T *x, const T *y, int64_t step, const int count, int64_t n)
{
    vec parts[4] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        _Pragma("GCC unroll 4") for (int c = 0; c < count; ++c)
            parts[c] = fused(load(x + i), load(y + c * step + i), parts[c]);
    if (i < n)
        _Pragma("GCC unroll 4") for (int c = 0; c < count; ++c)
            parts[c] = fused(load_some(x + i, n - i), load_some(y + c * step + i, n - i), parts[c]);
    _Pragma("GCC unroll 4") for (int c = 0; c < count; ++c) {
        sums[c] = 0;
        for (int64_t l = 0; l < LANES; ++l)
            sums[c] += parts[c][l];
    }
}

INLINE void NAME(add_multiples)(T *y, int64_t step, const T *factors, const T *x, const int count, int64_t n)
{
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t rest = n - i;
        const vec v = rest >= LANES ? load(x + i) : load_some(x + i, rest);
        _Pragma("GCC unroll 4") for (int c = 0; c < count; ++c) {
            T *to = y + c * step + i;
            if (rest >= LANES)
                store(to, fused(all(factors[c]), v, load(to)));
            else
                store_some(to, fused(all(factors[c]), v, load_some(to, rest)), rest);
        }
    }
}

/* The length of a vector, without overflow on the way. */
static T NAME(length_of)(const T *x, int64_t n)
{
    T sum, largest = 0;
    NAME(dots)(&sum, x, x, 0, 1, n);
    const T least = sizeof(T) == 4 ? (T)1e-30 : (T)1e-290;
    if (sum - sum == 0 && sum > least)
        return (T)sqrt((double)sum);
    for (int64_t i = 0; i < n; ++i) {
        const T size = x[i] < 0 ? -x[i] : x[i];
        largest = size > largest || size != size ? size : largest;
    }
    if (largest == 0 || largest - largest != 0)
        return largest;
    double scaled = 0;
    for (int64_t i = 0; i < n; ++i)
        scaled += ((double)x[i] / largest) * ((double)x[i] / largest);
    return (T)(largest * sqrt(scaled));
}

/* The reflection I - s v v', with v[0] = 1, that turns x to a multiple of the first axis; v without its first element
 * takes the place of x[1 ..], the multiple that of x[0]. Returns s. */
static T NAME(reflection)(T *x, int64_t n)
{
    const T rest = NAME(length_of)(x + 1, n - 1), first = x[0];
    if (rest == 0)
        return 0;
    const T whole = (T)hypot((double)first, (double)rest), large = sizeof(T) == 4 ? (T)0x1p100 : (T)0x1p900;
    if (whole < (sizeof(T) == 4 ? (T)0x1p-100 : (T)0x1p-900)) { /* too few digits are left so near to 0 */
        for (int64_t i = 0; i < n; ++i)
            x[i] *= large;
        const T found = NAME(reflection)(x, n);
        x[0] /= large;
        return found;
    }
    const T to = first >= 0 ? -whole : whole, scale = 1 / (first - to);
    for (int64_t i = 1; i < n; ++i)
        x[i] *= scale;
    x[0] = to;
    return (to - first) / to;
}

/* A panel of columns becomes R above the vectors of its reflections. */
static void NAME(panel_qr)(matrix a, T *scales)
{
    const int64_t m = a.rows, n = a.cols, step = a.col / (int64_t)sizeof(T);
    for (int64_t j = 0; j < n && j < m; ++j) {
        T *own = NAME(column_of)(a, j) + j;
        scales[j] = NAME(reflection)(own, m - j);
        const T kept = own[0];
        own[0] = 1;
        for (int64_t l = j + 1; l < n;) {
            T products[4], *other = NAME(column_of)(a, l) + j;
            const int64_t done = n - l >= 4 ? 4 : 1;
            if (done == 4)
                NAME(dots)(products, own, other, step, 4, m - j);
            else
                NAME(dots)(products, own, other, step, 1, m - j);
            for (int c = 0; c < done; ++c)
                products[c] *= -scales[j];
            if (done == 4)
                NAME(add_multiples)(other, step, products, own, 4, m - j);
            else
                NAME(add_multiples)(other, step, products, own, 1, m - j);
            l += done;
        }
        own[0] = kept;
    }
}

/* V of a block, with its ones and zeros, and S of I - V S V'. */
typedef struct {
    matrix v, s;
    T *products; /* space for a row for each reflection */
} NAME(block);

static int NAME(gather)(work *w, NAME(block) *b, matrix panel, const T *scales)
{
    const int64_t m = panel.rows, n = panel.cols, size = sizeof(T);
    b->v.rows = m, b->v.cols = n;
    for (int64_t j = 0; j < n; ++j) {
        T *to = NAME(column_of)(b->v, j);
        memset(to, 0, (size_t)(j * size));
        to[j] = 1;
        memcpy(to + j + 1, NAME(column_of)(panel, j) + j + 1, (size_t)((m - j - 1) * size));
    }
    /* S grows by a column at a time: above its diagonal are -s S (V' v). */
    const matrix gram = {(char *)b->products, n, n, n * size, size};
    if (NAME(th_gemm)(&w->ctx, w->threads, NULL, turned(b->v), b->v, NULL, gram, gram))
        return -1;
    b->s = (matrix){b->s.data, n, n, n * size, size};
    memset(b->s.data, 0, (size_t)(n * n * size));
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < j; ++i) {
            T sum = 0;
            for (int64_t k = i; k < j; ++k)
                sum += AT(b->s, i, k) * AT(gram, k, j);
            AT(b->s, i, j) = -scales[j] * sum;
        }
        AT(b->s, j, j) = scales[j];
    }
    return 0;
}

/* C becomes (I - V S V') C, or with S' for S. */
static int NAME(reflect)(work *w, const NAME(block) *b, int transposed, matrix c)
{
    const int64_t size = sizeof(T), n = b->v.cols;
    if (c.cols == 0)
        return 0;
    const matrix inner = {(char *)b->products, n, c.cols, c.cols * size, size};
    const matrix scaled = {(char *)(b->products + n * c.cols), n, c.cols, c.cols * size, size};
    if (NAME(th_gemm)(&w->ctx, w->threads, NULL, turned(b->v), c, NULL, inner, inner) ||
        NAME(th_gemm)(&w->ctx, w->threads, NULL, transposed ? turned(b->s) : b->s, inner, NULL, scaled, scaled))
        return -1;
    return NAME(subtract_on)(w, w->threads, c, b->v, scaled);
}

/* Room for a block of reflections of m rows, and for its update of this many columns. */
static int NAME(begin_block)(th_ctx *ctx, NAME(block) *b, int64_t m, int64_t columns)
{
    const int64_t size = sizeof(T);
    char *scratch = ctx->rt->scratch(ctx, (size_t)((m * BLOCK + BLOCK * BLOCK + 2 * BLOCK * (columns + BLOCK)) * size));
    *b = (NAME(block)){.v = {scratch, m, BLOCK, size, m * size}, .s = {scratch + m * BLOCK * size, 0, 0, 0, 0},
                       .products = (T *)(scratch + (m + BLOCK) * BLOCK * size)};
    return scratch == NULL ? -1 : 0;
}

/* Q becomes the product of the reflections in A, times what it was. `growing`: it was an identity, so that what is before a
 * block is one still. */
static int NAME(reflect_all)(work *w, NAME(block) *b, matrix a, int64_t count, const T *scales, matrix q, int growing)
{
    const int64_t m = a.rows;
    for (int64_t j = (count - 1) / BLOCK * BLOCK; count > 0 && j >= 0; j -= BLOCK) {
        const int64_t each = count - j < BLOCK ? count - j : BLOCK, from = growing ? j : 0;
        if (NAME(gather)(w, b, part(a, j, j, m - j, each), scales + j) ||
            NAME(reflect)(w, b, 0, part(q, j, from, m - j, q.cols - from)))
            return -1;
    }
    return 0;
}

int NAME(th_reflect)(th_ctx *ctx, int64_t threads, matrix a, const void *scales, matrix q)
{
    BEGIN_WORK(w, ctx, threads);
    NAME(block) b;
    if (NAME(begin_block)(ctx, &b, a.rows, q.cols))
        return -1;
    return NAME(reflect_all)(&w, &b, a, a.cols < a.rows ? a.cols : a.rows, scales, q, 0);
}

int NAME(th_qr)(th_ctx *ctx, int64_t threads, matrix a, void *scales, matrix q)
{
    BEGIN_WORK(w, ctx, threads);
    const int64_t m = a.rows, n = a.cols, count = m < n ? m : n;
    T *s = scales;
    NAME(block) b;
    if (NAME(begin_block)(ctx, &b, m, n > q.cols ? n : q.cols))
        return -1;
    for (int64_t j = 0; j < count; j += BLOCK) {
        const int64_t each = count - j < BLOCK ? count - j : BLOCK;
        const matrix panel = part(a, j, j, m - j, each);
        NAME(panel_qr)(panel, s + j);
        if (j + each < n && (NAME(gather)(&w, &b, panel, s + j) || NAME(reflect)(&w, &b, 1, part(a, j, j + each, m - j, n - j - each))))
            return -1;
    }
    if (q.data == NULL)
        return 0;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < q.cols; ++j)
            AT(q, i, j) = i == j;
    return NAME(reflect_all)(&w, &b, a, count, s, q, 1);
}

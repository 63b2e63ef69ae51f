/* A tile of a result: some rows times some vectors. Its sums live in registers while all runs of terms go by. */

/* Runs of terms. Row i of a tile reads one number a term, from x + i x_row on; all rows meet the same vectors, from y on. */
typedef struct {
    const int64_t *x_at, *y_at; /* where each run begins, in bytes */
    int64_t runs, terms;        /* how many, and how many terms in each */
    int64_t x_row, x_step, y_step;
} NAME(walk);

/* `n` of the columns are wanted; vectors are read whole. The sums are added to the old values if `adds`. */
INLINE void NAME(walk_tile)(const int rows, const int vectors, const NAME(walk) *w, const char *x, const char *y, char *to,
                            int64_t to_row, int64_t n, int adds)
{
    vec sums[TALL][VECTORS];
    _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i)
        _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v)
            sums[i][v] = (vec){0};
    const int64_t x_row = w->x_row, x_step = w->x_step, y_step = w->y_step, terms = w->terms;
    for (int64_t r = 0; r < w->runs; ++r) {
        const char *a = x + w->x_at[r], *b = y + w->y_at[r];
        for (int64_t p = 0; p < terms; ++p, a += x_step, b += y_step) {
            vec right[VECTORS];
            _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v)
                right[v] = load(b + v * VECTOR_BYTES);
            _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i) {
                const vec left = all(*(const T *)(a + i * x_row));
                _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v)
                    sums[i][v] = fused(left, right[v], sums[i][v]);
            }
        }
    }
    const int64_t rest = n - (vectors - 1) * LANES;
    _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i)
        _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v) {
            char *at = to + i * to_row + v * VECTOR_BYTES;
            const int64_t many = v < vectors - 1 ? LANES : rest;
            vec sum = sums[i][v];
            if (adds)
                sum += many == LANES ? load(at) : load_some(at, many);
            if (many == LANES)
                store(at, sum);
            else
                store_some(at, sum, many);
        }
}

typedef void (*NAME(walker))(const NAME(walk) *w, const char *x, const char *y, char *to, int64_t to_row, int64_t n, int adds);
#define WALKER(R, V) \
    static __attribute__((noinline)) void NAME(walk_##R##_##V)(const NAME(walk) *w, const char *x, const char *y, char *to, \
                                                               int64_t to_row, int64_t n, int adds) \
    { \
        NAME(walk_tile)(R, V, w, x, y, to, to_row, n, adds); \
    }
#define WALKERS(R) WALKER(R, 1) WALKER(R, 2) WALKER(R, 3)
#define TALL_WALKERS(R) WALKER(R, 1) WALKER(R, 2)
#define WALKER_NAMES(R) {NAME(walk_##R##_1), NAME(walk_##R##_2), NAME(walk_##R##_3)}
#define TALL_WALKER_NAMES(R) {NAME(walk_##R##_1), NAME(walk_##R##_2), NULL}
WALKERS(1) WALKERS(2) WALKERS(3) WALKERS(4)
#if ROWS == 8
WALKERS(5) WALKERS(6) WALKERS(7) WALKERS(8) TALL_WALKERS(9) TALL_WALKERS(10) TALL_WALKERS(11) TALL_WALKERS(12)
#else
TALL_WALKERS(5) TALL_WALKERS(6)
#endif
static const NAME(walker) NAME(walkers)[TALL][VECTORS] = {
    WALKER_NAMES(1), WALKER_NAMES(2), WALKER_NAMES(3), WALKER_NAMES(4),
#if ROWS == 8
    WALKER_NAMES(5), WALKER_NAMES(6), WALKER_NAMES(7), WALKER_NAMES(8),
    TALL_WALKER_NAMES(9), TALL_WALKER_NAMES(10), TALL_WALKER_NAMES(11), TALL_WALKER_NAMES(12),
#else
    TALL_WALKER_NAMES(5), TALL_WALKER_NAMES(6),
#endif
};

/* `rows` rows of tiles times `n` columns (at most COLUMNS). */
INLINE void NAME(walk_rows)(const NAME(walk) *w, const char *x, const char *y, char *to, int64_t to_row, int64_t rows, int64_t n,
                            int adds)
{
    const int64_t vectors = parts_of(n, LANES), tiles = parts_of(rows, vectors == VECTORS ? ROWS : TALL);
    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t first = part_at(rows, tiles, t), many = part_at(rows, tiles, t + 1) - first;
        NAME(walkers)[many - 1][vectors - 1](w, x + first * w->x_row, y, to + first * to_row, to_row, n, adds);
    }
}

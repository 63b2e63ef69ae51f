/* A tile of the result: its sums live in registers while a slice of the summed axis goes by. */

/* What is done with the sums of a tile: to = alpha sums + beta from. */
typedef struct {
    char *to, *from; /* the tile's first elements; strides in bytes */
    int64_t to_row, to_col, from_row, from_col;
    T alpha, beta; /* with beta 0, `from` is not read */
} NAME(ending);

/* The factors of a tile. Row i of the left one begins at x + i x_row and goes on by x_step for each term; term p of
 * the right one is the vectors at y + p y_step. */
typedef struct {
    const char *x, *y;
    int64_t terms, x_row, x_step, y_step;
} NAME(factors);

/* One row of a tile to columns that are neighbours; of the last vector, `rest` numbers are wanted. */
INLINE void NAME(put_row)(char *to, const vec *row, const int vectors, int64_t rest)
{
    _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v) {
        if (v < vectors - 1 || rest == LANES)
            store(to + v * VECTOR_BYTES, row[v]);
        else
            store_some(to + v * VECTOR_BYTES, row[v], rest);
    }
}

/* Its ending. */
INLINE void NAME(end_row)(const NAME(ending) *e, int64_t i, const vec *sums, const int vectors, int64_t rest)
{
    const char *from = e->from + i * e->from_row;
    const vec alpha = all(e->alpha), beta = all(e->beta);
    vec row[VECTORS];
    _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v) {
        const int64_t at = v * VECTOR_BYTES;
        row[v] = sums[v] * alpha;
        if (e->beta != 0)
            row[v] = fused(v < vectors - 1 || rest == LANES ? load(from + at) : load_some(from + at, rest), beta, row[v]);
    }
    NAME(put_row)(e->to + i * e->to_row, row, vectors, rest);
}

/* The same for any strides. */
static __attribute__((noinline, unused)) void NAME(end_anywhere)(const NAME(ending) *e, const T *sums, int64_t rows, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < n; ++j) {
            T r = sums[i * step + j] * e->alpha, old;
            if (e->beta != 0) {
                memcpy(&old, e->from + i * e->from_row + j * e->from_col, sizeof old);
                r += old * e->beta;
            }
            memcpy(e->to + i * e->to_row + j * e->to_col, &r, sizeof r);
        }
}

/* A tile of `rows` times `vectors`; `n` columns of it are wanted, and no number beyond them is read. All counts are
 * constants where this is used, but `n` where it is not all columns. The ending was just written number by number: copied whole, it
 * would be waited for. */
INLINE void NAME(tile)(const int rows, const int vectors, NAME(factors) f, const NAME(ending) *e, int64_t n)
{
    vec sums[TALL][VECTORS];
    const int64_t rest = n - (vectors - 1) * LANES;
    /* Rows are reached from a pointer for four of them, or there would not be registers enough for where they begin. */
    const char *x[(TALL + 3) / 4] = {f.x}, *y = f.y;
    _Pragma("GCC unroll 3") for (int g = 1; 4 * g < rows; ++g)
        x[g] = x[g - 1] + 4 * f.x_row;
    _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i)
        _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v)
            sums[i][v] = (vec){0};
    /* Where two threads share a core, the instructions of counting are what such a loop waits for. */
    _Pragma("GCC unroll 4") for (int64_t p = 0; p < f.terms; ++p) {
        vec right[VECTORS];
        _Pragma("GCC unroll 3") for (int v = 0; v < vectors - 1; ++v)
            right[v] = load(y + v * VECTOR_BYTES);
        right[vectors - 1] = rest == LANES ? load(y + (vectors - 1) * VECTOR_BYTES) : load_some(y + (vectors - 1) * VECTOR_BYTES, rest);
        _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i) {
            const vec left = all(*(const T *)(x[i / 4] + i % 4 * f.x_row));
            _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v)
                sums[i][v] = fused(left, right[v], sums[i][v]);
        }
        _Pragma("GCC unroll 3") for (int g = 0; 4 * g < rows; ++g) {
            x[g] += f.x_step;
            if (!__builtin_constant_p(f.x_row)) /* then the compiler would make one pointer of them, and a distance for each row */
                __asm__("" : "+r"(x[g]));
        }
        y += f.y_step;
    }
    const int64_t size = sizeof(T);
    if (e->to_col == size && e->alpha == 1 && e->beta == 0) {
        char *to = e->to;
        const int64_t to_row = e->to_row; /* read once: a store might change it, for all that the compiler knows */
        _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i, to += to_row)
            NAME(put_row)(to, sums[i], vectors, rest);
    } else if (e->to_col == size && (e->beta == 0 || e->from_col == size)) {
        _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i)
            NAME(end_row)(e, i, sums[i], vectors, rest);
    } else {
        T plain[TALL * COLUMNS];
        _Pragma("GCC unroll 12") for (int i = 0; i < rows; ++i)
            _Pragma("GCC unroll 3") for (int v = 0; v < vectors; ++v)
                store(plain + i * COLUMNS + v * LANES, sums[i][v]);
        NAME(end_anywhere)(e, plain, rows, COLUMNS, n);
    }
}

/* The tiles that fill the middle of a product: the right factor is packed; the left one, too, or its rows are read in
 * place. */
#define WHOLE_TILE(WHAT, X_ROW, X_STEP) \
    static __attribute__((noinline)) void NAME(WHAT)(const char *x, int64_t x_row, const char *y, int64_t terms, const NAME(ending) *e) \
    { \
        const NAME(factors) f = {x, y, terms, X_ROW, X_STEP, COLUMNS * sizeof(T)}; \
        (void)x_row; \
        _Pragma("GCC unroll 8") for (int i = 0; i < ROWS; ++i) { \
            __builtin_prefetch(e->to + i * e->to_row, 1); \
            __builtin_prefetch(e->to + i * e->to_row + VECTORS * VECTOR_BYTES - 1, 1); \
        } \
        NAME(tile)(ROWS, VECTORS, f, e, COLUMNS); \
    }
WHOLE_TILE(tile_of_panels, sizeof(T), ROWS * sizeof(T))
WHOLE_TILE(tile_of_rows, x_row, sizeof(T))

/* Copying a block of a factor into panels: for each term of the sum, the numbers that a tile needs side by side. */

/* A square of numbers that is turned in registers. Panels are whole squares wide. */
#if VECTOR_BYTES == 64
#define SQUARE 8
#elif VECTOR_BYTES == 16 && !T_IS_FLOAT
#define SQUARE 2
#else
#define SQUARE 4
#endif
typedef T square_row __attribute__((vector_size(SQUARE * sizeof(T)), may_alias));
typedef T square_row_at __attribute__((vector_size(SQUARE * sizeof(T)), aligned(1), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#elif T_IS_FLOAT
typedef int32_t square_mask __attribute__((vector_size(SQUARE * sizeof(T))));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (square_mask){__VA_ARGS__})
#else
typedef int64_t square_mask __attribute__((vector_size(SQUARE * sizeof(T))));
#define PICK(a, b, ...) __builtin_shuffle(a, b, (square_mask){__VA_ARGS__})
#endif
#if SQUARE == 8
#define ZIP_LOW(a, b) PICK(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) PICK(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif SQUARE == 4
#define ZIP_LOW(a, b) PICK(a, b, 0, 4, 1, 5)
#define ZIP_HIGH(a, b) PICK(a, b, 2, 6, 3, 7)
#else
#define ZIP_LOW(a, b) PICK(a, b, 0, 2)
#define ZIP_HIGH(a, b) PICK(a, b, 1, 3)
#endif

/* The first n numbers of a row, then anything or 0. */
INLINE square_row NAME(row_of_some)(const char *p, int64_t n)
{
    square_row r = {0};
#if VECTOR_BYTES >= 32
    const vec v = load_some(p, n);
    memcpy(&r, &v, sizeof r);
#else
    memcpy(&r, p, (size_t)n * sizeof(T));
#endif
    return r;
}

/* Turn a square of numbers: `width` rows `line_step` bytes apart become neighbours, each of `terms` rows `step` bytes
 * apart. Shuffling the rows of one half into those of the other log2(SQUARE) times does it. A row is written whole,
 * its end with anything. */
INLINE void NAME(turn_square)(char *to, int64_t step, int64_t width, int64_t terms, const char *from, int64_t line_step)
{
    square_row a[SQUARE], b[SQUARE];
    if (width == SQUARE && terms == SQUARE) {
        _Pragma("GCC unroll 8") for (int i = 0; i < SQUARE; ++i)
            a[i] = *(const square_row_at *)(from + i * line_step);
    } else {
        _Pragma("GCC unroll 8") for (int i = 0; i < SQUARE; ++i)
            a[i] = i < width ? NAME(row_of_some)(from + i * line_step, terms) : (square_row){0};
    }
    _Pragma("GCC unroll 8") for (int half = 1; half < SQUARE; half *= 2) {
        _Pragma("GCC unroll 8") for (int i = 0; i < SQUARE / 2; ++i) {
            b[2 * i] = ZIP_LOW(a[i], a[i + SQUARE / 2]);
            b[2 * i + 1] = ZIP_HIGH(a[i], a[i + SQUARE / 2]);
        }
        _Pragma("GCC unroll 8") for (int i = 0; i < SQUARE; ++i)
            a[i] = b[i];
    }
    _Pragma("GCC unroll 8") for (int i = 0; i < SQUARE; ++i)
        if (i < terms)
            *(square_row_at *)(to + i * step) = a[i];
}

/* The terms that are packed of each panel at a time where a term's numbers are neighbours: their rows are read side by side. */
#define TERMS_AHEAD TH_GEMM_TERMS_AHEAD
#define PANELS_AHEAD TH_GEMM_PANELS_AHEAD
#define SQUARES_AHEAD TH_GEMM_SQUARES_AHEAD

/* The panel of a factor whose numbers for one term are neighbours. */
static void NAME(pack_rows)(char *to, int64_t step, int64_t width, int64_t terms, const char *from, int64_t term_step)
{
    const int64_t size = sizeof(T), whole = width / LANES * LANES, squares = width / SQUARE * SQUARE;
    if (width == SQUARE) {
        for (int64_t p = 0; p < terms; ++p, from += term_step, to += step) {
            __builtin_prefetch(from + TERMS_AHEAD * term_step);
            *(square_row_at *)to = *(const square_row_at *)from;
        }
        return;
    }
    for (int64_t p = 0; p < terms; ++p, from += term_step, to += step) {
        int64_t j = 0;
        __builtin_prefetch(from + TERMS_AHEAD * term_step);
        for (; j < whole; j += LANES)
            store(to + j * size, load(from + j * size));
        for (; j < squares; j += SQUARE)
            *(square_row_at *)(to + j * size) = *(const square_row_at *)(from + j * size);
        if (j < width)
            *(square_row_at *)(to + j * size) = NAME(row_of_some)(from + j * size, width - j);
    }
}

/* Fill a panel: for each of `terms`, `width` numbers with a stride of `line_step` bytes. The stride of terms is `term_step`
 * bytes in the factor and `step` in the panel, which has space for whole squares. */
static __attribute__((unused)) void NAME(pack_panel)(char *to, int64_t step, int64_t width, int64_t terms, const char *from,
                                                     int64_t line_step, int64_t term_step)
{
    const int64_t size = sizeof(T);
    if (line_step == size) {
        NAME(pack_rows)(to, step, width, terms, from, term_step);
    } else if (term_step == size) {
        for (int64_t j = 0; j < width; j += SQUARE, from += SQUARE * line_step)
            for (int64_t p = 0; p < terms; p += SQUARE) {
                _Pragma("GCC unroll 8") for (int i = 0; i < SQUARE; ++i) {
                    __builtin_prefetch(from + p * size + (SQUARE + i) * line_step);
                    __builtin_prefetch(to + (p + SQUARES_AHEAD * SQUARE + i) * step + j * size, 1, 2);
                }
                NAME(turn_square)(to + p * step + j * size, step, width - j < SQUARE ? width - j : SQUARE,
                                  terms - p < SQUARE ? terms - p : SQUARE, from + p * size, line_step);
            }
    } else {
        for (int64_t p = 0; p < terms; ++p)
            for (int64_t j = 0; j < width; ++j)
                memcpy(to + p * step + j * size, from + p * term_step + j * line_step, sizeof(T));
    }
}

/* The inner loops of move.cpp, once for each level of instructions: MOVE_LEVEL names it, MOVE_WIDE is the bytes of its
 * vectors. No include guard: it is included several times. */
#define MOVE_JOIN_(a, b) a##b
#define MOVE_JOIN(a, b) MOVE_JOIN_(a, b)
#define MOVE_NAME(name) MOVE_JOIN(name, MOVE_LEVEL)

/* Rows of neighbours, at least a vector long, that are too short for memcpy to be worth its start; the last vector of a row
 * overlaps the one before. */
typedef move_1 MOVE_NAME(piece) __attribute__((vector_size(MOVE_WIDE), aligned(1), may_alias));
static void MOVE_NAME(rows)(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows, int64_t bytes) {
    for (; rows > 0; --rows, to += to_row, from += from_row) {
        for (int64_t i = 0; i + MOVE_WIDE < bytes; i += MOVE_WIDE)
            *(MOVE_NAME(piece) *)(to + i) = *(const MOVE_NAME(piece) *)(from + i);
        *(MOVE_NAME(piece) *)(to + bytes - MOVE_WIDE) = *(const MOVE_NAME(piece) *)(from + bytes - MOVE_WIDE);
    }
}

/* A line: the constant steps become loads of whole vectors and shuffles; any other step, four elements at a time, since
 * the loop's own steps would take as long as the copies. */
#define MOVE_PACKED(STEP)                                                                                              \
    case STEP:                                                                                                         \
        for (int64_t i = 0; i < n; ++i) t[i] = f[STEP * i];                                                            \
        return;
#define MOVE_LINE(T)                                                                                                   \
    static void MOVE_NAME(line_##T)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n) {       \
        const int64_t size = (int64_t)sizeof(T);                                                                       \
        if (to_step == size && from_step % size == 0 && n >= 8) {                                                      \
            T *MOVE_RESTRICT t = (T *)to;                                                                              \
            const T *MOVE_RESTRICT f = (const T *)from;                                                                \
            switch (from_step / size) {                                                                                \
                MOVE_PACKED(0)                                                                                         \
                MOVE_PACKED(1)                                                                                         \
                MOVE_PACKED(2)                                                                                         \
                MOVE_PACKED(3)                                                                                         \
                MOVE_PACKED(4)                                                                                         \
                MOVE_PACKED(-1)                                                                                        \
            default: break;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        int64_t i = 0;                                                                                                 \
        for (; i + 4 <= n; i += 4, to += 4 * to_step, from += 4 * from_step) {                                         \
            const T a = *(const T *)from, b = *(const T *)(from + from_step);                                          \
            const T c = *(const T *)(from + 2 * from_step), d = *(const T *)(from + 3 * from_step);                    \
            *(T *)to = a;                                                                                              \
            *(T *)(to + to_step) = b;                                                                                  \
            *(T *)(to + 2 * to_step) = c;                                                                              \
            *(T *)(to + 3 * to_step) = d;                                                                              \
        }                                                                                                              \
        for (; i < n; ++i, to += to_step, from += from_step) *(T *)to = *(const T *)from;                              \
    }
MOVE_LINE(move_1)
MOVE_LINE(move_2)
MOVE_LINE(move_4)
MOVE_LINE(move_8)
MOVE_LINE(move_16)

/* ROWS x COLS of a matrix turned around in registers, ROWS the elements in 16 bytes. Each vector starts as such pieces of
 * several columns, ROWS apart; then squares of ROWS x ROWS are turned within 16 bytes, where shuffles are cheap: each pass
 * zips the first half of the vectors with the second, and as many passes as ROWS has binary digits make the transpose.
 * (Measured: half to three quarters of the time of squares of whole vectors.) */
#ifdef MOVE_ZIP
#if MOVE_WIDE == 16
#define MOVE_COLUMNS 1
#define MOVE_GATHER(T, from, apart) MOVE_QUARTER(T, from)
#define MOVE_ORDER(ROWS, half) MOVE_##half##_##ROWS##_1
#else
#define MOVE_COLUMNS 2
#define MOVE_GATHER(T, from, apart) MOVE_BOTH(MOVE_QUARTER(T, from), MOVE_QUARTER(T, (from) + (apart)), T)
#define MOVE_ORDER(ROWS, half) MOVE_##half##_##ROWS##_2
#endif
#define MOVE_QUARTER(T, from) (*(const MOVE_NAME(quarter_##T) *)(from))
#define MOVE_SQUARE(T, ROWS)                                                                                           \
    typedef T MOVE_NAME(quarter_##T) __attribute__((vector_size(16), aligned(1), may_alias));                          \
    typedef T MOVE_NAME(vector_##T) __attribute__((vector_size(16 * MOVE_COLUMNS), aligned(1), may_alias));            \
    static inline __attribute__((always_inline)) void MOVE_NAME(square_##T)(char *to, int64_t to_row,                  \
                                                                            const char *from, int64_t from_step) {     \
        MOVE_NAME(vector_##T) v[ROWS], u[ROWS];                                                                        \
        for (int i = 0; i < ROWS; ++i) v[i] = MOVE_GATHER(T, from + i * from_step, ROWS * from_step);                  \
        for (int pass = 1; pass < ROWS; pass *= 2) {                                                                   \
            for (int i = 0; i < ROWS / 2; ++i) {                                                                       \
                u[2 * i] = MOVE_ZIP(v[i], v[i + ROWS / 2], MOVE_ORDER(ROWS, LOW));                                     \
                u[2 * i + 1] = MOVE_ZIP(v[i], v[i + ROWS / 2], MOVE_ORDER(ROWS, HIGH));                                \
            }                                                                                                          \
            for (int i = 0; i < ROWS; ++i) v[i] = u[i];                                                                \
        }                                                                                                              \
        for (int i = 0; i < ROWS; ++i) *(MOVE_NAME(vector_##T) *)(to + i * to_row) = v[i];                             \
    }
#else
#define MOVE_COLUMNS 1
#define MOVE_SQUARE(T, ROWS)                                                                                           \
    static void MOVE_NAME(square_##T)(char *to, int64_t to_row, const char *from, int64_t from_step) {                 \
        const int64_t size = (int64_t)sizeof(T);                                                                       \
        for (int64_t i = 0; i < ROWS; ++i)                                                                             \
            for (int64_t j = 0; j < ROWS; ++j) *(T *)(to + i * to_row + j * size) = *(const T *)(from + j * from_step + i * size); \
    }
#endif

/* A matrix turned around: neighbours of `to` along its rows, of `from` along its columns. In blocks of kStripe rows and
 * kBlock columns, which stay in the cache; what comes next is asked for before it is due. The innermost loop is a
 * function of its own because it needs all registers. */
#define MOVE_TURN(T, ROWS)                                                                                             \
    MOVE_SQUARE(T, ROWS)                                                                                               \
    static __attribute__((noinline)) void MOVE_NAME(squares_##T)(char *to, int64_t to_row, const char *from,           \
                                                                 int64_t from_step, int64_t count) {                   \
        enum { COLS = ROWS * MOVE_COLUMNS };                                                                           \
        for (; count > 0; --count, to += COLS * sizeof(T), from += COLS * from_step)                                   \
            MOVE_NAME(square_##T)(to, to_row, from, from_step);                                                        \
    }                                                                                                                  \
    static void MOVE_NAME(turn_##T)(char *to, int64_t to_row, const char *from, int64_t from_step, int64_t rows,       \
                                    int64_t n) {                                                                       \
        enum { COLS = ROWS * MOVE_COLUMNS };                                                                           \
        const int64_t size = (int64_t)sizeof(T);                                                                       \
        for (int64_t top = 0; top < rows; top += kStripe) {                                                            \
            const int64_t end = smaller(top + kStripe, rows), even = end - (end - top) % ROWS;                         \
            for (int64_t left = 0; left < n; left += kBlock) {                                                         \
                const int64_t right = smaller(left + kBlock, n), whole = right - (right - left) % COLS;                \
                for (int64_t at = top * size; at < end * size; at += 64)                                               \
                    for (int64_t c = right; c < right + kBlock; ++c) MOVE_FETCH(from + at + c * from_step);            \
                for (int64_t r = top; r < even; r += ROWS)                                                             \
                    MOVE_NAME(squares_##T)(to + r * to_row + left * size, to_row, from + r * size + left * from_step,  \
                                           from_step, (whole - left) / COLS);                                          \
                for (int64_t r = even; r < end; ++r)                                                                   \
                    for (int64_t c = left; c < whole; ++c)                                                             \
                        *(T *)(to + r * to_row + c * size) = *(const T *)(from + r * size + c * from_step);            \
                for (int64_t c = whole; c < right; ++c)                                                                \
                    for (int64_t r = top; r < end; ++r)                                                                \
                        *(T *)(to + r * to_row + c * size) = *(const T *)(from + r * size + c * from_step);            \
            }                                                                                                          \
        }                                                                                                              \
    }
MOVE_TURN(move_1, 16)
MOVE_TURN(move_2, 8)
MOVE_TURN(move_4, 4)
MOVE_TURN(move_8, 2)

#define MOVE_TRIPLE(T) {MOVE_NAME(rows), MOVE_NAME(line_##T), MOVE_NAME(turn_##T)}
static const mover MOVE_NAME(movers)[] = {MOVE_TRIPLE(move_1), MOVE_TRIPLE(move_2), MOVE_TRIPLE(move_4), MOVE_TRIPLE(move_8),
                                          {MOVE_NAME(rows), MOVE_NAME(line_move_16), NULL}};

#undef MOVE_JOIN_
#undef MOVE_JOIN
#undef MOVE_NAME
#undef MOVE_PACKED
#undef MOVE_LINE
#undef MOVE_SQUARE
#undef MOVE_COLUMNS
#undef MOVE_GATHER
#undef MOVE_ORDER
#undef MOVE_QUARTER
#undef MOVE_TURN
#undef MOVE_TRIPLE
#undef MOVE_LEVEL
#undef MOVE_WIDE

/* The inner loops of move.cpp, once for each level of instructions: MOVE_LEVEL names it, MOVE_WIDE is the bytes of its
 * vectors. No include guard: it is included several times. */
#define MOVE_JOIN_(a, b) a##b
#define MOVE_JOIN(a, b) MOVE_JOIN_(a, b)
#define MOVE_NAME(name) MOVE_JOIN(name, MOVE_LEVEL)

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

/* A square of a matrix turned around in registers. Each pass zips the first half of the vectors with the second: as
 * many passes as the side has binary digits make the transpose. */
#ifdef MOVE_ZIP
#define MOVE_SQUARE(T, SIDE)                                                                                           \
    typedef T MOVE_NAME(vector_##T) __attribute__((vector_size((SIDE) * sizeof(T)), aligned(1), may_alias));           \
    static inline __attribute__((always_inline)) void MOVE_NAME(square_##T)(char *to, int64_t to_row,                  \
                                                                            const char *from, int64_t from_step) {     \
        MOVE_NAME(vector_##T) v[SIDE], u[SIDE];                                                                        \
        for (int i = 0; i < SIDE; ++i) v[i] = *(const MOVE_NAME(vector_##T) *)(from + i * from_step);                  \
        for (int pass = 1; pass < SIDE; pass *= 2) {                                                                   \
            for (int i = 0; i < SIDE / 2; ++i) {                                                                       \
                u[2 * i] = MOVE_ZIP(v[i], v[i + SIDE / 2], MOVE_LOW_##SIDE);                                           \
                u[2 * i + 1] = MOVE_ZIP(v[i], v[i + SIDE / 2], MOVE_HIGH_##SIDE);                                      \
            }                                                                                                          \
            for (int i = 0; i < SIDE; ++i) v[i] = u[i];                                                                \
        }                                                                                                              \
        for (int i = 0; i < SIDE; ++i) *(MOVE_NAME(vector_##T) *)(to + i * to_row) = v[i];                             \
    }
#else
#define MOVE_SQUARE(T, SIDE)                                                                                           \
    static void MOVE_NAME(square_##T)(char *to, int64_t to_row, const char *from, int64_t from_step) {                 \
        for (int64_t i = 0; i < SIDE; ++i)                                                                             \
            for (int64_t j = 0; j < SIDE; ++j)                                                                         \
                *(T *)(to + i * to_row + j * (int64_t)sizeof(T)) = *(const T *)(from + j * from_step + i * (int64_t)sizeof(T)); \
    }
#endif

/* A matrix turned around: neighbours of `to` along its rows, of `from` along its columns. In stripes of kStripe rows, so
 * that the lines of `from` are still in the cache when the next squares of them are due. */
#define MOVE_TURN(T, SIDE)                                                                                             \
    MOVE_SQUARE(T, SIDE)                                                                                               \
    static void MOVE_NAME(turn_##T)(char *to, int64_t to_row, const char *from, int64_t from_step, int64_t rows,       \
                                    int64_t n) {                                                                       \
        const int64_t size = (int64_t)sizeof(T), whole = n - n % SIDE;                                                 \
        for (int64_t top = 0; top < rows; top += kStripe) {                                                              \
            const int64_t end = smaller(top + kStripe, rows), even = end - (end - top) % SIDE;                             \
            for (int64_t c = 0; c < whole; c += SIDE) {                                                                \
                for (int64_t r = top; r < even; r += SIDE) {                                                           \
                    for (int64_t k = 0; k < SIDE; ++k) MOVE_FETCH(from + r * size + (c + kAhead + k) * from_step);     \
                    MOVE_NAME(square_##T)(to + r * to_row + c * size, to_row, from + r * size + c * from_step, from_step); \
                }                                                                                                      \
                for (int64_t r = even; r < end; ++r)                                                                   \
                    for (int64_t k = c; k < c + SIDE; ++k)                                                             \
                        *(T *)(to + r * to_row + k * size) = *(const T *)(from + r * size + k * from_step);            \
            }                                                                                                          \
            for (int64_t c = whole; c < n; ++c)                                                                        \
                for (int64_t r = top; r < end; ++r)                                                                    \
                    *(T *)(to + r * to_row + c * size) = *(const T *)(from + r * size + c * from_step);                \
        }                                                                                                              \
    }

/* Shuffles of the narrower types are cheap within 16 bytes only; for 4-byte elements 8 x 8 measured better than
 * 16 x 16. */
MOVE_TURN(move_1, 16)
MOVE_TURN(move_2, 8)
#if MOVE_WIDE >= 32
MOVE_TURN(move_4, 8)
#else
MOVE_TURN(move_4, 4)
#endif
#if MOVE_WIDE == 64
MOVE_TURN(move_8, 8)
#elif MOVE_WIDE == 32
MOVE_TURN(move_8, 4)
#else
MOVE_TURN(move_8, 2)
#endif

#define MOVE_PAIR(T) {MOVE_NAME(line_##T), MOVE_NAME(turn_##T)}
static const mover MOVE_NAME(movers)[] = {
    MOVE_PAIR(move_1), MOVE_PAIR(move_2), MOVE_PAIR(move_4), MOVE_PAIR(move_8), {MOVE_NAME(line_move_16), NULL}};

#undef MOVE_JOIN_
#undef MOVE_JOIN
#undef MOVE_NAME
#undef MOVE_PACKED
#undef MOVE_LINE
#undef MOVE_SQUARE
#undef MOVE_TURN
#undef MOVE_PAIR
#undef MOVE_LEVEL
#undef MOVE_WIDE

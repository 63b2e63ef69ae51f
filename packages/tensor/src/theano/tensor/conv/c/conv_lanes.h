/* Convolutions of each channel by itself: channels lie side by side, and a vector holds as many of them. */

#define LANE_ROWS 6   /* pixels at a time, which share the filters' vectors */
#define LANE_TERMS 9  /* elements of a filter at a time, which share the results' vectors */

/* `rows` neighbouring pixels of one vector of channels, of which `n` are wanted. */
INLINE void NAME(lane_tile)(const int rows, const int64_t *x_at, int64_t elements, const char *x, int64_t x_row, const char *y,
                            int64_t y_step, char *to, int64_t to_row, int64_t n)
{
    vec sums[LANE_ROWS];
    _Pragma("GCC unroll 6") for (int i = 0; i < rows; ++i)
        sums[i] = (vec){0};
    for (int64_t e = 0; e < elements; ++e, y += y_step) {
        const vec right = load(y);
        _Pragma("GCC unroll 6") for (int i = 0; i < rows; ++i)
            sums[i] = fused(load(x + x_at[e] + i * x_row), right, sums[i]);
    }
    _Pragma("GCC unroll 6") for (int i = 0; i < rows; ++i) {
        if (n >= LANES)
            store(to + i * to_row, sums[i]);
        else
            store_some(to + i * to_row, sums[i], n);
    }
}

/* A row of `n` pixels of `lanes` channels. */
static void NAME(lane_row)(const int64_t *x_at, int64_t elements, int64_t lanes, int64_t n, const char *x, int64_t x_row,
                           const char *y, int64_t y_step, char *to)
{
    const int64_t size = sizeof(T), to_row = lanes * size;
    for (int64_t i = 0; i < n;) {
        const int64_t many = n - i >= LANE_ROWS ? LANE_ROWS : 1;
        for (int64_t l = 0; l < lanes; l += LANES) {
            const char *from = x + i * x_row + l * size;
            char *at = to + i * to_row + l * size;
            if (many == LANE_ROWS)
                NAME(lane_tile)(LANE_ROWS, x_at, elements, from, x_row, y + l * size, y_step, at, to_row, lanes - l);
            else
                NAME(lane_tile)(1, x_at, elements, from, x_row, y + l * size, y_step, at, to_row, lanes - l);
        }
        i += many;
    }
}

/* The gradient of `terms` elements of the filters of one vector of channels, over `n` pixels of a row. */
INLINE void NAME(lane_terms)(const int terms, const int64_t *x_at, const char *x, int64_t x_step, const char *g, int64_t g_step,
                             int64_t n, vec *sums)
{
    vec now[LANE_TERMS];
    _Pragma("GCC unroll 9") for (int e = 0; e < terms; ++e)
        now[e] = sums[e];
    for (int64_t i = 0; i < n; ++i, x += x_step, g += g_step) {
        const vec right = load(g);
        _Pragma("GCC unroll 9") for (int e = 0; e < terms; ++e)
            now[e] = fused(load(x + x_at[e]), right, now[e]);
    }
    _Pragma("GCC unroll 9") for (int e = 0; e < terms; ++e)
        sums[e] = now[e];
}

/* One pass over a line: included with V, a vector of WIDTH elements, and STAGE(x), a name for it.
 *
 * Before a pass there are `s` transforms of length r m side by side, element i of transform q at x[q + s i]; after it
 * r s of length m. Numbers read together are m s apart, those written together s. */

#define GET(p) (*(const V *)(p))
#define PUT(p, v) (*(V *)(p) = (v))

/* (re, im), turned by root p of output j, to where output j is. */
#define TURNED(j, real, imag) \
    do { \
        const V re_ = (real), im_ = (imag); \
        if (plain) { \
            PUT(yr + (j) * y_step, re_); \
            PUT(yi + (j) * y_step, im_); \
        } else { \
            const T c_ = w[2 * ((j) - 1) * m], s_ = w[(2 * (j) - 1) * m]; \
            PUT(yr + (j) * y_step, re_ * c_ - im_ * s_); \
            PUT(yi + (j) * y_step, im_ * c_ + re_ * s_); \
        } \
    } while (0)
#define FIRST(real, imag) \
    do { \
        PUT(yr, real); \
        PUT(yi, imag); \
    } while (0)

/* All have these: where the first elements read and written are, how far the next ones, and the roots. */
#define PLACE const T *restrict xr, const T *restrict xi, int64_t x_step, T *restrict yr, T *restrict yi, int64_t y_step, \
              const T *restrict w, int64_t m, int plain

INLINE void STAGE(by_2)(PLACE)
{
    const V ar = GET(xr), ai = GET(xi), br = GET(xr + x_step), bi = GET(xi + x_step);
    FIRST(ar + br, ai + bi);
    TURNED(1, ar - br, ai - bi);
}

INLINE void STAGE(by_4)(PLACE)
{
    const V ar = GET(xr), ai = GET(xi), br = GET(xr + x_step), bi = GET(xi + x_step);
    const V cr = GET(xr + 2 * x_step), ci = GET(xi + 2 * x_step), dr = GET(xr + 3 * x_step), di = GET(xi + 3 * x_step);
    const V er = ar + cr, ei = ai + ci, fr = ar - cr, fi = ai - ci;
    const V gr = br + dr, gi = bi + di, hr = br - dr, hi = bi - di;
    FIRST(er + gr, ei + gi);
    TURNED(1, fr + hi, fi - hr);
    TURNED(2, er - gr, ei - gi);
    TURNED(3, fr - hi, fi + hr);
}

INLINE void STAGE(by_8)(PLACE)
{
    const T root = (T)0.70710678118654752440;
    V r[8], i[8];
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; ++k) {
        const V ar = GET(xr + k * x_step), ai = GET(xi + k * x_step);
        const V br = GET(xr + (k + 4) * x_step), bi = GET(xi + (k + 4) * x_step);
        r[k] = ar + br;
        i[k] = ai + bi;
        r[k + 4] = ar - br;
        i[k + 4] = ai - bi;
    }
    {
        const V er = r[0] + r[2], ei = i[0] + i[2], fr = r[0] - r[2], fi = i[0] - i[2];
        const V gr = r[1] + r[3], gi = i[1] + i[3], hr = r[1] - r[3], hi = i[1] - i[3];
        FIRST(er + gr, ei + gi);
        TURNED(2, fr + hi, fi - hr);
        TURNED(4, er - gr, ei - gi);
        TURNED(6, fr - hi, fi + hr);
    }
    /* By the eighth of a turn each: 1, (1 - i) / root 2, -i, (-1 - i) / root 2. */
    const V br = (r[5] + i[5]) * root, bi = (i[5] - r[5]) * root;
    const V dr = (i[7] - r[7]) * root, di = (-r[7] - i[7]) * root;
    const V er = r[4] + i[6], ei = i[4] - r[6], fr = r[4] - i[6], fi = i[4] + r[6];
    const V gr = br + dr, gi = bi + di, hr = br - dr, hi = bi - di;
    TURNED(1, er + gr, ei + gi);
    TURNED(3, fr + hi, fi - hr);
    TURNED(5, er - gr, ei - gi);
    TURNED(7, fr - hi, fi + hr);
}

/* An odd radix: outputs j and r - j differ in the sign of what the sines make. */
INLINE void STAGE(by_odd)(PLACE, int r, const T *roots)
{
    enum { MOST = LARGEST_RADIX / 2 };
    const int half = r / 2;
    const V ar = GET(xr), ai = GET(xi);
    V sum_r[MOST], sum_i[MOST], gap_r[MOST], gap_i[MOST], all_r = ar, all_i = ai;
    _Pragma("GCC unroll 3") for (int k = 0; k < half; ++k) {
        const V br = GET(xr + (k + 1) * x_step), bi = GET(xi + (k + 1) * x_step);
        const V cr = GET(xr + (r - k - 1) * x_step), ci = GET(xi + (r - k - 1) * x_step);
        all_r += sum_r[k] = br + cr;
        all_i += sum_i[k] = bi + ci;
        gap_r[k] = br - cr;
        gap_i[k] = bi - ci;
    }
    FIRST(all_r, all_i);
    _Pragma("GCC unroll 3") for (int j = 1; j <= half; ++j) {
        V even_r = ar, even_i = ai, odd_r = gap_r[0] * roots[r + j], odd_i = gap_i[0] * roots[r + j];
        even_r += sum_r[0] * roots[j];
        even_i += sum_i[0] * roots[j];
        _Pragma("GCC unroll 3") for (int k = 1; k < half; ++k) {
            const int turn = j * (k + 1) % r;
            even_r += sum_r[k] * roots[turn];
            even_i += sum_i[k] * roots[turn];
            odd_r += gap_r[k] * roots[r + turn];
            odd_i += gap_i[k] * roots[r + turn];
        }
        TURNED(j, even_r + odd_i, even_i - odd_r);
        TURNED(r - j, even_r - odd_i, even_i + odd_r);
    }
}

/* Lines side by side, or (s = 1) points of one line side by side, which the compiler makes vectors of. */
#define PASS(CALL, PLAIN_CALL) \
    do { \
        if (WIDTH == 1 && s == 1) { \
            TH_INDEPENDENT \
            for (int64_t p = 0; p < m; ++p) \
                CALL(x.re + p, x.im + p, m, y.re + r * p, y.im + r * p, 1, turns + p, m, 0); \
            break; \
        } \
        for (int64_t q = 0; q < s; q += WIDTH) \
            PLAIN_CALL(x.re + q, x.im + q, m * s, y.re + q, y.im + q, s, turns, m, 1); \
        for (int64_t p = 1; p < m; ++p) { \
            const int64_t from = p * s, to = r * p * s; \
            for (int64_t q = 0; q < s; q += WIDTH) \
                CALL(x.re + from + q, x.im + from + q, m * s, y.re + to + q, y.im + to + q, s, turns + p, m, 0); \
        } \
    } while (0)

#define BY_ODD(...) STAGE(by_odd)(__VA_ARGS__, r, roots)

static TH_LOOP void STAGE(pass_2)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns)
{
    enum { r = 2 };
    PASS(STAGE(by_2), STAGE(by_2));
}

static TH_LOOP void STAGE(pass_4)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns)
{
    enum { r = 4 };
    PASS(STAGE(by_4), STAGE(by_4));
}

static TH_LOOP void STAGE(pass_8)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns)
{
    enum { r = 8 };
    PASS(STAGE(by_8), STAGE(by_8));
}

static TH_LOOP void STAGE(pass_3)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns, const T *restrict roots)
{
    enum { r = 3 };
    PASS(BY_ODD, BY_ODD);
}

static TH_LOOP void STAGE(pass_5)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns, const T *restrict roots)
{
    enum { r = 5 };
    PASS(BY_ODD, BY_ODD);
}

static TH_LOOP void STAGE(pass_7)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns, const T *restrict roots)
{
    enum { r = 7 };
    PASS(BY_ODD, BY_ODD);
}

static TH_LOOP void STAGE(pass_odd)(int64_t s, int64_t m, planes x, planes y, const T *restrict turns, const T *restrict roots, int r)
{
    PASS(BY_ODD, BY_ODD);
}

static void STAGE(pass)(int r, int64_t s, int64_t m, planes x, planes y, const T *turns, const T *roots)
{
    switch (r) {
    case 2: STAGE(pass_2)(s, m, x, y, turns); break;
    case 3: STAGE(pass_3)(s, m, x, y, turns, roots); break;
    case 4: STAGE(pass_4)(s, m, x, y, turns); break;
    case 5: STAGE(pass_5)(s, m, x, y, turns, roots); break;
    case 7: STAGE(pass_7)(s, m, x, y, turns, roots); break;
    case 8: STAGE(pass_8)(s, m, x, y, turns); break;
    default: STAGE(pass_odd)(s, m, x, y, turns, roots, r);
    }
}

#undef GET
#undef PUT
#undef TURNED
#undef FIRST
#undef PLACE
#undef PASS
#undef BY_ODD

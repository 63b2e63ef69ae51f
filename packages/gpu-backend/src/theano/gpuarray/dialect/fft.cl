/* The discrete Fourier transform of lines of complex numbers, by Stockham's algorithm: a stage for each prime factor of the length
 * (fours are taken together). Lines lie along the middle axis of a packed array (outer, n, inner) of pairs of numbers. */
typedef struct {
    int64_t at[3], n, inner, all; /* all: elements of the array */
    int64_t before, radix;        /* the product of the factors of the stages before, and that of this one */
    int64_t back;                 /* whether the sign of the exponent is that of the transform back */
} fft_args;

typedef struct {
    int64_t at[1], n;
} fft_roots_args;

typedef struct {
    int64_t at[2], n, all;
} fft_complete_args;

typedef struct {
    int64_t at[2], n, m, back;
} fft_chirps_args;

typedef struct {
    int64_t at[3], from, to, inner, all, used; /* lengths of lines, elements of the result, those of a line that are read */
    double scale;
} fft_modulate_args;

#define PAIR(p, k, i) ((GLOBAL NUMBER *)(p + a.at[k]) + 2 * (i))

/* Root k of the n roots of one, forwards. The angle is that from the nearest quarter of a turn, so that no digit is lost. */
TH_INLINE void root_of(const int64_t k, const int64_t n, NUMBER *re, NUMBER *im)
{
    const int64_t quarter = (8 * k / n + 1) / 2, rest = 4 * k - quarter * n;
    const double angle = 6.283185307179586 * ((double)rest / (4.0 * (double)n)), c = cos(angle), s = sin(angle);
    *re = (NUMBER)(quarter % 4 == 0 ? c : quarter % 4 == 1 ? -s : quarter % 4 == 2 ? -c : s);
    *im = (NUMBER)(quarter % 4 == 0 ? -s : quarter % 4 == 1 ? -c : quarter % 4 == 2 ? s : c);
}

KERNEL void roots(GLOBAL char *p0, ARGUMENTS fft_roots_args a)
{
    const int64_t k = GLOBAL_ID();
    NUMBER re, im;
    if (k >= a.n)
        return;
    root_of(k, a.n, &re, &im);
    PAIR(p0, 0, k)[0] = re;
    PAIR(p0, 0, k)[1] = im;
}

/* One stage, a work-item for each element of the result. p0: from, p1: to, p2: the roots of one. */
KERNEL void stage(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS fft_args a)
{
    const int64_t at = GLOBAL_ID();
    if (at >= a.all)
        return;
    const int64_t line = at / a.inner, inside = at - line * a.inner, outer = line / a.n, k = line - outer * a.n;
    const int64_t span = a.before * a.radix, turn = k % span * (a.n / span), first = k / span * a.before + k % a.before;
    const int64_t step = a.n / a.radix;
    NUMBER re = 0, im = 0;
    for (int64_t r = 0, angle = 0; r < a.radix; ++r) {
        GLOBAL const NUMBER *x = PAIR(p0, 0, (outer * a.n + first + r * step) * a.inner + inside), *w = PAIR(p2, 2, angle);
        const NUMBER sine = a.back ? -w[1] : w[1];
        re += x[0] * w[0] - x[1] * sine;
        im += x[0] * sine + x[1] * w[0];
        angle += turn;
        angle -= angle >= a.n ? a.n : 0;
    }
    GLOBAL NUMBER *y = PAIR(p1, 1, at);
    y[0] = re;
    y[1] = im;
}

/* What makes a transform of any length n a convolution of length m (Bluestein, 1970). p0: numbers of modulus 1 by which signal and
 * result are multiplied, p1: the other side of the convolution. */
KERNEL void chirps(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS fft_chirps_args a)
{
    const int64_t at = GLOBAL_ID(), k = at < a.n ? at : a.m - at;
    NUMBER re = 0, im = 0;
    if (at >= a.m)
        return;
    if (k < a.n)
        root_of(k * k % (2 * a.n), 2 * a.n, &re, &im);
    im = a.back ? -im : im;
    PAIR(p1, 1, at)[0] = re;
    PAIR(p1, 1, at)[1] = -im;
    if (at < a.n) {
        PAIR(p0, 0, at)[0] = re;
        PAIR(p0, 0, at)[1] = im;
    }
}

/* The first elements of lines times the numbers of a table, as lines of another length, which are filled up with zeros. */
KERNEL void modulate(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS fft_modulate_args a)
{
    const int64_t at = GLOBAL_ID();
    if (at >= a.all)
        return;
    const int64_t line = at / a.inner, inside = at - line * a.inner, outer = line / a.to, k = line - outer * a.to;
    NUMBER re = 0, im = 0;
    if (k < a.used) {
        GLOBAL const NUMBER *x = PAIR(p0, 0, (outer * a.from + k) * a.inner + inside), *w = PAIR(p2, 2, k);
        re = (NUMBER)a.scale * (x[0] * w[0] - x[1] * w[1]);
        im = (NUMBER)a.scale * (x[0] * w[1] + x[1] * w[0]);
    }
    PAIR(p1, 1, at)[0] = re;
    PAIR(p1, 1, at)[1] = im;
}

/* Lines of n from their first n / 2 + 1 elements, of which the others are the conjugates. */
KERNEL void complete(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS fft_complete_args a)
{
    const int64_t at = GLOBAL_ID(), line = at / a.n, k = at - line * a.n, there = a.n / 2 + 1;
    if (at >= a.all)
        return;
    GLOBAL const NUMBER *x = PAIR(p0, 0, line * there + (k < there ? k : a.n - k));
    GLOBAL NUMBER *y = PAIR(p1, 1, at);
    const int is_real = k == 0 || 2 * k == a.n;
    y[0] = x[0];
    y[1] = is_real ? (NUMBER)0 : k < there ? x[1] : -x[1];
}

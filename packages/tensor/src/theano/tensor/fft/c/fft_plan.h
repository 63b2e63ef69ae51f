/* The plan of a length: made at its first transform, and kept as long as the process where that is not too much. */

typedef struct NAME(plan) {
    int64_t length, n;          /* of the line; of the complex transform */
    int64_t width;              /* numbers of a line's workspace */
    int halved, stages, radices[MOST_STAGES]; /* (a real line of even length is halved) */
    T *turns[MOST_STAGES];      /* per stage of radix r: for j = 1 .. r-1 the real, then the imaginary parts */
    T *roots[MOST_STAGES];      /* per stage of an odd radix: cosines, then sines of k / r */
    T *half;                    /* of a halved line: what takes the spectrum apart */
    struct NAME(plan) *inner;   /* of a convolution, whose spectrum and chirp these are: */
    T *spectrum, *chirp;
    T *memory;                  /* all the above */
} plan;

static void NAME(forget)(plan *p)
{
    if (p == NULL)
        return;
    NAME(forget)(p->inner);
    free(p->memory);
    free(p);
}

static int64_t NAME(numbers_of)(const plan *p)
{
    int64_t count = p->halved ? 2 * p->n : 0, left = p->n;
    if (p->inner != NULL)
        return count + 2 * p->n + 2 * p->inner->n;
    for (int i = 0; i < p->stages; ++i) {
        left /= p->radices[i];
        count += 2 * (p->radices[i] - 1) * left + 2 * p->radices[i];
    }
    return count;
}

/* `count` roots, of exponents k * step, forth. */
static void NAME(set_roots)(T *real, T *imaginary, int64_t count, int64_t step, int64_t n)
{
    for (int64_t k = 0; k < count; ++k) {
        double c, s;
        th_fft_root(k * step % n, n, &c, &s);
        real[k] = (T)c;
        imaginary[k] = (T)-s;
    }
}

static planes NAME(transform)(const plan *p, int64_t s, planes x, planes y);

/* exp(i pi k^2 / n), and the spectrum of its periodic continuation. */
static int NAME(set_chirp)(plan *p)
{
    const int64_t n = p->n, m = p->inner->n;
    T *scratch = malloc((size_t)(4 * m) * sizeof(T));
    if (scratch == NULL)
        return -1;
    const planes x = {scratch, scratch + m}, y = {scratch + 2 * m, scratch + 3 * m};
    memset(scratch, 0, (size_t)(2 * m) * sizeof(T));
    for (int64_t k = 0, square = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k) {
        double c, s;
        th_fft_root(square, 2 * n, &c, &s);
        p->chirp[k] = (T)c;
        p->chirp[n + k] = (T)s;
        x.re[k] = x.re[k ? m - k : 0] = (T)(c / (double)m);
        x.im[k] = x.im[k ? m - k : 0] = (T)(s / (double)m);
    }
    const planes found = NAME(transform)(p->inner, 1, x, y);
    memcpy(p->spectrum, found.re, (size_t)m * sizeof(T));
    memcpy(p->spectrum + m, found.im, (size_t)m * sizeof(T));
    free(scratch);
    return 0;
}

/* A length from 2n - 1 on whose only prime factors are 2, 3 and 5: the least multiple of 4, or a power of 2. */
static int64_t NAME(convolution_length)(int64_t n)
{
    int64_t best = 1;
    while (best < 2 * n - 1)
        best *= 2;
    for (int64_t fives = 1; fives < best; fives *= 5)
        for (int64_t threes = fives; threes < best; threes *= 3) {
            int64_t found = threes;
            while (found < 2 * n - 1)
                found *= 2;
            best = found < best && found % 4 == 0 ? found : best;
        }
    return best;
}

static plan *NAME(make_plan)(int64_t length, int kind)
{
    plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    const int halved = kind >= FFT_FROM_REAL && length % 2 == 0;
    p->length = length;
    p->halved = halved;
    p->n = halved ? length / 2 : length;
    p->width = p->n + 1;
    if (th_fft_factors(p->n, p->radices, &p->stages) != 1) {
        p->inner = NAME(make_plan)(NAME(convolution_length)(p->n), FFT_FORTH);
        if (p->inner == NULL) {
            free(p);
            return NULL;
        }
        p->width = p->inner->n > p->width ? p->inner->n : p->width;
    }
    T *at = p->memory = malloc((size_t)(NAME(numbers_of)(p) + 1) * sizeof(T));
    if (at == NULL) {
        NAME(forget)(p);
        return NULL;
    }
    if (halved) {
        p->half = at;
        NAME(set_roots)(at, at + p->n, p->n, 1, length);
        at += 2 * p->n;
    }
    if (p->inner != NULL) {
        p->chirp = at;
        p->spectrum = at + 2 * p->n;
        if (NAME(set_chirp)(p) == 0)
            return p;
        NAME(forget)(p);
        return NULL;
    }
    int64_t left = p->n, done = 1;
    for (int i = 0; i < p->stages; done *= p->radices[i], ++i) {
        const int r = p->radices[i];
        left /= r;
        p->turns[i] = at;
        for (int j = 1; j < r; ++j, at += 2 * left)
            NAME(set_roots)(at, at + left, left, j * done, p->n);
        p->roots[i] = at;
        for (int k = 0; k < r; ++k, ++at) {
            double c, s;
            th_fft_root(k, r, &c, &s);
            at[0] = (T)c;
            at[r] = (T)s;
        }
        at += r;
    }
    return p;
}

/* Plans that are kept. A place is filled once and never emptied, so that readers need no lock; what finds no place, or
 * would be more than KEPT_BYTES in all, is made for the call and dropped. */
enum { PLACES = TH_FFT_PLANS, TRIES = TH_FFT_TRIES, KEPT_BYTES = TH_FFT_KEPT_BYTES };
static plan *NAME(kept)[PLACES];
static int64_t NAME(kept_bytes);

static int NAME(is_for)(const plan *p, int64_t length, int halved)
{
    return p->length == length && p->halved == halved;
}

/* The plan for a length; `own` is set if the caller must forget it. */
static plan *NAME(plan_of)(int64_t length, int kind, int *own)
{
    const int halved = kind >= FFT_FROM_REAL && length % 2 == 0;
    const uint64_t first = ((uint64_t)length * 2 + (uint64_t)halved) * UINT64_C(0x9E3779B97F4A7C15) >> 55;
    plan *made = NULL;
    *own = 0;
    for (int i = 0; i < TRIES; ++i) {
        plan **place = &NAME(kept)[(first + (uint64_t)i) % PLACES];
        plan *there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (there == NULL) {
            made = made != NULL ? made : NAME(make_plan)(length, kind);
            if (made == NULL)
                return NULL;
            const int64_t bytes = (NAME(numbers_of)(made) + (made->inner ? NAME(numbers_of)(made->inner) : 0)) * (int64_t)sizeof(T);
            if (__atomic_add_fetch(&NAME(kept_bytes), bytes, __ATOMIC_RELAXED) > KEPT_BYTES) {
                __atomic_sub_fetch(&NAME(kept_bytes), bytes, __ATOMIC_RELAXED);
                break;
            }
            if (__atomic_compare_exchange_n(place, &there, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return made;
            __atomic_sub_fetch(&NAME(kept_bytes), bytes, __ATOMIC_RELAXED);
        }
        if (NAME(is_for)(there, length, halved)) {
            NAME(forget)(made);
            return there;
        }
    }
    *own = 1;
    return made != NULL ? made : NAME(make_plan)(length, kind);
}

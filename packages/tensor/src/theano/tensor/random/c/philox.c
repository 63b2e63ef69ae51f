/* Numbers of Philox 4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, SC 2011).
 *
 * The generator makes 4 words of 32 bits, a block, of a counter and a key. GROUP blocks of neighbouring counters are
 * made side by side; their first two words are the first GROUP numbers of 64 bits of the group, and the other two words
 * the next. Elements of 32 bits are the halves of these numbers, the low one first.
 */
#include "kernels.h"
#include "draw.h"
#include "lanes.h"

#include "c/exponential.h"
#include "c/logarithm.h"
#include "philox_block.h"

enum { GROUP = 64, WORDS = 2 * GROUP, SIDE_BY_SIDE = 4, LANES = TH_VECTOR / 8, ROUNDS = 10 };

typedef struct {
    uint64_t key, stream, counter;
    int64_t count, kind;
    th_buffer *out;
} draw;

/* The products of the low halves of 64-bit lanes. */
#if defined(__x86_64__)
#define MULTIPLY(a, b) ((lanes_i8)TH_REGISTERS(mul_epu32)((TH_REGISTER(i))(a), (TH_REGISTER(i))(b)))
#else
#define MULTIPLY(a, b) (((a) & 0xffffffff) * ((b) & 0xffffffff))
#endif

typedef uint64_t words __attribute__((vector_size(TH_VECTOR)));
#define ALL(x) ((lanes_i8){0} + (int64_t)(x))
#define HIGH(v) ((lanes_i8)((words)(v) >> 32))

/* SIDE_BY_SIDE vectors of blocks; only the low halves of lanes mean anything until the end. */
TH_INLINE void vectors(const draw *d, uint64_t counter, uint64_t *to)
{
    lanes_i8 a[SIDE_BY_SIDE], b[SIDE_BY_SIDE], c[SIDE_BY_SIDE], e[SIDE_BY_SIDE], count;
    uint32_t low = (uint32_t)d->key, high = (uint32_t)(d->key >> 32);
    for (int l = 0; l < (int)LANES; ++l)
        count[l] = l;
    for (int v = 0; v < (int)SIDE_BY_SIDE; ++v) {
        a[v] = count + (int64_t)(counter + (uint64_t)(v * (int)LANES));
        b[v] = HIGH(a[v]);
        c[v] = ALL(d->stream & 0xffffffffu);
        e[v] = ALL(d->stream >> 32);
    }
    for (int round = 0; round < (int)ROUNDS; ++round) {
        for (int v = 0; v < (int)SIDE_BY_SIDE; ++v) {
            const lanes_i8 p = MULTIPLY(a[v], ALL(0xD2511F53u)), q = MULTIPLY(c[v], ALL(0xCD9E8D57u));
            a[v] = HIGH(q) ^ b[v] ^ ALL(low);
            b[v] = q;
            c[v] = HIGH(p) ^ e[v] ^ ALL(high);
            e[v] = p;
        }
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    for (int v = 0; v < (int)SIDE_BY_SIDE; ++v) {
        const lanes_i8 first = (a[v] & 0xffffffff) | (lanes_i8)((words)b[v] << 32);
        const lanes_i8 second = (c[v] & 0xffffffff) | (lanes_i8)((words)e[v] << 32);
        memcpy(to + v * (int)LANES, &first, sizeof first);
        memcpy(to + GROUP + v * (int)LANES, &second, sizeof second);
    }
}

TH_LOOP static void group(const draw *d, int64_t which, uint64_t *to)
{
    for (int at = 0; at < (int)GROUP; at += (int)SIDE_BY_SIDE * (int)LANES)
        vectors(d, d->counter + (uint64_t)(which * GROUP + at), to + at);
}

TH_LOOP static void uniform_f8(const uint64_t *w, double *to)
{
    for (int i = 0; i < (int)WORDS; ++i)
        to[i] = th_philox_uniform_f8(w[i]);
}

TH_LOOP static void uniform_f4(const uint32_t *w, float *to)
{
    for (int i = 0; i < 2 * (int)WORDS; ++i)
        to[i] = th_philox_uniform_f4(w[i]);
}

/* The first half of the bits of a group are radii, the second angles. */
TH_LOOP static void normal_f8(const uint64_t *w, double *to)
{
    for (int i = 0; i < (int)GROUP; ++i)
        th_philox_normal_f8(w[i], w[i + GROUP], to + i, to + i + GROUP);
}

TH_LOOP static void normal_f4(const uint32_t *w, float *to)
{
    for (int i = 0; i < (int)WORDS; ++i)
        th_philox_normal_f4(w[i], w[i + WORDS], to + i, to + i + WORDS);
}

static void convert(const draw *d, const uint64_t *w, void *to)
{
    const int single = d->out->itemsize == 4;
    if (d->kind == TH_RANDOM_KIND_BITS)
        memcpy(to, w, WORDS * sizeof *w);
    else if (d->kind == TH_RANDOM_KIND_UNIFORM && single)
        uniform_f4((const uint32_t *)w, to);
    else if (d->kind == TH_RANDOM_KIND_UNIFORM)
        uniform_f8(w, to);
    else if (single)
        normal_f4((const uint32_t *)w, to);
    else
        normal_f8(w, to);
}

static void draw_groups(void *arg, int64_t lo, int64_t hi)
{
    const draw *d = arg;
    const int64_t size = d->out->itemsize, each = WORDS * 8 / size;
    uint64_t w[WORDS] __attribute__((aligned(64))), last[WORDS];
    for (int64_t g = lo; g < hi; ++g) {
        const int64_t left = d->count - g * each;
        char *to = d->out->data + g * each * size;
        group(d, g, w);
        convert(d, w, left < each ? (void *)last : (void *)to);
        if (left < each)
            memcpy(to, last, (size_t)(left * size));
    }
}

/* inputs: the state (key, stream, counter); lengths. outputs: the next state, numbers of 4 or 8 bytes. */
TH_EXPORT int th_kernel_philox(th_ctx *ctx)
{
    const th_philox_params *p = ctx->params;
    const th_buffer *state = ctx->in[0];
    if (state->shape[0] != 3)
        return TH_FAIL(ctx, TH_ERR_VALUE, "the state of Philox is key, stream and counter, not %lld numbers",
                       (long long)state->shape[0]);
    const uint64_t key = (uint64_t)th_integer(state, 0), stream = (uint64_t)th_integer(state, 1);
    draw d = {key, stream, (uint64_t)th_integer(state, 2), 0, p->kind, ctx->out[1]};
    if (th_draw_outputs(ctx, p->in_place, INT64_MAX / 16, &d.count))
        return -1;
    const int64_t each = WORDS * 8 / d.out->itemsize, groups = (d.count + each - 1) / each;
    const uint64_t next[3] = {key, stream, d.counter + (uint64_t)(groups * GROUP)};
    for (int i = 0; i < 3; ++i)
        *(uint64_t *)(ctx->out[0]->data + i * ctx->out[0]->strides[0]) = next[i];
    const double work = (double)each * (p->kind == TH_RANDOM_KIND_NORMAL ? 3.0 : 0.6);
    return ctx->rt->parallel_for(ctx, groups, th_grain(work), draw_groups, &d);
}

/* Numbers of Philox 4x32-10: a work-item for each block. What is made of a block, and of its bits, is in philox_block.h of
 * the tensor layer. GROUP neighbours are a group: of their bits all first halves come first. */
enum { GROUP = 64, BITS = 0, UNIFORM = 1 };

typedef struct {
    int64_t at[2], count, kind, bytes, blocks;
    int64_t state, next; /* strides in bytes */
} philox_args;

#define WORD(p, k, step) (*(GLOBAL uint64_t *)(p + (k) * step))
#define PUT(TYPE, i, x)  \
    if ((i) < a.count) \
    *(GLOBAL TYPE *)(to + (i) * (int64_t)sizeof(TYPE)) = (x)

/* p0: the state, p1: numbers of `bytes` bytes, in one piece */
KERNEL void philox_draw(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS philox_args a)
{
    const int64_t block = GLOBAL_ID();
    if (block >= a.blocks)
        return;
    GLOBAL const char *state = p0 + a.at[0];
    GLOBAL char *to = p1 + a.at[1];
    uint64_t w[2];
    th_philox_block(WORD(state, 0, a.state), WORD(state, 1, a.state), WORD(state, 2, a.state) + (uint64_t)block, w);
    const int64_t group = block / GROUP, me = block - group * GROUP;
    if (a.bytes == 8) {
        const int64_t first = group * 2 * GROUP + me, second = first + GROUP;
        if (a.kind == BITS) {
            PUT(uint64_t, first, w[0]);
            PUT(uint64_t, second, w[1]);
        } else {
            double u = th_philox_uniform_f8(w[0]), v = th_philox_uniform_f8(w[1]);
            if (a.kind != UNIFORM)
                th_philox_normal_f8(w[0], w[1], &u, &v);
            PUT(double, first, u);
            PUT(double, second, v);
        }
        return;
    }
    for (int k = 0; k < 2; ++k) {
        const int64_t first = group * 4 * GROUP + 2 * me + k, second = first + 2 * GROUP;
        const uint32_t x = (uint32_t)(w[0] >> (32 * k)), y = (uint32_t)(w[1] >> (32 * k));
        if (a.kind == BITS) {
            PUT(uint32_t, first, x);
            PUT(uint32_t, second, y);
        } else {
            float u = th_philox_uniform_f4(x), v = th_philox_uniform_f4(y);
            if (a.kind != UNIFORM)
                th_philox_normal_f4(x, y, &u, &v);
            PUT(float, first, u);
            PUT(float, second, v);
        }
    }
}

/* p0: the state, p1: the next one (maybe the same memory); after all numbers were drawn, by one work-item */
KERNEL void philox_advance(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS philox_args a)
{
    if (GLOBAL_ID() != 0)
        return;
    GLOBAL const char *state = p0 + a.at[0];
    GLOBAL char *next = p1 + a.at[1];
    for (int k = 0; k < 3; ++k)
        WORD(next, k, a.next) = WORD(state, k, a.state) + (k == 2 ? (uint64_t)a.blocks : 0);
}

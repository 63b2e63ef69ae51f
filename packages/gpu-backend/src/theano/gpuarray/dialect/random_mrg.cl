/* Uniform numbers of MRG31k3p: a work-item for each stream, which draws number i, i + streams, i + 2 streams, ... The
 * recurrences are in mrg_step.h of the tensor layer. */
typedef struct {
    int64_t at[3], streams, count, bytes;
    int64_t state[2], next[2]; /* strides in bytes: stream, number */
} mrg_args;

#define STATE(p, k, steps) (*(GLOBAL int32_t *)(p + stream * steps[0] + (k) * steps[1]))

/* p0: states, p1: the next states (maybe the same memory), p2: numbers of `bytes` bytes, in one piece */
KERNEL void mrg(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS mrg_args a)
{
    const int64_t stream = GLOBAL_ID();
    if (stream >= a.streams)
        return;
    uint32_t x[3], y[3];
    for (int k = 0; k < 3; ++k) {
        x[k] = (uint32_t)STATE(p0 + a.at[0], k, a.state);
        y[k] = (uint32_t)STATE(p0 + a.at[0], k + 3, a.state);
    }
    GLOBAL char *to = p2 + a.at[2];
    for (int64_t i = stream; i < a.count; i += a.streams) {
        const uint32_t next_x = th_mrg_next_x(x[1], x[2]), next_y = th_mrg_next_y(y[0], y[2]);
        x[2] = x[1];
        x[1] = x[0];
        x[0] = next_x;
        y[2] = y[1];
        y[1] = y[0];
        y[0] = next_y;
        const int32_t drawn = th_mrg_drawn(next_x, next_y);
        if (a.bytes == 4)
            *(GLOBAL float *)(to + 4 * i) = TH_MRG_FLOAT(drawn);
        else if (a.bytes == 8)
            *(GLOBAL double *)(to + 8 * i) = TH_MRG_DOUBLE(drawn);
        else
            *(GLOBAL uint16_t *)(to + 2 * i) = th_store_f16(TH_MRG_HALF(drawn));
    }
    for (int k = 0; k < 3; ++k) {
        STATE(p1 + a.at[1], k, a.next) = (int32_t)x[k];
        STATE(p1 + a.at[1], k + 3, a.next) = (int32_t)y[k];
    }
}

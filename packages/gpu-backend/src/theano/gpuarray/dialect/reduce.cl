/* Reductions that are no operation on numbers alone; launched as those are that are written for an expression (kernels/c/reduce.c).
 *
 * Before this text stand: `state`, 16 bytes that say what was taken of an element of the results; `nothing()`; TAKE(mine, read, few,
 * number), which takes the first `few` of MANY numbers that were read, of which `number` is the place of number e; `joined(x, y)`;
 * RESULTS, the pointers of the results, and WRITE(mine, element, a), which writes them. */
enum { TERMS = AXES < 2 ? 2 : AXES }; /* of tables */

typedef struct ALIGNED(PACK_BYTES) {
    NUMBER v[PACK];
} pack;

typedef struct {
    int64_t at[2 + OUTPUTS], n, count, lane_bits, part_bits, neighbours, packed, nkept, nterms;
    int64_t kept[AXES], terms[TERMS], in[1][2][TERMS], out[OUTPUTS][AXES];
} terms_args;

typedef struct {
    int64_t at[1 + OUTPUTS], n, lane_bits, parts, nkept, kept[AXES], out[OUTPUTS][AXES];
} finish_args;

/* What the lanes of each element have taken becomes that of the first one. */
#define JOIN_LANES(apart)                                                                \
    shared[me] = mine;                                                                   \
    for (int half_of = lanes / 2; half_of > 0; half_of /= 2) {                           \
        BARRIER();                                                                       \
        if (lane < half_of)                                                              \
            shared[me] = mine = joined(mine, shared[me + half_of * (apart)]);            \
    }

KERNEL void terms(GLOBAL char *p0, RESULTS, GLOBAL char *last, ARGUMENTS terms_args a)
{
    LOCAL state shared[256];
    const int lane_bits = (int)a.lane_bits, lanes = 1 << lane_bits, which_bits = 8 - lane_bits, per_group = 1 << which_bits;
    const int me = LOCAL_ID(), lane = a.neighbours ? me & (lanes - 1) : me >> which_bits;
    const int which = a.neighbours ? me >> lane_bits : me & (per_group - 1);
    const int parts = 1 << (int)a.part_bits, step_bits = lane_bits + (int)a.part_bits;
    const int64_t group = GROUP_ID() >> (int)a.part_bits, part = GROUP_ID() & (parts - 1), step = (int64_t)1 << step_bits;
    const int64_t element = (group << which_bits) + which, first = part << lane_bits | lane;
    state mine = nothing();
    if (element < a.n && first < a.count) {
        GLOBAL const char *from = p0 + a.at[0] + th_offset(a.nkept, a.kept, a.in[0][0], element);
        if (a.packed) { /* packs of neighbours are counted */
            int64_t t = first;
            for (int few = (int)((a.count - t + step - 1) >> step_bits); few > 0; few -= MANY / PACK, t += MANY / PACK * step) {
                pack packs[MANY / PACK];
                NUMBER read[MANY];
                UNROLL
                for (int e = 0; e < MANY / PACK; ++e) /* past the last one, the first */
                    packs[e] = *(GLOBAL const pack *)(from + (e < few ? (t + e * step) * (int64_t)sizeof(pack) : 0));
                UNROLL
                for (int e = 0; e < MANY; ++e)
                    read[e] = packs[e / PACK].v[e % PACK];
                TAKE(mine, read, few * PACK, (t + e / PACK * step) * PACK + e % PACK)
            }
        } else if (a.nterms < 2 && a.count <= 1 << 30) {
            const int64_t next = step * a.in[0][1][0];
            int64_t t = first, at = t * a.in[0][1][0];
            for (int few = (int)((a.count - t + step - 1) >> step_bits); few > 0; few -= MANY, t += MANY * step) {
                NUMBER read[MANY];
                UNROLL
                for (int e = 0; e < MANY; ++e, at += next) /* past the last one, the first */
                    read[e] = *(GLOBAL const NUMBER *)(from + (e < few ? at : 0));
                TAKE(mine, read, few, t + e * step)
            }
        } else {
            for (int64_t t = first; t < a.count; t += step) {
                NUMBER read[MANY];
                for (int e = 0; e < MANY; ++e)
                    read[e] = *(GLOBAL const NUMBER *)(from + th_offset(a.nterms, a.terms, a.in[0][1], t));
                TAKE(mine, read, 1, t)
            }
        }
    }
    JOIN_LANES(a.neighbours ? 1 : per_group)
    if (lane == 0 && element < a.n) {
        if (parts == 1) {
            WRITE(mine, element, a)
        } else {
            *(GLOBAL state *)(last + a.at[1 + OUTPUTS] + (part * a.n + element) * (int64_t)sizeof mine) = mine;
        }
    }
}

KERNEL void finish(GLOBAL char *p0, RESULTS, ARGUMENTS finish_args a)
{
    LOCAL state shared[256];
    const int lanes = 1 << (int)a.lane_bits, which_bits = 8 - (int)a.lane_bits, per_group = 1 << which_bits;
    const int me = LOCAL_ID(), lane = me >> which_bits, which = me & (per_group - 1);
    const int64_t element = (GROUP_ID() << which_bits) + which;
    state mine = nothing();
    for (int64_t part = lane; element < a.n && part < a.parts; part += lanes)
        mine = joined(mine, *(GLOBAL const state *)(p0 + a.at[0] + (part * a.n + element) * (int64_t)sizeof mine));
    JOIN_LANES(per_group)
    if (lane == 0 && element < a.n) {
        WRITE(mine, element, a)
    }
}

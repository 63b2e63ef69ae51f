/* Convolution and its gradients, as products of matrices: C[z, m, n] = sum over k of A[z, m, k] B[z, k, n].
 *
 * Each of z, n and k stands for four indices, an outer one and one for each of three axes. All addresses are sums of a
 * stride for each index; in B, which is the image (or the output, where images are computed), an element is there only if
 * its place along each axis, a sum of steps, is one. So one text computes all three, with filters shared or not, and what
 * is not there is never read; nobody makes a copy of the image in rows.
 *
 * A group computes a tile of ROWS x COLUMNS elements, a work-item EACH_ROW x EACH_COLUMN of them, at most; what they read
 * goes through local memory. Long sums of few elements are cut into parts, which `finish` adds in their order: results are
 * always the same.
 */
typedef struct {
    int64_t count, length[4], a[4], b[4], c[4]; /* how many in all; strides in bytes */
    int64_t step[3];                            /* of places */
} conv_index;

typedef struct {
    int64_t at[3], a, b, c; /* bytes from the first element to that of index 0 */
    int64_t m, am, cm;      /* how many rows, and their strides */
    int64_t parts, share;   /* of a sum, and how many terms each has: a multiple of DEPTH */
    int64_t guarded;        /* whether A has only the elements that B has */
    int64_t by_rows, by_columns; /* which neighbours in A and B are read by neighbours */
    int64_t place[3], length[3]; /* that of index 0, and how many there are */
    conv_index z, n, k;
} conv_args;

enum { DEPTH = 16, ITEMS = 256, ACROSS = 32 * COLUMNS / 128, DOWN = ITEMS / ACROSS, EACH_ROW = ROWS / DOWN, EACH_COLUMN = COLUMNS / ACROSS };

/* The four indices that number `left` stands for. */
TH_INLINE void split(const conv_index *x, int64_t left, int64_t *index)
{
    for (int d = 3; d > 0; --d) {
        const int64_t rest = x->length[d] > 1 ? left / x->length[d] : left;
        index[d] = left - rest * x->length[d];
        left = rest;
    }
    index[0] = left;
}

TH_INLINE int64_t along(const int64_t *strides, const int64_t *index)
{
    return strides[0] * index[0] + strides[1] * index[1] + strides[2] * index[2] + strides[3] * index[3];
}

#define PLACES(to, x, index, first)               \
    to[0] = first[0] + x.step[0] * index[1];      \
    to[1] = first[1] + x.step[1] * index[2];      \
    to[2] = first[2] + x.step[2] * index[3]

/* p0: A, p1: B, p2: C, or the parts of all its sums */
KERNEL void convolve(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS conv_args a)
{
    LOCAL COMPUTE left[DEPTH][ROWS + 1], right[DEPTH][COLUMNS + 1];
    LOCAL int64_t n_b[COLUMNS], n_c[COLUMNS], n_place[3][COLUMNS]; /* of columns */
    LOCAL int64_t k_a[2][DEPTH], k_b[2][DEPTH], k_place[2][3][DEPTH]; /* of terms, and of those that come next */
    const int me = LOCAL_ID(), row = me / ACROSS, column = me % ACROSS;
    const int64_t across = (a.n.count + COLUMNS - 1) / COLUMNS, down = (a.m + ROWS - 1) / ROWS, tiles = across * down;
    const int64_t part = GROUP_ID() / (tiles * a.z.count), group = GROUP_ID() - part * tiles * a.z.count;
    const int64_t z = group / tiles, tile = group - z * tiles;
    const int64_t i0 = tile / across * ROWS, j0 = (tile - tile / across * across) * COLUMNS;
    const int64_t begin = part * a.share, end = begin + a.share < a.k.count ? begin + a.share : a.k.count;
    int64_t zi[4], none[3];
    none[0] = none[1] = none[2] = 0;
    split(&a.z, z, zi);
    GLOBAL const char *x = p0 + a.at[0] + a.a + along(a.z.a, zi);
    GLOBAL const char *y = p1 + a.at[1] + a.b + along(a.z.b, zi);
    for (int j = me; j < COLUMNS; j += ITEMS) {
        int64_t ni[4], place[3], first[3];
        split(&a.n, j0 + j, ni);
        PLACES(first, a.z, zi, a.place);
        PLACES(place, a.n, ni, first);
        n_b[j] = along(a.n.b, ni);
        n_c[j] = along(a.n.c, ni);
        for (int d = 0; d < 3; ++d)
            n_place[d][j] = place[d];
    }
    COMPUTE sum[EACH_ROW][EACH_COLUMN];
    for (int r = 0; r < EACH_ROW; ++r)
        for (int s = 0; s < EACH_COLUMN; ++s)
            sum[r][s] = 0;
    for (int64_t k0 = begin - DEPTH; k0 < end; k0 += DEPTH) {
        /* While the tile is read, the terms of the next one are found; the first time there is nothing else to do. */
        const int now = (int)((k0 - begin) / DEPTH & 1), next = 1 - now;
        if (me < DEPTH) {
            int64_t ki[4], place[3];
            split(&a.k, k0 + DEPTH + me, ki);
            PLACES(place, a.k, ki, none);
            k_a[next][me] = along(a.k.a, ki);
            k_b[next][me] = along(a.k.b, ki);
            for (int d = 0; d < 3; ++d)
                k_place[next][d][me] = place[d];
        }
        if (k0 >= begin) {
            for (int at = me; at < ROWS * DEPTH; at += ITEMS) {
                const int i = a.by_rows ? at / DEPTH : at % ROWS, k = a.by_rows ? at % DEPTH : at / ROWS;
                int there = i0 + i < a.m && k0 + k < end;
                if (a.guarded) /* where no column has a place of its own, so that the first one's is that of all */
                    for (int d = 0; d < 3; ++d)
                        there &= (uint64_t)(n_place[d][0] + k_place[now][d][k]) < (uint64_t)a.length[d];
                left[k][i] = there ? LOAD(*(GLOBAL const NUMBER *)(x + (i0 + i) * a.am + k_a[now][k])) : 0;
            }
            for (int at = me; at < COLUMNS * DEPTH; at += ITEMS) {
                const int j = a.by_columns ? at % COLUMNS : at / DEPTH, k = a.by_columns ? at / COLUMNS : at % DEPTH;
                int there = j0 + j < a.n.count && k0 + k < end;
                for (int d = 0; d < 3; ++d)
                    there &= (uint64_t)(n_place[d][j] + k_place[now][d][k]) < (uint64_t)a.length[d];
                right[k][j] = there ? LOAD(*(GLOBAL const NUMBER *)(y + n_b[j] + k_b[now][k])) : 0;
            }
        }
        BARRIER();
        if (k0 >= begin) {
            for (int k = 0; k < DEPTH; ++k) {
                COMPUTE u[EACH_ROW], v[EACH_COLUMN];
                for (int r = 0; r < EACH_ROW; ++r)
                    u[r] = left[k][row + DOWN * r];
                for (int s = 0; s < EACH_COLUMN; ++s)
                    v[s] = right[k][column + ACROSS * s];
                for (int r = 0; r < EACH_ROW; ++r)
                    for (int s = 0; s < EACH_COLUMN; ++s)
                        sum[r][s] = MULTIPLY_ADD(u[r], v[s], sum[r][s]);
            }
        }
        BARRIER();
    }
    const int64_t to = a.at[2] + a.c + along(a.z.c, zi);
    for (int r = 0; r < EACH_ROW; ++r) {
        const int64_t i = i0 + row + DOWN * r;
        for (int s = 0; s < EACH_COLUMN; ++s) {
            const int j = column + ACROSS * s;
            if (i >= a.m || j0 + j >= a.n.count)
                continue;
            if (a.parts > 1)
                *(GLOBAL COMPUTE *)(p2 + a.at[2] + (((part * a.z.count + z) * a.m + i) * a.n.count + j0 + j) * (int64_t)sizeof(COMPUTE)) = sum[r][s];
            else
                *(GLOBAL NUMBER *)(p2 + to + i * a.cm + n_c[j]) = STORE(sum[r][s]);
        }
    }
}

/* p0: the parts of all sums, p1: C */
KERNEL void finish(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS conv_args a)
{
    const int64_t element = GLOBAL_ID(), elements = a.z.count * a.m * a.n.count;
    if (element >= elements)
        return;
    GLOBAL const COMPUTE *from = (GLOBAL const COMPUTE *)(p0 + a.at[0]) + element;
    COMPUTE sum = 0;
    for (int64_t part = 0; part < a.parts; ++part)
        sum += from[part * elements];
    int64_t zi[4], ni[4];
    const int64_t line = element / a.n.count, z = line / a.m, i = line - z * a.m;
    split(&a.z, z, zi);
    split(&a.n, element - line * a.n.count, ni);
    *(GLOBAL NUMBER *)(p1 + a.at[1] + a.c + along(a.z.c, zi) + i * a.cm + along(a.n.c, ni)) = STORE(sum);
}

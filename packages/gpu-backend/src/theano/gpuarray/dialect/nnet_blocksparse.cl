/* Products of chosen blocks of a matrix with pieces of vectors. Strides are in bytes; numbers of blocks are tables of the host's. */
typedef struct {
    int64_t at[6], batch, rows, columns, height, width; /* examples, pieces on both sides, and the sizes of a block */
    int64_t w[4], h[3], o[3], sums[3];
} blocks_args;

typedef struct {
    int64_t at[4], blocks, rows, columns, height, width;
    int64_t sums[4], x[3], y[3];
    double factor;
} outer_args;

#define AT(p, k, offset) (*(GLOBAL NUMBER *)(p + a.at[k] + (offset)))

/* p0: what is added to, p1: blocks, p2: pieces, p3, p4: numbers of their blocks by rows and by columns, p5: sums. A work-item for
 * each element of the sums. */
KERNEL void chosen_products(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, GLOBAL char *p4, GLOBAL char *p5,
                            ARGUMENTS blocks_args a)
{
    const int64_t at = GLOBAL_ID(), piece = at / a.width, l = at - piece * a.width, b = piece / a.columns, j = piece - b * a.columns;
    if (b >= a.batch)
        return;
    GLOBAL const int64_t *rows = (GLOBAL const int64_t *)(p3 + a.at[3]) + b * a.rows;
    const int64_t column = ((GLOBAL const int64_t *)(p4 + a.at[4]))[piece];
    NUMBER sum = AT(p0, 0, b * a.o[0] + j * a.o[1] + l * a.o[2]);
    for (int64_t i = 0; i < a.rows; ++i)
        for (int64_t k = 0; k < a.height; ++k)
            sum += AT(p2, 2, b * a.h[0] + i * a.h[1] + k * a.h[2]) *
                   AT(p1, 1, rows[i] * a.w[0] + column * a.w[1] + k * a.w[2] + l * a.w[3]);
    AT(p5, 5, b * a.sums[0] + j * a.sums[1] + l * a.sums[2]) = sum;
}

/* p0: blocks that are added to, p1, p2: pieces, p3: for each block that is named its row, its column and where the list of its
 * pairs begins, and then the lists. A group for each block, which adds in the order of the list. */
KERNEL void outer_products(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, GLOBAL char *p3, ARGUMENTS outer_args a)
{
    GLOBAL const int64_t *named = (GLOBAL const int64_t *)(p3 + a.at[3]) + 3 * GROUP_ID();
    GLOBAL const int64_t *list = (GLOBAL const int64_t *)(p3 + a.at[3]) + 3 * (a.blocks + 1);
    for (int64_t at = LOCAL_ID(); at < a.height * a.width; at += 256) {
        const int64_t k = at / a.width, l = at - k * a.width;
        const int64_t place = named[0] * a.sums[0] + named[1] * a.sums[1] + k * a.sums[2] + l * a.sums[3];
        NUMBER sum = AT(p0, 0, place);
        for (int64_t e = named[2]; e < named[5]; ++e) {
            const int64_t j = list[e] % a.columns, i = list[e] / a.columns % a.rows, b = list[e] / a.columns / a.rows;
            sum += (NUMBER)a.factor * AT(p1, 1, b * a.x[0] + i * a.x[1] + k * a.x[2]) * AT(p2, 2, b * a.y[0] + j * a.y[1] + l * a.y[2]);
        }
        AT(p0, 0, place) = sum;
    }
}

/* A matrix with ones on a diagonal and below it, zeros above: a work-item for each element. */
typedef struct {
    int64_t at[1], n, columns, diagonal, bytes;
    uint64_t one; /* the bits of a one */
} tri_args;

KERNEL void tri(GLOBAL char *p0, const tri_args a)
{
    const int64_t i = GLOBAL_ID(), row = i / a.columns, column = i - row * a.columns;
    if (i >= a.n)
        return;
    GLOBAL char *to = p0 + a.at[0] + i * a.bytes;
    const uint64_t value = column <= row + a.diagonal ? a.one : 0;
    if (a.bytes == 1)
        *(GLOBAL uint8_t *)to = (uint8_t)value;
    else if (a.bytes == 2)
        *(GLOBAL uint16_t *)to = (uint16_t)value;
    else if (a.bytes == 4)
        *(GLOBAL uint32_t *)to = (uint32_t)value;
    else
        *(GLOBAL uint64_t *)to = value;
}

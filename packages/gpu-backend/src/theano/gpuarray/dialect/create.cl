/* A matrix with ones on a diagonal and below it; a work-item for each element. */
typedef struct {
    int64_t at[1], columns, all, diagonal, step[2];
} triangle_args;

KERNEL void triangle(GLOBAL char *p0, ARGUMENTS triangle_args a)
{
    const int64_t at = GLOBAL_ID(), i = at / a.columns, j = at - i * a.columns;
    if (at < a.all)
        *(GLOBAL NUMBER *)(p0 + a.at[0] + i * a.step[0] + j * a.step[1]) = j <= i + a.diagonal ? STORE((COMPUTE)1) : STORE((COMPUTE)0);
}

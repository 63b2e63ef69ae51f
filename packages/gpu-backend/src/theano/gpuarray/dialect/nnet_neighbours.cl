/* Neighbourhoods of images as rows of a matrix; a work-item moves an element of it. */
typedef struct {
    int64_t at[2], n, words, wraps; /* elements; numbers that an element has; whether an image goes on at its other side */
    int64_t channels, step[4];      /* of images: how many, and strides in bytes */
    int64_t line, element;          /* strides of the matrix */
    struct {
        int64_t n, count, size, step, before;
    } axis[2];
} neighbours_args;

/* p0: images, p1: the matrix */
KERNEL void neighbours(GLOBAL char *p0, GLOBAL char *p1, ARGUMENTS neighbours_args a)
{
    int64_t left = GLOBAL_ID(), place[2], index[4];
    if (left >= a.n)
        return;
    const int64_t size = a.axis[0].size * a.axis[1].size, line = left / size, element = left - line * size;
    index[2] = element / a.axis[1].size;
    index[3] = element - index[2] * a.axis[1].size;
    const int64_t rows = line / a.axis[1].count, planes = rows / a.axis[0].count;
    place[0] = rows - planes * a.axis[0].count;
    place[1] = line - rows * a.axis[1].count;
    index[0] = planes / a.channels;
    index[1] = planes - index[0] * a.channels;
    int there = 1;
    for (int d = 0; d < 2; ++d) {
        int64_t i = place[d] * a.axis[d].step + index[2 + d] - a.axis[d].before;
        if (a.wraps)
            i = i < 0 ? i + a.axis[d].n : i >= a.axis[d].n ? i - a.axis[d].n : i;
        there &= i >= 0 && i < a.axis[d].n;
        index[2 + d] = i;
    }
    GLOBAL const NUMBER *x = (GLOBAL const NUMBER *)(p0 + a.at[0] + index[0] * a.step[0] + index[1] * a.step[1] + index[2] * a.step[2] + index[3] * a.step[3]);
    GLOBAL NUMBER *y = (GLOBAL NUMBER *)(p1 + a.at[1] + line * a.line + element * a.element);
    for (int64_t word = 0; word < a.words; ++word)
        y[word] = there ? x[word] : 0;
}

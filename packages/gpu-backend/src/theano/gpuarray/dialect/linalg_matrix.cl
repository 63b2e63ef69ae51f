/* What kernels of linear algebra share. Each is given two matrices of any strides and a third operand: a table of whole numbers
 * (a status, 0 where all is well, and the exchanged rows) or of numbers. Groups have 256 work-items. */
typedef struct {
    int64_t at[3], rows, columns, first, count;
    int64_t step[2][2]; /* strides in bytes of both matrices: row, column */
    int64_t lower, option;
    double factor;
} matrix_args;

enum { BLOCK = 32 }; /* rows and columns of what is factorised at once */

#define A(i, j) (*(GLOBAL NUMBER *)(p0 + a.at[0] + (i) * a.step[0][0] + (j) * a.step[0][1]))
#define B(i, j) (*(GLOBAL NUMBER *)(p1 + a.at[1] + (i) * a.step[1][0] + (j) * a.step[1][1]))
#define TABLE ((GLOBAL int64_t *)(p2 + a.at[2]))
#define NUMBERS ((GLOBAL NUMBER *)(p2 + a.at[2]))

/* Triangles: which elements of A are read. The others are what is on the other side of the diagonal, or zeros. */
enum { WHOLE = 0, LOWER = 1, UPPER = 2 };

TH_INLINE int is_read(const int64_t triangle, const int64_t i, const int64_t j)
{
    return triangle == WHOLE || (triangle == LOWER ? i >= j : i <= j);
}

/* B = factor A, of which a triangle is read. option 0: zeros elsewhere; 1: zeros, and NaN everywhere where the status is not 0;
 * 2: the matrix is symmetric. */
KERNEL void take(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), i = at / a.columns, j = at - i * a.columns;
    if (at >= a.rows * a.columns)
        return;
    NUMBER x = 0;
    if (a.option == 1 && TABLE[0] != 0)
        x = NAN;
    else if (is_read(a.lower, i, j))
        x = A(i, j);
    else if (a.option == 2)
        x = A(j, i);
    B(i, j) = a.factor == 1.0 ? x : (NUMBER)a.factor * x;
}

KERNEL void identity(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), i = at / a.columns, j = at - i * a.columns;
    if (at < a.rows * a.columns)
        B(i, j) = i == j;
}

/* B += factor A. */
KERNEL void add(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), i = at / a.columns, j = at - i * a.columns;
    if (at < a.rows * a.columns)
        B(i, j) += (NUMBER)a.factor * A(i, j);
}

/* B = A, of which the one or the other has numbers of single precision. */
#define SINGLE(p, k) (*(GLOBAL float *)(p + a.at[k] + i * a.step[k][0] + j * a.step[k][1]))
KERNEL void from_single(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), i = at / a.columns, j = at - i * a.columns;
    if (at < a.rows * a.columns)
        B(i, j) = SINGLE(p0, 0);
}

KERNEL void to_single(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), i = at / a.columns, j = at - i * a.columns;
    if (at < a.rows * a.columns)
        SINGLE(p1, 1) = (float)A(i, j);
}

/* The sums of the columns of absolute values, each of a row times a number of B, divided by the factor; by a group each. */
KERNEL void absolute_sums(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER shared[256];
    const int me = LOCAL_ID();
    const int64_t j = GROUP_ID();
    NUMBER sum = 0;
    for (int64_t i = me; i < a.rows; i += 256)
        sum += fabs(A(i, j)) * B(i, 0);
    shared[me] = sum;
    SUM_UP(shared)
    if (me == 0)
        NUMBERS[j] = shared[0] / (NUMBER)a.factor;
}

/* The largest absolute value of what is read of A, by one group; infinity where something is infinite or no number. */
KERNEL void largest(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER shared[256];
    const int me = LOCAL_ID();
    NUMBER most = 0;
    for (int64_t at = me; at < a.rows * a.columns; at += 256) {
        const int64_t i = at / a.columns, j = at - i * a.columns;
        const NUMBER x = is_read(a.lower, i, j) ? fabs(A(i, j)) : (NUMBER)0;
        if (!(x <= most))
            most = x == x ? x : (NUMBER)INFINITY;
    }
    shared[me] = most;
    FIND_LARGEST(shared)
    if (me == 0)
        NUMBERS[0] = shared[0];
}

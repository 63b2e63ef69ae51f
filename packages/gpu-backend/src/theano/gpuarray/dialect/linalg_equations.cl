/* Cholesky's factor, elimination with exchanged rows, and triangles: blocks of 32, between which products are subtracted. */

/* The factor of a block on the diagonal, by one group: L in its lower triangle. The status is the order of the first leading
 * minor that is not positive. */
KERNEL void cholesky_block(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER block[BLOCK][BLOCK + 1];
    const int me = LOCAL_ID(), n = (int)a.rows;
    for (int at = me; at < n * n; at += 256)
        block[at / n][at % n] = at / n >= at % n ? A(at / n, at % n) : (NUMBER)0;
    BARRIER();
    for (int k = 0; k < n; ++k) {
        const NUMBER pivot = block[k][k], root = sqrt(pivot);
        if (me == 0 && !(root > 0 && root < (NUMBER)INFINITY) && TABLE[0] == 0)
            TABLE[0] = a.first + k + 1;
        BARRIER();
        for (int i = k + me; i < n; i += 256)
            block[i][k] = i == k ? root : block[i][k] / root;
        BARRIER();
        const int left = n - k - 1;
        for (int at = me; at < left * left; at += 256) {
            const int i = k + 1 + at / left, j = k + 1 + at % left;
            if (j <= i)
                block[i][j] -= block[i][k] * block[j][k];
        }
        BARRIER();
    }
    for (int at = me; at < n * n; at += 256)
        if (at / n >= at % n)
            A(at / n, at % n) = block[at / n][at % n];
}

/* B becomes the solution of T X = B for a triangle T of at most 32 rows, a work-item for each column. option: T has ones on its
 * diagonal. The status is the first row (from 1) with a 0 there. */
KERNEL void triangle_block(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER t[BLOCK][BLOCK + 1];
    const int me = LOCAL_ID(), n = (int)a.rows;
    const int64_t c = GLOBAL_ID();
    for (int at = me; at < n * n; at += 256)
        t[at / n][at % n] = A(at / n, at % n);
    BARRIER();
    if (c == 0 && !a.option)
        for (int k = n - 1; k >= 0; --k)
            if (t[k][k] == 0 && (TABLE[0] == 0 || TABLE[0] > a.first + k + 1))
                TABLE[0] = a.first + k + 1;
    if (c >= a.columns)
        return;
    NUMBER x[BLOCK];
    for (int i = 0; i < n; ++i)
        x[i] = B(i, c);
    for (int step = 0; step < n; ++step) {
        const int k = a.lower ? step : n - 1 - step;
        if (!a.option)
            x[k] /= t[k][k];
        for (int i = a.lower ? k + 1 : 0; i < (a.lower ? n : k); ++i)
            x[i] -= t[i][k] * x[k];
    }
    for (int i = 0; i < n; ++i)
        B(i, c) = x[i];
}

/* Elimination of a panel of at most 32 columns, by one group. The table has the status, which is the first column (from 1)
 * without a pivot, and then for each row the one that it was exchanged with; both count in the whole matrix. */
KERNEL void eliminate_panel(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER sizes[256];
    LOCAL int64_t places[256];
    const int me = LOCAL_ID();
    for (int64_t k = 0; k < a.columns; ++k) {
        NUMBER most = -1;
        int64_t place = k;
        for (int64_t i = k + me; i < a.rows; i += 256)
            if (fabs(A(i, k)) > most) {
                most = fabs(A(i, k));
                place = i;
            }
        sizes[me] = most;
        places[me] = place;
        for (int half_of = 128; half_of > 0; half_of /= 2) {
            BARRIER();
            if (me < half_of) {
                const NUMBER x = sizes[me], y = sizes[me + half_of];
                const int other = y > x || (y == x && places[me + half_of] < places[me]);
                sizes[me] = other ? y : x;
                places[me] = other ? places[me + half_of] : places[me];
            }
        }
        BARRIER();
        const int64_t row = places[0];
        for (int64_t j = me; j < a.columns && row != k; j += 256) {
            const NUMBER x = A(k, j);
            A(k, j) = A(row, j);
            A(row, j) = x;
        }
        GLOBAL_BARRIER();
        const NUMBER pivot = A(k, k);
        if (me == 0) {
            TABLE[1 + a.first + k] = a.first + row;
            if (pivot == 0 && TABLE[0] == 0)
                TABLE[0] = a.first + k + 1;
        }
        for (int64_t i = k + 1 + me; i < a.rows && pivot != 0; i += 256)
            A(i, k) /= pivot;
        GLOBAL_BARRIER();
        const int64_t left = a.columns - k - 1, all = (a.rows - k - 1) * left;
        for (int64_t at = me; at < all; at += 256) {
            const int64_t i = at / left, row_at = k + 1 + i, j = k + 1 + at - i * left;
            A(row_at, j) -= A(row_at, k) * A(k, j);
        }
        GLOBAL_BARRIER();
    }
}

/* Rows first .. first + count exchanged as the table says, a work-item for each column. */
KERNEL void exchange(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t j = GLOBAL_ID();
    if (j >= a.columns)
        return;
    for (int64_t k = a.first; k < a.first + a.count; ++k) {
        const int64_t row = TABLE[1 + k];
        const NUMBER x = A(k, j);
        if (row != k) {
            A(k, j) = A(row, j);
            A(row, j) = x;
        }
    }
}

/* The product of the diagonal, with the sign of the exchanges. */
KERNEL void diagonal_product(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    double product = 1;
    if (GLOBAL_ID() != 0)
        return;
    for (int64_t k = 0; k < a.rows; ++k)
        product *= TABLE[1 + k] == k ? (double)A(k, k) : -(double)A(k, k);
    B(0, 0) = (NUMBER)product;
}

/* Reflections (Householder's), and rotations (Jacobi's). Matrices lie in columns, so that neighbours read neighbours. */

/* The reflections of a panel of at most 32 columns, by one group: R above the diagonal, below it the vectors, whose first
 * elements are 1; their factors are in the third operand. */
KERNEL void reflect_panel(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER shared[256];
    const int me = LOCAL_ID();
    for (int64_t k = 0; k < a.columns && k < a.rows; ++k) {
        NUMBER sum = 0;
        for (int64_t i = k + 1 + me; i < a.rows; i += 256) {
            const NUMBER x = fabs(A(i, k));
            if (!(x <= sum))
                sum = x;
        }
        shared[me] = sum;
        FIND_LARGEST(shared)
        /* infinity and NaN go through: the scale need only be no zero */
        const NUMBER below = shared[0], first = A(k, k), scale = below > fabs(first) ? below : fabs(first);
        BARRIER();
        sum = 0;
        for (int64_t i = k + me; i < a.rows; i += 256)
            sum += A(i, k) / scale * (A(i, k) / scale);
        shared[me] = sum;
        SUM_UP(shared)
        /* scaled numbers keep their digits where the column is subnormal */
        const NUMBER start = first / scale, turned = -copysign(sqrt(shared[0]), start);
        const NUMBER factor = below == 0 ? (NUMBER)0 : (turned - start) / turned;
        GLOBAL_BARRIER();
        for (int64_t i = k + 1 + me; i < a.rows && below != 0; i += 256)
            A(i, k) = A(i, k) / scale / (start - turned);
        if (me == 0) {
            A(k, k) = below == 0 ? first : scale * turned;
            NUMBERS[a.first + k] = factor;
        }
        GLOBAL_BARRIER();
        /* eight work-items for each of the other columns */
        const int64_t j = k + 1 + me / 8, lane = me % 8;
        sum = 0;
        for (int64_t i = k + lane; i < a.rows && j < a.columns; i += 8)
            sum += (i == k ? (NUMBER)1 : A(i, k)) * A(i, j);
        shared[me] = sum;
        BARRIER();
        sum = 0;
        for (int other = 0; other < 8; ++other)
            sum += shared[me - (int)lane + other];
        for (int64_t i = k + lane; i < a.rows && j < a.columns; i += 8)
            A(i, j) -= factor * sum * (i == k ? (NUMBER)1 : A(i, k));
        GLOBAL_BARRIER();
    }
}

/* Reflections first .. first + count of A, in this order or from the last one, applied to a column of B by each group. */
KERNEL void reflect(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER shared[256];
    const int me = LOCAL_ID();
    const int64_t j = GROUP_ID();
    for (int64_t step = 0; step < a.count; ++step) {
        const int64_t k = a.option ? a.count - 1 - step : step;
        NUMBER sum = 0;
        for (int64_t i = k + me; i < a.rows; i += 256)
            sum += (i == k ? (NUMBER)1 : A(i, k)) * B(i, j);
        shared[me] = sum;
        SUM_UP(shared)
        sum = NUMBERS[a.first + k] * shared[0];
        for (int64_t i = k + me; i < a.rows; i += 256)
            B(i, j) -= sum * (i == k ? (NUMBER)1 : A(i, k));
        GLOBAL_BARRIER();
    }
}

/* Which columns meet in a round of a tournament: each meets each other one in n - 1 rounds (n, where that is odd: one of a pair
 * is then missing, and has the number n). */
TH_INLINE void pair_of(const int64_t n, const int64_t round, const int64_t k, int64_t *p, int64_t *q)
{
    const int64_t others = n + n % 2 - 1;
    const int64_t x = k == 0 ? others : (round + k) % others, y = k == 0 ? round : (round - k + others) % others;
    *p = x < y ? x : y;
    *q = x < y ? y : x;
}

/* The rotation that makes the off-diagonal element `c` of a symmetric matrix with the diagonal (a, b) zero. */
TH_INLINE void rotation(const NUMBER a, const NUMBER b, const NUMBER c, NUMBER *cosine, NUMBER *sine)
{
    const NUMBER zeta = (b - a) / (2 * c), size = fabs(zeta);
    const NUMBER t = copysign(size > 1 / EPSILON ? 1 / (2 * size) : 1 / (size + sqrt(1 + size * size)), zeta);
    *cosine = 1 / sqrt(1 + t * t);
    *sine = *cosine * t;
}

/* A round on the columns of A, whose largest element is about 1: pairs are made orthogonal, a group for each. B takes part (count:
 * its rows). The first number of the table becomes 1 if there was something to do. */
KERNEL void rotate_columns(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER left[256], right[256], both[256];
    const int me = LOCAL_ID();
    int64_t p, q;
    pair_of(a.columns, a.first, GROUP_ID(), &p, &q);
    const int there = q < a.columns;
    NUMBER x = 0, y = 0, z = 0;
    for (int64_t i = me; i < a.rows && there; i += 256) {
        const NUMBER u = A(i, p), v = A(i, q);
        x += u * u;
        y += v * v;
        z += u * v;
    }
    left[me] = x;
    right[me] = y;
    both[me] = z;
    for (int half_of = 128; half_of > 0; half_of /= 2) {
        BARRIER();
        if (me < half_of) {
            left[me] += left[me + half_of];
            right[me] += right[me + half_of];
            both[me] += both[me + half_of];
        }
    }
    BARRIER();
    /* Below the second term is what no bit of the largest singular value sees. */
    if (!there || !(fabs(both[0]) > (NUMBER)a.factor * sqrt(left[0]) * sqrt(right[0]) + EPSILON * EPSILON * EPSILON))
        return;
    NUMBER cosine, sine;
    rotation(left[0], right[0], both[0], &cosine, &sine);
    if (me == 0)
        TABLE[0] = 1;
    for (int64_t i = me; i < a.rows; i += 256) {
        const NUMBER u = A(i, p), v = A(i, q);
        A(i, p) = cosine * u - sine * v;
        A(i, q) = sine * u + cosine * v;
    }
    for (int64_t i = me; i < a.count; i += 256) {
        const NUMBER u = B(i, p), v = B(i, q);
        B(i, p) = cosine * u - sine * v;
        B(i, q) = sine * u + cosine * v;
    }
}

/* The norm of each column of A, by a group. */
KERNEL void column_norms(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    LOCAL NUMBER shared[256];
    const int me = LOCAL_ID();
    const int64_t j = GROUP_ID();
    NUMBER sum = 0;
    for (int64_t i = me; i < a.rows; i += 256)
        sum += A(i, j) * A(i, j);
    shared[me] = sum;
    SUM_UP(shared)
    if (me == 0)
        NUMBERS[j] = a.option ? shared[0] : (NUMBER)sqrt(shared[0]);
}

/* B = A with each column times a number, and all times the factor. */
KERNEL void scale_columns(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), j = at / a.rows, i = at - j * a.rows;
    if (at < a.rows * a.columns)
        B(i, j) = (NUMBER)a.factor * (A(i, j) * NUMBERS[j]);
}

/* Columns of B with the signs of the diagonal of A. */
KERNEL void take_signs(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), j = at / a.rows, i = at - j * a.rows;
    if (at < a.rows * a.columns && A(j, j) < 0)
        B(i, j) = -B(i, j);
}

/* The rotations of a round on a symmetric matrix: cosines and sines of all pairs, in the columns of B. */
KERNEL void angles(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t k = GLOBAL_ID();
    if (k >= a.count)
        return;
    int64_t p, q;
    NUMBER cosine = 1, sine = 0;
    pair_of(a.rows, a.first, k, &p, &q);
    if (q < a.rows && fabs(A(p, q)) > (NUMBER)a.factor) {
        rotation(A(p, p), A(q, q), A(p, q), &cosine, &sine);
        TABLE[0] = 1;
    }
    B(k, 0) = cosine;
    B(k, 1) = sine;
}

/* A round on a symmetric matrix A, from both sides: a work-item for each two pairs, that is four elements and those on the other
 * side of the diagonal. Then on the columns of the vectors, a work-item for each element of a pair. */
KERNEL void rotate_both_sides(GLOBAL char *p0, GLOBAL char *p1, GLOBAL char *p2, ARGUMENTS matrix_args a)
{
    const int64_t at = GLOBAL_ID(), k = at / a.count, l = at - k * a.count, n = a.rows;
    if (k >= a.count + a.columns)
        return;
    int64_t p, q, r, s;
    pair_of(n, a.first, l, &r, &s);
    const NUMBER cl = B(l, 0), sl = B(l, 1);
    if (k >= a.count) { /* the vectors, in columns of as many rows */
        GLOBAL NUMBER *x = NUMBERS + r * n + (k - a.count), *y = NUMBERS + s * n + (k - a.count);
        if (s < n && sl != 0) {
            const NUMBER u = *x, v = *y;
            *x = cl * u - sl * v;
            *y = sl * u + cl * v;
        }
        return;
    }
    pair_of(n, a.first, k, &p, &q);
    const NUMBER ck = B(k, 0), sk = B(k, 1);
    if (k == l && s < n && sl != 0) {
        const NUMBER change = sl / cl * A(r, s);
        A(r, r) -= change;
        A(s, s) += change;
        A(r, s) = 0;
        A(s, r) = 0;
    }
    if (k >= l)
        return;
    /* rows p and q, columns r and s; what is missing is 0 and stays so */
    const NUMBER pr = A(p, r), ps = s < n ? A(p, s) : (NUMBER)0, qr = q < n ? A(q, r) : (NUMBER)0;
    const NUMBER qs = q < n && s < n ? A(q, s) : (NUMBER)0;
    const NUMBER pr_ = ck * pr - sk * qr, ps_ = ck * ps - sk * qs, qr_ = sk * pr + ck * qr, qs_ = sk * ps + ck * qs;
    A(p, r) = A(r, p) = cl * pr_ - sl * ps_;
    if (s < n)
        A(p, s) = A(s, p) = sl * pr_ + cl * ps_;
    if (q < n)
        A(q, r) = A(r, q) = cl * qr_ - sl * qs_;
    if (q < n && s < n)
        A(q, s) = A(s, q) = sl * qr_ + cl * qs_;
}

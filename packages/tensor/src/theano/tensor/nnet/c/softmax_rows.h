/* Softmax and its relatives for one type of numbers. softmax.c includes this once for each, with REAL, INTEGER (as wide),
 * NAME, EXP, LOG, LANES and VECTOR defined.
 *
 * Long rows are walked one by one: largest element, exponentials and their sum, scaling. Short rows would leave vector
 * registers half empty, so they are taken in groups and turned around: each step then works on one column of many rows.
 */
typedef struct {
    const th_runtime *rt;
    const char *x;
    const REAL *b; /* neighbours; NULL without a bias */
    const th_buffer *label; /* NULL if no loss is wanted; rows after the last label have none */
    REAL *y, *loss;
    th_buffer *place;
    int64_t rows, n, x_row, x_step;
    int as_log; /* the logarithm of the softmax is wanted */
} NAME(job);

static inline REAL NAME(at)(const NAME(job) *job, int64_t row, int64_t j)
{
    const REAL v = *(const REAL *)(job->x + row * job->x_row + j * job->x_step);
    return job->b ? v + job->b[j] : v;
}

/* Whether elements of a row are neighbours. */
static inline int NAME(dense)(const NAME(job) *job) { return job->x_step == sizeof(REAL); }

/* An element of such a row. */
static inline REAL NAME(near)(const NAME(job) *job, int64_t row, int64_t j)
{
    const REAL v = ((const REAL *)(job->x + row * job->x_row))[j];
    return job->b ? v + job->b[j] : v;
}

/* The first nan if there is one (then the sum is nan too), else the first of the largest. */
static int64_t NAME(first)(const NAME(job) *job, int64_t row, REAL largest, REAL sum)
{
    if (sum != sum)
        for (int64_t j = 0; j < job->n; ++j)
            if (NAME(at)(job, row, j) != NAME(at)(job, row, j))
                return j;
    int64_t j = 0;
    if (NAME(dense)(job)) {
        /* a block after the other is passed over without a question for each of its elements */
        for (int met = 0; j + LANES < job->n; j += LANES) {
            for (int l = 0; l < LANES; ++l)
                met |= NAME(near)(job, row, j + l) == largest;
            if (met)
                break;
        }
    }
    while (j + 1 < job->n && NAME(at)(job, row, j) != largest)
        ++j;
    return j;
}

/* Of LANES numbers: the largest, the sum. */
static inline REAL NAME(largest_of)(const REAL *lane)
{
    NAME(lanes) v = NAME(load)(lane);
    for (int l = VECTOR; l < LANES; l += VECTOR)
        v = NAME(larger)(v, NAME(load)(lane + l));
    return NAME(across_larger)(v)[0];
}

static inline REAL NAME(sum_of)(const REAL *lane)
{
    NAME(lanes) v = NAME(load)(lane);
    for (int l = VECTOR; l < LANES; l += VECTOR)
        v += NAME(load)(lane + l);
    return NAME(across_sum)(v)[0];
}

/* Rows of x + b to where their softmax will be. */
static void NAME(bring)(const NAME(job) *job, int64_t first, int64_t rows)
{
    const int64_t n = job->n, size = sizeof(REAL);
    const REAL *b = job->b;
    REAL *y = job->y + first * n;
    if (!NAME(dense)(job))
        job->rt->move((char *)y, n * size, size, job->x + first * job->x_row, job->x_row, job->x_step, rows, n, size);
    for (int64_t i = 0; i < rows && b; ++i, y += n) {
        const REAL *x = NAME(dense)(job) ? (const REAL *)(job->x + (first + i) * job->x_row) : y;
        TH_INDEPENDENT
        for (int64_t j = 0; j < n; ++j)
            y[j] = x[j] + b[j];
    }
}

/* x less the largest, or the exponentials of that, which are added to `lane`: n is a multiple of VECTOR. */
static inline void NAME(exponentials)(int64_t n, const REAL *x, REAL *y, REAL largest, int as_log, REAL *lane)
{
#if TH_WIDE
    for (int64_t l = 0; l < n; l += VECTOR) {
        const NAME(lanes) v = NAME(load)(x + l) - largest, e = NAME(th_exp_lanes)(v, v), sum = NAME(load)(lane + l) + e;
        memcpy(y + l, as_log ? &v : &e, sizeof v);
        memcpy(lane + l, &sum, sizeof sum);
    }
#else
    TH_INDEPENDENT
    for (int64_t l = 0; l < n; ++l) {
        const REAL v = x[l] - largest, e = EXP(v);
        y[l] = as_log ? v : e;
        lane[l] += e;
    }
#endif
}

/* The softmax of a row of neighbours, x: in place, or as a copy in the workspace. */
static void NAME(long)(const NAME(job) *job, int64_t row, const REAL *x)
{
    const int as_log = job->as_log, places = job->place != NULL, loss = places && row < job->label->shape[0];
    const int64_t n = job->n, whole = n / LANES * LANES;
    REAL *y = job->y + row * n, largest, sum = 0, lane[LANES];
    largest = x[0];
    for (int l = 0; l < LANES; ++l)
        lane[l] = largest;
    for (int64_t j = 0; j < whole; j += LANES)
        for (int l = 0; l < LANES; ++l)
            lane[l] = x[j + l] > lane[l] ? x[j + l] : lane[l];
    largest = NAME(largest_of)(lane);
    for (int64_t j = whole; j < n; ++j)
        largest = x[j] > largest ? x[j] : largest;
    const REAL at_label = loss ? x[label_at(job->label, row, n)] - largest : 0;
    for (int l = 0; l < LANES; ++l)
        lane[l] = 0;
    for (int64_t j = 0; j < whole; j += LANES)
        NAME(exponentials)(LANES, x + j, y + j, largest, as_log, lane);
    if (whole < n) {
        /* the remainder is padded to whole vectors, with numbers that add nothing */
        REAL rest[LANES];
        for (int l = 0; l < LANES; ++l)
            rest[l] = -INFINITY;
        memcpy(rest, x + whole, (size_t)(n - whole) * sizeof *x);
        NAME(exponentials)((n - whole + VECTOR - 1) / VECTOR * VECTOR, rest, rest, largest, as_log, lane);
        memcpy(y + whole, rest, (size_t)(n - whole) * sizeof *y);
    }
    sum = NAME(sum_of)(lane);
    const REAL scale = as_log ? LOG(sum) : 1 / sum;
    TH_INDEPENDENT
    for (int64_t j = 0; j < n; ++j)
        y[j] = as_log ? y[j] - scale : y[j] * scale;
    if (loss)
        job->loss[row] = LOG(sum) - at_label;
    if (places)
        put_place(job->place, row, NAME(first)(job, row, largest, sum));
}

static void NAME(short)(const NAME(job) *job, int64_t first, int64_t rows)
{
    const int as_log = job->as_log, places = job->place != NULL, bias = job->b != NULL;
    const int64_t left = places ? job->label->shape[0] - first : 0, labels = left < rows ? left : rows;
    const int64_t n = job->n;
    REAL v[SHORT * GROUP], largest[GROUP], sum[GROUP], at_label[GROUP];
    INTEGER place[GROUP] = {0}; /* of the largest */
    const int64_t size = sizeof(REAL);
    job->rt->move((char *)v, size, GROUP * size, job->x + first * job->x_row, job->x_row, job->x_step, rows, n, size);
    for (int64_t i = 0; i < rows; ++i)
        largest[i] = -INFINITY;
    for (int64_t j = 0; j < n; ++j) {
        const REAL b = bias ? job->b[j] : 0;
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const REAL u = bias ? v[j * GROUP + i] + b : v[j * GROUP + i];
            v[j * GROUP + i] = u;
            largest[i] = u > largest[i] ? u : largest[i];
        }
    }
    for (int64_t j = places ? n - 1 : -1; j >= 0; --j) {
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i)
            place[i] = v[j * GROUP + i] == largest[i] ? (INTEGER)j : place[i];
    }
    for (int64_t i = 0; i < labels; ++i)
        at_label[i] = v[label_at(job->label, first + i, n) * GROUP + i] - largest[i];
    memset(sum, 0, sizeof sum);
    for (int64_t j = 0; j < n; ++j) {
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const REAL u = v[j * GROUP + i] - largest[i], e = EXP(u);
            v[j * GROUP + i] = as_log ? u : e;
            sum[i] += e;
        }
    }
    TH_INDEPENDENT
    for (int64_t i = 0; i < labels; ++i)
        job->loss[first + i] = LOG(sum[i]) - at_label[i];
    if (places)
        for (int64_t i = 0; i < rows; ++i)
            put_place(job->place, first + i, sum[i] == sum[i] ? place[i] : NAME(first)(job, first + i, largest[i], sum[i]));
    TH_INDEPENDENT
    for (int64_t i = 0; i < rows; ++i)
        sum[i] = as_log ? LOG(sum[i]) : 1 / sum[i];
    for (int64_t j = 0; j < n; ++j) {
        TH_INDEPENDENT
        for (int64_t i = 0; i < rows; ++i) {
            const REAL u = v[j * GROUP + i];
            v[j * GROUP + i] = as_log ? u - sum[i] : u * sum[i];
        }
    }
    job->rt->move((char *)(job->y + first * n), n * size, size, (char *)v, size, GROUP * size, rows, n, size);
}

/* Rows, a group of short ones or a long one at a time. */
static void NAME(groups)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(job) *job = arg;
    const int64_t together = rows_together(job->n);
    lo *= together;
    hi = hi * together < job->rows ? hi * together : job->rows;
    const int near = NAME(dense)(job); /* then a row is brought when its turn comes, or stays where it is */
    while (lo < hi) {
        const int64_t rows = hi - lo < GROUP ? hi - lo : GROUP;
        if (job->n <= SHORT && rows >= 8) {
            NAME(short)(job, lo, rows);
        } else if (near && job->b == NULL) {
            for (int64_t i = lo; i < lo + rows; ++i)
                NAME(long)(job, i, (const REAL *)(job->x + i * job->x_row));
        } else {
            if (!near)
                NAME(bring)(job, lo, rows);
            for (int64_t i = lo; i < lo + rows; ++i) {
                if (near)
                    NAME(bring)(job, i, 1);
                NAME(long)(job, i, job->y + i * job->n);
            }
        }
        lo += rows;
    }
}

static int NAME(softmax)(th_ctx *ctx, int bias, int as_log, const th_buffer *label)
{
    const th_buffer *x = ctx->in[0];
    const int64_t rows = x->shape[0], n = x->shape[1];
    NAME(job) job = {.rt = ctx->rt, .x = x->data, .rows = rows, .n = n, .x_row = x->strides[0], .x_step = x->strides[1],
                     .as_log = as_log};
    if (bias) {
        const int64_t size = sizeof(REAL), step = ctx->in[1]->strides[0];
        job.b = (const REAL *)ctx->in[1]->data;
        if (step != size) {
            REAL *room = ctx->rt->scratch(ctx, (size_t)(n * size));
            if (room == NULL)
                return -1;
            ctx->rt->move((char *)room, n * size, size, ctx->in[1]->data, 0, step, 1, n, size);
            job.b = room;
        }
    }
    job.y = (REAL *)ctx->out[label ? 1 : 0]->data;
    if (label) {
        job.label = label;
        job.loss = (REAL *)ctx->out[0]->data;
        job.place = ctx->out[2];
    }
    const double each = 1.5 * (double)n;
    const int64_t together = rows_together(n), groups = (rows + together - 1) / together;
    if (each * (double)rows >= TH_SERIAL_NS)
        return ctx->rt->parallel_for(ctx, groups, th_grain(each * (double)together), NAME(groups), &job);
    NAME(groups)(&job, 0, groups);
    return 0;
}

typedef struct {
    const th_runtime *rt;
    const th_buffer *dy, *sm;
    REAL *y, *room; /* room: for the rows of sm, if they are not contiguous */
} NAME(grad_job);

/* Rows of a matrix in place, `*step` bytes apart, or copied to `room` if they are not contiguous. */
static inline const char *NAME(rows_of)(const th_runtime *rt, const th_buffer *m, int64_t first, int64_t rows, REAL *room, int64_t *step)
{
    const int64_t n = m->shape[1], size = sizeof(REAL);
    const char *from = m->data + first * m->strides[0];
    *step = m->strides[0];
    if (m->strides[1] == size)
        return from;
    *step = n * size;
    rt->move((char *)(room + first * n), *step, size, from, m->strides[0], m->strides[1], rows, n, size);
    return (const char *)(room + first * n);
}

/* sm * (dy - sum(dy * sm)) of a row; `to` may be one of the two. */
static inline void NAME(grad_row)(int64_t n, const REAL *dy, const REAL *sm, REAL *to)
{
    REAL sum = 0, lane[8] = {0};
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; ++l)
            lane[l] += dy[j + l] * sm[j + l];
    for (; j < n; ++j)
        sum += dy[j] * sm[j];
    for (int l = 0; l < 8; ++l)
        sum += lane[l];
    TH_INDEPENDENT
    for (j = 0; j < n; ++j)
        to[j] = sm[j] * (dy[j] - sum);
}

static void NAME(grad_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(grad_job) *job = arg;
    const int64_t n = job->sm->shape[1];
    while (lo < hi) {
        const int64_t rows = hi - lo < GROUP ? hi - lo : GROUP;
        int64_t dy_row, sm_row;
        const char *dy = NAME(rows_of)(job->rt, job->dy, lo, rows, job->y, &dy_row);
        const char *sm = NAME(rows_of)(job->rt, job->sm, lo, rows, job->room, &sm_row);
        for (int64_t i = 0; i < rows; ++i)
            NAME(grad_row)(n, (const REAL *)(dy + i * dy_row), (const REAL *)(sm + i * sm_row), job->y + (lo + i) * n);
        lo += rows;
    }
}

static int NAME(softmax_grad)(th_ctx *ctx)
{
    const th_buffer *dy = ctx->in[0], *sm = ctx->in[1];
    const int64_t rows = sm->shape[0], n = sm->shape[1];
    NAME(grad_job) job = {.rt = ctx->rt, .dy = dy, .sm = sm, .y = (REAL *)ctx->out[0]->data};
    if (sm->strides[1] != sizeof(REAL) && (job.room = ctx->rt->scratch(ctx, (size_t)(rows * n) * sizeof(REAL))) == NULL)
        return -1;
    const double each = 1.0 * (double)n;
    if (each * (double)rows >= TH_SERIAL_NS)
        return ctx->rt->parallel_for(ctx, rows, th_grain(each), NAME(grad_rows), &job);
    NAME(grad_rows)(&job, 0, rows);
    return 0;
}

/* to = g * s, a row */
static inline void NAME(scaled)(int64_t n, REAL *to, REAL g, const char *s, int64_t step)
{
    if (step == sizeof(REAL)) {
        TH_INDEPENDENT
        for (int64_t j = 0; j < n; ++j)
            to[j] = g * ((const REAL *)s)[j];
    } else {
        for (int64_t j = 0; j < n; ++j)
            to[j] = g * *(const REAL *)(s + j * step);
    }
}

typedef struct {
    const th_buffer *dy, *sm, *label;
    REAL *to;
} NAME(loss_job);

/* g * sm of each row, less g at its label; rows without a label have a g of 0 */
static void NAME(loss_grad_rows)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(loss_job) *job = arg;
    const th_buffer *dy = job->dy, *sm = job->sm;
    const int64_t labels = job->label->shape[0], n = sm->shape[1];
    const int64_t next = dy->shape[0] == 1 ? 0 : dy->strides[0];
    for (int64_t i = lo; i < hi; ++i) {
        const REAL g = i < labels ? *(const REAL *)(dy->data + i * next) : 0;
        NAME(scaled)(n, job->to + i * n, g, sm->data + i * sm->strides[0], sm->strides[1]);
        if (i < labels)
            job->to[i * n + label_at(job->label, i, n)] -= g;
    }
}

static int NAME(loss_grad)(th_ctx *ctx, const th_buffer *label)
{
    const th_buffer *sm = ctx->in[1];
    NAME(loss_job) job = {.dy = ctx->in[0], .sm = sm, .label = label, .to = (REAL *)ctx->out[0]->data};
    const double each = 0.5 * (double)sm->shape[1];
    if (each * (double)sm->shape[0] >= TH_SERIAL_NS)
        return ctx->rt->parallel_for(ctx, sm->shape[0], th_grain(each), NAME(loss_grad_rows), &job);
    NAME(loss_grad_rows)(&job, 0, sm->shape[0]);
    return 0;
}

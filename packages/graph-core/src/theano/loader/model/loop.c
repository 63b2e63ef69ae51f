/* The steps of a loop: the same program for each of them (theano/scan/run.py says the same in Python).
 *
 * Of a state there is one buffer with the first rows in it, of which each step sees some and writes the next; of a mapped
 * result one of as many rows as are kept. Where only the last rows are kept, or a step may be the last one, these are rings
 * in scratch memory, and the requested rows are copied into the output at the end.
 */
#include <string.h>

#include "layout.h"
#include "model.h"

typedef struct {
    char *data;
    int64_t rows, at, bytes; /* how many there are, where the next one goes, and how long one is */
    int whole;               /* it is the output itself */
} stack;

typedef struct {
    th_model_block *now, *next;
    int64_t *shape, *strides;
} carried;

typedef struct {
    th_ctx *ctx;
    const th_model_loop *loop;
    th_model_frame *frame;
    int64_t n, steps;
    stack *stacks; /* states, then mapped results */
    carried *values;
} run;

static int64_t elements_of(const th_buffer *b) { return th_count_elements(b->ndim, b->itemsize, b->shape); }

/* ------------------------------------------------------------------------- before */

static int check_steps(const run *r) {
    const th_model_loop *loop = r->loop;
    th_ctx *ctx = r->ctx;
    for (int32_t k = 0; k < loop->nneeded; ++k) {
        const th_model_rows need = loop->needed[k];
        const long long length = (long long)ctx->in[need.input]->shape[0], n = (long long)r->n;
        if (n < 0 && length < need.rows)
            return ctx->rt->fail(ctx, TH_ERR_INDEX, "%s: sequence %d (<input %d>) has %lld rows, shorter than its taps reach: that takes %d",
                                 loop->name, (int)need.input - 1, (int)need.input, length, (int)need.rows + 1);
        if (n > 0 && length < n + need.rows)
            return ctx->rt->fail(ctx, TH_ERR_VALUE, "%s: sequence %d (<input %d>) has %lld rows, but %lld steps need %lld", loop->name,
                                 (int)need.input - 1, (int)need.input, length, n, n + need.rows);
    }
    if (r->n < 0)
        return ctx->rt->fail(ctx, TH_ERR_INDEX, "%s: the number of steps (n_steps) is %lld, and cannot be negative", loop->name,
                             (long long)r->n);
    for (int32_t k = 0; k < loop->nstates; ++k) {
        const th_model_state *state = loop->states + k;
        if (ctx->in[state->input]->shape[0] != state->depth)
            return ctx->rt->fail(ctx, TH_ERR_VALUE, "%s: the initial value of output %d (<input %d>) has %lld rows, but a step looks %d back",
                                 loop->name, (int)k, (int)state->input, (long long)ctx->in[state->input]->shape[0], (int)state->depth);
    }
    return 0;
}

/* The number of rows in front of the lengths of a row. */
static int ensure_rows(th_ctx *ctx, th_buffer *out, int64_t rows, const int64_t *row) {
    int64_t shape[TH_MAX_NDIM];
    shape[0] = rows;
    for (int d = 1; d < out->ndim; ++d) shape[d] = row[d - 1];
    return ctx->rt->ensure(ctx, out, shape);
}

/* Memory for the rows of output k: its own, or a ring. */
static int make_stack(run *r, int32_t k, int64_t rows, int whole, const int64_t *row) {
    th_buffer *out = r->ctx->out[k];
    stack *s = r->stacks + k;
    s->rows = rows;
    s->whole = whole;
    s->bytes = th_count_elements(out->ndim - 1, out->itemsize, row) * out->itemsize;
    if (whole) {
        if (ensure_rows(r->ctx, out, rows, row) < 0) return -1;
        s->data = out->data;
    } else if (!(s->data = (char *)r->ctx->rt->scratch(r->ctx, (size_t)(rows * s->bytes) + 1))) {
        return -1;
    }
    return 0;
}

static int start_states(run *r) {
    for (int32_t k = 0; k < r->loop->nstates; ++k) {
        const th_model_state *state = r->loop->states + k;
        const th_buffer *first = r->ctx->in[state->input];
        int64_t rows = state->depth + r->n, kept = state->keep > state->depth ? state->keep : state->depth + 1;
        if (state->keep >= 0 && kept < rows) rows = kept;
        if (make_stack(r, k, rows, state->keep < 0 && !r->loop->until, first->shape + 1) < 0) return -1;
        th_model_copy(r->stacks[k].data, first);
        r->stacks[k].at = state->depth % rows;
    }
    return 0;
}

static int start_carried(run *r) {
    for (int32_t k = 0; k < r->loop->ncarried; ++k) {
        const th_buffer *first = r->ctx->in[r->loop->first_carried + k];
        carried *c = r->values + k;
        th_buffer laid = *first;
        c->shape = (int64_t *)r->ctx->rt->scratch(r->ctx, 2 * sizeof(int64_t) * (size_t)(first->ndim + 1));
        if (!c->shape) return -1;
        c->strides = c->shape + first->ndim;
        c->now = th_model_block_new((size_t)(elements_of(first) * first->itemsize));
        if (!c->now) return r->ctx->rt->fail(r->ctx, TH_ERR_MEMORY, "no memory for a carried value");
        th_model_copy(c->now->data, first);
        laid.shape = c->shape;
        laid.strides = c->strides;
        th_lay_out(&laid, first->shape);
    }
    return 0;
}

/* --------------------------------------------------------------------------- a step */

static void bind_step(const run *r, int64_t step) {
    const th_model_loop *loop = r->loop;
    int32_t input = 0;
    th_model_begin(r->frame);
    for (int32_t k = 0; k < loop->ntaps; ++k) {
        const th_buffer *rows = r->ctx->in[loop->taps[k].input];
        th_model_bind(r->frame, input++, rows->data + (step + loop->taps[k].rows) * rows->strides[0], rows->shape + 1, rows->strides + 1);
    }
    for (int32_t k = 0; k < loop->nstates; ++k) {
        const th_model_state *state = loop->states + k;
        const th_buffer *first = r->ctx->in[state->input];
        const stack *s = r->stacks + k;
        int64_t strides[TH_MAX_NDIM];
        th_buffer row = {NULL, first->ndim - 1, first->dtype, first->shape + 1, strides, first->itemsize, NULL, NULL};
        th_lay_out(&row, first->shape + 1);
        for (int32_t t = 0; t < state->ntaps; ++t)
            th_model_bind(r->frame, input++, s->data + (state->depth + step + state->taps[t]) % s->rows * s->bytes, row.shape, strides);
    }
    for (int32_t k = 0; k < loop->ncarried; ++k)
        th_model_bind(r->frame, input++, r->values[k].now->data, r->values[k].shape, r->values[k].strides);
    for (int32_t k = 0; k < loop->nfixed; ++k) {
        const th_buffer *fixed = r->ctx->in[loop->first_fixed + k];
        th_model_bind(r->frame, input++, fixed->data, fixed->shape, fixed->strides);
    }
}

static int keep_row(run *r, int32_t k, int64_t step) {
    const th_buffer *made = th_model_output(r->frame, k);
    const int mapped = k >= r->loop->nstates;
    const th_buffer *like = mapped ? NULL : r->ctx->in[r->loop->states[k].input];
    stack *s = r->stacks + k;
    if (mapped && step == 0) {
        const int64_t keep = r->loop->keep[k - r->loop->nstates], rows = keep < 0 || keep > r->n ? r->n : keep;
        if (make_stack(r, k, rows, rows == r->n && !r->loop->until, made->shape) < 0) return -1;
        r->stacks[k].at = 0;
        /* The lengths of the rows, for those that follow: the tables of the output say them. */
        for (int d = 0; d < made->ndim; ++d) r->ctx->out[k]->shape[d + 1] = made->shape[d];
    }
    for (int d = 0; d < made->ndim; ++d) {
        const int64_t length = like ? like->shape[d + 1] : r->ctx->out[k]->shape[d + 1];
        if (made->shape[d] == length) continue;
        return r->ctx->rt->fail(r->ctx, TH_ERR_VALUE, "row %lld of output %d has length %lld along axis %d, but %s %lld", (long long)step,
                                (int)k, (long long)made->shape[d], d,
                                step ? "the rows before it have" : "what it begins with (outputs_info) has", (long long)length);
    }
    th_model_copy(s->data + s->at * s->bytes, made);
    s->at = s->at + 1 == s->rows ? 0 : s->at + 1;
    return 0;
}

static int keep_carried(run *r, int32_t k) {
    const th_buffer *made = th_model_output(r->frame, r->loop->nstates + r->loop->nmapped + k);
    carried *c = r->values + k;
    const size_t bytes = (size_t)(elements_of(made) * made->itemsize);
    th_model_block *other;
    th_buffer laid = *made;
    if (!c->next || c->next->capacity < bytes) {
        th_model_block_release(c->next);
        if (!(c->next = th_model_block_new(bytes))) return r->ctx->rt->fail(r->ctx, TH_ERR_MEMORY, "no memory for a carried value");
    }
    th_model_copy(c->next->data, made);
    laid.shape = c->shape;
    laid.strides = c->strides;
    th_lay_out(&laid, made->shape);
    other = c->now;
    c->now = c->next;
    c->next = other;
    return 0;
}

/* Any byte that is not 0 says that this was the last step. */
static int says_stop(const run *r) {
    const th_buffer *until = th_model_output(r->frame, r->loop->nstates + r->loop->nmapped + r->loop->ncarried);
    for (int64_t k = 0; k < until->itemsize; ++k) {
        if (until->data[k]) return 1;
    }
    return 0;
}

static int run_steps(run *r) {
    const int32_t stacks = r->loop->nstates + r->loop->nmapped;
    for (int64_t step = 0; step < r->n; ++step) {
        bind_step(r, step);
        if (th_model_run(r->frame) < 0) return -1;
        for (int32_t k = 0; k < stacks; ++k) {
            if (keep_row(r, k, step) < 0) return -1;
        }
        for (int32_t k = 0; k < r->loop->ncarried; ++k) {
            if (keep_carried(r, k) < 0) return -1;
        }
        r->steps = step + 1;
        if (r->loop->until && says_stop(r)) break;
    }
    return 0;
}

/* -------------------------------------------------------------------------- after */

/* The last rows of a ring into which `end` were written, in order. */
static int unroll(const run *r, int32_t k, int64_t end, int64_t keep, const int64_t *row) {
    const stack *s = r->stacks + k;
    int64_t wanted = keep < 0 || keep > s->rows ? s->rows : keep, start;
    if (s->whole) return 0;
    if (wanted > end) wanted = end;
    start = s->rows ? (end - wanted) % s->rows : 0;
    if (ensure_rows(r->ctx, r->ctx->out[k], wanted, row) < 0) return -1;
    for (int64_t i = 0; i < wanted; ++i)
        memcpy(r->ctx->out[k]->data + i * s->bytes, s->data + (start + i) % s->rows * s->bytes, (size_t)s->bytes);
    return 0;
}

static int give_results(const run *r) {
    const th_model_loop *loop = r->loop;
    for (int32_t k = 0; k < loop->nstates; ++k) {
        const th_model_state *state = loop->states + k;
        if (unroll(r, k, state->depth + r->steps, state->keep, r->ctx->in[state->input]->shape + 1) < 0) return -1;
    }
    for (int32_t k = loop->nstates; k < loop->nstates + loop->nmapped; ++k) {
        int64_t row[TH_MAX_NDIM]; /* the output's table, which `ensure` writes */
        for (int d = 1; d < r->ctx->out[k]->ndim; ++d) row[d - 1] = r->ctx->out[k]->shape[d];
        if (unroll(r, k, r->steps, -1, row) < 0) return -1;
    }
    for (int32_t k = 0; k < loop->ncarried; ++k) {
        th_buffer *out = r->ctx->out[loop->nstates + loop->nmapped + k];
        if (r->ctx->rt->ensure(r->ctx, out, r->values[k].shape) < 0) return -1;
        memcpy(out->data, r->values[k].now->data, (size_t)(elements_of(out) * out->itemsize));
    }
    return 0;
}

/* ------------------------------------------------------------------- without a step */

/* A row of zeros in the place of each that a step would see: the program of lengths looks at no element. */
static int bind_zeros(run *r, th_model_frame *lengths, int32_t *input, const th_buffer *rows) {
    int64_t strides[TH_MAX_NDIM];
    th_buffer row = {NULL, rows->ndim - 1, rows->dtype, rows->shape + 1, strides, rows->itemsize, NULL, NULL};
    const size_t bytes = (size_t)(elements_of(&row) * row.itemsize) + 1;
    char *zeros = (char *)r->ctx->rt->scratch(r->ctx, bytes);
    if (!zeros) return -1;
    memset(zeros, 0, bytes);
    th_lay_out(&row, row.shape);
    th_model_bind(lengths, (*input)++, zeros, row.shape, strides);
    return 0;
}

static int lengths_of_row(run *r, int32_t program, int64_t *row, int ndim) {
    const th_model_loop *loop = r->loop;
    th_model_frame *lengths = th_model_frame_of(th_model_of(r->ctx), program);
    int32_t input = 0;
    if (!lengths) return -1;
    th_model_begin(lengths);
    for (int32_t k = 0; k < loop->ntaps; ++k) {
        if (bind_zeros(r, lengths, &input, r->ctx->in[loop->taps[k].input]) < 0) return -1;
    }
    for (int32_t k = 0; k < loop->nstates; ++k) {
        for (int32_t t = 0; t < loop->states[k].ntaps; ++t) {
            if (bind_zeros(r, lengths, &input, r->ctx->in[loop->states[k].input]) < 0) return -1;
        }
    }
    for (int32_t k = loop->first_carried; k < loop->first_fixed + loop->nfixed; ++k)
        th_model_bind(lengths, input++, r->ctx->in[k]->data, r->ctx->in[k]->shape, r->ctx->in[k]->strides);
    if (th_model_run(lengths) < 0) return -1;
    for (int d = 0; d < ndim; ++d) memcpy(row + d, th_model_output(lengths, d)->data, sizeof *row);
    return 0;
}

static int without_steps(run *r) {
    const th_model_loop *loop = r->loop;
    th_ctx *ctx = r->ctx;
    for (int32_t k = 0; k < loop->nstates; ++k) {
        const th_buffer *first = ctx->in[loop->states[k].input];
        const int64_t keep = loop->states[k].keep, rows = keep >= 0 && keep < first->shape[0] ? keep : first->shape[0];
        th_buffer last = *first;
        int64_t shape[TH_MAX_NDIM];
        memcpy(shape, first->shape, (size_t)first->ndim * sizeof *shape);
        shape[0] = rows;
        last.shape = shape;
        last.data += (first->shape[0] - rows) * first->strides[0];
        if (ctx->rt->ensure(ctx, ctx->out[k], shape) < 0) return -1;
        th_model_copy(ctx->out[k]->data, &last);
    }
    for (int32_t k = 0; k < loop->nmapped; ++k) {
        th_buffer *out = ctx->out[loop->nstates + k];
        int64_t row[TH_MAX_NDIM];
        if (loop->lengths[k] >= 0 && lengths_of_row(r, loop->lengths[k], row, out->ndim - 1) < 0) return -1;
        if (ensure_rows(ctx, out, 0, row) < 0) return -1;
    }
    for (int32_t k = 0; k < loop->ncarried; ++k) {
        const th_buffer *first = ctx->in[loop->first_carried + k];
        th_buffer *out = ctx->out[loop->nstates + loop->nmapped + k];
        if (ctx->rt->ensure(ctx, out, first->shape) < 0) return -1;
        th_model_copy(out->data, first);
    }
    return 0;
}

static int64_t count_steps(const th_ctx *ctx, const th_model_loop *loop) {
    int64_t n;
    if (loop->count >= 0) {
        memcpy(&n, ctx->in[loop->count]->data, sizeof n);
        return n;
    }
    n = INT64_MAX;
    for (int32_t k = 0; k < loop->ntaps; ++k) {
        const int64_t rows = ctx->in[loop->taps[k].input]->shape[0];
        if (rows < n) n = rows;
    }
    return n;
}

int th_model_run_loop(th_ctx *ctx, const th_model_loop *loop) {
    const size_t stacks = (size_t)(loop->nstates + loop->nmapped), values = (size_t)loop->ncarried;
    run r = {ctx, loop, th_model_frame_of(th_model_of(ctx), loop->step), 0, 0, NULL, NULL};
    int status;
    r.n = count_steps(ctx, loop);
    if (!r.frame || check_steps(&r) < 0) return -1;
    if (r.n == 0) return without_steps(&r);
    r.stacks = (stack *)ctx->rt->scratch(ctx, (stacks + 1) * sizeof *r.stacks);
    r.values = (carried *)ctx->rt->scratch(ctx, (values + 1) * sizeof *r.values);
    if (!r.stacks || !r.values) return -1;
    memset(r.stacks, 0, stacks * sizeof *r.stacks);
    memset(r.values, 0, values * sizeof *r.values);
    status = start_states(&r) < 0 || start_carried(&r) < 0 ? -1 : run_steps(&r);
    if (status < 0) th_model_in_step(th_model_of(ctx), r.steps, loop->name);
    if (status == 0) status = give_results(&r);
    for (size_t k = 0; k < values; ++k) {
        th_model_block_release(r.values[k].now);
        th_model_block_release(r.values[k].next);
    }
    return status;
}

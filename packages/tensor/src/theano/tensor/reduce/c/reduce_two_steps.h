/* A reduction in two steps; a part of reduce.c, which includes it where the ways to walk are known. */
#ifndef THEANO_TENSOR_REDUCE_TWO_STEPS_H
#define THEANO_TENSOR_REDUCE_TWO_STEPS_H

/* Whether there are gone axes on both sides of the kept ones, as in the sum over the first and the last axis: then memory
 * is read in its order only if the inner one goes first. */
static int on_both_sides(const job *j)
{
    const int64_t *inner = j->gone_strides + (j->gone - 1) * j->nin;
    int64_t nearest = INT64_MAX;
    if (j->gone < 2 || j->gone_shape[j->gone - 1] < SHORT_RUN)
        return 0;
    for (int d = 0; d < j->kept; ++d) {
        const int64_t next = reach(j->nin, j->strides + d * (j->nin + j->nout));
        nearest = j->shape[d] > 1 && next < nearest ? next : nearest;
    }
    return reach(j->nin, inner) < nearest && reach(j->nin, inner - j->nin) > nearest;
}

/* The innermost axis first, into accumulators; these are then joined by halves. */
static int in_two_steps(th_ctx *ctx, const job *j, int64_t kept, double ns)
{
    const int outer = j->gone - 1, nop = j->nin + j->nout;
    const int64_t run = j->gone_shape[outer], times = j->total / run;
    job first = *j;
    char *part[TH_MAX_RESULTS];
    int64_t bytes = 0;
    for (int k = 0; k < j->nout; ++k)
        bytes += j->acc[k]->size;
    char *memory = ctx->rt->scratch(ctx, (size_t)(times * kept * bytes));
    if (memory == NULL)
        return -1;
    first.raw = 1;
    first.total = run;
    first.gone = 1;
    first.gone_shape[0] = run;
    memcpy(first.gone_strides, j->gone_strides + outer * j->nin, (size_t)j->nin * sizeof(int64_t));
    first.simple = is_simple(&first);
    first.kept = outer + j->kept;
    for (int d = 0; d < first.kept; ++d) {
        first.shape[d] = d < outer ? j->gone_shape[d] : j->shape[d - outer];
        const int64_t *from = d < outer ? j->gone_strides + d * j->nin : j->strides + (d - outer) * nop;
        memcpy(first.strides + d * nop, from, (size_t)j->nin * sizeof(int64_t));
    }
    for (int k = 0; k < j->nout; ++k) {
        int64_t step = j->acc[k]->size;
        first.in[j->nin + k] = part[k] = memory;
        for (int d = first.kept - 1; d >= 0; --d) {
            first.strides[d * nop + j->nin + k] = step;
            step *= first.shape[d];
        }
        memory += step;
    }
    first.kept = th_collapse(nop, first.kept, first.shape, first.strides);
    if (walk_along(ctx, &first, times * kept, ns))
        return -1;
    for (int k = 0; k < j->nout; ++k) {
        for (int64_t n = times; n > 1; n = (n + 1) / 2) {
            const int64_t half = (n + 1) / 2;
            j->acc[k]->join((n - half) * kept, part[k], part[k] + half * kept * j->acc[k]->size);
        }
        put(j, k, part[k], kept, j->out[k]->data, j->out[k]->itemsize);
    }
    return 0;
}

#endif

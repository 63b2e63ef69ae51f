/* Runs of terms that are computed; a part of reduce.c, which includes it.
 *
 * Of short runs, the terms of many results go into a band, as those of one long row that is taken into accumulators which are
 * neutral. Of longer ones it is the accumulators of a block each. What is in the band are plain elements, and the loops that
 * were compiled with the layer make results of them.
 */
#ifndef THEANO_TENSOR_REDUCE_TERMS_H
#define THEANO_TENSOR_REDUCE_TERMS_H

/* Whether operand k, whose terms are neighbours, also has the runs of neighbouring results one after the other. */
static int in_one_row(const job *j, int k)
{
    const int64_t step = j->strides[(j->kept - 1) * (j->nin + j->nout) + k];
    return j->once[k] || (j->gone_strides[k] == j->size[k] && step == j->total * j->size[k]);
}

/* Bytes of a band that the terms of one result take, with the copies of operands that they are computed from. */
static int64_t bytes_of_run(const job *j)
{
    int64_t bytes = 0;
    for (int k = 0; k < j->nin; ++k)
        bytes += in_one_row(j, k) ? 0 : j->size[k];
    for (int k = 0; k < j->nout; ++k)
        bytes += j->acc[k]->size;
    return bytes * j->total;
}

/* Finds the loops over plain elements which take in all results, and returns what these find in a band. */
static enum terms terms_of(job *j)
{
    const int blocks = j->block && j->simple && j->nout * TH_LANE_BYTES <= TERM_BYTES;
    int rows = j->rows && j->gone == 1 && j->total <= (j->block ? SHORT_TERMS : FLUSH * j->r->lanes);
    for (int k = 0; k < j->nin; ++k)
        rows &= j->once[k] || j->gone_strides[k] == 0 || j->gone_strides[k] == j->size[k];
    rows = rows && 2 * bytes_of_run(j) <= TERM_BYTES;
    if (j->runs || !(rows || blocks))
        return NO_BAND;
    for (int k = 0; k < j->nout; ++k)
        if ((j->plain[k] = th_plain_runs(j->r->result[k].op, j->r->result[k].dtype)) == NULL)
            return NO_BAND;
    return rows ? TERMS : BLOCKS;
}

/* The operands of `count` results as one row of neighbours, copied to `to` where they are none. */
static void in_a_row(const job *j, int64_t count, char **p, char *to)
{
    const int64_t n = j->total, *step = j->strides + (j->kept - 1) * (j->nin + j->nout);
    for (int k = 0; k < j->nin; ++k) {
        if (in_one_row(j, k))
            continue;
        const char *from = p[k];
        p[k] = to;
        for (int64_t i = 0; i < count; ++i, from += step[k], to += n * j->size[k])
            gather(j->size[k], to, from, j->gone_strides[k], n);
        to += -(to - p[k]) & 63;
    }
}

/* Results lo .. hi. */
static void inner_terms(void *arg, int64_t lo, int64_t hi)
{
    const job *j = arg;
    const int inner = j->kept - 1, nop = j->nin + j->nout, blocks = j->terms == BLOCKS;
    const int64_t n = blocks ? j->r->lanes : j->total, *step = j->strides + inner * nop, none[TH_MAX_TERMS] = {0};
    const int64_t fit = TERM_BYTES / (blocks ? j->nout * TH_LANE_BYTES : bytes_of_run(j)), some = fit < RUNS ? fit : RUNS;
    _Alignas(64) char band[TERM_BYTES + (TH_MAX_TERMS + TH_MAX_RESULTS) * 64], results[RUNS * sizeof(th_number)];
    while (lo < hi) {
        char *p[TH_MAX_TERMS + TH_MAX_RESULTS], *to = band;
        void *acc[TH_MAX_RESULTS], *at[TH_MAX_RESULTS];
        int64_t index[TH_MAX_NDIM];
        memcpy(p, j->in, (size_t)nop * sizeof *p);
        th_seek(nop, j->kept, j->shape, j->strides, lo, index, p);
        int64_t count = j->shape[inner] - index[inner];
        count = count < hi - lo ? count : hi - lo;
        count = count < some ? count : some;
        for (int k = 0; k < j->nout; ++k) {
            acc[k] = at[k] = to;
            th_fill(j->acc[k]->size, count * n, to, j->neutral[k]);
            to += (count * n * j->acc[k]->size + 63) / 64 * 64;
        }
        if (!blocks) {
            in_a_row(j, count, p, to);
            rows_of(j, count * n, 1, p, none, acc);
        }
        for (int64_t i = 0; i < count && blocks; ++i) {
            j->block(j->total, p, at, j->constants);
            for (int k = 0; k < j->nin; ++k)
                p[k] += step[k];
            for (int k = 0; k < j->nout; ++k)
                at[k] = (char *)at[k] + n * j->acc[k]->size;
        }
        for (int k = 0; k < j->nout; ++k) {
            j->plain[k](count, n, acc[k], n * j->acc[k]->size, results);
            put(j, k, results, count, p[j->nin + k], step[j->nin + k]);
        }
        lo += count;
    }
}

#endif

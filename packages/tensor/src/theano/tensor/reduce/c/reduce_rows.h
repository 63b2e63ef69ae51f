/* How the driver of reductions calls loops over rows; a part of reduce.c, which includes it where a job is known.
 *
 * A loop whose terms are long takes whole vectors of neighbours only, so that it is written, and compiled, once.
 */
#ifndef THEANO_TENSOR_REDUCE_ROWS_H
#define THEANO_TENSOR_REDUCE_ROWS_H

enum { FEW_BYTES = TH_MAX_TERMS * TH_ROW_VECTOR * 16 };
_Static_assert(TH_ROW_VECTOR * 16 <= TH_LANE_BYTES, "a vector of the widest accumulators has room");

/* Take in n rows of one vector, of which w elements from `first` on count, into copies of their accumulators. */
static void take_vector(const job *j, int64_t first, int64_t w, int64_t n, char *const *p, const int64_t *row,
                        void *const *acc)
{
    _Alignas(64) char lanes[TH_MAX_RESULTS][TH_LANE_BYTES];
    void *to[TH_MAX_RESULTS];
    for (int k = 0; k < j->nout; ++k) {
        to[k] = memcpy(lanes[k], j->neutral[k], TH_LANE_BYTES);
        memcpy(lanes[k] + first * j->acc[k]->size, acc[k], (size_t)(w * j->acc[k]->size));
    }
    j->rows(j->r->vector, n, p, row, to, j->constants);
    for (int k = 0; k < j->nout; ++k)
        memcpy(acc[k], lanes[k] + first * j->acc[k]->size, (size_t)(w * j->acc[k]->size));
}

/* Take in n rows of fewer neighbours than a vector has: of copies, where the first element stands for what is missing. */
static void take_few(const job *j, int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc)
{
    _Alignas(64) char copies[FEW_BYTES];
    int64_t bytes = 0, room = n, step[TH_MAX_TERMS];
    char *q[TH_MAX_TERMS];
    for (int k = 0; k < j->nin; ++k) {
        step[k] = j->once[k] ? 0 : j->r->vector * j->size[k];
        bytes += step[k];
    }
    if (room * bytes > FEW_BYTES)
        room = FEW_BYTES / bytes;
    for (int64_t k = 0, used = 0; k < j->nin; ++k) {
        q[k] = j->once[k] ? p[k] : copies + used;
        used += room * step[k];
        if (!j->once[k])
            th_fill(j->size[k], room * j->r->vector, q[k], p[k]);
    }
    for (int64_t i = 0; i < n; i += room) {
        const int64_t count = n - i < room ? n - i : room;
        for (int k = 0; k < j->nin; ++k)
            for (int64_t c = 0; c < count && !j->once[k]; ++c)
                memcpy(q[k] + c * step[k], p[k] + (i + c) * row[k], (size_t)(w * j->size[k]));
        take_vector(j, 0, w, count, q, step, acc);
    }
}

/* Take in n rows of w neighbours. Columns beyond the last whole vector are read as the end of one more. */
static void rows_of(const job *j, int64_t w, int64_t n, char *const *p, const int64_t *row, void *const *acc)
{
    const int64_t vector = j->r->vector, rest = w % vector, whole = w - rest;
    char *q[TH_MAX_TERMS];
    void *to[TH_MAX_RESULTS];
    if (whole == 0) {
        take_few(j, w, n, p, row, acc);
        return;
    }
    j->rows(whole, n, p, row, acc, j->constants);
    if (rest == 0)
        return;
    for (int k = 0; k < j->nin; ++k)
        q[k] = p[k] + (j->once[k] ? 0 : (w - vector) * j->size[k]);
    for (int k = 0; k < j->nout; ++k)
        to[k] = (char *)acc[k] + whole * j->acc[k]->size;
    take_vector(j, vector - rest, rest, n, q, row, to);
}

/* Take n rows of w neighbours, or of what is first copied to be neighbours, `next` bytes apart. */
static void take_rows(const job *j, int64_t w, int64_t n, char *const *p, const int64_t *next, const int64_t *row,
                      void *const *acc, char *band)
{
    int64_t bytes = 0, room = n, step[TH_MAX_TERMS];
    char *q[TH_MAX_TERMS];
    for (int k = 0; k < j->nin; ++k) {
        step[k] = row[k];
        if (!j->once[k] && next[k] != j->size[k])
            bytes += w * j->size[k];
    }
    if (bytes == 0) {
        rows_of(j, w, n, p, row, acc);
        return;
    }
    if (room * bytes > BAND_BYTES)
        room = BAND_BYTES / bytes;
    for (int64_t i = 0; i < n; i += room) {
        const int64_t count = n - i < room ? n - i : room;
        char *to = band;
        for (int k = 0; k < j->nin; ++k) {
            char *from = p[k] + i * row[k];
            q[k] = from;
            if (j->once[k] || next[k] == j->size[k])
                continue;
            q[k] = to;
            step[k] = w * j->size[k];
            for (int64_t c = 0; c < count; ++c)
                gather(j->size[k], to + c * step[k], from + c * row[k], next[k], w);
            to += room * step[k];
        }
        rows_of(j, w, count, q, step, acc);
    }
}

#endif

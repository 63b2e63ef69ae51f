/* A call of the machine whose scratch memory is used again: a factorisation multiplies hundreds of blocks, each of
 * which needs space to pack its factors, one after the other. */

typedef struct {
    th_ctx ctx; /* first: what is handed to gemm.h */
    th_runtime rt;
    th_ctx *outer;
    void *scratch;
    size_t bytes;
    int64_t threads;
} work;

static void *same_room(th_ctx *ctx, size_t bytes)
{
    work *w = (work *)ctx;
    if (bytes > w->bytes) {
        bytes = bytes > 2 * w->bytes ? bytes : 2 * w->bytes;
        w->scratch = w->outer->rt->scratch(w->outer, bytes);
        w->bytes = w->scratch != NULL ? bytes : 0;
    }
    return w->scratch;
}

static work work_of(th_ctx *ctx, int64_t threads)
{
    work w = {.ctx = *ctx, .rt = *ctx->rt, .outer = ctx, .threads = threads};
    w.rt.scratch = same_room;
    return w;
}

#define BEGIN_WORK(w, ctx, threads) \
    work w = work_of(ctx, threads); \
    w.ctx.rt = &w.rt

INLINE matrix part(matrix m, int64_t i, int64_t j, int64_t rows, int64_t cols)
{
    return (matrix){m.data + i * m.row + j * m.col, rows, cols, m.row, m.col};
}

/* Rows and columns in reverse: an upper triangle is then a lower one. */
INLINE matrix reversed_rows(matrix m) { return (matrix){m.data + (m.rows - 1) * m.row, m.rows, m.cols, -m.row, m.col}; }
INLINE matrix reversed(matrix m) { return turned(reversed_rows(turned(reversed_rows(m)))); }

#define AT(m, i, j) (*(T *)((m).data + (i) * (m).row + (j) * (m).col))

/* C -= A B, on this many threads */
static int NAME(subtract_on)(work *w, int64_t threads, matrix c, matrix a, matrix b)
{
    const T minus = -1, one = 1;
    if (c.rows == 0 || c.cols == 0 || a.cols == 0)
        return 0;
    return NAME(th_gemm)(&w->ctx, threads, &minus, a, b, &one, c, c);
}

/* The same where the next block of few columns is then worked on by one thread, whose cache threads would have emptied. */
static int NAME(subtract)(work *w, matrix c, matrix a, matrix b)
{
    const double multiplications = (double)c.rows * (double)c.cols * (double)a.cols;
    return NAME(subtract_on)(w, multiplications < TH_FACTOR_WORTH_THREADS ? 1 : w->threads, c, a, b);
}

/* Half of n, or a little more: a multiple of what the blocks at the bottom are made of. */
INLINE int64_t half_of(int64_t n, int64_t block)
{
    const int64_t blocks = (n + block - 1) / block;
    return (blocks + 1) / 2 * block;
}

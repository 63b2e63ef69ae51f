/* Every size at which a kernel cuts its work or goes another way: of blocks, tiles, pieces and buffers.
 *
 * They are here, and nowhere else, so that the tests can make all of them small: what happens at the edge of a block of
 * blocks is then seen with some thousands of elements. A test's build names its own table of sizes in TH_BLOCKS. What
 * follows from the width of a register (lanes, the rows of a tile in registers) is no size of this kind.
 */
#ifndef THEANO_TENSOR_BLOCKS_H
#define THEANO_TENSOR_BLOCKS_H

#ifdef TH_BLOCKS
#include TH_BLOCKS
#else
enum {
    /* Below this many nanoseconds of work a loop stays on the thread that called it; above, it is cut into pieces of
     * about TH_PIECE_NS. */
    TH_SERIAL_NS = 60000,
    TH_PIECE_NS = 25000,

    /* argmax.c */
    TH_ARGMAX_BLOCK = 4096,   /* elements that are searched, or brought together, at a time */
    TH_ARGMAX_TILE = 1024,    /* results that advance together, */
    TH_ARGMAX_NEAR_BYTES = 20480, /* over so much memory */
    TH_ARGMAX_SHORT_RUN = 48, /* shorter runs are joined to longer ones */
    TH_ARGMAX_PIECE = 1 << 16, /* elements of one run that a thread searches at a time */

    /* reduce.c */
    TH_REDUCE_BAND_BYTES = 1 << 16, /* space for copies of elements that are no neighbours */
    TH_REDUCE_TILE_BYTES = 1 << 16, /* of accumulators that advance together: they stay in the second cache, and ... */
    TH_REDUCE_SMALL_TILE = 1 << 14, /* ... in the first one where there are few rows, */
    TH_REDUCE_FEW_ROWS = 32,        /* so that starting and storing them counts for more than reading long pieces of rows */
    TH_REDUCE_SHORT_RUN = 64,       /* elements; shorter runs are first joined to longer ones */
    TH_REDUCE_PIECE = 65536,        /* terms that one thread takes into one result at a time */
    TH_REDUCE_FLUSH = 128,          /* terms per accumulator, or accumulators per accumulator, before they go up a level */
    TH_REDUCE_NEAR_TERMS = 32,      /* strided elements copied at a time, per accumulator: they stay in the first-level cache */
    TH_REDUCE_FOLD = 512,           /* accumulators of several rows that are taken in as one */
    TH_REDUCE_RUNS = 256,           /* results of short runs that are stored together */
    TH_REDUCE_SHORT_TERMS = 90,     /* light terms of a result up to which those of several results are computed at once */
    TH_REDUCE_TERM_BYTES = 1 << 14, /* of these terms, or of accumulators, that are together */
    TH_REDUCE_FAR_BYTES = 4 << 20,  /* of an operand that comes from memory, or as slowly: th_tuning says how it is read */
    TH_REDUCE_FETCHED_ROW = 1 << 15, /* bytes: of such an operand, rows that are no longer are fetched ahead */

    /* logsumexp.c */
    TH_LOGSUMEXP_ROOM = 1024, /* columns that advance together */
    TH_LOGSUMEXP_STEP = 8,    /* times four vectors of exponentials that are held before they are added up */
    TH_LOGSUMEXP_SHORT = 16,  /* rows that are no longer are turned around, GROUP at a time */
    TH_LOGSUMEXP_GROUP = 64,

    /* softmax.c: rows that are no longer than SHORT are turned around, GROUP at a time */
    TH_SOFTMAX_SHORT = 32,
    TH_SOFTMAX_GROUP = 64, /* rows whose elements are no neighbours are brought together, as many at a time */

    TH_CUMULATE_BLOCK = 1024, /* cumulate.c: columns that advance together */

    /* copy.c */
    TH_COPY_CHUNK = 256,     /* elements that are converted together */
    TH_COPY_BAND = 32,       /* rows that are turned around together */
    TH_COPY_PIECE = 1 << 13, /* elements of a long line that a thread copies at a time */
    TH_COPY_LONG = 1 << 19,  /* bytes from which a line is long, and copies come from memory */

    /* join.c */
    TH_JOIN_RUN = 16,  /* bytes of a run, on average, from which rows of a join are written run by run, */
    TH_JOIN_MOST = 32, /* and tensors at most */

    /* selection.h, advanced.c */
    TH_SELECTION_CHUNK = 256,    /* places that are checked together */
    TH_TAKE_TOGETHER = 128,      /* single elements that are taken without a question each */
    TH_TAKE_FAR_BYTES = 4 << 20, /* gathers from arrays this large prefetch */
    TH_TAKE_AHEAD = 64,          /* prefetch distance in elements */

    TH_SEARCH_SIDE = 32, /* search.c: values that are sought side by side */

    /* sort.c */
    TH_SELECT_PIECE = 32,            /* elements that are passed over if none of them is wanted */
    TH_SELECT_BITS = 8,              /* the same within a piece, of which this is a part */
    TH_SELECT_SAMPLED = 32,          /* one of this many elements is drawn */
    TH_SELECT_WORTH_SAMPLING = 4096, /* elements from which that is worth it */
    TH_SELECT_HEAP = 64,             /* up to this many, a heap is made for any length of the line */

    /* gemm_blocks.h, gemm_direct.h, gemm_level2.h */
    TH_GEMM_RESTING_BYTES = 24 << 10,   /* of a panel that rests in the first-level cache, */
#ifdef __AVX512F__
    TH_GEMM_PASSING_BYTES = 768 << 10,  /* and of those that go by: most of the second-level cache of a CPU that has AVX-512, */
    TH_GEMM_PASSING_ROWS = 512,         /* rows of the left factor up to which a panel of the right one is packed when its turn comes, */
#else
    TH_GEMM_PASSING_BYTES = 128 << 10,  /* or half of a small one */
    TH_GEMM_PASSING_ROWS = 64,
#endif
    TH_GEMM_NEAR_BYTES = 1 << 20,       /* if that factor has no more than so much: in pieces of rows it is read slowly from memory */
    TH_GEMM_PACKED_BYTES = 6 << 20,     /* of a factor that are packed at once: a share of the third */
    TH_GEMM_TERMS_AHEAD = 8,            /* rows of a factor from which panels are packed side by side: its terms are fetched as many ahead */
    TH_GEMM_PANELS_AHEAD = 2,           /* prefetch distance of the lines of the copy, in panels, */
    TH_GEMM_SQUARES_AHEAD = 4,          /* or, where terms are contiguous, in squares */
    TH_GEMM_SHARED_CELLS = 24,          /* pieces into which threads cut a block of the product, at least */
    TH_GEMM_BATCH_PARTS = 32,           /* into which a batch of products is cut for threads, each with space of its own */
    TH_GEMM_BATCH_WORK = 1000000,       /* multiplications of such a part, at least */
    TH_GEMM_WORTH_THREADS = 4000000,    /* multiplications for which threads are woken: about 100 us */
    TH_GEMM_DIRECT_SLICE_BYTES = 8192,  /* of terms in a slice: such a panel of the right factor stays in the second-level cache */
    TH_GEMM_DIRECT_BYTES = 96 << 10,    /* of a factor that is read in place rather than packed, */
    TH_GEMM_FEW_ROWS = 16,              /* or of any size if there are few rows, */
    TH_GEMM_FEW_TERMS = 24,             /* or few terms, */
    TH_GEMM_UNPACKED_ROWS = 64,         /* or up to this many rows meet a streamed right factor, */
    TH_GEMM_ACROSS_ROWS = 64,           /* or up to this many rows that are columns without gaps, if the other factor is narrow */
    TH_GEMM_OWN_TRANSPOSE = 48,         /* rows from which half of the product of a matrix and its transpose is computed, the other copied */
    TH_GEMM_MIRRORED = 16,              /* in squares of this many rows */
    TH_GEMM_PAGE = 4096,                /* numbers this many bytes apart share the same eight lines of the first-level cache */
    TH_GEMM_TURNED_TERMS = 64,          /* terms of a panel of the right factor that is turned on the stack, */
    TH_GEMM_TURNED_WORK = 40000,        /* and multiplications in all */
    TH_CONV_PIXELS = 128,               /* of a convolution's results whose sums are kept together */
    TH_CONV_PARTS = 32,                 /* into which the results are cut for threads, each with space of its own */
    TH_CONV_SLICE_BYTES = 256 << 10,    /* of packed filters that are summed at a time: they stay in the second-level cache */
    TH_CONV_BAND_BYTES = 256 << 10,     /* of pixels and results that are summed at a time for the gradient of filters */
    TH_CONV_TILE_BYTES = 512 << 10,     /* of pixels and products of a block of tiles: half of a usual second-level cache */
    TH_CONV_TILE_FILTERS = 10 << 20,    /* of filters that each block of tiles meets: a share of the third-level cache */
    TH_CONV_POINTWISE = 8,              /* channels and filters from which a product of matrices is the way to convolve pixel by pixel */
    TH_CONV_POINTWISE_BYTES = 64,       /* and so much of a channel: a vector */
    TH_CONV_POINTWISE_PIXELS = 1024,    /* of an image that such a product takes at most */
    TH_CONV_SUMS = 4,                   /* parts of which the sums for the gradient of filters consist, whichever thread computes them */
    TH_CONV_FINISHED = 1024,            /* results of a row or of several, from which an element-wise loop over them is worth its call */
    TH_CONV_WORTH_THREADS = 1 << 20,    /* bytes of images for whose copy threads are woken */
    TH_GEMM_REACH_BYTES = 16384,        /* of a result that stay in the first-level cache while the matrix goes by */
    TH_GEMM_SHARE = 128,                /* elements of such a result that a thread computes at a time */
    TH_GEMM_LONG_PIECE = 32768,         /* elements of a long row that are summed up together, */
    TH_GEMM_FEW_LONG_ROWS = 8,          /* where there are few such rows */
    TH_GEMM_NARROW_ROWS = 256, /* rows of two to four numbers that are summed together */
    TH_GEMM_WORTH_READING = 300000,     /* numbers of a matrix for which threads are woken */

    /* factor_triangle.h, factor_lu.h, factor_qr.h, lapack.c, spectral.c */
    TH_FACTOR_BASE = 32,        /* rows of the blocks that are solved without products: whole vectors and groups of 8 */
    TH_FACTOR_VECTOR_BASE = 16, /* the same for one right-hand side */
    TH_FACTOR_PANEL = 16,       /* columns that are eliminated one by one */
    TH_FACTOR_REFLECTIONS = 32, /* reflections of a block */
    TH_FACTOR_EXCHANGED = 256,  /* bytes of two rows that are exchanged at a time */
    TH_FACTOR_PIECES = 16,      /* of right-hand sides at most, which threads share, */
    TH_FACTOR_STRIPS = 5,       /* each of this many strips of registers at least */
    TH_FACTOR_WORTH_THREADS = 20000000, /* multiplications of a product inside an elimination for which threads are woken */
    TH_EIGH_SMALL = 160,        /* rows up to which a symmetric matrix is diagonalised by us */
    TH_SVD_WORTH_PARTS = 32,    /* rows and columns from which a decomposition in parts is worth it */

    /* fft_lines.h, fft_plan.h: bytes of the lines that are worked on side by side, as columns and as rows; numbers of a row
     * that is short; bytes of all workspaces; pieces of work; plans that are kept, places that one may have, their bytes */
    TH_FFT_COLUMN_BYTES = 1 << 23,
    TH_FFT_ROW_BYTES = 1 << 20,
    TH_FFT_SHORT = 128,
    TH_FFT_ALL_BYTES = 32 << 20,
    TH_FFT_PIECES = 64,
    TH_FFT_PLANS = 512,
    TH_FFT_TRIES = 8,
    TH_FFT_KEPT_BYTES = 64 << 20
};
#endif

#endif

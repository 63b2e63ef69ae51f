/* The discrete Fourier transform of many lines: what fft.c sees of it.
 *
 * The algorithm is that of Stockham, which leaves everything in order without exchanging bits (Cochran et al., "What is
 * the fast Fourier transform?", IEEE Trans. Audio Electroacoust. 15, 1967; Van Loan, "Computational Frameworks for the
 * Fast Fourier Transform", 1992), with radices 8, 4, 2, 3, 5, 7 and any prime up to LARGEST_RADIX. Lengths with a larger
 * prime factor become a convolution (Bluestein, IEEE Trans. Audio Electroacoust. 18, 1970). A real line of even length
 * is a complex one of half the length, whose spectrum is then taken apart.
 *
 *   fft_plan.h    the plan of a length: factors, roots of one; made once and kept
 *   fft_stage.h   one pass, for vectors of one width
 *   fft_lines.h   lines fetched, transformed and put back, several side by side
 *   fft_f32.c, fft_f64.c  all of these, for one element type
 *
 * Real and imaginary parts are apart while a line is worked on, so that a transform back is one forth with the two
 * exchanged. How many threads there are changes no bit of the result. */
#ifndef THEANO_TENSOR_FFT_H
#define THEANO_TENSOR_FFT_H

#include "kernels.h"

enum { FFT_FORTH, FFT_BACK, FFT_FROM_REAL, FFT_TO_REAL };

/* Lines of `length` along an axis; the other axes are those of `shape`. Where an index is not below its `limit`, and
 * from element `have` of a line on, zeros are read. `from` and `to` may be the same memory, line by line. All strides
 * count bytes; `imaginary` is where the second half of a number is (for reals: where the next one is). */
typedef struct {
    int kind, nd;
    int64_t length, have, rows;
    int64_t shape[TH_MAX_NDIM], limit[TH_MAX_NDIM], from_strides[TH_MAX_NDIM], to_strides[TH_MAX_NDIM];
    const char *from;
    char *to;
    int64_t from_step, from_imaginary, to_step, to_imaginary;
} fft_lines;

/* None is scaled. 0, or -1 with the error set. */
TH_LOCAL int th_fft_f32(th_ctx *ctx, const fft_lines *lines);
TH_LOCAL int th_fft_f64(th_ctx *ctx, const fft_lines *lines);

/* fft.c: the cosine and sine of k / n of a full turn, correctly rounded but for the last bit; and the factors of n
 * that are radices, the rest of n being returned. */
TH_LOCAL void th_fft_root(int64_t k, int64_t n, double *cosine, double *sine);
enum { LARGEST_RADIX = 31, MOST_STAGES = 40 };
TH_LOCAL int64_t th_fft_factors(int64_t n, int *radices, int *count);

#endif

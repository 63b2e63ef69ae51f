/* Fourier transforms of float; see fft.h. */
#include "fft.h"

#define T float
#define NAME(x) x##_f32

#include "fft_lines.h"

/* Fourier transforms of double; see fft.h. */
#include "fft.h"

#define T double
#define NAME(x) x##_f64

#include "fft_lines.h"

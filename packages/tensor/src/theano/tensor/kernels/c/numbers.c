/* Reading single numbers. */
#include "kernels.h"

double th_real(const th_buffer *b)
{
    switch (b->dtype) {
    case TH_FLOAT16: return (double)th_load_f16(*(const uint16_t *)b->data);
    case TH_FLOAT32: return (double)*(const float *)b->data;
    case TH_FLOAT64: return *(const double *)b->data;
    case TH_UINT64: return (double)*(const uint64_t *)b->data;
    default: return (double)th_integer(b, 0);
    }
}

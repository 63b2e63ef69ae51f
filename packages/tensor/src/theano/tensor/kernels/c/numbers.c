/* Reading single numbers, and writing shapes into messages. */
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

/* Written as Python writes a tuple. */
const char *th_shape_text(th_text text, int nd, const int64_t *shape)
{
    size_t at = 0;
    text[at++] = '(';
    for (int d = 0; d < nd && at < sizeof(th_text) - 32; ++d)
        at += (size_t)snprintf(text + at, sizeof(th_text) - at, d ? ", %lld" : "%lld", (long long)shape[d]);
    snprintf(text + at, sizeof(th_text) - at, nd == 1 ? ",)" : ")");
    return text;
}

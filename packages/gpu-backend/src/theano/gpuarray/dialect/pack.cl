/* Copies of strided arrays, one kernel for each size of an item. */
typedef struct {
    int64_t at[2], n, axes, shape[16], from[16], to[16];
} pack_args;

#define PACK(NAME, TYPE)                                                        \
    KERNEL void NAME(GLOBAL char *p0, GLOBAL char *p1, const pack_args a)       \
    {                                                                           \
        int64_t left = GLOBAL_ID();                                             \
        if (left >= a.n)                                                        \
            return;                                                             \
        GLOBAL const char *x = p0 + a.at[0];                                    \
        GLOBAL char *y = p1 + a.at[1];                                          \
        for (int d = (int)a.axes - 1; d >= 0; --d) {                            \
            const int64_t rest = left / a.shape[d], i = left - rest * a.shape[d]; \
            x += i * a.from[d];                                                 \
            y += i * a.to[d];                                                   \
            left = rest;                                                        \
        }                                                                       \
        *(GLOBAL TYPE *)y = *(GLOBAL const TYPE *)x;                            \
    }

typedef struct {
    uint64_t low, high;
} sixteen_bytes;

PACK(pack1, uint8_t)
PACK(pack2, uint16_t)
PACK(pack4, uint32_t)
PACK(pack8, uint64_t)
PACK(pack16, sixteen_bytes)

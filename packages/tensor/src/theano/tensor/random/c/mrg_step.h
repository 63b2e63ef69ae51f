/* The recurrences of MRG31k3p, and the numbers from 0 to 1 that are made of those drawn; tensor/random/mrg31k3p.py has the
 * formulas. Devices compile this text, too (theano.gpuarray): it is C99 without its library. */
#ifndef THEANO_TENSOR_MRG_STEP_H
#define THEANO_TENSOR_MRG_STEP_H

#define TH_MRG_M1 2147483647u
#define TH_MRG_M2 2147462579u

/* t mod m for t < 2m. */
TH_HELPER uint32_t th_mrg_less(uint32_t t, uint32_t m) { return t - m < t ? t - m : t; }

/* 2^22 x + (2^7 + 1) z mod M1. Powers of 2 turn the 31 bits. */
TH_HELPER uint32_t th_mrg_next_x(uint32_t x, uint32_t z)
{
    const uint32_t a = ((x & 0x1ffu) << 22) + (x >> 9), b = ((z & 0xffffffu) << 7) + (z >> 24);
    return th_mrg_less(th_mrg_less(a + b, TH_MRG_M1) + z, TH_MRG_M1);
}

/* 2^15 y mod M2, where 2^31 is 21069. */
TH_HELPER uint32_t th_mrg_shifted(uint32_t y) { return th_mrg_less(((y & 0xffffu) << 15) + 21069u * (y >> 16), TH_MRG_M2); }

/* 2^15 y + (2^15 + 1) z mod M2. */
TH_HELPER uint32_t th_mrg_next_y(uint32_t y, uint32_t z)
{
    return th_mrg_less(th_mrg_less(th_mrg_shifted(y) + th_mrg_shifted(z), TH_MRG_M2) + z, TH_MRG_M2);
}

/* What is drawn of the newest number of each recurrence: from 1 to M1. */
TH_HELPER int32_t th_mrg_drawn(uint32_t x, uint32_t y) { return (int32_t)(x <= y ? x - y + TH_MRG_M1 : x - y); }

#define TH_MRG_FLOAT(n) ((float)(n) * 4.6566126e-10f)
#define TH_MRG_DOUBLE(n) ((double)(n) * 0x1p-31)
/* For half precision: the low 15 bits, and 1, by the half next to 3.0458e-05, which is 511 2^-24; exact. */
#define TH_MRG_HALF(n) ((float)((((n) & 0x7fff) + 1) * 511) * 0x1p-24f)

#endif

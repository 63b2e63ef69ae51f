/* A block of Philox 4x32-10, and the numbers that are made of its bits: a work-item of a device makes a block at a time.
 * philox.c has the picture. Devices compile this text, too (theano.gpuarray): it is C99 without its library. */
#ifndef THEANO_TENSOR_PHILOX_BLOCK_H
#define THEANO_TENSOR_PHILOX_BLOCK_H

/* The first half and the second half of the bits of a block. */
TH_HELPER void th_philox_block(uint64_t key, uint64_t stream, uint64_t counter, uint64_t *to)
{
    uint32_t a = (uint32_t)counter, b = (uint32_t)(counter >> 32), c = (uint32_t)stream, d = (uint32_t)(stream >> 32);
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t p = (uint64_t)a * 0xD2511F53u, q = (uint64_t)c * 0xCD9E8D57u;
        a = (uint32_t)(q >> 32) ^ b ^ low;
        b = (uint32_t)q;
        c = (uint32_t)(p >> 32) ^ d ^ high;
        d = (uint32_t)p;
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    to[0] = a | (uint64_t)b << 32;
    to[1] = c | (uint64_t)d << 32;
}

/* From 1 to 2, 2 excluded, of the upper 52 bits. */
TH_HELPER double th_philox_from_1_to_2(uint64_t w) { return th_from_bits_f64(w >> 12 | 0x3ff0000000000000u); }

/* From 0 to 1, 1 excluded. */
TH_HELPER double th_philox_uniform_f8(uint64_t w) { return th_philox_from_1_to_2(w) - 1.0; }
TH_HELPER float th_philox_uniform_f4(uint32_t w) { return (float)(int32_t)(w >> 8) * 0x1p-24f; }

/* Sine and cosine of 2 pi t for -1/2 <= t <= 1/2: of t minus a multiple q of a quarter turn, by their
 * series, then turned by q. */
#define TH_PHILOX_TURNED(X, t, magic, SINE, COSINE, cosine, sine) \
    const X shifted = 4 * (t) + (magic), q = shifted - (magic), r = (X)6.283185307179586476925 * ((t) - q / 4), r2 = r * r; \
    const X s = r + r * r2 * SINE(r2), c = 1 - r2 / 2 + r2 * r2 * COSINE(r2); \
    const int odd = (q == 1) | (q == -1), back = (q == 2) | (q == -2); \
    const X x = odd ? -q * s : c, y = odd ? q * c : s; \
    const X cosine = back ? -x : x, sine = back ? -y : y;
TH_HELPER double th_philox_sine_f8(double z)
{
    return -1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 +
           z * (-1.0 / 1307674368000.0))))));
}
TH_HELPER double th_philox_cosine_f8(double z)
{
    return 1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200.0 +
           z * (1.0 / 20922789888000.0))))));
}
TH_HELPER float th_philox_sine_f4(float z) { return -1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040)); }
TH_HELPER float th_philox_cosine_f4(float z) { return 1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320)); }

/* Normal pairs by the method of G. E. P. Box and M. E. Muller (1958), of the bits of a radius and of an angle. */
TH_HELPER void th_philox_normal_f8(uint64_t of_radius, uint64_t of_angle, double *first, double *second)
{
    const double u = 2.0 - th_philox_from_1_to_2(of_radius), t = th_philox_from_1_to_2(of_angle) - 1.5;
    const double radius = __builtin_sqrt(-2.0 * th_log_f64(u));
    TH_PHILOX_TURNED(double, t, 0x1.8p52, th_philox_sine_f8, th_philox_cosine_f8, cosine, sine)
    *first = radius * cosine;
    *second = radius * sine;
}
TH_HELPER void th_philox_normal_f4(uint32_t of_radius, uint32_t of_angle, float *first, float *second)
{
    const float u = ((float)(int32_t)(of_radius >> 1) + 0.5f) * 0x1p-31f;
    const float t = (float)((int32_t)of_angle >> 8) * 0x1p-24f;
    const float radius = __builtin_sqrtf(-2.0f * th_log_plain_f32(u));
    TH_PHILOX_TURNED(float, t, 0x1.8p23f, th_philox_sine_f4, th_philox_cosine_f4, cosine, sine)
    *first = radius * cosine;
    *second = radius * sine;
}

#endif

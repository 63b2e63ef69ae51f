/* What both languages share: the names that our scalar functions are written with. */
#define TH_FUSED 1
#define TH_WIDE 0
#define TH_FMA(a, b, c) fma((double)(a), (double)(b), (double)(c))
#define TH_FMAF(a, b, c) fmaf((float)(a), (float)(b), (float)(c))
#define __builtin_fabs(x) fabs((double)(x))
#define __builtin_fabsf(x) fabsf(x)
#define __builtin_sqrt(x) sqrt((double)(x))
#define __builtin_sqrtf(x) sqrtf(x)
#define __builtin_floor(x) floor((double)(x))
#define __builtin_floorf(x) floorf(x)
#define __builtin_rint(x) rint((double)(x))
#define __builtin_rintf(x) rintf(x)
#define __builtin_fmod(x, y) fmod((double)(x), (double)(y))
#define __builtin_copysign(x, y) copysign((double)(x), (double)(y))
#define __builtin_copysignf(x, y) copysignf(x, y)
#define __builtin_expect(x, y) (x)
/* Of arguments so large that C takes wider floats for them: the device's own functions reduce them exactly. */
#define sinl(x) sin((double)(x))
#define cosl(x) cos((double)(x))
#define tanl(x) tan((double)(x))

/* a / b of numbers that are not negative. Most are short, and a division of 64 bits takes several times as long. */
TH_INLINE int64_t th_quotient(const int64_t a, const int64_t b)
{
    return ((uint64_t)a | (uint64_t)b) >> 32 ? a / b : (int64_t)((uint32_t)a / (uint32_t)b);
}

/* Where element `number` of some axes is, in C order, by their lengths and strides. */
TH_INLINE int64_t th_offset(const int64_t axes, const int64_t *length, const int64_t *stride, const int64_t number)
{
    int64_t left = number, at = 0;
    LOOP
    for (int d = (int)axes - 1; d >= 0; --d) {
        const int64_t rest = d ? th_quotient(left, length[d]) : 0;
        at += (left - rest * length[d]) * stride[d];
        left = rest;
    }
    return at;
}

/* The numbers of all 256 work-items of a group taken together, of which `me` is one: the first is the sum, or the largest. */
#define SUM_UP(shared)                                        \
    for (int half_of = 128; half_of > 0; half_of /= 2) {      \
        BARRIER();                                            \
        if (me < half_of)                                     \
            shared[me] += shared[me + half_of];               \
    }                                                         \
    BARRIER();
#define FIND_LARGEST(shared)                                  \
    for (int half_of = 128; half_of > 0; half_of /= 2) {      \
        BARRIER();                                            \
        if (me < half_of && shared[me + half_of] > shared[me]) \
            shared[me] = shared[me + half_of];                \
    }                                                         \
    BARRIER();

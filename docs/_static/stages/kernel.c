/* y0 = Composite{(i1 - (i2 * t0 * sigmoid((t0 * i1)))) where t0 = (-i0)}(x0, x1, k0) */
static void KERNEL_run(int64_t n, char *const *data, const char *params)
{
    const double k0 = *(const double *)(params);
    const double *x0 = (const double *)data[0];
    const double *x1 = (const double *)data[1];
    double *y0 = (double *)data[2];
#if TH_WIDE
    const int64_t last = (n & -8) - 8;
    for (int64_t i0 = 0; i0 <= last; i0 += 16) {
        const int64_t i1 = i0 + 8 < last ? i0 + 8 : last;
        const th_f64x8 x0_i_0 = *(const th_f64x8_near *)(x0 + i0);
        const th_f64x8 x0_i_1 = *(const th_f64x8_near *)(x0 + i1);
        const th_f64x8 x1_i_0 = *(const th_f64x8_near *)(x1 + i0);
        const th_f64x8 x1_i_1 = *(const th_f64x8_near *)(x1 + i1);
        th_f64x8 y0_i_0, y0_i_1;
        const th_f64x8 neg_0_0 = -x0_i_0;
        const th_f64x8 neg_0_1 = -x0_i_1;
        const th_f64x8 mul_1_0 = neg_0_0 * x1_i_0;
        const th_f64x8 mul_1_1 = neg_0_1 * x1_i_1;
        const th_f64x8 sigmoid_2_0 = th_sigmoid_wide_f64_th_f64x8(mul_1_0, mul_1_0);
        const th_f64x8 sigmoid_2_1 = th_sigmoid_wide_f64_th_f64x8(mul_1_1, mul_1_1);
        const th_f64x8 mul_3_0 = (k0 * neg_0_0) * sigmoid_2_0;
        const th_f64x8 mul_3_1 = (k0 * neg_0_1) * sigmoid_2_1;
        const th_f64x8 sub_4_0 = x1_i_0 - mul_3_0;
        const th_f64x8 sub_4_1 = x1_i_1 - mul_3_1;
        y0_i_0 = sub_4_0;
        y0_i_1 = sub_4_1;
        *(th_f64x8_near *)(y0 + i0) = y0_i_0;
        *(th_f64x8_near *)(y0 + i1) = y0_i_1;
    }
#else
    TH_INDEPENDENT
    for (int64_t i = 0; i < (n & -8); ++i) {
        const double x0_i = x0[i];
        const double x1_i = x1[i];
        double y0_i;
        const double neg_0 = -x0_i;
        const double mul_1 = neg_0 * x1_i;
        const double sigmoid_2 = th_sigmoid_plain_f64(mul_1);
        const double mul_3 = (k0 * neg_0) * sigmoid_2;
        const double sub_4 = x1_i - mul_3;
        y0_i = sub_4;
        y0[i] = y0_i;
    }
#endif
}

static const uint64_t KERNEL_ones[] = {0x0, 0x0};
static const uint8_t KERNEL_kind[] = {TH_FULL, TH_FULL};
static const int32_t KERNEL_over[] = {-1};
static const th_loop KERNEL_loop = {KERNEL_run, KERNEL_ones, KERNEL_kind, KERNEL_over, 5.20, 2, 1,
        1, 8, NULL, 0x0, NULL};

int KERNEL(th_ctx *ctx)
{
    return ctx->rt->elementwise(ctx, &KERNEL_loop);
}

/* y0 = Composite{(i1 - (i2 * t0 * sigmoid((t0 * i1)))) where t0 = (-i0)}(x0, x1, k0) */
static void KERNEL_run(int64_t n, char *const *data, const char *params)
{
    const double k0 = *(const double *)(params);
    const double *x0 = (const double *)data[0];
    const double *x1 = (const double *)data[1];
    double *y0 = (double *)data[2];
    TH_INDEPENDENT
    for (int64_t i = 0; i < (n & -8); ++i) {
        const double x0_i = x0[i];
        const double x1_i = x1[i];
        double y0_i;
        const double neg_0 = -x0_i;
        const double mul_1 = neg_0 * x1_i;
        const double sigmoid_2 = th_sigmoid_f64(mul_1);
        const double mul_3 = (k0 * neg_0) * sigmoid_2;
        const double sub_4 = x1_i - mul_3;
        y0_i = sub_4;
        y0[i] = y0_i;
    }
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

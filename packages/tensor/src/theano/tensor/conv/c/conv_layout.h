/* Images with the channels of a pixel as neighbours, and back. */

/* A batch of images so laid out, with zeros around each: (batch, axes..., channels of all groups). */
typedef struct {
    char *data;
    int64_t length[TH_CONV_AXES]; /* with the zeros */
    int64_t before[TH_CONV_AXES]; /* of these */
    int64_t channels;
    int64_t at[TH_CONV_AXES], image; /* strides in bytes */
} NAME(pixels);

typedef struct {
    NAME(pixels) to;
    th_conv_array from;
    int64_t inner[TH_CONV_AXES]; /* lengths without zeros */
} NAME(copying);

/* One row of pixels. */
static void NAME(copy_row)(const NAME(copying) *j, char *to, const char *from)
{
    const int64_t size = sizeof(T), n = j->inner[2], channels = j->to.channels, step = j->to.at[2], x_step = j->from.at[2];
    int64_t c = 0;
    if (x_step == size)
        for (; c + SQUARE <= channels; c += SQUARE)
            for (int64_t x = 0; x < n; x += SQUARE)
                NAME(turn_square)(to + x * step + c * size, step, SQUARE, n - x < SQUARE ? n - x : SQUARE,
                                  from + c * j->from.inner + x * size, j->from.inner);
    for (; c < channels; ++c)
        for (int64_t x = 0; x < n; ++x)
            memcpy(to + x * step + c * size, from + c * j->from.inner + x * x_step, sizeof(T));
}

/* Images lo to hi. */
static void NAME(copy_images)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(copying) *j = arg;
    const NAME(pixels) *p = &j->to;
    for (int64_t b = lo; b < hi; ++b) {
        char *image = p->data + b * p->image;
        for (int64_t z = 0; z < p->length[0]; ++z)
            for (int64_t y = 0; y < p->length[1]; ++y) {
                char *row = image + z * p->at[0] + y * p->at[1];
                const int64_t zi = z - p->before[0], yi = y - p->before[1];
                if (zi < 0 || zi >= j->inner[0] || yi < 0 || yi >= j->inner[1]) {
                    memset(row, 0, (size_t)p->at[1]);
                    continue;
                }
                const int64_t left = p->before[2] * p->at[2], filled = j->inner[2] * p->at[2];
                memset(row, 0, (size_t)left);
                memset(row + left + filled, 0, (size_t)(p->at[1] - left - filled));
                NAME(copy_row)(j, row + left, j->from.data + b * j->from.outer + zi * j->from.at[0] + yi * j->from.at[1]);
            }
    }
}

/* Copy a batch of images. 0, or -1 with the error set. */
static int NAME(channels_last)(th_ctx *ctx, const th_conv *c, th_conv_array from, int64_t channels, const int64_t *inner,
                               const int64_t *before, const int64_t *after, NAME(pixels) *to)
{
    const int64_t size = sizeof(T);
    to->channels = channels;
    int64_t stride = channels * size;
    for (int a = TH_CONV_AXES - 1; a >= 0; --a) {
        to->before[a] = before[a];
        to->length[a] = inner[a] + before[a] + after[a];
        to->at[a] = stride;
        stride *= to->length[a];
    }
    to->image = stride;
    /* Vectors are read whole, the last one beyond the last pixel. */
    to->data = ctx->rt->scratch(ctx, (size_t)(c->batch * stride + COLUMNS * size));
    if (to->data == NULL)
        return -1;
    memset(to->data + c->batch * stride, 0, (size_t)(COLUMNS * size));
    NAME(copying) j = {*to, from, {inner[0], inner[1], inner[2]}};
    if (c->batch * stride >= TH_CONV_WORTH_THREADS)
        return th_conv_run(ctx, c, c->batch, NAME(copy_images), &j);
    NAME(copy_images)(&j, 0, c->batch);
    return 0;
}

/* A row of results, of which the channels are neighbours, into an array of any strides: pixel i goes to `to + i x_step`. */
static void NAME(put_row)(const char *from, int64_t from_row, int64_t n, int64_t channels, char *to, int64_t inner, int64_t x_step)
{
    const int64_t size = sizeof(T);
    int64_t x = 0;
    if (x_step == size)
        for (; x + SQUARE <= n; x += SQUARE)
            for (int64_t c = 0; c < channels; c += SQUARE)
                NAME(turn_square)(to + x * size + c * inner, inner, SQUARE, channels - c < SQUARE ? channels - c : SQUARE,
                                  from + x * from_row + c * size, from_row);
    for (; x < n; ++x)
        for (int64_t c = 0; c < channels; ++c)
            memcpy(to + x * x_step + c * inner, from + x * from_row + c * size, sizeof(T));
}

/* The offset of element k of a filter, in bytes. */
INLINE int64_t NAME(element_at)(const th_conv *c, const int64_t *k)
{
    int64_t at = 0;
    for (int a = 0; a < TH_CONV_AXES; ++a)
        at += (c->flip ? c->axis[a].kernel - 1 - k[a] : k[a]) * c->kernel.at[a];
    return at;
}

/* The labels of connectionist temporal classification, of which a row ends with a negative one. Devices have the same
 * (theano.gpuarray). */
#ifndef THEANO_TENSOR_CTC_LABELS_H
#define THEANO_TENSOR_CTC_LABELS_H

#include "buffers.h"

TH_HELPER int64_t th_ctc_label(const th_buffer *labels, int64_t b, int64_t i)
{
    const th_buffer row = {.data = labels->data + b * labels->strides[0], .ndim = 1, .dtype = labels->dtype,
                           .strides = labels->strides + 1};
    return th_integer(&row, i);
}

/* How many labels a row has. */
TH_HELPER int64_t th_ctc_count(const th_buffer *labels, int64_t b)
{
    int64_t n = 0;
    while (n < labels->shape[1] && th_ctc_label(labels, b, n) >= 0)
        ++n;
    return n;
}

/* Fail where a kernel's inputs, which are activations, labels and lengths, do not fit each other. */
TH_HELPER int th_ctc_check(th_ctx *ctx)
{
    const th_buffer *labels = ctx->in[1], *lengths = ctx->in[2];
    const int64_t *shape = ctx->in[0]->shape, batch = shape[1];
    if (labels->shape[0] != batch || lengths->shape[0] != batch)
        return TH_FAIL(ctx, TH_ERR_VALUE, "activations are of %lld sequences, labels of %lld, input_lengths of %lld",
                       (long long)batch, (long long)labels->shape[0], (long long)lengths->shape[0]);
    for (int64_t b = 0; b < batch; ++b) {
        const int64_t steps = th_integer(lengths, b), n = th_ctc_count(labels, b);
        if (steps < 0 || steps > shape[0])
            return TH_FAIL(ctx, TH_ERR_VALUE, "input_lengths has %lld; there are activations of %lld steps", (long long)steps,
                           (long long)shape[0]);
        for (int64_t i = 0; i < n; ++i)
            if (th_ctc_label(labels, b, i) >= shape[2])
                return TH_FAIL(ctx, TH_ERR_VALUE, "there is a label %lld, and there are %lld activations",
                               (long long)th_ctc_label(labels, b, i), (long long)shape[2]);
        if (steps > 0 && shape[2] == 0)
            return TH_FAIL(ctx, TH_ERR_VALUE, "there are steps without activations, where a blank needs one");
    }
    return 0;
}

#endif

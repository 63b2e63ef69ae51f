"""The functions of neural networks: activations, softmax, cross entropies."""

from __future__ import annotations

from theano.layers import lazily, names_in_use
from theano.tensor.nnet.activation import (
    elu,
    hard_sigmoid,
    relu,
    scalar_sigmoid,
    scalar_softplus,
    scalar_softsign,
    selu,
    sigmoid,
    sigmoid_inplace,
    softplus,
    softsign,
    ultra_fast_sigmoid,
)
from theano.tensor.nnet.crossentropy import (
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    binary_crossentropy,
    categorical_crossentropy,
    crossentropy_categorical_1hot,
    crossentropy_categorical_1hot_grad,
    sigmoid_binary_crossentropy,
)
from theano.tensor.nnet.likelihood import (
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
    crossentropy_softmax_1hot,
    crossentropy_softmax_1hot_with_bias,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
    crossentropy_softmax_max_and_argmax_1hot,
    crossentropy_softmax_max_and_argmax_1hot_with_bias,
)
from theano.tensor.nnet.softmax import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    logsoftmax,
    logsoftmax_op,
    softmax,
    softmax_grad,
    softmax_graph,
    softmax_op,
    softmax_with_bias,
)

#: What has a family or a module of its own, and is loaded when it is asked for.
_LATER = {
    **{name: f"theano.tensor.conv.functions:{name}" for name in (
        "conv2d", "conv2d_grad_wrt_inputs", "conv2d_grad_wrt_weights", "conv3d", "conv3d_grad_wrt_inputs",
        "conv3d_grad_wrt_weights",
    )},
    **{name: f"theano.tensor.conv.derived:{name}" for name in (
        "causal_conv1d", "conv2d_transpose", "separable_conv2d", "separable_conv3d",
    )},
    **{name: f"theano.tensor.nnet.classes:{name}" for name in (
        "Prepend_scalar_constant_to_each_row", "Prepend_scalar_to_each_row", "confusion_matrix", "h_softmax",
        "prepend_0_to_each_row", "prepend_1_to_each_row", "prepend_scalar_to_each_row",
    )},
    **{name: f"theano.tensor.nnet.{name}" for name in ("blocksparse", "ctc", "neighbours")},
    **{name: f"theano.tensor.nnet.normalization:{name}" for name in (
        "batch_normalization", "batch_normalization_test", "batch_normalization_train",
    )},
    **{name: f"theano.tensor.conv.upsampling:{name}" for name in ("bilinear_upsampling", "frac_bilinear_upsampling")},
}  # fmt: skip
__getattr__ = lazily(globals(), _LATER)[0]

__all__ = [
    "CrossentropyCategorical1Hot", "CrossentropyCategorical1HotGrad", "CrossentropySoftmax1HotWithBiasDx",
    "CrossentropySoftmaxArgmax1HotWithBias", "LogSoftmax", "Softmax", "SoftmaxGrad", "SoftmaxWithBias",
    "binary_crossentropy", "categorical_crossentropy", "crossentropy_categorical_1hot",
    "crossentropy_categorical_1hot_grad", "crossentropy_softmax_1hot", "crossentropy_softmax_1hot_with_bias",
    "crossentropy_softmax_1hot_with_bias_dx", "crossentropy_softmax_argmax_1hot_with_bias",
    "crossentropy_softmax_max_and_argmax_1hot", "crossentropy_softmax_max_and_argmax_1hot_with_bias", "elu",
    "hard_sigmoid", "logsoftmax", "logsoftmax_op", "nnet", "relu", "scalar_sigmoid", "scalar_softplus",
    "scalar_softsign", "selu", "sigm", "sigmoid", "sigmoid_binary_crossentropy", "sigmoid_inplace", "softmax",
    "softmax_grad", "softmax_graph", "softmax_op", "softmax_with_bias", "softplus", "softsign",
    "ultra_fast_sigmoid",
]  # fmt: skip


def __dir__() -> list[str]:
    return names_in_use(__name__, {*__all__, *_LATER, "abstract_conv2d"})

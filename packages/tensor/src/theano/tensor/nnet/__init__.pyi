"""The functions of neural networks: activations, softmax, cross entropies."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.annotations import TensorLike
from theano.tensor.conv.derived import (
    causal_conv1d as causal_conv1d, conv2d_transpose as conv2d_transpose, separable_conv2d as separable_conv2d,
    separable_conv3d as separable_conv3d,
)
from theano.tensor.conv.functions import (
    conv2d as abstract_conv2d, conv2d as conv2d, conv2d_grad_wrt_inputs as conv2d_grad_wrt_inputs,
    conv2d_grad_wrt_weights as conv2d_grad_wrt_weights, conv3d as conv3d, conv3d_grad_wrt_inputs as
    conv3d_grad_wrt_inputs, conv3d_grad_wrt_weights as conv3d_grad_wrt_weights,
)
from theano.tensor.conv.upsampling import (
    bilinear_upsampling as bilinear_upsampling, frac_bilinear_upsampling as frac_bilinear_upsampling,
)
from theano.tensor.nnet import (
    abstract_conv as abstract_conv, blocksparse as blocksparse, bn as bn, ctc as ctc, neighbours as neighbours, nnet as
    nnet, sigm as sigm,
)
from theano.tensor.nnet.activation import (
    elu as elu, hard_sigmoid as hard_sigmoid, relu as relu, scalar_sigmoid as scalar_sigmoid, scalar_softplus as
    scalar_softplus, scalar_softsign as scalar_softsign, selu as selu,
)
from theano.tensor.nnet.classes import (
    Prepend_scalar_constant_to_each_row as Prepend_scalar_constant_to_each_row, Prepend_scalar_to_each_row as
    Prepend_scalar_to_each_row, confusion_matrix as confusion_matrix, h_softmax as h_softmax, prepend_scalar_to_each_row
    as prepend_scalar_to_each_row,
)
from theano.tensor.nnet.crossentropy import (
    CrossentropyCategorical1Hot as CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad as
    CrossentropyCategorical1HotGrad, binary_crossentropy as binary_crossentropy, categorical_crossentropy as
    categorical_crossentropy, sigmoid_binary_crossentropy as sigmoid_binary_crossentropy,
)
from theano.tensor.nnet.likelihood import (
    CrossentropySoftmax1HotWithBiasDx as CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias as
    CrossentropySoftmaxArgmax1HotWithBias, crossentropy_softmax_1hot as crossentropy_softmax_1hot,
    crossentropy_softmax_1hot_with_bias as crossentropy_softmax_1hot_with_bias, crossentropy_softmax_max_and_argmax_1hot
    as crossentropy_softmax_max_and_argmax_1hot, crossentropy_softmax_max_and_argmax_1hot_with_bias as
    crossentropy_softmax_max_and_argmax_1hot_with_bias,
)
from theano.tensor.nnet.normalization import (
    batch_normalization as batch_normalization, batch_normalization_test as batch_normalization_test,
    batch_normalization_train as batch_normalization_train,
)
from theano.tensor.nnet.softmax import (
    LogSoftmax as LogSoftmax, Softmax as Softmax, SoftmaxGrad as SoftmaxGrad, SoftmaxWithBias as SoftmaxWithBias,
    logsoftmax as logsoftmax, softmax as softmax, softmax_graph as softmax_graph,
)
from theano.tensor.var import TensorVariable
from typing import Any

def crossentropy_categorical_1hot(coding_dist: TensorLike, true_one_of_n: TensorLike) -> TensorVariable: ...
def crossentropy_categorical_1hot_grad(
    g_y: TensorLike, coding_dist: TensorVariable, true_one_of_n: TensorLike,
) -> TensorVariable: ...
def crossentropy_softmax_1hot_with_bias_dx(
    dy: TensorLike, sm: TensorVariable, y_idx: TensorLike, labels: TensorLike | str = 'each',
) -> TensorVariable: ...
def crossentropy_softmax_argmax_1hot_with_bias(
    x: TensorLike, b: TensorVariable, y_idx: TensorLike, labels: object = 'each',
) -> list[TensorVariable]: ...
def logsoftmax_op(x: TensorLike) -> TensorVariable: ...
def prepend_0_to_each_row(*inputs: Any) -> TensorVariable: ...
def prepend_1_to_each_row(*inputs: Any) -> TensorVariable: ...
def sigmoid(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow."""
def sigmoid_inplace(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow."""
def softmax_grad(dy: TensorLike, sm: TensorVariable) -> TensorVariable: ...
def softmax_op(x: TensorLike) -> TensorVariable: ...
def softmax_with_bias(x: TensorLike, b: TensorVariable) -> TensorVariable: ...
def softplus(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Logarithm of 1 + exp(x), without overflow."""
def softsign(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """Quotient x / (1 + abs(x)): a sigmoid from -1 to 1 with heavy tails."""
def ultra_fast_sigmoid(x: TensorLike, /, *, name: str | None = ...) -> TensorVariable:
    """An approximation of the sigmoid by three pieces, within 0.07 of it."""

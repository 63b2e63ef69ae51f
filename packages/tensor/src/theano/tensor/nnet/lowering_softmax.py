"""Softmax and its relatives, a row at a time in one pass through the cache (``c/softmax.c``)."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import FLOATS, INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import nothing, ready
from theano.tensor.kernels.parameters import Labels
from theano.tensor.nnet.crossentropy import CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad
from theano.tensor.nnet.labels import labels_of
from theano.tensor.nnet.likelihood import CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad, SoftmaxWithBias


def _labels(node: Apply) -> Labels:
    return Labels[labels_of(node).upper()]


def _softmax(
    bias: bool = False, as_log: bool = False, loss: bool = False, labels: Labels = Labels.EACH
) -> Parameters:
    return parameters.SoftmaxParams(bias=bias, as_log=as_log, loss=loss, labels=labels)


@ready("th_kernel_softmax", work=1.5)
def softmax_kernel(op: Any, node: Apply) -> Parameters:
    """Return the softmax of each row of a matrix."""
    return _softmax()


@ready("th_kernel_softmax", work=1.5)
def softmax_with_bias_kernel(op: Any, node: Apply) -> Parameters:
    """Return the softmax of each row of ``x + b``."""
    return _softmax(bias=True)


@ready("th_kernel_softmax", work=1.5)
def log_softmax_kernel(op: Any, node: Apply) -> Parameters:
    """Return the logarithm of the softmax of each row of a matrix."""
    return _softmax(as_log=True)


@ready("th_kernel_softmax", work=1.5)
def crossentropy_kernel(op: Any, node: Apply) -> Parameters:
    """Return minus the logarithm of the softmax of ``x + b`` at the labels, the softmax, and the largest places."""
    return _softmax(bias=True, loss=True, labels=_labels(node))


@ready("th_kernel_softmax_grad", work=1.0)
def softmax_grad_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of a softmax."""
    return nothing


@ready("th_kernel_crossentropy_dx", work=1.0)
def crossentropy_dx_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of the cross entropies; dy is one or as many as rows."""
    return parameters.CrossentropyDxParams(labels=_labels(node))


@ready("th_kernel_crossentropy_1hot", work=1.0)
def crossentropy_1hot_kernel(op: Any, node: Apply) -> Parameters:
    """Return minus the logarithm of the probability at each row's label."""
    return nothing


@ready("th_kernel_crossentropy_1hot_grad", work=1.0)
def crossentropy_1hot_grad_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of that."""
    return nothing


_ROWS = Accepts("x -> p", dtypes={"x": SINGLE_OR_DOUBLE}, ndim={"x": 2}, same=("x p",))

register(
    Lowering(Softmax, softmax_kernel, _ROWS),
    Lowering(LogSoftmax, log_softmax_kernel, _ROWS),
    Lowering(SoftmaxWithBias, softmax_with_bias_kernel, Accepts(
        "x, b -> p", dtypes={"x": SINGLE_OR_DOUBLE}, ndim={"x": 2}, same=("x b p",),
    )),
    Lowering(SoftmaxGrad, softmax_grad_kernel, Accepts(
        "dy, sm -> dx", dtypes={"dy": SINGLE_OR_DOUBLE}, ndim={"dy": 2}, same=("dy sm dx",),
    )),
    Lowering(CrossentropySoftmaxArgmax1HotWithBias, crossentropy_kernel, Accepts(
        "x, b, label, *how -> cost, p, place", ndim={"x": 2},
        dtypes={"x": SINGLE_OR_DOUBLE, "label": INTEGERS, "how": INTEGERS},
        same=("x b cost p", "label place"),
    )),
    Lowering(CrossentropySoftmax1HotWithBiasDx, crossentropy_dx_kernel, Accepts(
        "dy, sm, label, *how -> dx", dtypes={"dy": SINGLE_OR_DOUBLE, "label": INTEGERS, "how": INTEGERS},
        same=("dy sm dx",),
    )),
    Lowering(CrossentropyCategorical1Hot, crossentropy_1hot_kernel, Accepts(
        "p, label -> cost", dtypes={"p": FLOATS, "label": INTEGERS}, same=("p cost",),
    )),
    Lowering(CrossentropyCategorical1HotGrad, crossentropy_1hot_grad_kernel, Accepts(
        "dy, p, label -> dp", dtypes={"dy": FLOATS, "p": FLOATS, "label": INTEGERS}, same=("p dp",),
    )),
)  # fmt: skip

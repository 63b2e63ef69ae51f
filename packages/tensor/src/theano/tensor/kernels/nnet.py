"""Softmax and its relatives, a row at a time in one pass through the cache (``c/softmax.c``)."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.lowering.accepts import FLOATS, INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels.common import ready
from theano.tensor.nnet.crossentropy import (
    LABELS,
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
)
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad, SoftmaxWithBias


def _labels(op: Any) -> int:
    return LABELS.index(getattr(op, "labels", "each"))


# Parameters of th_kernel_softmax: whether there is a bias, a logarithm, a loss; how labels choose.


@ready("th_kernel_softmax", work=1.5)
def softmax_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the softmax of each row of a matrix."""
    return 0, 0, 0, 0


@ready("th_kernel_softmax", work=1.5)
def softmax_with_bias_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the softmax of each row of ``x + b``."""
    return 1, 0, 0, 0


@ready("th_kernel_softmax", work=1.5)
def log_softmax_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the logarithm of the softmax of each row of a matrix."""
    return 0, 1, 0, 0


@ready("th_kernel_softmax", work=1.5)
def crossentropy_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return minus the logarithm of the softmax of ``x + b`` at the labels, the softmax, and the largest places."""
    return 1, 0, 1, _labels(op)


@ready("th_kernel_softmax_grad", work=1.0)
def softmax_grad_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the gradient of a softmax."""
    return ()


@ready("th_kernel_crossentropy_dx", work=1.0)
def crossentropy_dx_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the gradient of the cross entropies; dy is one or as many as rows."""
    return (_labels(op),)


@ready("th_kernel_crossentropy_1hot", work=1.0)
def crossentropy_1hot_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return minus the logarithm of the probability at each row's label."""
    return ()


@ready("th_kernel_crossentropy_1hot_grad", work=1.0)
def crossentropy_1hot_grad_kernel(op: Any, node: Apply) -> tuple[int, ...]:
    """Return the gradient of that."""
    return ()


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
        "x, b, label -> cost, p, place", dtypes={"x": SINGLE_OR_DOUBLE, "label": INTEGERS}, ndim={"x": 2},
        same=("x b cost p", "label place"),
    )),
    Lowering(CrossentropySoftmax1HotWithBiasDx, crossentropy_dx_kernel, Accepts(
        "dy, sm, label -> dx", dtypes={"dy": SINGLE_OR_DOUBLE, "label": INTEGERS}, same=("dy sm dx",),
    )),
    Lowering(CrossentropyCategorical1Hot, crossentropy_1hot_kernel, Accepts(
        "p, label -> cost", dtypes={"p": FLOATS, "label": INTEGERS}, same=("p cost",),
    )),
    Lowering(CrossentropyCategorical1HotGrad, crossentropy_1hot_grad_kernel, Accepts(
        "dy, p, label -> dp", dtypes={"dy": FLOATS, "p": FLOATS, "label": INTEGERS}, same=("p dp",),
    )),
)  # fmt: skip

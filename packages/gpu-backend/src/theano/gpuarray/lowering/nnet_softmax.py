"""Softmax and its relatives, a group of work-items for each row."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceSoftmax, SoftmaxOperation
from theano.gpuarray.lowering.common import functions, numbers_of_host, on_device, shipped
from theano.gpuarray.writer.parts import WIDEST, size_of
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import FLOATS
from theano.lowering.table import register
from theano.scalar.ctypes import c_type
from theano.tensor.kernels.common import dtype_of
from theano.tensor.kernels.parameters import Labels
from theano.tensor.nnet.crossentropy import CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad
from theano.tensor.nnet.labels import labels_of
from theano.tensor.nnet.likelihood import CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad, SoftmaxWithBias

_NAMES = {
    SoftmaxOperation.SOFTMAX: "softmax_rows", SoftmaxOperation.LIKELIHOOD: "softmax_rows",
    SoftmaxOperation.SOFTMAX_GRADIENT: "softmax_gradient", SoftmaxOperation.LIKELIHOOD_GRADIENT: "likelihood_gradient",
    SoftmaxOperation.LOGARITHM: "label_logarithms", SoftmaxOperation.LOGARITHM_GRADIENT: "label_logarithms_gradient",
}  # fmt: skip
_FUNCTIONS = (*dict.fromkeys(_NAMES.values()), "softmax_long_rows")
#: Which input has the labels.
_LABELS = {
    SoftmaxOperation.LIKELIHOOD: 2, SoftmaxOperation.LIKELIHOOD_GRADIENT: 2,
    SoftmaxOperation.LOGARITHM: 1, SoftmaxOperation.LOGARITHM_GRADIENT: 2,
}  # fmt: skip


def _rows(
    node: Apply, operation: SoftmaxOperation, bias: bool = False, as_log: bool = False, labels: Labels = Labels.EACH
) -> Parameters:
    label = c_type(dtype_of(node.inputs[_LABELS[operation]])) if operation in _LABELS else "int64_t"
    dtype = dtype_of(node.inputs[1 if operation % 2 else 0])
    kept, pack = (16 if dtype == "float64" else 32), WIDEST // size_of(dtype)
    larger = "fmax(x, y)" if dtype == "float64" else "fmaxf(x, y)"
    words = {"LABEL": label, "KEPT": kept, "PACK": pack, "LARGER(x, y)": larger}
    text = shipped("nnet_softmax.cl", dtype, ("exp", "log"), **words)
    found = dict(zip(_FUNCTIONS, functions(node, text, _FUNCTIONS), strict=True))
    name = _NAMES[operation]
    return DeviceSoftmax(
        function=found[name], long_rows=found["softmax_long_rows"] if name == "softmax_rows" else 0,
        kept=kept, pack=pack, operation=operation, bias=bias, as_log=as_log, labels=labels,
        number=bool(_one_gradient(node)),
    )  # fmt: skip


def _labels(node: Apply) -> Labels:
    return Labels[labels_of(node).upper()]


def _on_host(node: Apply) -> tuple[int, ...]:
    """Return the inputs that the host reads: how labels choose, if that is said, and a gradient that is one number."""
    return (*_one_gradient(node), *range(3, len(node.inputs)))


def _one_gradient(node: Apply) -> tuple[int, ...]:
    """Return the first input of a likelihood's gradient, if that is one number of the host's for all rows."""
    if not isinstance(node.op, CrossentropySoftmax1HotWithBiasDx) or dtype_of(node.inputs[0]) == "float16":
        return ()
    return tuple(i for i in numbers_of_host(node) if i == 0)


@ready("th_kernel_gpu_softmax")
def softmax_kernel(op: Any, node: Apply) -> Parameters:
    """Return the softmax of each row of a matrix."""
    return _rows(node, SoftmaxOperation.SOFTMAX)


@ready("th_kernel_gpu_softmax")
def softmax_with_bias_kernel(op: Any, node: Apply) -> Parameters:
    """Return the softmax of each row of ``x + b``."""
    return _rows(node, SoftmaxOperation.SOFTMAX, bias=True)


@ready("th_kernel_gpu_softmax")
def log_softmax_kernel(op: Any, node: Apply) -> Parameters:
    """Return the logarithm of the softmax of each row of a matrix."""
    return _rows(node, SoftmaxOperation.SOFTMAX, as_log=True)


@ready("th_kernel_gpu_softmax")
def softmax_grad_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of a softmax."""
    return _rows(node, SoftmaxOperation.SOFTMAX_GRADIENT)


@ready("th_kernel_gpu_softmax")
def crossentropy_kernel(op: Any, node: Apply) -> Parameters:
    """Return minus the logarithm of the softmax of ``x + b`` at the labels, the softmax, and the largest places."""
    return _rows(node, SoftmaxOperation.LIKELIHOOD, bias=True, labels=_labels(node))


@ready("th_kernel_gpu_softmax")
def crossentropy_dx_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of the cross entropies; dy is one or as many as rows."""
    return _rows(node, SoftmaxOperation.LIKELIHOOD_GRADIENT, labels=_labels(node))


@ready("th_kernel_gpu_softmax")
def crossentropy_1hot_kernel(op: Any, node: Apply) -> Parameters:
    """Return minus the logarithm of the probability at each row's label."""
    return _rows(node, SoftmaxOperation.LOGARITHM)


@ready("th_kernel_gpu_softmax")
def crossentropy_1hot_grad_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of that."""
    return _rows(node, SoftmaxOperation.LOGARITHM_GRADIENT)


_FLOAT_ROWS = {"x": FLOATS}

register(
    on_device(Softmax, softmax_kernel, _FLOAT_ROWS),
    on_device(LogSoftmax, log_softmax_kernel, _FLOAT_ROWS),
    on_device(SoftmaxWithBias, softmax_with_bias_kernel, _FLOAT_ROWS),
    on_device(SoftmaxGrad, softmax_grad_kernel, {"dy": FLOATS}),
    on_device(CrossentropySoftmaxArgmax1HotWithBias, crossentropy_kernel, _FLOAT_ROWS, on_host=_on_host),
    on_device(CrossentropySoftmax1HotWithBiasDx, crossentropy_dx_kernel, {"dy": FLOATS}, on_host=_on_host),
    on_device(CrossentropyCategorical1Hot, crossentropy_1hot_kernel),
    on_device(CrossentropyCategorical1HotGrad, crossentropy_1hot_grad_kernel, same=("dy p dp",)),
)

"""Softmax and its relatives, a row at a time in one pass through the cache (``c/softmax.c``)."""

from __future__ import annotations

from typing import Any

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.tensor.kernels.common import builtin, dtype_of, dtypes_of, is_integer, ndim_of, same_dtype

#: How labels choose columns, in the order of ``c/softmax.c``.
LABELS = ("each", "first", "all")
_FLOATS = ("float32", "float64")


def _softmax(
    node: Apply, bias: bool = False, log: bool = False, loss: bool = False, labels: str = "each"
) -> Builtin | None:
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or ndim_of(node.inputs[0]) != 2:
        return None
    label = dtypes[2] if loss else "int64"
    dtype = dtypes[0]
    if dtype not in _FLOATS or any(d != dtype for d in dtypes if d != label) or not is_integer(label):
        return None
    if loss and dtypes[-1] != label:
        return None
    return builtin("th_kernel_softmax", int(bias), int(log), int(loss), LABELS.index(labels), work=1.5)


def softmax_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the softmax of each row of a matrix."""
    return _softmax(node)


def softmax_with_bias_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the softmax of each row of ``x + b``."""
    return _softmax(node, bias=True)


def log_softmax_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the logarithm of the softmax of each row of a matrix."""
    return _softmax(node, log=True)


def crossentropy_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return three things about the rows ``x + b``, for inputs x, b, labels.

    Minus the logarithm of the softmax at the labels, the softmax, and the place of the largest element.
    """
    return _softmax(node, bias=True, loss=True, labels=getattr(op, "labels", "each"))


def softmax_grad_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the gradient of a softmax, for inputs dy, sm."""
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or len(set(dtypes)) != 1 or dtypes[0] not in _FLOATS or ndim_of(node.inputs[0]) != 2:
        return None
    return builtin("th_kernel_softmax_grad", work=1.0)


def crossentropy_dx_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the gradient of the cross entropies, for inputs dy (one or as many as rows), sm, labels."""
    dtypes = dtypes_of([*node.inputs, *node.outputs])
    if dtypes is None or not is_integer(dtypes[2]):
        return None
    real = dtypes[0]
    if real not in _FLOATS or not real == dtypes[1] == dtypes[3]:
        return None
    return builtin("th_kernel_crossentropy_dx", LABELS.index(getattr(op, "labels", "each")), work=1.0)


def crossentropy_1hot_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return minus the logarithm of the probability at each row's label, for inputs probabilities, labels."""
    return _of_labels("th_kernel_crossentropy_1hot", node, node.inputs[1])


def crossentropy_1hot_grad_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the gradient of that, for inputs dy, probabilities, labels."""
    return _of_labels("th_kernel_crossentropy_1hot_grad", node, node.inputs[2])


def _of_labels(symbol: str, node: Apply, label: Any) -> Builtin | None:
    others = [v for v in (*node.inputs, *node.outputs) if v is not label]
    dtypes = dtypes_of(others)
    if dtypes is None or not {*dtypes} <= {"float16", *_FLOATS} or not is_integer(dtype_of(label)):
        return None
    return builtin(symbol, work=1.0) if same_dtype(*others[-2:]) else None

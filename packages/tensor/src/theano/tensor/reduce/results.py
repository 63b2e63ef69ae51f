"""The result of a reduction: with the axes that went, and with an initial element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Constant
from theano.scalar.ufuncs import neutral
from theano.tensor.convert import as_tensor_variable, constant
from theano.tensor.elemwise.functions import cast
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.reduce.axes import normalize_axes, restore_axes
from theano.tensor.reduce.careduce import CAReduce

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


def makeKeepDims(x: Variable, y: Variable, axis: Axis) -> Tensor:
    """Return ``y``, a reduction of ``x`` along ``axis``, with the axes that went back in place, of length 1.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dmatrix("x")
    >>> makeKeepDims(x, x.sum(axis=1), 1).broadcastable
    (False, True)
    """
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x.type.ndim)
    return restore_axes(y, x, tuple(range(x.type.ndim)) if axes is None else axes)


def kept(x: Variable, out: Variable, axis: Any, keepdims: bool) -> Any:
    """Return the reduction ``out`` of ``x``, with ``keepdims`` with the axes that went."""
    return makeKeepDims(x, out, axis) if keepdims else out


def reduced(op: CAReduce, x: Variable, axis: Axis, keepdims: bool, initial: TensorLike | None = None) -> Any:
    """Return what a reduction makes of ``x`` and of ``initial``, a number that counts as one more element."""
    out = kept(x, op(x), axis, keepdims)
    if initial is None:
        return out
    first = _in_dtype(initial, out.type.dtype)
    if isinstance(first, Constant) and first.data == neutral(op.scalar_op, out.type.dtype):
        return out
    return Elemwise(op.scalar_op)(first, out)


def _in_dtype(initial: TensorLike, dtype: str) -> Tensor:
    """Return an initial number in the dtype of a result, if that has it."""
    v = as_tensor_variable(initial)
    if v.type.ndim:
        raise ArgumentError(f"initial is a number, not a tensor of {v.type.ndim} dimensions")
    if isinstance(v, Constant):
        limits = np.iinfo(dtype) if dtype in scal.integer_dtypes else None
        if limits is None or (limits.min <= v.data <= limits.max and v.data == int(v.data)):
            return constant(v.data.astype(dtype))
    elif scal.upcast(v.type.dtype, dtype) == dtype:
        return cast(v, dtype)
    raise TypeError(f"initial={v} is no number of dtype {dtype}, which the reduction has")

"""The axes that are reduced: as users write them, as ops keep them, and put back into a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import ArgumentError
from theano.graph import Constant
from theano.tensor.convert import as_tensor_variable

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, TensorLike
    from theano.tensor.type import Tensor


def normalize_axes(axis: Axis, ndim: int) -> tuple[int, ...] | None:
    """Return axes as a sorted tuple of numbers from 0, or None for all of them.

    Parameters
    ----------
    axis : None, int, constant, or sequence of these
    ndim : int
        Number of dimensions of the tensor.

    Examples
    --------
    >>> normalize_axes(-1, 3), normalize_axes([1, 0], 3), normalize_axes(None, 3)
    ((2,), (0, 1), None)
    """
    axis = axis.data if isinstance(axis, Constant) else axis
    if axis is None:
        return None
    entries = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    result = []
    for entry in entries:
        value = getattr(entry, "data", entry) if not isinstance(entry, np.ndarray) else entry
        number = np.asarray(value)
        if number.ndim == 1 and number.dtype.kind in "iu" and len(entries) == 1:
            return normalize_axes(number.tolist(), ndim)
        if number.ndim or number.dtype.kind not in "iu" and not (number.dtype.kind == "f" and number == int(number)):
            raise ArgumentError(f"an axis must be a whole number that is known while the graph is built, not {entry!r}")
        n = int(number)
        if not -ndim <= n < max(ndim, 1) or ndim == 0:
            raise ArgumentError(f"Not enough dimensions to reduce: axis {n} of a tensor that has {ndim} dimensions")
        n %= ndim
        if n in result:
            raise ValueError(f"axis {n} is given twice in {tuple(entries)}")
        result.append(n)
    return tuple(sorted(result))


def plain_axes(axis: Any) -> Any:
    """Return axes in a form that can be part of an op's identity, before the number of dimensions is known.

    Examples
    --------
    >>> import theano.tensor as T
    >>> plain_axes(None), plain_axes(1), plain_axes([0, 1]), plain_axes(T.constant(2)), plain_axes(T.NoneConst)
    (None, (1,), (0, 1), (2,), None)
    """
    axis = axis.data if isinstance(axis, Constant) else axis
    if axis is None:
        return None
    if isinstance(axis, np.ndarray):
        axis = axis.tolist()
    entries = axis if isinstance(axis, (list, tuple)) else [axis]
    return tuple(int(a) if isinstance(a, (int, np.integer)) else a for a in entries)


def restore_axes(reduced: TensorLike, like: Tensor, axes: Sequence[int]) -> Tensor:
    """Return a reduced tensor with the axes that went back at their places, of length 1."""
    order: list[int | str] = []
    kept = 0
    for axis in range(like.type.ndim):
        if axis in axes:
            order.append("x")
        else:
            order.append(kept)
            kept += 1
    reduced = as_tensor_variable(reduced)
    return reduced if order == list(range(reduced.type.ndim)) else reduced.dimshuffle(*order)


def check_and_normalize_axes(x: TensorLike, axis: Axis) -> list[int]:
    """Return the axes named by ``axis`` as numbers from 0; all of them for None.

    Parameters
    ----------
    x : tensor
        Its number of dimensions counts.
    axis : int, sequence of int, or None
        Negative numbers count from the last dimension.

    Returns
    -------
    list of int
        In ascending order.

    Examples
    --------
    >>> import theano.tensor as T
    >>> check_and_normalize_axes(T.dtensor3(), (-1, 0))
    [0, 2]
    """
    x = as_tensor_variable(x)
    if x.type.ndim == 0 and axis in (0, -1, None, [], ()):
        return []
    axes = normalize_axes(axis, x.type.ndim)
    return list(range(x.type.ndim)) if axes is None else list(axes)


def names_none(axis: Axis) -> bool:
    """Return whether an axis is an empty list or tuple of axes."""
    return isinstance(axis, (list, tuple)) and not axis


def makeKeepDims(x: Variable, y: Variable, axis: Axis) -> Tensor:
    """Return ``y``, a reduction of ``x`` along ``axis``, with the axes that went back in place, of length 1.

    Parameters
    ----------
    x : tensor
        What was reduced.
    y : tensor
        The result of the reduction.
    axis : int, sequence of int, or None
        The axes that went; all of them for None.

    Returns
    -------
    TensorVariable
        The elements of ``y``, with the dimensions of ``x``.

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


def kept(x: Variable, out: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return the reduction ``out`` of ``x``, with ``keepdims`` with the axes that went."""
    return makeKeepDims(x, out, axis) if keepdims else out

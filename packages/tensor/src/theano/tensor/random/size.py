"""How many numbers a draw makes: what users say about the shape, and what follows from parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Variable
from theano.records import NamedTuple
from theano.tensor.convert import as_tensor_variable, constant, get_vector_length, static_int
from theano.tensor.elemwise.functions import cast
from theano.tensor.join.op import stack

if TYPE_CHECKING:
    from theano.tensor.type import Tensor


class Size(NamedTuple):
    """The known lengths of the shape of a draw.

    Attributes
    ----------
    ndim : int
    lengths : Variable
        A vector of integers; an empty constant stands for the shape that the parameters have together.
    pattern : tuple of bool
        Which lengths are 1 by their type.
    """

    ndim: int
    lengths: Any
    pattern: tuple[bool, ...]


def vector_of(size: Any) -> Tensor:
    """Return lengths as a vector; one without elements is of int64, too.

    Examples
    --------
    >>> vector_of(()).type
    TensorType(int64, vector)
    """
    if isinstance(size, (tuple, list)) and not size:
        return constant(np.array([], "int64"), ndim=1)
    return as_tensor_variable(size, ndim=1)


def size_of(ndim: int | None, shape: Any, *parameters: Any) -> Size:
    """Return the shape that a user asks for, completed from parameters.

    Parameters
    ----------
    ndim : int or None
        Where the shape does not say it: the length of a symbolic vector.
    shape : sequence, vector or None
        Numbers and symbolic numbers, -1 for the length that a parameter has there; None: the parameters' own shape.
    *parameters : Variable

    Raises
    ------
    ValueError
        The parameters have more dimensions than the shape, or ``ndim`` is not its length.
    TypeError
        The shape is no vector of whole numbers, or it is unknown.

    Examples
    --------
    >>> size_of(None, (2, 1)).pattern
    (False, True)
    """
    if isinstance(shape, (tuple, list)):
        size = _of_sequence(ndim, shape, parameters)
    elif shape is None:
        if not parameters:
            raise TypeError("the shape of this draw is unknown: pass size, as in size=(3,)")
        together = reduce(add, parameters)
        size = Size(together.type.ndim, together.shape, tuple(together.type.broadcastable))
    else:
        size = _of_vector(ndim, shape)
    most = max((p.type.ndim for p in parameters), default=0)
    if most > size.ndim:
        raise ValueError(
            f"a parameter has {most} dimensions, and the size asked for, {shape}, only {size.ndim}. "
            "Ask for a size with as many, or for none."
        )
    return size


def _of_vector(ndim: int | None, shape: Variable) -> Size:
    lengths = as_tensor_variable(shape)
    if lengths.type.ndim != 1:
        raise TypeError(f"size must be a vector or a list of whole numbers, not {lengths} of type {lengths.type}")
    if lengths.type.dtype not in scal.integer_dtypes:
        raise TypeError(f"size must be whole numbers, not {lengths} of dtype {lengths.type.dtype}")
    count = int(get_vector_length(lengths)) if ndim is None else ndim
    return Size(count, cast(lengths, "int64"), (False,) * count)


def _of_sequence(ndim: int | None, shape: Sequence[int], parameters: Sequence[Any]) -> Size:
    if ndim is not None and ndim != len(shape):
        raise ValueError(f"ndim is {ndim}, but size {tuple(shape)} has {len(shape)} lengths; they must agree")
    lengths, pattern = [], []
    for i, n in enumerate(shape):
        if not isinstance(n, Variable):
            if isinstance(n, (float, np.floating)) and n != int(n):
                raise TypeError(f"length {i} of size must be a whole number, not {n}")
            if n < -1:
                raise ValueError(f"length {i} of size is {n}; lengths are 0 or more, or -1 for a parameter's")
            if n == -1:
                n = _borrowed(len(shape) - i, shape, parameters)
        length = as_tensor_variable(n)
        if length.type.ndim != 0 or length.type.dtype not in scal.integer_dtypes:
            raise TypeError(f"length {i} of size must be a whole number, not {length} of type {length.type}")
        lengths.append(cast(length, "int64"))
        pattern.append(static_int(n) == 1)
    return Size(len(shape), stack(lengths) if lengths else vector_of(()), tuple(pattern))


def _borrowed(from_right: int, shape: Sequence[object], parameters: Sequence[Any]) -> Any:
    """Return the length that parameters have at a place counted from the right."""
    there = [p for p in parameters if p.type.ndim >= from_right]
    if not there:
        raise ValueError(
            f"size {tuple(shape)} has -1 where no parameter has a dimension. Write the length that is wanted."
        )
    for p in there:
        if not p.type.broadcastable[-from_right]:
            return p.shape[p.type.ndim - from_right]
    return 1

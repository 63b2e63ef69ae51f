"""The shape that arrays have together once each is stretched to the others."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.convert import as_tensor_variable, get_vector_length, static_int
from theano.tensor.elemwise.functions import cast, eq, switch
from theano.tensor.shape.basic import shape_tuple

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def lengths_of(shape: TensorLike) -> list[Any]:
    """Return the elements of a shape, be it a sequence of lengths or a vector whose own length is known."""
    if isinstance(shape, (list, tuple)):
        return list(shape)
    shape = as_tensor_variable(shape, ndim=1)
    return [shape[i] for i in range(get_vector_length(shape))]


def broadcast_shape(*arrays: TensorLike, **kwargs: object) -> tuple[Tensor, ...]:
    """Return the lengths of what comes of arrays that are broadcast against each other.

    Parameters
    ----------
    *arrays : tensor, or sequence of lengths
        What is broadcast.
    **kwargs : bool, optional
        ``arrays_are_shapes=True``: the arrays are given by their shapes.

    Returns
    -------
    tuple of Variable
        The lengths, as constants or scalars of int64.

    Raises
    ------
    ValueError
        Two lengths that are known do not fit. Where they are known only at run time, that is left to those who
        compute with the arrays.

    See Also
    --------
    broadcast_to, broadcast_arrays, numpy.broadcast_shapes

    Examples
    --------
    >>> import theano.tensor as T
    >>> n = T.lscalar("n")
    >>> broadcast_shape((n, 1), (5,), arrays_are_shapes=True)
    (n, TensorConstant{5})
    """
    return broadcast_shape_iter(arrays, **kwargs)


def broadcast_shape_iter(arrays: Iterable[TensorLike], **kwargs: object) -> tuple[Tensor, ...]:
    """Return the same as :func:`broadcast_shape`, for a sequence of arrays.

    Parameters
    ----------
    arrays : iterable of tensor
        What is broadcast.
    **kwargs : bool, optional
        ``arrays_are_shapes=True``: the arrays are given by their shapes.

    Returns
    -------
    tuple of Variable
        The lengths.

    See Also
    --------
    broadcast_shape

    Examples
    --------
    >>> broadcast_shape_iter([(3, 1), (4,)], arrays_are_shapes=True)
    (TensorConstant{3}, TensorConstant{4})
    """
    are_shapes = kwargs.pop("arrays_are_shapes", False)
    if kwargs:
        raise TypeError(f"broadcast_shape got an unexpected keyword argument {next(iter(kwargs))!r}")
    shapes = [lengths_of(a) if are_shapes else list(shape_tuple(as_tensor_variable(a))) for a in arrays]
    ndim = builtins.max((len(shape) for shape in shapes), default=0)
    columns = [[shape[i - ndim] for shape in shapes if len(shape) >= ndim - i] for i in range(ndim)]
    return tuple(_together(column, shapes) for column in columns)


def _together(lengths: Sequence[Any], shapes: Sequence[Sequence[TensorLike]]) -> Tensor:
    """Return the length that some lengths stretch to."""
    known = {n for n in map(static_int, lengths) if n is not None and n != 1}
    if len(known) > 1:
        raise ValueError(
            f"shapes cannot be broadcast together: lengths {sorted(known)} stand in one place of "
            f"{', '.join(str(tuple(shape)) for shape in shapes)}"
        )
    if known:
        return as_tensor_variable(np.int64(known.pop()))
    result: Any = None
    for n in lengths:
        if static_int(n) == 1:
            continue
        n = cast(as_tensor_variable(n), "int64")
        # NumPy lets a length of 1 stretch, also where the graph does not know it.
        result = n if result is None or result is n else switch(eq(result, 1), n, result)
    return as_tensor_variable(np.int64(1)) if result is None else result

"""Parameters of random variables, stretched over each other: their last dimensions are those of one draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.expressions.ops import broadcast_to
from theano.tensor.shape.basic import shape_tuple
from theano.tensor.shape.broadcast import broadcast_shape_iter

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike


def params_broadcast_shapes(
    param_shapes: Sequence[Sequence[Any]], ndims_params: Sequence[int], use_theano: bool = True
) -> list[tuple[Any, ...]]:
    """Return the shapes of parameters that are stretched to the same batch.

    Parameters
    ----------
    param_shapes : list of sequences
        The lengths of each parameter.
    ndims_params : list of int
        How many dimensions each parameter of one draw has. Those before are the batch.
    use_theano : bool
        Whether lengths may be symbolic; numbers otherwise.

    Returns
    -------
    list of tuple

    Raises
    ------
    ValueError
        Two batches do not fit.

    Examples
    --------
    >>> params_broadcast_shapes([(3,), (2, 3, 3)], [1, 2], use_theano=False)
    [(2, 3), (2, 3, 3)]
    """
    shapes = [tuple(shape) for shape in param_shapes]
    splits = [len(shape) - ndim for shape, ndim in zip(shapes, ndims_params, strict=True)]
    if any(split < 0 for split in splits):
        raise ValueError(f"parameters have {[*map(len, shapes)]} dimensions, but one draw takes {list(ndims_params)}")
    batches = [shape[:split] for shape, split in zip(shapes, splits, strict=True)]
    together: tuple[Any, ...] = (
        broadcast_shape_iter(batches, arrays_are_shapes=True) if use_theano else np.broadcast_shapes(*batches)
    )
    return [(*together, *shape[split:]) for shape, split in zip(shapes, splits, strict=True)]


def broadcast_params(params: Sequence[TensorLike], ndims_params: Sequence[int]) -> list[Any]:
    """Return parameters, arrays or tensors, stretched to the same batch.

    Parameters
    ----------
    params : list of ndarray or Variable
    ndims_params : list of int
        How many dimensions each parameter of one draw has.

    Examples
    --------
    >>> mean, cov = broadcast_params([np.zeros(3), np.stack([np.eye(3), 2 * np.eye(3)])], [1, 2])
    >>> mean.shape, cov.shape
    ((2, 3), (2, 3, 3))
    """
    if not any(isinstance(p, Variable) for p in params):
        arrays = [np.asarray(p) for p in params]
        shapes = params_broadcast_shapes([a.shape for a in arrays], ndims_params, use_theano=False)
        return [np.broadcast_to(a, shape) for a, shape in zip(arrays, shapes, strict=True)]
    tensors = [as_tensor_variable(p) for p in params]
    shapes = params_broadcast_shapes([shape_tuple(t) for t in tensors], ndims_params)
    return [broadcast_to(t, shape) for t, shape in zip(tensors, shapes, strict=True)]

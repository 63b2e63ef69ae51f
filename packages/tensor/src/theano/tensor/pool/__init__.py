"""Pooling of images and volumes: also known as ``theano.tensor.signal.pool``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.tensor.convert import as_tensor_variable
from theano.tensor.pool.op import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
    PoolGrad,
)

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor

__all__ = [
    "AveragePoolGrad", "DownsampleFactorMaxGradGrad", "MaxPoolGrad", "MaxPoolRop", "Pool", "PoolGrad",
    "max_pool_2d_same_size", "pool_2d", "pool_3d",
]  # fmt: skip


def pool_2d(
    input: TensorLike, ws: object = None, ignore_border: bool | None = None, stride: object = None,
    pad: object = (0, 0), mode: str = "max", ds: object = None, st: object = None, padding: object = None,
) -> Tensor:  # fmt: skip
    """Return the largest element, the sum or the mean of each window of the last two axes.

    Parameters
    ----------
    input : tensor, two dimensions or more
        Of two dimensions or more; windows span the last ones.
    ws : sequence of int, or vector of int
        Rows and columns of a window (deprecated: ``ds``).
    ignore_border : bool
        True: only windows that fit. False: those at the end are cut.
    stride : sequence of int, or vector of int, optional
        From one window to the next, ``ws`` if None (deprecated: ``st``).
    pad : sequence of int, or vector of int, optional
        The rows and columns that are added on each side (deprecated: ``padding``); needs ``ignore_border=True``.
    mode : "max", "sum", "average_inc_pad" or "average_exc_pad"
        A mean counts the elements of the padding, as zeros, or leaves them out.
    ds : sequence of int, optional
        ``ws`` by its old name.
    st : sequence of int, optional
        ``stride`` by its old name.
    padding : sequence of int, optional
        ``pad`` by its old name.

    Returns
    -------
    TensorVariable
        Along the last two axes an element for each window.

    Raises
    ------
    NotImplementedError
        Less than two dimensions; padding without ``ignore_border``, or not smaller than the window.
    ValueError
        No size, a size twice, or an unknown mode.

    See Also
    --------
    signal.pool.pool_3d, nnet.conv2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> pool_2d(T.arange(16, dtype="float64").reshape((4, 4)), (2, 2), ignore_border=True).eval()
    array([[ 5.,  7.],
           [13., 15.]])
    """
    return _pool("pool_2d", 2, input, ws, ignore_border, stride, pad, mode, ds, st, padding)


def pool_3d(
    input: TensorLike, ws: Sequence[int] | None = None, ignore_border: bool | None = None, stride: object = None,
    pad: Sequence[int] = (0, 0, 0), mode: str = "max", ds: object = None, st: object = None, padding: object = None,
) -> Tensor:  # fmt: skip
    """Return the largest element, the sum or the mean of each window of the last three axes; see :func:`pool_2d`.

    Parameters
    ----------
    input : tensor
        Of two dimensions or more; windows span the last ones.
    ws : sequence of int, or vector of int
        The lengths of a window.
    ignore_border : bool
        True: only windows that fit. False: those at the end are cut.
    stride : sequence of int, or vector of int, optional
        From one window to the next; ``ws`` by default.
    pad : sequence of int, or vector of int, optional
        How many elements are added on each side; needs ``ignore_border=True``.
    mode : str, optional
        "max", "sum", "average_inc_pad" or "average_exc_pad".
    ds : sequence of int, optional
        ``ws`` by its old name.
    st : sequence of int, optional
        ``stride`` by its old name.
    padding : sequence of int, optional
        ``pad`` by its old name.

    Returns
    -------
    TensorVariable
        Along the last three axes an element for each window.

    See Also
    --------
    signal.pool.pool_2d, nnet.conv3d

    Examples
    --------
    >>> import theano.tensor as T
    >>> pool_3d(T.arange(8, dtype="float64").reshape((2, 2, 2)), (2, 2, 2), ignore_border=True, mode="sum").eval()
    array([[[28.]]])
    """
    return _pool("pool_3d", 3, input, ws, ignore_border, stride, pad, mode, ds, st, padding)


def _pool(
    name: str, ndim: int, input: TensorLike, ws: object, ignore_border: bool | None, stride: object, pad: object,
    mode: str, ds: object, st: object, padding: object,
) -> Tensor:  # fmt: skip
    input = as_tensor_variable(input)
    if input.type.ndim < ndim:
        raise NotImplementedError(f"{name} requires a dimension >= {ndim}; input has {input.type.ndim}")
    ws = _renamed(name, "ws", ws, "ds", ds)
    stride = _renamed(name, "stride", stride, "st", st)
    if padding is not None:
        pad = _renamed(name, "pad", pad if _given(pad) else None, "padding", padding)
    if ws is None:
        raise ValueError(f"{name}: ws, the size of the windows, must be given")
    if ignore_border is None:
        warnings.warn(f"{name}: say ignore_border=True or False; False is taken", stacklevel=3)
        ignore_border = False
    return Pool(ignore_border, mode, ndim)(input, ws, stride, pad)


def _given(pad: Any) -> bool:
    return hasattr(pad, "type") or any(hasattr(p, "type") or p for p in pad)


def _renamed(function: str, name: str, value: object, old_name: str, old: object) -> Any:
    """Return an argument by its name or its old name."""
    if old is None:
        return value
    if value is not None:
        raise ValueError(f"{function}: give {name} or {old_name}, which is the same, not both")
    warnings.warn(f"{function}: {old_name} is called {name} now", DeprecationWarning, stacklevel=4)
    return old


def max_pool_2d_same_size(input: TensorLike, patch_size: Sequence[int]) -> Tensor:
    """Return ``input`` where it is the largest element of its window, 0 elsewhere.

    Parameters
    ----------
    input : tensor, two dimensions or more
        Of two dimensions or more; windows span the last ones.
    patch_size : two tensor of int
        Rows and columns of the windows, which are adjacent. At the ends, the rest of an incomplete window becomes 0.

    Returns
    -------
    TensorVariable
        Of the shape of ``input``.

    See Also
    --------
    signal.pool.pool_2d

    Examples
    --------
    >>> import theano.tensor as T
    >>> max_pool_2d_same_size(T.constant([[1.0, 2.0], [4.0, 3.0]]), (2, 2)).eval()
    array([[0., 0.],
           [4., 0.]])
    """
    input = as_tensor_variable(input)
    largest = Pool(ignore_border=True)(input, patch_size)
    return MaxPoolGrad(ignore_border=True)(input, largest, largest, patch_size)

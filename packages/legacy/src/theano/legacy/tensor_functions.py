"""Functions of tensors that only older programs call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from theano.tensor.convert import as_tensor_variable
from theano.tensor.linalg.functions import trace
from theano.tensor.pool import pool_2d

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def spectral_radius_bound(X: TensorLike, log2_exponent: int) -> Tensor:
    """Return an upper bound of the largest absolute eigenvalue of a symmetric positive definite matrix.

    The trace of ``X ** n`` is the sum of the eigenvalues' powers, so its root is not smaller than the largest
    eigenvalue; it comes the closer the larger ``n`` is.

    Parameters
    ----------
    X : matrix
    log2_exponent : int
        ``n`` is two to this power, which takes this many squarings of the matrix.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> X = T.dmatrix("X")
    >>> float(theano.function([X], spectral_radius_bound(X, 5))([[2, 1], [1, 2]]))
    3.0
    """
    X = as_tensor_variable(X)
    if X.type.ndim != 2:
        raise TypeError(f"spectral_radius_bound: X must be a matrix, not a tensor of {X.type.ndim} dimensions")
    if not isinstance(log2_exponent, int):
        raise TypeError(f"spectral_radius_bound: log2_exponent must be an int, not {log2_exponent!r}")
    if log2_exponent <= 0:
        raise ValueError(f"spectral_radius_bound: log2_exponent must be positive, not {log2_exponent}")
    power = X
    for _ in range(log2_exponent):
        power = power.dot(power)
    bound: Tensor = trace(power) ** (2.0**-log2_exponent)
    return bound


def max_pool_2d(
    input: TensorLike,
    ds: Sequence[int],
    ignore_border: bool | None = None,
    st: object = None,
    padding: Sequence[int] = (0, 0),
    mode: str = "max",
) -> Tensor:
    """Return :func:`pool_2d` of arguments as ``theano.tensor.signal.downsample`` of older versions named them.

    Examples
    --------
    >>> import theano.tensor as T
    >>> max_pool_2d(T.arange(4, dtype="float64").reshape((2, 2)), (2, 2), ignore_border=True).eval()
    array([[3.]])
    """
    return pool_2d(input, ds, ignore_border, st, padding, mode)

"""When two values of a tensor are as good as equal, for variables that need a comparison of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Variable
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.var import TensorVariable as Tensor
else:
    Tensor = Variable


def values_eq_approx_remove_inf(a: TensorLike, b: TensorLike) -> bool:
    """Return ``values_eq_approx``, where ``b`` may be finite where ``a`` is infinite.

    Parameters
    ----------
    a, b : array
        The values.

    Returns
    -------
    bool
        Whether they are close.

    Examples
    --------
    >>> values_eq_approx_remove_inf(np.array([1.0, np.inf]), np.array([1.0, 5.0]))
    True
    """
    return TensorType.values_eq_approx(a, b, allow_remove_inf=True)


def values_eq_approx_remove_nan(a: TensorLike, b: TensorLike) -> bool:
    """Return ``values_eq_approx``, where ``b`` may be a number where ``a`` is NaN.

    Parameters
    ----------
    a, b : array
        The values.

    Returns
    -------
    bool
        Whether they are close.

    Examples
    --------
    >>> values_eq_approx_remove_nan(np.array([1.0, np.nan]), np.array([1.0, 5.0]))
    True
    """
    return TensorType.values_eq_approx(a, b, allow_remove_nan=True)


def values_eq_approx_remove_inf_nan(a: TensorLike, b: TensorLike) -> bool:
    """Return ``values_eq_approx``, where ``b`` may be a finite number where ``a`` is not.

    Parameters
    ----------
    a, b : array
        The values.

    Returns
    -------
    bool
        Whether they are close.

    Examples
    --------
    >>> values_eq_approx_remove_inf_nan(np.array([np.inf, np.nan]), np.array([2.0, 5.0]))
    True
    """
    return TensorType.values_eq_approx(a, b, allow_remove_inf=True, allow_remove_nan=True)


def values_eq_approx_up_to_phases(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether the columns of two matrices are the same but for a factor of absolute value 1 each.

    So are eigenvectors, of which there are as many as there are such factors.

    Examples
    --------
    >>> values_eq_approx_up_to_phases(np.eye(2), np.diag([1.0, -1.0]))
    True
    >>> values_eq_approx_up_to_phases(np.eye(2), np.ones((2, 2)))
    False
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    along = np.sum(np.conj(a) * b, axis=0)
    with np.errstate(all="ignore"):
        phases = np.where(np.abs(along) > 0, along / np.abs(along), 1)
    return TensorType.values_eq_approx((a * phases).astype(a.dtype), b)


def values_eq_approx_up_to_phases_of_rows(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether the rows of two matrices are the same but for a factor of absolute value 1 each."""
    return values_eq_approx_up_to_phases(a.T, b.T)

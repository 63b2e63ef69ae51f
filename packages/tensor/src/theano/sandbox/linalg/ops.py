"""What :mod:`theano.sandbox.linalg` shows, and the one function that lives nowhere else."""

from __future__ import annotations

from typing import Any

from theano.tensor.convert import as_tensor_variable
from theano.tensor.linalg.hints import Hint, psd
from theano.tensor.nlinalg import alloc_diag, det, diag, eig, eigh, extract_diag, matrix_inverse, trace
from theano.tensor.slinalg import cholesky, eigvalsh, solve


def spectral_radius_bound(X: Any, log2_exponent: int) -> Any:
    """Return an upper bound of the largest absolute eigenvalue of a symmetric positive definite matrix.

    The trace of ``X ** n`` is the sum of the eigenvalues' powers, so its root is not smaller than the largest
    eigenvalue; it comes the closer the larger ``n`` is.

    Parameters
    ----------
    X : matrix
    log2_exponent : int
        ``n`` is two to this power: so many squares of the matrix are taken.

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
    return trace(power) ** (2.0**-log2_exponent)


__all__ = [
    "Hint", "alloc_diag", "cholesky", "det", "diag", "eig", "eigh", "eigvalsh", "extract_diag", "matrix_inverse",
    "psd", "solve", "spectral_radius_bound", "trace",
]  # fmt: skip

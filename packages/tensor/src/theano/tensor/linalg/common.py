"""What ops on matrices share: their inputs, their dtypes, and the words of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import ArgumentError
from theano.graph import Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.create.diagonals import eye, tril, triu
from theano.tensor.elemwise.functions import cast, conjugate
from theano.tensor.messages import describe, shape_error
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.type import Tensor, TensorApply, TensorType

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike

LinAlgError = np.linalg.LinAlgError


def raise_or_nan(on_error: str) -> str:
    """Return what a matrix without a result gives: ``"raise"`` or ``"nan"``."""
    if on_error not in ("raise", "nan"):
        raise ValueError(f"on_error must be 'raise' or 'nan', not {on_error!r}")
    return on_error


class MatrixOp(Op):
    """An op whose inputs are matrices of floating-point numbers; anything else is brought to that first."""

    __props__: tuple[str, ...] = ()

    def matrix(self, x: TensorLike, dims: tuple[int, ...] = (2,), what: str = "the input") -> Tensor:
        """Return ``x`` as a variable of floating-point numbers with one of the numbers of dimensions ``dims``."""
        x = as_tensor_variable(x)
        if x.type.ndim not in dims:
            wanted = "a matrix" if dims == (2,) else " or ".join(f"{d} dimensions" for d in dims)
            raise ArgumentError(f"{self}: {what} must be {wanted}:\n{describe(x)}")
        dtype = linalg_dtype(x)
        return x if x.type.dtype == dtype else cast(x, dtype)

    def same_dtype(self, *variables: Tensor) -> list[Tensor]:
        """Return variables cast to the dtype that holds them all."""
        dtype = np.result_type(*[v.type.dtype for v in variables]).name
        return [v if v.type.dtype == dtype else cast(v, dtype) for v in variables]

    def square(self, node: TensorApply, inputs: Sequence[np.ndarray], place: int = 0) -> np.ndarray:
        """Return a value that must be a square matrix."""
        x = inputs[place]
        if x.shape[0] != x.shape[1]:
            raise shape_error(
                node, inputs, f"a square matrix is needed, not one of shape {x.shape}.",
                "For other shapes there are pinv, svd, qr and lstsq.",
            )  # fmt: skip
        return x


def linalg_dtype(x: Tensor) -> str:
    """Return the dtype in which linear algebra computes: LAPACK knows neither integers nor float16.

    Examples
    --------
    >>> import theano.tensor as T
    >>> linalg_dtype(T.fmatrix()), linalg_dtype(T.imatrix())
    ('float32', 'float64')
    """
    dtype = str(x.type.dtype)
    if dtype == "float16":
        return "float32"
    return dtype if dtype.startswith(("float", "complex")) else "float64"


def matrix_type(dtype: str, ndim: int = 2) -> TensorType:
    """Return the type of a matrix, vector or number of which no length is known."""
    return TensorType(dtype, (False,) * ndim)


def real_dtype(dtype: str) -> str:
    """Return the dtype of the absolute values."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def identity(x: Any) -> Tensor:
    """Return the identity matrix with as many rows as ``x``."""
    return eye(x.shape[0], dtype=x.type.dtype)


def adjoint(x: Tensor) -> Tensor:
    """Return the conjugate transpose of a matrix, the transpose of a real one."""
    return conjugate(x.T)


def under_type(g: TensorLike, x: Tensor) -> Tensor:
    """Return a gradient with the broadcast pattern of the variable it belongs to."""
    return patternbroadcast(g, x.type.broadcastable)


def fold_triangle(g: Tensor, lower: bool) -> Tensor:
    """Return the gradient for a symmetric matrix of which only one triangle is read.

    What both triangles would get goes to the one that is read; the diagonal is there once.
    """
    from_both = g + g.T
    half = tril(from_both, -1) if lower else triu(from_both, 1)
    return half + identity(g) * g


def half_diagonal(m: Tensor) -> Tensor:
    """Return the lower triangle of a matrix with its diagonal halved."""
    return tril(m) - identity(m) * m / 2


def must_be_finite(what: str, x: np.ndarray) -> None:
    """Raise LinAlgError for infinity or NaN in a matrix: some LAPACKs would then look for ``what`` for ever.

    Examples
    --------
    >>> must_be_finite("SVD", np.eye(2))
    >>> must_be_finite("SVD", np.full((2, 2), np.inf))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    numpy.linalg.LinAlgError: SVD did not converge: the matrix must not contain infs or NaNs
    """
    if not np.isfinite(x).all():
        raise LinAlgError(f"{what} did not converge: the matrix must not contain infs or NaNs")

"""Powers, products and diagonals of matrices and of stacks of them, by the names of :mod:`numpy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from theano.tensor.blas.dot import matmul
from theano.tensor.blas.dot import outer as _outer
from theano.tensor.composed.stacks import each, stack_of
from theano.tensor.convert import as_tensor_variable
from theano.tensor.linalg import functions
from theano.tensor.numpy_functions import trace as _trace
from theano.tensor.shape.diagonals import diagonal as _diagonal

if TYPE_CHECKING:
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


def matrix_power(a: TensorLike, n: int) -> Tensor:
    """Return powers of square matrices by a whole number, negative ones included.

    Parameters
    ----------
    a : tensor, shape (..., n, n)
        One matrix or a stack of them.
    n : int
        The exponent.

    Returns
    -------
    TensorVariable
        Of the shape of ``a``.

    See Also
    --------
    linalg.inv, numpy.linalg.matrix_power

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.matrix_power(T.constant([[1.0, 1.0], [0.0, 1.0]]), 3).eval()
    array([[1., 3.],
           [0., 1.]])
    """
    return each(lambda v: functions.matrix_power(v, n), "matrix_power", "(n,n)->(n,n)", a)


def diagonal(x: TensorLike, /, *, offset: int = 0) -> Tensor:
    """Return the diagonals of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.
    offset : int, optional
        Which diagonal; above the main one where it is positive.

    Returns
    -------
    TensorVariable
        Of shape (..., k).

    See Also
    --------
    linalg.trace, diagonal, numpy.linalg.diagonal

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.diagonal(T.constant([[1, 2], [3, 4]])).eval()
    array([1, 4])
    """
    return _diagonal(stack_of(x, "diagonal"), offset, -2, -1)


def trace(x: TensorLike, /, *, offset: int = 0, dtype: str | None = None) -> Tensor:
    """Return the sums of the diagonals of matrices.

    Parameters
    ----------
    x : tensor, shape (..., m, n)
        One matrix or a stack of them.
    offset : int, optional
        Which diagonal.
    dtype : str, optional
        Of the sums.

    Returns
    -------
    TensorVariable
        Of shape (...).

    See Also
    --------
    linalg.diagonal, trace, numpy.linalg.trace

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.trace(T.constant([[1, 2], [3, 4]])).eval()
    array(5)
    """
    return _trace(stack_of(x, "trace"), offset, -2, -1, dtype)


def outer(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return the matrix of all products of two vectors' elements.

    Parameters
    ----------
    x1 : vector
        The rows.
    x2 : vector
        The columns.

    Returns
    -------
    TensorVariable
        A matrix of shape (len(x1), len(x2)).

    See Also
    --------
    outer, numpy.linalg.outer

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.outer(T.constant([1, 2]), T.constant([3, 4])).eval()
    array([[3, 4],
           [6, 8]])
    """
    vectors = [as_tensor_variable(v) for v in (x1, x2)]
    for v in vectors:
        if v.type.ndim != 1:
            raise ValueError(f"linalg.outer: {v} has {v.type.ndim} dimensions; give vectors")
    return _outer(*vectors)


def multi_dot(arrays: Sequence[TensorLike]) -> Tensor:
    """Return the product of matrices; a vector may stand at either end.

    The products are computed from left to right.

    Parameters
    ----------
    arrays : sequence of matrix
        Two or more.

    Returns
    -------
    TensorVariable
        A matrix; a vector or a number where vectors stand at the ends.

    See Also
    --------
    dot, matmul, numpy.linalg.multi_dot

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.linalg.multi_dot([T.ones((2, 3)), T.ones((3, 4)), T.ones((4, 1))]).eval()
    array([[12.],
           [12.]])
    """
    if len(arrays) < 2:
        raise ValueError(f"linalg.multi_dot: give two matrices or more, not {len(arrays)}")
    return reduce(matmul, map(as_tensor_variable, arrays))

"""Functions of matrices: powers, the exponential, norms, the Kronecker product."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.graph import Apply
from theano.tensor.blas.dot import dot
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import cast, neq
from theano.tensor.join.op import join
from theano.tensor.linalg.common import MatrixOp, adjoint, identity, matrix_type, under_type
from theano.tensor.linalg.equations import matrix_inverse
from theano.tensor.linalg.factor import svd
from theano.tensor.reduce import extremes
from theano.tensor.reduce import functions as reductions
from theano.tensor.shape import diagonals
from theano.tensor.shape.reshape import reshape
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Expm(MatrixOp):
    """The exponential of a square matrix, by Pade approximants with scaling and squaring.

    Parameters
    ----------
    A : matrix, shape (n, n)
        Integers count as float64.

    Returns
    -------
    TensorVariable
        Of the shape of ``A``.

    See Also
    --------
    exp, scipy.linalg.expm

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], expm(A))([[0, 1], [0, 0]])
    array([[1., 1.],
           [0., 1.]])
    """

    shapes = "A->A"

    def make_node(self, A: TensorLike) -> Apply:
        A = self.matrix(A)
        return Apply(self, [A], [matrix_type(A.type.dtype).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute it with SciPy."""
        import scipy.linalg  # 0.2 s that only its users pay

        output_storage[0][0] = scipy.linalg.expm(self.square(node, inputs)).astype(inputs[0].dtype, copy=False)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the Frechet derivative at the transposed matrix."""
        (A,), (g,) = inputs, output_grads
        return [under_type(_frechet(adjoint(A), g), A)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the Frechet derivative along the direction."""
        return [None if eval_points[0] is None else _frechet(inputs[0], eval_points[0])]


def _frechet(A: Tensor, E: Tensor) -> Tensor:
    """Return the derivative of the exponential at A along E: a block of the exponential of ``[[A, E], [0, A]]``.

    Higham, "Functions of Matrices" (2008), theorem 3.6.
    """
    n = A.shape[0]
    upper, lower = join(1, A, E), join(1, A.zeros_like(), A)
    return expm(join(0, upper, lower))[:n, n:]


def matrix_dot(*args: Tensor) -> Tensor:
    """Return the product of several matrices, from left to right.

    Parameters
    ----------
    *args : matrix
        Two or more.

    Returns
    -------
    TensorVariable
        A matrix.

    See Also
    --------
    dot, linalg.multi_dot

    Examples
    --------
    >>> import theano.tensor as T
    >>> matrix_dot(T.dmatrix("A"), T.dmatrix("B"), T.dvector("c")).ndim
    1
    """
    return reduce(dot, args)


def matrix_power(M: Tensor, n: int) -> Tensor:
    """Return a square matrix to an integer power, by repeated squaring; its inverse to the power -n for negative n.

    Parameters
    ----------
    M : matrix
        Square.
    n : int
        Known while the graph is built.

    Returns
    -------
    TensorVariable
        A matrix of the shape of ``M``.

    See Also
    --------
    linalg.matrix_power, numpy.linalg.matrix_power

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], matrix_power(A, 5))([[1, 1], [0, 1]])
    array([[1., 5.],
           [0., 1.]])
    """
    M = as_tensor_variable(M)
    if n != int(n):
        raise TypeError(f"matrix_power: the exponent must be an integer, not {n!r}")
    n = int(n)
    if n < 0:
        M, n = matrix_inverse(M), -n
    result, square = None, M
    while n:
        if n & 1:
            result = square if result is None else dot(result, square)
        n >>= 1
        if n:
            square = dot(square, square)
    return identity(M) if result is None else result


def norm(x: TensorLike, ord: Any) -> Tensor:
    """Return a norm of a vector or matrix, as :func:`numpy.linalg.norm` defines it.

    Parameters
    ----------
    x : vector or matrix
        What is measured.
    ord : None, "fro", "nuc", inf, -inf or number
        For vectors any number; for matrices 1, -1, 2, -2 or one of the names.

    Returns
    -------
    TensorVariable
        Without dimensions.

    See Also
    --------
    linalg.norm, numpy.linalg.norm

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> v = T.dvector("v")
    >>> float(theano.function([v], norm(v, 2))([3, 4]))
    5.0
    """
    x = as_tensor_variable(x)
    if x.type.ndim not in (1, 2):
        raise (NotImplementedError if x.type.ndim else ValueError)(
            f"norm is there for vectors and matrices; {x} has {x.type.ndim} dimensions"
        )
    ord = ord.item() if isinstance(ord, np.ndarray) else ord
    if ord is None or (ord == "fro" and x.type.ndim == 2):
        return reductions.norm(x, 2)
    return _vector_norm(x, ord) if x.type.ndim == 1 else _matrix_norm(x, ord)


def _vector_norm(x: Tensor, ord: float) -> Tensor:
    size = abs(x) if x.type.dtype[0] in "fc" else cast(abs(x), "float64")
    if ord in ("inf", np.inf):
        return extremes.max(size)
    if ord in ("-inf", -np.inf):
        return extremes.min(size)
    if isinstance(ord, str):
        raise ValueError(f"{ord!r} is no norm of a vector")
    if ord == 0:
        return reductions.sum(neq(x, 0), dtype=size.type.dtype)
    return reductions.norm(x, ord)


def _matrix_norm(x: Tensor, ord: object) -> Any:
    if ord in ("inf", np.inf):
        return extremes.max(reductions.sum(abs(x), axis=1))
    if ord in ("-inf", -np.inf):
        return extremes.min(reductions.sum(abs(x), axis=1))
    if ord == 1:
        return extremes.max(reductions.sum(abs(x), axis=0))
    if ord == -1:
        return extremes.min(reductions.sum(abs(x), axis=0))
    if ord in (2, -2, "nuc"):
        values = svd(x, compute_uv=False)
        over: Any = {2: extremes.max, -2: extremes.min, "nuc": reductions.sum}[ord]
        return over(values)
    raise ValueError(f"{ord!r} is no norm of a matrix; use None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")


def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the Kronecker product of two tensors of 1 or 2 dimensions, of which one at least has 2.

    Parameters
    ----------
    a : vector or matrix
        The left factor.
    b : vector or matrix
        The right factor.

    Returns
    -------
    TensorVariable
        Along each axis as long as the product of both lengths.

    See Also
    --------
    outer, numpy.kron

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> a, b = T.dmatrices("a b")
    >>> theano.function([a, b], kron(a, b))([[1, 2]], [[1], [10]])
    array([[ 1.,  2.],
           [10., 20.]])
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    if a.type.ndim + b.type.ndim <= 2:
        raise TypeError(f"kron takes matrices; {a} has {a.type.ndim} dimensions and {b} has {b.type.ndim}. Use outer.")
    if a.type.ndim > 2 or b.type.ndim > 2:
        raise TypeError("kron takes tensors of at most 2 dimensions")
    a = a if a.type.ndim == 2 else a.dimshuffle("x", 0)
    b = b if b.type.ndim == 2 else b.dimshuffle("x", 0)
    product = a.dimshuffle(0, "x", 1, "x") * b.dimshuffle("x", 0, "x", 1)
    return reshape(product, (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]), ndim=2)


def trace(X: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the sum of a diagonal of a matrix; see :func:`theano.tensor.trace` for tensors of more dimensions.

    Parameters
    ----------
    X : matrix
        What has the diagonal.
    offset : int, optional
        Which diagonal.
    axis1 : int, optional
        0.
    axis2 : int, optional
        1.

    Returns
    -------
    TensorVariable
        Without dimensions.

    See Also
    --------
    diagonal, numpy.trace

    Examples
    --------
    >>> import theano.tensor as T
    >>> trace(T.dmatrix("A")).ndim
    0
    """
    return diagonals.trace(X, offset, axis1, axis2)


def diag(x: TensorLike) -> Tensor:
    """Return the diagonal of a matrix, or the matrix with a vector on its diagonal.

    Parameters
    ----------
    x : vector or matrix
        The diagonal, or a matrix that has one.

    Returns
    -------
    TensorVariable
        A matrix of a vector, a vector of a matrix.

    See Also
    --------
    diagonal

    Examples
    --------
    >>> import theano.tensor as T
    >>> diag(T.dvector("v")).ndim, diag(T.dmatrix("A")).ndim
    (2, 1)
    """
    return diagonals.diag(x)


expm = Expm()
alloc_diag = diagonals.AllocDiag()
extract_diag = diagonals.ExtractDiag()

"""Elimination with exchanges of rows: the factors L and U of a square matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.graph import Apply
from theano.tensor.blas.dot import dot
from theano.tensor.create.arange import arange
from theano.tensor.create.diagonals import tril, triu
from theano.tensor.elemwise.functions import cast, eq
from theano.tensor.index.functions import set_subtensor
from theano.tensor.linalg.common import MatrixOp, adjoint, identity, matrix_type, real_dtype, under_type
from theano.tensor.linalg.equations import Solve
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import TensorLike, Tensors
    from theano.tensor.type import Tensor


class LUFactor(MatrixOp):
    """The factors L and U of a square matrix with its rows in another order: ``a[order] = L U``.

    Each row is exchanged for the one below it, or itself, with the largest number in the column that is eliminated.
    A singular matrix has factors, too: the diagonal of U has a 0.

    Parameters
    ----------
    x : matrix, shape (n, n)
        Integers count as float64.

    Returns
    -------
    list of TensorVariable
        U with L below its diagonal, the row that each row was exchanged with in turn (int32), and ``order`` (int64).

    See Also
    --------
    slinalg.lu_factor, slinalg.lu

    Examples
    --------
    >>> import theano.tensor as T
    >>> factors, exchanged, order = LUFactor()(T.constant([[0.0, 2.0], [4.0, 0.0]]))
    >>> factors.eval(), order.eval()
    (array([[4., 0.],
           [0., 2.]]), array([1, 0]))
    """

    shapes = "ij->ij,i,i"

    def make_node(self, x: TensorLike) -> Apply:
        x = self.matrix(x)
        types = [matrix_type(x.type.dtype), matrix_type("int32", 1), matrix_type("int64", 1)]
        return Apply(self, [x], [t.make_variable() for t in types])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Eliminate column by column with NumPy."""
        lu = np.array(self.square(node, inputs))
        exchanged, order = np.arange(len(lu), dtype="int32"), np.arange(len(lu))
        for j in range(len(lu)):
            sizes = np.abs(lu[j:, j].real) + np.abs(lu[j:, j].imag)  # as LAPACK compares complex numbers
            k = exchanged[j] = j + int(np.argmax(sizes))
            lu[[j, k]], order[[j, k]] = lu[[k, j]], order[[k, j]]
            if lu[j, j] != 0:
                lu[j + 1 :, j] /= lu[j, j]
                lu[j + 1 :, j + 1 :] -= np.outer(lu[j + 1 :, j], lu[j, j + 1 :])
        for cell, value in zip(output_storage, (lu, exchanged, order), strict=True):
            cell[0] = value

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that exchanges of rows have no derivative."""
        return [[True, False, False]]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient of both triangles: with dL = L S and dU = V U, the rows of dA are L (S + V) U."""
        (x,), (lu, _, order), (g, *_) = inputs, outputs, output_grads
        lower, upper = adjoint(tril(lu, -1) + identity(lu)), triu(lu)
        inner = tril(dot(lower, tril(g, -1)), -1) + triu(dot(triu(g), adjoint(upper)))
        left = Solve("upper_triangular")(lower, inner)
        rows = adjoint(Solve("upper_triangular")(upper, adjoint(left)))
        return [under_type(set_subtensor(rows.zeros_like()[order], rows), x)]


def lu_factor(a: TensorLike) -> list[Tensor]:
    """Return the factors of a square matrix in one matrix, and the exchanges of its rows.

    Parameters
    ----------
    a : matrix, shape (n, n)
        Singular or not.

    Returns
    -------
    list of TensorVariable
        U with L below its diagonal, which is 1 in L; and the row that each row was exchanged with in turn.

    See Also
    --------
    slinalg.lu, scipy.linalg.lu_factor

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> theano.function([A], lu_factor(A))([[0.0, 2.0], [4.0, 0.0]])
    [array([[4., 0.],
           [0., 2.]]), array([1, 1], dtype=int32)]
    """
    found: list[Tensor] = LUFactor()(a, return_list=True)
    return found[:2]


def lu(a: TensorLike, permute_l: bool = False, p_indices: bool = False) -> list[Tensor]:
    """Return P, L and U, whose product is a square matrix: rows in another order, and two triangles.

    Parameters
    ----------
    a : matrix, shape (n, n)
        Singular or not.
    permute_l : bool
        Return the product of P and L, and U.
    p_indices : bool
        Return in place of P the vector ``p`` for which ``L[p] U`` is ``a``.

    Returns
    -------
    list of TensorVariable
        The diagonal of L is 1.

    See Also
    --------
    slinalg.lu_factor, scipy.linalg.lu

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> A = T.dmatrix("A")
    >>> p, l, u = theano.function([A], lu(A))([[0.0, 2.0], [4.0, 0.0]])
    >>> p @ l @ u
    array([[0., 2.],
           [4., 0.]])
    """
    both, _, order = LUFactor()(a, return_list=True)
    lower, upper = tril(both, -1) + identity(both), triu(both)
    if permute_l:
        return [set_subtensor(lower.zeros_like()[order], lower), upper]
    places = arange(order.shape[0])
    if p_indices:
        return [set_subtensor(order.zeros_like()[order], places), lower, upper]
    return [cast(eq(places.dimshuffle(0, "x"), order), real_dtype(both.type.dtype)), lower, upper]

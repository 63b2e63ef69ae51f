"""Matrices that say which elements are about a diagonal: eye, tri, tril, triu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.gradient import grad_undefined
from theano.graph import Apply, Op
from theano.tensor.control.checks import checked_lengths
from theano.tensor.convert import as_tensor_variable, constant, static_int
from theano.tensor.create.alloc import dtype_or_floatx
from theano.tensor.elemwise.functions import cast, ceil
from theano.tensor.messages import shape_error
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class Eye(Op):
    """A matrix of zeros with ones on a diagonal.

    Parameters
    ----------
    dtype : str, optional
        floatX where it is not given.

    Examples
    --------
    >>> Eye("int64")(2, 3, 1).eval()
    array([[0, 1, 0],
           [0, 0, 1]])
    """

    __props__ = ("dtype",)
    linear_in = ()

    def __init__(self, dtype: str | None = None):
        self.dtype = dtype_or_floatx(dtype)

    def make_node(self, n: TensorLike, m: Any, k: TensorLike) -> Apply:
        """Return the node for ``n`` rows, ``m`` columns and diagonal ``k``."""
        inputs = [as_tensor_variable(v, ndim=0) for v in (n, m, k)]
        for v, what in zip(inputs, ("number of rows", "number of columns", "diagonal"), strict=True):
            if v.type.dtype not in scal.integer_dtypes:
                raise TypeError(f"{type(self).__name__}: the {what} must be a whole number, not {v} of {v.type.dtype}")
        return Apply(self, inputs, [TensorType(self.dtype, (False, False)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Build with NumPy."""
        output_storage[0][0] = np.eye(*self._numbers(node, inputs), dtype=self.dtype)

    @staticmethod
    def _numbers(node: TensorApply, inputs: Sequence[np.ndarray]) -> tuple[int, int, int]:
        n, m, k = map(int, inputs)
        if n < 0 or m < 0:
            raise shape_error(node, inputs, f"negative length in shape {(n, m)}.", "Lengths are 0 or more.")
        if n * m * np.dtype(node.outputs[0].type.dtype).itemsize >= 2**63:
            raise ValueError(f"{node.op}: a matrix of shape {(n, m)} has more bytes than can be addressed")
        return n, m, k

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the numbers of rows and columns."""
        return [tuple(checked_lengths(node.inputs[:2]))]

    def connection_pattern(self, node: TensorApply) -> list[list[bool]]:
        """Return that no input has an influence in the sense of derivatives."""
        return [[False] for _ in node.inputs]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return undefined gradients: the inputs are whole numbers."""
        return [grad_undefined(self, i, v) for i, v in enumerate(inputs)]


class Tri(Eye):
    """A matrix with ones on and below a diagonal, zeros above.

    Examples
    --------
    >>> Tri("int64")(2, 3, 0).eval()
    array([[1, 0, 0],
           [1, 1, 0]])
    """

    __props__ = ("dtype",)

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Build with NumPy."""
        output_storage[0][0] = np.tri(*self._numbers(node, inputs), dtype=self.dtype)


def eye(n: TensorLike, m: Any = None, k: int = 0, dtype: str | None = None) -> Tensor:
    """Return an ``n`` by ``m`` matrix (square by default) of zeros with ones on diagonal ``k``.

    Parameters
    ----------
    n : int or scalar of int
        Number of rows.
    m : int or scalar of int, optional
        Number of columns; ``n`` by default.
    k : int, optional
        Which diagonal holds the ones; above the main one where it is positive.
    dtype : str, optional
        Of the result; floatX by default.

    Returns
    -------
    TensorVariable
        A matrix of shape (n, m).

    See Also
    --------
    identity_like, tri, diag, numpy.eye

    Examples
    --------
    >>> eye(2, 3, k=1).eval()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    return Eye(dtype)(n, n if m is None else m, k)


def identity_like(x: TensorLike) -> Tensor:
    """Return a matrix of the shape and dtype of ``x`` with ones on the diagonal.

    Parameters
    ----------
    x : matrix
        Gives the shape and the dtype.

    Returns
    -------
    TensorVariable
        A matrix of the shape and dtype of ``x``.

    See Also
    --------
    eye, zeros_like

    Examples
    --------
    >>> import theano.tensor as T
    >>> identity_like(T.zeros((2, 2))).eval()
    array([[1., 0.],
           [0., 1.]])
    """
    x = as_tensor_variable(x)
    return eye(x.shape[0], x.shape[1], k=0, dtype=x.type.dtype)


def tri(N: TensorLike, M: Any = None, k: int = 0, dtype: str | None = None) -> Tensor:
    """Return an ``N`` by ``M`` matrix with ones on and below diagonal ``k``, zeros above.

    As in NumPy, sizes may be fractions, which are rounded up, and a negative number counts as 0.

    Parameters
    ----------
    N : int or scalar
        Number of rows.
    M : int or scalar, optional
        Number of columns; ``N`` by default.
    k : int or scalar, optional
        The last diagonal that holds ones.
    dtype : str, optional
        Of the result; floatX by default.

    Returns
    -------
    TensorVariable
        A matrix of shape (N, M).

    See Also
    --------
    tril, triu, eye, numpy.tri

    Examples
    --------
    >>> tri(3, dtype="int64").eval()
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    rows = _count(N)
    return Tri(dtype)(rows, rows if M is None else _count(M), k)


def _count(n: TensorLike) -> Any:
    """Return a size as a whole number; a variable that is below 0 is refused while running."""
    n = as_tensor_variable(n, ndim=0)
    if n.type.dtype in scal.float_dtypes:
        n = cast(ceil(n), "int64")
    known = static_int(n)
    return n if known is None or known >= 0 else constant(0)


def tril(m: Any, k: int = 0) -> Tensor:
    """Return a matrix, or each in the last two axes, with the elements above diagonal ``k`` replaced by 0.

    Parameters
    ----------
    m : tensor, shape (..., n, m)
        One matrix or a stack of them.
    k : int or scalar, optional
        The diagonal; 0 is the main one, positive numbers are above it.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``m``.

    See Also
    --------
    triu, tri, numpy.tril

    Examples
    --------
    >>> import theano.tensor as T
    >>> tril(T.ones((3, 3)), k=-1).eval()
    array([[0., 0., 0.],
           [1., 0., 0.],
           [1., 1., 0.]])
    """
    m, rows, columns = _matrices(m, "tril")
    return m * tri(rows, columns, k=k, dtype=m.type.dtype)


def triu(m: Tensor, k: int = 0) -> Tensor:
    """Return a matrix, or each in the last two axes, with the elements below diagonal ``k`` replaced by 0.

    Parameters
    ----------
    m : tensor, shape (..., n, m)
        One matrix or a stack of them.
    k : int or scalar, optional
        The diagonal; 0 is the main one, positive numbers are above it.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``m``.

    See Also
    --------
    tril, tri, numpy.triu

    Examples
    --------
    >>> import theano.tensor as T
    >>> triu(T.ones((3, 3)), k=1).eval()
    array([[0., 1., 1.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    m, rows, columns = _matrices(m, "triu")
    return m * (1 - tri(rows, columns, k=k - 1, dtype=m.type.dtype))


def _matrices(m: TensorLike, what: str) -> tuple[Tensor, Tensor, Tensor]:
    m = as_tensor_variable(m)
    if m.type.ndim < 2:
        raise ArgumentError(f"{what} takes a matrix or more, but {m} has {m.type.ndim} dimensions")
    return m, m.shape[m.type.ndim - 2], m.shape[m.type.ndim - 1]

"""Diagonals: taken out of a tensor, and made into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.errors import ArgumentError
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import maximum, minimum
from theano.tensor.messages import axis_of, broadcast_input
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class ExtractDiag(Op):
    """The diagonals of the matrices that two axes of a tensor span, as its last axis.

    Parameters
    ----------
    offset : int
        How far above the main diagonal (negative: below).
    axis1, axis2 : int
        The two axes.
    view : bool
        Whether the result is a view of the tensor rather than a copy.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ExtractDiag()(T.constant([[1, 2], [3, 4]])).eval()
    array([1, 4])
    """

    __props__ = ("offset", "axis1", "axis2", "view")
    linear_in = (0,)

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1, view: bool = False):
        self.offset, self.axis1, self.axis2, self.view = int(offset), int(axis1), int(axis2), bool(view)
        if view:
            self.view_map = {0: [0]}

    def _axes(self, ndim: int) -> tuple[int, int]:
        return self.axis1 % ndim, self.axis2 % ndim

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node for a tensor.

        Parameters
        ----------
        x : tensor of 2 dimensions or more
            Of any dtype.

        Returns
        -------
        TensorVariable
            Of one dimension less and the dtype of ``x``; the last axis is that of the diagonal.

        Raises
        ------
        ValueError
            ``x`` has fewer dimensions, or the axes are the same.
        """
        x = as_tensor_variable(x)
        if x.type.ndim < 2:
            raise ValueError(f"a diagonal needs 2 dimensions or more, but {x} has {x.type.ndim}")
        for axis in (self.axis1, self.axis2):
            axis_of(x, axis, "diagonal")
        first, second = self._axes(x.type.ndim)
        if first == second:
            raise ValueError(f"diagonal: axis1 and axis2 are both {first}")
        return Apply(self, [x], [TensorType(x.type.dtype, [False] * (x.type.ndim - 1)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Take the diagonal with NumPy."""
        out = inputs[0].diagonal(self.offset, self.axis1, self.axis2)
        if self.view:
            # NumPy marks the view read-only; what may be written is for the graph to say.
            out.flags.writeable = inputs[0].flags.writeable
        output_storage[0][0] = out if self.view else out.copy()

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the other lengths, and what fits on the diagonal."""
        (lengths,) = shapes
        first, second = self._axes(len(lengths))
        rows, columns = lengths[first], lengths[second]
        if self.offset > 0:
            columns = columns - self.offset
        elif self.offset < 0:
            rows = rows + self.offset
        rest = [n for i, n in enumerate(lengths) if i not in (first, second)]
        return [(*rest, maximum(minimum(rows, columns), 0))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zeros with the gradient on the diagonal."""
        (x,), (g,) = inputs, output_grads
        return [patternbroadcast(SetDiag(self.offset, self.axis1, self.axis2)(x.zeros_like(), g), x.type.broadcastable)]


class SetDiag(Op):
    """A tensor with the diagonals that :class:`ExtractDiag` takes replaced.

    Parameters
    ----------
    offset, axis1, axis2 : int
        As for :class:`ExtractDiag`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> SetDiag()(T.zeros((2, 2)), T.constant([1.0, 2.0])).eval()
    array([[1., 0.],
           [0., 2.]])
    """

    __props__ = ("offset", "axis1", "axis2")
    linear_in = (slice(None),)
    shapes = "A->A"

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1):
        self.offset, self.axis1, self.axis2 = int(offset), int(axis1), int(axis2)

    def make_node(self, x: TensorLike, diagonal: Variable) -> Apply:
        """Return the node for a tensor and the new diagonal."""
        x, diagonal = as_tensor_variable(x), as_tensor_variable(diagonal)
        taken = ExtractDiag(self.offset, self.axis1, self.axis2)(x)
        if diagonal.type.ndim > taken.type.ndim:
            raise TypeError(
                f"SetDiag: a diagonal of {diagonal.type.ndim} dimensions does not fit in {x}, whose diagonal has "
                f"{taken.type.ndim}"
            )
        return Apply(self, [x, diagonal], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Write through NumPy's view of the diagonal."""
        out = inputs[0].copy()
        window = out.diagonal(self.offset, self.axis1, self.axis2)
        window.flags.writeable = True
        window[...] = broadcast_input(node, inputs, 1, window.shape)
        output_storage[0][0] = out

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient without its diagonal, and that diagonal."""
        (_, diagonal), (g,) = inputs, output_grads
        part = ExtractDiag(self.offset, self.axis1, self.axis2)(g)
        return [self(g, diagonal.zeros_like()), patternbroadcast(part, diagonal.type.broadcastable)]


class AllocDiag(Op):
    """Square matrices of zeros with the last axis of a tensor on a diagonal.

    Parameters
    ----------
    offset, axis1, axis2 : int
        The diagonal, and the axes of the result that span it; as for :class:`ExtractDiag`.

    Examples
    --------
    >>> import theano.tensor as T
    >>> AllocDiag()(T.constant([1, 2])).eval()
    array([[1, 0],
           [0, 2]])
    """

    __props__ = ("offset", "axis1", "axis2")
    linear_in = (0,)
    offset, axis1, axis2 = 0, 0, 1  # in pickles that have none

    def __init__(self, offset: int = 0, axis1: int = 0, axis2: int = 1):
        self.offset, self.axis1, self.axis2 = int(offset), int(axis1), int(axis2)

    def make_node(self, diag: TensorLike) -> Apply:
        """Return the node for the diagonals.

        Parameters
        ----------
        diag : tensor, shape (..., n)
            Of any dtype.

        Returns
        -------
        TensorVariable
            Of one dimension more: for each vector along the last axis a matrix of shape (n, n), or more with an offset.

        Raises
        ------
        ArgumentError
            ``diag`` has no dimensions.
        ValueError
            The axes are the same, or not among those of the result.
        """
        diag = as_tensor_variable(diag)
        if diag.type.ndim < 1:
            raise ArgumentError(f"AllocDiag needs an input with 1 or more dimensions, but {diag} has none")
        ndim = diag.type.ndim + 1
        for axis in (self.axis1, self.axis2):
            if not -ndim <= axis < ndim:
                raise ValueError(f"AllocDiag: the result has {ndim} dimensions, so no axis {axis}")
        if self.axis1 % ndim == self.axis2 % ndim:
            raise ValueError(f"AllocDiag: axis1 and axis2 are both {self.axis1}")
        return Apply(self, [diag], [TensorType(diag.type.dtype, [False] * (diag.type.ndim + 1)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Write through NumPy's view of the diagonal."""
        (values,) = inputs
        size = values.shape[-1] + abs(self.offset)
        out = np.zeros((*values.shape[:-1], size, size), dtype=values.dtype)
        first, second = self.axis1 % out.ndim, self.axis2 % out.ndim
        out = np.moveaxis(out, (-2, -1), (first, second))
        window = out.diagonal(self.offset, first, second)
        window.flags.writeable = True
        window[...] = values
        output_storage[0][0] = out

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the other lengths, and twice the size of the matrices."""
        (lengths,) = shapes
        ndim = len(lengths) + 1
        square = (self.axis1 % ndim, self.axis2 % ndim)
        rest = iter(lengths[:-1])
        size = lengths[-1] + abs(self.offset)
        return [tuple(size if i in square else next(rest) for i in range(ndim))]

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the diagonal of the gradient."""
        (diag,), (g,) = inputs, output_grads
        part = ExtractDiag(self.offset, self.axis1, self.axis2)(g)
        return [patternbroadcast(part, diag.type.broadcastable)]


def diagonal(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonal of a matrix, or those of the matrices that two axes of a tensor span.

    Parameters
    ----------
    a : tensor
        Of two dimensions or more.
    offset : int
        How far above the main diagonal (negative: below).
    axis1, axis2 : int
        The two axes; the diagonals become the last axis.

    Returns
    -------
    TensorVariable
        Of one dimension less.

    See Also
    --------
    diag, trace, numpy.diagonal

    Examples
    --------
    >>> import theano.tensor as T
    >>> diagonal(T.dtensor3("t"), axis1=1, axis2=2).type
    TensorType(float64, matrix)
    """
    return ExtractDiag(offset, axis1, axis2)(a)


def diag(v: TensorLike, k: int = 0) -> Tensor:
    """Return the matrix with a vector on its diagonal ``k``, or that diagonal of a matrix.

    Parameters
    ----------
    v : vector or matrix
        The diagonal, or a matrix that has one.
    k : int, optional
        Which diagonal; above the main one where it is positive.

    Returns
    -------
    TensorVariable
        A matrix of a vector, a vector of a matrix.

    See Also
    --------
    diagonal, trace, numpy.diag

    Examples
    --------
    >>> import theano.tensor as T
    >>> diag(T.dvector("v")).ndim, diag(T.dmatrix("m")).ndim
    (2, 1)
    """
    v = as_tensor_variable(v)
    if v.type.ndim == 1:
        return AllocDiag(k)(v)
    if v.type.ndim >= 2:
        return diagonal(v, offset=k)
    raise ArgumentError(f"diag needs a vector or a matrix, but {v} has no dimension")


def trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: str | None = None) -> Tensor:
    """Return the sum of the diagonal of a matrix, or those of the matrices that two axes of a tensor span.

    Parameters
    ----------
    a : tensor
        Of two dimensions or more.
    offset, axis1, axis2 : int
        As for :func:`diagonal`.
    dtype : str, optional
        Of the result, as for :func:`theano.tensor.sum`.

    Returns
    -------
    tensor
        Of the shape of ``a`` without the two axes.

    See Also
    --------
    diagonal, diag, numpy.trace

    Examples
    --------
    >>> import theano.tensor as T
    >>> trace(T.constant([[1, 2], [3, 4]])).eval()
    array(5)
    >>> trace(T.ones((2, 3, 4)), axis1=1, axis2=2).eval()
    array([3., 3.])
    """
    return diagonal(a, offset, axis1, axis2).sum(axis=-1, dtype=dtype)

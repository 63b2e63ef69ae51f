"""CumOp: the sums or products of the elements up to each place. LinearRecurrence: what derivatives of products need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import (
    as_tensor_variable,
    constant,
    gradient_dtype,
    whole_number,
)
from theano.tensor.create.alloc import full_like
from theano.tensor.elemwise.functions import cast, conjugate
from theano.tensor.index.functions import getitem, set_subtensor
from theano.tensor.messages import describe, shape_error
from theano.tensor.reduce.careduce import sum_dtype
from theano.tensor.type import TensorApply, TensorType, dtype_name

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, Shape, TensorLike, Tensors
    from theano.tensor.type import Tensor


def _moved(v: Tensor, axis: int, by: int, filling: int) -> Tensor:
    """Return for each place of an axis the element of the one before it (``by`` is 1) or after it (-1)."""
    to, of = (slice(1, None), slice(None, -1)) if by > 0 else (slice(None, -1), slice(1, None))
    every = (slice(None),) * axis
    return set_subtensor(getitem(full_like(v, filling), (*every, to)), getitem(v, (*every, of)))


def _reversed(v: Any, axis: int) -> Tensor:
    return getitem(v, (slice(None),) * axis + (slice(None, None, -1),))


class CumOp(Op):
    """Sums or products of the elements up to each place.

    Parameters
    ----------
    axis : int or None
        None: of the flat tensor.
    mode : "add" or "mul"

    The result has the dtype of the tensor, and runs over where that is too small; :func:`cumsum` widens it.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumOp(axis=0, mode="mul")(T.constant([2, 3, 4])).eval()
    array([ 2,  6, 24])
    """

    __props__ = ("axis", "mode")

    def __init__(self, axis: int | None = None, mode: str = "add"):
        if mode not in ("add", "mul"):
            raise ValueError(f"CumOp: mode is {mode!r}; it must be 'add' or 'mul'")
        self.axis, self.mode = None if axis is None else whole_number(axis), mode
        if axis is not None and self.axis is None:
            raise TypeError(f"CumOp: an axis is a whole number or None, not {axis!r}")

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.axis}, {self.mode}}}"

    def make_node(self, x: TensorLike) -> Apply:
        x = as_tensor_variable(x)
        if self.axis is None:
            return Apply(self, [x], [TensorType(x.type.dtype, (False,)).make_variable()])
        if not -x.type.ndim <= self.axis < x.type.ndim:
            raise ValueError(f"axis(={self.axis}) out of bounds: {x} has {x.type.ndim} dimensions")
        return Apply(self, [x], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Accumulate with NumPy."""
        (x,) = inputs
        accumulate = np.cumsum if self.mode == "add" else np.cumprod
        with np.errstate(**NUMPY_ERRORS):
            output_storage[0][0] = accumulate(x, axis=self.axis, dtype=x.dtype)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[Shape]:
        """Return the shape of the tensor, or its size."""
        if self.axis is not None:
            return [shapes[0]]
        total: Any = constant(np.int64(1))
        for i, n in enumerate(shapes[0]):
            total = n if i == 0 else total * n
        return [(total,)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient accumulated from the other end."""
        (x,), (g,) = inputs, output_grads
        if x.type.dtype in scal.discrete_dtypes:
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype))]
        values = x.flatten() if self.axis is None else x
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        if self.mode == "add":
            total = _reversed(CumOp(axis)(_reversed(g, axis)), axis)
        else:
            # Without a division: an element may be 0. The product before place k times the gradient of all that is
            # multiplied by that: the one at k, and for the next places the same times the next element.
            following = LinearRecurrence(axis, transposed=True)(conjugate(values), g)
            total = _moved(conjugate(outputs[0]), axis, 1, 1) * following
        return [total.reshape(x.shape, ndim=x.type.ndim) if self.axis is None else total]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the sums of the direction, or the derivative of each product from that of the product before it."""
        (x,), (dx,) = inputs, eval_points
        if dx is None or self.mode == "add":
            return [None if dx is None else self(dx)]
        axis = 0 if self.axis is None else self.axis % x.type.ndim
        x, dx = (x.flatten(), dx.flatten()) if self.axis is None else (x, dx)
        return [LinearRecurrence(axis)(x, dx * _moved(CumOp(axis, "mul")(x), axis, 1, 1))]


class LinearRecurrence(Op):
    """``y[k] = a[k] * y[k - 1] + b[k]`` along an axis, where ``y[0] = b[0]``.

    Cumulative products have it as their derivative, and it is that of itself.

    Parameters
    ----------
    axis : int
        Counted from 0.
    transposed : bool
        From the end, ``y[k] = a[k + 1] * y[k + 1] + b[k]``: by the transposed of the matrix that takes b to y.

    Examples
    --------
    >>> import theano.tensor as T
    >>> a, b = T.constant([9.0, 2.0, 0.0, 3.0]), T.constant([1.0, 1.0, 5.0, 1.0])
    >>> LinearRecurrence(0)(a, b).eval(), LinearRecurrence(0, transposed=True)(a, b).eval()
    (array([ 1.,  3.,  5., 16.]), array([3., 1., 8., 1.]))
    """

    __props__ = ("axis", "transposed")
    shapes = ",A->A"

    def __init__(self, axis: int, transposed: bool = False):
        self.axis, self.transposed = int(axis), bool(transposed)

    def make_node(self, a: TensorLike, b: Variable) -> Apply:
        """Return the node for two tensors of one shape."""
        a, b = as_tensor_variable(a), as_tensor_variable(b)
        dtype = scal.upcast(a.type.dtype, b.type.dtype)
        if not 0 <= self.axis < a.type.ndim == b.type.ndim or dtype in scal.discrete_dtypes:
            raise TypeError(
                f"{self}: two tensors of floating-point numbers with an axis {self.axis} are needed:\n"
                + describe(a) + "\n" + describe(b)
            )  # fmt: skip
        pattern = [x or y for x, y in zip(a.type.broadcastable, b.type.broadcastable, strict=True)]
        return Apply(self, [cast(a, dtype), cast(b, dtype)], [TensorType(dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute with NumPy, place by place."""
        a, b = inputs
        if a.shape != b.shape:
            raise shape_error(node, inputs, f"Input dimension mis-match: {a.shape} against {b.shape}.", "")
        out = b.copy()
        ahead, factors = np.moveaxis(out, self.axis, 0), np.moveaxis(a, self.axis, 0)[1:]
        if self.transposed:
            ahead, factors = ahead[::-1], factors[::-1]
        with np.errstate(**NUMPY_ERRORS):
            for k, factor in enumerate(factors):
                ahead[k + 1] += factor * ahead[k]
        output_storage[0][0] = out

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the recurrence from the other end, for ``a`` times the result where it was multiplied."""
        (a, _), (y,), (g,) = inputs, outputs, output_grads
        for_b = LinearRecurrence(self.axis, not self.transposed)(conjugate(a), g)
        y = conjugate(y)
        earlier, later = (for_b, y) if self.transposed else (y, for_b)
        return [_moved(earlier, self.axis, 1, 0) * later, for_b]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the recurrence with the same factors for the derivative of what is added."""
        (a, _), (da, db) = inputs, eval_points
        terms = [] if db is None else [db]
        if da is not None:
            y = self(*inputs)
            moves = _moved(da * y, self.axis, -1, 0) if self.transposed else da * _moved(y, self.axis, 1, 0)
            terms.append(moves)
        return [self(a, sum(terms[1:], terms[0])) if terms else None]


def CumsumOp(axis: int | None = None) -> CumOp:
    """Return ``CumOp(axis, mode="add")``, under another name.

    Parameters
    ----------
    axis : int, optional
        Along which axis the sums are; by default over all elements, in C order.

    Returns
    -------
    CumOp
        An op of one tensor.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumsumOp(axis=0)(T.constant([2, 3, 4])).eval()
    array([2, 5, 9])
    """
    return CumOp(axis, mode="add")


def CumprodOp(axis: int | None = None) -> CumOp:
    """Return ``CumOp(axis, mode="mul")``, under another name.

    Parameters
    ----------
    axis : int, optional
        Along which axis the products are; by default over all elements, in C order.

    Returns
    -------
    CumOp
        An op of one tensor.

    Examples
    --------
    >>> import theano.tensor as T
    >>> CumprodOp(axis=0)(T.constant([2, 3, 4])).eval()
    array([ 2,  6, 24])
    """
    return CumOp(axis, mode="mul")


def cumsum(x: TensorLike, axis: int | None = None, dtype: str | None = None) -> Tensor:
    """Return the sums of the elements up to each place, along an axis.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int or None, optional
        None: of the flat tensor.
    dtype : str, optional
        Of the elements that are added, and of the result. By default small integers and bool are added in int64
        (uint64 from unsigned), as :func:`sum` and NumPy do it. With ``dtype=x.dtype``
        they keep their own, and run over.

    Returns
    -------
    tensor
        Of the shape of ``x``; a vector for ``axis=None``.

    See Also
    --------
    cumprod, sum, diff, numpy.cumsum

    Examples
    --------
    >>> import theano.tensor as T
    >>> cumsum(T.constant([[1, 2], [3, 4]]), axis=0).eval()
    array([[1, 2],
           [4, 6]])
    >>> m = T.constant(np.array([100, 100], "int8"))
    >>> cumsum(m).eval(), cumsum(m, dtype="int8").eval()
    (array([100, 200]), array([100, -56], dtype=int8))
    """
    return CumOp(axis=axis, mode="add")(_wide(x, dtype))


def cumprod(x: TensorLike, axis: int | None = None, dtype: str | None = None) -> Tensor:
    """Return the products of the elements up to each place, along an axis.

    Parameters
    ----------
    x : tensor
        Of any shape.
    axis : int or None, optional
        Along which axis; None for the flat tensor.
    dtype : str, optional
        Of the elements that are multiplied, and of the result; as for :func:`cumsum`.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``; a vector for ``axis=None``.

    See Also
    --------
    cumsum, prod, numpy.cumprod

    Examples
    --------
    >>> import theano.tensor as T
    >>> cumprod(T.constant([[1, 2], [3, 4]]), axis=1).eval()
    array([[ 1,  2],
           [ 3, 12]])
    """
    return CumOp(axis=axis, mode="mul")(_wide(x, dtype))


def _wide(x: Any, dtype: str | None) -> Any:
    x = as_tensor_variable(x)
    return cast(x, sum_dtype(x.type.dtype) if dtype is None else dtype_name(dtype))


def products_of_others(x: TensorLike, axis: int) -> Tensor:
    """Return for each element the product of the others along an axis, without a division: some may be 0.

    Examples
    --------
    >>> import theano.tensor as T
    >>> products_of_others(T.constant([2.0, 0.0, 3.0]), 0).eval()
    array([0., 6., 0.])
    """
    after = _reversed(CumOp(axis, "mul")(_reversed(x, axis)), axis)
    return _moved(CumOp(axis, "mul")(x), axis, 1, 1) * _moved(after, axis, -1, 1)

"""Softmax along the last axis: plain, with a bias, its logarithm, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal
from theano.errors import ArgumentError
from theano.graph import Apply, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import exp, floats
from theano.tensor.messages import describe, shape_error
from theano.tensor.shape.reshape import shape_padleft
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, TensorLike, Tensors
    from theano.tensor.type import Tensor


def floating(op: Op, x: TensorLike, ndims: Sequence[int], what: str) -> Tensor:
    """Return an input as a tensor of floats, or raise TypeError."""
    x = as_tensor_variable(x)
    if x.type.ndim not in ndims or x.type.dtype not in scal.float_dtypes:
        shown = " or ".join(f"{n}-d" for n in ndims)
        raise ArgumentError(f"{op}: {what} must be a {shown} tensor of floats:\n{describe(x)}")
    return x


def rows_softmax(x: np.ndarray) -> np.ndarray:
    """Return the softmax of each row, computed in float32 for float16."""
    wide = x.astype("float32") if x.dtype == "float16" else x
    if not wide.shape[-1]:
        return x.copy()
    with np.errstate(**NUMPY_ERRORS):
        e = np.exp(wide - wide.max(axis=-1, keepdims=True))
        return (e / e.sum(axis=-1, keepdims=True)).astype(x.dtype, copy=False)


class _RowWise(Op):
    """Ops of one input, with an output of the same type."""

    __props__: tuple[str, ...] = ()
    shapes = "A->A"

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node; a vector becomes a matrix of one row."""
        x = floating(self, x, (1, 2), "x")
        x = shape_padleft(x) if x.type.ndim == 1 else x
        return Apply(self, [x], [x.type.make_variable()])

    def R_op(self, inputs: Sequence[Tensor], eval_points: Sequence[Tensor]) -> list[Variable | None]:
        """Return the derivative along a direction, which is the gradient: the Jacobian of a softmax is symmetric."""
        return [None if eval_points[0] is None else self.L_op(inputs, [self(*inputs)], eval_points)[0]]


class Softmax(_RowWise):
    """The softmax of each row: ``exp(x) / sum(exp(x))``, computed without overflow.

    Parameters
    ----------
    x : matrix or vector
        Floats; a vector counts as one row.

    Returns
    -------
    TensorVariable
        Of the shape of the rows and the dtype of ``x``. A row with NaN gives NaN.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Softmax()(T.zeros((1, 4))).eval()
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    __props__ = ()

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        output_storage[0][0] = rows_softmax(inputs[0])

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient from the softmax itself."""
        return [softmax_grad(output_grads[0], outputs[0])]


class SoftmaxGrad(Op):
    """The gradient of a cost with respect to the input of a softmax.

    Parameters
    ----------
    dy : matrix
        The gradient with respect to the softmax.
    sm : matrix
        The softmax itself.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``sm``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> SoftmaxGrad()(T.constant([[1.0, 0.0]]), T.constant([[0.5, 0.5]])).eval()
    array([[ 0.25, -0.25]])
    """

    __props__ = ()
    shapes = ",A->A"

    def make_node(self, dy: TensorLike, sm: Tensor) -> Apply:
        """Return the node for the gradient with respect to the softmax, and the softmax."""
        dy, sm = floating(self, dy, (1, 2), "dy"), floating(self, sm, (1, 2), "sm")
        dy, sm = (shape_padleft(v) if v.type.ndim == 1 else v for v in (dy, sm))
        return Apply(self, [dy, sm], [sm.type.clone(dtype=scal.upcast(dy.type.dtype, sm.type.dtype)).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        dy, sm = inputs
        if dy.shape != sm.shape:
            raise shape_error(node, inputs, "the gradient and the softmax differ in shape.", "They must be the same.")
        product = dy * sm
        output_storage[0][0] = np.asarray(
            product - product.sum(axis=1, keepdims=True) * sm, dtype=node.outputs[0].type.dtype
        )

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients of ``dy * sm - sum(dy * sm) * sm``."""
        (dy, sm), (g,) = inputs, output_grads
        weighted = (g * sm).sum(axis=1).dimshuffle(0, "x")
        total = (dy * sm).sum(axis=1).dimshuffle(0, "x")
        return [g * sm - weighted * sm, g * dy - weighted * dy - total * g]


class LogSoftmax(_RowWise):
    """The logarithm of the softmax of each row, exact also where the softmax itself would be 0.

    Parameters
    ----------
    x : matrix or vector
        Floats; a vector counts as one row.

    Returns
    -------
    TensorVariable
        Of the shape of the rows and the dtype of ``x``. A row with NaN gives NaN.

    Examples
    --------
    >>> import theano.tensor as T
    >>> LogSoftmax()(T.zeros((1, 2))).eval().round(4)
    array([[-0.6931, -0.6931]])
    """

    __props__ = ()

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        (x,) = inputs
        wide = x.astype("float32") if x.dtype == "float16" else x
        if not x.shape[1]:
            output_storage[0][0] = x.copy()
            return
        with np.errstate(**NUMPY_ERRORS):
            shifted = wide - wide.max(axis=1, keepdims=True)
            out = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        output_storage[0][0] = out.astype(x.dtype, copy=False)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient from the softmax."""
        (x,), (g,) = inputs, output_grads
        return [g - g.sum(axis=1, keepdims=True) * softmax_op(x)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Variable | None]:
        """Return the direction less its mean under the softmax."""
        (x,), (dx,) = inputs, eval_points
        if dx is None:
            return [None]
        return [dx - (softmax_op(x) * dx).sum(axis=1, keepdims=True)]


class SoftmaxWithBias(Op):
    """The softmax of each row of ``x + b``.

    Parameters
    ----------
    x : matrix
        Floats.
    b : vector
        One number for each column.

    Returns
    -------
    TensorVariable
        Of the shape and dtype of ``x``.

    Examples
    --------
    >>> import theano.tensor as T
    >>> SoftmaxWithBias()(T.zeros((1, 2)), T.zeros(2)).eval()
    array([[0.5, 0.5]])
    """

    __props__ = ()
    shapes = "A->A"

    def make_node(self, x: TensorLike, b: Tensor) -> Apply:
        """Return the node for a matrix and a vector."""
        x, b = floating(self, x, (2,), "x"), floating(self, b, (1,), "b")
        return Apply(self, [x, b], [x.type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        x, b = inputs
        if b.shape[0] != x.shape[1]:
            raise shape_error(
                node, inputs, f"the bias has {b.shape[0]} elements, the rows {x.shape[1]}.",
                "b must be as long as the rows of x.",
            )
        output_storage[0][0] = rows_softmax(x + b).astype(x.dtype, copy=False)

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradients from the softmax itself."""
        dx = softmax_grad(output_grads[0], outputs[0])
        return [dx, dx.sum(axis=0)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the derivative along a direction of both inputs."""
        (x, b), (dx, db) = inputs, eval_points
        if dx is None and db is None:
            return [None]
        total = dx if db is None else x.zeros_like() + db if dx is None else dx + db
        return [softmax_grad(total, self(x, b))]


softmax_op = Softmax()
softmax_grad = SoftmaxGrad()
logsoftmax_op = LogSoftmax()
softmax_with_bias = SoftmaxWithBias()


def along(op: Op, c: Tensor, axis: int = -1) -> Tensor:
    """Return an op on the rows of a matrix of the rows along an axis of a tensor of any number of dimensions."""
    last = c.type.ndim - 1
    if c.type.ndim > 1 and axis % c.type.ndim != last:
        order = [d for d in range(last + 1) if d != axis % c.type.ndim] + [axis % c.type.ndim]
        return along(op, c.dimshuffle(order)).dimshuffle([order.index(d) for d in range(last + 1)])
    if c.type.ndim <= 2:
        return op(c)
    lengths = [c.shape[d] for d in range(last + 1)]
    rows = c.reshape((reduce(mul, lengths[:last]), lengths[last]), ndim=2)
    return op(rows).reshape(lengths, ndim=last + 1)


def softmax(c: TensorLike, axis: int = -1) -> Tensor:
    """Return the softmax along an axis: positive numbers that add up to 1.

    Parameters
    ----------
    c : tensor of floats
        A vector counts as a matrix of one row, and the result is a matrix.
    axis : int, optional
        By default the last one.

    Returns
    -------
    TensorVariable
        Of the shape of ``c``. NaN in a row makes the row NaN.

    See Also
    --------
    nnet.logsoftmax, nnet.categorical_crossentropy, nnet.sigmoid

    Examples
    --------
    >>> import theano.tensor as T
    >>> softmax(T.dmatrix("x"))
    Softmax.0
    """
    return along(softmax_op, as_tensor_variable(c), axis)


def logsoftmax(c: TensorLike, axis: int = -1) -> Tensor:
    """Return the logarithm of the softmax along an axis, by default the last one.

    Parameters
    ----------
    c : tensor of floats
        A vector counts as a matrix of one row, and the result is a matrix.
    axis : int, optional
        By default the last one.

    Returns
    -------
    TensorVariable
        Of the shape of ``c``; exact also where the softmax is 0.

    See Also
    --------
    nnet.softmax, nnet.categorical_crossentropy, logsumexp

    Examples
    --------
    >>> import theano.tensor as T
    >>> logsoftmax(T.zeros((1, 2))).eval().round(4)
    array([[-0.6931, -0.6931]])
    """
    return along(logsoftmax_op, as_tensor_variable(c), axis)


def softmax_graph(c: TensorLike) -> Tensor:
    """Return the softmax of each row, written out with exp and sum.

    Parameters
    ----------
    c : matrix
        What the softmax is taken of.

    Returns
    -------
    TensorVariable
        Of the shape of ``c``.

    See Also
    --------
    nnet.softmax

    Examples
    --------
    >>> import theano.tensor as T
    >>> softmax_graph(T.zeros((1, 2))).eval()
    array([[0.5, 0.5]])
    """
    c = floats(as_tensor_variable(c))
    e = exp(c - c.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

"""LogSumExp: the logarithm of a sum of exponentials, without overflow and in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.scalar.numpy_errors import NUMPY_ERRORS
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.functions import exp
from theano.tensor.reduce.axes import normalize_axes, plain_axes, restore_axes
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class LogSumExp(Op):
    """``log(sum(exp(x)))`` along axes; of nothing at all it is minus infinity.

    Rules put it in the place of what users write.

    Parameters
    ----------
    axis : int, sequence of int or None
        None for all.

    Examples
    --------
    >>> import theano.tensor as T
    >>> LogSumExp(1)(T.dmatrix("m")).owner
    LogSumExp{axis=(1,)}(m)
    """

    __props__ = ("axis",)

    def __init__(self, axis: int | tuple[int, ...] | None = None):
        self.axis = plain_axes(axis)

    def axes_of(self, ndim: int) -> tuple[int, ...]:
        """Return the axes that go, for an input of ``ndim`` dimensions."""
        return tuple(range(ndim)) if self.axis is None else self.axis

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node, with the axes counted from 0."""
        x = as_tensor_variable(x)
        if x.type.dtype not in scal.float_dtypes:
            raise TypeError(f"{self} takes real numbers, not {x.type.dtype}: cast the input to floatX")
        axis = normalize_axes(self.axis, x.type.ndim)
        op = self if axis == self.axis else LogSumExp(axis)
        gone = op.axes_of(x.type.ndim)
        pattern = [b for i, b in enumerate(x.type.broadcastable) if i not in gone]
        return Apply(op, [x], [TensorType(x.type.dtype, pattern).make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compute with NumPy, in float32 for float16."""
        (x,) = inputs
        axes = self.axes_of(x.ndim)
        wide = x.astype("float32") if x.dtype == "float16" else x
        with np.errstate(**NUMPY_ERRORS):
            largest = wide.max(axis=axes, keepdims=True, initial=-np.inf)
            shift = np.where(np.isinf(largest), np.zeros((), wide.dtype), largest)
            out = np.log(np.exp(wide - shift).sum(axis=axes, keepdims=True)) + shift
        output_storage[0][0] = np.asarray(out.squeeze(axis=axes), dtype=x.dtype)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths that stay."""
        gone = self.axes_of(node.inputs[0].type.ndim)
        return [tuple(n for i, n in enumerate(shapes[0]) if i not in gone)]

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient: what each element contributes to the sum."""
        (x,) = inputs
        out, g = (restore_axes(v, x, self.axes_of(x.type.ndim)) for v in (outputs[0], output_grads[0]))
        return [g * exp(x - out)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction, weighted by what each element contributes."""
        if eval_points[0] is None:
            return [None]
        (x,) = inputs
        axes = self.axes_of(x.type.ndim)
        return [(exp(x - restore_axes(self(x), x, axes)) * eval_points[0]).sum(axis=axes)]

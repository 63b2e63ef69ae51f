"""MaxAndArgmax, Argmax: the largest elements along axes, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable, gradient_dtype
from theano.tensor.elemwise.functions import eq
from theano.tensor.messages import shape_error
from theano.tensor.reduce.axes import normalize_axes, plain_axes, restore_axes
from theano.tensor.type import TensorApply, TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.graph.variable import Variable
    from theano.tensor.annotations import Axis, Directions, Shape, Shapes, TensorLike, Tensors
    from theano.tensor.type import Tensor


class _AlongAxes(Op):
    """What the two ops share: axes, types and the index of the first largest element."""

    __props__: tuple[str, ...] = ("axis",)

    def __init__(self, axis: Axis):
        axes = plain_axes(axis)
        if axes is not None and all(isinstance(a, int) for a in axes):
            # One that is given twice counts once: the largest element stays where it is.
            axes = tuple(dict.fromkeys(axes))
        self.axis = axes

    def axes_of(self, ndim: int) -> tuple[int, ...]:
        """Return the axes that go, for an input of ``ndim`` dimensions."""
        return tuple(range(ndim)) if self.axis is None else self.axis

    def _types(self, x: Tensor) -> tuple[_AlongAxes, TensorType, TensorType]:
        axis = normalize_axes(self.axis, x.type.ndim)
        op = self if axis == self.axis else type(self)(axis)
        gone = op.axes_of(x.type.ndim)
        pattern = [b for i, b in enumerate(x.type.broadcastable) if i not in gone]
        return op, TensorType(x.type.dtype, pattern), TensorType("int64", pattern)

    def _rows(self, node: TensorApply, x: np.ndarray) -> np.ndarray:
        """Return the input with the axes that go joined into one, the last."""
        axes = self.axes_of(x.ndim)
        kept = [i for i in range(x.ndim) if i not in axes]
        if any(x.shape[a] == 0 for a in axes):
            raise shape_error(
                node, [x], f"no element to choose from along axis {[a for a in axes if x.shape[a] == 0]}.",
                "The largest of nothing is undefined: test the length first.",
            )
        moved = x.transpose([*kept, *axes])
        return moved.reshape([x.shape[i] for i in kept] + [int(np.prod([x.shape[a] for a in axes], dtype=np.int64))])

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the lengths that stay."""
        gone = self.axes_of(node.inputs[0].type.ndim)
        return [tuple(n for i, n in enumerate(shapes[0]) if i not in gone) for _ in node.outputs]


class MaxAndArgmax(_AlongAxes):
    """The largest elements along axes, and their places: the first where several are as large.

    Examples
    --------
    >>> import theano.tensor as T
    >>> MaxAndArgmax((1,))(T.dmatrix("m"))[1].owner
    MaxAndArgmax{axis=(1,)}(m)
    """

    __props__ = ("axis",)

    def make_node(self, x: TensorLike) -> Apply:
        """Return the node, with the axes counted from 0."""
        x = as_tensor_variable(x)
        op, value, place = self._types(x)
        return Apply(op, [x], [value.make_variable("max"), place.make_variable("argmax")])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compare with NumPy."""
        rows = self._rows(node, inputs[0])
        output_storage[0][0] = np.asarray(rows.max(axis=-1), dtype=inputs[0].dtype)
        output_storage[1][0] = np.asarray(rows.argmax(axis=-1), dtype="int64")

    def L_op(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return the gradient of the largest element for each element that is as large; places jump."""
        (x,), (g, _) = inputs, output_grads
        if isinstance(g.type, DisconnectedType):
            return [x.zeros_like(dtype=gradient_dtype(x.type.dtype))]
        axes = self.axes_of(x.type.ndim)
        return [eq(restore_axes(outputs[0], x, axes), x) * restore_axes(g, x, axes)]

    def R_op(self, inputs: Tensors, eval_points: Directions) -> list[Tensor | None]:
        """Return the direction of the largest elements."""
        if eval_points[0] is None:
            return [None, None]
        (x,) = inputs
        axes = self.axes_of(x.type.ndim)
        largest = restore_axes(self(x)[0], x, axes)
        return [(eq(largest, x) * eval_points[0]).sum(axis=axes), None]


class _Places(_AlongAxes):
    """Only where the elements are."""

    linear_in = ()

    def make_node(self, x: TensorLike, axis: Axis = None) -> Apply:
        """Return the node, with the axes counted from 0."""
        x = as_tensor_variable(x)
        op, _, place = self._types(x)
        return Apply(op, [x], [place.make_variable("argmax")])

    def grad(self, inputs: Tensors, output_grads: Tensors) -> list[Variable]:
        """Return zero: places jump."""
        (x,) = inputs
        return [x.zeros_like(dtype=gradient_dtype(x.type.dtype))]


class Argmax(_Places):
    """The places of the largest elements along axes: the first where several are as large.

    Examples
    --------
    >>> import theano.tensor as T
    >>> Argmax((1,))(T.constant([[1, 9, 3], [7, 5, 6]])).eval()
    array([1, 0])
    """

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compare with NumPy."""
        output_storage[0][0] = np.asarray(self._rows(node, inputs[0]).argmax(axis=-1), dtype="int64")


class Argmin(_Places):
    """The places of the smallest elements along axes: the first where several are as small.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.argmin(T.dmatrix("m"), axis=1).owner
    Argmin{axis=(1,)}(m)
    """

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Compare with NumPy."""
        output_storage[0][0] = np.asarray(self._rows(node, inputs[0]).argmin(axis=-1), dtype="int64")

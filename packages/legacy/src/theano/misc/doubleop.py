"""An op that doubles a tensor: the example of the chapter on writing ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.graph import Apply, Op
from theano.tensor.convert import as_tensor_variable


class DoubleOp(Op):
    """Twice a tensor, of the same shape and dtype.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.vector("x")
    >>> print(DoubleOp()(x).eval({x: [1.0, 2.5]}))
    [2. 5.]
    """

    __props__ = ()

    def make_node(self, x: Any) -> Apply[Any, Any]:
        """Return the node: a tensor in, one of the same type out."""
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply[Any, Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        """Compute the value."""
        output_storage[0][0] = inputs[0] * 2

    def infer_shape(self, node: Apply[Any, Any], input_shapes: Sequence[Any]) -> Sequence[Any]:
        """Return the shape, that of the input."""
        return input_shapes

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return twice the derivative of the output."""
        return [output_grads[0] * 2]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Sequence[Any]:
        """Return twice the direction, None for None."""
        return list(eval_points) if eval_points[0] is None else self.grad(inputs, eval_points)

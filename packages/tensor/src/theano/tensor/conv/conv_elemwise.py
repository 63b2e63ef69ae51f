"""ConvElemwise: a convolution and what is done with each of its results, without a pass over memory in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.graph import Apply, Op
from theano.tensor.conv.op import AbstractConv
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Storage, Values
    from theano.tensor.annotations import Shape, Shapes, TensorLike
    from theano.tensor.type import Tensor


def is_one(v: Any) -> bool:
    """Return whether a tensor is one number by its type."""
    return all(v.type.broadcastable)


def suits(operands: Sequence[Tensor], dtype: str) -> bool:
    """Return whether each has a number for each filter, by its type, or one for all."""
    several = [v for v in operands if not is_one(v)]
    still = (one for v in several for axis, one in enumerate(v.type.broadcastable) if axis != 1)
    return all(v.type.dtype == dtype for v in several) and all(still)


class ConvElemwise(Op):
    """An element-wise op of a convolution and of tensors that do not change along an image.

    Fusion makes it of a convolution and of what uses its results, such as a bias and an activation. It has no gradient:
    that of the expression has been taken before.

    Parameters
    ----------
    conv : AbstractConv
    scalar_op : ScalarOp
        Its first input is a result of the convolution; it has one output.

    Examples
    --------
    >>> import theano.scalar as scal, theano.tensor as T
    >>> from theano.tensor.conv.op import AbstractConv2d
    >>> op = ConvElemwise(AbstractConv2d(), scal.add)
    >>> op(T.ones((1, 1, 2, 2)), T.ones((2, 1, 2, 2)), [[[[10.0]], [[20.0]]]]).eval().ravel()
    array([14., 24.])
    """

    __props__ = ("conv", "scalar_op")

    def __init__(self, conv: AbstractConv, scalar_op: Any):
        self.conv, self.scalar_op = conv, scalar_op

    def __str__(self) -> str:
        return f"ConvElemwise{{{self.scalar_op} of {self.conv}}}"

    def do_constant_folding(self, node: Apply) -> bool:
        """Return False, as for a convolution."""
        return False

    def make_node(self, img: TensorLike, kern: Tensor, *others: Any) -> Apply:
        """Return the node for images, filters and the other operands: (1, filters, 1, ...) or (1, 1, 1, ...).

        Those that have a number for each filter are of the dtype of the results, and so is the output.
        """
        conv: Any = self.conv.make_node(img, kern)
        y = conv.outputs[0]
        operands = [as_tensor_variable(v) for v in others]
        if any(v.type.ndim != y.type.ndim for v in operands) or not suits(operands, y.type.dtype):
            kinds = ", ".join(str(v.type) for v in operands)
            raise TypeError(f"ConvElemwise: operands are a number for each filter, or one for all, not {kinds}")
        made: Any = Elemwise(self.scalar_op).make_node(y, *operands)
        if [v.type for v in made.outputs] != [y.type]:
            kinds = ", ".join(str(v.type) for v in made.outputs)
            raise TypeError(f"ConvElemwise: of results, {y.type}, the op makes {kinds}, which cannot take their place")
        return Apply(self, [*conv.inputs, *operands], [y.type.make_variable()])

    def apart(self, *inputs: Any) -> Any:
        """Return what this op computes of inputs as an expression of the two ops that it was made of."""
        return Elemwise(self.scalar_op)(self.conv(*inputs[:2]), *inputs[2:])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Convolve with NumPy, then compute the rest."""
        convolution: Any = self.conv.make_node(*node.inputs[:2])
        cell: list[Any] = [None]
        self.conv.perform(convolution, inputs[:2], [cell])
        rest = Elemwise(self.scalar_op).make_node(convolution.outputs[0], *node.inputs[2:])
        rest.op.perform(rest, [cell[0], *inputs[2:]], output_storage)

    def infer_shape(self, node: TensorApply, shapes: Shapes) -> list[Shape]:
        """Return the shape of the convolution."""
        return self.conv.infer_shape(node, shapes[:2])

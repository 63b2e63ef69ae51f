"""A part of a part of a tensor in one node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient import DisconnectedType
from theano.graph import Apply
from theano.tensor.convert import as_tensor_variable
from theano.tensor.index.basic import Subtensor
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Operands, Storage, Value, Values
    from theano.graph.variable import Variable
    from theano.scalar.annotations import Number
    from theano.scalar.type import Scalar
    from theano.tensor.annotations import Shape, TensorLike
    from theano.tensor.type import Tensor


class SubtensorChain(Subtensor):
    """What several subtensors do one after the other: a view, whatever the ends of the slices turn out to be.

    It has no ``idx_list``, since no index does the same: what a slice selects of a slice depends on lengths.

    Parameters
    ----------
    parts : sequence of sequence
        The index of each of them, as for :class:`Subtensor`; all numbers, in order, are inputs of the node.

    Examples
    --------
    >>> import theano.tensor as T
    >>> n = T.scal.int64
    >>> op = SubtensorChain([[slice(n, None)], [n]])
    >>> op, op(T.arange(5), np.int64(2), np.int64(-1)).eval()
    (Subtensor{int64::}{int64}, array(4))
    """

    __props__ = ("index_keys",)

    def __init__(self, parts: Sequence[Sequence[slice | Scalar]]):
        self.parts = tuple(Subtensor(idx_list) for idx_list in parts)
        self.index_keys = tuple(part.index_key for part in self.parts)
        #: How many numbers each index has.
        self.counts = tuple(len(self.collapse(part.idx_list, lambda number: True)) for part in self.parts)

    def __str__(self) -> str:
        return "Subtensor" + "".join(f"{{{part.index_text()}}}" for part in self.parts)

    def nodes(self, x: Variable, *inputs: Any) -> list[TensorApply]:
        """Return the nodes of the parts by themselves, the last one last."""
        if len(inputs) != sum(self.counts):
            raise IndexError(f"{self} needs {sum(self.counts)} whole numbers, got {len(inputs)}")
        nodes: list[Any] = []
        for part, count in zip(self.parts, self.counts, strict=True):
            nodes.append(part.make_node(x, *inputs[:count]))
            x, inputs = nodes[-1].outputs[0], inputs[count:]
        return nodes

    def expression(self, x: Tensor, *inputs: Number) -> Tensor:
        """Return the same as subtensors of subtensors."""
        return self.nodes(x, *inputs)[-1].outputs[0]

    def make_node(self, x: TensorLike, *inputs: Any) -> Apply:
        """Return the node for a tensor and the numbers of all indexes."""
        x = as_tensor_variable(x)
        nodes = self.nodes(x, *inputs)
        numbers = [n for node in nodes for n in node.inputs[1:]]
        return Apply(self, [x, *numbers], [nodes[-1].outputs[0].type.make_variable()])

    def perform(self, node: TensorApply, inputs: Values, output_storage: Storage) -> None:
        """Index the array."""
        value, *numbers = inputs
        for part, count in zip(self.parts, self.counts, strict=True):
            value, numbers = part._select(node, inputs, value, numbers[:count]), numbers[count:]
        output_storage[0][0] = np.asarray(value)

    def infer_shape(self, node: TensorApply, shapes: Sequence[Any]) -> list[Shape | None]:
        """Return the lengths that the last part has."""
        found = shapes[0]
        for part in self.nodes(*node.inputs):
            (found,) = part.op.infer_shape(part, [found])
        return [found]

    def static_value(self, node: TensorApply, index: int, ask: Any) -> Value:
        """Return an element of what the last part is of."""
        last = self.nodes(*node.inputs)[-1]
        return last.op.static_value(last, index, ask)

    def static_length(self, node: TensorApply, index: int) -> int | None:
        """Return the length that the last part has, where that is known."""
        last = self.nodes(*node.inputs)[-1]
        return last.op.static_length(last, index)

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return zeros with the gradient put at the part that was read."""
        (g,) = output_grads
        for part in reversed(self.nodes(*inputs)):
            g = part.op.grad(part.inputs, [g])[0]
        return [g, *(DisconnectedType()() for _ in inputs[1:])]

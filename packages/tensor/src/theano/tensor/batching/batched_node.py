"""What a batching rule of this layer is given, and the table that it enters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.batching import Rule
from theano.graph.variable import Variable
from theano.tensor.convert import as_tensor_variable, is_tensor
from theano.tensor.create.alloc import alloc
from theano.tensor.shape.basic import patternbroadcast, shape_i, shape_tuple
from theano.tensor.shape.reshape import reshape
from theano.tensor.shape.scalars import tensor_from_scalar

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.annotations import TensorLike
    from theano.tensor.type import Tensor


class BatchedNode:
    """A node for one row, and its inputs for many.

    Parameters
    ----------
    node : Apply
    inputs : list of Variable
    batched : list of bool
        Which of these have a batch axis.
    """

    def __init__(self, node: Node, inputs: Sequence[Any], batched: Sequence[bool]):
        self.node, self.batched = node, batched
        self.op: Any = node.op
        # Scalars with a batch axis are vectors; the others become tensors where a rule wants them.
        self.inputs: list[Any] = list(inputs)

    @property
    def n(self) -> Tensor:
        """How many rows there are."""
        return shape_i(next(v for v, many in zip(self.inputs, self.batched, strict=True) if many), 0)

    def only(self, *places: int) -> bool:
        """Return whether no other inputs than those at ``places`` have a batch axis."""
        return not any(many for i, many in enumerate(self.batched) if i not in places)

    def ndim(self, i: int) -> int:
        """Return how many dimensions a row of input ``i`` has."""
        return int(getattr(self.node.inputs[i].type, "ndim", 0))

    def tensor(self, i: int) -> Tensor:
        """Return input ``i`` as a tensor, with or without a batch axis."""
        v = self.inputs[i]
        return v if is_tensor(v) else tensor_from_scalar(v)

    def aligned(self, i: int, ndim: int) -> Any:
        """Return input ``i`` for rows of ``ndim`` dimensions; the batch axis is 1 long where it has none."""
        v = self.tensor(i)
        new = ["x"] * (ndim - self.ndim(i))
        if self.batched[i]:
            return v.dimshuffle(0, *new, *range(1, v.type.ndim)) if new else v
        return v.dimshuffle("x", *new, *range(v.type.ndim))

    def full(self, i: int) -> Any:
        """Return input ``i`` with a batch axis, repeated if it has none."""
        v = self.tensor(i)
        return v if self.batched[i] else repeated(v, self.n)

    def merge_batch(self, i: int) -> Variable:
        """Return input ``i`` with its batch axis and its first axis made one."""
        v = self.full(i)
        if v.type.broadcastable[1]:
            return v.dimshuffle(0, *range(2, v.type.ndim))
        return reshape(v, [v.shape[0] * v.shape[1], *(v.shape[k] for k in range(2, v.type.ndim))], ndim=v.type.ndim - 1)

    def split_batch(self, v: Any, i: int, out: int = 0) -> Variable:
        """Undo `merge_batch` of input ``i`` for a result of which a row is like output ``out``."""
        if self.node.outputs[out].type.broadcastable[0]:
            return v.dimshuffle(0, "x", *range(1, v.type.ndim))
        count = self.inputs[i].shape[1] if self.batched[i] else self.tensor(i).shape[0]
        return reshape(v, [self.n, count, *(v.shape[k] for k in range(1, v.type.ndim))], ndim=v.type.ndim + 1)


def repeated(v: TensorLike, n: Tensor) -> Any:
    """Return ``n`` times ``v``, along a new first axis."""
    v = as_tensor_variable(v)
    return alloc(v, n, *shape_tuple(v))


#: The rules of this layer, by class of op.
TABLE: dict[type, Rule] = {}


def batches(*classes: type) -> Callable[[Callable[[BatchedNode], Any]], Callable[[BatchedNode], Any]]:
    """Enter a rule for classes of ops; it returns one variable, a list, or None where it has no form for a node."""

    def enter(form: Callable[[BatchedNode], Any]) -> Callable[[BatchedNode], Any]:
        def rule(node: Node, inputs: Sequence[Variable], batched: Sequence[bool]) -> list[Variable] | None:
            made = form(BatchedNode(node, inputs, batched))
            return made if made is None else list(made) if isinstance(made, (list, tuple)) else [made]

        TABLE.update(dict.fromkeys(classes, rule))
        return form

    return enter


def fitted(new: Tensor, row: Tensor) -> Tensor:
    """Return many rows together as the type of one of them says: the same flags after the batch axis."""
    if not is_tensor(new):
        return new
    return patternbroadcast(new, (new.type.broadcastable[0], *getattr(row.type, "broadcastable", ())))

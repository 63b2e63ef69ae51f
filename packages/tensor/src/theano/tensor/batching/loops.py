"""What is computed row by row: ops without a rule, and loops that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.batching import NoRuleError, batch, has_batch_axis
from theano.graph.variable import Variable
from theano.scalar import Scalar
from theano.tensor.batching.batched_node import BatchedNode, batches, repeated
from theano.tensor.convert import is_tensor
from theano.tensor.rows.op import MapRows, map_rows
from theano.tensor.shape.scalars import scalar_from_tensor, tensor_from_scalar
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node


def row_by_row(node: Node, inputs: Sequence[Variable], batched: Sequence[bool]) -> list[Variable] | None:
    """Return the outputs of a node from a loop over the rows; None where an output is no tensor."""
    if not all(is_tensor(v) or isinstance(v.type, Scalar) for v in node.outputs):
        return None
    rows, sequences, own = [], [], []
    for v, new, many in zip(node.inputs, inputs, batched, strict=True):
        if not many:
            own.append(new)
            continue
        row = TensorType(v.type.dtype, getattr(v.type, "broadcastable", ()))()
        rows.append(row)
        sequences.append(new)
        own.append(row if is_tensor(v) else scalar_from_tensor(row))
    made = node.clone_with_new_inputs(own, strict=False).outputs
    outputs = [v if is_tensor(v) else tensor_from_scalar(v) for v in made]
    return list(map_rows(rows, sequences, outputs, name=str(node.op)))


@batches(MapRows)
def _loop(given: BatchedNode) -> Any:
    """Return a loop over the same rows, each step of which is for all batches."""
    op = given.op
    k = len(op.rows)
    replace: dict[Variable, Any] = {}
    sequences, rows = [], []
    for own, new, many in zip(op.rows, given.inputs[:k], given.batched[:k], strict=True):
        kind = own.type
        row = TensorType(kind.dtype, (False, *kind.broadcastable))() if many else kind()
        rows.append(row)
        replace[own] = row
        sequences.append(new.dimshuffle(1, 0, *range(2, new.type.ndim)) if many else new)
    replace.update(zip(op.fixed, given.inputs[k:], strict=True))
    try:
        steps = batch(op.outputs, replace, by_loop=False)
    except NoRuleError:
        return None
    steps = [s if has_batch_axis(s, v) else repeated(s, given.n) for s, v in zip(steps, op.outputs, strict=True)]
    found = map_rows(rows, sequences, steps, name=op.name, mode=op.mode)
    return [v.dimshuffle(1, 0, *range(2, v.type.ndim)) for v in found]

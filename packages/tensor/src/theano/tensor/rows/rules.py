"""Loops over rows that need no loop: few rows are written one after the other, simple expressions are computed at once.

All rows are computed at once by the batching rules of the ops (:mod:`theano.batching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano.batching import NoRuleError, batch, has_batch_axis
from theano.graph.clone import clone_replace
from theano.graph.traverse import toposort
from theano.rewriting import local_rule
from theano.tensor.blas.dot import BatchedDot
from theano.tensor.convert import static_int
from theano.tensor.create.alloc import Alloc, alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.join.op import stack
from theano.tensor.rows.op import MapRows, dependents, map_rows
from theano.tensor.rules.predicates import conform
from theano.tensor.shape.basic import Rebroadcast, shape_i, shape_tuple
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor

#: The largest number of nodes that are written out, all rows together; a single row always is.
MANY_NODES = 48


@local_rule([MapRows], keeps="close", phases=("canonicalize",))
def local_unroll_map_rows(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """A few rows, whose number is known, are computed one after the other by expressions of their own."""
    op: Any = node.op
    k = len(op.rows)
    known = [n for v in node.inputs[:k] if (n := static_int(shape_i(v, 0, fgraph))) is not None]
    if len(known) != k:
        return None
    n = min(known)
    size = len(dependents(op.rows, op.outputs)[1])
    if not n or n > 1 and n * size > MANY_NODES:
        return None
    rows = [op.expand([*(v[i] for v in node.inputs[:k]), *node.inputs[k:]]) for i in range(n)]
    return [_stacked(each, out) for each, out in zip(zip(*rows, strict=True), node.outputs, strict=True)]


def _stacked(rows: Sequence[Tensor], out: Tensor) -> Any:
    """Return the tensor of some rows in place of ``out``, whose type may not say that there is only one."""
    made = stack(list(rows))
    return conform(made if out.type.broadcastable[0] else Rebroadcast((0, False))(made), out)


@local_rule([MapRows], keeps="exact", phases=("canonicalize", "specialize"))
def local_map_rows_of_equal_rows(fgraph: FunctionGraph, node: TensorApply) -> Answer:
    """One row repeated is the same for all rows: what depends on no other is computed once, and repeated."""
    op: Any = node.op
    k = len(op.rows)
    sequences = list(node.inputs[:k])
    single = {row: v for row, v in zip(op.rows, map(_only_row, sequences), strict=True) if v is not None}
    known = [static_int(shape_i(v, 0, fgraph)) for v in sequences]
    # Zero rows have no value, and computing one may fail.
    if not single or not all(known):
        return None
    given = dict(zip(op.fixed, node.inputs[k:], strict=True)) | single
    outputs = clone_replace(op.outputs, given, strict=False)
    left = [(row, v) for row, v in zip(op.rows, sequences, strict=True) if row not in single]
    n = min(length for length in known if length)
    if left:
        rows, rest = zip(*left, strict=True)
        made = map_rows(rows, [v[:n] for v in rest], outputs, name=op.name, mode=op.mode)
    else:
        made = [alloc(v, n, *shape_tuple(v)) for v in outputs]
    return [conform(v, out) for v, out in zip(made, node.outputs, strict=True)]


def _only_row(v: Tensor) -> Tensor | None:
    """Return the row that a tensor repeats, or None."""
    if v.owner is None or not isinstance(v.owner.op, Alloc):
        return None
    value = v.owner.inputs[0]
    if value.type.ndim == v.type.ndim:
        if not value.type.broadcastable[0]:
            return None
        value = value[0]
    return alloc(value, *v.owner.inputs[2:])


@local_rule([MapRows], keeps="close", phases=("canonicalize",))
def local_map_rows_at_once(fgraph: object, node: TensorApply) -> Answer:
    """All rows are computed at once, where each op has a form for that and no row has a matrix in between.

    (For all rows together that would be memory of another order than that of inputs and results.) What stays a loop
    as well: a choice that each row makes for itself, for there it computes what it chooses alone; and products of two
    matrices that each row has of its own, which come one after the other anyhow, and find their operands in the cache.
    """
    op: Any = node.op
    moving, nodes = dependents(op.rows, op.outputs)
    if any(inner.op.destroy_map or inner.op.lazy and inner.inputs[0] in moving for inner in nodes):
        return None
    k = len(op.rows)
    n = shape_i(node.inputs[0], 0, fgraph)
    sequences: list[Tensor] = list(node.inputs[:k])
    if k > 1:
        for v in node.inputs[1:k]:
            n = F.minimum(n, shape_i(v, 0, fgraph))
        sequences = [v[:n] for v in sequences]
    given = dict(zip((*op.rows, *op.fixed), (*sequences, *node.inputs[k:]), strict=True))
    try:
        made = batch(op.outputs, given, by_loop=False)
    except NoRuleError:
        return None
    largest = max(1, *(_order(v) for v in (*op.rows, *op.outputs)))
    ours = {*sequences, *node.inputs}
    for inner in toposort(made, ours):
        if isinstance(inner.op, BatchedDot) and all(v.type.ndim == 3 for v in inner.inputs):
            return None
        # A view is memory that is there already.
        if not inner.op.view_map and any(_order(v) > largest + 1 for v in inner.outputs):
            return None
    return [
        conform(v if has_batch_axis(v, row) else alloc(v, n, *shape_tuple(v)), out)
        for v, row, out in zip(made, op.outputs, node.outputs, strict=True)
    ]


def _order(v: Tensor) -> int:
    """Return how many dimensions of ``v`` are not known to be 1 long."""
    return list(getattr(v.type, "broadcastable", ())).count(False)

"""Loops over rows that need no loop: few rows are written one after the other, simple expressions are computed at once.

All rows are computed at once by the same ops on tensors with one dimension more. A table says how, op by op, for nodes
of which some inputs are rows of a tensor and others are the same for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.gradient import ViewOp
from theano.graph import Constant, Variable
from theano.rewriting import local_rule
from theano.tensor.blas.dot import Dot
from theano.tensor.convert import as_tensor_variable, static_int
from theano.tensor.create import Alloc, alloc
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.careduce import CAReduce
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.join import join, stack
from theano.tensor.rows import MapRows, dependents
from theano.tensor.rules.words import fit
from theano.tensor.shape.basic import Rebroadcast, Shape, Shape_i, shape_i, shape_tuple
from theano.tensor.shape.reshape import Reshape, reshape
from theano.tensor.type import TensorApply

#: Up to so many nodes are written out, all rows together; a single row always is.
MANY_NODES = 48


@local_rule([MapRows], keeps="close", phases=("canonicalize",))
def local_unroll_map_rows(fgraph: Any, node: TensorApply) -> Any:
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


def _stacked(rows: Sequence[Any], out: Any) -> Any:
    """Return the tensor of some rows in place of ``out``, whose type may not say that there is only one."""
    made = stack(list(rows))
    return fit(made if out.type.broadcastable[0] else Rebroadcast((0, False))(made), out)


@local_rule([MapRows], keeps="close", phases=("canonicalize",))
def local_map_rows_at_once(fgraph: Any, node: TensorApply) -> Any:
    """All rows are computed at once, where each op has a form for that and no row has a matrix in between.

    (For all rows together that would be memory of another order than that of inputs and results.)
    """
    op: Any = node.op
    moving, nodes = dependents(op.rows, op.outputs)
    largest = max(1, *(v.type.ndim for v in (*op.rows, *op.outputs)))
    inside = [v for inner in nodes for v in inner.outputs]
    if any(getattr(v.type, "ndim", largest + 1) > largest for v in inside):
        return None
    if not all(any(isinstance(inner.op, kind) for kind in _AT_ONCE) for inner in nodes):
        return None
    k = len(op.rows)
    n = shape_i(node.inputs[0], 0, fgraph)
    sequences: list[Any] = list(node.inputs[:k])
    if k > 1:
        for v in node.inputs[1:k]:
            n = F.minimum(n, shape_i(v, 0, fgraph))
        sequences = [v[:n] for v in sequences]
    found = _Rows(n, dict(zip(op.rows, sequences, strict=True)), dict(zip(op.fixed, node.inputs[k:], strict=True)))
    for inner in nodes:
        if len(inner.outputs) != 1 or inner.op.destroy_map:
            return None
        if not any(found.moves(v) for v in inner.inputs):
            found.fixed[inner.outputs[0]] = inner.op(*map(found.same, inner.inputs))
            continue
        form = next(form for kind, form in _AT_ONCE.items() if isinstance(inner.op, kind))
        made = form(found, inner)
        if made is None:
            return None
        # All rows have one shape: what it is does not move.
        (found.fixed if isinstance(inner.op, (Shape, Shape_i)) else found.moving)[inner.outputs[0]] = made
    return [fit(found.rows(v), out) for v, out in zip(op.outputs, node.outputs, strict=True)]


class _Rows:
    """What is known of all rows at once: of what moves a tensor of rows, of the rest itself."""

    def __init__(self, n: Any, moving: dict[Variable, Any], fixed: dict[Variable, Any]):
        self.n, self.moving, self.fixed = n, moving, fixed

    def moves(self, v: Variable) -> bool:
        return v in self.moving

    def same(self, v: Variable) -> Any:
        """Return what is worth ``v``, which does not move."""
        return v if isinstance(v, Constant) else self.fixed[v]

    def rows(self, v: Any) -> Any:
        """Return a tensor of rows for ``v``, repeated if it does not move."""
        if v in self.moving:
            return self.moving[v]
        value = self.same(v)
        return alloc(value.dimshuffle("x", *range(v.type.ndim)), self.n, *value.shape)

    def aligned(self, v: Any, ndim: int) -> Any:
        """Return ``v`` for an op on ``ndim`` dimensions of each row: rows first, and 1 long where it does not move."""
        value = self.moving[v] if v in self.moving else self.same(v)
        new = ["x"] * (ndim - v.type.ndim)
        if v in self.moving:
            return value.dimshuffle(0, *new, *range(1, v.type.ndim + 1)) if new else value
        return value.dimshuffle("x", *new, *range(v.type.ndim))

    def only_first_moves(self, node: TensorApply) -> bool:
        return not any(self.moves(v) for v in node.inputs[1:])


def _elemwise(found: _Rows, node: TensorApply) -> Any:
    ndim = node.outputs[0].type.ndim
    return node.op(*[found.aligned(v, ndim) for v in node.inputs])


def _shuffled(found: _Rows, node: TensorApply) -> Any:
    op: Any = node.op
    x = _viewed(found, node)
    return x.dimshuffle(0, *("x" if d == "x" else d + 1 for d in op.new_order))


def _reduced(found: _Rows, node: TensorApply) -> Any:
    op: Any = node.op
    x: Any = node.inputs[0]
    # The dtypes that the node has settled on stay.
    return op._with(tuple(d + 1 for d in op.axes_of(x.type.ndim)), x)(found.moving[x])


def _product(found: _Rows, node: TensorApply) -> Any:
    a, b = node.inputs
    na, nb = a.type.ndim, b.type.ndim
    if found.moves(a) and found.moves(b):
        return _summed(found.moving[a] * found.moving[b], node) if na == nb == 1 else None
    if na == nb == 2 and a.type.broadcastable[1] and b.type.broadcastable[0]:
        return found.aligned(a, 2) * found.aligned(b, 2)  # a column and a row
    if na == 0 or nb == 0:
        return None
    if found.moves(a) and na == 1:
        return Dot()(found.moving[a], found.same(b))
    if found.moves(b) and nb == 1:
        x = found.same(a)
        return Dot()(found.moving[b], x.T if na == 2 else x)
    return None


def _summed(product: Any, node: TensorApply) -> Any:
    """Return the sums of the rows of ``product``, in the dtype of the node's output."""
    return product.sum(axis=1, dtype=node.outputs[0].type.dtype)


def _part(found: _Rows, node: TensorApply) -> Any:
    if not found.only_first_moves(node):
        return None
    op: Any = node.op
    return Subtensor((slice(None), *op.idx_list))(found.moving[node.inputs[0]], *map(found.same, node.inputs[1:]))


def _written(found: _Rows, node: TensorApply) -> Any:
    op: Any = node.op
    x, y, *numbers = node.inputs
    if op.inplace or any(found.moves(v) for v in numbers):
        return None
    new = IncSubtensor((slice(None), *op.idx_list), set_instead_of_inc=op.set_instead_of_inc)
    numbers = [found.same(v) for v in numbers]
    into = found.rows(x)
    part = Subtensor((slice(None), *op.idx_list))(into, *numbers)
    return new(into, found.aligned(y, part.type.ndim - 1) if found.moves(y) else found.same(y), *numbers)


def _repeated(found: _Rows, node: TensorApply) -> Any:
    if not found.only_first_moves(node):
        return None
    lengths = [found.same(v) for v in node.inputs[1:]]
    return alloc(found.aligned(node.inputs[0], len(lengths)), found.n, *lengths)


def _reshaped(found: _Rows, node: TensorApply) -> Any:
    if not found.only_first_moves(node):
        return None
    op: Any = node.op
    x = found.moving[node.inputs[0]]
    lengths = found.same(node.inputs[1])
    if not isinstance(lengths, Constant) or (lengths.data < 0).any():
        # One that is left open would be open twice if there are no rows: as long as it is for one row.
        lengths = stack(list(shape_tuple(op(x[0], lengths))))
    count = F.cast(as_tensor_variable(found.n), lengths.type.dtype)
    return reshape(x, join(0, stack([count]), lengths), ndim=op.ndim + 1)


def _viewed(found: _Rows, node: TensorApply) -> Any:
    return found.moving[node.inputs[0]]


def _declared(found: _Rows, node: TensorApply) -> Any:
    op: Any = node.op
    return Rebroadcast(*((d + 1, one) for d, one in op.axis.items()))(_viewed(found, node))


def _length(found: _Rows, node: TensorApply) -> Any:
    op: Any = node.op
    x = _viewed(found, node)
    return x.shape[op.i + 1] if isinstance(op, Shape_i) else x.shape[1:]


#: How all rows are computed at once, by the kind of op; None says that this node has no such form.
_AT_ONCE: dict[type, Callable[[_Rows, TensorApply], Any]] = {
    Elemwise: _elemwise, DimShuffle: _shuffled, CAReduce: _reduced, Dot: _product, Subtensor: _part,
    IncSubtensor: _written, Alloc: _repeated, Reshape: _reshaped, ViewOp: _viewed, Rebroadcast: _declared,
    Shape_i: _length, Shape: _length,
}  # fmt: skip

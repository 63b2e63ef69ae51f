"""Batching rules of what moves, joins, repeats or declares data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.tensor.batching.batched_node import BatchedNode, batches
from theano.tensor.control.checks import Assert, is_length
from theano.tensor.control.default import Default
from theano.tensor.convert import constant, static_int
from theano.tensor.create.alloc import Alloc, alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import abs_, cast, int_div, lt, maximum, switch
from theano.tensor.index.permutation import PermuteRowElements
from theano.tensor.join.op import Join, MakeVector, Split, join, stack
from theano.tensor.reduce import functions as reductions
from theano.tensor.shape.basic import Rebroadcast, Shape, Shape_i, SpecifyShape, patternbroadcast
from theano.tensor.shape.contiguous import CpuContiguous
from theano.tensor.shape.diagonals import AllocDiag, ExtractDiag, SetDiag
from theano.tensor.shape.repeat import RepeatOp
from theano.tensor.shape.reshape import Reshape, flatten, reshape
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar

if TYPE_CHECKING:
    from theano.graph.annotations import Value
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor


@batches(TensorFromScalar, ScalarFromTensor)
def _same(given: BatchedNode) -> Any:
    return given.inputs[0]  # scalars with a batch axis are a vector


@batches(CpuContiguous)
def _contiguous(given: BatchedNode) -> Variable:
    return given.op(given.inputs[0])


@batches(Assert)
def _checked(given: BatchedNode) -> Value:
    value, *conditions = given.inputs
    return given.op(value, *(reductions.all(c) if c.type.ndim else c for c in conditions))


@batches(DimShuffle)
def _shuffled(given: BatchedNode) -> Variable:
    return given.inputs[0].dimshuffle(0, *("x" if d == "x" else d + 1 for d in given.op.new_order))


@batches(Rebroadcast)
def _declared(given: BatchedNode) -> Variable:
    return Rebroadcast(*((d + 1, one) for d, one in given.op.axis.items()))(given.inputs[0])


@batches(Shape)
def _shape(given: BatchedNode) -> Variable:
    """All rows have one shape."""
    return given.inputs[0].shape[1:]


@batches(Shape_i)
def _length(given: BatchedNode) -> Variable:
    return given.inputs[0].shape[given.op.i + 1]


def _with_count(given: BatchedNode, lengths: Tensor) -> Variable:
    """Return the number of rows, then ``lengths``."""
    return join(0, stack([cast(given.n, lengths.type.dtype)]), lengths)


@batches(SpecifyShape)
def _specified(given: BatchedNode) -> Any:
    return given.op(given.inputs[0], _with_count(given, given.inputs[1])) if given.only(0) else None


@batches(Reshape)
def _reshaped(given: BatchedNode) -> Any:
    if not given.only(0):
        return None
    x, lengths = given.inputs
    parts = lengths.owner.inputs if lengths.owner is not None and isinstance(lengths.owner.op, MakeVector) else None
    asked = [parts[i] if parts else lengths[i] for i in range(given.op.ndim)]
    known = [static_int(n) for n in asked]
    if any(k < 0 if k is not None else not is_length(n) for n, k in zip(asked, known, strict=True)):
        # With zero rows, an open length would be undetermined: it is computed for one row.
        rest = _product([n if k is None else abs(k) for n, k in zip(asked, known, strict=True)])
        size = _product([x.shape[i] for i in range(1, x.type.ndim)])
        open_ = int_div(size, maximum(abs_(rest), 1))
        asked = [
            (n if k >= 0 else open_) if k is not None else n if is_length(n) else switch(lt(n, 0), open_, n)
            for n, k in zip(asked, known, strict=True)
        ]
    return reshape(x, [given.n, *asked], ndim=given.op.ndim + 1)


def _product(lengths: Sequence[Any]) -> Any:
    total: Variable = constant(np.int64(1))
    for n in lengths:
        total = total * n
    return total


@batches(Alloc)
def _repeated(given: BatchedNode) -> Tensor | None:
    if not given.only(0):
        return None
    lengths = given.inputs[1:]
    return alloc(given.aligned(0, len(lengths)), given.n, *lengths)


@batches(RepeatOp)
def _each(given: BatchedNode) -> Any:
    if not given.only(0):
        return None
    x, repeats = given.inputs
    if given.op.axis is None:
        return RepeatOp(1)(flatten(x, 2) if x.type.ndim > 1 else x.dimshuffle(0, "x"), repeats)
    return RepeatOp(given.op.axis % given.ndim(0) + 1)(x, repeats)


@batches(MakeVector)
def _elements(given: BatchedNode) -> Variable:
    return cast(join(1, *(given.full(i).dimshuffle(0, "x") for i in range(len(given.inputs)))), given.op.dtype)


@batches(Join)
def _joined(given: BatchedNode) -> Any:
    axis = static_int(given.node.inputs[0])
    if axis is None:
        return None
    return join(axis % given.ndim(1) + 1, *(given.full(i) for i in range(1, len(given.inputs))))


@batches(Split)
def _pieces(given: BatchedNode) -> list[Tensor] | None:
    axis = static_int(given.node.inputs[1])
    if axis is None or not given.only(0):
        return None
    return given.op(given.inputs[0], axis % given.ndim(0) + 1, given.inputs[2], return_list=True)


@batches(ExtractDiag)
def _diagonal(given: BatchedNode) -> Variable:
    op, ndim = given.op, given.ndim(0)
    return ExtractDiag(op.offset, op.axis1 % ndim + 1, op.axis2 % ndim + 1, op.view)(given.inputs[0])


@batches(SetDiag)
def _with_diagonal(given: BatchedNode) -> Any:
    op, ndim = given.op, given.ndim(0)
    diagonal = given.aligned(1, ndim - 1) if given.batched[1] else given.inputs[1]
    return SetDiag(op.offset, op.axis1 % ndim + 1, op.axis2 % ndim + 1)(given.full(0), diagonal)


@batches(AllocDiag)
def _on_diagonal(given: BatchedNode) -> Any:
    op, ndim = given.op, given.ndim(0) + 1
    return AllocDiag(op.offset, op.axis1 % ndim + 1, op.axis2 % ndim + 1)(given.inputs[0])


@batches(Default)
def _default(given: BatchedNode) -> Variable:
    return given.op(*(patternbroadcast(given.full(i), _pattern(given, i)) for i in range(2)))


def _pattern(given: BatchedNode, i: int) -> tuple[bool, ...]:
    return (False, *given.node.inputs[i].type.broadcastable)


@batches(PermuteRowElements)
def _permuted(given: BatchedNode) -> Tensor | None:
    return given.op(*given.inputs) if given.only(0, 1) else None

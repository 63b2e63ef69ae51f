"""Batching rules of what works element by element, and of reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.tensor.batching.batched_node import BatchedNode, batches
from theano.tensor.control.choice import IfElse
from theano.tensor.convert import is_tensor, static_int
from theano.tensor.elemwise.functions import switch
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.ravel import RavelMultiIndex, UnravelIndex
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.reduce.map_reduce import MapReduce
from theano.tensor.shape.basic import patternbroadcast
from theano.tensor.shape.reshape import flatten
from theano.tensor.sort.cumulative import CumOp, LinearRecurrence
from theano.tensor.sort.op import ArgSortOp, SortOp, TopKOp
from theano.tensor.sort.search import SearchsortedOp

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor


@batches(Elemwise)
def _elemwise(given: BatchedNode) -> list[Variable]:
    # All rows have the same number of dimensions: what has no batch axis gets one on its left, as any broadcasting.
    op = given.op if not given.op.inplace_pattern else Elemwise(given.op.scalar_op)
    return op(*given.inputs, return_list=True)


@batches(scal.ScalarOp)
def _scalar(given: BatchedNode) -> list[Variable]:
    return Elemwise(given.op)(*(given.tensor(i) for i in range(len(given.inputs))), return_list=True)


@batches(IfElse)
def _choice(given: BatchedNode) -> list[Tensor] | None:
    values = len(given.inputs) // 2
    if not all(map(is_tensor, given.node.outputs)):
        return None
    if given.batched[0]:
        # Rows choose differently, so that both are needed.
        ndims = [v.type.ndim for v in given.node.outputs]
        pairs = [(given.aligned(1 + k, d), given.aligned(1 + values + k, d)) for k, d in enumerate(ndims)]
        return [switch(given.aligned(0, d), a, b) for (a, b), d in zip(pairs, ndims, strict=True)]
    typed = []
    for k in range(2 * values):
        row = given.node.outputs[k % values]
        typed.append(patternbroadcast(given.full(1 + k), (False, *row.type.broadcastable)))
    return given.op(given.inputs[0], *typed, return_list=True)


@batches(CAReduce)
def _reduced(given: BatchedNode) -> Variable:
    (x,) = given.node.inputs
    # The dtypes that the node has settled on stay.
    return given.op._with(tuple(d + 1 for d in given.op.axes_of(x.type.ndim)), x)(given.inputs[0])


@batches(MapReduce)
def _terms(given: BatchedNode) -> list[Variable]:
    op, ndim = given.op, given.ndim(0)
    axes = tuple(d + 1 for d in op.reductions[0].axes_of(ndim))
    terms = Elemwise(op.scalar_op).make_node(*given.node.inputs).outputs
    shifted = [r._with(axes, t) for r, t in zip(op.reductions, terms, strict=True)]
    return MapReduce(op.scalar_op, shifted)(*given.inputs, return_list=True)


@batches(LogSumExp, MaxAndArgmax, Argmax, Argmin)
def _along(given: BatchedNode) -> list[Variable]:
    axes = tuple(d + 1 for d in given.op.axes_of(given.ndim(0)))
    return type(given.op)(axes)(given.inputs[0], return_list=True)


@batches(CumOp)
def _running(given: BatchedNode) -> Variable:
    (x,) = given.inputs
    axis = given.op.axis
    if axis is None:
        return CumOp(1, given.op.mode)(flatten(x, 2) if x.type.ndim > 1 else x.dimshuffle(0, "x"))
    return CumOp(axis % given.ndim(0) + 1, given.op.mode)(x)


@batches(LinearRecurrence)
def _recurrence(given: BatchedNode) -> Any:
    return LinearRecurrence(given.op.axis + 1, given.op.transposed)(given.full(0), given.full(1))


@batches(SortOp, ArgSortOp)
def _sorted(given: BatchedNode) -> Tensor | None:
    axis = static_int(given.node.inputs[1])
    if axis is None or not given.only(0):
        return None
    return given.op(given.inputs[0], axis if axis < 0 else axis + 1)


@batches(TopKOp)
def _largest(given: BatchedNode) -> Any:
    if not given.only(0):
        return None
    op = given.op
    axis = op.axis % given.ndim(0) + 1
    moved = TopKOp(axis, op.sorted, op.idx_dtype, op.return_values, op.return_indices)
    return moved(*given.inputs, return_list=True)


@batches(SearchsortedOp)
def _place(given: BatchedNode) -> Tensor | None:
    return given.op(*given.inputs) if given.only(1) else None


@batches(UnravelIndex, RavelMultiIndex)
def _index(given: BatchedNode) -> list[Tensor] | None:
    last = len(given.inputs) - 1
    return None if given.batched[last] else given.op(*given.inputs, return_list=True)

"""Batching rules of products, of systems of equations, and of ops on the rows of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.tensor.batching.batched_node import BatchedNode, batches
from theano.tensor.blas.dot import BatchedDot, Dot, tensordot
from theano.tensor.create.alloc import zeros
from theano.tensor.fft.op import IRFFTOp, RFFTOp
from theano.tensor.linalg.equations import Solve
from theano.tensor.nnet.crossentropy import CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad
from theano.tensor.nnet.labels import labels_of
from theano.tensor.nnet.likelihood import CrossentropySoftmax1HotWithBiasDx, CrossentropySoftmaxArgmax1HotWithBias
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad, SoftmaxWithBias, softmax
from theano.tensor.shape.reshape import flatten, reshape

if TYPE_CHECKING:
    from theano.graph.variable import Variable


@batches(Dot)
def _dot(given: BatchedNode) -> Any:
    a, b = given.inputs
    rows = [v.type for v in given.node.inputs]
    na, nb = (t.ndim for t in rows)
    if all(given.batched):
        if na == nb == 1:
            # Also of integers, which BLAS does not know; fused where it is computed.
            return (a * b).sum(axis=1, dtype=given.node.outputs[0].type.dtype)
        if na == nb == 2 and rows[0].broadcastable[1] and rows[1].broadcastable[0]:
            return a * b  # a column and a row
        return BatchedDot()(a, b)
    if na == nb == 2 and rows[0].broadcastable[1] and rows[1].broadcastable[0]:
        return given.aligned(0, 2) * given.aligned(1, 2)
    if given.batched[0]:
        return Dot()(a, b) if na == 1 else tensordot(a, b, [[2], [0]])
    if nb == 1:
        return Dot()(b, a.T if na == 2 else a)
    if na == 1:
        return tensordot(b, a, [[1], [0]])
    return tensordot(b, a, [[1], [1]]).dimshuffle(0, 2, 1)


@batches(BatchedDot)
def _many_products(given: BatchedNode) -> Variable:
    return given.split_batch(BatchedDot()(given.merge_batch(0), given.merge_batch(1)), 0)


@batches(Solve)
def _solved(given: BatchedNode) -> Any:
    if given.batched[0]:
        return None
    a, b = given.inputs
    if given.ndim(1) == 1:
        return given.op(a, b.T).T
    # All right-hand sides are columns of one matrix: it is decomposed once.
    columns = b.dimshuffle(1, 0, 2)
    found = given.op(a, flatten(columns, 2))
    return reshape(found, columns.shape, ndim=3).dimshuffle(1, 0, 2)


@batches(Softmax, LogSoftmax, SoftmaxGrad)
def _rowwise(given: BatchedNode) -> Variable:
    found = given.op(*(given.merge_batch(i) for i in range(len(given.inputs))))
    return given.split_batch(found, 0)


@batches(SoftmaxWithBias)
def _biased(given: BatchedNode) -> Variable:
    if given.only(0):
        return given.split_batch(given.op(given.merge_batch(0), given.inputs[1]), 0)
    return softmax(given.aligned(0, 2) + given.aligned(1, 2))


@batches(CrossentropySoftmaxArgmax1HotWithBias)
def _entropy(given: BatchedNode) -> Any:
    if labels_of(given.node) != "each":
        return None
    if given.batched[1]:
        x, b, classes = given.inputs
        none = zeros(b.shape[1], dtype=b.type.dtype)
        shifted = given.aligned(0, 2) + given.aligned(1, 2)
        given = BatchedNode(given.node, [shifted, none, classes], [True, False, given.batched[2]])
    found = given.op(given.merge_batch(0), given.inputs[1], given.merge_batch(2), return_list=True)
    return [given.split_batch(v, 0, k) for k, v in enumerate(found)]


@batches(CrossentropySoftmax1HotWithBiasDx)
def _entropy_slope(given: BatchedNode) -> Any:
    if labels_of(given.node) != "each":
        return None
    g, sm, _ = given.node.inputs
    if g.type.broadcastable[0] and not sm.type.broadcastable[0]:
        # One gradient for all rows of the matrix.
        count = given.inputs[1].shape[-2]
        whole = given.full(0).repeat(count, axis=1)
        given = BatchedNode(given.node, [whole, *given.inputs[1:]], [True, *given.batched[1:]])
    return given.split_batch(given.op(*(given.merge_batch(i) for i in range(3))), 1)


@batches(CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad)
def _categorical(given: BatchedNode) -> Variable:
    return given.split_batch(given.op(*(given.merge_batch(i) for i in range(len(given.inputs)))), 0)


@batches(RFFTOp, IRFFTOp)
def _transformed(given: BatchedNode) -> Any:
    if not given.only(0):
        return None
    return given.split_batch(given.op(given.merge_batch(0), given.inputs[1]), 0)

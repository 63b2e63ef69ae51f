"""Conversions and transposes by parts, conversions back and forth, and what is done in place."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply, FunctionGraph, Op
from theano.rewriting import Context, P, local_rule, pattern_vars, phases, rule
from theano.sparse.parts.elements import Scattered
from theano.sparse.parts.op import CSM, Recompressed, csm_properties
from theano.sparse.structure.dense import DenseFromSparse, SparseFromDense
from theano.sparse.structure.op import EnsureSortedIndices, Remove0, Transpose
from theano.tensor.join.op import stack
from theano.tensor.rules.inplace import MayTake, work_in_place

(x,) = pattern_vars("x")


@local_rule([DenseFromSparse], phases=("canonicalize", "specialize"))
def local_dense_from_sparse_sparse_from_dense(node: Apply[Any, Any]) -> Any:
    """A dense matrix that was made sparse and dense again is itself."""
    made = node.inputs[0].owner
    if made is None or not isinstance(made.op, SparseFromDense):
        return None
    dense = made.inputs[0]
    return [dense] if dense.type == node.outputs[0].type else None


rule("local_sparse_transpose_transpose", P(Transpose)(P(Transpose)(x)), x, phases=("canonicalize", "specialize"),
     doc="The transpose of a transpose is the matrix.")  # fmt: skip


@local_rule([DenseFromSparse], phases=("specialize",))
def local_dense_from_sparse(node: Apply[Any, Any]) -> Any:
    """A dense matrix is written from the parts."""
    (matrix,) = node.inputs
    if matrix.type.format not in ("csr", "csc"):
        return None
    return [Scattered(matrix.type.format)(*csm_properties(matrix))]


@local_rule([Transpose], phases=("specialize",))
def local_sparse_transpose(node: Apply[Any, Any]) -> Any:
    """A transpose is made of the same arrays, in the other format."""
    data, indices, indptr, shape = csm_properties(node.inputs[0])
    return [CSM(node.outputs[0].type.format)(data, indices, indptr, stack([shape[1], shape[0]]))]


@local_rule([EnsureSortedIndices], phases=("specialize",))
def local_ensure_sorted_indices(node: Apply[Any, Any]) -> Any:
    """Indices are sorted by going over to the other format and back, unless an op has put them in order."""
    (matrix,) = node.inputs
    made, format = matrix.owner, matrix.type.format
    if made is None or not isinstance(made.op, CSM):
        return None
    other = "csc" if format == "csr" else "csr"
    *parts, shape = csm_properties(matrix)
    turned = Recompressed(format)(*parts, shape)
    return [CSM(format)(*Recompressed(other)(*turned, shape), shape)]


def _in_place(node: Apply[Any, Any], may_take: MayTake) -> Op | None:
    if isinstance(node.op, (Remove0, EnsureSortedIndices)) and not node.op.inplace and may_take(0):
        return type(node.op)(inplace=True)
    return None


def local_inplace_remove0(fgraph: FunctionGraph, context: Context) -> None:
    """Let zeros be removed, and indices sorted, in the matrix itself."""
    work_in_place(fgraph, context, "local_inplace_remove0", _in_place)


phases.register("local_inplace_remove0", local_inplace_remove0, 60, "fast_run", "inplace")

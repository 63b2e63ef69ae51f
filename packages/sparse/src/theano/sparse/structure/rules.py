"""Conversions and transposes by parts, conversions back and forth, and what is done in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph import FunctionGraph, Op
from theano.rewriting import Context, P, Rest, pattern_vars, phases, rule
from theano.sparse.parts.elements import Scattered
from theano.sparse.parts.op import CSM, Recompressed, csm_properties
from theano.sparse.structure.dense import DenseFromSparse, SparseFromDense
from theano.sparse.structure.op import EnsureSortedIndices, Remove0, Transpose
from theano.tensor.join.op import stack
from theano.tensor.rules.inplace import MayTake, work_in_place

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.sparse.annotations import Sparse

(x,) = pattern_vars("x")


local_dense_from_sparse_sparse_from_dense = rule(
    "local_dense_from_sparse_sparse_from_dense", P(DenseFromSparse)(P(SparseFromDense)(x)), x,
    when=lambda x, out: x.type == out.type, phases=("canonicalize", "specialize"),
    doc="A dense matrix that was made sparse and dense again is itself.",
)  # fmt: skip


rule("local_sparse_transpose_transpose", P(Transpose)(P(Transpose)(x)), x, phases=("canonicalize", "specialize"),
     doc="The transpose of a transpose is the matrix.")  # fmt: skip


rule("local_dense_from_sparse", P(DenseFromSparse)(x.where(lambda v: v.type.format != "bsr")),
     lambda x: [Scattered(x.type.format)(*csm_properties(x))], phases=("specialize",),
     doc="A dense matrix is written from the parts.")  # fmt: skip


def _turned(x: Sparse, out: Sparse) -> Sparse:
    *parts, shape = csm_properties(x)
    return CSM(out.type.format)(*parts, stack([shape[1], shape[0]]))


rule("local_sparse_transpose", P(Transpose)(x), _turned, phases=("specialize",),
     doc="A transpose is made of the same arrays, in the other format.")  # fmt: skip


def _sorted(matrix: Sparse) -> Sparse:
    format = matrix.type.format
    *parts, shape = csm_properties(matrix)
    turned = Recompressed(format)(*parts, shape)
    return CSM(format)(*Recompressed("csc" if format == "csr" else "csr")(*turned, shape), shape)


rule("local_ensure_sorted_indices", P(EnsureSortedIndices)(P(CSM)(Rest("parts")).named("matrix")), _sorted,
     phases=("specialize",),
     doc="Indices are sorted by going over to the other format and back, unless an op has put them in order.",
)  # fmt: skip


def _in_place(node: Node, may_take: MayTake) -> Op | None:
    if isinstance(node.op, (Remove0, EnsureSortedIndices)) and not node.op.inplace and may_take(0):
        return type(node.op)(inplace=True)
    return None


def local_inplace_remove0(fgraph: FunctionGraph, context: Context) -> None:
    """Let zeros be removed, and indices sorted, in the matrix itself."""
    work_in_place(fgraph, context, "local_inplace_remove0", _in_place)


phases.register("local_inplace_remove0", local_inplace_remove0, 60, "fast_run", "inplace")

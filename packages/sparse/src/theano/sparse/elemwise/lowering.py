"""Sums and products of sparse matrices: a kernel built with the layer (``c/union.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph.parameters import Parameters
from theano.lowering.accepts import SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.sparse.elemwise.vectors import Union
from theano.sparse.kernels import parameters
from theano.sparse.kernels.library import INT32, ready

if TYPE_CHECKING:
    from theano.graph.annotations import Node


@ready("th_kernel_union", work=10.0)
def union_kernel(op: Union, node: Node) -> Parameters:
    """Return the sum or product of two sparse matrices. ``op.format`` and ``op.multiplies`` are read."""
    return parameters.UnionParams(columns=op.format == "csc", multiplies=op.multiplies)


_INDICES = ("a_indices", "a_indptr", "a_shape", "b_indices", "b_indptr", "b_shape", "indices", "indptr")

register(
    Lowering(Union, union_kernel, Accepts(
        "a, a_indices, a_indptr, a_shape, b, b_indices, b_indptr, b_shape -> data, indices, indptr",
        dtypes={"a": SINGLE_OR_DOUBLE, **dict.fromkeys(_INDICES, INT32)}, same=("a b data",),
    )),
)  # fmt: skip

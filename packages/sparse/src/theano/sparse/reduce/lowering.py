"""Sums of stored numbers: a kernel built with the layer (``c/sum.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph.parameters import Parameters
from theano.lowering.accepts import SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.sparse.kernels import parameters
from theano.sparse.kernels.library import INT32, ready
from theano.sparse.reduce.op import SumOfParts

if TYPE_CHECKING:
    from theano.graph.annotations import Node


@ready("th_kernel_sum_of_parts", work=1.0)
def sum_kernel(op: SumOfParts, node: Node) -> Parameters:
    """Return the sums of the stored numbers. ``op.format`` and ``op.axis`` are read."""
    columns = op.format == "csc"
    return parameters.SumParams(columns=columns, along=columns == (op.axis == 0))


register(
    Lowering(SumOfParts, sum_kernel, Accepts(
        "data, indices, indptr, shape -> z",
        dtypes={"data": SINGLE_OR_DOUBLE, **dict.fromkeys(("indices", "indptr", "shape"), INT32)}, same=("data z",),
    )),
)  # fmt: skip

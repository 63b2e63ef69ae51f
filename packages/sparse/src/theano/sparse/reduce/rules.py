"""Sums and scales by parts."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.sparse.elemwise.rules import KERNELS, on_data
from theano.sparse.parts.elements import elements_at
from theano.sparse.parts.op import csm_properties
from theano.sparse.reduce.op import ColScaleCSC, RowScaleCSC, SpSum, SumOfParts
from theano.tensor.elemwise import functions as F


@local_rule([SpSum], phases=("specialize",))
def local_sp_sum(node: Apply[Any, Any]) -> Any:
    """A sum is one of the stored numbers: of all, of each line, or of each place of the lines."""
    (x,), (out,) = node.inputs, node.outputs
    if out.type.dtype not in KERNELS:
        return None
    parts = csm_properties(x)
    axis = node.op.axis
    return [F.cast(parts[0].sum(), out.type.dtype) if axis is None else SumOfParts(x.type.format, axis)(*parts)]


@local_rule([ColScaleCSC, RowScaleCSC], phases=("specialize",))
def local_sparse_scale(node: Apply[Any, Any]) -> Any:
    """A scale multiplies each number with the element of its row or column."""
    x, s = node.inputs
    _, *places = csm_properties(x)
    wide = s.dimshuffle("x", 0) if node.op.axis == 1 else s.dimshuffle(0, "x")
    return on_data(node, lambda data: data * elements_at(x.type.format)(*places, wide))

"""Sums and scales by parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.rewriting import P, pattern_vars, rule
from theano.sparse.elemwise.rules import at_places, for_kernels, on_data
from theano.sparse.parts.op import csm_properties
from theano.sparse.reduce.op import ColScaleCSC, RowScaleCSC, SpSum, SumOfParts
from theano.tensor.elemwise import functions as F

if TYPE_CHECKING:
    from theano.sparse.annotations import Sparse
    from theano.tensor.type import Tensor

x, s = pattern_vars("x s")


def _sum(op: SpSum, x: Sparse, out: Tensor) -> list[Tensor]:
    parts = csm_properties(x)
    return [F.cast(parts[0].sum(), out.type.dtype) if op.axis is None else SumOfParts(x.type.format, op.axis)(*parts)]


rule("local_sp_sum", P(SpSum, "op")(x), _sum, when=for_kernels, phases=("specialize",),
     doc="A sum is one of the stored numbers: of all, of each line, or of each place of the lines.")  # fmt: skip


def _scaled(x: Sparse, wide: Tensor, out: Sparse) -> Sparse:
    return on_data(x, out, lambda data: data * at_places(x, wide))


rule("local_sparse_scale", P(ColScaleCSC)(x, s), lambda x, s, out: _scaled(x, s.dimshuffle("x", 0), out),
     also=[(P(RowScaleCSC)(x, s), lambda x, s, out: _scaled(x, s.dimshuffle(0, "x"), out))], phases=("specialize",),
     doc="A scale multiplies each number with the element of its row or column.")  # fmt: skip

"""Products of chosen blocks: kernels built with the layer (``c/blocksparse.c``)."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import ready
from theano.tensor.nnet.blocksparse import SparseBlockGemv, SparseBlockOuter


@ready("th_kernel_sparse_block_gemv", work=100.0)
def sparse_block_gemv_kernel(op: SparseBlockGemv, node: Apply) -> Parameters:
    """Return sums with products of pieces and chosen blocks."""
    return parameters.InPlaceParams(in_place=op.inplace)


@ready("th_kernel_sparse_block_outer", work=10.0)
def sparse_block_outer_kernel(op: SparseBlockOuter, node: Apply) -> Parameters:
    """Return blocks with outer products of pieces added."""
    return parameters.InPlaceParams(in_place=op.inplace)


register(
    Lowering(SparseBlockGemv, sparse_block_gemv_kernel, Accepts(
        "o, W, h, rows, columns -> sums", dtypes={"o": SINGLE_OR_DOUBLE, "rows": INTEGERS, "columns": INTEGERS},
        same=("o W h sums",),
    )),
    Lowering(SparseBlockOuter, sparse_block_outer_kernel, Accepts(
        "o, x, y, rows, columns, alpha -> sums", dtypes={"o": SINGLE_OR_DOUBLE, "rows": INTEGERS, "columns": INTEGERS},
        same=("o x y alpha sums",),
    )),
)  # fmt: skip

"""Products of chosen blocks of a matrix with pieces of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceBlocks
from theano.gpuarray.lowering.common import functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.table import register
from theano.tensor.kernels.common import dtype_of
from theano.tensor.nnet.blocksparse import SparseBlockGemv, SparseBlockOuter

if TYPE_CHECKING:
    from theano.graph.annotations import Node

_NAMES = ("chosen_products", "outer_products")


def _blocks(op: Any, node: Apply) -> Parameters:
    found = functions(node, shipped("nnet_blocksparse.cl", dtype_of(node.inputs[0])), _NAMES)
    return DeviceBlocks(**dict(zip(_NAMES, found, strict=True)), in_place=op.inplace)


@ready("th_kernel_gpu_sparse_block_gemv")
def sparse_block_gemv_kernel(op: Any, node: Apply) -> Parameters:
    """Return sums with products of pieces and chosen blocks."""
    return _blocks(op, node)


@ready("th_kernel_gpu_sparse_block_outer")
def sparse_block_outer_kernel(op: Any, node: Apply) -> Parameters:
    """Return blocks with outer products of pieces added."""
    return _blocks(op, node)


def _numbers(node: Node) -> tuple[int, ...]:
    """Return the inputs that the host reads: numbers of blocks, and the factor of outer products."""
    return tuple(range(3, len(node.inputs)))


register(
    on_device(SparseBlockGemv, sparse_block_gemv_kernel, on_host=_numbers),
    on_device(SparseBlockOuter, sparse_block_outer_kernel, on_host=_numbers),
)

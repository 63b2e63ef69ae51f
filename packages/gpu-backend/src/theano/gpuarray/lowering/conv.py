"""Convolution and its gradients, as products of matrices that are read where the tensors have their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import ConvDirection, DeviceConvolution
from theano.gpuarray.lowering.common import functions, multiply_add, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import FLOATS
from theano.lowering.table import register
from theano.tensor.conv.lowering import geometry_of
from theano.tensor.conv.op import AbstractConv, AbstractConv_gradInputs, AbstractConv_gradWeights
from theano.tensor.kernels.common import dtype_of

if TYPE_CHECKING:
    from theano.graph.annotations import Node

# Rows and columns of a tile: for many filters (or channels, where images are computed), and for few.
_SQUARE, _LOW = (64, 64), (16, 128)


def _tiles(dtype: str, rows: int, columns: int) -> str:
    macros: dict[str, Any] = {"ROWS": rows, "COLUMNS": columns, **multiply_add(dtype)}
    return shipped("conv.cl", dtype, **macros)


def _convolution(op: Any, node: Node, direction: ConvDirection) -> Parameters:
    dtype = dtype_of(node.outputs[0])
    square, finish = functions(node, _tiles(dtype, *_SQUARE), ("convolve", "finish"))
    (low,) = functions(node, _tiles(dtype, *_LOW), ("convolve",))
    return DeviceConvolution(
        square=square, low=low, finish=finish, direction=direction, unshared=op.unshared, conv=geometry_of(op)
    )


@ready("th_kernel_gpu_conv")
def forward_kernel(op: Any, node: Apply) -> Parameters:
    """Return the convolution of images with filters."""
    return _convolution(op, node, ConvDirection.FORWARD)


@ready("th_kernel_gpu_conv")
def filters_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of a convolution with respect to its filters."""
    return _convolution(op, node, ConvDirection.FILTERS)


@ready("th_kernel_gpu_conv")
def images_kernel(op: Any, node: Apply) -> Parameters:
    """Return the gradient of a convolution with respect to its images."""
    return _convolution(op, node, ConvDirection.IMAGES)


def _lengths(node: Node) -> tuple[int, ...]:
    """Return the input that says how long the axes of the result are, which the host reads."""
    return (2,)


register(
    on_device(AbstractConv, forward_kernel, {"image": FLOATS}),
    on_device(AbstractConv_gradWeights, filters_kernel, {"image": FLOATS}, on_host=_lengths),
    on_device(AbstractConv_gradInputs, images_kernel, {"kernel": FLOATS}, on_host=_lengths),
)

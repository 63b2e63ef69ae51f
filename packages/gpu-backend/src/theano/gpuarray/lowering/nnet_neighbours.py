"""Neighbourhoods of images as rows, a work-item for each element of the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceNeighbours
from theano.gpuarray.lowering.common import functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.table import register
from theano.tensor.kernels.common import dtype_of
from theano.tensor.kernels.parameters import Neighbours
from theano.tensor.nnet.neighbours import Images2Neibs

# Elements are moved as whole numbers of their size; those of 16 bytes as two.
_NUMBERS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "uint64"}


@ready("th_kernel_gpu_neighbours")
def images2neibs_kernel(op: Any, node: Apply) -> Parameters:
    """Return the neighbourhoods of images as rows."""
    number = _NUMBERS[np.dtype(dtype_of(node.inputs[0])).itemsize]
    (function,) = functions(node, shipped("nnet_neighbours.cl", number), ("neighbours",))
    return DeviceNeighbours(function=function, mode=Neighbours[op.mode.upper()])


register(on_device(Images2Neibs, images2neibs_kernel, on_host=lambda node: (1, 2)))

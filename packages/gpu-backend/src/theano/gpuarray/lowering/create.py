"""Triangles of ones, which `tril` and `triu` multiply by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceTriangle
from theano.gpuarray.lowering.common import functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import REAL
from theano.lowering.table import register
from theano.tensor.create.diagonals import Tri
from theano.tensor.kernels.common import dtype_of

if TYPE_CHECKING:
    from theano.graph.annotations import Node


@ready("th_kernel_gpu_tri")
def tri_kernel(op: Any, node: Apply) -> Parameters:
    """Return a matrix with ones on a diagonal and below it."""
    (function,) = functions(node, shipped("create.cl", dtype_of(node.outputs[0])), ("triangle",))
    return DeviceTriangle(function=function)


def _all(node: Node) -> range:
    """Return all inputs: lengths and the number of the diagonal."""
    return range(len(node.inputs))


register(on_device(Tri, tri_kernel, {"y": REAL}, on_host=_all))

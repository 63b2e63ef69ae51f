"""Where the largest or smallest element is."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceReduction
from theano.gpuarray.lowering.common import TARGET, functions, shipped
from theano.gpuarray.writer import REDUCTION_FUNCTIONS
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INT64, REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels.common import dtype_of, ndim_of, normal_axes
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax


def _places(op: Any, node: Apply, smallest: bool) -> Parameters | None:
    ndim = ndim_of(node.inputs[0])
    axes = normal_axes(op.axis, ndim)
    if not ndim or ndim_of(node.outputs[0]) != ndim - len(axes):
        return None
    text = shipped("argmax.cl", dtype_of(node.inputs[0]), AXES=ndim, OUTPUTS=len(node.outputs), SMALLEST=int(smallest))
    terms, finish = functions(node, text, REDUCTION_FUNCTIONS)
    return DeviceReduction(
        terms=terms, finish=finish, width=1, inputs=1, outputs=len(node.outputs), axes=ndim,
        reduced=sum(1 << axis for axis in axes), needed=(1 << len(node.outputs)) - 1, accumulators=16, hosts=0,
        ones=[0], constant_bytes=0, constants=b"",
    )  # fmt: skip


@ready("th_kernel_gpu_reduce")
def argmax_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places of the largest elements, and these themselves where two outputs are wanted."""
    return _places(op, node, smallest=False)


@ready("th_kernel_gpu_reduce")
def argmin_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places of the smallest elements."""
    return _places(op, node, smallest=True)


_PLACES = Accepts("x -> place", dtypes={"x": REAL, "place": INT64})

register(
    Lowering(Argmax, argmax_kernel, _PLACES, target=TARGET),
    Lowering(Argmin, argmin_kernel, _PLACES, target=TARGET),
    Lowering(MaxAndArgmax, argmax_kernel, Accepts(
        "x -> largest, place", dtypes={"x": REAL, "place": INT64}, same=("x largest",),
    ), target=TARGET),
)  # fmt: skip

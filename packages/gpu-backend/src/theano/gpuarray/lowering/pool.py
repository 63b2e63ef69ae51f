"""Pooling and its derivatives, a work-item for each element of the result."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DevicePool, PoolOperation
from theano.gpuarray.lowering.common import MOST_AXES, functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import FLOATS
from theano.lowering.table import register
from theano.tensor.kernels.common import dtype_of, ndim_of
from theano.tensor.pool.op import AveragePoolGrad, DownsampleFactorMaxGradGrad, MaxPoolGrad, MaxPoolRop, Pool

if TYPE_CHECKING:
    from theano.graph.annotations import Node

_NAMES = {
    PoolOperation.MAX: "pool_max", PoolOperation.SUM: "pool_sum", PoolOperation.MAX_GRADIENT: "pool_max_grad",
    PoolOperation.MAX_GRADIENT_GRADIENT: "pool_max_grad_grad", PoolOperation.SUM_GRADIENT: "pool_sum_grad",
    PoolOperation.MAX_DIRECTION: "pool_max_direction",
}  # fmt: skip
# What a window of an axis is: the CPU's kernels have the same text.
_WINDOWS = files("theano.tensor.pool").joinpath("c/pool_axes.h").read_text("ascii")


def _windows(op: Any, node: Apply, operation: PoolOperation) -> Parameters | None:
    ndim = ndim_of(node.inputs[0])
    if ndim > MOST_AXES:
        return None
    text = shipped("pool.cl", dtype_of(node.inputs[0]), POOLED=op.ndim, KEPT=max(ndim - op.ndim, 1))
    found = dict(zip(_NAMES, functions(node, f"#define TH_HELPER TH_INLINE\n{_WINDOWS}{text}", tuple(_NAMES.values()))))
    return DevicePool(
        function=found[operation], operation=operation, ndim=op.ndim, ignore_border=op.ignore_border,
        mean=op.mode.startswith("average"), with_padding=op.mode == "average_inc_pad",
    )  # fmt: skip


@ready("th_kernel_gpu_pool")
def pool_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the largest element, the sum or the mean of each window."""
    return _windows(op, node, PoolOperation.MAX if op.mode == "max" else PoolOperation.SUM)


@ready("th_kernel_gpu_pool")
def max_grad_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the gradient of the largest elements of windows."""
    return _windows(op, node, PoolOperation.MAX_GRADIENT)


@ready("th_kernel_gpu_pool")
def max_grad_grad_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the sums of what belongs to the largest elements of windows."""
    return _windows(op, node, PoolOperation.MAX_GRADIENT_GRADIENT)


@ready("th_kernel_gpu_pool")
def sum_grad_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the gradient of the sums or means of windows."""
    return _windows(op, node, PoolOperation.SUM_GRADIENT)


@ready("th_kernel_gpu_pool")
def max_direction_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return what belongs to the first of the largest elements of each window."""
    return _windows(op, node, PoolOperation.MAX_DIRECTION)


def _sizes(node: Node) -> range:
    """Return the inputs that say where windows are: ws, stride and pad, which the host reads."""
    return range(len(node.op.arrays), len(node.inputs))


register(
    on_device(Pool, pool_kernel, {"x": FLOATS}, on_host=_sizes),
    on_device(MaxPoolGrad, max_grad_kernel, {"x": FLOATS}, on_host=_sizes),
    on_device(DownsampleFactorMaxGradGrad, max_grad_grad_kernel, {"x": FLOATS}, on_host=_sizes),
    on_device(AveragePoolGrad, sum_grad_kernel, {"x": FLOATS}, on_host=_sizes),
    on_device(MaxPoolRop, max_direction_kernel, {"x": FLOATS}, on_host=_sizes),
)

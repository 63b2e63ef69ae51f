"""Pooling: kernels built with the layer (``c/pool.c``)."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import ready
from theano.tensor.kernels.parameters import PoolMode
from theano.tensor.pool.op import AveragePoolGrad, DownsampleFactorMaxGradGrad, MaxPoolGrad, MaxPoolRop, Pool

_MODES = {
    "max": PoolMode.MAX, "sum": PoolMode.SUM, "average_exc_pad": PoolMode.MEAN,
    "average_inc_pad": PoolMode.MEAN_WITH_PADDING,
}  # fmt: skip


def _windows(op: Any) -> parameters.PoolParams:
    return parameters.PoolParams(mode=_MODES[op.mode], ndim=op.ndim, ignore_border=op.ignore_border)


@ready("th_kernel_pool", work=1.0)
def pool_kernel(op: Pool, node: Apply) -> parameters.PoolParams:
    """Return the largest element, the sum or the mean of each window."""
    return _windows(op)


@ready("th_kernel_pool_max_grad", work=2.0)
def max_grad_kernel(op: MaxPoolGrad, node: Apply) -> parameters.PoolParams:
    """Return the gradient of the largest elements of windows."""
    return _windows(op)


@ready("th_kernel_pool_max_grad_grad", work=2.0)
def max_grad_grad_kernel(op: DownsampleFactorMaxGradGrad, node: Apply) -> parameters.PoolParams:
    """Return the sums of what belongs to the largest elements of windows."""
    return _windows(op)


@ready("th_kernel_pool_sum_grad", work=1.0)
def sum_grad_kernel(op: AveragePoolGrad, node: Apply) -> parameters.PoolParams:
    """Return the gradient of the sums or means of windows."""
    return _windows(op)


@ready("th_kernel_pool_max_direction", work=5.0)
def max_direction_kernel(op: MaxPoolRop, node: Apply) -> parameters.PoolParams:
    """Return what belongs to the first of the largest elements of each window."""
    return _windows(op)


def _accepts(arrays: str, result: str) -> Accepts:
    """Return what kernels of arrays, ws, stride and pad accept."""
    first = arrays.split(", ")[0]
    sizes = dict.fromkeys(("ws", "stride", "pad"), INTEGERS)
    return Accepts(
        f"{arrays}, ws, stride, pad -> {result}", dtypes={first: SINGLE_OR_DOUBLE, **sizes},
        same=(" ".join((*arrays.split(", "), result)),),
    )  # fmt: skip


register(
    Lowering(Pool, pool_kernel, _accepts("x", "y")),
    Lowering(MaxPoolGrad, max_grad_kernel, _accepts("x, maxout, gz", "gx")),
    Lowering(DownsampleFactorMaxGradGrad, max_grad_grad_kernel, _accepts("x, maxout, ggx", "ggz")),
    Lowering(AveragePoolGrad, sum_grad_kernel, _accepts("x, gz", "gx")),
    Lowering(MaxPoolRop, max_direction_kernel, _accepts("x, eval_point", "y")),
)

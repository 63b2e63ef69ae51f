"""Transfers, and ops that only look at lengths and strides: kernels of the CPU's that read no numbers serve them."""

from __future__ import annotations

from theano.gpuarray.lowering.common import TARGET
from theano.gpuarray.variables import GpuToGpu
from theano.lowering.accepts import Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.device.lowering import transfer_kernel
from theano.tensor.device.ops import ToDevice
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.kernels.common import is_view
from theano.tensor.shape.lowering import dimshuffle_kernel


def _is_window(op: DimShuffle, node: object) -> bool:
    """Tell whether the result is a window on the same memory."""
    return is_view(op)


register(
    Lowering(GpuToGpu, None, target=TARGET),  # by way of the host, in Python
    Lowering(ToDevice, transfer_kernel, target=TARGET),
    Lowering(DimShuffle, dimshuffle_kernel, Accepts("x -> y"), when=_is_window, target=TARGET),
)

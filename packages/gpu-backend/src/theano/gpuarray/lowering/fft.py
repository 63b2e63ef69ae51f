"""Fourier transforms of real batches, one axis after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceTransform
from theano.gpuarray.lowering.common import functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.table import register
from theano.tensor.fft.op import IRFFTOp, RFFTOp
from theano.tensor.kernels.common import dtype_of, ndim_of

if TYPE_CHECKING:
    from theano.graph.annotations import Node

_NAMES = ("roots", "stage", "complete", "chirps", "modulate")
_MOST_AXES = 14  # what moves elements has room for 16, and real and imaginary part are one more


def _transform(node: Apply) -> Parameters | None:
    if ndim_of(node.inputs[0]) > _MOST_AXES:
        return None
    text = shipped("fft.cl", dtype_of(node.inputs[0]))
    return DeviceTransform(**dict(zip(_NAMES, functions(node, text, _NAMES), strict=True)))


@ready("th_kernel_gpu_rfft")
def rfft_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the spectra of a batch of real signals."""
    return _transform(node)


@ready("th_kernel_gpu_irfft")
def irfft_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the signals, not scaled, of a batch of spectra."""
    return _transform(node)


def _lengths(node: Node) -> tuple[int, ...]:
    """Return the input that says how long signals are, which the host reads."""
    return (1,)


register(
    on_device(RFFTOp, rfft_kernel, on_host=_lengths),
    on_device(IRFFTOp, irfft_kernel, on_host=_lengths),
)

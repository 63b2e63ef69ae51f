"""Fourier transforms of real batches: kernels built with the layer (``c/fft.c``)."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.fft.op import IRFFTOp, RFFTOp
from theano.tensor.kernels.common import nothing, ready


@ready("th_kernel_rfft", work=5.0)
def rfft_kernel(op: RFFTOp, node: Apply) -> Parameters:
    """Return the spectra of a batch of real signals."""
    return nothing


@ready("th_kernel_irfft", work=5.0)
def irfft_kernel(op: IRFFTOp, node: Apply) -> Parameters:
    """Return the signals, not scaled, of a batch of spectra."""
    return nothing


_BATCH = Accepts("a, s -> y", dtypes={"a": SINGLE_OR_DOUBLE, "s": INTEGERS}, same=("a y",))

register(
    Lowering(RFFTOp, rfft_kernel, _BATCH),
    Lowering(IRFFTOp, irfft_kernel, _BATCH),
)

"""Fourier transforms of real batches: kernels built with the layer (``c/fft.c``)."""

from __future__ import annotations

from typing import Any

from theano.codegen.kernel import Builtin
from theano.graph.apply import Apply
from theano.tensor.kernels.common import builtin, dtype_of, is_integer, same_dtype


def rfft_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the spectra of a batch of real signals."""
    return _kernel("th_kernel_rfft", node)


def irfft_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the signals, not scaled, of a batch of spectra."""
    return _kernel("th_kernel_irfft", node)


def _kernel(symbol: str, node: Apply) -> Builtin | None:
    a, s = node.inputs
    if dtype_of(a) not in ("float32", "float64") or not same_dtype(a, node.outputs[0]) or not is_integer(dtype_of(s)):
        return None
    return builtin(symbol, work=5.0)

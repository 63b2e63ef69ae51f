"""The systems that are compared, by name; each is imported only in its own process."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# name: (module below this one, class)
FRAMEWORKS = {
    "theano": ("theano_like", "OurTheano"),
    "theano-before": ("theano_like", "OurTheano"),  # another commit, in the interpreter that --peers names for it
    "numpy": ("numpy", "NumPy"),
    "numexpr": ("numexpr", "NumExpr"),
    "pytensor-c": ("theano_like", "PyTensorC"),
    "pytensor-numba": ("theano_like", "PyTensorNumba"),
    "numba": ("numba", "Numba"),
    "jax": ("jax", "Jax"),
    "torch": ("torch", "Torch"),
    "torch-channels-last": ("torch", "TorchChannelsLast"),
    "torch-compile": ("torch", "TorchCompile"),
    "bandwidth": ("bandwidth", "Bandwidth"),
    "peak": ("peak", "Peak"),
    "theano-gpu": ("theano_like", "OurTheanoOnDevice"),
    "jax-gpu": ("jax", "Jax"),
    "torch-gpu": ("torch", "Torch"),
    "torch-compile-gpu": ("torch", "TorchCompile"),
    "copy-gpu": ("device_copy", "DeviceCopy"),
}
# What to import to see whether a peer is there.
IMPORTED_AS = {"numpy": "numpy", "numexpr": "numexpr", "pytensor-c": "pytensor", "pytensor-numba": "pytensor",
               "numba": "numba", "jax": "jax", "torch": "torch",
               "torch-channels-last": "torch", "torch-compile": "torch"}  # fmt: skip


def on_device(name: str) -> bool:
    """Tell whether a framework computes on the device that ``BENCH_DEVICE`` names, and not on the processor."""
    return name.endswith("-gpu")


def start(name: str) -> Any:
    """Import a framework."""
    module, kind = FRAMEWORKS[name]
    return getattr(import_module(f"{__name__}.{module}"), kind)()

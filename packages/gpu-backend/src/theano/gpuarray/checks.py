"""What the doctor says about devices: which there are, and what compiles for them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator

from theano.gpuarray.drivers import there
from theano.gpuarray.libraries import places
from theano.toolchain.checks import Line

_NEEDED = {"cuda.bindings": "cuda", "pyopencl": "opencl"}


def doctor() -> Iterator[Line]:
    """Yield a line for the devices, and one for each package that lacks."""
    found = [f"device={spelling}: {name}" for spelling, name in there()]
    yield Line("devices", "; ".join(found) or "none: everything is computed on the CPU")
    if any(spelling.startswith("cuda") for spelling, _ in there()):
        cublas = next(places("cublas"), None)
        command = f"{sys.executable} -m pip install nvidia-cublas"
        told = f"products by {cublas}" if cublas else "products by kernels of this layer; cuBLAS is faster"
        yield Line("cublas", told, cublas is None, "" if cublas else command)
    for module, extra in _NEEDED.items():
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            command = f"{sys.executable} -m pip install 'theano-gpu-backend[{extra}]'"
            yield Line(extra, f"devices of {extra} need {module}, which is not installed", True, command)

"""What the doctor says about devices: drivers, devices, what compiles for them, libraries, and what lacks."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from theano.gpuarray.drivers import nvrtc_version, there
from theano.gpuarray.errors import GpuUnavailableError
from theano.toolchain.checks import Line

_NEEDED = {"cuda.bindings": "cuda", "pyopencl": "opencl"}

#: Libraries of NVIDIA's by the distributions that bring them.
_LIBRARIES = {
    "cuBLAS": ("nvidia-cublas", "nvidia-cublas-cu13", "nvidia-cublas-cu12"),
    "cuSOLVER": ("nvidia-cusolver", "nvidia-cusolver-cu12"),
    "cuDNN": ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12"),
}


def doctor() -> Iterator[Line]:
    """Yield lines for drivers, devices, compilers and libraries, and one for each package that lacks."""
    found = list(there())
    on_cuda = any(spelling.startswith("cuda") for spelling, _ in found)
    yield Line("drivers", f"CUDA: {_cuda_driver()}; OpenCL: {_opencl_driver()}")
    spelled = [f"device={spelling}: {name}" for spelling, name in found]
    yield Line("devices", "; ".join(spelled) or "none: everything is computed on the CPU")
    for module, extra in _NEEDED.items():
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            yield Line(extra, f"devices of {extra} need {module}, which is not installed", True, _pip(extra))
    yield from _compiler(on_cuda)
    yield from _libraries(on_cuda)


def _pip(extra: str) -> str:
    return f"{sys.executable} -m pip install 'theano-gpu-backend[{extra}]'"


def _cuda_driver() -> str:
    """Return the version of CUDA that NVIDIA's driver supports, or that the driver is missing."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no driver (libcuda.so.1)"
    number, code = ctypes.c_int(), cuda.cuInit(0)
    cuda.cuDriverGetVersion(ctypes.byref(number))
    text = f"driver for CUDA {number.value // 1000}.{number.value % 1000 // 10}"
    return text if code == 0 else f"{text}, which cannot be used (error {code})"


def _opencl_driver() -> str:
    """Return the platforms that pyopencl finds, or why it finds none."""
    if importlib.util.find_spec("pyopencl") is None:
        return "pyopencl is not installed"
    cl = importlib.import_module("pyopencl")
    try:
        names = [f"{platform.name} ({platform.version.strip()})" for platform in cl.get_platforms()]
    except cl.Error:
        names = []
    return f"pyopencl {version('pyopencl')}, " + (", ".join(names) or "no driver: pip install pocl-binary-distribution")


def _compiler(on_cuda: bool) -> Iterator[Line]:
    """Yield the version of NVRTC; that it lacks is an error where there is a device for it."""
    if importlib.util.find_spec("cuda") is None:
        return
    try:
        yield Line("nvrtc", f"{nvrtc_version()}, by cuda-bindings {_installed('cuda-bindings')}")
    except GpuUnavailableError as problem:
        yield Line("nvrtc", str(problem).partition(":")[0], not on_cuda, _pip("cuda"))


def _libraries(on_cuda: bool) -> Iterator[Line]:
    """Yield the libraries of NVIDIA's that are installed; where there is a device for them, also what lacks."""
    for library, names in _LIBRARIES.items():
        here = [f"{name} {_installed(name)}" for name in names if _installed(name)]
        if here:
            yield Line(library, ", ".join(here))
        elif on_cuda:
            yield Line(library, f"not installed: own kernels do its work; {sys.executable} -m pip install {names[0]}")


def _installed(name: str) -> str:
    """Return the version of a distribution; nothing if it is not installed.

    Examples
    --------
    >>> _installed("numpy") != "", _installed("no-such-distribution")
    (True, '')
    """
    try:
        return version(name)
    except PackageNotFoundError:
        return ""

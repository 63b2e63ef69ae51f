"""Devices: what there is, how one is started, and how text becomes functions that run on it.

Python does here what happens once: it finds a device, makes its context, has programs compiled. What happens at each
call is in ``kernels/c/``.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import glob
import importlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from theano.gpuarray.errors import DeviceCompileError, GpuUnavailableError
from theano.gpuarray.kernels.library import library

_SPELLING = re.compile(r"(?:(cuda)(\d*)|(opencl)(?:(\d+):(\d+))?)")


class Driver(Protocol):
    """One device, started.

    Attributes
    ----------
    language : str
        Of `theano.gpuarray.dialect`.
    gpu : int
        The address of its ``th_gpu``.
    name : str
        The device's, as its driver calls it.
    identity : str
        What machine code for it depends on.
    """

    language: str
    gpu: int
    name: str

    @property
    def identity(self) -> str: ...  # noqa: D102

    def compile(self, text: str) -> bytes:
        """Return the machine code of a program; DeviceCompileError if the compiler refuses it."""

    def load(self, binary: bytes, functions: Sequence[str]) -> list[int]:
        """Return the handles of a program's functions."""


def there() -> Iterator[tuple[str, str]]:
    """Yield the devices that this process could start: how flags spell each, and its own name."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
            for number in range(count.value):
                name = ctypes.create_string_buffer(256)
                cuda.cuDeviceGetName(name, len(name), number)
                yield f"cuda{number}", name.value.decode()
    except OSError:
        pass  # no driver of NVIDIA's
    try:
        cl = _pyopencl()
        for p, platform in enumerate(cl.get_platforms()):
            for d, device in enumerate(platform.get_devices()):
                yield f"opencl{p}:{d}", f"{device.name} ({platform.name} {platform.version})"
    except GpuUnavailableError:
        pass
    except cl.Error:
        pass  # pyopencl without any driver


def start(device: str) -> Driver:
    """Start a device.

    Parameters
    ----------
    device : str
        ``cuda``, ``cudaN``, ``opencl`` or ``openclP:D`` (platform and device).

    Raises
    ------
    GpuUnavailableError
        There is no such device, or something lacks; the message says what to install.

    Examples
    --------
    >>> start("tpu")
    Traceback (most recent call last):
     ...
    theano.gpuarray.errors.GpuUnavailableError: 'tpu' is no device: cuda, cudaN, opencl or openclN:M
    """
    match = _SPELLING.fullmatch(device)
    if match is None:
        raise GpuUnavailableError(f"{device!r} is no device: cuda, cudaN, opencl or openclN:M")
    if match[1]:
        return CudaDriver(int(match[2] or 0))
    return OpenCLDriver(int(match[4] or 0), int(match[5] or 0))


class OpenCLDriver:
    """A device of OpenCL, found by pyopencl.

    Parameters
    ----------
    platform, device : int
        Their numbers, as pyopencl lists them.
    """

    language = "opencl"

    def __init__(self, platform: int, device: int):
        cl = _pyopencl()
        try:
            self._device = cl.get_platforms()[platform].get_devices()[device]
        except (IndexError, cl.LogicError, cl.RuntimeError) as problem:
            raise GpuUnavailableError(
                f"there is no OpenCL device {platform}:{device} ({problem}). pyopencl.get_platforms() lists those of"
                " the drivers that are installed; pip install pocl-binary-distribution brings one that runs on the CPU"
            ) from None
        self._cl = cl
        self._context = cl.Context([self._device])
        self._queue = cl.CommandQueue(self._context)  # in order
        on_cpu = bool(self._device.type & cl.device_type.CPU)
        gpu = library().th_gpu_opencl(
            _opencl_library().encode(), self._context.int_ptr, self._queue.int_ptr,
            min(64 if on_cpu else 256, self._device.max_work_group_size), self._device.max_compute_units,
        )  # fmt: skip
        if not gpu:
            raise GpuUnavailableError(f"{_opencl_library()} is not the library of OpenCL")
        self.gpu: int = gpu
        self.name = str(self._device.name)
        self._programs: list[Any] = []

    @cached_property
    def identity(self) -> str:
        """The device and its driver."""
        d = self._device
        return f"{d.platform.name} {d.platform.version} {d.name} {d.driver_version}"

    def compile(self, text: str) -> bytes:
        """Return the machine code of a program."""
        program = self._cl.Program(self._context, text)
        try:
            # Products are not joined with sums: results are those of the CPU.
            program.build(options=["-cl-std=CL1.2"], devices=[self._device], cache_dir=False)
        except self._cl.Error as problem:
            raise DeviceCompileError(f"OpenCL's compiler for {self.name} refused a program: {problem}", text) from None
        binary: bytes = program.get_info(self._cl.program_info.BINARIES)[0]
        return binary

    def load(self, binary: bytes, functions: Sequence[str]) -> list[int]:
        """Return the handles of a program's functions."""
        program = self._cl.Program(self._context, [self._device], [binary]).build(cache_dir=False)
        kernels = [self._cl.Kernel(program, name) for name in functions]
        self._programs.append(kernels)  # handles are of use as long as somebody holds them
        return [kernel.int_ptr for kernel in kernels]


class CudaDriver:
    """A device of CUDA.

    Parameters
    ----------
    number : int
    """

    language = "cuda"

    def __init__(self, number: int):
        code = ctypes.c_int64()
        gpu = library().th_gpu_cuda(b"libcuda.so.1", number, 256, ctypes.addressof(code))
        if not gpu:
            missing = "NVIDIA's driver (libcuda.so.1) is not installed"
            said = missing if code.value < 0 else f"CUDA's driver said {code.value}"
            raise GpuUnavailableError(f"there is no CUDA device {number}: {said}")
        self.gpu: int = gpu
        text = ctypes.create_string_buffer(256)
        self.capability = int(library().th_gpu_cuda_describe(gpu, text, len(text)))
        self.name = text.value.decode()

    @cached_property
    def identity(self) -> str:
        """The architecture and the compiler."""
        return f"cuda sm_{self.capability} nvrtc {nvrtc_version()}"

    def compile(self, text: str) -> bytes:
        """Return the machine code of a program."""
        return compile_cuda(text, self.capability)

    def load(self, binary: bytes, functions: Sequence[str]) -> list[int]:
        """Return the handles of a program's functions."""
        module = library().th_gpu_cuda_module(self.gpu, binary)
        find = library().th_gpu_cuda_function
        handles = [int(find(self.gpu, module, name.encode()) or 0) for name in functions] if module else [0]
        if not all(handles):
            raise DeviceCompileError(f"{self.name} cannot load a program: {library().th_gpu_error(self.gpu).decode()}")
        return handles


def compile_cuda(text: str, capability: int) -> bytes:
    """Return the machine code (cubin) of a program in CUDA C++; no device is needed.

    Parameters
    ----------
    text : str
    capability : int
        Ten times the major number of the compute capability, and the minor one: 90 for sm_90.

    Raises
    ------
    DeviceCompileError
        NVRTC refuses the program.
    GpuUnavailableError
        NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    options = [f"--gpu-architecture=sm_{capability}".encode(), b"--fmad=false", b"--std=c++17", b"-default-device"]
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernels.cu", 0, [], [])
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(error):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        nvrtc.nvrtcDestroyProgram(program)
        raise DeviceCompileError(f"NVRTC refused a program: {log.decode(errors='replace')}", text)
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    binary = b" " * size
    nvrtc.nvrtcGetCUBIN(program, binary)
    nvrtc.nvrtcDestroyProgram(program)
    return binary


def nvrtc_version() -> str:
    """Return the version of NVRTC."""
    return ".".join(map(str, _nvrtc().nvrtcVersion()[1:]))


def _nvrtc() -> Any:
    try:
        return importlib.import_module("cuda.bindings.nvrtc")
    except ImportError as problem:
        raise GpuUnavailableError(
            f"kernels for CUDA are compiled by NVRTC, which is not here ({problem}):"
            " pip install 'theano-gpu-backend[cuda]'"
        ) from None


def _pyopencl() -> Any:
    try:
        return importlib.import_module("pyopencl")
    except ImportError as problem:
        raise GpuUnavailableError(
            f"devices of OpenCL are found by pyopencl, which is not here ({problem}):"
            " pip install 'theano-gpu-backend[opencl]'"
        ) from None


def _opencl_library() -> str:
    """Return the library that pyopencl uses: the one that its wheel brings, or the system's."""
    folder = os.path.dirname(importlib.import_module("pyopencl").__file__ or "")
    brought = sorted(glob.glob(os.path.join(folder, ".libs", "libOpenCL*")) + glob.glob(f"{folder}.libs/libOpenCL*"))
    return brought[0] if brought else ctypes.util.find_library("OpenCL") or "libOpenCL.so.1"

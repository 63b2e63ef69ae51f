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
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, Protocol

from theano.gpuarray.errors import DeviceCompileError, DeviceError, GpuUnavailableError
from theano.gpuarray.kernels.library import library
from theano.settings import config

_CUDA, _OPENCL = 2, 4  # kinds of devices, as DLPack numbers them

#: How a thread waits for CUDA (CU_CTX_SCHED_...), by the flag ``gpuarray.sched``: as the driver likes, giving its core
#: away, or not.
_SCHEDULES = {"default": 0, "multi": 4, "single": 1}

#: By platform and device.
_opencl_contexts: dict[tuple[int, int], Any] = {}

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
    total_memory, largest_allocation : int
        Bytes that it has, and how many of them may be taken at once.
    dlpack_device : (int, int)
        Its kind and its number, as DLPack has them.
    stream : int or None
        The stream on which everything happens, for other libraries of its driver.
    """

    language: str
    gpu: int
    name: str
    total_memory: int
    largest_allocation: int
    dlpack_device: tuple[int, int]

    @property
    def stream(self) -> int | None: ...

    @property
    def identity(self) -> str: ...

    def compile(self, text: str) -> bytes:
        """Return the machine code of a program; DeviceCompileError if the compiler refuses it."""

    def load(self, binary: bytes, functions: Sequence[str]) -> tuple[list[int], Callable[[], Any]]:
        """Return the handles of a program's functions, and the function that unloads them."""

    def hand_over(self, stream: int | None) -> None:
        """Let another library's stream go on after all that was asked for."""

    def taken_back(self, stream: int | None) -> None:
        """Go on after all that another library asked for on its stream."""

    def lend(self, address: int) -> tuple[int, int]:
        """Return what other libraries know an address by, and the bytes from there to it."""

    def adopt(self, data: int) -> tuple[int, int | None] | None:
        """Return the address for memory of another library, and its bytes if they are known; None: it is not ours."""

    def forget(self, address: int) -> None:
        """End the use of such memory, when all that was asked for is done."""


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
        The device or a part of its software is missing; the message says what to install.

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
                f"OpenCL device {platform}:{device} is missing ({problem}). pyopencl.get_platforms() lists those of"
                " the installed drivers; pip install pocl-binary-distribution installs a driver that runs on the CPU"
            ) from None
        self._cl = cl
        # Contexts of one device share that of OpenCL, so that buffers are copied from one to another.
        if (platform, device) not in _opencl_contexts:
            _opencl_contexts[platform, device] = cl.Context([self._device])
        self._context = _opencl_contexts[platform, device]
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
        self.total_memory = int(self._device.global_mem_size)
        self.largest_allocation = int(self._device.max_mem_alloc_size)
        self.dlpack_device, self.stream = (_OPENCL, device), None

    @cached_property
    def identity(self) -> str:
        """The device, its driver, and the options that pyopencl gives to each build."""
        d, options = self._device, os.environ.get("PYOPENCL_BUILD_OPTIONS", "")
        return f"{d.platform.name} {d.platform.version} {d.name} {d.driver_version} {options}".rstrip()

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

    def load(self, binary: bytes, functions: Sequence[str]) -> tuple[list[int], Callable[[], Any]]:
        """Return the handles of a program's functions, and the function that unloads them."""
        program = self._cl.Program(self._context, [self._device], [binary]).build(cache_dir=False)
        kernels = [self._cl.Kernel(program, name) for name in functions]
        return [kernel.int_ptr for kernel in kernels], kernels.clear

    def hand_over(self, stream: int | None) -> None:
        """Wait for all that was asked for: no other library has this queue."""
        if stream is not None and stream != -1:
            raise ValueError(f"{stream} is no stream of a device of OpenCL: None is wanted")
        library().th_gpu_wait(self.gpu)

    def taken_back(self, stream: int | None) -> None:
        """Nothing: who gives an array of OpenCL back has no queue that goes on with it."""

    def lend(self, address: int) -> tuple[int, int]:
        """Return the handle of the buffer in which an address is, and the offset there."""
        offset = ctypes.c_int64()
        handle = library().th_gpu_opencl_lend(self.gpu, address, ctypes.addressof(offset))
        return int(handle or 0), offset.value

    def adopt(self, data: int) -> tuple[int, int | None] | None:
        """Return the address of a buffer and its bytes; None: it is of another context."""
        size = ctypes.c_int64()
        address = library().th_gpu_opencl_adopt(self.gpu, data, ctypes.addressof(size))
        return (int(address), size.value) if address else None

    def forget(self, address: int) -> None:
        """End the use of a buffer, when all that was asked for is done."""
        library().th_gpu_wait(self.gpu)
        if address:
            library().th_gpu_opencl_forget(self.gpu, address)


class CudaDriver:
    """A device of CUDA.

    Parameters
    ----------
    number : int
    path : str, optional
        Of the driver's library.
    """

    language = "cuda"

    def __init__(self, number: int, path: str = "libcuda.so.1"):
        code = ctypes.c_int64()
        schedule = _SCHEDULES[config.gpuarray.sched]
        gpu = library().th_gpu_cuda(path.encode(), number, 256, schedule, ctypes.addressof(code))
        if not gpu:
            missing = "NVIDIA's driver (libcuda.so.1) is not installed"
            said = missing if code.value < 0 else f"CUDA's driver said {code.value}"
            raise GpuUnavailableError(f"CUDA device {number} is missing: {said}")
        self.gpu: int = gpu
        text = ctypes.create_string_buffer(256)
        self.capability = int(library().th_gpu_cuda_describe(gpu, text, len(text)))
        self.name = text.value.decode()
        self.total_memory = self.largest_allocation = int(library().th_gpu_cuda_memory(gpu))
        self.dlpack_device = (_CUDA, number)

    @property
    def stream(self) -> int:
        """The stream on which everything happens, of which all that was put off is asked for now."""
        return int(library().th_gpu_cuda_stream(self.gpu))

    @cached_property
    def identity(self) -> str:
        """The architecture and the compiler."""
        return f"cuda sm_{self.capability} nvrtc {nvrtc_version()}"

    def compile(self, text: str) -> bytes:
        """Return the machine code of a program."""
        return compile_cuda(text, self.capability)

    def load(self, binary: bytes, functions: Sequence[str]) -> tuple[list[int], Callable[[], Any]]:
        """Return the handles of a program's functions, and the function that unloads them."""
        module = library().th_gpu_cuda_module(self.gpu, binary)
        find = library().th_gpu_cuda_function
        handles = [int(find(self.gpu, module, name.encode()) or 0) for name in functions] if module else [0]
        if not all(handles):
            raise DeviceCompileError(f"{self.name} cannot load a program: {library().th_gpu_error(self.gpu).decode()}")
        return handles, lambda: library().th_gpu_cuda_unload(self.gpu, module)

    def hand_over(self, stream: int | None) -> None:
        """Let another library's stream go on after all that was asked for; None is the stream that waits for all."""
        if stream == 0:
            raise ValueError("stream 0 of CUDA could be either of two: 1 is the default stream, 2 that of each thread")
        if stream == -1:  # it waits by itself
            self._checked(library().th_gpu_submit(self.gpu))
        else:
            self._checked(library().th_gpu_cuda_follow(self.gpu, 1 if stream is None else stream, 0))

    def taken_back(self, stream: int | None) -> None:
        """Go on after all that another library asked for. Its own streams may be gone by now: the host waits then."""
        known = {None: 1, 1: 1, 2: 2}.get(stream)
        library().th_gpu_cuda_follow(self.gpu, known, 1)

    def follow(self, stream: int) -> None:
        """Go on after all that was asked for on another library's stream."""
        self._checked(library().th_gpu_cuda_follow(self.gpu, stream, 1))

    def _checked(self, status: int) -> None:
        if status:
            raise DeviceError(f"{self.name}: {library().th_gpu_error(self.gpu).decode()}")

    def lend(self, address: int) -> tuple[int, int]:
        """Return an address as it is."""
        return address, 0

    def adopt(self, data: int) -> tuple[int, int | None] | None:
        """Return an address as it is; BufferError: it is on another device."""
        place = library().th_gpu_cuda_place(self.gpu, data)
        if place != self.dlpack_device[1]:
            where = f"device {place}" if place >= 0 else "the host, or nowhere"
            raise BufferError(f"the memory at {data:#x} is not on {self.name}, but on {where}")
        return data, None

    def forget(self, address: int) -> None:
        """Wait until all that was asked for is done."""
        library().th_gpu_wait(self.gpu)


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
    nvrtc, program = _compiled(text, f"sm_{capability}")
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    binary = b" " * size
    nvrtc.nvrtcGetCUBIN(program, binary)
    nvrtc.nvrtcDestroyProgram(program)
    return binary


def ptx_cuda(text: str, capability: int, *options: str) -> str:
    """Return a program in CUDA C++ as PTX, which people can read; as `compile_cuda`, with more options of NVRTC's."""
    nvrtc, program = _compiled(text, f"compute_{capability}", *options)
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = b" " * size
    nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(program)
    return ptx.decode().rstrip("\0")


def _compiled(text: str, architecture: str, *more: str) -> tuple[Any, Any]:
    """Return NVRTC and a program that it has compiled."""
    nvrtc = _nvrtc()
    options = [f"--gpu-architecture={architecture}".encode(), b"--fmad=false", b"--std=c++17", b"-default-device"]
    options += [each.encode() for each in more]
    error, program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernels.cu", 0, [], [])
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(error):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        nvrtc.nvrtcDestroyProgram(program)
        raise DeviceCompileError(f"NVRTC refused a program: {log.decode(errors='replace')}", text)
    return nvrtc, program


def nvrtc_version() -> str:
    """Return the version of NVRTC.

    Raises
    ------
    GpuUnavailableError
        NVRTC is not installed.
    """
    return ".".join(map(str, _nvrtc().nvrtcVersion()[1:]))


@cache
def _nvrtc() -> Any:
    try:
        nvrtc = importlib.import_module("cuda.bindings.nvrtc")
        nvrtc.nvrtcVersion()  # which opens the library
        return nvrtc
    except (ImportError, RuntimeError) as problem:
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

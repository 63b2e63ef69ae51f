"""A device of CUDA whose memory is the host's, and whose kernels run there: `fake_cuda.c`, and the dialect as C++.

With it tests see what the layer's code for CUDA computes, and not only what it asks for. Libraries of NVIDIA's have fakes
that compute, too, so that their results are held to NumPy's.
"""

from __future__ import annotations

import _ctypes
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from theano import gpuarray
from theano.gpuarray.dialect import half_by_bits, text_of
from theano.gpuarray.drivers import CudaDriver
from theano.gpuarray.kernels.library import library

HERE = Path(__file__).parent
_HEADER = (HERE / "host_kernels.h").read_text("ascii")
_KERNEL = re.compile(r'extern "C" void (\w+)\(([^)]*)\)')


def compiler(variable: str, otherwise: str) -> str:
    """Return the compiler of a language, without a cache before it."""
    return (os.environ.get(variable, "").split()[-1:] or [shutil.which(otherwise) or otherwise])[0]


def build_fake(folder: Path, source: str, *options: str) -> Path:
    """Compile a library that stands for the driver, and perhaps for others of NVIDIA's beside it."""
    path = folder / "libfake.so"
    subprocess.run([compiler("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", path, HERE / source, *options], check=True)
    return path


class HostDriver(CudaDriver):
    """The driver of fake_cuda.c, with programs for the CPU."""

    @property
    def identity(self) -> str:
        """The text of the words that kernels are written with."""
        return "host " + hashlib.sha256(_HEADER.encode()).hexdigest()

    def compile(self, text: str) -> bytes:
        """Return a library of a program's functions, each beside a description of it."""
        text = _HEADER + half_by_bits() + text.removeprefix(text_of("cuda.h"))
        # A struct is passed by its address, so that all that a function takes are addresses.
        text = re.sub(r"ARGUMENTS (\w+) (\w+)", r"const \1 &\2", text)
        command = [compiler("CXX", "c++"), "-std=c++17", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-xc++", "-"]
        plain = subprocess.run([*command, "-E", "-P"], input=text, capture_output=True, text=True, check=True).stdout
        for name, takes in _KERNEL.findall(plain):
            *pointers, struct = takes.split(",")
            kind = struct.split()[-2].strip("&")
            text += (f'\nextern "C" host_function host_{name} = {{host::run, (void *){name}, {len(pointers)}, '
                     f"sizeof({kind})}};\n")  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.so"
            subprocess.run([*command, "-O1", "-shared", "-fPIC", "-o", path], input=text, text=True, check=True)
            return path.read_bytes()

    def load(self, binary: bytes, functions: Sequence[str]) -> tuple[list[int], Callable[[], Any]]:
        """Return the addresses of the descriptions of a program's functions, and what unloads it."""
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(binary)
            file.flush()
            program = ctypes.CDLL(file.name)
        handles = [ctypes.addressof(ctypes.c_char.in_dll(program, f"host_{name}")) for name in functions]
        return handles, lambda: _ctypes.dlclose(program._handle)  # a launch of what is gone would be seen


def there(x: Any, context: str) -> gpuarray.GpuArray:
    """Return an array on a device with the strides of one of NumPy's, whose memory is contiguous in one of both orders."""
    base = x
    while base.base is not None:
        base = base.base
    memory = gpuarray.asarray(np.ascontiguousarray(base if base.flags.c_contiguous else base.T), context)
    return memory.window(x.__array_interface__["data"][0] - base.__array_interface__["data"][0], x.shape, x.strides)


def set_capture(context, on: bool) -> None:
    """Let launches be recorded, or not."""
    library().th_gpu_set_capture(context.driver.gpu, int(on))

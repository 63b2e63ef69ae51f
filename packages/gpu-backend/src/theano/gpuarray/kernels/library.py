"""The library of the host's halves, as Python uses it: its functions with their types."""

from __future__ import annotations

import ctypes
import os
from functools import cache, partial
from typing import Any

from theano.tensor.kernels.common import library_paths
from theano.tensor.kernels.common import ready as _ready

PACKAGE = os.path.dirname(os.path.abspath(__file__))
"""The folder of the library."""

COUNTS = (
    "live", "waiting", "peak", "to", "from", "launches", "allocations", "between", "taken", "refused",
    "recorded", "replayed",
)  # fmt: skip
"""What a device counts: bytes in use, waiting to be used again, and the most ever in use; transfers there and back;
launches of kernels; allocations, fresh or again; direct copies from another device; bytes that the driver gave, and how
often it had none to give; lists of launches that were recorded, and how often such a recording was used."""

FAULTS = ("allocate", "launch", "copy", "wait")
"""What tests can make fail."""

ready = partial(_ready, package=PACKAGE)
"""`theano.tensor.kernels.common.ready`, for kernels of this layer's library."""

_POINTER, _NUMBER, _TEXT = ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p
_FUNCTIONS = {
    "th_gpu_opencl": (_POINTER, _TEXT, _POINTER, _POINTER, _NUMBER, _NUMBER),
    "th_gpu_cuda": (_POINTER, _TEXT, _NUMBER, _NUMBER, _NUMBER, _POINTER),
    "th_gpu_cuda_describe": (_NUMBER, _POINTER, _POINTER, _NUMBER),
    "th_gpu_cuda_module": (_POINTER, _POINTER, _TEXT),
    "th_gpu_cuda_unload": (None, _POINTER, _POINTER),
    "th_gpu_cuda_function": (_POINTER, _POINTER, _POINTER, _TEXT),
    "th_gpu_kernel_new": (_POINTER, _POINTER, _POINTER),
    "th_gpu_kernel_free": (None, _POINTER),
    "th_gpu_forget_recordings": (None, _POINTER),
    "th_gpu_call_kernel": (ctypes.c_int, _POINTER, _POINTER, _NUMBER, _NUMBER, _POINTER, _POINTER),
    "th_gpu_use_cublas": (ctypes.c_int, _POINTER, _POINTER, _NUMBER, ctypes.c_int),
    "th_gpu_use_cusolver": (ctypes.c_int, _POINTER, _POINTER),
    "th_gpu_use_cudnn": (ctypes.c_int, _POINTER, _POINTER, _NUMBER, ctypes.c_int),
    "th_gpu_submit": (ctypes.c_int, _POINTER),
    "th_gpu_set_capture": (None, _POINTER, ctypes.c_int),
    "th_gpu_gemm_of": (ctypes.c_int, _POINTER, _POINTER, _POINTER, _POINTER, _NUMBER, _POINTER),
    "th_gpu_read_counts": (None, _POINTER, _POINTER),
    "th_gpu_wait": (ctypes.c_int, _POINTER),
    "th_gpu_trim": (None, _POINTER),
    "th_gpu_set_limit": (None, _POINTER, _NUMBER),
    "th_gpu_set_fault": (None, _POINTER, _NUMBER, _NUMBER),
    "th_gpu_preallocate": (ctypes.c_int, _POINTER, _NUMBER),
    "th_gpu_opencl_lend": (_POINTER, _POINTER, _POINTER, _POINTER),
    "th_gpu_opencl_adopt": (_POINTER, _POINTER, _POINTER, _POINTER),
    "th_gpu_opencl_forget": (None, _POINTER, _POINTER),
    "th_gpu_cuda_memory": (_NUMBER, _POINTER),
    "th_gpu_cuda_place": (_NUMBER, _POINTER, _POINTER),
    "th_gpu_cuda_stream": (_POINTER, _POINTER),
    "th_gpu_cuda_follow": (ctypes.c_int, _POINTER, _POINTER, _NUMBER),
    "th_gpu_set_mover": (None, _POINTER, _NUMBER, _POINTER),
    "th_gpu_error": (_TEXT, _POINTER),
}


@cache
def path() -> str:
    """Return the path of the library.

    Raises
    ------
    ImportError
        It was not built.
    """
    found = library_paths(PACKAGE)
    if not found:
        raise ImportError("the compiled part of theano.gpuarray is missing: pip install theano-gpu-backend builds it")
    return found["baseline"]


@cache
def library() -> Any:
    """Return the library."""
    loaded = ctypes.CDLL(path())
    for name, (returns, *takes) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = returns, takes
    return loaded

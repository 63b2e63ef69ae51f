"""NVIDIA's libraries, found where their wheels or the system have them.

A wheel (``pip install nvidia-cublas``) puts a library below the package ``nvidia``; what has no wheel is looked for as
the system does. What is found is opened here; the C half is handed the functions.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import glob
import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from theano.gpuarray.kernels.library import library
from theano.messages import logger
from theano.settings import config

#: By the name of a library, what it needs of its own folder, opened first.
_NEEDED = {"cublas": ("cublasLt",), "cusolver": ("nvJitLink", "cublasLt", "cublas", "cusparse")}

#: Bytes that cuBLAS is given to work with: what NVIDIA says that large products want, or a small part of what there is.
_WORKSPACE, _PART = 32 << 20, 1024

#: The part of a device's memory that one convolution by cuDNN may work in.
_CONVOLUTION_PART = 8


def places(name: str) -> Iterator[str]:
    """Yield the files that a library of NVIDIA's may be: those of wheels, the newest first, then the system's.

    Examples
    --------
    >>> list(places("no_such_library"))
    []
    """
    try:
        spec = importlib.util.find_spec("nvidia")
    except ValueError:  # a module of that name that was made by hand
        spec = None
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    for folder in folders:
        yield from sorted(glob.glob(os.path.join(folder, "*", "lib", f"lib{name}.so.*")), reverse=True)
    system = ctypes.util.find_library(name)
    if system is not None:
        yield system


@cache
def find(name: str) -> Any:
    """Return a library of NVIDIA's, opened, or None if it is missing.

    Parameters
    ----------
    name : str
        Such as ``cublas``.

    Examples
    --------
    >>> find("no_such_library") is None
    True
    """
    for path in places(name):
        try:
            for other in _NEEDED.get(name, ()):
                for beside in glob.glob(os.path.join(os.path.dirname(path), f"lib{other}.so.*")):
                    ctypes.CDLL(beside, mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(path)
        except OSError as problem:
            logger.info("theano: %s cannot be opened: %s", path, problem)
    return None


def _is_used(status: int, name: str, work: str) -> bool:
    """Return whether a library has said yes, and tell what goes on without it where it has not."""
    if status:
        logger.warning("theano: %s cannot be used (%d); kernels of this layer %s", name, status, work)
    return status == 0


def use_cublas(gpu: int, cublas: Any = None) -> bool:
    """Let a device of CUDA multiply by cuBLAS, and return whether it does.

    Parameters
    ----------
    gpu : int
        The address of its ``th_gpu``.
    cublas : CDLL, optional
        The library; it is looked for unless the flag ``gpuarray.blas`` says that it is not wanted.
    """
    if cublas is None:
        cublas = find("cublas") if config.gpuarray.blas == "auto" else None
    if cublas is None:
        return False
    workspace = min(_WORKSPACE, library().th_gpu_cuda_memory(gpu) // _PART)
    status = library().th_gpu_use_cublas(gpu, cublas._handle, workspace, int(config.gpuarray.tf32))
    return _is_used(status, "cuBLAS", "multiply")


def use_cusolver(gpu: int, cusolver: Any = None) -> bool:
    """Let a device of CUDA factorise matrices by cuSOLVER, and return whether it does.

    Parameters
    ----------
    gpu : int
        The address of its ``th_gpu``.
    cusolver : CDLL, optional
        The library; it is looked for unless the flag ``gpuarray.blas`` says that it is not wanted.
    """
    if cusolver is None:
        cusolver = find("cusolver") if config.gpuarray.blas == "auto" else None
    if cusolver is None:
        return False
    status = library().th_gpu_use_cusolver(gpu, cusolver._handle)
    return _is_used(status, "cuSOLVER", "factorise matrices")


def use_cudnn(gpu: int, cudnn: Any = None) -> bool:
    """Let a device of CUDA convolve and pool by cuDNN, and return whether it does.

    Parameters
    ----------
    gpu : int
        The address of its ``th_gpu``.
    cudnn : CDLL, optional
        The library; it is looked for unless the flag ``dnn.enabled`` says that it is not wanted.
    """
    if cudnn is None:
        cudnn = find("cudnn") if config.dnn.enabled != "False" else None
    if cudnn is None:
        return False
    most = library().th_gpu_cuda_memory(gpu) // _CONVOLUTION_PART
    status = library().th_gpu_use_cudnn(gpu, cudnn._handle, most, int(config.gpuarray.tf32))
    return _is_used(status, "cuDNN", "convolve and pool")

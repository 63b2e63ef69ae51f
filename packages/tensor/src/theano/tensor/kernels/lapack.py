"""Factorisations and solutions: which kernel of the library, and which routines of LAPACK it is handed.

Cholesky's factor, elimination, triangles and reflections of real numbers are our own (``c/factor.h``) wherever our own
product of matrices is the better one; the rest is LAPACK's.

LAPACK comes from where BLAS comes from (see :mod:`theano.tensor.kernels.blas_library`): the library that NumPy has
loaded has both, and SciPy hands out both.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from functools import cache
from typing import Any

from theano.codegen.kernel import Builtin, Pointer, register_pointers
from theano.graph.apply import Apply
from theano.tensor.kernels.blas_choice import ALWAYS, choose_gemm, thread_limit
from theano.tensor.kernels.blas_library import find_blas
from theano.tensor.kernels.common import builtin, dtypes_of, ndim_of

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


@cache
def lapack_address(routine: str, dtype: str) -> int:
    """Return the address of a routine of LAPACK, or 0 where there is none.

    Parameters
    ----------
    routine : str
        Its name without the letter that stands for the type: "potrf".
    dtype : "float32", "float64", "complex64" or "complex128"

    Examples
    --------
    >>> lapack_address("no_such_routine", "float64")
    0
    """
    blas = find_blas()
    name = _LETTERS.get(dtype, "?") + routine
    if not blas.addresses or dtype not in _LETTERS:
        return 0
    if blas.source.startswith("scipy"):
        return _from_scipy(name)
    prefix, suffix = blas.example.split("dgemm")
    try:
        library = ctypes.CDLL(blas.path, mode=getattr(os, "RTLD_NOLOAD", 0) | getattr(os, "RTLD_LOCAL", 0))
    except OSError:
        return 0
    symbol = getattr(library, f"{prefix}{name}{suffix}", None)
    return 0 if symbol is None else ctypes.cast(symbol, ctypes.c_void_p).value or 0


def _from_scipy(name: str) -> int:
    try:
        module: Any = importlib.import_module("scipy.linalg.cython_lapack")
    except ImportError:
        return 0
    capsule = module.__pyx_capi__.get(name)
    if capsule is None:
        return 0
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get_pointer(capsule, get_name(capsule)) or 0


def _find_pointer(name: str) -> int:
    routine, _, dtype = name.partition(":")
    return lapack_address(routine, dtype)


register_pointers("lapack", _find_pointer, lambda: find_blas().identity)


def _kernel(symbol: str, node: Apply, routines: tuple[str, ...], *choices: int, own: bool = True) -> Builtin | None:
    """Return a kernel of lapack.c with its choices and the addresses of what it calls, or None without them.

    ``own`` says that the kernel does without them too: then it is there for real numbers in any case.
    """
    dtypes = dtypes_of([v for v in [*node.inputs, *node.outputs] if ndim_of(v)])
    if dtypes is None or dtypes[0] not in _LETTERS:
        return None
    addresses = [lapack_address(routine, dtypes[0]) for routine in routines]
    library = find_blas()
    up_to = choose_gemm(library).up_to
    if not all(addresses):
        if not own or dtypes[0].startswith("complex"):
            return None
        up_to = ALWAYS
    named = [Pointer(a, f"lapack:{r}:{dtypes[0]}") if a else 0 for a, r in zip(addresses, routines, strict=True)]
    return builtin(symbol, int(library.integers == 64), up_to, thread_limit(), *choices, *named, work=50.0)


def cholesky_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the Cholesky factor of a matrix; ``lower`` and ``on_error`` of the op are read."""
    return _kernel("th_kernel_cholesky", node, ("potrf",), int(op.lower), int(op.on_error == "nan"))


def inverse_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the inverse of a matrix."""
    return _kernel("th_kernel_inverse", node, ("getrf", "getri"))


def det_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the determinant of a matrix."""
    return _kernel("th_kernel_det", node, ("getrf",))


def solve_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the solution of linear equations; ``A_structure`` and ``lower`` of the op are read."""
    if op.triangle:
        return _kernel("th_kernel_solve_triangular", node, ("trtrs",), int(op.triangle == "lower"))
    symmetric = 0 if op.A_structure != "symmetric" else 1 if op.lower else 2
    return _kernel("th_kernel_solve", node, ("getrf", "getrs"), symmetric)

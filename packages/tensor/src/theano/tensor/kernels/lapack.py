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
from theano.tensor.kernels.common import DTYPE_CODES, builtin, dtype_of, dtypes_of, ndim_of, same_dtype

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


_QR_MODES = ("reduced", "complete", "r", "raw")


def qr_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the factors Q and R of a matrix; ``mode`` of the op is read."""
    generate = "ungqr" if dtype_of(node.inputs[0]).startswith("complex") else "orgqr"
    return _kernel("th_kernel_qr", node, ("geqrf", generate), _QR_MODES.index(op.mode))


def _symmetric(routine: str, node: Apply) -> str:
    """Return the name of a routine for symmetric matrices, or of that for Hermitian ones."""
    return ("he" if dtype_of(node.inputs[0]).startswith("complex") else "sy") + routine


def eigh_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the eigenvalues and eigenvectors of a symmetric matrix; ``UPLO`` of the op is read."""
    routines = (_symmetric("evd", node),)
    if not dtype_of(node.inputs[0]).startswith("complex"):
        routines += ("sytrd", "stedc")
    return _kernel("th_kernel_eigh", node, routines, int(op.UPLO == "L"), own=False)


def eigvalsh_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the eigenvalues of a symmetric matrix, with respect to another one or not; ``lower`` of the op is read."""
    second = ndim_of(node.inputs[1]) == 2
    routine = _symmetric("gvd" if second else "evd", node)
    return _kernel("th_kernel_eigvalsh", node, (routine,), int(op.lower), int(second), own=False)


def eig_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the eigenvalues and right eigenvectors of a matrix."""
    return _kernel("th_kernel_eig", node, ("geev",), own=False)


def svd_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return singular values, and vectors beside them; ``full_matrices`` and ``compute_uv`` of the op are read."""
    routines = ("gesdd",) if dtype_of(node.inputs[0]).startswith("complex") else ("gesdd", "gebrd", "bdsdc")
    return _kernel("th_kernel_svd", node, routines, int(op.full_matrices), int(op.compute_uv), own=False)


def pinv_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the pseudo-inverse of a matrix."""
    return _kernel("th_kernel_pinv", node, ("gesdd",), own=False)


def lstsq_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the solution of least squares and what is known of it."""
    if dtype_of(node.inputs[2]) not in DTYPE_CODES or dtype_of(node.outputs[1]).startswith("complex"):
        return None
    return _kernel("th_kernel_lstsq", node, ("gelsd",), own=False)


def expm_kernel(op: Any, node: Apply) -> Builtin | None:
    """Return the exponential of a matrix, by our own products and elimination."""
    if dtype_of(node.inputs[0]) not in _LETTERS or not same_dtype(node.inputs[0], node.outputs[0]):
        return None
    return builtin("th_kernel_expm", thread_limit(), work=200.0)

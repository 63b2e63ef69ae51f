"""Factorisations and solutions: which kernel of the library, and which routines of LAPACK it is handed.

Cholesky's factor, elimination, triangles and reflections of real numbers are our own (``c/factor.h``) wherever our own
product of matrices is the better one; the rest is LAPACK's.

LAPACK comes from where BLAS comes from (see :mod:`theano.tensor.blas.library`): the library that NumPy has
loaded has both, and SciPy hands out both.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters, Pointer
from theano.lowering.accepts import ANYTHING, BLAS, INTEGERS, REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.blas.choice import ALWAYS, choose_gemm, factored_by_us, thread_limit
from theano.tensor.blas.library import find_blas, is_elsewhere
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import Ready, dtype_of, ndim_of, ready
from theano.tensor.kernels.parameters import LapackParams, QrMode, Symmetry
from theano.tensor.linalg.determinant import Det, SLogDet
from theano.tensor.linalg.elimination import LUFactor
from theano.tensor.linalg.equations import MatrixInverse, MatrixPinv, Solve, lstsq
from theano.tensor.linalg.factor import SVD, Cholesky, Eig, Eigh, Eigvalsh, QRFull, QRIncomplete
from theano.tensor.linalg.functions import Expm

if TYPE_CHECKING:
    from theano.tensor.linalg.common import MatrixOp

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def lapack_address(routine: str, dtype: str) -> int:
    """Return the address of a routine of LAPACK, or 0 if it is missing.

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
    if is_elsewhere():
        return 1 if find_blas().addresses and dtype in _LETTERS else 0
    return _address(routine, dtype)


@cache
def _address(routine: str, dtype: str) -> int:
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


def find_pointer(name: str) -> int:
    """Return the address of ``routine:dtype``."""
    routine, _, dtype = name.partition(":")
    return lapack_address(routine, dtype)


Ask = Callable[[Any, Apply], tuple[Mapping[str, str], Mapping[str, Any]]]


def _ready(symbol: str, told: type[LapackParams], own: bool = True) -> Callable[[Ask], Ready]:
    """Make a function into what nodes become: it says which routines stand in which fields, and the other fields.

    ``own`` says that the kernel does without the routines too: then it is there for real numbers in any case.
    """

    def make(ask: Ask) -> Ready:
        def params(op: MatrixOp, node: Apply) -> LapackParams | None:
            routines, choices = ask(op, node)
            dtype = dtype_of(node.inputs[0])
            found = {name: lapack_address(routine, dtype) if routine else 0 for name, routine in routines.items()}
            library = find_blas()
            # Eigenvalues and singular values are found by the library's routines; only products around them are ours.
            up_to = factored_by_us(library) if own else choose_gemm(library).up_to
            if not all(found[name] for name, routine in routines.items() if routine):
                if not own or dtype.startswith("complex"):
                    return None
                up_to = ALWAYS
            named = {name: Pointer(a, f"lapack:{routines[name]}:{dtype}") if a else 0 for name, a in found.items()}
            wide = library.integers == 64
            return told(wide=wide, own=up_to, threads=thread_limit(), **choices, **named)

        params.__doc__ = ask.__doc__
        return Ready(symbol, params, work=50.0)

    return make


def _same(*routines: str) -> dict[str, str]:
    """Return the fields that are called as their routines."""
    return {routine: routine for routine in routines}


@_ready("th_kernel_cholesky", parameters.CholeskyParams)
def cholesky_kernel(op: Cholesky, node: Apply) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Return the Cholesky factor of a matrix; ``lower`` and ``on_error`` of the op are read."""
    return _same("potrf"), {"lower": bool(op.lower), "nan_on_error": op.on_error == "nan"}


@_ready("th_kernel_inverse", parameters.InverseParams)
def inverse_kernel(op: MatrixInverse, node: Apply) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Return the inverse of a matrix."""
    return _same("getrf", "getri"), {}


@_ready("th_kernel_det", parameters.EliminationParams)
def det_kernel(op: MatrixOp, node: Apply) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Return the determinant of a matrix, or its sign and the logarithm of its absolute value."""
    return _same("getrf"), {}


@_ready("th_kernel_lu", parameters.EliminationParams)
def lu_kernel(op: LUFactor, node: Apply) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Return the factors of elimination in one matrix, the exchanges of rows, and the order of rows after these."""
    return _same("getrf"), {}


@_ready("th_kernel_solve_triangular", parameters.SolveTriangularParams)
def solve_triangular_kernel(op: Solve, node: Apply) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Return the solution of equations of a triangular matrix; ``triangle`` and ``on_error`` of the op are read."""
    return _same("trtrs"), {"lower": op.triangle == "lower", "nan_on_error": op.on_error == "nan"}


@_ready("th_kernel_solve", parameters.SolveParams)
def solve_kernel(op: Solve, node: Apply) -> tuple[Mapping[str, str], Mapping[str, Symmetry | bool]]:
    """Return the solution of linear equations; ``A_structure``, ``lower`` and ``on_error`` of the op are read."""
    triangle = Symmetry.LOWER if op.lower else Symmetry.UPPER
    symmetric = triangle if op.A_structure == "symmetric" else Symmetry.NONE
    return _same("getrf", "getrs"), {"symmetric": symmetric, "nan_on_error": op.on_error == "nan"}


@_ready("th_kernel_qr", parameters.QRParams)
def qr_kernel(op: QRFull | QRIncomplete, node: Apply) -> tuple[Mapping[str, str], Mapping[str, QrMode]]:
    """Return the factors Q and R of a matrix; ``mode`` of the op is read."""
    generate = "ungqr" if _is_complex(node) else "orgqr"
    return {"geqrf": "geqrf", "generate": generate}, {"mode": QrMode[op.mode.upper()]}


def _is_complex(node: Apply) -> bool:
    return dtype_of(node.inputs[0]).startswith("complex")


def _symmetric(routine: str, node: Apply) -> str:
    """Return the name of a routine for symmetric matrices, or of that for Hermitian ones."""
    return ("he" if _is_complex(node) else "sy") + routine


@_ready("th_kernel_eigh", parameters.EighParams, own=False)
def eigh_kernel(op: Eigh, node: Apply) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix; ``UPLO`` of the op is read."""
    parts = {"sytrd": "", "stedc": ""} if _is_complex(node) else _same("sytrd", "stedc")
    return {"evd": _symmetric("evd", node), **parts}, {"lower": op.UPLO == "L"}


@_ready("th_kernel_eigvalsh", parameters.EigvalshParams, own=False)
def eigvalsh_kernel(op: Eigvalsh, node: Apply) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Return the eigenvalues of a symmetric matrix, with respect to another one or not; ``lower`` of the op is read."""
    second = ndim_of(node.inputs[1]) == 2
    return {"evd": _symmetric("gvd" if second else "evd", node)}, {"lower": bool(op.lower), "second": second}


@_ready("th_kernel_eig", parameters.EigParams, own=False)
def eig_kernel(op: Eig, node: Apply) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Return the eigenvalues and right eigenvectors of a matrix."""
    return _same("geev"), {}


@_ready("th_kernel_svd", parameters.SvdParams, own=False)
def svd_kernel(op: SVD, node: Apply) -> tuple[Mapping[str, str], Mapping[str, bool]]:
    """Return singular values, and vectors beside them; ``full_matrices`` and ``compute_uv`` of the op are read."""
    parts = {"gebrd": "", "bdsdc": ""} if _is_complex(node) else _same("gebrd", "bdsdc")
    return {"gesdd": "gesdd", **parts}, {"full": bool(op.full_matrices), "vectors": bool(op.compute_uv)}


@_ready("th_kernel_pinv", parameters.PinvParams, own=False)
def pinv_kernel(op: MatrixPinv, node: Apply) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Return the pseudo-inverse of a matrix."""
    return _same("gesdd"), {}


@_ready("th_kernel_lstsq", parameters.LstsqParams, own=False)
def lstsq_kernel(op: lstsq, node: Apply) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    """Return the least-squares solution, the residuals, the rank and the singular values."""
    return _same("gelsd"), {}


@ready("th_kernel_expm", work=200.0)
def expm_kernel(op: Expm, node: Apply) -> Parameters:
    """Return the exponential of a matrix, by our own products and elimination."""
    return parameters.ExpmParams(threads=thread_limit())


def _is_triangular(op: Solve, node: Apply) -> bool:
    """Tell whether the op declares the matrix triangular."""
    return bool(op.triangle)


_MATRIX = Accepts("a -> y", dtypes={"a": BLAS}, same=("a y",))
_FACTORS = Accepts("a -> first, *more", dtypes={"a": BLAS})
_EQUATIONS = Accepts("a, b -> x", dtypes={"a": BLAS}, same=("a b x",))

register(
    Lowering(Cholesky, cholesky_kernel, _MATRIX),
    Lowering(MatrixInverse, inverse_kernel, _MATRIX),
    Lowering(MatrixPinv, pinv_kernel, _MATRIX),
    Lowering(Det, det_kernel, _MATRIX),
    Lowering(SLogDet, det_kernel, Accepts("a -> sign, logarithm", dtypes={"a": BLAS, "logarithm": REAL})),
    Lowering(LUFactor, lu_kernel, Accepts("a -> lu, *rows", dtypes={"a": BLAS, "rows": INTEGERS}, same=("a lu",))),
    Lowering(Solve, solve_triangular_kernel, _EQUATIONS, when=_is_triangular),
    Lowering(Solve, solve_kernel, _EQUATIONS),
    Lowering(QRFull, qr_kernel, _FACTORS),
    Lowering(QRIncomplete, qr_kernel, _FACTORS),
    Lowering(SVD, svd_kernel, _FACTORS),
    Lowering(Eig, eig_kernel, _FACTORS),
    Lowering(Eigh, eigh_kernel, _FACTORS),
    # A missing second matrix is None.
    Lowering(Eigvalsh, eigvalsh_kernel, Accepts(
        "a, none -> w", dtypes={"a": BLAS, "none": ANYTHING}, ndim={"none": 0},
    )),
    Lowering(Eigvalsh, eigvalsh_kernel, Accepts("a, b -> w", dtypes={"a": BLAS}, ndim={"b": 2}, same=("a b",))),
    Lowering(lstsq, lstsq_kernel, Accepts(
        "a, b, rcond -> x, residuals, *more", dtypes={"a": BLAS, "residuals": REAL}, same=("a b x",),
    )),
    Lowering(Expm, expm_kernel, _MATRIX),
)  # fmt: skip

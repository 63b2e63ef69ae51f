"""Linear algebra: factors, equations, singular values and eigenvalues, of blocks and products."""

from __future__ import annotations

from typing import Any

from theano.gpuarray.dialect import text_of
from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceMatrices
from theano.gpuarray.lowering.blas import product_functions
from theano.gpuarray.lowering.common import functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Dtypes
from theano.lowering.table import register
from theano.tensor.kernels.common import dtype_of, ndim_of
from theano.tensor.linalg.determinant import Det
from theano.tensor.linalg.equations import MatrixInverse, MatrixPinv, Solve, lstsq
from theano.tensor.linalg.factor import SVD, Cholesky, Eigh, Eigvalsh, QRFull, QRIncomplete
from theano.tensor.linalg.functions import Expm

_NAMES = (
    "take", "identity", "largest", "add", "from_single", "to_single", "absolute_sums",
    "cholesky_block", "triangle_block", "eliminate_panel", "exchange", "diagonal_product",
    "reflect_panel", "reflect", "rotate_columns", "column_norms", "scale_columns", "take_signs",
    "angles", "rotate_both_sides",
)  # fmt: skip
_FLAGS = ("lower", "symmetric", "nan_on_error", "with_q", "complete", "raw", "vectors", "second")
_EPSILONS = {"float32": "1.1920928955078125e-07f", "float64": "2.220446049250313e-16"}


def _matrices(node: Apply, computed_in: str | None = None, **flags: bool) -> Parameters:
    dtype = computed_in or dtype_of(node.inputs[0])
    text = shipped("linalg_matrix.cl", dtype, EPSILON=_EPSILONS[dtype])
    text += text_of("linalg_equations.cl") + text_of("linalg_spectral.cl")
    found = dict(zip(_NAMES, functions(node, text, _NAMES), strict=True))
    tiled, _ = product_functions(node, dtype)
    return DeviceMatrices(tiled=tiled, **found, **dict.fromkeys(_FLAGS, False) | flags)


@ready("th_kernel_gpu_cholesky")
def cholesky_kernel(op: Any, node: Apply) -> Parameters:
    """Return the Cholesky factor of a matrix."""
    return _matrices(node, lower=op.lower, nan_on_error=op.on_error == "nan")


@ready("th_kernel_gpu_inverse")
def inverse_kernel(op: Any, node: Apply) -> Parameters:
    """Return the inverse of a matrix, by elimination with exchanged rows."""
    return _matrices(node)


@ready("th_kernel_gpu_det")
def det_kernel(op: Any, node: Apply) -> Parameters:
    """Return the determinant of a matrix, by elimination with exchanged rows."""
    return _matrices(node)


@ready("th_kernel_gpu_solve_triangular")
def solve_triangular_kernel(op: Any, node: Apply) -> Parameters:
    """Return the solution of linear equations of a triangular matrix."""
    return _matrices(node, lower=op.triangle == "lower", nan_on_error=op.on_error == "nan")


@ready("th_kernel_gpu_solve")
def solve_kernel(op: Any, node: Apply) -> Parameters:
    """Return the solution of linear equations, by elimination with exchanged rows."""
    symmetric = op.A_structure == "symmetric"
    return _matrices(node, lower=op.lower, symmetric=symmetric, nan_on_error=op.on_error == "nan")


@ready("th_kernel_gpu_qr")
def qr_kernel(op: Any, node: Apply) -> Parameters:
    """Return the factors Q and R of a matrix, by reflections."""
    with_q = op.mode in ("reduced", "complete")
    return _matrices(node, with_q=with_q, complete=op.mode == "complete", raw=op.mode == "raw")


@ready("th_kernel_gpu_svd")
def svd_kernel(op: Any, node: Apply) -> Parameters:
    """Return singular values, and vectors beside them, by rotations of pairs of columns."""
    return _matrices(node, complete=op.full_matrices, vectors=op.compute_uv)


@ready("th_kernel_gpu_pinv")
def pinv_kernel(op: Any, node: Apply) -> Parameters:
    """Return the pseudo-inverse of a matrix, by its singular values."""
    return _matrices(node)


@ready("th_kernel_gpu_lstsq")
def lstsq_kernel(op: Any, node: Apply) -> Parameters:
    """Return the least-squares solution, the residuals, the rank and the singular values."""
    return _matrices(node)


@ready("th_kernel_gpu_eigh")
def eigh_kernel(op: Any, node: Apply) -> Parameters:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, by rotations from both sides."""
    return _matrices(node, lower=op.UPLO == "L", vectors=True)


@ready("th_kernel_gpu_eigvalsh")
def eigvalsh_kernel(op: Any, node: Apply) -> Parameters:
    """Return the eigenvalues of a symmetric matrix, with respect to another one or not."""
    return _matrices(node, lower=op.lower, second=ndim_of(node.inputs[1]) == 2)


@ready("th_kernel_gpu_expm")
def expm_kernel(op: Any, node: Apply) -> Parameters:
    """Return the exponential of a matrix, computed in double precision as on the CPU."""
    return _matrices(node, "float64")


def _is_triangular(op: Any, node: Apply) -> bool:
    """Tell whether the op declares the matrix triangular."""
    return bool(op.triangle)


_OF_REAL = {"a": SINGLE_OR_DOUBLE}
_SHARE = Dtypes("integer, float32 or float64", INTEGERS.names | SINGLE_OR_DOUBLE.names)

register(
    on_device(Cholesky, cholesky_kernel, _OF_REAL),
    on_device(MatrixInverse, inverse_kernel, _OF_REAL),
    on_device(Det, det_kernel, _OF_REAL),
    on_device(Solve, solve_triangular_kernel, _OF_REAL, when=_is_triangular),
    on_device(Solve, solve_kernel, _OF_REAL, number=1),
    on_device(QRFull, qr_kernel, _OF_REAL),
    on_device(QRIncomplete, qr_kernel, _OF_REAL),
    on_device(SVD, svd_kernel, _OF_REAL),
    on_device(MatrixPinv, pinv_kernel, _OF_REAL),
    on_device(lstsq, lstsq_kernel, {**_OF_REAL, "rcond": _SHARE}, on_host=lambda node: (2,)),
    on_device(Expm, expm_kernel, _OF_REAL),
    on_device(Eigh, eigh_kernel, _OF_REAL),
    # Without a second matrix, and with one.
    on_device(Eigvalsh, eigvalsh_kernel, _OF_REAL, on_host=lambda node: (1,)),
    on_device(Eigvalsh, eigvalsh_kernel, _OF_REAL, number=1),
)

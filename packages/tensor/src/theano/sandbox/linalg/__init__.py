"""Linear algebra under its oldest name: :mod:`theano.tensor.nlinalg`, :mod:`theano.tensor.slinalg`, and hints."""

from theano.sandbox.linalg import ops
from theano.sandbox.linalg.ops import (
    alloc_diag,
    cholesky,
    det,
    diag,
    eig,
    eigh,
    eigvalsh,
    extract_diag,
    matrix_inverse,
    psd,
    solve,
    spectral_radius_bound,
    trace,
)

__all__ = [
    "alloc_diag", "cholesky", "det", "diag", "eig", "eigh", "eigvalsh", "extract_diag", "matrix_inverse", "ops", "psd",
    "solve", "spectral_radius_bound", "trace",
]  # fmt: skip

"""Linear algebra: factorisations, solutions of equations, functions of matrices."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.blas.dot import matmul as matmul, tensordot as tensordot
from theano.tensor.composed import OF_MATRICES as OF_MATRICES
from theano.tensor.composed.matrices import (
    cholesky as cholesky, cond as cond, det as det, diagonal as diagonal, eig as eig, eigh as eigh, eigvals as eigvals,
    eigvalsh as eigvalsh, inv as inv, lstsq as lstsq, matrix_norm as matrix_norm, matrix_power as matrix_power,
    matrix_rank as matrix_rank, multi_dot as multi_dot, norm as norm, outer as outer, pinv as pinv, qr as qr, slogdet as
    slogdet, solve as solve, svd as svd, svdvals as svdvals, tensorinv as tensorinv, tensorsolve as tensorsolve, trace
    as trace, vector_norm as vector_norm,
)
from theano.tensor.composed.products import cross as cross, vecdot as vecdot
from theano.tensor.composed.shapes import matrix_transpose as matrix_transpose



"""Linear algebra: factorisations, solutions of equations, functions of matrices."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.blas.dot import matmul as matmul, tensordot as tensordot
from theano.tensor.composed import OF_MATRICES as OF_MATRICES
from theano.tensor.composed.equations import (
    det as det, inv as inv, lstsq as lstsq, pinv as pinv, slogdet as slogdet, solve as solve, tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
from theano.tensor.composed.factors import (
    cholesky as cholesky, eig as eig, eigh as eigh, eigvals as eigvals, eigvalsh as eigvalsh, qr as qr, svd as svd,
    svdvals as svdvals,
)
from theano.tensor.composed.matrices import (
    diagonal as diagonal, matrix_power as matrix_power, multi_dot as multi_dot, outer as outer, trace as trace,
)
from theano.tensor.composed.norms import (
    cond as cond, matrix_norm as matrix_norm, matrix_rank as matrix_rank, norm as norm, vector_norm as vector_norm,
)
from theano.tensor.composed.products import cross as cross, vecdot as vecdot
from theano.tensor.composed.shapes import matrix_transpose as matrix_transpose



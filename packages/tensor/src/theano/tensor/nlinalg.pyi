"""Old spelling; what ``theano.tensor.nlinalg`` shows is in :mod:`theano.tensor.linalg.determinant`, :mod:`theano.tensor.linalg.factor`, :mod:`theano.tensor.linalg.functions`, :mod:`theano.tensor.linalg.gradients`, :mod:`theano.tensor.linalg.equations`, :mod:`theano.tensor.shape.diagonals`, :mod:`theano`, :mod:`theano.gradient`, :mod:`theano.graph`, :mod:`theano.tensor.basic`, :mod:`theano.tensor.convert`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.annotations import TensorLike
from theano.tensor.linalg.determinant import Det as Det, slogdet as slogdet
from theano.tensor.linalg.equations import (
    MatrixInverse as MatrixInverse, MatrixPinv as MatrixPinv, TensorInv as TensorInv, TensorSolve as TensorSolve, lstsq
    as lstsq, pinv as pinv, tensorinv as tensorinv, tensorsolve as tensorsolve,
)
from theano.tensor.linalg.factor import (
    Eig as Eig, Eigh as Eigh, QRFull as QRFull, QRIncomplete as QRIncomplete, SVD as SVD, eigh as eigh, qr as qr, svd as
    svd,
)
from theano.tensor.linalg.functions import (
    diag as diag, matrix_dot as matrix_dot, matrix_power as matrix_power, norm as norm, trace as trace,
)
from theano.tensor.linalg.gradients import EighGrad as EighGrad
from theano.tensor.shape.diagonals import AllocDiag as AllocDiag
from theano.tensor.var import TensorVariable

def alloc_diag(diag: TensorLike) -> TensorVariable: ...
def det(x: TensorLike) -> TensorVariable: ...
def eig(x: TensorLike) -> list[TensorVariable]: ...
def extract_diag(x: TensorLike) -> TensorVariable: ...
def matrix_inverse(x: TensorLike) -> TensorVariable: ...

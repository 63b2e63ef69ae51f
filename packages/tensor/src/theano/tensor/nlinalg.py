"""``theano.tensor.nlinalg``: what NumPy's ``linalg`` offers."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.linalg.factor import SVD as SVD
from theano.tensor.linalg.factor import Eig as Eig
from theano.tensor.linalg.factor import Eigh as Eigh
from theano.tensor.linalg.factor import QRFull as QRFull
from theano.tensor.linalg.factor import QRIncomplete as QRIncomplete
from theano.tensor.linalg.factor import eig as eig
from theano.tensor.linalg.factor import eigh as eigh
from theano.tensor.linalg.factor import qr as qr
from theano.tensor.linalg.factor import svd as svd
from theano.tensor.linalg.functions import alloc_diag as alloc_diag
from theano.tensor.linalg.functions import diag as diag
from theano.tensor.linalg.functions import extract_diag as extract_diag
from theano.tensor.linalg.functions import matrix_dot as matrix_dot
from theano.tensor.linalg.functions import matrix_power as matrix_power
from theano.tensor.linalg.functions import norm as norm
from theano.tensor.linalg.functions import trace as trace
from theano.tensor.linalg.gradients import EighGrad as EighGrad
from theano.tensor.linalg.solve import Det as Det
from theano.tensor.linalg.solve import MatrixInverse as MatrixInverse
from theano.tensor.linalg.solve import MatrixPinv as MatrixPinv
from theano.tensor.linalg.solve import TensorInv as TensorInv
from theano.tensor.linalg.solve import TensorSolve as TensorSolve
from theano.tensor.linalg.solve import det as det
from theano.tensor.linalg.solve import lstsq as lstsq
from theano.tensor.linalg.solve import matrix_inverse as matrix_inverse
from theano.tensor.linalg.solve import pinv as pinv
from theano.tensor.linalg.solve import tensorinv as tensorinv
from theano.tensor.linalg.solve import tensorsolve as tensorsolve
from theano.tensor.shape.diagonals import AllocDiag as AllocDiag
from theano.tensor.shape.diagonals import ExtractDiag as ExtractDiag

#: What older programs find here.
__getattr__, __dir__ = lazily(
    globals(),
    {
        "Apply": "theano.graph:Apply",
        "DisconnectedType": "theano.gradient:DisconnectedType",
        "Op": "theano.graph:Op",
        "as_tensor_variable": "theano.tensor.convert:as_tensor_variable",
        "tensor": "theano.tensor.basic",
        "theano": "theano",
    },
)

"""``theano.tensor.slinalg``: what SciPy's ``linalg`` offers beyond NumPy's."""

from __future__ import annotations

from theano.layers import lazily
from theano.tensor.linalg.factor import Cholesky as Cholesky
from theano.tensor.linalg.factor import Eigvalsh as Eigvalsh
from theano.tensor.linalg.factor import cholesky as cholesky
from theano.tensor.linalg.factor import eigvalsh as eigvalsh
from theano.tensor.linalg.functions import Expm as Expm
from theano.tensor.linalg.functions import expm as expm
from theano.tensor.linalg.functions import kron as kron
from theano.tensor.linalg.gradients import CholeskyGrad as CholeskyGrad
from theano.tensor.linalg.gradients import EigvalshGrad as EigvalshGrad
from theano.tensor.linalg.gradients import ExpmGrad as ExpmGrad
from theano.tensor.linalg.solve import MATRIX_STRUCTURES as MATRIX_STRUCTURES
from theano.tensor.linalg.solve import Solve as Solve
from theano.tensor.linalg.solve import cho_solve as cho_solve
from theano.tensor.linalg.solve import solve as solve
from theano.tensor.linalg.solve import solve_lower_triangular as solve_lower_triangular
from theano.tensor.linalg.solve import solve_symmetric as solve_symmetric
from theano.tensor.linalg.solve import solve_upper_triangular as solve_upper_triangular

imported_scipy = True  # SciPy is a requirement of this layer

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

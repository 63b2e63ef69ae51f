"""Old spelling; what ``theano.tensor.slinalg`` shows is in :mod:`theano.tensor.linalg.elimination`, :mod:`theano.tensor.linalg.factor`, :mod:`theano.tensor.linalg.functions`, :mod:`theano.tensor.linalg.gradients`, :mod:`theano.tensor.linalg.equations`, :mod:`theano`, :mod:`theano.gradient`, :mod:`theano.graph`, :mod:`theano.scalar`, :mod:`theano.tensor.basic`, :mod:`theano.tensor.convert`."""
# Written by tools/stubs.py; do not edit.
# mypy: ignore-errors
# ruff: noqa

from theano.tensor.annotations import TensorLike
from theano.tensor.linalg.elimination import LUFactor as LUFactor, lu as lu, lu_factor as lu_factor
from theano.tensor.linalg.equations import (
    MATRIX_STRUCTURES as MATRIX_STRUCTURES, Solve as Solve, cho_solve as cho_solve,
)
from theano.tensor.linalg.factor import Cholesky as Cholesky, Eigvalsh as Eigvalsh, eigvalsh as eigvalsh
from theano.tensor.linalg.functions import Expm as Expm, kron as kron
from theano.tensor.linalg.gradients import (
    CholeskyGrad as CholeskyGrad, EigvalshGrad as EigvalshGrad, ExpmGrad as ExpmGrad,
)
from theano.tensor.var import TensorVariable
from typing import Any

def cholesky(x: TensorLike) -> TensorVariable: ...
def expm(A: TensorLike) -> TensorVariable: ...
def solve(A: TensorLike, b: Any, on_error: str | None = None) -> TensorVariable: ...
def solve_lower_triangular(A: TensorLike, b: Any, on_error: str | None = None) -> TensorVariable: ...
def solve_symmetric(A: TensorLike, b: Any, on_error: str | None = None) -> TensorVariable: ...
def solve_upper_triangular(A: TensorLike, b: Any, on_error: str | None = None) -> TensorVariable: ...

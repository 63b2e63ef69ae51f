"""The gradients of some factorisations under the names of the ops that they once were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.tensor.compound import Compound
from theano.tensor.linalg.factor import Cholesky, Eigh, Eigvalsh
from theano.tensor.linalg.functions import Expm

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor


class CholeskyGrad(Compound):
    """The gradient for a matrix, given that for its Cholesky factor.

    Parameters
    ----------
    lower : bool
        Which triangle was read.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, l, dl = T.dmatrices("x", "l", "dl")
    >>> CholeskyGrad()(x, l, dl).type
    TensorType(float64, matrix)
    """

    __props__ = ("lower", "destructive")
    ndims = (2, 2, 2)

    def __init__(self, lower: bool = True):
        self.lower, self.destructive = bool(lower), False

    def expression(self, x: Tensor, l: Tensor, dz: Tensor) -> Variable:
        """Return the gradient."""
        return Cholesky(self.lower).L_op([x], [l], [dz])[0]


class EighGrad(Compound):
    """The gradient for a symmetric matrix, given those for its eigenvalues and eigenvectors.

    Parameters
    ----------
    UPLO : "L" or "U"
        Which triangle was read.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, v, dv = T.dmatrices("x", "v", "dv")
    >>> w, dw = T.dvectors("w", "dw")
    >>> EighGrad()(x, w, v, dw, dv).type
    TensorType(float64, matrix)
    """

    __props__ = ("UPLO",)
    ndims = (2, 1, 2, 1, 2)

    def __init__(self, UPLO: str = "L"):
        if UPLO not in ("L", "U"):
            raise ValueError(f"UPLO must be 'L' or 'U', not {UPLO!r}")
        self.UPLO = UPLO

    def expression(self, x: Tensor, w: Tensor, v: Tensor, W: Tensor, V: Tensor) -> Variable:
        """Return the gradient."""
        return Eigh(self.UPLO).L_op([x], [w, v], [W, V])[0]


class EigvalshGrad(Compound):
    """The gradients for the matrices of a generalised eigenvalue problem, given that for the eigenvalues.

    Parameters
    ----------
    lower : bool
        Which triangle was read.

    Examples
    --------
    >>> import theano.tensor as T
    >>> a, b = T.dmatrices("a", "b")
    >>> [g.ndim for g in EigvalshGrad()(a, b, T.dvector("dw"))]
    [2, 2]
    """

    __props__ = ("lower",)
    ndims = (2, 2, 1)

    def __init__(self, lower: bool = True):
        self.lower = bool(lower)

    def expression(self, a: Tensor, b: Tensor, gw: Tensor) -> list[Variable]:
        """Return the gradients."""
        op = Eigvalsh(self.lower)
        return op.L_op([a, b], [op(a, b)], [gw])


class ExpmGrad(Compound):
    """The gradient for a matrix, given that for its exponential.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ExpmGrad()(T.dmatrix("A"), T.dmatrix("g")).type
    TensorType(float64, matrix)
    """

    ndims = (2, 2)

    def expression(self, A: Tensor, gw: Tensor) -> Variable:
        """Return the gradient."""
        return Expm().L_op([A], [], [gw])[0]

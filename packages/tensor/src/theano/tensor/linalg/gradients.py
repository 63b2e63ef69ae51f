"""The gradients of some factorisations under the names of the ops that they once were."""

from __future__ import annotations

from typing import Any

from theano.tensor.compound import Compound
from theano.tensor.convert import as_tensor_variable
from theano.tensor.linalg.factor import Cholesky, Eigh, Eigvalsh
from theano.tensor.linalg.functions import Expm
from theano.tensor.messages import describe


class _OfMatrices(Compound):
    """What these ops share: their inputs are matrices of floating-point numbers, or vectors where they say so."""

    dimensions: tuple[int, ...]

    def convert(self, *inputs: Any) -> list[Any]:
        """Return the inputs as variables of the right numbers of dimensions."""
        if len(inputs) != len(self.dimensions):
            raise TypeError(f"{self} takes {len(self.dimensions)} inputs, got {len(inputs)}")
        variables = [as_tensor_variable(v) for v in inputs]
        for i, (v, ndim) in enumerate(zip(variables, self.dimensions, strict=True)):
            if v.type.ndim != ndim:
                raise TypeError(f"{self}: input {i} must have {ndim} dimensions:\n{describe(v)}")
        return variables


class CholeskyGrad(_OfMatrices):
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
    dimensions = (2, 2, 2)

    def __init__(self, lower: bool = True):
        self.lower, self.destructive = bool(lower), False

    def expression(self, x: Any, l: Any, dz: Any) -> Any:
        """Return the gradient."""
        return Cholesky(self.lower).L_op([x], [l], [dz])[0]


class EighGrad(_OfMatrices):
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
    dimensions = (2, 1, 2, 1, 2)

    def __init__(self, UPLO: str = "L"):
        if UPLO not in ("L", "U"):
            raise ValueError(f"UPLO must be 'L' or 'U', not {UPLO!r}")
        self.UPLO = UPLO

    def expression(self, x: Any, w: Any, v: Any, W: Any, V: Any) -> Any:
        """Return the gradient."""
        return Eigh(self.UPLO).L_op([x], [w, v], [W, V])[0]


class EigvalshGrad(_OfMatrices):
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
    dimensions = (2, 2, 1)

    def __init__(self, lower: bool = True):
        self.lower = bool(lower)

    def expression(self, a: Any, b: Any, gw: Any) -> Any:
        """Return the gradients."""
        op = Eigvalsh(self.lower)
        return op.L_op([a, b], [op(a, b)], [gw])


class ExpmGrad(_OfMatrices):
    """The gradient for a matrix, given that for its exponential.

    Examples
    --------
    >>> import theano.tensor as T
    >>> ExpmGrad()(T.dmatrix("A"), T.dmatrix("g")).type
    TensorType(float64, matrix)
    """

    dimensions = (2, 2)

    def expression(self, A: Any, gw: Any) -> Any:
        """Return the gradient."""
        return Expm().L_op([A], [], [gw])[0]

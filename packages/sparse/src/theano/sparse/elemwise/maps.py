"""Functions of the stored numbers: those that keep zeros, and structured ones, which leave zeros alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.sparse.convert import as_sparse_variable
from theano.sparse.parts.alike import with_data
from theano.sparse.parts.elements import Cells
from theano.sparse.parts.op import compressed, csm_data
from theano.sparse.type import SparseType
from theano.tensor.elemwise import functions as F
from theano.tensor.nnet.activation import sigmoid
from theano.tensor.type import dtype_name

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Operands, Values
    from theano.graph.variable import Variable
    from theano.sparse.annotations import Sparse, SparseLike

Map = Callable[..., Any]


def structured_monoid(tensor_op: Map) -> Callable[[Map], Map]:
    """Let a function of tensors work on the stored numbers of a sparse matrix.

    Parameters
    ----------
    tensor_op : callable
        Is given the vector of numbers, and whatever else the decorated function is called with, by position.

    Returns
    -------
    callable
        A decorator of functions that have a signature and a docstring, but no body.

    Examples
    --------
    >>> import theano.tensor as T, scipy.sparse as sp
    >>> @structured_monoid(T.exp)
    ... def structured_growth(x):
    ...     'Exponentials of the stored numbers.'
    >>> structured_growth(sp.csr_matrix([[0.0, 1.0]])).eval().toarray()
    array([[0.        , 2.71828183]])
    """

    def decorate(described: Map) -> Map:
        signature = inspect.signature(described)

        @functools.wraps(described)
        def wrapper(*args: SparseLike | float, **named: object) -> Sparse:
            try:
                x, *others = signature.bind(*args, **named).args
            except TypeError as error:
                raise TypeError(f"{described.__name__}{signature}: {error}") from None
            x = compressed(x, described.__name__)
            return with_data(x, tensor_op(csm_data(x), *others))

        return wrapper

    return decorate


def _map(name: str, tensor_op: Map, says: str) -> Map:
    """Return a map of the stored numbers under a name."""

    def described(x: Any) -> Any: ...

    described.__name__ = name
    described.__doc__ = f"""Return {says}, computed of the stored numbers alone.

    The gradient is structured.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.

    Returns
    -------
    SparseVariable
        It stores numbers where ``x`` does.

    See Also
    --------
    structured_monoid

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> {name}(sp.csr_matrix([[0.0, 0.5]])).eval().nnz
    1
    """
    return structured_monoid(tensor_op)(described)


sin = _map("sin", F.sin, "the sine")
tan = _map("tan", F.tan, "the tangent")
arcsin = _map("arcsin", F.arcsin, "the arc sine")
arctan = _map("arctan", F.arctan, "the arc tangent")
sinh = _map("sinh", F.sinh, "the hyperbolic sine")
arcsinh = _map("arcsinh", F.arcsinh, "the inverse hyperbolic sine")
tanh = _map("tanh", F.tanh, "the hyperbolic tangent")
arctanh = _map("arctanh", F.arctanh, "the inverse hyperbolic tangent")
rint = _map("rint", F.round_half_to_even, "the nearest integer")
sgn = _map("sgn", F.sgn, "the sign")
ceil = _map("ceil", F.ceil, "the least integer that is not less")
floor = _map("floor", F.floor, "the largest integer that is not greater")
log1p = _map("log1p", F.log1p, "log(1 + x)")
expm1 = _map("expm1", F.expm1, "exp(x) - 1")
deg2rad = _map("deg2rad", F.deg2rad, "degrees in radians")
rad2deg = _map("rad2deg", F.rad2deg, "radians in degrees")
trunc = _map("trunc", F.trunc, "the integer part")
sqr = _map("sqr", F.sqr, "the square")
sqrt = _map("sqrt", F.sqrt, "the square root")
conj = _map("conj", F.conj, "the complex conjugate")
structured_abs = _map("structured_abs", F.abs_, "the absolute value")
structured_copy = _map("structured_copy", F.tensor_copy, "the same")
structured_sigmoid = _map("structured_sigmoid", sigmoid, "the sigmoid")
structured_exp = _map("structured_exp", F.exp, "the exponential")
structured_log = _map("structured_log", F.log, "the logarithm")


def _map_with(name: str, tensor_op: Map, says: str) -> Map:
    """Return a map of the stored numbers and another number under a name."""

    def described(x: Any, y: Any) -> Any: ...

    described.__name__ = described.__qualname__ = name
    described.__doc__ = f"""Return {says}, computed of the stored numbers alone.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : scalar
        A number, or a vector with one for each stored number.

    Returns
    -------
    SparseVariable
        It stores numbers where ``x`` does.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> {name}(sp.csr_matrix([[0.0, 0.5]]), 2).eval().nnz
    1
    """
    return structured_monoid(tensor_op)(described)


structured_pow = _map_with("structured_pow", F.pow, "``x`` to the power of ``y``")
structured_minimum = _map_with("structured_minimum", F.minimum, "the lesser of ``x`` and ``y``")
structured_maximum = _map_with("structured_maximum", F.maximum, "the greater of ``x`` and ``y``")


@structured_monoid(F.add)
def structured_add(x: Any, y: Any = 0, *others: Any) -> Any:
    """Return the stored numbers of ``x`` plus the number ``y``, and others.

    Parameters
    ----------
    x : sparse variable
        Of csr or csc format.
    y : scalar, optional
        A number, or a vector with one for each stored number.
    *others : scalar
        Further numbers to add.

    Returns
    -------
    SparseVariable
        Of the structure of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> structured_add(sp.csr_matrix([[0.0, 3.0]]), 2).eval().toarray()
    array([[0., 5.]])
    """


class Neg(Op):
    """The negative of a sparse matrix.

    Parameters
    ----------
    x : sparse variable
        Of any format.

    Returns
    -------
    SparseVariable
        Of the structure and dtype of ``x``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> neg(sp.csr_matrix([[0.0, 1.0]])).eval().toarray()
    array([[ 0., -1.]])
    """

    __props__ = ()
    linear_in = (0,)
    shapes = "A->A"

    def __str__(self) -> str:
        return "Sparse" + type(self).__name__

    def make_node(self, x: SparseLike) -> Apply:
        x = compressed(x, self)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Negate with SciPy."""
        output_storage[0][0] = -inputs[0]

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the negative gradient."""
        return [-output_grads[0]]


neg = Neg()


class Cast(Op):
    """A sparse matrix with numbers of another dtype.

    Parameters
    ----------
    out_type : str
        The dtype of the result.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> cast(sp.csr_matrix([[0.0, 1.5]]), "int32").eval().toarray()
    array([[0, 1]], dtype=int32)
    """

    __props__ = ("out_type",)
    linear_in = (0,)
    shapes = "A->A"

    def __init__(self, out_type: str):
        self.out_type = dtype_name(out_type)

    def __str__(self) -> str:
        return f"Cast({self.out_type})"

    def make_node(self, x: Sparse) -> Apply:
        """Return the node for a matrix.

        Parameters
        ----------
        x : sparse variable
            Of csr or csc format.

        Returns
        -------
        SparseVariable
            Of the shape and format of ``x``.
        """
        x = compressed(x, self)
        return Apply(self, [x], [SparseType(x.type.format, self.out_type).make_variable()])

    def perform(self, node: Node, inputs: Values, output_storage: Cells) -> None:
        """Convert with SciPy."""
        output_storage[0][0] = inputs[0].astype(self.out_type)

    def grad(self, inputs: Operands, output_grads: Operands) -> list[Variable]:
        """Return the gradient in the dtype of the input; that of whole numbers is of fractions, as it comes."""
        (x,), (g,) = inputs, output_grads
        is_whole = x.type.dtype in scal.discrete_dtypes
        if self.out_type in scal.discrete_dtypes:
            return [x.zeros_like(dtype="floatX" if is_whole else None)]
        if is_whole:
            return [g]
        return [g.astype(x.type.dtype)]


bcast, wcast, icast, lcast = Cast("int8"), Cast("int16"), Cast("int32"), Cast("int64")
fcast, dcast, ccast, zcast = Cast("float32"), Cast("float64"), Cast("complex64"), Cast("complex128")


def cast(variable: Any, dtype: str) -> Any:
    """Return a sparse matrix with numbers of another dtype; the matrix itself if they are of that dtype.

    Parameters
    ----------
    variable : sparse variable
        Of any format.
    dtype : str
        Of the stored numbers of the result.

    Returns
    -------
    SparseVariable
        Of the structure of ``variable``.

    See Also
    --------
    theano.tensor.cast

    Examples
    --------
    >>> import theano.sparse as S
    >>> cast(S.csr_dmatrix("x"), "float32").type
    Sparse[float32, csr]
    """
    variable = as_sparse_variable(variable)
    return variable if variable.type.dtype == dtype_name(dtype) else Cast(dtype)(variable)


__all__ = [
    "Cast", "Neg", "arcsin", "arcsinh", "arctan", "arctanh", "bcast", "cast", "ccast", "ceil", "conj", "dcast",
    "deg2rad", "expm1", "fcast", "floor", "icast", "lcast", "log1p", "neg", "rad2deg", "rint", "sgn", "sin", "sinh",
    "sqr", "sqrt", "structured_add", "structured_exp", "structured_log", "structured_maximum", "structured_minimum",
    "structured_monoid", "structured_pow", "structured_sigmoid", "tan", "tanh", "trunc", "wcast", "zcast",
]  # fmt: skip

"""The tensor functions that are scalar ops, element by element; each takes its documentation from the scalar op.

Nothing is said about an operation here but its name: what it computes, on which dtypes, and its derivative stand
in the scalar layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theano import scalar as scal
from theano.graph import Variable
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.type import dtype_name


def elementwise(name: str, scalar_op: Any = None) -> Elemwise:
    """Return the tensor function of a scalar op.

    Parameters
    ----------
    name : str
        Its name here, and in the scalar layer where ``scalar_op`` is not given.
    scalar_op : ScalarOp, optional
    """
    return Elemwise(getattr(scal, name) if scalar_op is None else scalar_op, name=f"Elemwise{{{name},no_inplace}}")


# signs and rounding
abs_ = elementwise("abs_")
neg = elementwise("neg")
invert = elementwise("invert")
sgn = elementwise("sgn")
ceil = elementwise("ceil")
floor = elementwise("floor")
trunc = elementwise("trunc")
round_half_to_even = elementwise("round_half_to_even")
round_half_away_from_zero = elementwise("round_half_away_from_zero")

# powers, exponentials, logarithms
sqr = elementwise("sqr")
sqrt = elementwise("sqrt")
inv = elementwise("inv")
exp = elementwise("exp")
exp2 = elementwise("exp2")
expm1 = elementwise("expm1")
log = elementwise("log")
log2 = elementwise("log2")
log10 = elementwise("log10")
log1p = elementwise("log1p")

# angles
deg2rad = elementwise("deg2rad")
rad2deg = elementwise("rad2deg")
cos = elementwise("cos")
arccos = elementwise("arccos")
sin = elementwise("sin")
arcsin = elementwise("arcsin")
tan = elementwise("tan")
arctan = elementwise("arctan")
arctan2 = elementwise("arctan2")
cosh = elementwise("cosh")
arccosh = elementwise("arccosh")
sinh = elementwise("sinh")
arcsinh = elementwise("arcsinh")
tanh = elementwise("tanh")
arctanh = elementwise("arctanh")

# special functions
erf = elementwise("erf")
erfc = elementwise("erfc")
erfcx = elementwise("erfcx")
erfinv = elementwise("erfinv")
erfcinv = elementwise("erfcinv")
gamma = elementwise("gamma")
gammaln = elementwise("gammaln")
psi = elementwise("psi")
tri_gamma = elementwise("tri_gamma")
chi2sf = elementwise("chi2sf")
gammainc = elementwise("gammainc")
gammaincc = elementwise("gammaincc")
gammau = elementwise("gammau")
gammal = elementwise("gammal")
j0 = elementwise("j0")
j1 = elementwise("j1")
jv = elementwise("jv")
i0 = elementwise("i0")
i1 = elementwise("i1")
iv = elementwise("iv")

# complex numbers
real = elementwise("real")
imag = elementwise("imag")
angle = elementwise("angle")
complex = elementwise("complex")
conj = elementwise("conj")
complex_from_polar = elementwise("complex_from_polar")

# arithmetic
add = elementwise("add")
sub = elementwise("sub")
mul = elementwise("mul")
true_div = elementwise("true_div")
int_div = elementwise("int_div")
mod = elementwise("mod")
pow = elementwise("pow")
maximum = elementwise("maximum")
minimum = elementwise("minimum")

# comparison, bits, choice
lt = elementwise("lt")
gt = elementwise("gt")
le = elementwise("le")
ge = elementwise("ge")
eq = elementwise("eq")
neq = elementwise("neq")
and_ = elementwise("and_")
or_ = elementwise("or_")
xor = elementwise("xor")
switch = elementwise("switch")
clip = elementwise("clip")
second = elementwise("second")

isnan_ = elementwise("isnan")
isinf_ = elementwise("isinf")
tensor_copy = elementwise("identity", scal.identity)
tensor_copy.shown_as = "T.tensor_copy"

# other names for the same
fill = second
square = sqr
floor_div = int_div
where = switch
bitwise_and, bitwise_or, bitwise_xor, bitwise_not = and_, or_, xor, invert


def _all_false(a: Variable) -> Any:
    """Return False for each element, in a form that depends on the shape only."""
    return second(a, as_tensor_variable(np.asarray(False)))


def isnan(a: Any) -> Any:
    """Return where ``a`` is not a number.

    Examples
    --------
    >>> import theano.tensor as T
    >>> isnan(T.dvector("x")).type, isnan(T.ivector("i")).type
    (TensorType(bool, vector), TensorType(bool, vector))
    """
    a = as_tensor_variable(a)
    return _all_false(a) if a.type.dtype in scal.discrete_dtypes else isnan_(a)


def isinf(a: Any) -> Any:
    """Return where ``a`` is plus or minus infinity.

    Examples
    --------
    >>> import theano.tensor as T
    >>> isinf(T.constant([1.0, float("inf")])).eval()
    array([False,  True])
    """
    a = as_tensor_variable(a)
    return _all_false(a) if a.type.dtype in scal.discrete_dtypes else isinf_(a)


def cast(x: Any, dtype: str) -> Any:
    """Return ``x`` with its elements converted to another dtype.

    Parameters
    ----------
    x : tensor
    dtype : str
        ``"floatX"`` stands for ``theano.config.floatX``.

    Raises
    ------
    TypeError
        From complex to real: which part is meant has to be said.

    Examples
    --------
    >>> import theano.tensor as T
    >>> cast(T.dvector("x"), "int32")
    Elemwise{Cast{int32}}.0
    """
    dtype = dtype_name(dtype)
    x = as_tensor_variable(x)
    if x.type.dtype == dtype:
        return x
    if x.type.dtype in scal.complex_dtypes and dtype not in scal.complex_dtypes:
        raise TypeError(
            f"{x} is complex ({x.type.dtype}) and cannot be cast to {dtype}: say which part is meant, with T.real, "
            "T.imag, T.angle or abs."
        )
    return cast_op(dtype)(x)


_casts: dict[str, Elemwise] = {}


def floats(x: Any) -> Any:
    """Return ``x`` in the dtype of its exponential: differences of unsigned numbers would wrap."""
    return cast(x, exp(x).type.dtype) if x.type.dtype in scal.discrete_dtypes else x


def cast_op(dtype: str) -> Elemwise:
    """Return the op that converts elements to ``dtype``."""
    if dtype not in _casts:
        _casts[dtype] = Elemwise(scal.Cast(scal.get_scalar_type(dtype), name=f"Cast{{{dtype}}}"))
    return _casts[dtype]


def elementwise_functions() -> dict[str, Elemwise]:
    """Return the functions of this module by name, each under its first name."""
    found: dict[Elemwise, str] = {}
    for name, value in globals().items():
        if isinstance(value, Elemwise) and value not in found:
            found[value] = name
    return {name: op for op, name in found.items()}

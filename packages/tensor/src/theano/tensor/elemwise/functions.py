"""The tensor functions that are scalar ops, element by element; each takes its documentation from the scalar op.

Nothing is said about an operation here: its name, what it computes, on which dtypes, and its derivative stand in the
scalar layer. Each statement there is a function here, and of ``theano.tensor``.
"""

# mypy: implicit-reexport
# ruff: noqa: F401, F403, F405  (names that star imports bring, to type checkers)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.tensor.convert import as_tensor_variable
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.type import dtype_name

#: Scalar ops whose function of tensors has another name, or (None) that are none: a module of its own has these.
_NAMES = {
    "isnan": "isnan_", "isinf": "isinf_", "identity": "tensor_copy",
    "inopenrange": None, "inclosedrange": None, "sigmoid": None, "softplus": None,
    "gammainc_der": None, "betainc_der_a": None, "betainc_der_b": None,
}  # fmt: skip


def elementwise_functions() -> dict[str, Elemwise]:
    """Return the tensor functions that are scalar ops, by name: one for each statement of the scalar layer.

    Examples
    --------
    >>> elementwise_functions()["exp"] is exp
    True
    """
    return dict(_FUNCTIONS)


_FUNCTIONS: dict[str, Elemwise] = {}
for _op in list(dict.fromkeys(scal.OPS.values())):
    _name = _NAMES.get(_op.op_name, _op.op_name) if isinstance(_op, scal.DefinedOp) else None
    if _name is not None and _op.module == "theano.scalar":
        _FUNCTIONS[_name] = Elemwise(_op, name=f"Elemwise{{{_op.op_name},no_inplace}}")
globals().update(_FUNCTIONS)

if TYPE_CHECKING:
    # What a type checker or an editor knows of them are the statements themselves: a name that is none is an error
    # there (of a `__getattr__` it would not be), and "go to definition" leads to all that is said of an operation.
    from theano.scalar.arithmetic import *
    from theano.scalar.arithmetic import identity as tensor_copy
    from theano.scalar.bitwise import *
    from theano.scalar.comparison import *
    from theano.scalar.comparison import isinf as isinf_
    from theano.scalar.comparison import isnan as isnan_
    from theano.scalar.complex_parts import *
    from theano.scalar.exponential import *
    from theano.scalar.probability import *
    from theano.scalar.rounding import *
    from theano.scalar.special import *
    from theano.scalar.trigonometric import *
    from theano.tensor.type import Tensor

tensor_copy.shown_as = "T.tensor_copy"

# other names for the same
fill = second
square = sqr
floor_div = int_div
where = switch
bitwise_and, bitwise_or, bitwise_xor, bitwise_not = and_, or_, xor, invert

#: What ``theano.tensor`` has of this.
__all__ = [
    *_FUNCTIONS, "fill", "square", "floor_div", "where", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
    "cast",
]  # fmt: skip


def cast(x: Any, dtype: str) -> Tensor:
    """Return ``x`` with its elements converted to another dtype.

    Parameters
    ----------
    x : tensor
        Of any shape.
    dtype : str
        ``"floatX"`` stands for ``theano.config.floatX``.

    Returns
    -------
    TensorVariable
        Of the shape of ``x``; ``x`` itself where it has the dtype. The gradient is converted back.

    Raises
    ------
    TypeError
        From complex to real: which part is meant has to be said.

    See Also
    --------
    as_tensor_variable, theano.shared

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


def floats(x: Tensor) -> Tensor:
    """Return ``x`` in the dtype of its exponential: differences of unsigned numbers would wrap."""
    return cast(x, exp(x).type.dtype) if x.type.dtype in scal.discrete_dtypes else x


def conjugate(x: Any) -> Any:
    """Return the complex conjugate, of real numbers themselves: what derivatives are turned into gradients by."""
    return conj(x) if x.type.dtype in scal.complex_dtypes else x


def cast_op(dtype: str) -> Elemwise:
    """Return the op that converts elements to ``dtype``."""
    if dtype not in _casts:
        _casts[dtype] = Elemwise(scal.Cast(scal.get_scalar_type(dtype), name=f"Cast{{{dtype}}}"))
    return _casts[dtype]

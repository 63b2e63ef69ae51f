"""Addition, subtraction, products, quotients, remainders, signs; identity and second."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.scalar import policy
from theano.scalar.base import at_inputs, disconnected, flat
from theano.scalar.broadcasting import broadcast_shape
from theano.scalar.comparison import eq, switch
from theano.scalar.convert import as_scalar, constant
from theano.scalar.define import scalar_op
from theano.scalar.dtypes import is_complex, is_discrete
from theano.scalar.output_types import (
    abs_out,
    same_out,
    same_out_nobool,
    same_out_nocomplex,
    transfer_type,
    true_div_out,
    upcast_out,
    upcast_out_no_complex_min8,
    upcast_out_nobool,
    upgrade_to_float,
)

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.scalar.annotations import Number


def like(variable: Number, value: float) -> Number:
    """Return a constant of a variable's dtype: a number in a gradient must not widen it.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> like(ts.float32("x"), 0.1).type
    float32
    """
    return constant(value, dtype=variable.type.dtype)


def or_one(size: Number) -> Number:
    """Return a size, and 1 for 0: what is divided by it, and is 0 with it, then has the derivative 0 there.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> or_one(ts.float32("x")).type
    float32
    """
    return switch(eq(size, 0), like(size, 1), size)


def _products_of_others(xs: list[Number], out: Number, g: Number) -> list[Number]:
    others = [[other for j, other in enumerate(xs) if j != i] for i in range(len(xs))]
    return [reduce(lambda a, b: a * b, rest, g) for rest in others]


add = scalar_op(
    "add", "*xs", types=upcast_out, py=np.add,
    c={"b": "{x} | {y}", "iu": "({U}){x} + ({U}){y}", "f": "{x} + {y}", "c": "add({x}, {y})"},
    grad=lambda xs, out, g: [g] * len(xs),
    commutative=True, associative=True, identity=0,
    doc="Sum of any number of terms; of booleans, whether any is true.",
)  # fmt: skip

sub = scalar_op(
    "sub", "x y", types=upcast_out_nobool, py=np.subtract,
    c={"iu": "({U}){x} - ({U}){y}", "f": "{x} - {y}", "c": "sub({x}, {y})"},
    grad=lambda x, y, out, g: (g, -g),
    doc="Difference.",
)  # fmt: skip

mul = scalar_op(
    "mul", "*xs", types=upcast_out, py=np.multiply,
    c={"b": "{x} & {y}", "iu": "({U}){x} * ({U}){y}", "f": "{x} * {y}", "c": "mul({x}, {y})"},
    grad=_products_of_others,
    commutative=True, associative=True, identity=1,
    doc="Product of any number of factors; of booleans, whether all are true.",
)  # fmt: skip

true_div = scalar_op(
    "true_div", "x y", types=true_div_out, py=np.true_divide,
    c={"f": "{x} / {y}", "c": "div({x}, {y})"},
    grad=lambda x, y, out, g: (g / y, -(g * x) / (y * y)),
    domain=[(-4.0, 4.0), (0.5, 4.0)], ulp=1,
    doc="Quotient; of integers, a floatX.",
)  # fmt: skip

int_div = scalar_op(
    "int_div", "x y", types=upcast_out_no_complex_min8, py=np.floor_divide,
    c="floor_div({x}, {y})",
    grad=flat,
    domain=[(-9.0, 9.0), (1.1, 4.0)], class_name="IntDiv", aliases="floor_div",
    doc="Quotient rounded down; an integer divided by zero gives 0.",
)  # fmt: skip

mod = scalar_op(
    "mod", "x y", types=upcast_out_no_complex_min8, py=np.remainder,
    c="mod({x}, {y})",
    grad=lambda x, y, out, g: (g, -(x // y) * g),
    domain=[(2.1, 2.9), (1.1, 1.3)],
    doc="Remainder with the sign of the divisor; an integer modulo zero is 0.",
)  # fmt: skip

neg = scalar_op(
    "neg", "x", types=same_out_nobool, py=np.negative,
    c={"iu": "0u - ({U}){x}", "f": "-{x}", "c": "neg({x})"},
    grad=lambda x, out, g: -g,
    doc="Opposite.",
)  # fmt: skip

abs_ = scalar_op(
    "abs_", "x", types=abs_out, py=np.abs, compute=at_inputs,
    c={"bu": "{x}", "i": "{x} < 0 ? 0u - ({U}){x} : ({U}){x}", "f": "fabs({x})", "c": "abs({x})"},
    grad=lambda x, out, g: g * x / or_one(out) if is_complex(x.type.dtype) else g * sgn(x),
    domain=(0.3, 4.0), holomorphic=False, ulp=2,
    doc="Absolute value; modulus of a complex number.",
)  # fmt: skip

sgn = scalar_op(
    "sgn", "x", types=same_out_nocomplex,
    py=lambda x: x.copy() if x.dtype == bool else np.sign(x),
    c={"b": "{x}", "u": "{x} > 0", "i": "({x} > 0) - ({x} < 0)",
       "f": "{x} != {x} ? {x} : ({T})(({x} > 0) - ({x} < 0))"},
    grad=flat, domain=(0.3, 4.0),
    doc="Sign: -1, 0 or 1; nan stays nan.",
)  # fmt: skip

sqr = scalar_op(
    "sqr", "x", types=same_out, py=np.square,
    c={"b": "{x}", "iu": "({U}){x} * ({U}){x}", "f": "{x} * {x}", "c": "mul({x}, {x})"},
    grad=lambda x, out, g: g * x * 2,
    doc="Square.",
)  # fmt: skip

reciprocal = scalar_op(
    "inv", "x", types=upgrade_to_float, py=lambda x: 1 / x,
    c={"f": "1 / {x}", "c": "inv({x})"},
    grad=lambda x, out, g: -g / (x * x),
    domain=(0.5, 4.0), ulp=1, aliases="reciprocal",
    doc="One divided by x.",
)  # fmt: skip
inv = reciprocal

identity = scalar_op(
    "identity", "x", types=same_out, py=np.array, c="{x}",
    grad=lambda x, out, g: g,
    doc="The input itself.",
)  # fmt: skip

second = scalar_op(
    "second", "x y", types=transfer_type(1), ignores=(0,),
    py=lambda x, y: np.broadcast_to(y, broadcast_shape(x.shape, y.shape)).copy(),
    c="{y}",
    grad=lambda x, y, out, g: (disconnected, g),
    doc="The second input; the first lends its shape.",
)  # fmt: skip

floor_div = int_div


def int_or_true_div(x_discrete: bool, y_discrete: bool) -> Op:
    """Return the operation that ``/`` between two values stood for in Python 2.

    Parameters
    ----------
    x_discrete, y_discrete : bool
        Whether each value is a bool or an integer.

    Examples
    --------
    >>> int_or_true_div(True, False)
    true_div
    """
    if not (x_discrete and y_discrete):
        return true_div
    setting = policy.int_division()
    if setting == "raise":
        raise IntegerDivisionError(
            "two integers are divided, and theano.config.int_division is 'raise'. "
            "Write x // y for an integer quotient, or theano.scalar.true_div(x, y) for a float."
        )
    return true_div if setting == "floatX" else int_div


def div_proxy(x: Any, y: Any) -> Number:
    """Divide, or divide rounding down, as ``theano.config.int_division`` says for integers.

    Parameters
    ----------
    x, y : number or scalar variable

    Examples
    --------
    >>> import theano.scalar as ts
    >>> div_proxy(ts.int8("i"), ts.int8("j")).owner.op
    int_div
    """
    x, y = as_scalar(x), as_scalar(y)
    return int_or_true_div(is_discrete(x.type.dtype), is_discrete(y.type.dtype))(x, y)


def mod_check(x: Any, y: Any) -> Number:
    """Return ``x % y``, refusing complex numbers.

    Parameters
    ----------
    x, y : number or scalar variable

    Examples
    --------
    >>> import theano.scalar as ts
    >>> mod_check(ts.int8("i"), 3).owner.op
    mod
    """
    x, y = as_scalar(x), as_scalar(y)
    if is_complex(x.type.dtype) or is_complex(y.type.dtype):
        raise ComplexError("complex numbers have no remainder")
    return mod(x, y)


class IntegerDivisionError(Exception):
    """Two integers are divided while ``theano.config.int_division`` is ``'raise'``."""


class ComplexError(TypeError, NotImplementedError):
    """An operation is not defined for complex numbers."""

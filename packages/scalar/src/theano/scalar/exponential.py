"""Exponentials, logarithms, powers and roots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from theano.graph.variable import Constant
from theano.scalar.arithmetic import like, or_one
from theano.scalar.comparison import eq, switch
from theano.scalar.define import scalar_op
from theano.scalar.output_types import upcast_out_min8, upgrade_to_float, upgrade_to_float_no_complex

if TYPE_CHECKING:
    from theano.scalar.annotations import Number

exp = scalar_op(
    "exp", "x", types=upgrade_to_float, py=np.exp, c="exp({x})",
    grad=lambda x, out, g: g * out, ulp=3,
    doc="Exponential.",
)  # fmt: skip

exp2 = scalar_op(
    "exp2", "x", types=upgrade_to_float, py=np.exp2, c="exp2({x})",
    grad=lambda x, out, g: g * out * like(out, math.log(2.0)), ulp=3,
    doc="Two to the power of x.",
)  # fmt: skip

expm1 = scalar_op(
    "expm1", "x", types=upgrade_to_float, py=np.expm1, c="expm1({x})",
    grad=lambda x, out, g: g * exp(x), ulp=4,
    doc="Exponential minus one, exact near zero.",
)  # fmt: skip

log = scalar_op(
    "log", "x", types=upgrade_to_float, py=np.log, c="log({x})",
    grad=lambda x, out, g: g / x, domain=(0.2, 50.0), ulp=4,
    doc="Natural logarithm.",
)  # fmt: skip

log2 = scalar_op(
    "log2", "x", types=upgrade_to_float, py=np.log2, c="log2({x})",
    grad=lambda x, out, g: g / (x * like(out, math.log(2.0))), domain=(0.2, 50.0), ulp=4,
    doc="Logarithm to base two.",
)  # fmt: skip

log10 = scalar_op(
    "log10", "x", types=upgrade_to_float, py=np.log10, c="log10({x})",
    grad=lambda x, out, g: g / (x * like(out, math.log(10.0))), domain=(0.2, 50.0), ulp=4,
    doc="Logarithm to base ten.",
)  # fmt: skip

log1p = scalar_op(
    "log1p", "x", types=upgrade_to_float, py=np.log1p, c="log1p({x})",
    grad=lambda x, out, g: g / (1 + x), domain=(-0.8, 50.0), ulp=4,
    doc="Natural logarithm of 1 + x, exact near zero.",
)  # fmt: skip

sqrt = scalar_op(
    "sqrt", "x", types=upgrade_to_float, py=np.sqrt, c="sqrt({x})",
    grad=lambda x, out, g: g * like(out, 0.5) / out, domain=(0.2, 50.0), ulp=1,
    doc="Square root.",
)  # fmt: skip


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """NumPy's power, with integers to negative powers truncated instead of refused."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind != "i":
        found = np.asarray(np.power(x, y))
        if found.dtype.kind == "f":  # NumPy takes the square root where all exponents are one 0.5, which C does not
            found = np.where((x == -np.inf) & (y == 0.5), found.dtype.type(np.inf), found)
        return found
    negative = y < 0
    one_over = np.where(x == 1, 1, np.where(x == -1, np.where(y & 1, -1, 1), 0))
    return np.where(negative, one_over, np.power(x, np.where(negative, 0, y))).astype(x.dtype)


def _power_gradient(x: Number, y: Number, out: Number, g: Number) -> tuple[Number, Number]:
    """The usual one, with what is undefined at x = 0 taken out before it is computed, so that all orders are defined.

    ``x ** 0`` is constant, at 0 too: a 0 that multiplies an infinite power would not say so. Nor is there a logarithm
    of 0: the derivative by the exponent is its limit there, 0.
    """
    zero = eq(x, 0)
    other_than_0 = isinstance(y, Constant) and y.data != 0
    exponent = y - 1 if other_than_0 else switch(zero & eq(y, 0), 0, y - 1)
    return g * y * x**exponent, switch(zero, 0, g * log(or_one(x)) * out)


pow = scalar_op(
    "pow", "x y", types=upcast_out_min8, py=_power, c="pow({x}, {y})",
    grad=_power_gradient,
    domain=[(0.3, 3.0), (-2.0, 3.0)], ulp=4,
    doc="Power of x with the exponent y; of integers an integer, truncated if y is negative.",
)  # fmt: skip


def _sigmoid(x: np.ndarray) -> np.ndarray:
    e = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, e, x.dtype.type(1)) / (1 + e))


sigmoid = scalar_op(
    "sigmoid", "x", types=upgrade_to_float_no_complex, py=_sigmoid, c="sigmoid({x})",
    grad=lambda x, out, g: g * out * (1 - out), ulp=5, class_name="ScalarSigmoid",
    doc="Logistic function, 1 / (1 + exp(-x)), from subnormals to one without overflow.",
)  # fmt: skip

softplus = scalar_op(
    "softplus", "x", types=upgrade_to_float_no_complex,
    py=lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), c="softplus({x})",
    grad=lambda x, out, g: g * sigmoid(x), ulp=5, class_name="ScalarSoftplus",
    doc="Logarithm of 1 + exp(x), without overflow.",
)  # fmt: skip


def _log1mexp(x: np.ndarray) -> np.ndarray:
    near = x > -math.log(2.0)
    return np.where(near, np.log(-np.expm1(np.where(near, x, 0))), np.log1p(-np.exp(np.where(near, -1, x))))


log1mexp = scalar_op(
    "log1mexp", "x", types=upgrade_to_float_no_complex, py=_log1mexp, domain=(-6.0, -0.1),
    c="log1mexp({x})", ulp=5,
    grad=lambda x, out, g: -g * exp(x - out),
    doc="Logarithm of 1 - exp(x) for x <= 0, exact near zero and far from it.",
)  # fmt: skip

"""Comparisons, extremes and choices. Comparisons give booleans."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from theano.scalar.base import at_inputs, flat
from theano.scalar.define import scalar_op
from theano.scalar.dtypes import is_discrete, kind, promote
from theano.scalar.output_types import bool_out, choice_out, upcast_out, upcast_out_no_complex

if TYPE_CHECKING:
    from theano.graph.op import Op


def exactly(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    """Compare in the dtype in which the inputs meet; signed integers with uint64 as they are ("")."""
    meet = promote(*in_dtypes)
    return meet if is_discrete(meet) or not all(map(is_discrete, in_dtypes)) else ""


def _compare(sign: str, if_negative: str) -> Callable[[tuple[str, ...], str], str | None]:
    """The C form of ``x sign y``; ``if_negative`` is its value where x is below all unsigned numbers."""
    mirrored = str(1 - int(if_negative)) if sign in "<=>=" and sign != "==" else if_negative

    def form(in_dtypes: tuple[str, ...], compute: str) -> str | None:
        if compute and kind(compute) == "c":
            # By real parts, then by imaginary ones; where one of these is nan, neither comes first.
            known = "imag({x}) == imag({x}) && imag({y}) == imag({y})"
            ordered = f"(real({{x}}) {sign[0]} real({{y}}) && {known})"
            same = f"(real({{x}}) == real({{y}}) && imag({{x}}) {sign} imag({{y}}))"
            equal = {"==": "equal({x}, {y})", "!=": "!equal({x}, {y})"}
            return equal.get(sign) or f"{ordered} || {same}"
        if compute:
            return f"{{x}} {sign} {{y}}"
        if kind(in_dtypes[0]) == "i":
            return f"{{x}} < 0 ? {if_negative} : (uint64_t){{x}} {sign} {{y}}"
        return f"{{y}} < 0 ? {mirrored} : {{x}} {sign} (uint64_t){{y}}"

    return form


lt = scalar_op("lt", "x y", types=bool_out, py=np.less, c=_compare("<", "1"), compute=exactly,
               grad=flat, class_name="LT", doc="Whether x is less than y.")  # fmt: skip
gt = scalar_op("gt", "x y", types=bool_out, py=np.greater, c=_compare(">", "0"), compute=exactly,
               grad=flat, class_name="GT", doc="Whether x is greater than y.")  # fmt: skip
le = scalar_op("le", "x y", types=bool_out, py=np.less_equal, c=_compare("<=", "1"), compute=exactly,
               grad=flat, class_name="LE", doc="Whether x is less than or equal to y.")  # fmt: skip
ge = scalar_op("ge", "x y", types=bool_out, py=np.greater_equal, c=_compare(">=", "0"), compute=exactly,
               grad=flat, class_name="GE", doc="Whether x is greater than or equal to y.")  # fmt: skip
eq = scalar_op("eq", "x y", types=bool_out, py=np.equal, c=_compare("==", "0"), compute=exactly,
               grad=flat, class_name="EQ", commutative=True, doc="Whether x equals y.")  # fmt: skip
neq = scalar_op("neq", "x y", types=bool_out, py=np.not_equal, c=_compare("!=", "1"), compute=exactly,
                grad=flat, class_name="NEQ", commutative=True, doc="Whether x differs from y.")  # fmt: skip

isnan = scalar_op(
    "isnan", "x", types=bool_out, py=np.isnan, compute=at_inputs, grad=flat, class_name="IsNan",
    c={"biu": "0", "f": "{x} != {x}", "c": "!equal({x}, {x})"},
    doc="Whether x is not a number.",
)  # fmt: skip

isinf = scalar_op(
    "isinf", "x", types=bool_out, py=np.isinf, compute=at_inputs, grad=flat, class_name="IsInf",
    c={"biu": "0", "f": "fabs({x}) == INFINITY",
       "c": "real({x}) == INFINITY || real({x}) == -INFINITY || imag({x}) == INFINITY || imag({x}) == -INFINITY"},
    doc="Whether x is infinite.",
)  # fmt: skip

inopenrange = scalar_op(
    "inopenrange", "x low hi", types=bool_out, py=lambda x, low, hi: (low < x) & (x < hi), compute=at_inputs,
    c={"biuf": "({low} < {x}) & ({x} < {hi})"}, grad=flat, class_name="InOpenRange",
    doc="Whether x is between two bounds and equals neither.",
)  # fmt: skip

inclosedrange = scalar_op(
    "inclosedrange", "x low hi", types=bool_out, py=lambda x, low, hi: (low <= x) & (x <= hi), compute=at_inputs,
    c={"biuf": "({low} <= {x}) & ({x} <= {hi})"}, grad=flat, class_name="InClosedRange",
    doc="Whether x is between two bounds or equals one.",
)  # fmt: skip

# Gradients of what selects: of two equal numbers the first one has all of it, so that of
# maximum(x, x) it is once x's. Inputs are compared with each other and not with the result, which may have been rounded
# otherwise where it was computed: a loop stores what its gradient computes again.

# Complex numbers are in NumPy's order: by their real parts, and where these are equal by their imaginary ones.
# The first is taken, too, where it is no number.
_COMPLEX_GE, _COMPLEX_LE = (
    f"(real({{x}}) {than} real({{y}}) && imag({{x}}) == imag({{x}}) && imag({{y}}) == imag({{y}}))"
    f" || (real({{x}}) == real({{y}}) && imag({{x}}) {than}= imag({{y}})) || !equal({{x}}, {{x}})"
    for than in "><"
)

maximum = scalar_op(
    "maximum", "x y", types=upcast_out, py=np.maximum,
    c={"biu": "{x} > {y} ? {x} : {y}", "f": "max({x}, {y})", "c": f"{_COMPLEX_GE} ? {{x}} : {{y}}"},
    grad=lambda x, y, out, g: (ge(x, y) * g, lt(x, y) * g),
    domain=[(-4.0, -0.1), (0.1, 4.0)], commutative=True, associative=True, aliases="scalar_maximum",
    attributes={"selects": True},
    doc="The larger of two numbers; nan if one is nan.",
)  # fmt: skip

minimum = scalar_op(
    "minimum", "x y", types=upcast_out, py=np.minimum,
    c={"biu": "{x} < {y} ? {x} : {y}", "f": "min({x}, {y})", "c": f"{_COMPLEX_LE} ? {{x}} : {{y}}"},
    grad=lambda x, y, out, g: (le(x, y) * g, gt(x, y) * g),
    domain=[(-4.0, -0.1), (0.1, 4.0)], commutative=True, associative=True, aliases="scalar_minimum",
    attributes={"selects": True},
    doc="The smaller of two numbers; nan if one is nan.",
)  # fmt: skip
scalar_maximum, scalar_minimum = maximum, minimum

fmax = scalar_op(
    "fmax", "x y", types=upcast_out_no_complex, py=np.fmax,
    c={"biu": "{x} > {y} ? {x} : {y}", "f": "({y} > {x}) | ({x} != {x}) ? {y} : {x}"},
    grad=lambda x, y, out, g: ((ge(x, y) | isnan(y)) * g, (lt(x, y) | isnan(x)) * g),
    domain=[(-4.0, -0.1), (0.1, 4.0)], commutative=True, associative=True, identity=np.nan,
    attributes={"selects": True}, specials=False,  # of zeros, NumPy takes either, as its vectors come
    doc="The larger of two numbers; the other one if one is nan.",
)  # fmt: skip

fmin = scalar_op(
    "fmin", "x y", types=upcast_out_no_complex, py=np.fmin,
    c={"biu": "{x} < {y} ? {x} : {y}", "f": "({y} < {x}) | ({x} != {x}) ? {y} : {x}"},
    grad=lambda x, y, out, g: ((le(x, y) | isnan(y)) * g, (gt(x, y) | isnan(x)) * g),
    domain=[(-4.0, -0.1), (0.1, 4.0)], commutative=True, associative=True, identity=np.nan,
    attributes={"selects": True}, specials=False,  # of zeros, NumPy takes either, as its vectors come
    doc="The smaller of two numbers; the other one if one is nan.",
)  # fmt: skip

clip = scalar_op(
    "clip", "x min max", types=upcast_out_no_complex,
    py=lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)),
    c="{x} < {min} ? {min} : {x} > {max} ? {max} : {x}",
    grad=lambda x, low, high, out, g: ((ge(x, low) & le(x, high)) * g, lt(x, low) * g, gt(x, high) * g),
    domain=[(-0.9, 0.9), (-2.0, -1.0), (1.0, 2.0)],
    doc="Clip x to [min, max]; NaN is preserved.",
)  # fmt: skip

switch = scalar_op(
    "switch", "cond ift iff", types=choice_out, conditions=(0,),
    py=np.where,
    c="{cond} ? {ift} : {iff}",
    grad=lambda cond, ift, iff, out, g: (flat, switch(cond, g, 0), switch(cond, 0, g)),
    domain=[(0.5, 2.0), (-4.0, 4.0), (-4.0, 4.0)],
    doc="Value of ift where cond is true (not zero), of iff elsewhere; both are computed.",
)  # fmt: skip


def InRange(openlow: bool, openhi: bool) -> Op:
    """Return the operation that tells whether a number is in an interval.

    Parameters
    ----------
    openlow, openhi : bool
        Whether the lower and the upper bound are excluded. Mixed intervals are written with ``lt`` and ``le``.

    Examples
    --------
    >>> InRange(True, True)
    inopenrange
    """
    if openlow != openhi:
        raise NotImplementedError("an interval with one open end is written (low < x) & (x <= high)")
    return inopenrange if openlow else inclosedrange

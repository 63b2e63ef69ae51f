"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from theano.scalar.arithmetic import like, or_one, sqr
from theano.scalar.base import in_double
from theano.scalar.define import scalar_op
from theano.scalar.dtypes import is_complex
from theano.scalar.exponential import sqrt
from theano.scalar.output_types import upgrade_to_float, upgrade_to_float_no_complex

if TYPE_CHECKING:
    from theano.scalar.annotations import Number

sin = scalar_op("sin", "x", types=upgrade_to_float, py=np.sin, c="sin({x})",
                grad=lambda x, out, g: g * cos(x), ulp=4, doc="Sine.")  # fmt: skip
cos = scalar_op("cos", "x", types=upgrade_to_float, py=np.cos, c="cos({x})",
                grad=lambda x, out, g: -g * sin(x), ulp=4, doc="Cosine.")  # fmt: skip
tan = scalar_op("tan", "x", types=upgrade_to_float, py=np.tan, c="tan({x})", domain=(-1.2, 1.2),
                grad=lambda x, out, g: g / sqr(cos(x)), ulp=4, doc="Tangent.")  # fmt: skip
arcsin = scalar_op("arcsin", "x", types=upgrade_to_float, py=np.arcsin, c="arcsin({x})", domain=(-0.9, 0.9),
                   grad=lambda x, out, g: g / sqrt(1 - sqr(x)), ulp=4, class_name="ArcSin",
                   doc="Inverse sine, between -pi/2 and pi/2.")  # fmt: skip
arccos = scalar_op("arccos", "x", types=upgrade_to_float, py=np.arccos, c="arccos({x})", domain=(-0.9, 0.9),
                   grad=lambda x, out, g: -g / sqrt(1 - sqr(x)), ulp=4, class_name="ArcCos",
                   doc="Inverse cosine, between 0 and pi.")  # fmt: skip
arctan = scalar_op("arctan", "x", types=upgrade_to_float, py=np.arctan, c="arctan({x})",
                   grad=lambda x, out, g: g / (1 + sqr(x)), ulp=4, class_name="ArcTan",
                   doc="Inverse tangent, between -pi/2 and pi/2.")  # fmt: skip
arctan2 = scalar_op(
    "arctan2", "y x", types=upgrade_to_float_no_complex, py=np.arctan2, c="arctan2({y}, {x})",
    grad=lambda y, x, out, g: (g * x / (sqr(x) + sqr(y)), -g * y / (sqr(x) + sqr(y))),
    domain=[(0.3, 4.0), (0.3, 4.0)], ulp=4, class_name="ArcTan2",
    doc="Angle of the point (x, y) seen from the origin, between -pi and pi.",
)  # fmt: skip


def _hypot(in_dtypes: tuple[str, ...], compute: str) -> str:
    """Return the root of the sum of squares; of doubles, scaled by a power of two where squares over- or underflow."""
    scale = back = "1.0"
    if not all(dtype in ("float16", "float32") for dtype in in_dtypes):
        # Products of choices that are not nested, of what is cheap: this is how compilers turn them into masks.
        large, small = "fabs({x}) + fabs({y}) > 0x1p+511", "fabs({x}) + fabs({y}) < 0x1p-500"
        scale = f"(({large} ? 0x1p-600 : 1.0) * ({small} ? 0x1p+600 : 1.0))"
        back = f"({large} ? 0x1p+600 : 1.0) * ({small} ? 0x1p-600 : 1.0)"
    x, y = f"({{x}} * {scale})", f"({{y}} * {scale})"
    root = f"sqrt({x} * {x} + {y} * {y}) * {back}"
    return f"(fabs({{x}}) == INFINITY) | (fabs({{y}}) == INFINITY) ? INFINITY : {root}"


def _hypot_gradient(x: Number, y: Number, out: Number, g: Number) -> tuple[Number, Number]:
    return g * x / or_one(out), g * y / or_one(out)


hypot = scalar_op(
    "hypot", "x y", types=upgrade_to_float_no_complex, py=np.hypot, compute=in_double, c=_hypot,
    grad=_hypot_gradient, domain=(0.3, 4.0), ulp=2, commutative=True,
    doc="Length of the vector (x, y), without overflow; its derivative at (0, 0), which has none, is taken as 0.",
)  # fmt: skip

sinh = scalar_op("sinh", "x", types=upgrade_to_float, py=np.sinh, c="sinh({x})",
                 grad=lambda x, out, g: g * cosh(x), ulp=4, doc="Hyperbolic sine.")  # fmt: skip
cosh = scalar_op("cosh", "x", types=upgrade_to_float, py=np.cosh, c="cosh({x})",
                 grad=lambda x, out, g: g * sinh(x), ulp=4, doc="Hyperbolic cosine.")  # fmt: skip
tanh = scalar_op("tanh", "x", types=upgrade_to_float, py=np.tanh, c="tanh({x})",
                 grad=lambda x, out, g: g * (1 - sqr(out)), ulp=4, doc="Hyperbolic tangent.")  # fmt: skip
arcsinh = scalar_op("arcsinh", "x", types=upgrade_to_float, py=np.arcsinh, c="arcsinh({x})",
                    grad=lambda x, out, g: g / sqrt(sqr(x) + 1), ulp=4, class_name="ArcSinh",
                    doc="Inverse hyperbolic sine.")  # fmt: skip
arccosh = scalar_op(
    "arccosh", "x", types=upgrade_to_float, py=np.arccosh, c="arccosh({x})", domain=(1.3, 9.0),
    # In complex numbers the root of a product is not always the product of the roots.
    grad=lambda x, out, g: g / (sqrt(x - 1) * sqrt(x + 1) if is_complex(x.type.dtype) else sqrt(sqr(x) - 1)),
    ulp=4, class_name="ArcCosh", doc="Inverse hyperbolic cosine.",
)  # fmt: skip
arctanh = scalar_op("arctanh", "x", types=upgrade_to_float, py=np.arctanh, c="arctanh({x})", domain=(-0.9, 0.9),
                    grad=lambda x, out, g: g / (1 - sqr(x)), ulp=4, class_name="ArcTanh",
                    doc="Inverse hyperbolic tangent.")  # fmt: skip

deg2rad = scalar_op(
    "deg2rad", "x", types=upgrade_to_float_no_complex, py=np.deg2rad, c="{x} * ({T})0x1.1df46a2529d39p-6",
    grad=lambda x, out, g: g * like(out, math.pi / 180), domain=(-180.0, 180.0), ulp=1, class_name="Deg2Rad",
    doc="Degrees to radians.",
)  # fmt: skip

rad2deg = scalar_op(
    "rad2deg", "x", types=upgrade_to_float_no_complex, py=np.rad2deg, c="{x} * ({T})0x1.ca5dc1a63c1f8p+5",
    grad=lambda x, out, g: g * like(out, 180 / math.pi), ulp=2, class_name="Rad2Deg",
    doc="Radians to degrees.",
)  # fmt: skip

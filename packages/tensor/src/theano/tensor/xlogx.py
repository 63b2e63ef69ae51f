"""``x log x`` and ``x log y``, which are 0 where x is 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal
from theano.tensor.elemwise.op import Elemwise

if TYPE_CHECKING:
    from theano.scalar.annotations import Number

scalar_xlogx = scal.scalar_op(
    "xlogx", "x",
    types=scal.upgrade_to_float_no_complex,
    py=lambda x: np.where(x == 0, np.zeros_like(x), x * np.log(x)),
    c="({x} == 0 ? 0 : {x} * log({x}))",
    grad=lambda x, out, g: g * (1 + scal.log(x)),
    domain=(0.1, 10.0),
    ulp=4,
    class_name="XlogX",
    doc="Product x * log(x), and 0 where x is 0.",
)  # fmt: skip



def _xlogy0_gradient(x: Number, y: Number, out: Number, g: Number) -> tuple[Number, Number]:
    # Where x is 0 so is the function, whatever y is, 0 too.
    return g * scal.log(y), g * x / scal.switch(scal.eq(x, 0) & scal.eq(y, 0), 1, y)


scalar_xlogy0 = scal.scalar_op(
    "xlogy0", "x y",
    types=scal.upgrade_to_float_no_complex,
    py=lambda x, y: np.where(x == 0, np.zeros_like(x), x * np.log(y)),
    c="({x} == 0 ? 0 : {x} * log({y}))",
    grad=_xlogy0_gradient,
    domain=(0.1, 10.0),
    ulp=4,
    class_name="XlogY0",
    doc="Product x * log(y), and 0 where x is 0.",
)  # fmt: skip

xlogx = Elemwise(scalar_xlogx, name="xlogx")
xlogy0 = Elemwise(scalar_xlogy0, name="xlogy0")
xlogx.shown_as, xlogy0.shown_as = "T.xlogx.xlogx", "T.xlogx.xlogy0"

#: The classes of the two operations on numbers, for programs that look for them.
XlogX, XlogY0 = type(scalar_xlogx), type(scalar_xlogy0)

"""Ops that PyMC defines. The module is imported with the first of these (`types.OPTIONAL`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymc.distributions import dist_math
from pymc.math import BatchedDiag

import theano.tensor as T
from theano_pytensor.convert import convert
from theano_pytensor.ops.elemwise import SCALAR_OPS
from theano_pytensor.types import cast

#: From here on the series of `_scaled_bessel` is exact; the functions themselves overflow at 713.
_FAR = 700.0


def _scaled_bessel(order: int, x: Any) -> Any:
    """Return the modified Bessel function of order 0 or 1, times ``exp(-abs(x))``.

    Far out it is 1/sqrt(2 pi a) times a series in 1/a (Abramowitz and Stegun, 9.7.1). `T.ive` computes the same for
    any order, and takes ten times as long.
    """
    x = cast(x, "float64")
    a = T.abs_(x)
    near, far = T.minimum(a, _FAR), T.maximum(a, _FAR)
    mu, term, series = 4.0 * order**2, 1.0, [1.0]
    for k in range(1, 7):
        term *= ((2 * k - 1) ** 2 - mu) / (8 * k)
        series.append(term)
    total: Any = series.pop()
    while series:
        total = total / far + series.pop()
    bessel = T.i1 if order else T.i0
    made = T.switch(a < _FAR, bessel(near) * T.exp(-near), total / T.sqrt(2 * np.pi * far))
    return T.sgn(x) * made if order else T.switch(T.isnan_(x), x, made)


SCALAR_OPS[dist_math.I0e] = lambda x: _scaled_bessel(0, x)
SCALAR_OPS[dist_math.I1e] = lambda x: _scaled_bessel(1, x)


@convert.register(BatchedDiag)
def _(op: Any, node: Any, rows: Any) -> Any:
    count, n = rows.shape[0], rows.shape[1]
    places = T.arange(n)
    return T.set_subtensor(T.zeros((count, n, n), rows.type.dtype)[:, places, places], rows)

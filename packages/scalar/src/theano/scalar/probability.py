"""Functions of probability distributions: the incomplete beta function, inverses of distribution functions, Owen's.

The NumPy form is SciPy's, where it has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from theano.scalar.arithmetic import like, sqr
from theano.scalar.base import in_double, not_implemented
from theano.scalar.define import scalar_op
from theano.scalar.exponential import exp, log, log1p
from theano.scalar.output_types import upgrade_to_float_no_complex as real_float
from theano.scalar.special import _OFF, _gamma_density, _scipy, erf, gammainc_der, gammaln, psi

if TYPE_CHECKING:
    from theano.scalar.annotations import Number


def _beta_density(a: Number, b: Number, x: Number) -> Number:
    """x^(a-1) (1-x)^(b-1) / B(a, b), the density that the incomplete beta function integrates."""
    return exp((a - 1) * log(x) + (b - 1) * log1p(-x) + gammaln(a + b) - gammaln(a) - gammaln(b))


_BETAS = [(0.5, 4.0), (0.5, 4.0), (0.1, 0.9)]

betainc = scalar_op(
    "betainc", "a b x", types=real_float, py="scipy.special.betainc", domain=_BETAS,
    c="betainc({a}, {b}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="BetaInc",
    grad=lambda a, b, x, out, g: (
        g * betainc_der_a(a, b, x), g * betainc_der_b(a, b, x), g * _beta_density(a, b, x)
    ),
    doc="Incomplete beta function, regularised.",
)  # fmt: skip


def _der_by_x(a: Number, b: Number, x: Number, logarithm: Number) -> Number:
    """The derivative of the one by a or b with respect to x: the density's derivative."""
    return _beta_density(a, b, x) * (logarithm + psi(a + b))


betainc_der_a = scalar_op(
    "betainc_der_a", "a b x", types=real_float, py=lambda a, b, x: _betainc_der(a, b, x, x), domain=_BETAS,
    c="betainc_der_a({a}, {b}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="BetaIncDerA",
    grad=lambda a, b, x, out, g: (not_implemented, not_implemented, g * _der_by_x(a, b, x, log(x) - psi(a))),
    doc="Derivative of betainc with respect to a.",
)  # fmt: skip
betainc_der_b = scalar_op(
    "betainc_der_b", "a b x", types=real_float, py=lambda a, b, x: 0 - _betainc_der(b, a, 1 - x, x), domain=_BETAS,
    c="betainc_der_b({a}, {b}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="BetaIncDerB",
    grad=lambda a, b, x, out, g: (not_implemented, not_implemented, g * _der_by_x(a, b, x, log1p(-x) - psi(b))),
    doc="Derivative of betainc with respect to b.",
)  # fmt: skip


def _betainc_der(a: np.ndarray, b: np.ndarray, x: np.ndarray, exact: np.ndarray) -> np.ndarray:
    # The integral of the density times log(t) - psi(a) + psi(a + b) on the side of x where that has one sign: as in C.
    # Of x and 1 - x the one that is `exact` has not been rounded.
    y = np.where(x == exact, 1 - x, exact)
    outside = ~((a >= 0) & (b >= 0) & (x >= 0) & (y >= 0)) | (a == 0) & ((b == 0) | (x == 0)) | (b == 0) & (y == 0)
    outside |= (a == np.inf) & (b == np.inf)
    ends = (x == 0) | (y == 0) | (a == np.inf) | (b == np.inf) | (b == 0)
    a, b, x, y = (np.where(outside | ends, 0.5, v)[..., None] for v in (a, b, x, y))
    a, b = np.maximum(a, 1e-300), np.maximum(b, 1e-300)
    psi = _scipy("psi")
    start = np.where(x < 0.5, np.log(x), np.log1p(-y)) + b / a / (a + b) + (psi(1 + a + b) - psi(1 + a))
    below = start < 0
    share = np.minimum(a, 1)  # of the factor: goes to what may be as large as 1/a
    factor = _log_beta_factor(a, b, x, y) - np.log(share)
    a, b, x, y = np.where(below, a, b), np.where(below, b, a), np.where(below, x, y), np.where(below, y, x)
    size = 1 / (1 + np.minimum(x / y, 1e300) + np.sqrt(a + a * a / (b + 1)))
    found = np.zeros(start.shape[:-1])
    for first in range(-70, 32000, 500):
        w = np.arange(first, first + 500) / 16
        s = np.exp(w - np.exp(-w)) * size
        u = -np.expm1(-s)
        away = np.log1p(np.minimum(u * x / y, 1e300))
        weights = share * (start + np.where(below, -s, away)) * s * (1 + np.exp(-w)) / (y + x * u)
        terms = np.exp(b * away - a * s + factor) * weights
        last = np.nansum(terms, axis=-1)
        found = found + last
        if np.all(np.abs(last) <= 1e-16 * np.abs(found)):
            break
    found = found * np.where(below, 1, -1)[..., 0] / 16
    return np.where(outside, np.nan, np.where(ends, 0.0, found))


def _log_beta_factor(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the logarithm of x^a y^b / B(a, b)."""
    logs = [np.where(v < 0.5, np.log(v), np.log1p(-w)) for v, w in ((x, y), (y, x))]
    gammaln = _scipy("gammaln")
    over_beta = gammaln(1 + a + b) - gammaln(1 + a) - gammaln(1 + b) + np.log(a / (a + b)) + np.log(b)
    return a * logs[0] + b * logs[1] + over_beta


def _inverse(name: str, first: float, last: float) -> Callable[..., np.ndarray]:
    """Return SciPy's inverse with the ends that it has not."""

    def inverse(*xs: np.ndarray) -> np.ndarray:
        *shapes, p = xs
        least = np.minimum.reduce(shapes)
        inside = (least > 0) & (np.maximum.reduce(shapes) < np.inf) & (p > 0) & (p < 1)
        found = _scipy(name)(*[np.where(inside, x, 0.5) for x in xs])
        if len(shapes) == 1:
            found = np.where((least < 1e-290) & ((p > 1e-280) | (first == 0)), 0.0, found)
        else:  # SciPy has none for the least p: the first term of the series
            a, b = shapes
            gammaln = _scipy("gammaln")
            term = np.exp((np.log(p) + gammaln(1 + a) + gammaln(b) - gammaln(a + b)) / a)
            found = np.where(np.isnan(found) & (p < 1e-100) | (found < 1e-300), term, found)
            found = np.where(np.maximum(a, b) < 1e-290, (1 + np.sign(p - b / (a + b))) / 2, found)
        end = ((p == 0) | (p == 1)) & ((least > 0) | (least == 0) & (len(shapes) == 1))
        return np.where(end, np.where(p == 0, first, last), np.where(inside, found, np.nan))

    return inverse


def _gamma_inverse_gradient(k: Number, x: Number, g: Number, sign: int) -> tuple[Number, Number]:
    by_p = g / _gamma_density(k, x, x)
    return -by_p * gammainc_der(k, x), sign * by_p


gammaincinv = scalar_op(
    "gammaincinv", "k p", types=real_float, py=_inverse("gammaincinv", 0, np.inf), domain=[(0.5, 4.0), (0.1, 0.9)],
    c="gammaincinv({k}, {p})", compute=in_double, ulp=_OFF, specials=False, class_name="GammaIncInv",
    grad=lambda k, p, out, g: _gamma_inverse_gradient(k, out, g, 1),
    doc="Inverse of gammainc: the x for which gammainc(k, x) is p.",
)  # fmt: skip
gammainccinv = scalar_op(
    "gammainccinv", "k p", types=real_float, py=_inverse("gammainccinv", np.inf, 0), domain=[(0.5, 4.0), (0.1, 0.9)],
    c="gammainccinv({k}, {p})", compute=in_double, ulp=_OFF, specials=False, class_name="GammaIncCInv",
    grad=lambda k, p, out, g: _gamma_inverse_gradient(k, out, g, -1),
    doc="Inverse of gammaincc: the x for which gammaincc(k, x) is p.",
)  # fmt: skip


def _betaincinv_gradient(a: Number, b: Number, p: Number, x: Number, g: Number) -> tuple[Number, Number, Number]:
    by_p = g / _beta_density(a, b, x)
    return -by_p * betainc_der_a(a, b, x), -by_p * betainc_der_b(a, b, x), by_p


betaincinv = scalar_op(
    "betaincinv", "a b p", types=real_float, py=_inverse("betaincinv", 0, 1), domain=_BETAS,
    c="betaincinv({a}, {b}, {p})", compute=in_double, ulp=_OFF, specials=False, class_name="BetaIncInv",
    grad=_betaincinv_gradient,
    doc="Inverse of betainc: the x for which betainc(a, b, x) is p.",
)  # fmt: skip
owens_t = scalar_op(
    "owens_t", "h a", types=real_float, py="scipy.special.owens_t", domain=[(-2.0, 2.0), (-3.0, 3.0)],
    c="owens_t({h}, {a})", compute=in_double, ulp=_OFF, specials=False,
    grad=lambda h, a, out, g: (
        -g * exp(-sqr(h) / 2) * erf(a * h * like(out, math.sqrt(0.5))) * like(out, 0.5 / math.sqrt(2 * math.pi)),
        g * exp(-sqr(h) * (1 + sqr(a)) / 2) / (1 + sqr(a)) * like(out, 0.5 / math.pi),
    ),
    doc="Owen's T function: the probability that X > h and 0 < Y < a X, for independent standard normal variables.",
)  # fmt: skip
ndtri_exp = scalar_op(
    "ndtri_exp", "x", types=real_float, py="scipy.special.ndtri_exp", domain=(-6.0, -0.1),
    c="ndtri_exp({x})", compute=in_double, ulp=_OFF, specials=False,
    grad=lambda x, out, g: g * exp(x + sqr(out) / 2) * like(out, math.sqrt(2 * math.pi)),
    doc="The number below which a standard normal variable is with the probability exp(x), for x <= 0.",
)  # fmt: skip

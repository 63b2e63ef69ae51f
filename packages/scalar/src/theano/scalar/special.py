"""Special functions: error functions, gamma functions, Bessel functions.

The NumPy form is SciPy's. Those without a C form are computed through it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import MethodNotDefined
from theano.scalar.arithmetic import like, sgn, sqr
from theano.scalar.base import in_double, not_implemented
from theano.scalar.comparison import lt, switch
from theano.scalar.define import scalar_op
from theano.scalar.dtypes import is_complex
from theano.scalar.exponential import exp, log
from theano.scalar.output_types import upgrade_to_float
from theano.scalar.output_types import upgrade_to_float_no_complex as real_float

if TYPE_CHECKING:
    from theano.scalar.annotations import Number

_ROOT_PI = math.sqrt(math.pi)


#: How far SciPy itself is from the exact value in places, in ULP: no measure of C, which is held to two by tests.
_OFF = 4000.0


def _size_of_reflection(x: np.ndarray) -> np.ndarray:
    """to the left of 0: the logarithm of gamma(1 - x), from which it is made, or 1 if that is more"""
    return np.where(x < 0, np.maximum(1, _scipy("gammaln")(1 - x)), 0)


def _size_of_cotangent(x: np.ndarray) -> np.ndarray:
    """to the left of 0: the logarithm of 1 - x, which meets a cotangent there, or 2 if that is more"""
    return np.where(x < 0, np.maximum(2, np.log1p(-x)), 0)


def _wave_of_j0(x: np.ndarray) -> np.ndarray:
    """the height of the waves there, sqrt(2/(pi |x|)), or 1 if that is less"""
    return np.minimum(1, np.sqrt(2 / np.pi / np.abs(x)))


def _wave_of_j1(x: np.ndarray) -> np.ndarray:
    """the height of the waves there, sqrt(2/(pi |x|)), or |x|/2 if that is less"""
    return np.minimum(np.abs(x) / 2, np.sqrt(2 / np.pi / np.abs(x)))


def _wave_of_jv(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    """for |x| > |v|: the height of the waves there, sqrt(2/pi) (x^2 - v^2)^(-1/4), or |v|^(-1/3)/2 if that is less"""
    wave = np.sqrt(2 / np.pi) * (x * x - v * v) ** -0.25
    return np.where(np.abs(x) > np.abs(v), np.minimum(wave, 0.5 * np.maximum(np.abs(v), 1) ** (-1 / 3)), 0)


def _size_of_poles(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """to the left of 0: gamma(n + 1) over the power n + 1 of the distance to the next whole number"""
    return np.where(x < 0, _scipy("gamma")(n + 1) * np.abs(x - np.rint(x)) ** -(n + 1.0), 0)


erf = scalar_op("erf", "x", types=upgrade_to_float, py="scipy.special.erf", c={"f": "erf({x})"},
                grad=lambda x, out, g: g * like(out, 2 / _ROOT_PI) * exp(-sqr(x)), ulp=4,
                doc="Error function.")  # fmt: skip
erfc = scalar_op("erfc", "x", types=real_float, py="scipy.special.erfc", c="erfc({x})",
                 grad=lambda x, out, g: -g * like(out, 2 / _ROOT_PI) * exp(-sqr(x)), ulp=8,
                 doc="Complement of the error function, 1 - erf(x), exact where it is small.")  # fmt: skip
erfcx = scalar_op("erfcx", "x", types=real_float, py="scipy.special.erfcx", domain=(-1.0, 4.0),
                  c="erfcx({x})", ulp=_OFF,
                  grad=lambda x, out, g: g * (-like(out, 2 / _ROOT_PI) + 2 * x * out),
                  doc="Scaled complement of the error function, exp(x**2) * erfc(x).")  # fmt: skip
erfinv = scalar_op("erfinv", "x", types=real_float, py="scipy.special.erfinv", domain=(-0.8, 0.8),
                   c="erfinv({x})", ulp=_OFF,
                   grad=lambda x, out, g: g * like(out, _ROOT_PI / 2) * exp(sqr(out)),
                   doc="Inverse of the error function.")  # fmt: skip
erfcinv = scalar_op("erfcinv", "x", types=real_float, py="scipy.special.erfcinv", domain=(0.2, 1.8),
                    c="erfcinv({x})", ulp=_OFF, specials=False,  # as gammaln
                    grad=lambda x, out, g: -g * like(out, _ROOT_PI / 2) * exp(sqr(out)),
                    doc="Inverse of the complement of the error function.")  # fmt: skip

gamma = scalar_op(
    "gamma", "x", types=upgrade_to_float, py="scipy.special.gamma", c={"f": "gamma({x})"},
    grad=lambda x, out, g: g * out * psi(x), domain=(0.3, 6.0), ulp=_OFF,
    doc="Gamma function.",
)  # fmt: skip
gammaln = scalar_op(
    "gammaln", "x", types=real_float, py="scipy.special.gammaln", c="gammaln({x})",
    grad=lambda x, out, g: g * psi(x), domain=(0.3, 9.0), ulp=_OFF, class_name="GammaLn",
    specials=False,  # SciPy overflows at the smallest numbers
    attributes={"ulp_floor": staticmethod(_size_of_reflection)},
    doc="Logarithm of the absolute value of the gamma function.",
)  # fmt: skip


def _slope_of_psi(x: Number) -> Number:
    if is_complex(x.type.dtype):  # SciPy has none to compare with
        raise MethodNotDefined("grad", type(psi), "psi of complex numbers")
    return tri_gamma(x)


psi = scalar_op("psi", "x", types=upgrade_to_float, py="scipy.special.psi", domain=(0.3, 9.0), c={"f": "psi({x})"},
                ulp=_OFF, attributes={"ulp_floor": staticmethod(_size_of_cotangent)},
                grad=lambda x, out, g: g * _slope_of_psi(x),
                doc="Derivative of gammaln, the digamma function.")  # fmt: skip
polygamma = scalar_op(
    "polygamma", "n x", types=real_float, py=lambda n, x: _polygamma(n, x), domain=[(2.0, 2.0), (0.5, 5.0)],
    c="polygamma({n}, {x})", compute=in_double, ulp=_OFF, specials=False,
    attributes={"ulp_floor": staticmethod(_size_of_poles)},
    grad=lambda n, x, out, g: (not_implemented, g * polygamma(n + 1, x)),
    doc="The n-th derivative of psi, for whole n >= 0.",
)  # fmt: skip
tri_gamma = scalar_op("tri_gamma", "x", types=real_float, py=lambda x: _tri_gamma(x), domain=(0.3, 9.0),
                      c="tri_gamma({x})", compute=in_double, ulp=_OFF,
                      grad=lambda x, out, g: g * polygamma(like(out, 2), x),
                      doc="Derivative of psi.")  # fmt: skip


def _polygamma(n: Any, x: Any) -> np.ndarray:
    # Of other n SciPy gives what depends on how it computes.
    whole = (n >= 0) & (n < np.inf) & (n == np.floor(n))
    return np.where(whole, _scipy("polygamma")(np.where(whole, n, 1), x), np.nan)


def _tri_gamma(x: np.ndarray) -> np.ndarray:
    # By reflection to the left of 0, where SciPy adds up one term for each whole number on the way.
    away = np.abs(x)
    distance = away - np.rint(away)
    return np.where(x < 0, (np.pi / np.sin(np.pi * distance)) ** 2 - _polygamma(1, 1 + away), _polygamma(1, away))


def _gamma_density(k: Number, x: Number, out: Number) -> Number:
    """x^(k-1) exp(-x) / gamma(k), the density that the incomplete gamma functions integrate."""
    return exp((k - 1) * log(x) - x - gammaln(k))


# SciPy loses what is very small: none of these agrees with it there.
gammainc = scalar_op(
    "gammainc", "k x", types=real_float, py="scipy.special.gammainc", domain=[(0.5, 4.0), (0.5, 6.0)],
    c="gammainc({k}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="GammaInc",
    grad=lambda k, x, out, g: (g * gammainc_der(k, x), g * _gamma_density(k, x, out)),
    doc="Lower incomplete gamma function, regularised.",
)  # fmt: skip
gammaincc = scalar_op(
    "gammaincc", "k x", types=real_float, py="scipy.special.gammaincc", domain=[(0.5, 4.0), (0.5, 6.0)],
    c="gammaincc({k}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="GammaIncC",
    grad=lambda k, x, out, g: (-g * gammainc_der(k, x), -g * _gamma_density(k, x, out)),
    doc="Upper incomplete gamma function, regularised.",
)  # fmt: skip
gammal = scalar_op(
    "gammal", "k x", types=real_float, py=lambda k, x: _gammal(k, x), domain=[(0.5, 4.0), (0.5, 6.0)],
    c="gammal({k}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="GammaL",
    grad=lambda k, x, out, g: (g * (out * psi(k) + gamma(k) * gammainc_der(k, x)), g * exp((k - 1) * log(x) - x)),
    doc="Lower incomplete gamma function.",
)  # fmt: skip
gammau = scalar_op(
    "gammau", "k x", types=real_float, py=lambda k, x: _gammau(k, x), domain=[(0.5, 4.0), (0.5, 6.0)],
    c="gammau({k}, {x})", compute=in_double, ulp=_OFF, specials=False, class_name="GammaU",
    grad=lambda k, x, out, g: (g * (out * psi(k) - gamma(k) * gammainc_der(k, x)), -g * exp((k - 1) * log(x) - x)),
    doc="Upper incomplete gamma function.",
)  # fmt: skip
chi2sf = scalar_op(
    "chi2sf", "x k", types=real_float, py=lambda x, k: _chi2sf(x, k), domain=[(0.5, 6.0), (1.0, 5.0)],
    c="chi2sf({x}, {k})", compute=in_double, ulp=_OFF, specials=False, class_name="Chi2SF",
    grad=lambda x, k, out, g: tuple(
        switch(lt(x, 0), 0, -g * slope / 2)
        for slope in (_gamma_density(k / 2, x / 2, out), gammainc_der(k / 2, x / 2))
    ),
    doc="Probability that a chi-squared variable of k degrees of freedom exceeds x.",
)  # fmt: skip
gammainc_der = scalar_op(
    "gammainc_der", "k x", types=real_float, py=lambda k, x: _gammainc_der(k, x), domain=[(0.5, 4.0), (0.5, 6.0)],
    c="gammainc_der({k}, {x})", compute=in_double, ulp=_OFF, specials=False,  # SciPy has none: differences of its own
    grad=lambda k, x, out, g: (not_implemented, g * _gamma_density(k, x, out) * (log(x) - psi(k))),
    class_name="GammaIncDer",
    doc="Derivative of gammainc with respect to k.",
)  # fmt: skip


def _chi2sf(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    # In SciPy, half of the least number is 0, so the ends are handled first. No such variable is below 0.
    ends = np.where(x <= 0, np.where(k > 0, 1.0, np.nan), 0.0)
    outside = np.isnan(x) | ~(k >= 0)
    return np.where(outside, np.nan, np.where((x <= 0) | (k == 0), ends, _scipy("chdtrc")(k, x)))


def _gammal(k: np.ndarray, x: np.ndarray) -> np.ndarray:
    whole, part = _scipy("gamma")(k), _scipy("gammainc")(k, x)
    # Their product may be a number where one is inf, or 0: x is then so far below k that its power series ends soon.
    ratios = np.minimum(x / k, 1)[..., None] / (1 + np.arange(1, 200) / k[..., None])
    series = np.exp(k * np.log(x) - x) / k * (1 + np.cumprod(ratios, axis=-1).sum(axis=-1))
    return np.where(((whole == np.inf) | (part < 1e-290)) & (k > 1) & (k < np.inf) & (x <= k), series,
                    np.where((x == 0) & (k > 0) & (k < np.inf), 0.0, part * whole))  # fmt: skip


def _gammainc_der(k: np.ndarray, x: np.ndarray) -> np.ndarray:
    # The integral of t^(k-1) exp(-t) (log(t) - psi(k)) on the side of x where the logarithm has one sign: as in C.
    outside = ~(k >= 0) | ~(x >= 0) | (k == x) & ((k == 0) | (k == np.inf))
    # Below 1e-16 k makes no difference.
    zero, k, x = (k == 0)[..., None], np.maximum(k, 1e-16)[..., None], np.asarray(x)[..., None]
    start = np.log(x) - _scipy("psi")(k)
    w = np.arange(-70, 700) / 16
    s = np.where(start < 0, 1 / (1 + np.sqrt(k)), 1) * np.exp(w - np.exp(-w))
    r = np.where(start < 0, -s, np.log1p(np.minimum(s / x, 1e300)))
    weight = np.where(start < 0, 1, -1 / (x + s)) * (start + r) * s * (1 + np.exp(-w))
    terms = np.exp(k * r - np.where(start < 0, x * np.expm1(r), s)) * weight
    found = np.nansum(terms, axis=-1) / 16 * np.exp(k * np.log(x) - x - _scipy("gammaln")(k))[..., 0]
    ends = (x == np.inf) ^ (k == np.inf) | (x == 0) & ~zero
    return np.where(outside, np.nan, np.where(ends[..., 0], 0.0, found))


def _gammau(k: np.ndarray, x: np.ndarray) -> np.ndarray:
    whole, part = _scipy("gamma")(k), _scipy("gammaincc")(k, x)
    far = np.exp(np.log(part) + _scipy("gammaln")(k))
    part = np.where((x == np.inf) & (k >= 0) & (k < np.inf), 0.0, part)
    whole = np.where((x == np.inf) & (k >= 0) & (k < np.inf), 0.0, whole)
    return np.where((k == 0) & (x > 0), _scipy("exp1")(x), np.where((whole == np.inf) & (k > 1), far, part * whole))


j0 = scalar_op(
    "j0", "x", types=real_float, py=lambda x: np.where(np.isinf(x), 0, _scipy("j0")(x)), c="j0({x})", compute=in_double,
    grad=lambda x, out, g: -g * j1(x), ulp=_OFF, attributes={"ulp_floor": staticmethod(_wave_of_j0)},
    domain=(0.3, 9.0), specials=False,  # SciPy loses its digits far out
    doc="Bessel function of the first kind of order 0.",
)  # fmt: skip
j1 = scalar_op(
    "j1", "x", types=real_float, py=lambda x: np.where(np.isinf(x), 0 * np.sign(x), _scipy("j1")(x)), c="j1({x})",
    compute=in_double, grad=lambda x, out, g: g * (j0(x) - jv(like(out, 2), x)) / 2, ulp=_OFF,
    attributes={"ulp_floor": staticmethod(_wave_of_j1)}, domain=(0.3, 9.0), specials=False,  # as j0
    doc="Bessel function of the first kind of order 1.",
)  # fmt: skip
jv = scalar_op("jv", "v x", types=real_float, py=lambda v, x: _jv(v, x), domain=[(0.0, 3.0), (0.3, 9.0)],
               c="jv({v}, {x})", compute=in_double, ulp=_OFF, attributes={"ulp_floor": staticmethod(_wave_of_jv)},
               specials=False,  # as j0
               grad=lambda v, x, out, g: (not_implemented, g * (jv(v - 1, x) - jv(v + 1, x)) / 2),
               doc="Bessel function of the first kind of order v.")  # fmt: skip
i0 = scalar_op("i0", "x", types=real_float, py=lambda x: np.where(np.isinf(x), np.inf, _scipy("i0")(x)),
               grad=lambda x, out, g: g * i1(x), domain=(0.3, 4.0),
               c="i0({x})", compute=in_double, ulp=_OFF,
               doc="Modified Bessel function of the first kind of order 0.")  # fmt: skip
i1 = scalar_op("i1", "x", types=real_float, py=lambda x: np.where(np.isinf(x), x, _scipy("i1")(x)), domain=(0.3, 4.0),
               c="i1({x})", compute=in_double, ulp=_OFF,
               grad=lambda x, out, g: g * (i0(x) + iv(like(out, 2), x)) / 2,
               doc="Modified Bessel function of the first kind of order 1.")  # fmt: skip
iv = scalar_op("iv", "v x", types=real_float, py=lambda v, x: _iv(v, x), domain=[(0.0, 3.0), (0.3, 4.0)],
               c="iv({v}, {x})", compute=in_double, ulp=_OFF, specials=False,
               grad=lambda v, x, out, g: (not_implemented, g * (iv(v - 1, x) + iv(v + 1, x)) / 2),
               doc="Modified Bessel function of the first kind of order v.")  # fmt: skip
ive = scalar_op("ive", "v x", types=real_float, py=lambda v, x: _ive(v, x), domain=[(0.0, 3.0), (0.3, 4.0)],
                c="ive({v}, {x})", compute=in_double, ulp=_OFF, specials=False,
                grad=lambda v, x, out, g: (not_implemented, g * ((ive(v - 1, x) + ive(v + 1, x)) / 2 - sgn(x) * out)),
                doc="Modified Bessel function of the first kind of order v, times exp(-abs(x)).")  # fmt: skip
kve = scalar_op("kve", "v x", types=real_float, py=lambda v, x: _kve(v, x), domain=[(0.0, 3.0), (0.3, 4.0)],
                c="kve({v}, {x})", compute=in_double, ulp=_OFF, specials=False,
                grad=lambda v, x, out, g: (not_implemented, g * (out - v / x * out - kve(v - 1, x))),
                doc="Modified Bessel function of the second kind of order v, times exp(x).")  # fmt: skip


def _odd(v: np.ndarray) -> np.ndarray:
    """Return -1 for odd orders, 1 for even ones, nan for others."""
    return np.where(v != np.floor(v), np.nan, np.where(np.fmod(v, 2) == 0, 1.0, -1.0))


def _at_the_ends(v: Any, x: Any, found: Any, ends: Any) -> Any:
    """Return the values at infinite arguments and orders, where SciPy has no answer, or another each time."""
    ends = np.where(x < 0, ends * _odd(v), np.where(np.isnan(v), np.nan, ends))
    beyond = np.where((v > 0) & (x >= 0) & (x < np.inf), 0.0, np.nan)
    return np.where(np.isinf(v), beyond, np.where(np.isinf(x), ends, found))


def _jv(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _at_the_ends(v, x, np.where((x == 0) & (v > 0), 0.0, _scipy("jv")(v, x)), 0.0)


def _iv(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    whole = v == np.floor(v)
    order = np.where(whole, np.abs(v), v)
    # The first term of its series: SciPy gives 0 for the smallest results, and forgets the sides of poles at 0.
    near = np.where(np.isfinite(v) & (whole | (x >= 0)), (x / 2) ** order * _scipy("rgamma")(order + 1), np.nan)
    found = np.where(np.abs(x) < 1e-20, np.where(whole, near + 0.0, near), _scipy("iv")(v, x))
    return _at_the_ends(v, x, found, np.inf)


def _far(v: np.ndarray, x: np.ndarray, side: int) -> np.ndarray:
    """Return Hankel's expansion of the modified functions without exp(+-x), of which SciPy knows little for large x."""
    first = (4 * v * v - 1) / (8 * x)
    return (1 - side * first * (1 - side * (4 * v * v - 9) / (16 * x))) / np.sqrt(x)


def _ive(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    # Near 0 the factor exp(-abs(x)) is 1.
    found = np.where(np.abs(x) < 1e-20, _iv(v, x), _scipy("ive")(v, x))
    sign = np.where(x < 0, _odd(v), 1.0)
    far = sign * _far(v, np.abs(x), 1) / np.sqrt(2 * np.pi)
    return _at_the_ends(v, x, np.where(np.abs(x) > 1e5 * (1 + v * v), far, found), 0.0)


def _kve(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    found = np.where(x > 1e5 * (1 + v * v), np.sqrt(np.pi / 2) * _far(v, x, -1), _scipy("kve")(v, x))
    # SciPy gives infinity for the smallest numbers.
    found = np.where((v == 0) & (x > 0) & (x < 1e-300), np.log(2) - np.log(x) - np.euler_gamma, found)
    found = np.where(np.isinf(v) & (x >= 0), np.inf, np.where(np.isinf(x), 0.0, found))
    return np.where((x >= 0) & ~np.isnan(v) & ~(np.isinf(x) & np.isinf(v)), found, np.nan)


def _scipy(name: str) -> Any:
    import scipy.special  # loaded at the first use, as above

    return getattr(scipy.special, name)

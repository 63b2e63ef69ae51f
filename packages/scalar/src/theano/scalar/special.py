"""Special functions: error functions, gamma functions, Bessel functions.

The NumPy form is SciPy's. Those without a C form are computed through it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from theano.scalar.arithmetic import like, sqr
from theano.scalar.base import not_implemented
from theano.scalar.define import scalar_op
from theano.scalar.exponential import exp, log
from theano.scalar.output_types import upgrade_to_float_no_complex as real_float

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


def in_double(in_dtypes: tuple[str, ...], out_dtype: str) -> str:
    """Compute in float64: the C library's float versions are poor, or SciPy has none."""
    return "float64"


erf = scalar_op("erf", "x", types=real_float, py="scipy.special.erf", c="erf({x})",
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
    "gamma", "x", types=real_float, py="scipy.special.gamma", c="gamma({x})",
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
psi = scalar_op("psi", "x", types=real_float, py="scipy.special.psi", domain=(0.3, 9.0), c="psi({x})",
                ulp=_OFF, attributes={"ulp_floor": staticmethod(_size_of_cotangent)},
                grad=lambda x, out, g: g * tri_gamma(x),
                doc="Derivative of gammaln, the digamma function.")  # fmt: skip
polygamma = scalar_op(
    "polygamma", "n x", types=real_float, py=lambda n, x: _polygamma(n, x), domain=[(2.0, 2.0), (0.5, 5.0)],
    grad=lambda n, x, out, g: (not_implemented, g * polygamma(n + 1, x)),
    doc="The n-th derivative of psi.",
)  # fmt: skip
tri_gamma = scalar_op("tri_gamma", "x", types=real_float, py=lambda x: _tri_gamma(x), domain=(0.3, 9.0),
                      c="tri_gamma({x})", compute=in_double, ulp=_OFF,
                      grad=lambda x, out, g: g * polygamma(like(out, 2), x),
                      doc="Derivative of psi.")  # fmt: skip


def _polygamma(n: Any, x: Any) -> Any:
    # SciPy takes longer to load than all the rest of the layer, and few programs use this.
    from scipy.special import polygamma as scipy_polygamma

    return scipy_polygamma(n, x)


def _tri_gamma(x: np.ndarray) -> np.ndarray:
    # By reflection to the left of 0, where SciPy adds up one term for each whole number on the way.
    away = np.abs(x)
    distance = away - np.rint(away)
    return np.where(x < 0, (np.pi / np.sin(np.pi * distance)) ** 2 - _polygamma(1, 1 + away), _polygamma(1, away))


def _gamma_density(k: Any, x: Any, out: Any) -> Any:
    """x^(k-1) exp(-x) / gamma(k), the density that the incomplete gamma functions integrate."""
    return exp((k - 1) * log(x) - x - gammaln(k))


gammainc = scalar_op(
    "gammainc", "k x", types=real_float, py="scipy.special.gammainc", domain=[(0.5, 4.0), (0.5, 6.0)],
    grad=lambda k, x, out, g: (not_implemented, g * _gamma_density(k, x, out)), class_name="GammaInc",
    doc="Lower incomplete gamma function, regularised.",
)  # fmt: skip
gammaincc = scalar_op(
    "gammaincc", "k x", types=real_float, py="scipy.special.gammaincc", domain=[(0.5, 4.0), (0.5, 6.0)],
    grad=lambda k, x, out, g: (not_implemented, -g * _gamma_density(k, x, out)), class_name="GammaIncC",
    doc="Upper incomplete gamma function, regularised.",
)  # fmt: skip
gammal = scalar_op(
    "gammal", "k x", types=real_float, py=lambda k, x: _scipy("gammainc")(k, x) * _scipy("gamma")(k),
    domain=[(0.5, 4.0), (0.5, 6.0)], class_name="GammaL",
    grad=lambda k, x, out, g: (not_implemented, g * exp((k - 1) * log(x) - x)),
    doc="Lower incomplete gamma function.",
)  # fmt: skip
gammau = scalar_op(
    "gammau", "k x", types=real_float, py=lambda k, x: _scipy("gammaincc")(k, x) * _scipy("gamma")(k),
    domain=[(0.5, 4.0), (0.5, 6.0)], class_name="GammaU",
    grad=lambda k, x, out, g: (not_implemented, -g * exp((k - 1) * log(x) - x)),
    doc="Upper incomplete gamma function.",
)  # fmt: skip
chi2sf = scalar_op(
    "chi2sf", "x k", types=real_float, py=lambda x, k: _scipy("chdtrc")(k, x), domain=[(0.5, 6.0), (1.0, 5.0)],
    grad=lambda x, k, out, g: (-g * _gamma_density(k / 2, x / 2, out) / 2, not_implemented), class_name="Chi2SF",
    doc="Probability that a chi-squared variable of k degrees of freedom exceeds x.",
)  # fmt: skip

j0 = scalar_op(
    "j0", "x", types=real_float, py=lambda x: np.where(np.isinf(x), 0, _scipy("j0")(x)), c="j0({x})", compute=in_double,
    grad=lambda x, out, g: -g * j1(x), ulp=_OFF, attributes={"ulp_floor": staticmethod(_wave_of_j0)},
    domain=(0.3, 9.0), specials=False,  # SciPy loses its digits far out
    doc="Bessel function of the first kind of order 0.",
)  # fmt: skip
j1 = scalar_op(
    "j1", "x", types=real_float, py=lambda x: np.where(np.isinf(x), 0 * np.sign(x), _scipy("j1")(x)), c="j1({x})",
    compute=in_double, grad=lambda x, out, g: g * (j0(x) - out / x), ulp=_OFF,
    attributes={"ulp_floor": staticmethod(_wave_of_j1)}, domain=(0.3, 9.0), specials=False,  # as j0
    doc="Bessel function of the first kind of order 1.",
)  # fmt: skip
jv = scalar_op("jv", "v x", types=real_float, py="scipy.special.jv", domain=[(0.0, 3.0), (0.3, 9.0)],
               grad=lambda v, x, out, g: (not_implemented, g * (jv(v - 1, x) - jv(v + 1, x)) / 2),
               doc="Bessel function of the first kind of order v.")  # fmt: skip
i0 = scalar_op("i0", "x", types=real_float, py=lambda x: np.where(np.isinf(x), np.inf, _scipy("i0")(x)),
               grad=lambda x, out, g: g * i1(x), domain=(0.3, 4.0),
               c="i0({x})", compute=in_double, ulp=_OFF,
               doc="Modified Bessel function of the first kind of order 0.")  # fmt: skip
i1 = scalar_op("i1", "x", types=real_float, py=lambda x: np.where(np.isinf(x), x, _scipy("i1")(x)), domain=(0.3, 4.0),
               c="i1({x})", compute=in_double, ulp=_OFF,
               grad=lambda x, out, g: g * (i0(x) - out / x),
               doc="Modified Bessel function of the first kind of order 1.")  # fmt: skip
iv = scalar_op("iv", "v x", types=real_float, py="scipy.special.iv", domain=[(0.0, 3.0), (0.3, 4.0)],
               grad=lambda v, x, out, g: (not_implemented, g * (iv(v - 1, x) + iv(v + 1, x)) / 2),
               doc="Modified Bessel function of the first kind of order v.")  # fmt: skip


def _scipy(name: str) -> Any:
    import scipy.special  # loaded at the first use, as above

    return getattr(scipy.special, name)

"""How exact the C forms are: references to any number of digits, where to look, and the distance in ULP.

The reference is Arb, through python-flint: it encloses each result, so that the digits it gives are proven; where
it is not installed, mpmath with thirty spare digits. A test compares the two.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import theano.scalar as ts
from theano.scalar.registry import OPS

try:
    import flint
except ImportError:  # not there on every platform: slower without
    flint = None

Special = Callable[[np.random.Generator, int], Sequence[np.ndarray]]


class Reference(NamedTuple):
    """A function to any precision: of Arb's balls, and of mpmath's numbers.

    ``where`` draws arguments from a region of its own, beyond those that all functions are tried in, or, if ``alone``,
    in place of them: the reference has no digits of large orders, or needs minutes for them.
    """

    arb: Callable[..., Any]
    mpmath: Callable[..., Any]
    where: Special | None = None
    alone: bool = False


#: Where nothing else is said, our own functions are this near to the exact value, in units of its last place.
BOUND = 2.0


def measured_ops(dtype: str = "float64") -> dict[str, Any]:
    """Return the operations from floats to a float whose C form is an approximation, by name.

    They are those whose statement lets C and NumPy differ (``ulp``) and that have a C form.
    """
    found = {}
    for op in OPS.values():
        if not isinstance(op, ts.DefinedOp) or op.module != "theano.scalar" or op.ulp == 0 or op.nin < 1:
            continue
        try:
            outs = [t.dtype for t in op.output_types([ts.get_scalar_type(dtype)] * op.nin)]
        except TypeError:
            continue
        if outs == [dtype] and statement(op, dtype) is not None:
            found[op.op_name] = op
    return dict(sorted(found.items()))


def statement(op: Any, dtype: str) -> str | None:
    """Return the C statement of an operation for one dtype."""
    body = op.c_statements([f"x{i}" for i in range(op.nin)], [dtype] * op.nin, ["y"], [dtype])
    return None if body is None else " ".join(body.lines)


def is_own(op: Any, dtype: str) -> bool:
    """Return whether the C form calls our functions only, none of the C library's approximations."""
    called = set(re.findall(r"(\w+)\(", statement(op, dtype) or ""))
    return all(name.startswith("th_") or name in ("sqrt", "sqrtf", "fabs", "fabsf") for name in called)


# -- what is exact -----------------------------------------------------------------------------------


def _mp(name: str, *before: Any) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        import mpmath

        return getattr(mpmath, name)(*before, *args, **keywords)

    return call


def _same(text: str) -> Reference:
    """Return a reference from one expression, where both libraries spell all its functions alike."""
    code = compile(text, text, "eval")
    methods = {name: _method(name) for name in _SHARED}

    def arb_form(x: Any, y: Any = None) -> Any:
        return eval(code, methods, {"x": x, "y": y})

    def mp_form(x: Any, y: Any = None) -> Any:
        return eval(code, {name: _mp(name) for name in _SHARED}, {"x": x, "y": y})

    return Reference(arb_form, mp_form)


def _method(name: str) -> Callable[[Any], Any]:
    return lambda v: getattr(v, name)()


_SHARED = "exp expm1 log log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc gamma".split()


def _arb_log_gamma(x: Any) -> Any:
    return x.lgamma() if x > 0 else abs(x.gamma()).log()


def _arb_trigamma(x: Any) -> Any:
    two = flint.arb(2)
    if x > 0:
        return two.zeta(x)
    return (flint.arb.pi() / x.sin_pi()) ** 2 - two.zeta(1 - x)


def _arb_lower(k: Any, x: Any) -> Any:
    """Return the regularised lower incomplete gamma function: Arb's own gives no digits for many large k."""
    if k <= 0 or x <= 0:
        return flint.arb("nan")
    if x > k:
        return 1 - x.gamma_upper(k, regularized=1)
    term = total = flint.arb(1)
    n = 0
    while n < 4 or not (term < total * flint.arb(2) ** -(flint.ctx.prec + 8) and 2 * x < k + n):
        n += 1
        term = term * x / (k + n)
        total += term
    return (total + flint.arb(0, term)) * x**k * (-x).exp() / (k + 1).gamma()


def _arb_upper(k: Any, x: Any, regularized: int = 1) -> Any:
    return flint.arb("nan") if k < 0 or x < 0 else x.gamma_upper(k, regularized=regularized)


def _arb_slope(k: Any, x: Any) -> Any:
    """Return the derivative of the regularised lower incomplete gamma function with respect to k, from its series."""
    if k <= 0 or x <= 0:
        return flint.arb("nan")
    term, psi = flint.arb(1), (k + 1).digamma()
    total = x.log() - psi
    n = 0
    while n < 4 or not (abs(term) < flint.arb(2) ** -(flint.ctx.prec + 8) and 2 * x < k + n):
        n += 1
        psi += 1 / (k + n)
        term = term * x / (k + n)
        total += term * (x.log() - psi)
    return (total + flint.arb(0, term * (n + 10))) * x**k * (-x).exp() / (k + 1).gamma()


def _arb_beta(a: Any, b: Any, x: Any) -> Any:
    return x.beta_lower(a, b, regularized=1) if a > 0 and b > 0 and 0 < x < 1 else flint.arb("nan")


def _arb_beta_slope(a: Any, b: Any, x: Any, by_a: bool) -> Any:
    """Return the derivative of the regularised incomplete beta function with respect to a or b, from its series."""
    if not (a > 0 and b > 0 and 0 < x < 1):
        return flint.arb("nan")
    if x > 0.5:
        return -_arb_beta_slope(b, a, 1 - x, not by_a)
    over, under = (a + b).digamma(), (a + 1).digamma()
    fixed = x.log() if by_a else (1 - x).log() - b.digamma()
    term, total = flint.arb(1), flint.arb(0)
    n = 0
    while n < 4 or not (abs(term) < flint.arb(2) ** -(flint.ctx.prec + 8) and 4 * x * (a + b + n) < 3 * (a + 1 + n)):
        total += term * (fixed + over - (under if by_a else 0))
        over, under = over + 1 / (a + b + n), under + 1 / (a + 1 + n)
        term = term * x * (a + b + n) / (a + 1 + n)
        n += 1
    total += flint.arb(0, abs(term) * (n + 1000))
    return total * x**a * (1 - x) ** b * (a + b).gamma() / (a + 1).gamma() / b.gamma()


def _arb_inverse(forward: Any, slope: Any, name: str) -> Callable[..., Any]:
    """Return the inverse of a function in its last argument, by Newton's method from SciPy's number."""

    def inverse(*xs: Any) -> Any:
        import scipy.special

        *shapes, p = xs
        if not 0 < p < 1 or not min(shapes) > 1e-3:
            return flint.arb("nan")
        found = float(getattr(scipy.special, name)(*map(float, xs)))
        if name == "betaincinv" and found > 0.5 and p > 0.1:  # not by its distance from 0, of which nothing may be left
            return 1 - inverse(*shapes[::-1], 1 - p)
        if name == "betaincinv" and not found > 1e-300:  # SciPy has none for the least p: the first term of the series
            a, b = shapes
            found = float((p * a * a.gamma() * b.gamma() / (a + b).gamma()) ** (1 / a))
        if found == 0 and p < 0.9:
            return flint.arb(0)
        x = flint.arb(found)
        for _ in range(40):
            away = (forward(*shapes, x) - p) / slope(*shapes, x)
            if abs(away) < x * flint.arb(2) ** -(flint.ctx.prec // 2):
                return x - away + flint.arb(0, away)
            x = flint.arb((x - away).mid())
            if not x > 0:
                break
        return flint.arb("nan")

    return inverse


def _arb_gamma_density(k: Any, x: Any) -> Any:
    return x ** (k - 1) * (-x).exp() / k.gamma()


def _arb_beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) * (a + b).gamma() / a.gamma() / b.gamma()


def _mp_inverse(forward: Any, name: str) -> Callable[..., Any]:
    def inverse(*xs: Any) -> Any:
        import mpmath
        import scipy.special

        start = mpmath.mpf(float(getattr(scipy.special, name)(*map(float, xs))))
        return mpmath.findroot(lambda x: forward(*xs[:-1], x) - xs[-1], (start, start * (1 + mpmath.mpf(2) ** -40)))

    return inverse


def _arb_owens_t(h: Any, a: Any) -> Any:
    half = flint.arb(0.5)
    if abs(a) > 1:  # by the same of a h and 1/a
        h, q, other = abs(h), (abs(h) * half.sqrt()).erfc() / 2, (abs(a * h) * half.sqrt()).erfc() / 2
        return (1 if a > 0 else -1) * ((q + other) / 2 - q * other - _arb_owens_t(h * abs(a), 1 / abs(a)))
    f = lambda x, _: (-(h * h) * (1 + x * x) / 2).exp() / (1 + x * x)
    return flint.acb.integral(f, 0, a, abs_tol=(-(h * h) / 2).exp() * abs(a) * flint.arb(2) ** -flint.ctx.prec).real / flint.arb.pi() / 2


def _mp_owens_t(h: Any, a: Any) -> Any:
    import mpmath

    return mpmath.quad(lambda x: mpmath.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), [0, a]) / 2 / mpmath.pi


def _arb_ndtri_exp(x: Any) -> Any:
    if not x < 0:
        return flint.arb("nan")
    root = flint.arb(2).sqrt()
    if x > -0.5:
        return root * (-2 * x.expm1()).erfcinv()
    if x > -700:
        return -root * (2 * x.exp()).erfcinv()
    y = -(-2 * x).sqrt()
    for _ in range(60):
        away = (_arb_log_ndtr(y) - x) / (-y - 1 / y)
        if abs(away) < abs(y) * flint.arb(2) ** -(flint.ctx.prec // 2):
            return y - away + flint.arb(0, away * 2**-10)
        y = flint.arb((y - away).mid())
    return flint.arb("nan")


def _arb_log_ndtr(y: Any) -> Any:
    if y > -1000:
        return ((-y / flint.arb(2).sqrt()).erfc() / 2).log()
    term = total = flint.arb(1)  # the asymptotic series, whose error is less than its last term
    for k in range(1, 20):
        term = -term * (2 * k - 1) / (y * y)
        total += term
    return -y * y / 2 + ((total + flint.arb(0, term)) / -y / (2 * flint.arb.pi()).sqrt()).log()


def _ndtri_exp(x: Any) -> Any:
    import mpmath

    with mpmath.extraprec(200):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.exp(x) - 1)


def _arb_polygamma(n: Any, x: Any) -> Any:
    """Return (-1)^(n+1) n! times the sum of (x + k)^-(n+1) over all k >= 0."""
    power = int(float(n)) + 1
    if n < 1 or power != float(n) + 1:
        return x.digamma() if n == 0 else flint.arb("nan")
    steps = 0 if x > 0 else -math.floor(float(x))
    total = sum((1 / (x + k) ** power for k in range(steps)), flint.arb(power).zeta(x + steps))
    return (-1) ** power * flint.arb(power).gamma() * total


def _powers(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Return bases and exponents whose powers fill the range of a double."""
    x = np.exp(rng.uniform(-1, 1, count) * 2.0 ** rng.uniform(-40, 9, count))
    return [x, rng.uniform(-745, 710, count) / np.where(x == 1, 1, np.log(x))]


def _near(number: float) -> Special:
    def draw(rng: np.random.Generator, count: int) -> list[np.ndarray]:
        return [number * (1 + rng.choice([-1, 1], count) * 2.0 ** -rng.uniform(1, 53, count))]

    return draw


def _shapes(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Return shapes and ends of incomplete gamma functions: near each other, apart, and of all sizes down to 1e-30."""
    third = count // 3
    k = [rng.uniform(0, 2000, third), rng.uniform(0, 60, third), 10.0 ** rng.uniform(-30, 2, count - 2 * third)]
    x = [k[0] * (1 + rng.normal(size=third) * 4 / np.sqrt(k[0] + 1)), rng.uniform(0, 120, third)]
    return [np.concatenate(k), np.abs(np.concatenate([*x, 10.0 ** rng.uniform(-30, 2, count - 2 * third)]))]


def _betas(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Return shapes and ends of incomplete beta functions: near the mean, anywhere, and of all sizes down to 1e-30."""
    third = count // 3
    a, b = (np.concatenate([rng.uniform(0, 1000, third), rng.uniform(0, 60, third),
                            10.0 ** rng.uniform(-30, 2, count - 2 * third)]) for _ in range(2))  # fmt: skip
    mean = a / (a + b)
    near = mean + rng.normal(size=count) * 4 * np.sqrt(mean * (1 - mean) / (a + b + 1))
    x = np.where(rng.random(count) < 0.5, near, rng.random(count))
    x = np.where(rng.random(count) < 0.1, 10.0 ** rng.uniform(-30, 0, count), x)
    return [a, b, np.where((x > 0) & (x < 1), x, rng.random(count))]


def _probable(shapes: Special, least: float) -> Special:
    """Return what draws shapes that are not below a number, and probabilities of all sizes in place of ends."""

    def draw(rng: np.random.Generator, count: int) -> list[np.ndarray]:
        p = np.where(rng.random(count) < 0.5, 10.0 ** rng.uniform(-300, -0.3, count), rng.random(count))
        return [*[np.maximum(a, least * (1 + rng.random(count))) for a in shapes(rng, count)[:-1]], p]

    return draw


def _slopes(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    return [rng.uniform(-38, 38, count) * rng.choice([0.1, 1], count), rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-6, 6, count)]


def _orders(limit: float, far: float) -> Special:
    """Return what draws orders below a limit, of both signs, half of them whole, with arguments from 0 to ``far``."""

    def draw(rng: np.random.Generator, count: int) -> list[np.ndarray]:
        v = rng.uniform(-limit, limit, count) * rng.choice([0.1, 1], count)
        x = rng.uniform(0, far, count) * rng.choice([1e-6, 0.01, 1], count)
        return [np.where(rng.random(count) < 0.5, np.rint(v), v), x]

    return draw


def _poles(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Return orders of polygamma with arguments on both sides of 0."""
    near = rng.integers(-20, 1, count) + 2.0 ** rng.uniform(-40, 0, count)
    x = np.where(rng.random(count) < 0.5, near, 10.0 ** rng.uniform(-5, 3, count))
    return [np.rint(10.0 ** rng.uniform(0, 2, count)), x]


def _log_gamma(x: Any) -> Any:
    import mpmath

    return mpmath.log(abs(mpmath.gamma(x)))


def _erfcinv(x: Any) -> Any:
    import mpmath

    with mpmath.extraprec(200):
        return mpmath.erfinv(1 - x)


REFERENCES = {
    **{name: _same(f"{name}(x)") for name in
       "exp expm1 log log1p sqrt sin cos tan sinh cosh tanh erf erfc gamma".split()},
    **{f"arc{name}": _same(f"a{name}(x)") for name in "sin cos tan sinh cosh tanh".split()},
    "abs_": Reference(abs, abs),
    "inv": _same("1 / x"),
    "true_div": _same("x / y"),
    "exp2": Reference(lambda x: flint.arb(2) ** x, _mp("power", 2)),
    "log2": Reference(lambda x: x.log() / flint.arb(2).log(), lambda x: _mp("log")(x, 2)),
    "log10": Reference(lambda x: x.log() / flint.arb(10).log(), _mp("log10")),
    "pow": Reference(lambda x, y: x**y, _mp("power"), _powers),
    "arctan2": Reference(lambda y, x: flint.arb.atan2(y, x), _mp("atan2")),
    "hypot": _same("sqrt(x * x + y * y)"),
    "angle": Reference(lambda x: flint.arb.pi() if x < 0 else flint.arb(0), _mp("arg")),
    "sigmoid": _same("1 / (1 + exp(-x))"),
    "softplus": Reference(lambda x: x.exp().log1p() if x < 50 else x + (-x).exp().log1p(),
                          lambda x: _mp("log1p")(_mp("exp")(x))),
    "log1mexp": Reference(lambda x: (-x.expm1()).log(), lambda x: _mp("log")(-_mp("expm1")(x))),
    "deg2rad": Reference(lambda x: x * (flint.arb.pi() / 180), _mp("radians")),
    "rad2deg": Reference(lambda x: x * (180 / flint.arb.pi()), _mp("degrees")),
    "erfcx": _same("exp(x * x) * erfc(x)"),
    "erfinv": Reference(lambda x: x.erfinv(), _mp("erfinv")),
    "erfcinv": Reference(lambda x: x.erfcinv(), _erfcinv),
    "gammaln": Reference(_arb_log_gamma, _log_gamma),
    "psi": Reference(lambda x: x.digamma(), _mp("digamma"), _near(1.4616321449683623)),
    "tri_gamma": Reference(_arb_trigamma, _mp("psi", 1)),
    "gammainc": Reference(_arb_lower,
                          lambda k, x: _mp("gammainc")(k, 0, x, regularized=True), _shapes, True),
    "gammaincc": Reference(_arb_upper,
                           lambda k, x: _mp("gammainc")(k, x, regularized=True), _shapes, True),
    "gammainc_der": Reference(_arb_slope, lambda k, x: _mp("diff")(
        lambda a: _mp("gammainc")(a, 0, x, regularized=True), k), _shapes, True),
    "polygamma": Reference(_arb_polygamma, _mp("psi"), _poles, True),
    "gammal": Reference(lambda k, x: _arb_lower(k, x) * k.gamma(), lambda k, x: _mp("gammainc")(k, 0, x), _shapes, True),
    "gammau": Reference(lambda k, x: _arb_upper(k, x, 0), lambda k, x: _mp("gammainc")(k, x), _shapes, True),
    "chi2sf": Reference(lambda x, k: _arb_upper(k / 2, x / 2),
                        lambda x, k: _mp("gammainc")(k / 2, x / 2, regularized=True),
                        lambda rng, count: _shapes(rng, count)[::-1], True),
    "betainc": Reference(_arb_beta, lambda a, b, x: _mp("betainc")(a, b, 0, x, regularized=True), _betas, True),
    "betainc_der_a": Reference(partial(_arb_beta_slope, by_a=True), lambda a, b, x: _mp("diff")(
        lambda k: _mp("betainc")(k, b, 0, x, regularized=True), a), _betas, True),
    "betainc_der_b": Reference(partial(_arb_beta_slope, by_a=False), lambda a, b, x: _mp("diff")(
        lambda k: _mp("betainc")(a, k, 0, x, regularized=True), b), _betas, True),
    "gammaincinv": Reference(_arb_inverse(_arb_lower, _arb_gamma_density, "gammaincinv"), _mp_inverse(
        lambda k, x: _mp("gammainc")(k, 0, x, regularized=True), "gammaincinv"), _probable(_shapes, 0.02), True),
    "gammainccinv": Reference(_arb_inverse(_arb_upper, lambda k, x: -_arb_gamma_density(k, x), "gammainccinv"), _mp_inverse(
        lambda k, x: _mp("gammainc")(k, x, regularized=True), "gammainccinv"), _probable(_shapes, 0.02), True),
    "betaincinv": Reference(_arb_inverse(_arb_beta, _arb_beta_density, "betaincinv"), _mp_inverse(
        lambda a, b, x: _mp("betainc")(a, b, 0, x, regularized=True), "betaincinv"), _probable(_betas, 0.02), True),
    "owens_t": Reference(_arb_owens_t, _mp_owens_t, _slopes, True),
    "ndtri_exp": Reference(_arb_ndtri_exp, _ndtri_exp, _near(-0.6931471805599453)),
    "j0": Reference(lambda x: x.bessel_j(0), _mp("besselj", 0)),
    "j1": Reference(lambda x: x.bessel_j(1), _mp("besselj", 1)),
    "jv": Reference(lambda v, x: x.bessel_j(v), _mp("besselj"), _orders(150, 1000), True),
    "i0": Reference(lambda x: x.bessel_i(0), _mp("besseli", 0)),
    "i1": Reference(lambda x: x.bessel_i(1), _mp("besseli", 1)),
    "iv": Reference(lambda v, x: x.bessel_i(v), _mp("besseli"), _orders(300, 700), True),
    "ive": Reference(lambda v, x: x.bessel_i(v) * (-abs(x)).exp(), lambda v, x: _mp("besseli")(v, x) * _mp("exp")(-abs(x)),
                     _orders(300, 1e6), True),
    "kve": Reference(lambda v, x: x.bessel_k(v, scaled=True), lambda v, x: _mp("besselk")(v, x) * _mp("exp")(x),
                     _orders(300, 1e6), True),
}  # fmt: skip

_ENOUGH = 85  # bits that are certainly right
_MOST = 1 << 14


def exact(op: Any, dtype: str, *arguments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an operation's exact values: the nearest doubles, and what is left, in units of their last place.

    Where the reference has no number, as at a pole or where a power of e is beyond all measure, it is the NumPy form
    that says whether that is nan, an infinity or zero. If it says none of these, the rest is nan.
    """
    one = partial(_by_arb if flint is not None else _by_mpmath, REFERENCES[op.op_name])
    pairs = [one(*point) for point in zip(*[a.astype(float).tolist() for a in arguments], strict=True)]
    high, rest = (np.array([p[i] for p in pairs], float) for i in (0, 1))
    open_ = np.isnan(high)
    other = op.numpy_form([dtype])(*[a[open_] for a in arguments]).astype(float)
    high[open_] = other
    rest[open_] = np.where(np.isfinite(other) & (other != 0), np.nan, 0.0)
    return high, rest


_NONE = (math.nan, math.nan)


def _by_arb(reference: Reference, *point: float) -> tuple[float, float]:
    if not all(map(math.isfinite, point)) or (reference.alone and max(map(abs, point)) > 1e15):
        return _NONE
    bits, arb = 128, flint.arb
    while bits <= _MOST:
        flint.ctx.prec = bits
        y = reference.arb(*map(arb, point))
        if y.rel_accuracy_bits() >= _ENOUGH or y.is_zero():
            high = float(y)
            return high, float((y - high) / math.ulp(high)) if math.isfinite(high) else 0.0
        if y.is_nan() and bits > 256:
            return _NONE
        bits *= 2
    # A ball around zero that no precision moves away from it: zero.
    return (0.0, 0.0) if abs(y).abs_upper() < 1e-300 else _NONE


def _by_mpmath(reference: Reference, *point: float) -> tuple[float, float]:
    import mpmath

    if not all(map(math.isfinite, point)) or (reference.alone and max(map(abs, point)) > 1e15):
        return _NONE
    with mpmath.workdps(50):
        try:
            y = reference.mpmath(*map(mpmath.mpf, point))
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
            return _NONE
        if isinstance(y, mpmath.mpc) or mpmath.isnan(y):
            return _NONE
        high = float(y)
        return high, float((y - high) / math.ulp(high)) if math.isfinite(high) else 0.0


# -- where to look -----------------------------------------------------------------------------------


def points(op: Any, dtype: str, count: int, seed: int = 0) -> list[np.ndarray]:
    """Return about ``count`` arguments (an array for each input) from all regions that matter.

    The domain in the op's statement, uniformly; all exponents of the dtype, uniformly; the neighbourhoods of 0, 1,
    of the domain's ends and of small whole and half numbers, at all distances; where exponentials overflow and
    underflow. What the function does not take is moved to where it does, by a change of sign or an inversion.
    """
    rng = np.random.default_rng(seed)
    where = REFERENCES[op.op_name].where
    share = -(-count // (7 if where else 6))
    if where and REFERENCES[op.op_name].alone:
        uniform = [rng.uniform(low, high, count // 4) for low, high in op.domains(op.nin)]
        drawn = where(rng, count - count // 4)
        return [np.concatenate(pair).astype(dtype) for pair in zip(uniform, drawn, strict=True)]
    columns = [np.concatenate(_regions(rng, dtype, interval, share)) for interval in op.domains(op.nin)]
    for column in columns[1:]:
        rng.shuffle(column)  # each region of one argument with every region of the other
    if where:
        columns = [np.concatenate([a, b]) for a, b in zip(columns, where(rng, share), strict=True)]
    with np.errstate(all="ignore"):
        arrays = [column.astype(dtype) for column in columns]
        if op.nin > 1:
            return [np.where(np.isfinite(a), a, np.dtype(dtype).type(1)) for a in arrays]
        form = op.numpy_form([dtype])
        (x,) = arrays
        for change in (np.negative, np.reciprocal):
            x = np.where(np.isnan(form(x)), change(x), x)
    return [x[np.isfinite(x)]]


def _regions(rng: np.random.Generator, dtype: str, interval: tuple[float, float], share: int) -> list[np.ndarray]:
    info = np.finfo(dtype)
    low, high = interval
    edge = math.log(float(info.max)) * 1.1
    sign = rng.choice([-1.0, 1.0], share)
    marks = rng.choice([1.0, -1.0, low, high, *np.arange(-20, 21) / 2], share)
    away = 2.0 ** -rng.uniform(1, info.nmant + 1, share)
    return [
        rng.uniform(low, high, share),
        rng.uniform(-8, 8, share),
        sign * rng.permutation(rng.uniform(0, edge, share)),
        rng.permutation(sign) * np.exp2(rng.uniform(info.minexp - info.nmant, info.maxexp, share)),
        rng.permutation(sign) * np.exp2(rng.uniform(-info.nmant, 12, share)),
        np.where(marks == 0, 1, marks) * (1 + sign * away),
    ]


def landmarks(op: Any, dtype: str) -> list[np.ndarray]:
    """Return zeros, infinities, nan, the least and the greatest numbers, and small whole ones (pairs: all of them; of three arguments fewer)."""
    info = np.finfo(dtype)
    some = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, info.smallest_subnormal, info.max, 1.0, -1.0, 2.0, 0.5,
            -info.tiny, -info.smallest_subnormal, -info.max, -2.0, 3.0, -3.0, -0.5]  # fmt: skip
    some = some[: 12 if op.nin > 2 else None]
    grids = np.meshgrid(*[np.array(some, dtype)] * op.nin, indexing="ij")
    return [grid.ravel() for grid in grids]


# -- how far -----------------------------------------------------------------------------------------


def distance(found: np.ndarray, high: np.ndarray, rest: np.ndarray, floor: Any = 0.0) -> np.ndarray:
    """Return how far results are from the exact values, in units of the last place of the latter.

    Parameters
    ----------
    found : array
    high, rest : arrays
        As :func:`exact` gives them.
    floor : float or array
        The unit is nowhere smaller than this number's: near a zero of some functions no other measure makes sense.
    """
    with np.errstate(all="ignore"):
        nearest = high.astype(found.dtype)
        unit = _ulp(np.maximum(np.abs(nearest), np.asarray(floor, found.dtype))).astype(float)
        far = np.abs((found.astype(float) - high) - rest * _ulp(np.abs(high))) / unit
        agree = (found == nearest) & ~np.isfinite(high) | np.isnan(found) & np.isnan(high)
        # The largest number in place of infinity, and infinity in place of it, are one step away.
        largest = np.isinf(nearest) & np.isfinite(high) & np.isinf(found)
        largest |= np.isinf(nearest) & (np.abs(found) == np.finfo(found.dtype).max)
    far = np.where(agree | (largest & np.isinf(found)), 0.0, np.where(largest, 1.0, far))
    return np.where(np.isnan(far), np.inf, far)


def _ulp(x: np.ndarray) -> np.ndarray:
    # NumPy's spacing goes upwards, where the largest number has no neighbour.
    largest = np.finfo(x.dtype).max
    return np.asarray(np.spacing(np.minimum(x, largest / 2)) * np.where(x > largest / 2, 2, 1).astype(x.dtype))


def floor(op: Any, *arguments: np.ndarray) -> Any:
    """Return the number below which an operation's errors are not relative, as its statement says (``ulp_floor``)."""
    said = getattr(type(op), "ulp_floor", 0.0)
    with np.errstate(all="ignore"):
        return np.nan_to_num(said(*[a.astype(float) for a in arguments])) if callable(said) else said


def wrong_landmarks(op: Any, dtype: str, function: Callable[..., np.ndarray]) -> list[list[str]]:
    """Return the special values for which ``function`` is not what the exact value or the NumPy form says."""
    x = landmarks(op, dtype)
    high, rest = exact(op, dtype, *x)
    found, said = function(*x), op.numpy_form([dtype])(*x)
    # The reference knows one zero only.
    signed = np.logical_or.reduce([(a == 0) & np.signbit(a) for a in x])
    alone = REFERENCES[op.op_name].alone
    if alone:
        # Of these the sign of a zero makes a difference only where the result is none, or none is in sight.
        signed &= ~np.isfinite(said) | (said == 0)
    high, rest = np.where(signed, said.astype(float), high), np.where(signed, 0.0, rest)
    if alone:  # ... and SciPy is no judge of the largest numbers.
        rest[np.any([np.isfinite(a) & (np.abs(a) > 1e15) for a in x], axis=0)] = np.nan
    wrong = ~(distance(found, high, rest, floor(op, *x)) <= BOUND) & ~np.isnan(rest)
    zero = (found == 0) & (high == 0)
    wrong |= zero & (np.signbit(found) != np.signbit(said)) & (not alone)
    return [[repr(float(a[i])) for a in (*x, found)] for i in np.flatnonzero(wrong)]

"""What `test_values` asks: each case computes the same with ``numpy`` and with ``theano.tensor``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A function of a namespace and of arrays, and the arrays."""

    name: str
    compute: Callable[..., Any]
    arrays: tuple[Any, ...]


rng = np.random.default_rng(0)
X, V, C3 = rng.normal(size=(4, 5)), rng.normal(size=6), rng.normal(size=(2, 3, 4))
S = rng.normal(size=(2, 3, 3))
SPD = S @ S.transpose(0, 2, 1) + np.eye(3)
I = np.array([[3, 1, 2, 0], [0, 2, 2, 1]])
NAN = X.copy()
NAN[0], NAN[1, 2] = np.nan, np.nan
ODD = np.array([1.0, np.inf, -np.inf, np.nan, -3.0])
Z = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
F = X.astype("float32")


def called(name: str, arrays: tuple[Any, ...], *positional: Any, **keywords: Any) -> Case:
    """Return the case of one call, with arrays first."""

    def compute(xp: Any, *given: Any) -> Any:
        f = xp
        for part in name.split("."):
            f = getattr(f, part)
        return f(*given, *positional, **keywords)

    shown = ", ".join([*map(str, positional), *(f"{k}={v}" for k, v in keywords.items())])
    return Case(f"{name}({shown}) of {[np.asarray(a).shape for a in arrays]}", compute, arrays)


def _shapes() -> Iterator[Case]:
    yield from (called("rot90", (X,), k) for k in range(-5, 6))
    yield called("rot90", (C3,), 1, (2, 0))
    yield from (called("flip", (X,), axis) for axis in (None, 0, 1, -1, (0, 1)))
    yield from (called(name, (X,)) for name in ("fliplr", "flipud", "atleast_3d", "matrix_transpose"))
    yield from (called(name, (V,)) for name in ("atleast_2d", "atleast_3d"))
    yield from (called("expand_dims", (X,), axis) for axis in (0, -1, (0, -1), (1, 2)))
    yield Case("broadcast_arrays", lambda xp, a, b: xp.broadcast_arrays(a, b)[0], (V[:5], X))


def _joins() -> Iterator[Case]:
    for name, parts in product(("vstack", "hstack", "dstack", "column_stack"), ((V, V), (X, X))):
        yield Case(f"{name} {len(parts[0].shape)}-d", lambda xp, a, b, f=name: getattr(xp, f)([a, b]), parts)
    yield Case("column_stack of both", lambda xp, a, b: xp.column_stack([a, b]), (V[:4], X))
    yield called("append", (X, V))
    yield called("append", (X, X), 0)
    for sparse, indexing, k in product((False, True), ("xy", "ij"), range(3)):
        yield Case(
            f"meshgrid {sparse} {indexing} {k}",
            lambda xp, *v, s=sparse, i=indexing, k=k: xp.meshgrid(*v, sparse=s, indexing=i)[k], (V, V[:3], V[:2]),
        )  # fmt: skip


def _ranges() -> Iterator[Case]:
    for n, end in product((0, 1, 2, 7), (False, True)):
        yield called("linspace", (np.float64(-1.3), np.float64(2.7)), n, endpoint=end)
        yield called("linspace", (V, V + 1), n, endpoint=end, axis=1)
        yield called("logspace", (np.float64(-1.3), np.float64(2.7)), n, endpoint=end, base=2.0)
        yield called("geomspace", (np.float64(1.3), np.float64(20.7)), n, endpoint=end)
    yield called("linspace", (np.float64(-3), np.float64(4)), 7, dtype="int64")
    yield called("linspace", (np.float32(-3), np.float32(4)), 7)
    yield Case("the step", lambda xp, a: xp.linspace(a, 2 * a, 5, retstep=True)[1], (V,))
    yield Case("identity", lambda xp, a: xp.identity(3) + a[0], (V,))
    yield called("vander", (V,))
    yield called("vander", (np.array([1, 2, 3]),), 3, increasing=True)


def _paddings() -> Iterator[Case]:
    statistics = ("maximum", "mean", "median", "minimum")
    widths = (2, (1, 3), ((1, 2), (0, 3)), ((7, 9),))
    for mode in ("constant", "edge", "linear_ramp", *statistics, "reflect", "symmetric", "wrap"):
        yield from (called("pad", (X,), w, mode) for w in widths)
        yield called("pad", (np.array([3, 8, 1, 5]),), (2, 5), mode)
        yield called("pad", (C3,), ((1, 0), (0, 0), (2, 3)), mode)
    yield from (called("pad", (X,), w, m, reflect_type="odd") for w, m in product(widths, ("reflect", "symmetric")))
    yield from (called("pad", (X,), 2, mode, stat_length=((2, 3), (1, 99))) for mode in statistics)
    yield called("pad", (X,), 2, constant_values=((1, 2), (3, 4)))
    yield called("pad", (X,), 3, "linear_ramp", end_values=(5, -4))


def _elements() -> Iterator[Case]:
    yield from (called("isfinite", (a,)) for a in (ODD, Z, I))
    yield from (called("nan_to_num", (a,)) for a in (ODD, I))
    yield from (called(name, (a,)) for a in (ODD, I) for name in ("isposinf", "isneginf", "logical_not"))
    yield from (called(name, (I, I[::-1].copy())) for name in ("logical_and", "logical_or", "logical_xor"))
    yield called("nan_to_num", (ODD.astype("float32"),), nan=4.0, posinf=5.0, neginf=6.0)
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1000, -1000, 3.5])
    pairs = tuple(a.ravel() for a in np.meshgrid(special, special))
    yield from (called(name, pairs) for name in ("logaddexp", "logaddexp2", "copysign", "heaviside"))
    yield called("float_power", (np.array([1, 2, 3], "int32"),), -2.0)
    yield called("sinc", (np.array([0.0, 0.5, 1, -2.3]),))


def _without_nan() -> Iterator[Case]:
    for axis, keepdims in product((None, 0, 1, (0, 1)), (False, True)):
        for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "median"):
            yield called(name, (NAN,), axis=axis, keepdims=keepdims)
        yield called("count_nonzero", (I,), axis=axis, keepdims=keepdims)
        yield called("median", (X,), axis=axis, keepdims=keepdims)
        yield called("quantile", (X,), [[0.1, 0.5], [0.33, 1.0]], axis=axis, keepdims=keepdims)
        yield called("percentile", (C3,), [0, 17, 100], axis=axis, keepdims=keepdims)
    yield called("nanvar", (NAN,), axis=0, ddof=3)
    yield called("nancumsum", (NAN,))
    yield called("nancumprod", (NAN,), axis=1)


def _quantiles() -> Iterator[Case]:
    hyndman_fan = (
        "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
        "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
    )  # fmt: skip
    places = np.linspace(0, 1, 21)
    for method in hyndman_fan:
        yield from (called("quantile", (a,), places, method=method) for a in (V, np.arange(10.0), np.arange(10)))
    yield from (called("median", (a,)) for a in (F, np.array([np.inf] * 4)))
    yield called("quantile", (F,), 0.3)


def _places() -> Iterator[Case]:
    yield called("take_along_axis", (X[:2], I), axis=1)
    yield called("take_along_axis", (X[:, :4], I), axis=0)
    yield called("take_along_axis", (X, I[0]), axis=None)
    for flag in (False, True):
        for bins in ([0.0, 1, 2, 3], [3.0, 2, 1, 0]):
            yield called("digitize", (np.array([0.0, 1, 1.5, 2, 3, 9]), np.array(bins)), flag)
        for a, b in ((I, np.array([7, 2, 0])), (ODD, ODD), (ODD, ODD[:0])):
            yield called("isin", (a, b), invert=flag)
    at = np.array([-1, 0, 0.5, 1, 2, 3, 3.5, np.nan, 9.0])
    rising, values = np.array([0.0, 1, 3]), np.array([2.0, -1, 5])
    yield called("interp", (at, rising, values))
    yield called("interp", (at, rising, values), left=-9.0, right=7.0)
    yield called("interp", (at, np.array([5.0, 1, 3]), values), period=4.0)
    yield called("interp", (at, np.array([0.0, 1, 1, 3]), np.array([2.0, -1, 5, 6])))


def _statistics() -> Iterator[Case]:
    for axis in (None, 0, 1):
        yield called("average", (X,), axis, keepdims=True)
        yield Case(f"average {axis}", lambda xp, a, w, i=axis: xp.average(a, i, w), (X, np.abs(X)))
        yield Case(f"weight {axis}", lambda xp, a, i=axis: xp.average(a, i, returned=True)[1], (X,))
    yield Case("a vector of weights", lambda xp, a, w: xp.average(a, 1, w), (X, V[:5]))
    yield Case("their sum", lambda xp, a, w: xp.average(a, 1, w, returned=True)[1], (X, V[:5]))
    yield Case("integers", lambda xp, a: xp.average(a, weights=a), (np.array([1, 2, 3]),))
    yield from (called("corrcoef", (a,)) for a in (X, V))
    yield called("corrcoef", (X, X * 2 + 1), rowvar=False)
    yield called("trapezoid", (X,))
    yield called("trapezoid", (X, V[:4]), axis=0)
    yield called("trapezoid", (X, np.cumsum(X * X, 1)), axis=1)
    yield called("trapezoid", (I,), dx=0.5)


_EINSUM = """
ij,jk->ik  ij,jk  ii  ii->i  ij->ji  ij->  i,i  i,j->ij  bij,bjk->bik  bij,bkj->bki  ...ij,...jk->...ik  ...i,...i
ij,jk,kl->il  ij,jk,kl,lm->mi  abc,cd,de,ef->abf  i,ij,j  iij->j  iijj->ij  ab,b,b->a  ij,ij->ij  ij,ij->i
ik,jk,lk->ijl  ijk,k,j,i  b...,b->...  abcd,bcde->ae  ,i->i  i->  ijkl->lkji  abi,aci,adi->bcd  ij,k->ij
"""


def _products() -> Iterator[Case]:
    for text, optimize in product(_EINSUM.split(), (False, True)):
        words = text.partition("->")[0].split(",")
        shapes = [[2 + ord(c) % 4 for c in word.replace("...", "z")] for word in words]
        arrays = tuple(rng.normal(size=shape) for shape in shapes)
        yield Case(text, lambda xp, *v, t=text, o=optimize: xp.einsum(t, *v, optimize=o), arrays)
    yield Case("lists", lambda xp, a, b: xp.einsum(a, [0, 1], b, [1, 2], [2, 0]), (X, X.T.copy()))
    yield Case("integers", lambda xp, a, b: xp.einsum("ij,kj->ik", a, b), (I.astype("int32"), I.astype("int16")))
    yield Case("a row", lambda xp, a, b: xp.einsum("ij,ij->ij", a, b), (X[:1], X))
    yield Case("complex", lambda xp, a: xp.einsum("ij,jk->ik", a, a), (Z,))
    yield called("inner", (C3, X[:, :4]))
    yield called("inner", (np.float64(2), V))
    yield from (called(name, (Z, Z.T.copy())) for name in ("vdot", "vecdot"))
    yield called("vecdot", (X, X + 1), axis=0)
    yield from (called("kron", pair) for pair in ((X, C3), (V, X), (I, I)))
    yield from (called("cross", (S[0], b), axis) for b, axis in ((S, -1), (S[1], 0)))


def _matrices() -> Iterator[Case]:
    for a in (SPD[0], SPD):
        for name in (
            "cholesky", "inv", "det", "pinv", "eigvalsh", "svdvals", "matrix_rank", "cond", "matrix_transpose",
        ):  # fmt: skip
            yield called(f"linalg.{name}", (a,))
        yield called("linalg.cholesky", (a,), upper=True)
        yield from (called("linalg.matrix_power", (a,), n) for n in (-3, 0, 5))
        yield from (called("linalg.solve", (a, b)) for b in (X[:3], V[:3]))
        yield called("linalg.qr", (a,), "r")
        for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
            yield called("linalg.matrix_norm", (a,), ord=order)
            yield called("linalg.norm", (a,), order, axis=(-1, -2), keepdims=True)
            yield called("linalg.cond", (a,), order)
        d = np.shape(a)
        yield Case(f"slogdet {d}", lambda xp, a: xp.linalg.slogdet(a).logabsdet, (-a,))
        yield Case(f"its sign {d}", lambda xp, a: xp.linalg.slogdet(a)[0], (-a,))
        yield Case(f"eigenvectors {d}", lambda xp, a: abs(xp.linalg.eigh(a).eigenvectors), (a,))
        yield Case(f"eigenvalues {d}", lambda xp, a: xp.linalg.eigvals(a).sum(-1), (a,))
        yield Case(f"qr {d}", lambda xp, a: abs(xp.linalg.qr(a[..., :2]).Q), (a,))
        yield Case(f"complete qr {d}", lambda xp, a: abs(xp.linalg.qr(a[..., :2], "complete").R), (a,))
        yield Case(f"svd {d}", lambda xp, a: abs(xp.linalg.svd(a[..., :2])[0][..., :2]), (a,))
        yield Case(f"thin svd {d}", lambda xp, a: abs(xp.linalg.svd(a[..., :2], full_matrices=False).U), (a,))
    yield called("linalg.pinv", (C3,))
    for order in (None, 0, 1, 2, 3, -1, -2.5, np.inf, -np.inf):
        yield called("linalg.norm", (V,), order)
        yield called("linalg.vector_norm", (X,), ord=2 if order is None else order, axis=1, keepdims=True)
    yield from (called("linalg.norm", (a,)) for a in (C3, I, Z))
    yield called("linalg.norm", (F,), axis=0)
    yield Case("multi_dot", lambda xp, *v: xp.linalg.multi_dot(v), (X, X.T.copy(), X))
    yield Case("lstsq", lambda xp, a, b: xp.linalg.lstsq(a, b, rcond=None)[0], (X.T.copy(), V[:5]))
    yield called("linalg.tensorinv", (np.reshape(np.eye(4) + 0.1, (4, 2, 2)),), 1)
    yield called("linalg.matrix_rank", (SPD,), tol=1.0)


FAMILIES: dict[str, list[Case]] = {
    f.__name__.strip("_"): list(f())
    for f in (
        _shapes, _joins, _ranges, _paddings, _elements, _without_nan, _quantiles, _places, _statistics, _products,
        _matrices,
    )
}  # fmt: skip

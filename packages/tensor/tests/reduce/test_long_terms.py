"""Reductions of terms that take long to compute: their loops take whole vectors, what is left over is read in copies."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.lowering.table import lower
from theano.lowering.targets import CPU

SIZES = (1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33, 50, 131)
OTHER = (1, 2, 7, 40)


def term(xp, x, y):
    return xp.log1p(xp.exp(-x * y)) * xp.tanh(x) + xp.sin(y)


def views(shape, dtype, rng):
    """The same elements one behind the other, in Fortran's order, apart, upside down; nan beside them."""
    values = rng.normal(size=shape)
    around = np.full((shape[0] + 2, shape[1] + 5), np.nan, dtype)
    apart = np.full((2 * shape[0], 3 * shape[1]), np.nan, dtype)
    places = (
        np.empty(shape, dtype), np.empty(shape, dtype, "F"), around[1:-1, 2:-3], apart[::2, ::3], around[-2:0:-1, 2:-3],
    )  # fmt: skip
    for place in places:
        place[...] = values
        yield place


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_extremes(dtype, axis):
    """Whatever lies beside the elements, and however many are left over of whole vectors."""
    x, y = T.TensorType(dtype, (False, False))("x"), T.TensorType(dtype, (False, False))("y")
    t = term(T, x, y)
    f = theano.function([x, y], [t.sum(axis=axis), t.max(axis=axis), (t * t).sum(axis=axis)])
    rtol, rng = 2e-5 if dtype == "float32" else 1e-12, np.random.default_rng(7)
    for n in SIZES:
        for m in OTHER:
            for shape in ((n, m), (m, n)):
                for a, b in zip(views(shape, dtype, rng), views(shape, dtype, np.random.default_rng(8)), strict=True):
                    t = term(np, a.astype("float64"), b.astype("float64"))
                    got = f(a, b)
                    for found, expected in zip(got, (t.sum(axis), t.max(axis), (t * t).sum(axis)), strict=True):
                        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol, err_msg=f"{shape} {a.strides}")


@pytest.mark.parametrize(("stretched", "axis"), [((True, False), 0), ((False, True), 1), ((True, True), None)])
def test_operands_that_are_stretched(stretched, axis):
    """Rows of one, columns of one, and one number, of truth values and bytes beside floats."""
    x, v = T.dmatrix("x"), T.TensorType("int8", stretched)("v")
    f = theano.function([x, v], T.switch(x > v, T.log1p(T.exp(x - v)), T.tanh(v * x)).sum(axis=axis))
    rng = np.random.default_rng(9)
    for n in SIZES:
        for shape in ((n, 6), (6, n), (n, n)):
            a = rng.normal(size=shape)
            b = rng.integers(-2, 3, [1 if s else k for s, k in zip(stretched, shape, strict=True)]).astype("int8")
            expected = np.where(a > b, np.log1p(np.exp(a - b)), np.tanh(b * a)).sum(axis)
            np.testing.assert_allclose(f(a, b), expected, rtol=1e-12, atol=1e-12, err_msg=str(shape))


def test_a_loop_is_written_once_where_terms_are_long():
    """Not where they are short, nor where a function that is not widened makes each expensive."""
    x = T.dvector("x")
    bounds = {}
    for name, expression in (
        ("long", T.log1p(T.exp(-x)) * T.tanh(x)), ("short", x * x), ("sequential", T.gammainc(2.0, T.exp(x)) * T.tanh(x)),
    ):  # fmt: skip
        f = theano.function([x], expression.sum(), mode=theano.Mode("c|py", "fast_run"))
        (node,) = [n for n in f.maker.fgraph.toposort() if "Reduce" in str(n.op)]
        bounds[name] = "(w & -8)" in lower(node, CPU).source
    assert bounds == {"long": True, "short": False, "sequential": False}

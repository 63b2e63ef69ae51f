"""Expressions of SymPy's as scalar operations: in C and in Python against what SymPy itself computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import theano
import theano.scalar as ts

sympy = pytest.importorskip("sympy")
from theano.legacy.sympy_code import SymPyCCode  # noqa: E402  (not without SymPy)

x, y = sympy.symbols("x y")
EXPRESSIONS = [x + y, x**2 - y**3, sympy.sin(x * y) / 3, sympy.exp(-(x**2)) * y, sympy.sqrt(x**2 + y**2), sympy.Abs(x - y)]


@pytest.mark.parametrize("linker", ["c", "py"])
@pytest.mark.parametrize("expr", EXPRESSIONS, ids=str)
def test_values(expr: Any, linker: str) -> None:
    a, b = ts.float64("a"), ts.float64("b")
    f = theano.function([a, b], SymPyCCode([x, y], expr)(a, b), mode=theano.Mode(linker, None))
    for u, v in ((0.5, -1.25), (2.0, 3.0), (-0.75, 0.0)):
        np.testing.assert_allclose(f(u, v), float(expr.subs({x: u, y: v})), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("expr", EXPRESSIONS[:5], ids=str)
def test_derivatives_are_sympys(expr: Any) -> None:
    a, b = ts.float64("a"), ts.float64("b")
    z = SymPyCCode([x, y], expr)(a, b)
    slopes = theano.grad(z, [a, b])
    assert [slope.owner.op.expr for slope in slopes] == [expr.diff(x), expr.diff(y)]
    outer = theano.grad(z * z, [a, b])
    f = theano.function([a, b], outer)
    want = [float((2 * expr * expr.diff(v)).subs({x: 0.5, y: 1.5})) for v in (x, y)]
    np.testing.assert_allclose(f(0.5, 1.5), want, rtol=1e-12)


def test_dtypes_and_identity() -> None:
    op = SymPyCCode([x], x / 2 + 1)
    assert op(ts.int32("i")).type == ts.float64 and op(ts.float32("f")).type == ts.float32
    assert op == SymPyCCode([x], x / 2 + 1) and op != SymPyCCode([x], x / 2)
    with pytest.raises(ValueError, match="symbols that are no inputs: y"):
        SymPyCCode([x], x + y)

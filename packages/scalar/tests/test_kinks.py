"""Derivatives at zeros, kinks, equal arguments and ends, against mpmath's of the exact functions and a table of limits.

Where a function has no derivative, the table says which number stands for it: what Theano 1.0.5 gives where it gives
one, else that of a subgradient.
"""

from __future__ import annotations

import itertools
from typing import Any

import mpmath
import numpy as np
import pytest
from accuracy import REFERENCES
from test_gradients import evaluate, real_ops

import theano.scalar as ts
from theano.gradient import DisconnectedType, NullType, Rop, grad
from theano.scalar.registry import OPS

INF, NAN = np.inf, np.nan
POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 1e-8, -1e-8, 30.0, -30.0]
PAIRS = list(itertools.product([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0], repeat=2))

#: First and second derivative at points where the functions have none, or an infinite one.
UNARY: dict[tuple[str, float], tuple[float, float]] = {
    ("abs_", 0): (0, 0),  # 1.0.5: the sign, which is 0
    ("sqrt", 0): (INF, -INF), ("log", 0): (INF, -INF), ("log2", 0): (INF, -INF), ("log10", 0): (INF, -INF),
    ("log1mexp", 0): (-INF, -INF), ("ndtri_exp", 0): (INF, INF),
    ("log1p", -1): (INF, -INF), ("inv", 0): (-INF, NAN),
    ("arcsin", 1): (INF, INF), ("arcsin", -1): (INF, -INF), ("arccos", 1): (-INF, -INF), ("arccos", -1): (-INF, INF),
    ("arctanh", 1): (INF, INF), ("arctanh", -1): (INF, -INF), ("arccosh", 1): (INF, -INF),
}  # fmt: skip
#: Beyond the ends of their domains these follow their formula, as in 1.0.5; or they are complex numbers to mpmath.
ELSEWHERE = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "inv"), np.signbit), "log1p": lambda x: x < -1, "arccosh": lambda x: x < 1, "arcsin": lambda x: abs(x) > 1, "arccos": lambda x: abs(x) > 1,
    "arctanh": lambda x: abs(x) > 1, "erfinv": lambda x: abs(x) >= 1, "erfcinv": lambda x: not 0 < x < 2,
    **dict.fromkeys(("gamma", "gammaln", "psi", "tri_gamma"), lambda x: x <= 0 or abs(x) < 1e-6),
    "angle": lambda x: True, **dict.fromkeys(("log1mexp", "ndtri_exp"), lambda x: x >= 0),
}  # fmt: skip

#: (x, y) to d/dx, d/dy, d2/dx2, d2/dx dy (from d/dx), d2/dy dx (from d/dy), d2/dy2; None: not looked at.
BINARY: dict[tuple[str, float, float], tuple[Any, ...]] = {
    # x ** y at 0: the derivative by y, a limit for y > 0, is 0 for others in 1.0.5, too.
    ("pow", 0, 0): (0, 0, 0, None, None, 0), ("pow", 0, 0.5): (INF, 0, -INF, None, None, 0),
    ("pow", 0, 1): (1, 0, 0, None, None, 0), ("pow", 0, -1): (-INF, 0, None, None, None, 0),
    ("hypot", 0, 0): (0, 0, None, None, None, None),  # a subgradient
}  # fmt: skip
UNDEFINED = {
    "pow": lambda x, y: x < 0,  # no logarithm
    "true_div": lambda x, y: y == 0, "arctan2": lambda y, x: y == 0 and x <= 0,
}  # fmt: skip


def derivatives(op: Any, points: np.ndarray) -> list[np.ndarray]:
    """Return first derivatives, second ones, and the first ones along each axis by the R-operator."""
    inputs = [ts.float64(f"x{i}") for i in range(len(points))]
    first = grad(op(*inputs), inputs)
    second = [s for g in first for s in grad(g, inputs, disconnected_inputs="ignore")]
    along = [Rop(op(*inputs), x, ts.constant(1.0)) for x in inputs]
    found = evaluate([*first, *second, *along], dict(zip(inputs, points, strict=True)))
    return [np.broadcast_to(v, points[0].shape) for v in found]


def exactly(name: str, point: tuple[float, ...], orders: tuple[int, ...]) -> float:
    with mpmath.workdps(60):
        found = mpmath.diff(REFERENCES[name].mpmath, tuple(map(mpmath.mpf, point)), orders)
        return float(found.real)


UNARY_OPS = [op for op in real_ops() if op.nin == 1 and op.op_name in REFERENCES]


@pytest.mark.parametrize("op", UNARY_OPS, ids=str)
def test_of_one_argument(op: Any) -> None:
    name = op.op_name
    points = [x for x in POINTS if not ELSEWHERE.get(name, lambda x: False)(x) or (name, x) in UNARY and not np.signbit(x)]
    first, second, along = derivatives(op, np.array([points]))
    np.testing.assert_array_equal(along, first)
    for i, x in enumerate(points):
        wanted = UNARY.get((name, x)) or (exactly(name, (x,), (1,)), exactly(name, (x,), (2,)))
        for found, exact in zip((first[i], second[i]), wanted, strict=True):
            assert np.isclose(found, exact, rtol=1e-9, atol=1e-12, equal_nan=True), (name, x, found, exact)


@pytest.mark.parametrize("name", ["pow", "true_div", "arctan2", "hypot"])
def test_of_two_arguments(name: str) -> None:
    pairs = [p for p in PAIRS if not UNDEFINED.get(name, lambda x, y: False)(*p)]
    found = derivatives(OPS[name], np.array(pairs).T)
    np.testing.assert_array_equal(found[6:], found[:2])
    for i, pair in enumerate(pairs):
        orders = ((1, 0), (0, 1), (2, 0), (1, 1), (1, 1), (0, 2))
        wanted = BINARY.get((name, *pair))
        if wanted is None and name == "pow" and pair[0] == 0:  # mpmath knows no neighbour of 0 on its left
            y = pair[1]
            wanted = (0, 0, 2 if y == 2 else 0, 0, 0, 0)
        wanted = wanted or tuple(exactly(name, pair, o) for o in orders)
        for j, exact in enumerate(wanted):
            if exact is not None:
                assert np.isclose(found[j][i], exact, rtol=1e-9, atol=1e-12), (name, pair, orders[j], found[j][i], exact)


def test_of_equal_arguments_and_ends() -> None:
    """Of what selects, the first of two equal ones is taken, and an end counts as inside, as in 1.0.5."""
    x, y, z = ts.floats("x", "y", "z")
    cases = [
        (ts.maximum(x, y), (1, 0)), (ts.minimum(x, y), (1, 0)), (ts.fmax(x, y), (1, 0)), (ts.fmin(x, y), (1, 0)),
        (ts.clip(x, y, z), (1, 0)), (ts.clip(z, x, y), (0, 0)), (ts.switch(ts.gt(x, y), x, y), (0, 1)),
        (ts.switch(ts.ge(x, y), x, y), (1, 0)), (ts.abs_(x - y), (0, 0)), (ts.mod(x, y), (1, -1)), (ts.sgn(x - y), (0, 0)),
        (x * ts.sgn(x - y), (0, 0)), (ts.sqr(x - y), (0, 0)),
    ]  # fmt: skip
    for value in (2.0, -0.5, INF):
        at = {x: np.float64(value), y: np.float64(value), z: np.float64(value)}
        for out, wanted in cases:
            if np.isinf(value) and out.owner.op in (ts.mod, ts.abs_, ts.sgn, ts.mul, ts.sqr):
                continue  # the difference of infinities is no number
            gradients = grad(out, [x, y], disconnected_inputs="ignore")
            ways = [Rop(out, v, ts.constant(1.0), disconnected_outputs="ignore") for v in (x, y)]
            assert evaluate(gradients, at) == list(wanted), (out.owner, value)
            assert evaluate(ways, at) == list(wanted), (out.owner, value)


def test_of_a_complex_zero() -> None:
    z = ts.complex128("z")
    assert evaluate([grad(abs(z), z)], {z: np.complex128(0)}) == [0]


def test_of_whole_exponents() -> None:
    """``x ** n`` for a constant and for an integer variable."""
    x, n = ts.float64("x"), ts.int64("n")
    for power in range(4):
        wanted = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 2.0), (0.0, 0.0, 0.0)][power]
        for exponent in (n, ts.constant(power), ts.constant(float(power))):
            first = grad(x**exponent, x)
            second = grad(first, x, disconnected_inputs="ignore")
            found = evaluate([x**exponent, first, second], {x: np.float64(0), n: np.int64(power)})
            assert not isinstance(second.type, (DisconnectedType, NullType)) and tuple(map(float, found)) == wanted

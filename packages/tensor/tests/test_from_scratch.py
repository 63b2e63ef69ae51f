"""The small Theano of the documentation does what it says: C against its interpreter, gradients against differences."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).resolve().parents[3] / "docs" / "from_scratch.py"
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
    pytest.mark.skipif(not PROGRAM.is_file(), reason="the documentation is not here"),
]


@pytest.fixture(scope="module")
def small():
    return runpy.run_path(str(PROGRAM))


def random_expression(small, rng, leaves, depth):
    if depth == 0 or rng.random() < 0.15:
        return leaves[rng.integers(len(leaves))] if rng.random() < 0.85 else small["Constant"](rng.integers(-1, 3))
    part = lambda: random_expression(small, rng, leaves, depth - 1)
    kind = rng.integers(7)
    if kind < 3:
        return (part() * part(), part() + part(), part() - part())[kind]
    one = part()
    if kind == 6:
        return small["total"](one) if one.ndim else -one
    return small[("tanh", "neg", "tanh")[kind - 3]](one)


@pytest.mark.parametrize("seed", range(40))
def test_c_and_rules_agree_with_the_interpreter_and_gradients_with_differences(small, seed):
    rng = np.random.default_rng(seed)
    x, y, a = small["vector"]("x"), small["vector"]("y"), small["number"]("a")
    outs = [random_expression(small, rng, [x, y, a], 5) for _ in range(2)]
    cost = sum((small["total"](v * v) if v.ndim else v * v for v in outs), small["Constant"](0))
    slopes = small["grad"](cost, [x, y, a])
    wanted = [*outs, cost, *slopes]
    f = small["function"]([x, y, a], wanted)
    given = {x: rng.uniform(-1, 1, 4), y: rng.uniform(-1, 1, 4), a: rng.uniform(-1, 1)}
    results = f(given[x], given[y], given[a])
    for found, value, v in zip(results, small["evaluate"](wanted, given), wanted, strict=True):
        np.testing.assert_allclose(found, np.broadcast_to(value, np.shape(found)), rtol=1e-9, atol=1e-9, err_msg=repr(v))
    step, way = 1e-6, rng.uniform(-1, 1, 9)
    moved = [{x: given[x] + s * way[:4], y: given[y] + s * way[4:8], a: given[a] + s * way[8]} for s in (step, -step)]
    up, down = (small["evaluate"]([cost], m)[0] for m in moved)
    along = sum(np.sum(g * w) for g, w in zip(results[-3:], (way[:4], way[4:8], way[8]), strict=True))
    np.testing.assert_allclose(along, (up - down) / (2 * step), rtol=1e-4, atol=1e-5)


def test_it_fits(small):
    (slope, offset), error = small["fit"]()
    assert abs(slope - 1.5) < 0.01 and abs(offset + 0.5) < 0.01 and error < 1e-3


def test_what_is_wrong_is_said(small):
    x, y = small["vector"]("x"), small["vector"]("y")
    with pytest.raises(TypeError, match="not among the inputs.*y"):
        small["function"]([x], x + y)
    with pytest.raises(ValueError, match="do not fit"):
        small["function"]([x, y], x + y)([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="take its total"):
        small["grad"](x, [x])

"""Graphs of numbers, without arrays: as somebody uses them who has installed this layer only."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import theano
import theano.scalar as ts
from theano.gradient import DisconnectedInputError
from theano.printing import debugprint, pp
from theano.scalar.sharedvar import shared


def test_a_function_of_numbers() -> None:
    x, y, n = ts.float64("x"), ts.float32("y"), ts.int8("n")
    f = theano.function([x, y, n], [x * y + n, x > y, ts.switch(n, x, -x)])
    found = f(1.5, 2.0, 3)
    assert [v == w for v, w in zip(found, [6.0, False, 1.5], strict=True)] == [True] * 3
    assert [np.asarray(v).dtype.name for v in found] == ["float64", "bool", "float64"]
    assert f(-1.0, 0.5, 0)[2] == 1.0


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_special_functions_of_numbers(mode: str) -> None:
    k, x = ts.floats("k", "x")
    f = theano.function([k, x], [ts.gammainc(k, x), ts.gammaincc(k, x), ts.jv(k, x), ts.erf(x)], mode=mode)
    p, q, j, e = f(1.0, 0.5)
    assert p == pytest.approx(1 - math.exp(-0.5), rel=1e-15) and p + q == pytest.approx(1, rel=1e-15)
    assert j == pytest.approx(0.24226845767487388, rel=1e-14) and e == pytest.approx(math.erf(0.5), rel=1e-14)


def test_gradients_of_numbers() -> None:
    x, y = ts.floats("x", "y")
    cost = ts.exp(x * y) / (1 + ts.sqr(x))
    gx, gy = theano.grad(cost, [x, y])
    gxy = theano.grad(gx, y)
    f = theano.function([x, y], [cost, gx, gy, gxy])
    a, b = 0.7, -1.3
    c, d = math.exp(a * b), 1 + a * a
    # d/dx and d/dy of exp(xy)/(1 + x^2), by hand.
    wanted = [c / d, c * (b / d - 2 * a / d**2), a * c / d, c * ((1 + a * b) / d - 2 * a * a / d**2)]
    assert list(map(float, f(a, b))) == pytest.approx(wanted, rel=1e-14)


def test_gradient_with_respect_to_what_is_not_there() -> None:
    x, y = ts.floats("x", "y")
    with pytest.raises(DisconnectedInputError, match="y"):
        theano.grad(ts.sin(x), y)
    zero = theano.grad(ts.sin(x), y, disconnected_inputs="ignore")
    assert theano.function([x, y], zero, on_unused_input="ignore")(1.0, 2.0) == 0


def test_direction_of_numbers() -> None:
    x, y, dx, dy = ts.floats("x", "y", "dx", "dy")
    along = theano.gradient.Rop(ts.arctan2(y, x), [x, y], [dx, dy])
    f = theano.function([x, y, dx, dy], along)
    # moved around the origin at unit speed, the angle grows at unit speed
    assert f(math.cos(0.4), math.sin(0.4), -math.sin(0.4), math.cos(0.4)) == pytest.approx(1, rel=1e-14)


def test_a_composite_of_several_outputs() -> None:
    x, y = ts.floats("x", "y")
    both = ts.Composite([x, y], [ts.sqrt(x * x + y * y), ts.arctan2(y, x)])
    r, angle = both(x, y)
    f = theano.function([x, y], [r, angle, *theano.grad(r + 2 * angle, [x, y])])
    r0, a0, gx, gy = map(float, f(3.0, 4.0))
    assert (r0, a0) == pytest.approx((5, math.atan2(4, 3)), rel=1e-15)
    assert (gx, gy) == pytest.approx((3 / 5 - 2 * 4 / 25, 4 / 5 + 2 * 3 / 25), rel=1e-14)
    assert both == ts.Composite([x, y], [ts.sqrt(x * x + y * y), ts.arctan2(y, x)]) != ts.Composite([x, y], [x * y])
    again = pickle.loads(pickle.dumps(both))
    assert [float(v) for v in theano.function([x, y], list(again(x, y)))(3.0, 4.0)] == [r0, a0]


def test_composites_within_composites() -> None:
    x, y = ts.floats("x", "y")
    inner = ts.Composite([x, y], [x * y, x - y])
    product, difference = inner(x, y)
    outer = ts.Composite([x, y], [ts.exp(product) + difference])
    assert float(theano.function([x, y], outer(x, y))(0.5, 2.0)) == pytest.approx(math.e - 1.5, rel=1e-15)


def test_numbers_that_are_shared() -> None:
    total = shared(2.0, name="total")
    x = ts.float64("x")
    f = theano.function([x], total, updates=[(total, total + x)])
    assert [float(f(1.0)), float(f(0.5)), float(total.get_value())] == [2.0, 3.0, 3.5]
    count = shared(100)
    tick = theano.function([], count, updates=[(count, count + 100)])
    assert [int(tick()) for _ in range(4)] == [100, 200, 300, 400]  # beyond int8, which holds 100
    assert [shared(v).dtype for v in (True, np.int8(1), np.float32(1), 1j)] == ["bool", "int8", "float32", "complex128"]
    with pytest.raises(TypeError, match="one number"):
        shared([1.0, 2.0])


def test_wrong_numbers_are_refused() -> None:
    n = ts.int8("n")
    f = theano.function([n], n + 1)
    assert f(100) == 101 and f(127) == -128  # int8 wraps, as NumPy's does
    with pytest.raises(TypeError, match="int8"):
        f(1.5)
    with pytest.raises(TypeError):
        f(300)
    with pytest.raises(TypeError):
        f("1")
    with pytest.raises(TypeError):
        f([1, 2])
    with pytest.raises(TypeError):
        ts.and_(ts.float64("x"), n)


def test_how_they_look() -> None:
    x, y = ts.floats("x", "y")
    text = debugprint(ts.exp(x) * y, file="str")
    assert text.split("\n")[0].startswith("mul [id A]") and "|exp [id B]" in text and "|x [id C]" in text
    assert "exp" in pp(ts.exp(x) * y)
    assert str(ts.float64) == "float64" and repr(ts.int8("n")) == "n"


def test_an_op_of_ones_own() -> None:
    class Cube(ts.UnaryScalarOp):
        def impl(self, x: float) -> float:
            return x * x * x

        def grad(self, inputs: list, output_gradients: list) -> list:
            return [output_gradients[0] * 3 * inputs[0] * inputs[0]]

        def c_code(self, node: object, name: str, inputs: list, outputs: list, sub: dict) -> str:
            return f"{outputs[0]} = {inputs[0]} * {inputs[0]} * {inputs[0]};"

    cube = Cube(ts.upgrade_to_float, name="cube")
    x = ts.float64("x")
    f = theano.function([x], [cube(x), theano.grad(cube(x), x)])
    assert [float(v) for v in f(2.0)] == [8.0, 12.0]
    assert cube(ts.int64("n")).dtype == "float64"

"""Rop: derivatives along a direction, with and without the op's own rule."""

import math

import pytest
from smooth import add, floor, mul, mystery, pair, real, run, sin, vector

from theano import function
from theano.errors import DisconnectedInputError, UnusedInputError
from theano.gradient import DisconnectedType, Rop, disconnected_grad, zero_grad


def test_along_a_direction():
    x, y, u, v = (real(n) for n in "xyuv")
    f = [mul(sin(x), y), add(x, mul(y, y))]
    at = {x: 0.5, y: 2.0, u: 3.0, v: 5.0}
    assert run(Rop(f, [x, y], [u, v]), at) == pytest.approx([2 * math.cos(0.5) * 3 + math.sin(0.5) * 5, 3 + 4 * 5])
    assert run([Rop(sin(x), x, u)], at) == pytest.approx([math.cos(0.5) * 3])
    assert run([Rop(sin(x), x, 3.0)], at) == pytest.approx([math.cos(0.5) * 3])


def test_ops_with_several_outputs():
    x, y, u = real("x"), real("y"), real("u")
    first, second = pair(x, y)
    assert run([Rop(mul(first, second), x, u)], {x: 0.5, y: 2.0, u: 3.0}) == pytest.approx([6 * math.cos(0.5)])
    with pytest.raises(DisconnectedInputError):
        Rop(second, x, u)


def test_what_does_not_move():
    x, y, u = real("x"), real("y"), real("u")
    with pytest.raises(DisconnectedInputError, match="depends on none"):
        Rop(sin(y), x, u)
    with pytest.warns(UserWarning, match="depends on none"):
        Rop(sin(y), x, u, disconnected_outputs="warn")
    assert run([Rop(sin(y), x, u, disconnected_outputs="ignore")], {y: 1.0}) == [0.0]
    assert Rop(sin(y), x, u, disconnected_outputs="ignore", return_disconnected="none") is None
    for typed in ("disconnected", "Disconnected"):
        nothing = Rop(sin(y), x, u, disconnected_outputs="ignore", return_disconnected=typed)
        assert isinstance(nothing.type, DisconnectedType)
    for still in (zero_grad, floor, lambda x: sin(floor(x))):
        assert run([Rop(still(x), x, u)], {x: 1.0, u: 2.0}) == [0.0]
    with pytest.raises(DisconnectedInputError):
        Rop(disconnected_grad(x), x, u)


def test_inputs_that_a_derivative_does_not_have_may_be_passed():
    x, y, u, other = real("x"), real("y"), real("u"), real("other")
    along = Rop(add(mul(x, y), y), x, u)
    assert function([x, y, u], mul(along, along))(7.0, 3.0, 2.0) == 36.0
    with pytest.raises(UnusedInputError, match="the input other"):
        function([x, y, u, other], along)


def test_wrong_arguments():
    x, u = real("x"), real("u")
    with pytest.raises(ValueError, match="1 variables, but there are 2"):
        Rop(sin(x), x, [u, u])
    for name in ("disconnected_outputs", "return_disconnected"):
        with pytest.raises(ValueError, match=f"{name} is 'maybe'"):
            Rop(sin(x), x, u, **{name: "maybe"})
    with pytest.raises(ValueError, match="has 0 dimensions, its eval_point v"):
        Rop(sin(x), x, vector("v"))
    with pytest.raises(TypeError, match=r"wrt must be a variable or a list of variables, not 2\.0"):
        Rop(sin(x), 2.0, u)
    with pytest.raises((AttributeError, NotImplementedError)) as caught:
        Rop(mystery(x), x, u)
    assert any("neither R_op nor grad" in note for note in caught.value.__notes__)


def test_ten_thousand_deep():
    x, u = real("x"), real("u")
    f = x
    for _ in range(10_000):
        f = add(f, 1.0)
    assert run([Rop(f, x, u)], {x: 0.0, u: 2.0}) == [2.0]

"""The ops that hand their input on and change what flows back: what they say of themselves, and each derivative."""

import pytest
from smooth import mul, real, run

from theano.errors import DisconnectedInputError
from theano.gradient import (
    GradClip,
    GradScale,
    IdentityOp,
    NullType,
    Rop,
    grad,
    grad_clip,
)
from theano.gradient.absent import connection_pattern, is_disconnected
from theano.gradient.barriers import consider_constant_, disconnected_grad_, undefined_grad_, zero_grad_

ALL = (IdentityOp(), consider_constant_, zero_grad_, disconnected_grad_, undefined_grad_, GradClip(-1, 1), GradScale(2))


@pytest.mark.parametrize("op", ALL, ids=str)
def test_the_value_is_handed_on_in_the_same_memory(op):
    x = real("x")
    value, cells = [1.5], [[None]]
    op.perform(op(x).owner, [value], cells)
    assert cells == [[value]] and cells[0][0] is value
    assert op.view_map == {0: [0]}
    assert op.infer_shape(op(x).owner, [("n", "k")]) == [("n", "k")]
    assert op(x).type == x.type
    with pytest.raises(TypeError, match="takes a variable"):
        op(1.5)


def test_only_a_disconnected_gradient_says_that_there_is_no_connection():
    x = real("x")
    assert [connection_pattern(op(x).owner) for op in ALL] == [[[op is not disconnected_grad_]] for op in ALL]
    assert is_disconnected(*disconnected_grad_.grad([x], [x]))
    (null,) = undefined_grad_.grad([x], [x])
    assert isinstance(null.type, NullType) and "its input 0 (x)" in null.type.why_null


@pytest.mark.parametrize("op", ALL, ids=str)
def test_direction(op):
    x, u = real("x"), real("u")
    if op in (consider_constant_, zero_grad_):
        assert run([Rop(op(x), x, u)], {x: 2.0, u: 3.0}) == [0.0]
    elif op in (disconnected_grad_, undefined_grad_):
        with pytest.raises(DisconnectedInputError):
            Rop(op(x), x, u)
    else:
        assert Rop(op(x), x, u) is u


def test_bounds_may_be_equal():
    x = real("x")
    for low, high, wanted in ((1, 1, 1.0), (-3, 2, 2.0), (6, 7, 6.0)):
        assert run([grad(mul(grad_clip(x, low, high), 5.0), x)], {x: 0.5}) == [wanted]
    with pytest.raises(ValueError, match="above the upper bound"):
        grad_clip(x, 2, 1)
    assert GradClip(0, 1) == GradClip(0, 1) != GradClip(0, 2) and GradScale(1) != GradScale(2)

"""Patterns: what matches, how holes are filled, and what is built."""

import pytest
from arith import Twice, add, div, exp, log, log1p, mul, real

from theano.errors import RewriteError
from theano.graph import FunctionGraph
from theano.rewriting import P, pattern_vars, rule
from theano.rewriting.pattern import build, match
from theano.rewriting.rule import replacements

pytestmark = pytest.mark.usefixtures("arithmetic")
x, y, z = pattern_vars("x y z")


def first(pattern, variable):
    return next(match(pattern, variable), None)


def test_operators_read_as_ops():
    assert repr((x * y) / y + 1) == "add(truediv(mul(x, y), y), 1)"
    assert repr(2 - abs(-x) ** y) == "sub(2, pow(abs(neg(x)), y))"
    assert repr((1 / x) @ (x % 2) & ~y | (3 ^ y) if False else x // y) == "floordiv(x, y)"


def test_a_hole_twice_wants_the_same_thing_or_equal_constants():
    a, b = real("a"), real("b")
    assert first((x * y) / y, div(mul(a, b), b)) == {"x": a, "y": b}
    assert first((x * y) / y, div(mul(a, b), real("c"))) is None
    assert first((x * y) / y, div(mul(a, 3), 3))["x"] is a


def test_commutative_ops_match_in_any_order():
    a, b = real("a"), real("b")
    assert first((x * y) / y, div(mul(b, a), b)) == {"x": a, "y": b}
    assert len(list(match(x + y, add(a, b)))) == 2


def test_literals_match_constants_by_worth():
    a = real("a")
    assert first(x * 1, mul(a, 1)) == {"x": a}
    assert first(x * 1, mul(1.0, a)) == {"x": a}
    assert first(x * 1, mul(a, 2)) is None
    assert first(x * 1, mul(a, real("b"))) is None


def test_a_free_hole_takes_the_rest_of_a_long_sum():
    a, b, c = real("a"), real("b"), real("c")
    found = first(P(log)(x + 1), log(add(a, 1, b, c)))
    assert found["x"].owner.op == add and found["x"].owner.inputs == [a, b, c]


def test_a_rest_that_nothing_takes_stays_around_the_result():
    a, b, c = real("a"), real("b"), real("c")
    fold = rule("exp_exp", P(exp)(x) * P(exp)(y), P(exp)(x + y), phases=())
    node = mul(exp(a), c, exp(b)).owner
    ((_, new),) = replacements(fold, node, fold.answer(None, node))
    assert str(new.owner) == "mul(exp.out, c)" or str(new.owner) == "mul(exp.0, c)"


def test_classes_and_outputs():
    a = real("a")
    second = Twice()(a)[1]
    assert first(P(Twice, output=1)(x), second) == {"x": a}
    assert first(P(Twice)(x), second) is None
    assert first(P(type(exp))(x), exp(a)) == {"x": a}


def test_building():
    a = real("a")
    assert build(P(log1p)(x), {"x": a}).owner.op == log1p
    assert build(P(Twice(), output=1)(x), {"x": a}).index == 1
    with pytest.raises(RewriteError, match="a class of ops"):
        build(P(Twice)(x), {"x": a})
    with pytest.raises(RewriteError, match="operator 'matmul'"):
        build(x @ y, {"x": a, "y": a})


def test_conditions_and_results_speak_of_holes():
    a = real("a")
    cancel = rule("cancel", (x * y) / y, lambda x: x, when=lambda y: y.name == "b", phases=())
    b, c = real("b"), real("c")
    assert cancel.answer(None, div(mul(a, b), b).owner) is not None
    assert cancel.answer(None, div(mul(a, c), c).owner) is None
    with pytest.raises(ValueError, match="uses z"):
        rule("wrong", x + y, z, phases=())
    with pytest.raises(ValueError, match="takes w"):
        rule("wrong", x + y, x, when=lambda w: True, phases=())
    with pytest.raises(TypeError, match="must be an op applied"):
        rule("wrong", x, x, phases=())
    with pytest.raises(ValueError, match="keeps 'roughly'"):
        rule("wrong", x + y, x, keeps="roughly", phases=())


def test_inner_parts_used_elsewhere_can_be_refused():
    a = real("a")
    strict = rule("log1p", P(log)(P(exp)(x)), x, phases=(), allow_multiple_clients=False)
    inner = exp(a)
    alone = FunctionGraph([a], [log(inner)])
    shared = FunctionGraph([a], [log(inner), add(inner, 1)])
    assert strict.answer(alone, alone.outputs[0].owner) is not None
    assert strict.answer(shared, shared.outputs[0].owner) is None

"""Patterns: what matches, how variables are bound, and what is built."""

from importlib import import_module

import pytest
from arith import Twice, add, div, exp, log, log1p, mul, neg, real, sub

from theano.errors import RewriteError
from theano.graph import FunctionGraph
from theano.rewriting import P, Rest, literals, one_of, pattern_vars, rule
from theano.rewriting.pattern import build, match, may_match
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


def test_a_variable_carries_its_condition():
    a, b = real("a"), real("b")
    named_b = x.where(lambda v: v.name == "b")
    assert first(P(exp)(named_b), exp(b)) == {"x": b}
    assert first(P(exp)(named_b), exp(a)) is None
    # Where the op commutes, the condition chooses among the inputs; a second one is met as well.
    assert first(named_b * y, mul(a, b)) == {"x": b, "y": a}
    assert first(P(exp)(named_b.where(lambda v: False)), exp(b)) is None
    # It is asked of a group that a free variable takes.
    assert first(1 + named_b, add(1, a, b)) is None


def test_a_condition_on_what_an_op_computes():
    a = real("a")
    inner = exp(a)
    inner.name = "inner"
    assert first(P(log)(P(exp)(x).where(lambda v: v.name == "inner")), log(inner)) == {"x": a}
    assert first(P(log)(P(exp)(x).where(lambda v: v.name == "inner")), log(exp(a))) is None


def test_single_use_looks_at_one_part_of_a_pattern():
    a = real("a")
    pattern = P(log)(P(exp)(P(neg)(x)).single_use())
    for outputs, found in (
        (lambda inner: [log(inner)], True),
        (lambda inner: [log(inner), add(inner, 1)], False),
        (lambda inner: [log(inner), inner], False),
        (lambda inner: [log(inner), add(inner.owner.inputs[0], 1)], True),
    ):
        fgraph = FunctionGraph([a], outputs(exp(neg(a))), clone=True)
        assert (first(pattern, fgraph.outputs[0]) is not None) is found


def test_rest_takes_what_other_arguments_leave():
    a, b, c = real("a"), real("b"), real("c")
    terms = Rest("terms")
    assert repr(P(add)(1, terms)) == "add(1, *terms)"
    assert first(P(add)(1, terms), add(a, 1, b)) == {"terms": (a, b)}
    assert first(P(add)(1, terms), add(a, b)) is None
    assert first(P(add)(1, 1, terms), add(1, 1)) == {"terms": ()}
    # An op that does not commute: those that come last.
    assert first(P(div)(x, terms), div(a, b)) == {"x": a, "terms": (b,)}
    assert first(P(sub)(1, terms), sub(a, 1)) is None
    assert first(P(div)(x, y, z, terms), div(a, b)) is None
    built = build(P(mul)(terms, 2), {"terms": (a, b, c)})
    assert built.owner.inputs[:3] == [a, b, c] and built.owner.inputs[3].data == 2
    assert build(P(mul)(terms), {"terms": (a,)}) is a


def test_a_single_argument_is_a_node_of_one_input():
    a, b = real("a"), real("b")
    assert first(P(add)(x), add(a)) == {"x": a}
    assert first(P(add)(x), add(a, b)) is None


def test_ops_are_found_under_a_name():
    a = real("a")
    any_function = P((exp, log), "f")
    assert repr(any_function(x)) == "f(x)" and repr(P((exp, log))(x)) == "exp|log(x)"
    assert first(any_function(x), log(a)) == {"f": log, "x": a}
    assert first(any_function(x), neg(a)) is None
    # The same name twice wants the same op twice.
    assert first(any_function(P((exp, log), "f")(x)), exp(exp(a))) is not None
    assert first(any_function(P((exp, log), "f")(x)), exp(log(a))) is None
    assert build(P("f")(P(neg)(x)), {"f": log, "x": a}).owner.op == log


def test_attributes_of_ops_are_part_of_a_pattern():
    a, b = real("a"), real("b")
    quotient = P(type(add), name="op", associative=None)
    assert first(quotient(x, y), div(a, b))["op"] == div
    assert first(P(type(add), commutative=False, function=add.function)(x, y), add(a, b)) == {"x": a, "y": b}
    assert first(P(type(add), commutative=False, function=add.function)(x, y), mul(a, b)) is None


def test_one_of_is_one_spelling_for_many():
    a, b = real("a"), real("b")
    difference = one_of(x - y, x + -y)
    assert first(P(exp)(difference), exp(sub(a, b))) == {"x": a, "y": b}
    assert first(P(exp)(difference), exp(add(neg(b), a))) == {"x": a, "y": b}
    assert first(P(exp)(difference), exp(add(b, a))) is None
    with pytest.raises(ValueError, match="the same names"):
        one_of(x - y, -x)
    # At the root of a rule the ways are found at different ops.
    made = rule("one_minus", one_of(1 - x, 1 + -x), P(exp)(x), phases=())
    assert set(made.tracks) == {sub, add}
    for old in (sub(1, a), add(neg(a), 1)):
        ((_, new),) = replacements(made, old.owner, made.answer(None, old.owner))
        assert new.owner.op == exp and new.owner.inputs == [a]


def test_cases_are_tried_in_order():
    a = real("a")
    table = rule(
        "table", P(exp)(P(log)(x)), x, also=[
            (P(log)(P(exp)(x)), x), (P(exp)(P(neg)(x)), P(log)(x), lambda x: x.name == "a"), (P(exp)(P(neg)(x)), P(neg)(x)),
        ], phases=(), doc="What it does.",
    )  # fmt: skip
    assert table.__doc__ == "What it does." and table.tracks == (exp, log)
    for old, op in ((exp(neg(a)), log), (exp(neg(real("b"))), neg)):
        assert table.answer(None, old.owner)[old].owner.op == op
    for old in (exp(log(a)), log(exp(a))):
        assert table.answer(None, old.owner) == {old: a}
    assert table.answer(None, exp(exp(a)).owner) is None


def test_the_ops_met_by_a_long_table_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(import_module("theano.rewriting.rule"), "MANY_OPS", 2)
    a = real("a")
    table = rule("table", P(exp)(P(exp)(x)), x, also=[(P(log)(P(log)(x)), x), (P(neg)(P(neg)(x)), x)], phases=())
    for op in (exp, log, neg, exp):
        assert table.answer(None, op(op(a)).owner) is not None
        assert len(table._met) <= 2


def test_conditions_and_results_may_speak_of_what_is_replaced():
    a = real("a")
    node = exp(log(a)).owner
    seen = []
    undo = rule("undo", P(exp)(P(log)(x)), lambda x, out: seen.append(out) or x, when=lambda out, fgraph: fgraph == "graph",
                phases=())  # fmt: skip
    assert undo.answer(None, node) is None
    assert undo.answer("graph", node) == {node.outputs[0]: a} and seen == node.outputs


def test_numbers_as_results_are_made_by_the_layer(monkeypatch):
    a = real("a")
    gone = rule("gone", P(exp)(x), 1, phases=())
    node = exp(a).owner
    assert gone.answer(None, node)[node.outputs[0]].data == 1
    made = real("one")
    monkeypatch.setattr(literals, "literal_writers", [lambda value, old: made if value == 1 else None])
    assert gone.answer(None, node) == {node.outputs[0]: made}
    assert rule("two", P(exp)(x), 2, phases=()).answer(None, node) is None


def test_what_cannot_match_is_told_by_the_ops():
    a, b = real("a"), real("b")
    assert may_match(P(add)(P(exp)(x), y), add(a, exp(b)))
    assert not may_match(P(add)(P(exp)(x), y), add(a, b))
    assert not may_match(P(div)(P(exp)(x), y), div(a, exp(b)))
    assert not may_match(P(div)(x, 2), div(a, 3)) and may_match(P(div)(x, 2), div(a, 2))
    assert not may_match(P(exp)(one_of(-x, P(log)(x))), exp(a))
    assert not may_match(P(exp)(x), a)


def test_what_an_op_computes_has_a_name():
    a = real("a")
    power = exp(a)
    (found,) = match(P(log)(P(exp)(x).named("power")), log(power))
    assert found == {"x": a, "power": power}
    kept = rule("kept", P(log)(P(exp)(x).named("power")), P(neg)(P(exp)(x).named("power")), phases=())
    (new,) = kept.answer(None, log(power).owner).values()
    assert new.owner.inputs == [power] and kept.needs == (((exp,),),)


def test_a_function_may_answer_for_each_output():
    a = real("a")
    node = Twice().make_node(a)
    one, two = node.outputs
    each = rule("each", P(Twice)(x), lambda x: [None, add(x, x)], phases=())
    ((old, new),) = replacements(each, node, each.answer(None, node))
    assert old is two and new.owner.op == add
    told = rule("told", P(Twice)(x), lambda x, out: {out: x}, phases=())
    assert told.answer(None, node) == {one: a}

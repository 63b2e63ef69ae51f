"""Rules that need an op which the graph has not are not asked: what each needs, and that nothing else changes by it."""

import pytest
from arith import Twice, add, div, exp, log, log1p, mul, neg, real, sub

from theano.graph import FunctionGraph, Op
from theano.rewriting import Context, P, RewriteSettings, fixpoint, local_rule, one_of, pattern_vars, rule, walk
from theano.rewriting.needs import OpsPresent, needed, needed_below

pytestmark = pytest.mark.usefixtures("arithmetic")
x, y = pattern_vars("x y")
TRUST = RewriteSettings(on_error="raise", check=True)


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        (lambda: x, [()]),
        (lambda: P(exp)(x), [((exp,),)]),
        (lambda: P(exp)(P(log)(x)), [((exp,), (log,))]),
        (lambda: P(exp)(P(exp)(x)), [((exp,),)]),
        (lambda: P(exp)(P(log)(x).where(bool)), [((exp,), (log,))]),
        (lambda: P((log, log1p))(x), [((log, log1p),)]),
        (lambda: P(Twice)(x), [((Twice,),)]),
        (lambda: one_of(x - y, x + -y), [((sub,),), ((add,), (neg,))]),
        (lambda: P(exp)(one_of(x - y, x + -y)), [((exp,), (sub,)), ((exp,), (add,), (neg,))]),
        (lambda: one_of(P(exp)(x), x), [((exp,),), ()]),
        (lambda: P("unheard of")(P(log)(x)), [((log,),)]),
        (lambda: x * 1, [((mul,),)]),
    ],
)
def test_what_a_pattern_needs(pattern, ways):
    assert needed(pattern()) == ways


def test_the_root_is_the_node_that_the_rule_is_shown():
    assert needed_below(P(exp)(P(log)(x))) == [((log,),)]
    assert needed_below(x + 1) == [()]


def test_what_a_rule_needs():
    either = rule("either", P(exp)(P(log)(x)), x, also=[(P(exp)(P(neg)(x)), lambda x: div(1, exp(x)))], phases=())
    assert either.needs == (((log,),), ((neg,),)) and either.awaited == {log, neg}
    assert [either.may_apply(p) for p in (set(), {exp}, {log}, {neg, add})] == [False, False, True, True]
    both = rule("both", P(exp)(P(log)(x) + P(neg)(y)), x, phases=())
    assert [both.may_apply(p) for p in ({log, add}, {log, neg}, {log, neg, add})] == [False, False, True]
    always = rule("always", P(exp)(P(log)(x)), x, also=[(P(exp)(x), x)], phases=())
    assert always.needs == ((),) and always.may_apply(set())
    told = local_rule([exp], phases=(), needs=[Twice, log])(lambda node: None)
    assert [told.may_apply(p) for p in (set(), {Twice}, {log})] == [False, True, True]


def test_the_ops_of_a_graph_and_their_classes():
    class Plus(type(neg)):
        pass

    a, ops = real("a"), OpsPresent()
    ops.add_all(FunctionGraph([a], [Plus("plus", lambda v: v)(exp(a))]))
    assert {exp, type(exp), Plus, Op} <= ops.keys and log not in ops.keys


def counted(op, needs):
    """Return a rule that has nothing to say, and the nodes that it was shown."""
    seen = []
    return local_rule([op], name="counted", phases=(), needs=needs)(lambda node: seen.append(node)), seen


@pytest.mark.parametrize("driver", [walk, fixpoint])
def test_a_rule_is_asked_only_where_the_graph_has_what_it_needs(driver):
    a = real("a")
    for output, needs, shown in ((exp(neg(a)), [log], False), (exp(log(a)), [log], True), (exp(neg(a)), [log, neg], True)):
        idle, seen = counted(exp, needs)
        driver(FunctionGraph([a], [output]), [idle], Context(TRUST))
        assert bool(seen) == shown


@pytest.mark.parametrize("driver", [walk, fixpoint])
def test_a_rule_is_asked_once_what_it_needs_has_come(driver):
    """What one rule puts in, another waits for: of a node that is looked at later in the same walk."""
    a = real("a")
    makes = rule("makes", P(exp)(x), lambda x: log1p(neg(x)), phases=())
    waits = rule("waits", P(sub)(y, P(log1p)(P(neg)(x))), lambda x, y: add(y, x), phases=())
    fgraph = FunctionGraph([a], [sub(mul(a, a), exp(a))])
    driver(fgraph, [waits, makes], Context(TRUST))
    assert str(fgraph) == "[add(mul(a, a), a)]"


@pytest.mark.parametrize("driver", [walk, fixpoint])
def test_the_order_of_rules_stays_when_one_has_waited(driver):
    a = real("a")
    makes = rule("makes", P(log)(x), lambda x: log1p(x), phases=())
    first = rule("first", P(neg)(P(log1p)(x)), lambda x: exp(x), phases=())
    second = local_rule([neg], name="second", phases=())(lambda node: [mul(node.inputs[0], 7)])
    fgraph = FunctionGraph([a], [neg(log(a))])
    driver(fgraph, [makes, first, second], Context(TRUST))
    assert str(fgraph) == "[exp(a)]"


def test_what_was_replaced_still_counts():
    """An op may come back: that it is gone is told nobody."""
    a, context = real("a"), Context(TRUST)
    fixpoint(FunctionGraph([a], [exp(log(a))]), [rule("gone", P(exp)(P(log)(x)), x, phases=())], context)
    assert {exp, log} <= context.ops.keys

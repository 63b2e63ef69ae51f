"""Drivers: they reach the end, stop at limits with a reason, and cost time in proportion to the graph."""

import re
import time
import warnings

import pytest
from arith import Twice, add, div, exp, log, log1p, mul, neg, other, real, run, sub

from theano.errors import RewriteError, RewriteWarning
from theano.graph import Constant, FunctionGraph
from theano.rewriting import (
    Context,
    P,
    Phase,
    Phases,
    Provenance,
    RewriteSettings,
    constant_folding,
    fixpoint,
    local_rule,
    merge,
    pattern_vars,
    rewrite,
    rule,
    walk,
)

pytestmark = pytest.mark.usefixtures("arithmetic")
x, y = pattern_vars("x y")
TRUST = RewriteSettings(on_error="raise", check=True)


def rules():
    return [
        rule("add_zero", x + 0, x, phases=()),
        rule("mul_one", x * 1, x, phases=()),
        rule("neg_neg", -(-x), x, phases=()),
        rule("cancel", (x * y) / y, x, keeps="finite", phases=()),
        rule("log1p", P(log)(x + 1), P(log1p)(x), keeps="close", phases=()),
    ]


def test_fixpoint_goes_on_until_nothing_is_left():
    a, b = real("a"), real("b")
    fgraph = FunctionGraph([a, b], [log(add(div(mul(neg(neg(a)), b), b), mul(1, 1)))])
    context = Context(TRUST)
    fixpoint(fgraph, [*rules(), constant_folding], context)
    assert str(fgraph) == "[log1p(a)]"
    assert context.report.stop == "nothing left to do"
    assert context.report.uses == {"mul_one": 1, "neg_neg": 1, "cancel": 1, "log1p": 1}


@pytest.mark.parametrize("order", ["in_to_out", "out_to_in"])
def test_walk_sees_each_node_once_and_the_new_ones(order):
    a = real("a")
    fgraph = FunctionGraph([a], [add(mul(a, 1), 0)])
    walk(fgraph, rules(), Context(TRUST), order)
    assert str(fgraph) == "[a]"
    with pytest.raises(ValueError, match="order"):
        walk(fgraph, [], Context(), "sideways")


#: More links than Python has calls within calls, three nodes each.
LONG = 2_000


def _chain(length):
    a = real("a")
    v = a
    for _ in range(length):
        v = neg(add(mul(v, 1), 0))
    return FunctionGraph([a], [v])


@pytest.mark.parametrize("driver", [walk, fixpoint])
def test_a_deep_chain_is_ordinary(driver):
    fgraph = _chain(LONG)
    start = time.perf_counter()
    driver(fgraph, rules(), Context())
    assert str(fgraph) == "[a]" if driver is fixpoint else len(fgraph.apply_nodes) <= LONG
    assert time.perf_counter() - start < 60


def test_work_grows_with_the_graph_and_not_faster():
    asked = []

    def count(length):
        seen = 0

        def look(node):
            nonlocal seen
            seen += 1

        fgraph = _chain(length)
        fixpoint(fgraph, [*rules(), local_rule(name="look", phases=())(look)], Context())
        asked.append(seen)

    count(500), count(1000)
    assert asked[1] <= 2.2 * asked[0]


def test_a_wide_sum_is_ordinary():
    a = real("a")
    fgraph = FunctionGraph([a], [add(*(neg(neg(mul(a, i))) for i in range(2000)))])
    fixpoint(fgraph, rules(), Context(), [("merge", merge)])
    assert len(fgraph.apply_nodes) == 2000


def test_a_rule_that_grows_the_graph_is_stopped_and_named():
    a = real("a")
    grow = rule("grow", x + y, lambda x, y: neg(neg(add(y, x))), phases=())
    fgraph = FunctionGraph([a], [add(a, 2)])
    context = Context()
    fixpoint(fgraph, [grow], context)
    assert not context.report.complete
    assert "the rule grow was used 10" in context.report.stop and "grow let the graph grow most" in context.report.stop


@pytest.mark.parametrize("driver", [walk, fixpoint])
def test_rules_that_undo_each_other_are_named(driver):
    a, b = real("a"), real("b")
    ring = [
        rule("to_log", P(exp)(x), lambda x: log(x), phases=()), rule("to_log1p", P(log)(x), lambda x: log1p(x), phases=()),
        rule("to_exp", P(log1p)(x), lambda x: exp(x), phases=()),
    ]  # fmt: skip
    swap = rule("swap", x + y, lambda x, y: add(y, x), phases=())
    for bystanders in (0, 300):
        outputs = [*(neg(neg(mul(b, i))) for i in range(bystanders)), exp(a)]
        for rules_, outs, said in (
            (ring, outputs, r"the rules to_\w+, to_\w+ and to_\w+ undo each other: the graph is what it was 3 changes before"),
            ([swap], [*outputs[:-1], add(a, b)], "swap undoes itself: the graph is what it was 2 changes before"),
        ):
            context = Context(RewriteSettings(max_use_ratio=1e9))
            driver(FunctionGraph([a, b], outs), [*rules_, *rules()], context)
            assert not context.report.complete and re.search(said, context.report.stop), context.report.stop
            assert sum(context.report.uses.values()) < 1024 * 3 + 10 + bystanders


def test_limits_on_size_time_and_sweeps():
    a = real("a")
    double = rule("double", P(exp)(x), lambda x: add(exp(neg(x)), exp(x)), phases=())
    fgraph = FunctionGraph([a], [exp(a)])
    context = Context(RewriteSettings(max_use_ratio=1e9))
    fixpoint(fgraph, [double], context)
    assert "the graph grew to 10" in context.report.stop
    fgraph = FunctionGraph([a], [exp(a)])
    context = Context(RewriteSettings(max_use_ratio=1e9, max_growth=1e9, max_seconds=0.01))
    fixpoint(fgraph, [double], context)
    assert "0.01 seconds have passed" in context.report.stop


def test_the_same_node_again_is_no_change():
    a = real("a")
    idle = local_rule([exp], name="idle", phases=())(lambda node: [exp(node.inputs[0])])
    context = Context(TRUST)
    fixpoint(FunctionGraph([a], [exp(a)]), [idle], context)
    assert context.report.uses == {}


def test_a_failing_rule_is_an_error_in_tests_and_switched_off_otherwise():
    a = real("a")

    def broken(node):
        raise KeyError("nobody")

    bad = local_rule([exp], phases=())(broken)
    with pytest.raises(RewriteError, match=r"the rule broken failed on exp\(a\), written at .*test_drivers.py:\d+,: KeyError"):
        fixpoint(FunctionGraph([a], [exp(a)]), [bad], Context(TRUST))
    context = Context()
    with pytest.warns(RewriteWarning, match="switched off") as caught:
        fixpoint(FunctionGraph([a], [add(exp(a), exp(neg(a)), 0)]), [bad, *rules()], context)
    assert len(caught) == 1 and len(context.warnings) == 1 and "add_zero" in context.report.uses
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixpoint(FunctionGraph([a], [exp(a)]), [bad], Context(RewriteSettings(on_error="ignore")))
    with pytest.raises(ValueError, match="on_error"):
        RewriteSettings(on_error="cry")


def test_replacements_must_fit():
    a = real("a")
    for wrong, message in (
        (lambda node: [other("o")], "the rule wrong would put o of type other in the place of"),
        (lambda node: [None, None], "gave 2 replacements for the 1 outputs"),
    ):
        with pytest.raises(RewriteError, match=message):
            fixpoint(FunctionGraph([a], [exp(a)]), [local_rule([exp], name="wrong", phases=())(wrong)], Context(TRUST))


def test_folding_leaves_failures_to_run_time():
    a = real("a")
    fgraph = FunctionGraph([a], [add(a, div(1, 0)), mul(add(1, 2), 3), *Twice()(4)])
    fixpoint(fgraph, [constant_folding], Context(TRUST))
    assert str(fgraph.outputs[0].owner.inputs[1].owner.op) == "div"
    assert [v.data for v in fgraph.outputs[1:]] == [9, 4, 8]
    assert all(isinstance(v, Constant) for v in fgraph.outputs[1:])


def test_what_was_merged_is_merged_again_when_it_has_changed():
    a = real("a")
    fgraph, context = FunctionGraph([a], [add(exp(a), exp(a))]), Context()
    merge(fgraph, context)
    assert context.report.uses == {"merge": 1} and context.merged == (fgraph, fgraph.version)
    order = []
    fgraph.toposort = lambda: order.append(1) or FunctionGraph.toposort(fgraph)
    merge(fgraph, context)
    assert not order
    fgraph.replace(fgraph.outputs[0], add(log(fgraph.inputs[0]), log(fgraph.inputs[0])))
    merge(fgraph, context)
    assert order == [1] and context.report.uses == {"merge": 2} and len(fgraph.apply_nodes) == 2
    b = real("b")
    merge(FunctionGraph([b], [exp(b)]), context)
    merge(fgraph, context)
    assert order == [1, 1]


def test_merge_makes_equal_things_one():
    a, b = real("a"), real("b")
    fgraph = FunctionGraph([a, b], [add(exp(mul(a, 2)), exp(mul(a, 2))), exp(mul(a, 2)), sub(b, 2)])
    context = Context()
    merge(fgraph, context)
    fgraph.check_integrity()
    assert len(fgraph.apply_nodes) == 4
    assert len([v for v in fgraph.variables if isinstance(v, Constant)]) == 1
    assert run(fgraph.outputs, dict(zip(fgraph.inputs, [1.0, 5.0], strict=True)))[2] == 3


def test_history_answers_why():
    a = real("a")
    v = log(add(mul(a, 1), 1))
    v.name = "loss"
    v.tag.watched = True
    sequence = Phases()
    sequence.register("canonicalize", Phase("canonicalize"), 1, "fast_run")
    for r in rules():
        sequence.canonicalize.add(r, "fast_run")
    fgraph = FunctionGraph([a], [v])
    report = rewrite(fgraph, "fast_run", TRUST, sequence)
    node = fgraph.outputs[0].owner
    assert str(fgraph) == "[log1p(a)]" and fgraph.outputs[0].name == "loss"
    assert [s.rule for s in report.why(node)] == ["log1p"]
    assert "log1p (canonicalize) replaced loss, written at" in report.explain(node)
    assert fgraph.outputs[0].tag.trace == v.tag.trace and fgraph.outputs[0].tag.watched
    assert report.uses == {"mul_one": 1, "log1p": 1} and report.complete
    assert "log1p x1" in str(report)
    untouched = FunctionGraph([a], [exp(a)])
    report = rewrite(untouched, "fast_run", TRUST, sequence)
    assert "is as it was written at" in report.explain(untouched.outputs[0].owner)


def test_what_comes_back_after_a_refusal_keeps_its_origin():
    a = real("a")
    fgraph = FunctionGraph([a], [log(mul(a, 1))], clone=False)
    provenance = Provenance()
    fgraph.attach_feature(provenance)
    users = fgraph.outputs[0].owner
    provenance.begin("accepted", "first", users.inputs[0])
    made = exp(a)
    fgraph.replace(users.inputs[0], made, reason="accepted")
    provenance.end()
    mark = provenance.mark()
    with pytest.raises(RuntimeError), fgraph.attempt():
        for rule_name, new in (("refused", neg(a)), ("refused too", exp(neg(a)))):
            provenance.begin(rule_name, "first", fgraph.outputs[0])
            fgraph.replace(fgraph.outputs[0], new, reason=rule_name)
        raise RuntimeError("the graph refuses")
    provenance.forget(mark)
    assert str(fgraph) == "[log(exp(a))]" and len(provenance.steps) == 1
    assert [s.rule for s in provenance.why(made.owner)] == ["accepted"]
    assert provenance.why(fgraph.outputs[0].owner) == []

"""Where programs come from, step by step: the look-up, the rewritten graph, and the graph of a program that was found."""

from __future__ import annotations

import os
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile import program_cache, program_source
from theano.compile.closed_graph import close_graph
from theano.compile.key import GraphDescription, function_key
from theano.compile.mode import Mode, get_mode
from theano.compile.program_cache import CacheCounts, Lookup, look_up
from theano.compile.program_source import CachedProgram, CarefulPerform, RewrittenGraph, explainer
from theano.compile.request import Request
from theano.errors import CycleError, InconsistencyError
from theano.graph import FunctionGraph
from theano.graph.aliasing import DestroyHandler
from theano.graph.canonical import NoCanonicalForm
from theano.graph.features import Supervisor
from theano.runtime.link import Compiled, Linker, Performed
from theano.runtime.profile import CompileTimes
from theano.runtime.serialized import BadProgram

PLAIN = Mode("py", None)


def clock(monkeypatch, module, *ticks):
    """Let a module see these times, one after the other."""
    left = iter(ticks)
    monkeypatch.setattr(module, "perf_counter", lambda: next(left))


def request(inputs, outputs, updates=None, mode=PLAIN, accept_inplace=False):
    return Request(close_graph(inputs, outputs, updates), get_mode(mode), accept_inplace, "f")


def plain():
    x, s = T.dvector("x"), theano.shared(np.zeros(3), "s")
    return request([x], [x * 2, T.exp(x)], {s: s + x})


# -- looking up -----------------------------------------------------------------------------------------------------


@pytest.fixture
def counts(monkeypatch):
    assert CacheCounts() == CacheCounts(found=0, missed=0, kept=0, without_key=0)
    made = CacheCounts()
    monkeypatch.setattr(program_cache, "counts", made)
    return made


@pytest.mark.parametrize(("described", "found", "lookup", "counted", "times"), [
    (NoCanonicalForm("no\nmore"), None, Lookup(reason="no"), CacheCounts(without_key=1), (3.0, 0.0)),
    (RecursionError("deep"), None, Lookup(reason="deep"), CacheCounts(without_key=1), (3.0, 0.0)),
    (Lookup(key="k"), None, Lookup(key="k"), CacheCounts(missed=1), (3.0, 5.0)),
    (Lookup(key="k"), "a plan", Lookup(plan="a plan"), CacheCounts(found=1), (3.0, 5.0)),
    (Lookup(), None, Lookup(), CacheCounts(), (3.0, 0.0)),
    (Lookup(late_key=str), None, Lookup(late_key=str), CacheCounts(missed=1), (3.0, 0.0)),
])  # fmt: skip
def test_a_look_up(described, found, lookup, counted, times, counts, monkeypatch):
    def describe(asked):
        if isinstance(described, Exception):
            raise described
        return Lookup(**vars(described))

    def find(key):
        assert key == "k"
        return found

    monkeypatch.setattr(program_cache, "_describe", describe)
    monkeypatch.setattr(program_cache, "_find", find)
    clock(monkeypatch, program_cache, 10.0, 13.0, 18.0)
    taken = CompileTimes()
    assert look_up(None, taken) == lookup and counts == counted
    assert (taken.keying, taken.finding) == times


def test_a_new_look_up_has_found_nothing():
    assert vars(Lookup()) == {"plan": None, "key": "", "reason": "", "constants": (), "flags": {}, "late_key": None}


@pytest.mark.parametrize(("plans", "looks", "compiled", "reason"), [
    (False, False, "where possible", "the flag cache.plans is off"), (True, True, "where possible", "the mode inspects each node"),
    (True, False, "never", "it runs in Python"),
])  # fmt: skip
def test_what_has_no_key(plans, looks, compiled, reason):
    asked = SimpleNamespace(mode=SimpleNamespace(inspects_nodes=looks, linker=SimpleNamespace(compiled=compiled)))
    with theano.config.change_flags({"cache.plans": plans}), pytest.raises(NoCanonicalForm, match=reason):
        program_cache._describe(asked)


@pytest.mark.parametrize("linker", ["cvm", "c|py"])
def test_what_has_a_key(linker, monkeypatch):
    """It is that of the whole request; the graph's constants and the flags are kept for later."""
    monkeypatch.setattr("theano.compile.program_cache.environment", lambda identity: ["around"])
    monkeypatch.setattr("theano.compile.program_cache.read_sources", lambda notes: lambda: "sources")
    x, c = T.dvector("x"), T.constant(np.arange(3.0))
    asked = request([x], [x + c], mode=Mode(linker, "fast_run"))
    description = GraphDescription(asked.closed)
    key = function_key(description, asked.mode, asked.rewrite_settings(), False, asked.allow_gc, ["sources", "around"])
    with theano.config.change_flags({"cache.plans": True}):
        found = program_cache._describe(asked)
        assert found == Lookup(None, key, "", description.constants, theano.config.all_given())


def late(problem: Exception | None = None) -> str:
    if problem is not None:
        raise problem
    return "k"


def test_a_key_is_late_where_nothing_is_kept(monkeypatch):
    """The sources are known only when they have been waited for, or where a plan may be found."""
    waited = []
    monkeypatch.setattr("theano.compile.program_cache.environment", lambda identity: ["around"])
    monkeypatch.setattr(
        "theano.compile.program_cache.read_sources", lambda notes: lambda: waited.append(1) or "sources"
    )
    x = T.dvector("x")
    asked = request([x], [x + 1], mode=Mode("cvm", "fast_run"))
    with theano.config.change_flags({"cache.plans": True}):
        monkeypatch.setattr("theano.compile.program_cache.are_known", lambda: False)
        monkeypatch.setattr("theano.cache.store.Cache.holds_plans", lambda cache: False)
        found = program_cache._describe(asked)
        assert found.key == "" and found.late_key is not None and found.may_be_kept and not waited
        key = found.late_key()
        assert waited == [1]
        monkeypatch.setattr("theano.compile.program_cache.are_known", lambda: True)
        assert program_cache._describe(asked).key == key and waited == [1, 1]
        monkeypatch.setattr("theano.compile.program_cache.are_known", lambda: False)
        monkeypatch.setattr("theano.cache.store.Cache.holds_plans", lambda cache: True)
        assert program_cache._describe(asked).key == key and waited == [1, 1, 1]


@pytest.mark.parametrize(("problem", "kept"), [(None, ["k"]), (NoCanonicalForm("the sources have changed"), [])])
def test_keeping_under_a_late_key(problem, kept, counts, monkeypatch):
    added = []
    monkeypatch.setattr("theano.runtime.serialized.serialize", lambda *what: "text")
    monkeypatch.setattr("theano.compile.program_cache.check_sources", lambda: None)
    monkeypatch.setattr("theano.cache.store.Cache.add_plan", lambda cache, key, text: added.append(key))
    lookup = Lookup(late_key=lambda: late(problem))
    program_cache.keep(lookup, "program", "linked", "arguments")
    assert added == kept and not lookup.may_be_kept and lookup.reason == (str(problem) if problem else "")


@pytest.mark.parametrize(("problem", "reason", "kept"), [
    (None, "", 1), (NoCanonicalForm("no\nmore"), "no", 0), (RecursionError("deep"), "deep", 0),
    (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "'utf-8' codec can't encode", 0),
])  # fmt: skip
def test_keeping(problem, reason, kept, counts, monkeypatch):
    added = []

    def serialize(*what):
        if problem is not None:
            raise problem
        return what

    monkeypatch.setattr("theano.runtime.serialized.serialize", serialize)
    monkeypatch.setattr("theano.compile.program_cache.check_sources", lambda: None)
    monkeypatch.setattr("theano.cache.store.Cache.add_plan", lambda cache, *what: added.append(what))
    lookup = Lookup(key="k", constants=("c",))
    program_cache.keep(lookup, "program", "linked", "arguments")
    assert lookup.key == "" and lookup.reason.startswith(reason) and bool(lookup.reason) is bool(reason)
    assert counts == CacheCounts(kept=kept)
    assert added == [("k", ("program", "linked", "arguments", ("c",)))] * kept


def test_plans_that_are_bad_are_passed_over(monkeypatch):
    def deserialize(text, find):
        if text == "bad":
            raise BadProgram("bad")
        return text

    monkeypatch.setattr("theano.runtime.serialized.deserialize", deserialize)
    for plans, found in (([], None), (["bad", "bad"], None), (["bad", "good", "better"], "good")):
        monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key, plans=plans: plans)
        assert program_cache._find("k") == found


# -- from the graph ---------------------------------------------------------------------------------------------------


def test_seconds_go_where_they_were_spent(monkeypatch):
    clock(monkeypatch, program_source, 10, 11, 20, 23, 40, 45)
    seconds = iter([2.0, 9.0])
    monkeypatch.setattr(program_source, "_seconds_in_compiler", lambda: next(seconds))
    times = CompileTimes(packing=100.0)
    made = RewrittenGraph.rewrite(plain(), times)
    assert (times.packing, times.rewriting, times.linking, times.compiler) == (101.0, 3.0, 5.0, 7.0)
    assert times.nodes == len(made.fgraph.toposort()) == len(made.linked.nodes) > 2
    assert (times.generating, times.compiling) == (made.linked.seconds_generating, made.linked.seconds_compiling)


def test_seconds_in_the_compiler(monkeypatch):
    unit = SimpleNamespace(compile_counts=lambda: SimpleNamespace(seconds_compiling=2.5))
    monkeypatch.setitem(sys.modules, "theano.codegen.unit", unit)
    assert program_source._seconds_in_compiler() == 2.5
    monkeypatch.delitem(sys.modules, "theano.codegen.unit")
    assert program_source._seconds_in_compiler() == 0.0


def test_the_nodes_of_the_request_or_copies():
    asked = plain()
    kept = set(asked.closed.nodes)
    copied = RewrittenGraph.rewrite(asked, CompileTimes(), copied=True)
    assert copied.is_made and copied.graph is copied and copied.keepalive is copied.linked
    assert not kept & copied.fgraph.apply_nodes and all(node.outputs[0].fgraph is None for node in kept)
    again = RewrittenGraph.rewrite(asked, CompileTimes(), copied=True)
    assert [str(n) for n in again.nodes_in_order()] == [str(n) for n in copied.nodes_in_order()]
    for v in asked.closed.inputs:
        v.variable.fgraph = None
    made = RewrittenGraph.rewrite(asked, CompileTimes())
    assert kept <= made.fgraph.apply_nodes


def test_which_outputs_are_updates_of_which_inputs():
    x, s, t, u = T.dvector("x"), *(theano.shared(np.zeros(3), name) for name in "stu")
    made = RewrittenGraph.rewrite(request([x], [x * s * u, x], {t: t + 1, s: s + 2}), CompileTimes())
    inputs = [i.name for i in made.fgraph.inputs]
    assert {inputs[i] for i in made.fgraph.update_mapping.values()} == {"s", "t"}
    assert sorted(made.fgraph.update_mapping) == [2, 3]


def test_what_may_be_overwritten():
    """Arguments that the user gives away; shared variables whose new value is stored where the old one was."""
    x, y, z = T.dvector("x"), T.dvector("y"), T.dvector("z")
    s, t = theano.shared(np.zeros(3), "s"), theano.shared(np.zeros(3), "t")
    inputs = [theano.In(x, mutable=True), y, theano.In(z, value=np.zeros(3), update=z + 1)]
    made = RewrittenGraph.rewrite(request(inputs, [x + y + z + s + t], {s: s + 1}), CompileTimes())
    (supervisor,) = [f for f in made.fgraph.features if isinstance(f, Supervisor)]
    assert {v.name for v in supervisor.protected} == {"y", "z", "s", "t"}
    assert {v.name for v in supervisor.replaced} == {"s"}


@pytest.mark.parametrize(("implicit", "update", "memory", "replaced"), [
    (True, "new", "cpu", True), (False, "new", "cpu", False), (True, None, "cpu", False), (True, "new", None, False),
    (True, "new", "gpu0", False),
])  # fmt: skip
def test_what_is_replaced_by_an_update(implicit, update, memory, replaced):
    spec = None if memory is None else SimpleNamespace(device=memory)
    variable = SimpleNamespace(type=SimpleNamespace(buffer_spec=lambda: spec))
    assert program_source._is_replaced(SimpleNamespace(implicit=implicit, update=update, variable=variable)) is replaced


def handlers(fgraph):
    return sum(isinstance(f, DestroyHandler) for f in fgraph.features)


def destroying(where):
    """Return a graph in which nodes of some numbers overwrite what they read."""
    x = T.dvector("x")
    v = x * 2
    for k in range(3):
        v = T.set_subtensor(T.exp(v)[:1], 1.0, inplace=k in where)
    return x, v


@pytest.mark.parametrize("where", [(), (0,), (2,), (0, 2)])
def test_a_graph_that_overwrites(where):
    x, v = destroying(where)
    if where:
        with pytest.raises(TypeError, match="holds an op that overwrites its input"):
            RewrittenGraph.rewrite(request([x], [v]), CompileTimes())
    x, v = destroying(where)
    fgraph = FunctionGraph([x], [v], clone=True)
    program_source._refuse_inplace(fgraph, True)
    assert handlers(fgraph) == bool(where)
    fgraph = FunctionGraph([x], [v], clone=True)
    program_source._watch(fgraph)
    assert handlers(fgraph) == bool(where)


@pytest.mark.parametrize(
    ("values", "in_rewriting", "seen"), [("off", "off", "off"), ("off", "warn", "warn"), ("warn", "warn", "warn")]
)
def test_test_values_while_rewriting(values, in_rewriting, seen, monkeypatch):
    found = []

    def rewrite(fgraph, settings):
        found.append((fgraph, settings, theano.config.compute_test_value))
        return SimpleNamespace(complete=True)

    asked = SimpleNamespace(mode=SimpleNamespace(rewrite=rewrite), rewrite_settings=lambda: "settings", name="f")
    with theano.config.change_flags(compute_test_value=values, compute_test_value_opt=in_rewriting):
        program_source._rewrite(asked, "graph", CompileTimes())
    assert found == [("graph", "settings", seen)]


@pytest.mark.parametrize("complete", [True, False])
def test_rewriting_that_did_not_come_to_its_end_is_told(complete, caplog):
    report = SimpleNamespace(complete=complete, stop="too many uses")
    asked = SimpleNamespace(mode=SimpleNamespace(rewrite=lambda *what: report), rewrite_settings=lambda: None, name="f")
    assert program_source._rewrite(asked, None, CompileTimes()) is report
    assert ("rewriting of f stopped early: too many uses" in caplog.text) is not complete


def test_results_are_protected_once(monkeypatch):
    """A graph that comes rewritten has been through it."""
    protected = []
    monkeypatch.setattr(program_source, "_protect_results", lambda *what: protected.append(what))
    asked, times = plain(), CompileTimes()
    made = RewrittenGraph.rewrite(asked, times)
    assert protected == [(asked, made.fgraph, times)]
    again = RewrittenGraph(asked, times, made.fgraph)
    assert len(protected) == 1 and again.report is None and made.report is not None


@pytest.mark.parametrize(("problem", "said"), [
    (None, None), (CycleError("a circle"), "^a circle$"), (InconsistencyError("overwritten"), "^f cannot be computed: overwritten"),
])  # fmt: skip
def test_a_graph_that_cannot_be_computed(problem, said, monkeypatch):
    def validate():
        if problem is not None:
            raise problem

    monkeypatch.setattr(program_source, "insert_deepcopy", lambda *what: None)
    fgraph, times = SimpleNamespace(validate=validate, toposort=lambda: [1, 2, 3]), CompileTimes()
    if problem is None:
        program_source._protect_results(plain(), fgraph, times)
        assert times.nodes == 3
    else:
        with pytest.raises(type(problem), match=said):
            program_source._protect_results(plain(), fgraph, times)


@pytest.mark.parametrize(("flags", "quiet"), [({}, False), ({"cxx": ""}, True)])
def test_who_has_switched_the_compiler_off_is_not_told(flags, quiet, monkeypatch):
    told = []
    link = program_source.link
    monkeypatch.setattr(program_source, "link", lambda *what: told.append(what[4]) or link(*what))
    with theano.config.change_flags(flags):
        made = RewrittenGraph.rewrite(plain(), CompileTimes())
    program_source._link_with(made._request.mode.linker, made.fgraph)
    assert told == [quiet, True], "one who links again has been told"


class Looking(Linker):
    inspects_nodes = True


def test_what_is_linked_is_linked_once():
    made = RewrittenGraph.rewrite(plain(), CompileTimes())
    assert made._link_with(Linker("another", "never")) is made.linked
    for linker in (Linker("another", "where possible"), Looking("py", "never")):
        again = made._link_with(linker)
        assert again is not made.linked and again.nodes == made.linked.nodes
    assert made.kinds_of_nodes() == {"Performed": len(made.linked.nodes)} and made.nodes_in_order() is made.linked.nodes


@pytest.mark.parametrize("evaluator", [None, "somebody"])
def test_what_a_program_is_laid_out_from(evaluator, monkeypatch):
    asked = plain()
    made = RewrittenGraph.rewrite(asked, CompileTimes())
    for name in ("build", "build_opaque"):
        monkeypatch.setattr(program_source, name, lambda *what, name=name: (name, *what))
    monkeypatch.setattr(Mode, "evaluator", lambda *what: evaluator)
    cells = [[None], ["s"]]
    arguments = [SimpleNamespace(cell=None), SimpleNamespace(cell=cells[1])]
    name, fgraph, how, given, n, updates, *more = made.program(arguments)
    assert (fgraph, given, n, more[:3]) == (made.fgraph, arguments, 2, ["list", None, "f"])
    assert updates == [(cells[1], 2)] and updates[0][0] is cells[1]
    assert (name, how) == (("build", made.linked) if evaluator is None else ("build_opaque", evaluator))
    assert more[3:] == ([asked.allow_gc] if evaluator is None else [])
    made.fgraph.update_mapping = {3: 1, 2: 0}
    arguments[0].cell = cells[0]
    assert made.program(arguments)[5] == [(cells[0], 2), (cells[1], 3)], "in the order of the outputs"
    arguments[0].cell = None
    assert made.program(arguments)[5] == [(cells[1], 3)]
    made.fgraph.update_mapping = None
    assert made.program(arguments)[5] == []


def test_an_explainer_knows_slots_where_nodes_are_known():
    asked = plain()
    made = RewrittenGraph.rewrite(asked, CompileTimes())
    found = explainer(asked, made)
    assert found.function == "f" and found._variables()[:2] == [spec.variable for spec in asked.closed.inputs]
    assert set(made.fgraph.outputs) <= set(found._variables())
    unknown = SimpleNamespace(nodes_in_order=list, graph=None)
    assert list(explainer(asked, unknown)._variables()) == []


# -- from the cache -----------------------------------------------------------------------------------------------------


class Found(CachedProgram):
    """A program that was found, whose graph is what a test says."""

    def __init__(self, make, **serialized):
        super().__init__(plain(), SimpleNamespace(**serialized), (), {"threads": 7})
        self.make = make

    def _make(self):
        return self.make()


def graph_of(*how):
    nodes = [f"node {k}" for k in range(len(how))]
    return SimpleNamespace(nodes_in_order=lambda: nodes, linked=SimpleNamespace(how=list(how)))


def test_a_graph_is_made_when_it_is_asked_for_and_once():
    made = []
    graph = graph_of()

    def make():
        made.append(theano.config.threads)
        return graph, True

    found = Found(make, keepalive="code", kinds={"Compiled": 2})
    assert found.keepalive == "code" and found.kinds_of_nodes() == {"Compiled": 2} and not found.is_made and made == []
    assert found.graph is found.graph is graph and found.is_made and made == [7], "with the flags of then"


@pytest.mark.parametrize("agrees", [True, False])
def test_nodes_are_those_of_the_program_that_runs(agrees):
    performed, compiled = Performed(len), Compiled(1, b"", 0.0, "f")
    found = Found(lambda: (graph_of(performed, compiled, performed), agrees))
    assert found.nodes_in_order() == (["node 0", "node 1", "node 2"] if agrees else [])
    assert [found._performed(k) for k in range(3)] == (["node 0", "node 2", None] if agrees else [None] * 3)


def test_a_graph_is_made_of_copies(monkeypatch):
    """The request stays as it was, for another try."""
    asked = plain()
    monkeypatch.setattr(CachedProgram, "_agrees", lambda found, graph: "whether it agrees")
    graph, agrees = CachedProgram(asked, SimpleNamespace(), (), {})._make()
    assert agrees == "whether it agrees" and not set(asked.closed.nodes) & graph.fgraph.apply_nodes


def test_a_graph_that_cannot_be_made_has_no_nodes(caplog):
    found = Found(lambda: 1 / 0)
    assert found.nodes_in_order() == [] and "the graph of f cannot be made again" in caplog.text
    assert found._performed(0) is None and not found.is_made


@pytest.mark.parametrize(("again", "agrees"), [("a", True), ("b", False), (NoCanonicalForm("x"), False)])
def test_agreement(again, agrees, monkeypatch):
    def serialize(*what):
        if isinstance(again, Exception):
            raise again
        return f'{{"fields": "{again}", "units": []}}'

    monkeypatch.setattr("theano.runtime.serialized.serialize", serialize)
    found = Found(None, text='{"fields": "a", "units": ["one"]}')
    assert found._agrees(SimpleNamespace(program=lambda arguments: None, linked=None)) is agrees


def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent():
    """A thread that makes a graph holds a lock, which nobody in the child will ever release."""
    held, done = threading.Event(), threading.Event()

    def hold():
        with program_source._making:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        held.wait(60)
        child = os.fork()
        if child == 0:
            os._exit(0 if program_source._making.acquire(blocking=False) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        done.set()
        thread.join(60)


# -- failures of ops in Python -----------------------------------------------------------------------------------------


class Performs:
    """An op that computes, or fails."""

    def __init__(self, error=None):
        self.error, self.calls = error, []

    def perform(self, node, inputs, outputs):
        self.calls.append((node, inputs, [list(o) for o in outputs]))
        if self.error is not None:
            raise self.error


def test_an_op_that_computes_needs_no_other_node():
    op = Performs()
    CarefulPerform(op, lambda: pytest.fail("it is not asked for"))("stand-in", [1], [[None]])
    assert op.calls == [("stand-in", [1], [[None]])]


@pytest.mark.parametrize(("real", "raised"), [
    (None, "first"), (ValueError("better"), "better"), (TypeError("another"), "another"), ("computes", "first"),
])  # fmt: skip
def test_of_a_failure_the_real_node_speaks(real, raised):
    """It knows names and lines; if it does not fail, or there is none, what failed first is told."""
    op = Performs(ValueError("first"))
    stands_for = SimpleNamespace(op=Performs(real if isinstance(real, Exception) else None))
    with pytest.raises((ValueError, TypeError), match=f"^{raised}$"):
        CarefulPerform(op, lambda: None if real is None else stands_for)("stand-in", [1], [["a"], ["b"]])
    assert stands_for.op.calls == ([] if real is None else [(stands_for, [1], [[None], [None]])])

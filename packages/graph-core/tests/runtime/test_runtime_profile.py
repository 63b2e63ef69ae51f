"""Profiles: counts and times, and what compiling cost."""

import os
import re
import subprocess
import sys
from io import StringIO
from itertools import accumulate, permutations
from xml.etree import ElementTree

import pytest

import theano
from theano import function
from theano.compile import ProfileStats
from theano.graph import Op, generic
from theano.runtime import peak, summary
from theano.runtime import profile as profile_module
from theano.runtime.peak import memory_of


class Twice(Op):
    __props__ = ()
    itypes, otypes = [generic], [generic]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = [inputs[0]] * 20_000


@pytest.fixture
def x():
    return generic("x")


def test_calls_and_nodes_are_counted(x):
    f = function([x], Twice()(Twice()(x)), profile=True)
    for _ in range(3):
        f(1)
    p = f.profile
    assert p.fct_callcount == 3 and p.fct_call_time > 0
    assert list(p.apply_callcount.values()) == [3, 3] and all(t > 0 for t in p.apply_time.values())
    assert p.op_callcount() == {Twice(): 6} and p.by_op()[Twice()].seconds == pytest.approx(sum(p.apply_time.values()))
    assert p.compile_time > 0 and p.optimizer_time > 0 and p.linker_time > 0


def test_summary(x, capsys):
    f = function([x], Twice()(x), profile="the message")
    profile_module._kept.clear()
    f(1)
    out = StringIO()
    f.profile.summary(file=out)
    text = out.getvalue()
    assert "Message: the message" in text and "Time in 1 calls" in text and "Twice" in text and "Py" in text
    assert str(f.profile) == text
    f.profile.summary()
    assert capsys.readouterr().out == text


def test_a_notebook_shows_a_table_with_bars(x):
    y = generic("<y> & z")
    p = ProfileStats(message="<of> two")
    f = function([x, y], [Twice()(x), Twice()(Twice()(y))], profile=p)
    f(1, 2)
    shown = ElementTree.fromstring(p._repr_html_())
    assert shown.find("caption").text.startswith("<of> two: 1 calls")
    rows = shown.findall("tr")[1:]
    assert [row.findall("td")[1].text for row in rows] == ["1"] * 3
    widths = [float(row.find("td/div").get("style").partition("%")[0].removeprefix("width:")) for row in rows]
    assert widths == sorted(widths, reverse=True) and sum(widths) == pytest.approx(100, abs=0.5)
    assert any("<y> & z" in row.find("td/code").text for row in rows)


def test_a_terminal_with_rich_shows_a_table_with_bars(x):
    console = pytest.importorskip("rich.console")
    y = generic("[bold]y")
    p = ProfileStats(message="[of] two")
    f = function([x, y], [Twice()(x), Twice()(Twice()(y))], profile=p)
    f(1, 2)
    out = StringIO()
    console.Console(file=out, width=120).print(p)
    text = out.getvalue()
    assert "[of] two: 1 calls" in text and "[bold]y" in text and "█" in text
    shares = [float(line.partition("%")[0].split()[-1]) for line in text.splitlines() if "%" in line]
    assert len(shares) == 3 and shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(100, abs=0.5)


def test_reset(x):
    f = function([x], Twice()(x), profile=True)
    f(1)
    f.profile.reset()
    assert f.profile.fct_callcount == 0
    f(1)
    assert f.profile.fct_callcount == 1


def test_several_functions_in_one_profile(x):
    p = ProfileStats(atexit_print=False)
    f, g = function([x], Twice()(x), profile=p), function([x], x, profile=p)
    f(1), g(1), g(1)
    assert p.fct_callcount == 3


def test_off_by_default_on_by_flag(x):
    assert function([x], x).profile is None
    with theano.config.change_flags(profile=True):
        f = function([x], x)
    assert f.profile is not None and f.profile in profile_module._kept
    profile_module._kept.clear()


def test_a_profile_of_nothing():
    assert "no function" in ProfileStats(atexit_print=False).summary_text()


def test_explain_compile(x):
    text = theano.explain_compile(function([x], Twice()(x), name="f"))
    assert text.startswith("f: ") and "for 1 nodes (0 compiled, 1 in Python)" in text
    for step in ("copying the graph", "rewriting", "describing it", "looking it up", "writing C", "compiler", "loading code", "planning memory"):
        assert step in text
    assert re.search(r"  in Python: Twice\(x\), written at .*test_runtime_profile.py:\d+: Twice has no compiled form", text)


# -- by class, op, kernel and node; memory; the flags --------------------------------------------------------


class Join(Op):
    __props__ = ()
    itypes, otypes = [generic, generic], [generic]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = [*inputs]


def test_times_by_class_op_and_kernel(x):
    f = function([x], Join()(Twice()(x), Twice()(Twice()(x))), profile=True, mode=theano.Mode("py", None))
    f(1)
    p = f.profile
    for sums, twice, join in ((p.by_class(), Twice, Join), (p.by_op(), Twice(), Join())):
        assert {key: (one.nodes, one.calls, one.implementation) for key, one in sums.items()} == {
            twice: (3, 3, "Py"), join: (1, 1, "Py"),
        }  # fmt: skip
    assert not any(p.apply_cimpl.values())
    assert set(p.by_kernel()) == {"Twice in Python", "Join in Python"}
    assert sum(one.seconds for one in p.by_class().values()) == pytest.approx(p.thunk_time) and p.nb_nodes == 4
    for part, word in ((summary.write_classes, "Class"), (summary.write_ops, "Ops"), (summary.write_nodes, "Nodes")):
        out = StringIO()
        part(p, out, profile_module.settings, 1, 1)
        assert word in out.getvalue() and "... and " in out.getvalue()
        out = StringIO()
        part(p, out, profile_module.settings, 9, 9)
        rows = [line.replace("%", "").split() for line in out.getvalue().splitlines() if "%  " in line]
        shares, sums = ([float(row[k]) for row in rows] for k in (0, 1))
        seconds = [float(row[2].removesuffix("s")) for row in rows]
        assert seconds == sorted(seconds, reverse=True) and sum(seconds) == pytest.approx(p.thunk_time, rel=1e-3)
        assert shares == pytest.approx([100 * s / p.thunk_time for s in seconds], abs=0.06)
        assert sums == pytest.approx([*accumulate(shares)], abs=0.3) and sums[-1] == 100


@pytest.fixture
def flags():
    def change(**values):
        return theano.config.change_flags({name.replace("__", "."): value for name, value in values.items()})

    return change


def test_flags_of_the_text(x, flags, tmp_path, capsys):
    f = function([x], Join()(Twice()(x), x), profile=True)
    f(1)
    with flags(profiling__n_ops=1, profiling__n_apply=1, profiling__output_line_width=60, profiling__debugprint=True):
        text = f.profile.summary_text()
    assert text.count("... and 1 more") == 4 and "Debugprint of" in text
    assert max(map(len, text[text.index("Class") : text.index("Debugprint")].splitlines())) <= 100
    with flags(profiling__destination=str(tmp_path / "profile.txt")):
        f.profile.summary()
        f.profile.summary()
    assert (tmp_path / "profile.txt").read_text().count("Function profiling") == 2
    with flags(profiling__destination="stdout"):
        f.profile.summary()
    assert "Function profiling" in capsys.readouterr().out


def test_nodes_need_not_be_timed(x, flags):
    with flags(profiling__time_thunks=False):
        f = function([x], Twice()(x), profile=True)
    f(1)
    assert f.profile.fct_callcount == 1 and f.profile.thunk_time == 0 and "Ops" not in f.profile.summary_text()
    g = function([x], Twice()(x), profile=ProfileStats(False, flag_time_thunks=False))
    g(1)
    assert g.profile.thunk_time == 0 and g.profile.fct_call_time > 0


def test_the_first_call_can_be_left_out(x, flags):
    with flags(profiling__ignore_first_call=True):
        f = function([x], Twice()(x), profile=True)
    f(1)
    assert f.profile.fct_callcount == 0
    f(1)
    assert f.profile.fct_callcount == 1 and list(f.profile.apply_callcount.values()) == [1]


def test_rules_are_timed(x, flags):
    with flags(profile_optimizer=True):
        f = function([x], theano.compile.view_op(Twice()(x)), profile=True)
        f(1)
        text = f.profile.summary_text()
    assert "Rewriting of" in text and "topo_constant_folding (canonicalize)" in text
    phases = sorted(f.maker.rewriting.phases, key=lambda phase: phase.seconds, reverse=True)
    lines = text.partition("Rewriting of")[2].splitlines()[2:]
    assert len(phases) > 2 and lines[: len(phases)] == [f"  {phase}" for phase in phases]
    assert "Rewriting of" not in f.profile.summary_text()


GLOBAL = """
import theano
from theano.graph import Op, generic
x = generic("x")
f = theano.function([x], theano.compile.deep_copy_op(x))
for _ in range(5):
    f([1])
"""


@pytest.mark.parametrize(
    "flag, words",
    [
        ("print_global_stats=True", ["Global stats", "Time spent in Theano functions", "(1 of them)"]),
        ("profile=True", ["Function profiling", "5 calls"]),
        ("profile=False", []),
    ],
)
def test_what_is_printed_at_exit(flag, words):
    env = {**os.environ, "THEANO_FLAGS": os.environ.get("THEANO_FLAGS", "") + f",{flag}"}
    done = subprocess.run([sys.executable, "-c", GLOBAL], env=env, capture_output=True, text=True, check=True)
    assert all(word in done.stderr for word in words) and bool(done.stderr.strip()) == bool(words), done.stderr


# -- peaks ---------------------------------------------------------------------------------------------------


class Make(Op):
    """Some bytes out of some inputs; may view or overwrite its first input."""

    __props__ = ("name", "how")

    def __init__(self, name, how=""):
        self.name, self.how = name, how
        if how == "view":
            self.view_map = {0: [0]}
        if how == "over":
            self.destroy_map = {0: [0]}

    def make_node(self, *inputs):
        return theano.Apply(self, list(inputs), [generic(self.name)])


def laid_out(*outputs, **sizes):
    from theano.graph.traverse import toposort

    nodes = toposort(list(outputs))
    return nodes, list(outputs), {v: sizes[v.name] for n in nodes for v in n.outputs if v.name in sizes}


def test_peak_of_a_chain(x):
    a = Make("a")(x)
    b = Make("b")(a)
    c = Make("c")(b)
    memory = memory_of(*laid_out(c, a=100, b=10, c=1), search=True)
    assert (memory.peak, memory.without_gc, memory.least, memory.exact) == (110, 111, 110, True)
    assert [row.total for row in memory.nodes] == [100, 10, 1]


def test_views_and_overwriting_take_nothing(x):
    a = Make("a")(x)
    b = Make("b", "over")(Make("v", "view")(a))
    memory = memory_of(*laid_out(b, a=100, v=100, b=100), search=True)
    assert (memory.peak, memory.without_gc, memory.least) == (100, 100, 100)
    assert [row.kinds for row in memory.nodes] == [("c",), ("v",), ("i",)]


def test_another_order_needs_less(x):
    """Two big values, each reduced to a small one: made first, then reduced, they lie side by side."""
    a, b = Make("a")(x), Make("b")(x)
    c, d = Make("c")(a), Make("d")(b)
    e = Make("e")(c, d)
    nodes = [v.owner for v in (a, b, c, d, e)]
    sizes = {a: 100, b: 100, c: 1, d: 1, e: 1}
    memory = memory_of(nodes, [e], sizes, search=True)
    assert memory.peak == 201 and memory.least == 102 and memory.exact
    best = min(_peak_by_hand(order, sizes, e) for order in permutations(nodes) if _valid(order))
    assert memory.least == best


def _valid(order):
    return all(v.owner is None or order.index(v.owner) < i for i, n in enumerate(order) for v in n.inputs)


def _peak_by_hand(order, sizes, kept):
    live, most = set(), 0
    for i, node in enumerate(order):
        live |= set(node.outputs)
        most = max(most, sum(sizes[v] for v in live))
        needed = {v for n in order[i + 1 :] for v in n.inputs} | {kept}
        live &= needed
    return most


def test_who_overwrites_comes_after_who_reads(x):
    a = Make("a")(x)
    reader, over = Make("r")(a), Make("o", "over")(a)
    nodes = [a.owner, reader.owner, over.owner]
    memory = memory_of(nodes, [reader, over], {a: 10, reader: 1, over: 10}, search=True)
    assert memory.least == memory.peak == 11


def test_the_search_gives_up_with_the_order_at_hand(x, monkeypatch):
    monkeypatch.setattr(peak, "MOST_STATES", 3)
    outs = [Make(f"a{i}")(x) for i in range(6)]
    memory = memory_of([v.owner for v in outs], outs, dict.fromkeys(outs, 5), search=True)
    assert memory.least == 30 and not memory.exact


class Same(Op):
    __props__ = ()
    itypes, otypes = [generic], [generic]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]


def test_the_summary_says_that_calls_were_sampled(x):
    f = function([x], Same()(x), profile=ProfileStats(False))
    f(1)
    assert f.profile.timed_calls == 1 and "Sampled" not in f.profile.summary_text()
    for _ in range(9999):
        f(1)
    p = f.profile
    assert p.fct_callcount == 10_000 and list(p.apply_callcount.values()) == [10_000] and 64 <= p.timed_calls < 10_000
    assert f"Sampled 1 call in {10_000 / p.timed_calls:.3g} ({p.timed_calls} of 10000)" in p.summary_text()
    assert 0 < p.thunk_time <= p.fct_call_time

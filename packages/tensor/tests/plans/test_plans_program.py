"""What a plan gives: the same function, by everything that can be asked of it."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import theano
import theano.tensor as T
from portion import everything
from theano.cache.store import CacheSettings, open_cache
from theano.compile import environment, program_cache
from theano.graph.kernel import Builtin
from theano.graph.pointers import PointerFamily, pointer_families
from theano.ifelse import ifelse
from theano.printing import debugprint
from theano.rewriting import local_rule, phases
from theano.tensor.kernels import common

rng = np.random.default_rng(5)


def cold(*args, **kwargs):
    with theano.config.change_flags({"cache.plans": False}):
        return theano.function(*args, **kwargs)


def warm(*args, **kwargs):
    theano.function(*args, **kwargs)
    f = theano.function(*args, **kwargs)
    assert f.maker.plan is not None, f.maker.lookup.reason
    assert not f.maker.is_made, "a plan spares the rewriting"
    return f


def both(*args, **kwargs):
    return cold(*args, **kwargs), warm(*args, **kwargs)


def tree(f):
    out = io.StringIO()
    debugprint(f, file=out)
    return out.getvalue()


def _elementwise():
    x, y = T.dmatrix("x"), T.dvector("y")
    return [x, y], [T.exp(x) * y + 1, (x * y).sum(axis=0)], [rng.normal(size=(4, 3)), rng.normal(size=3)]


def _products():
    a, b, v = T.dmatrix("a"), T.fmatrix("b"), T.dvector("v")
    values = [rng.normal(size=(4, 3)), rng.normal(size=(3, 4)).astype("float32"), rng.normal(size=3)]
    return [a, b, v], [T.dot(a, a.T), T.dot(b, b.T), T.dot(a, v), T.dot(v, v)], values


def _gradient():
    x, w = T.dmatrix("x"), T.dmatrix("w")
    cost = T.nnet.sigmoid(T.dot(T.tanh(T.dot(x, w)), w.T)).sum()
    return [x, w], [cost, *theano.grad(cost, [x, w])], [rng.normal(size=(5, 4)), rng.normal(size=(4, 3))]


def _in_python():
    x = T.dvector("x")
    return [x], [T.sort(x), T.argsort(x), T.cumsum(x)], [rng.normal(size=7)]


def _folded():
    x = T.dvector("x")
    table = T.constant(np.arange(12.0).reshape(3, 4))
    return [x], [x + T.exp(table)[1], table.T, T.sort(table[::-1, 0])], [rng.normal(size=4)]


def _views():
    x = T.dmatrix("x")
    return [x], [x[1:].T, x[::-1], x.reshape((3, 4)), x], [rng.normal(size=(4, 3))]


def _integers():
    i, m = T.lvector("i"), T.fmatrix("m")
    return [i, m], [m[i], T.set_subtensor(m[i], 0.0), i // 3], [np.array([1, 0]), np.ones((3, 2), "float32")]


def _linear_algebra():
    m = T.dmatrix("m")
    outputs = [T.nlinalg.matrix_inverse(m), T.nlinalg.det(m), T.slinalg.cholesky(m), T.slinalg.solve(m, m)]
    return [m], outputs, [np.eye(3) * 4 + 0.5]


def _lazy_choice():
    c, x = T.bscalar("c"), T.dvector("x")
    cost = ifelse(c, T.sin(x).sum(), T.exp(x[:0]).sum())
    return [c, x], [cost, theano.grad(cost, x), *ifelse(c, [x, x * 2], [x[::-1], x])], [1, rng.normal(size=4)]


CASES = {f.__name__: f for f in (_elementwise, _products, _gradient, _in_python, _folded, _views, _integers, _linear_algebra, _lazy_choice)}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]()


def test_results_are_the_same(case):
    inputs, outputs, values = case
    f, g = both(inputs, outputs)
    for a, b in zip(f(*values), g(*values), strict=True):
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.strides == b.strides
        assert a.tobytes() == b.tobytes()
    assert not g.maker.is_made, "a call needs no graph"


def test_the_graph_is_the_same_when_it_is_asked_for(case):
    inputs, outputs, _ = case
    f, g = both(inputs, outputs, name="f")
    assert tree(f) == tree(g)
    assert g.maker.nodes_in_order(), "rewriting again gives the program that runs"
    assert [str(n) for n in f.maker.linked.nodes] == [str(n) for n in g.maker.nodes_in_order()]
    assert f.maker.rewriting.uses == g.maker.rewriting.uses


def test_pickles_and_copies(case):
    inputs, outputs, values = case
    f, g = both(inputs, outputs)
    for again in (pickle.loads(pickle.dumps(g)), g.copy(), pickle.loads(pickle.dumps(g.copy()))):
        for a, b in zip(f(*values), again(*values), strict=True):
            np.testing.assert_array_equal(a, b)


def test_values_returned_belong_to_the_caller(case):
    inputs, outputs, values = case
    g = warm(inputs, outputs)
    first = g(*values)
    kept = [np.array(a) for a in first]
    for a in first:
        a[...] = 0
    for a, b in zip(kept, g(*values), strict=True):
        np.testing.assert_array_equal(a, b)


def test_shared_variables_updates_and_defaults():
    def functions(make):
        s = theano.shared(np.zeros(3), "s")
        x = T.dvector("x")
        step = T.dscalar("step")
        return s, make([x, theano.In(step, value=2.0)], (s * x).sum(), updates=[(s, s + step * x)], givens={})

    (s, f), (t, g) = functions(cold), functions(warm)
    for _ in range(3):
        assert f(np.ones(3)) == g(np.ones(3))
        assert f(np.ones(3), step=5.0) == g(np.ones(3), step=5.0)
        np.testing.assert_array_equal(s.get_value(), t.get_value())
    t.set_value(np.arange(4.0))
    assert g(np.ones(4)) == 6.0 and g.get_shared() == [t] and g[t].shape == (4,)


def test_functions_of_one_plan_are_independent():
    def make(value):
        s = theano.shared(value, "s")
        return s, theano.function([], s * 2, updates=[(s, s + 1)])

    made = [make(np.full(2, float(i))) for i in range(4)]
    assert made[-1][1].maker.plan is not None
    for _ in range(2):
        for _, f in made:
            f()
    for i, (s, f) in enumerate(made):
        np.testing.assert_array_equal(s.get_value(), [i + 2.0] * 2)
        np.testing.assert_array_equal(f(), [2 * i + 4.0] * 2)


def test_inputs_that_share_their_value_are_not_inputs_that_do_not():
    def make(one):
        s = theano.shared(np.zeros(2), "s")
        t = s if one else theano.shared(np.full(2, 5.0), "s")
        x = T.dvector("x")
        f = theano.function([theano.In(x, value=t.container, implicit=False)], x + 2 * s, updates=[(s, s + 1)])
        return f, [f().tolist() for _ in range(2)]

    for _ in range(2):
        assert make(True)[1] == [[0.0, 0.0], [3.0, 3.0]]
        assert make(False)[1] == [[5.0, 5.0], [7.0, 7.0]]
    assert make(True)[0].maker.plan is not None and make(False)[0].maker.plan is not None


# -- errors --------------------------------------------------------------------------------------------------


def _message(f, *values):
    with pytest.raises(Exception) as caught:
        f(*values)
    return type(caught.value), str(caught.value), theano.last_error.full().split("Traceback")[0]


def test_failing_kernels_speak_of_the_users_lines():
    x, y = T.dvector("x"), T.dvector("y")
    out = T.exp(x * 2) + y
    f, g = both([x, y], out, name="f")
    assert _message(f, np.ones(3), np.ones(4)) == _message(g, np.ones(3), np.ones(4))
    assert "written at" in _message(g, np.ones(3), np.ones(4))[1]


def test_failing_ops_in_python_speak_of_the_users_lines():
    x, i = T.dmatrix("x"), T.lvector("i")
    out = T.sort(x, axis=0)[i, i] + 1
    f, g = both([x, i], out, name="f")
    bad = np.ones((2, 2)), np.array([0, 7])
    assert _message(f, *bad) == _message(g, *bad)


def test_elementwise_in_python_names_the_variables(monkeypatch):
    x, y = T.dvector("x"), T.dvector("y")
    out = T.psi(x + 1) * T.psi(y)
    f, g = both([x, y], out, name="f")
    assert _message(f, np.ones(3), np.ones(4)) == _message(g, np.ones(3), np.ones(4))


def test_an_error_comes_through_where_the_graph_cannot_be_made_again(monkeypatch, caplog):
    x, y = T.dvector("x"), T.dvector("y")
    f = warm([x, y], [T.exp(x * 2) + y, T.sort(x)], name="f")

    def fails(*args, **kwargs):
        raise RuntimeError("rewriting is out of order")

    monkeypatch.setattr("theano.compile.mode.rewrite", fails)
    for _ in range(2):
        with pytest.raises(ValueError, match="input 1 has length 4"):
            f(np.ones(3), np.ones(4))
        assert "cannot be made again" in caplog.text
        monkeypatch.undo()
    assert {str(node.op) for node in f.maker.fgraph.apply_nodes} >= {"SortOp{quicksort, None}"}, "another try succeeds"
    assert f(np.zeros(3), np.ones(3))[0].tolist() == [2.0] * 3, "it runs as before"


def test_rules_that_came_meanwhile_do_not_lead_errors_astray():
    x, y = T.dvector("x"), T.dvector("y")
    f = warm([x, y], T.exp(x * 2) + y, name="f")

    @local_rule([T.Elemwise], phases=())
    def test_plans_swap(node):
        return [T.log(T.exp(T.exp(node.inputs[0])))] if node.op == T.exp else None

    phases["uncanonicalize"].add(test_plans_swap, "fast_run")
    try:
        with pytest.raises(ValueError) as caught:
            f(np.ones(3), np.ones(4))
        assert "log" not in str(caught.value) and f.maker.nodes_in_order() == []
    finally:
        phases["uncanonicalize"].remove("test_plans_swap")


def test_threads_that_compile_and_fail_at_once():
    def work(_):
        x, y = T.dvector("x"), T.dvector("y")
        f = theano.function([x, y], T.exp(x * 3) + y, name="f")
        assert f(np.zeros(3), np.ones(3)).tolist() == [2.0] * 3
        return _message(f, np.ones(3), np.ones(4))[:2]

    x, y = T.dvector("x"), T.dvector("y")
    one = warm([x, y], T.exp(x * 3) - y, name="g")
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(work, range(16)))) == 1
        found = set(pool.map(lambda _: _message(one, np.ones(3), np.ones(4))[:2], range(16)))
    assert len(found) == 1 and "written at" in found.pop()[1]


def test_wrong_calls_are_refused_in_the_same_words():
    x = T.dvector("x")
    f, g = both([x], T.exp(x), name="f")
    for bad in ((), ([1.0], [2.0]), (np.ones((2, 2)),), (x,)):
        with pytest.raises(TypeError) as one:
            f(*bad)
        with pytest.raises(TypeError) as two:
            g(*bad)
        assert str(one.value) == str(two.value)


def test_what_cannot_be_compiled_is_refused_each_time():
    x, y = T.dvector("x"), T.dvector("y")
    for _ in range(3):
        with pytest.raises(theano.compile.UnusedInputError):
            theano.function([x, y], x * 2)
        with pytest.raises(theano.graph.fgraph.MissingInputError):
            theano.function([x], x * y)
        with pytest.raises(TypeError):
            theano.function([x], x * 2, updates=[(theano.shared(np.float32(0)), x)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            theano.function([x, y], x * 2, on_unused_input="warn")
    assert len(caught) == 2


def test_profiles_and_explanations():
    x = T.dvector("x")
    g = warm([x], T.exp(x) + T.sort(x), profile=True)
    text = theano.explain_compile(g)
    assert "found in the cache" in text and not g.maker.is_made
    g(np.ones(3))
    assert g.profile.fct_callcount == 1
    assert "Time in 1 calls" in g.profile.summary_text() and "Elemwise" in g.profile.summary_text()
    f = cold([x], T.exp(x) + T.sort(x))
    assert "not kept: the flag cache.plans is off" in theano.explain_compile(f)


def test_a_profile_names_nodes_whose_kernels_are_in_another_unit():
    x = T.dvector("x")
    request = [x], [T.exp(x * 5) + T.log(x), T.sqrt(x).sum()]
    g = warm(*request, profile=True)
    plan = g.maker.plan
    whole = json.loads(plan.text)
    assert whole["units"]
    # Two processes that compile at the same time leave a kernel in a unit each.
    plan.text = json.dumps({**whole, "units": ["another.so"]})
    g(np.ones(3))
    assert sum(g.profile.apply_callcount.values()) == len(g.maker.nodes_in_order()) > 0
    assert "Elemwise" in g.profile.summary_text()


def test_a_profile_says_where_its_nodes_are_not_known(monkeypatch):
    x = T.dvector("x")
    g = warm([x], T.exp(x * 7) + T.log(x), profile=True)
    monkeypatch.setattr(g.maker.source, "_agrees", lambda graph: False)
    for _ in range(100):
        g(np.ones(10000))
    text = g.profile.summary_text()
    assert g.profile.apply_time == {} and "rules have changed" in text
    assert "Time in nodes: 0.0" not in text


# -- what is wrong is a miss ---------------------------------------------------------------------------------


def _texts(key):
    return open_cache(CacheSettings.from_config(theano.config)).plans(key)


class Kept:
    """Catches key and text of what is kept."""

    def __init__(self, monkeypatch):
        self.added = []
        monkeypatch.setattr("theano.cache.store.Cache.add_plan", lambda cache, key, text: self.added.append((key, text)))


def test_a_plan_that_was_changed_is_a_miss(monkeypatch):
    """Whatever a file holds whose name and digest are right: a miss, or the same function."""
    kept = Kept(monkeypatch)
    s = theano.shared(np.ones(3), "s")
    x, c = T.dvector("x"), T.constant(rng.normal(size=3))
    request = ([x], [T.exp(x) * s + c, T.sort(x)])
    monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key: [])
    f = theano.function(*request)
    ((key, text),) = kept.added
    wrong = [
        "", "{", "null", "[]", "{}", text[:-1], text[: len(text) // 2], text.replace('"program 1"', '"program 0"'),
        text.replace('"kernels":["', '"kernels":["0'), text.replace("_kernels", "_nothing"),
        text.replace('"needs":{', '"needs":{"nobody":"1",'),
    ]  # fmt: skip
    for text_now in wrong:
        monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key, t=text_now: [t])
        g = theano.function(*request)
        assert g.maker.plan is None or text_now == text
        for a, b in zip(f(np.ones(3)), g(np.ones(3)), strict=True):
            np.testing.assert_array_equal(a, b)
    monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key: [*wrong[:5], text])
    assert theano.function(*request).maker.plan is not None, "a right one beside wrong ones is found"


def test_another_blas_is_a_miss(monkeypatch):
    kept = Kept(monkeypatch)
    a = T.dmatrix("a")
    monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key: [])
    theano.function([a], T.dot(a, a))
    ((_, text),) = kept.added
    assert '"blas":' in text.partition('"needs":{')[2].partition('}')[0]
    monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key: [text])
    g = theano.function([a], T.dot(a, a))
    assert g.maker.plan is not None
    np.testing.assert_array_equal(g(np.eye(3) * 2), np.eye(3) * 4)
    family = pointer_families["blas"]
    pointer_families.register("blas", PointerFamily(family.find, lambda: "another"))
    try:
        assert theano.function([a], T.dot(a, a)).maker.plan is None
    finally:
        pointer_families.register("blas", family)


def test_no_address_of_this_process_is_in_a_plan(monkeypatch):
    kept = Kept(monkeypatch)
    monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key: [])
    inputs, outputs, _ = _products()
    f = theano.function(inputs, outputs)
    ((_, text),) = kept.added
    for how in f.maker.linked.how:
        if hasattr(how, "address"):
            assert str(int(how.address)) not in text


def test_raw_parameters_of_which_nobody_says_where_addresses_stand_are_not_kept(monkeypatch):
    def forgetful(self, op, node):
        made = remembering(self, op, node)
        return made and Builtin(made.library, made.symbol, made.packed, made.work)

    remembering = common.Ready.__call__
    monkeypatch.setattr(common.Ready, "__call__", forgetful)
    kept = Kept(monkeypatch)
    monkeypatch.setattr("theano.cache.store.Cache.plans", lambda cache, key: [])
    a = T.dmatrix("a")
    f = theano.function([a], T.dot(a, a) + 5)
    assert not kept.added and "raw bytes" in f.maker.lookup.reason


@pytest.fixture
def sources(monkeypatch):
    """Lets a test make the process believe that its sources have changed."""
    for name in ("_known", "_changed"):
        monkeypatch.setattr(environment, name, getattr(environment, name))


def test_sources_that_changed_meanwhile_end_it(monkeypatch, sources):
    x = T.dvector("x")
    warm([x], x * 17)
    monkeypatch.setattr(environment, "_stamp", lambda: "another")
    f = theano.function([x], x * 1717)
    assert "have changed" in f.maker.lookup.reason
    monkeypatch.setattr(environment, "_changed", True)
    f = theano.function([x], x * 17)
    assert f.maker.plan is None and "have changed" in f.maker.lookup.reason


def test_a_file_younger_than_the_process_ends_it(monkeypatch, sources, tmp_path):
    monkeypatch.setattr(environment, "_known", None)
    monkeypatch.setattr(environment, "_changed", False)
    (tmp_path / "edited.py").write_text("")
    monkeypatch.setattr(sys.modules["theano"], "__path__", [*theano.__path__, str(tmp_path)])
    x = T.dvector("x")
    assert "have changed" in theano.function([x], x * 2).maker.lookup.reason


def test_sources_that_are_no_files_leave_no_key(monkeypatch, sources):
    monkeypatch.setattr(environment, "_known", None)
    module = type(sys)("theano.tensor.from_an_archive")
    module.__file__ = str(Path(T.__file__).parent / "from_an_archive.pyc")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    x = T.dvector("x")
    assert "from_an_archive cannot be found" in theano.function([x], x * 2).maker.lookup.reason


# -- other processes ------------------------------------------------------------------------------------------

SCRIPT = """
import sys, json
import numpy as np, theano, theano.tensor as T
from theano.compile import program_cache, environment
from theano.ifelse import ifelse
n = int(sys.argv[1])
total = 0.0
for i in range(n):
    s = theano.shared(np.arange(4.0) + i, "s")
    x = T.dmatrix("x")
    y = T.tanh(T.dot(x, x.T) * (i % 5) + s).sum() + T.sort(s)[0]
    f = theano.function([x], y, updates=[(s, s * 0.5)])
    total += float(f(np.eye(4) + i)) + float(s.get_value().sum())
print(json.dumps([repr(total), program_cache.counts.found, program_cache.counts.missed]))
"""


def _start(folder, count, seed, **flags):
    given = ",".join([f"base_compiledir={folder}", *(f"{k}={v}" for k, v in flags.items())])
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(count)],
        env={**os.environ, "THEANO_FLAGS": given, "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _finish(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert not err, err
    return json.loads(out)


def test_processes_at_once_and_damage(tmp_path: Path):
    """Four processes at once, eight with ``--cases all``: their plans serve the next one, and are mended."""
    results = [_finish(p) for p in [_start(tmp_path, 5, seed) for seed in range(8 if everything() else 4)]]
    assert len({total for total, *_ in results}) == 1
    files = sorted(Path(tmp_path).rglob("*.plan"))
    assert len(files) == 5, "the processes write the same five plans"
    assert _finish(_start(tmp_path, 5, 11)) == [results[0][0], 5, 0], "the next process finds all"
    without = _finish(_start(tmp_path, 5, 12, **{"cache.plans": False}))
    assert without == [results[0][0], 0, 0]
    for i, file in enumerate(files):
        data = file.read_bytes()
        os.chmod(file, 0o600)
        if i == 0:
            file.write_bytes(b"")
        elif i == 1:
            file.write_bytes(data[: len(data) // 2])
        elif i == 2:
            file.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
        elif i == 3:
            os.chmod(file, 0o666)
        else:
            file.unlink()
            file.mkdir()
    again = _finish(_start(tmp_path, 5, 9))
    assert again == [results[0][0], 0, 5]
    assert _finish(_start(tmp_path, 5, 10)) == [results[0][0], 5, 0], "they were mended"


def test_counts():
    before = program_cache.counts.found
    x = T.dvector("x")
    warm([x], x * 3)
    assert program_cache.counts.found > before

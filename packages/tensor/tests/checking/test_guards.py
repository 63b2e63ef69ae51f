"""Modes that look at each node: NanGuardMode, MonitorMode, WrapLinker."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile import MonitorMode, NanGuardMode
from theano.compile.monitormode import detect_nan
from theano.compile.nanguardmode import NanGuardWarning
from theano.runtime.interpreter import WrapLinker, WrapLinkerMany
from theano.runtime.link import Linker, PerformLinker

x = T.dvector("x")


def guarded(*args, **kwargs):
    out = T.log(x) * 2
    return theano.function([x], out, mode=NanGuardMode(*args, **kwargs))


# -- NanGuardMode ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "says"), [
    ([1, -1], "NaN detected (1 of 2 numbers) in output 0 of"),
    ([0, 0], "Inf detected (2 of 2 numbers) in output 0 of"),
    ([np.nan, 1], "NaN detected (1 of 2 numbers) in the input x of the function"),
    ([np.inf, 1], "Inf detected (1 of 2 numbers) in the input x of the function"),
    ([1, -2e10], "Big value detected (2e+10) in the input x of the function"),
])  # fmt: skip
def test_what_it_finds(value, says):
    with pytest.raises(AssertionError) as caught:
        guarded()(np.array(value, dtype=float))
    text = str(caught.value)
    assert says in text and "test_guards.py" in text
    if "output" in says:
        assert "out = T.log(x) * 2" in text and "x : float64, shape (2,)" in text and repr(float(value[1]))[:2] in text


def test_what_is_not_minded():
    assert np.isnan(guarded(nan_is_error=False)([-1.0, 1.0])[0])
    assert np.isinf(guarded(inf_is_error=False)([0.0, 1.0])[0])
    f = theano.function([x], x * 1e20, mode=NanGuardMode(big_is_error=False))
    assert f([1.0])[0] == 1e20
    np.testing.assert_array_equal(guarded()([1.0, 1.0]), [0, 0])
    with pytest.raises(ValueError, match="nothing to look for"):
        NanGuardMode(False, False, False)


def test_first_node_is_named_not_the_last():
    y = T.log(x)
    z = T.exp(y.reshape((1, 2)).sum(axis=0)) + 1
    f = theano.function([x], z, mode=NanGuardMode(optimizer=None))
    with pytest.raises(AssertionError, match=r"in output 0 of Elemwise\{log"):
        f([-1.0, 1.0])


def test_a_value_inside_that_is_not_returned():
    f = theano.function([x], T.switch(x > 0, T.sqrt(x), 0).sum(), mode=NanGuardMode(optimizer=None))
    with pytest.raises(AssertionError, match="sqrt"):
        f([-1.0])


def test_flags_and_name():
    with theano.config.change_flags(mode="NanGuardMode"), pytest.raises(AssertionError, match="NaN"):
        theano.function([x], T.log(x))([-1.0])
    with theano.config.change_flags(NanGuardMode__nan_is_error=False, NanGuardMode__inf_is_error=False):
        f = guarded()
    assert np.isnan(f([-1.0])[0]) and np.isinf(f([0.0])[0])
    with theano.config.change_flags(NanGuardMode__big_is_error=False):
        f = guarded()
    assert f([1e11])[0] > 0


def test_actions(monkeypatch):
    f = guarded()
    with (theano.config.change_flags(NanGuardMode__action="warn"), pytest.warns(NanGuardWarning, match="NaN detected")):
        assert np.isnan(f([-1.0])[0])
    stopped = []
    monkeypatch.setattr("builtins.breakpoint", lambda: stopped.append(1))
    with theano.config.change_flags(NanGuardMode__action="pdb"):
        f([-1.0])
    assert stopped == [1]


def test_tag_of_a_variable_and_of_what_replaces_it():
    y = T.log(x)
    y.tag.nan_guard_mode_check = False
    f = theano.function([x], T.switch(T.isnan(y), 0, y), mode=NanGuardMode(optimizer=None))
    np.testing.assert_array_equal(f([-1.0, 1.0]), [0, 0])
    # Rewritten: a fused and in-place node stands where the tagged one was.
    z = T.log(x + 1) * 3
    z.tag.nan_guard_mode_check = False
    f = theano.function([x], z, mode=NanGuardMode())
    assert f.maker.fgraph.outputs[0].owner.op != z.owner.op
    assert np.isnan(f([-5.0])[0])
    w = T.dvector("w")
    w.tag.nan_guard_mode_check = False
    assert theano.function([w], T.isnan(w).sum(), mode=NanGuardMode())([np.nan, 1]) == 1


def test_integers_and_other_types():
    i = T.lvector("i")
    assert theano.function([i], i * 10**11, mode=NanGuardMode())([1])[0] == 10**11
    g = theano.generic("g")
    assert theano.function([g], g, mode=NanGuardMode())("thing") == "thing"


def test_updates_and_shared():
    s = theano.shared(np.array([1.0]), "s")
    f = theano.function([x], updates=[(s, T.log(s * x))], mode=NanGuardMode())
    with pytest.raises(AssertionError, match="NaN"):
        f([-1.0])
    assert s.get_value()[0] == 1
    s.set_value(np.array([np.nan]))
    with pytest.raises(AssertionError, match="the input s of the function"):
        f([1.0])


def test_variants_of_the_mode():
    mode = NanGuardMode(inf_is_error=False).excluding("inplace")
    assert "inplace" in mode.optimizer.exclude and not mode.inf_is_error
    with pytest.raises(AssertionError, match="NaN"):
        theano.function([x], T.log(x), mode=mode)([-1.0])


# -- MonitorMode -------------------------------------------------------------------------------------------------


def test_before_and_after_each_node():
    seen = []
    mode = MonitorMode(
        pre_func=lambda i, node, fn: seen.append(("before", i, node.op, [c[0] for c in fn.inputs])),
        post_func=lambda i, node, fn: seen.append(("after", i, node.op, [c[0] for c in fn.outputs])),
        optimizer=None,
    )
    f = theano.function([x], T.exp(x) + x, mode=mode)
    out = f([0.0, 1.0])
    np.testing.assert_allclose(out, [1, np.e + 1])
    assert [(when, i, op) for when, i, op, _ in seen] == [
        ("before", 0, T.exp), ("after", 0, T.exp), ("before", 1, T.add), ("after", 1, T.add),
    ]  # fmt: skip
    np.testing.assert_allclose(seen[1][3][0], [1, np.e])
    np.testing.assert_allclose(seen[2][3][1], [0, 1])


def test_detect_nan(capsys):
    f = theano.function([x], T.log(x) * 2, mode=MonitorMode(post_func=detect_nan).excluding("local_elemwise_fusion", "inplace"))
    f([1.0])
    assert capsys.readouterr().out == ""
    f([-1.0])
    said = capsys.readouterr().out
    assert said.startswith("*** NaN detected ***\n") and "Inputs : [array([-1.])]" in said and "Outputs: [array([nan])]" in said


@pytest.mark.parametrize("linker", ["py", "cvm", "c|py_nogc"])
def test_linkers(linker):
    calls = []
    mode = MonitorMode(post_func=lambda i, node, fn: calls.append(i), linker=linker)
    np.testing.assert_allclose(theano.function([x], T.exp(x).sum(), mode=mode)([0.0]), 1)
    assert calls == list(range(len(calls))) and calls


def test_monitor_that_raises():
    def refuse(i, node, fn):
        raise RuntimeError("not this one")

    with pytest.raises(RuntimeError, match="not this one"):
        theano.function([x], T.exp(x), mode=MonitorMode(pre_func=refuse))([0.0])


# -- WrapLinker ----------------------------------------------------------------------------------------------------


def test_two_linkers_have_values_of_their_own():
    pairs = []

    def both(i, node, one, two):
        one()
        two()
        pairs.append((one.outputs[0][0], two.outputs[0][0]))

    s = theano.shared(np.ones(2), "s")
    mode = theano.Mode(WrapLinker([Linker(), PerformLinker()], both))
    f = theano.function([x], T.exp(x) + s, updates=[(s, s * 2)], mode=mode)
    for k in range(3):
        np.testing.assert_allclose(f([0.0, 1.0]), np.exp([0, 1]) + 2**k)
    for a, b in pairs:
        np.testing.assert_allclose(a, b)
        assert not np.may_share_memory(a, b)


def test_many_wrappers_in_order():
    said = []
    linker = WrapLinkerMany(
        [Linker()], [lambda i, n, fn: (fn(), said.append("first")), lambda i, n, fn: said.append("second")]
    )
    theano.function([x], T.exp(x), mode=theano.Mode(linker))([0.0])
    assert said == ["first", "second"]


def test_error_in_a_node_is_explained():
    y = T.dvector("y")
    f = theano.function([x, y], x + y, mode=MonitorMode())
    with pytest.raises(ValueError, match=r"x \+ y, mode=MonitorMode") as caught:
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    assert "shape (3,)" in str(caught.value)


def test_memory_of_values_that_are_dead_is_let_go():
    import weakref

    held = []

    def watch(i, node, fn):
        fn()
        held.append(weakref.ref(fn.outputs[0][0]))
        alive.append(sum(r() is not None for r in held))

    alive = []
    v = x
    for _ in range(6):
        v = T.cumsum(v)
    theano.function([x], v, mode=theano.Mode(WrapLinker([Linker()], watch), None))(np.ones(200_000))
    assert len(alive) == 6 and max(alive) <= 2  # larger than what the machine keeps for next time


def test_modes_are_not_kept_in_the_cache_of_functions():
    f = theano.function([x], T.exp(x), mode=NanGuardMode())
    assert f.maker.plan is None and "inspects each node" in f.maker.lookup.reason


def test_pickled_function_still_looks():
    f = pickle.loads(pickle.dumps(guarded()))
    with pytest.raises(AssertionError, match="NaN"):
        f([-1.0])


def test_profile_counts_calls():
    f = theano.function([x], T.exp(x) + 1, mode=MonitorMode(), profile=True)
    f([1.0])
    assert f.profile.fct_callcount == 1
    f.profile.summary(file=io.StringIO())

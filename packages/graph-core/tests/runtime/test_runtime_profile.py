"""Profiles: counts and times, and what compiling cost."""

from io import StringIO

import pytest

import theano
from theano import function
from theano.compile import ProfileStats
from theano.graph import Op, generic
from theano.runtime import profile as profile_module


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
    assert p.op_callcount() == {Twice(): 6} and p.op_time()[Twice()] == pytest.approx(sum(p.apply_time.values()))
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
    assert capsys.readouterr().err == text


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

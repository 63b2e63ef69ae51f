"""How a loop is run: what measures its steps, and whether these give memory back."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.scan.op import Scan

x, X = T.dvector("x"), T.dmatrix("X")


@pytest.fixture(autouse=True)
def quiet():
    """Let nothing be printed at the end of the tests."""
    before = list(theano.runtime.profile._kept)
    yield
    theano.runtime.profile._kept[:] = before


def compiled(measured=True, **options):
    rows, _ = theano.scan(lambda row, h: T.tanh(row + h), X, x, name="chain", **options)
    f = theano.function([X, x], [rows[-1], T.grad(rows[-1].sum(), x)], profile=measured)
    f(np.ones((10, 4)), np.ones(4))
    return f, [op for op in f.maker.source.ops_in_order() if isinstance(op, Scan)]


@pytest.mark.parametrize(("profile", "message"), [(True, "Message: chain"), ("of mine", "Message: of mine")])
def test_steps_are_in_the_profile_of_the_function(profile, message):
    plain, loops = compiled()
    assert "Inside" not in plain.profile.summary_text() and not any(op.inner_profiles for op in loops)
    f, loops = compiled(profile=profile)
    # The loop, and the one of its gradient.
    assert [op.name for op in loops] == ["chain", "grad_of_chain"]
    for op in loops:
        (steps,) = op.inner_profiles
        assert steps.fct_callcount == 1 and set(steps.apply_callcount.values()) == {10}
    text = f.profile.summary_text()
    assert text.count("Inside") == 2 and message in text and "tanh" in text.partition("Inside")[2]
    assert "run in Python" not in text
    for a, b in zip(f(np.ones((10, 4)), np.ones(4)), plain(np.ones((10, 4)), np.ones(4)), strict=True):
        np.testing.assert_allclose(a, b)


def test_they_are_printed_at_the_end():
    program = """
import numpy as np, theano, theano.tensor as T
x = T.dvector("x")
rows, _ = theano.scan(lambda a, h: T.tanh(a + h), x, T.zeros(()), profile="my steps")
theano.function([x], rows)(np.ones(3))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Message: my steps" in done.stderr and "tanh" in done.stderr


def test_the_flag_measures_steps_as_it_measures_functions():
    with theano.config.change_flags(profile=True):
        f, loops = compiled(None, mode="FAST_RUN")
    assert all(len(op.inner_profiles) == 1 for op in loops) and f.profile.summary_text().count("Inside") == 2


@pytest.mark.parametrize("allow_gc", [None, True, False])
def test_memory_of_a_step_is_given_back_as_asked(allow_gc):
    for options in ({}, {"mode": "FAST_COMPILE"}, {"mode": theano.Mode("vm", "fast_run")}):
        rows, _ = theano.scan(lambda row, h: T.sort(T.sort(row + h) * 2), X, x, allow_gc=allow_gc, **options)
        f = theano.function([X, x], rows)
        wanted = theano.function([X, x], theano.scan(lambda row, h: T.sort(T.sort(row + h) * 2), X, x)[0])
        values = np.arange(6.0).reshape(3, 2), np.ones(2)
        np.testing.assert_array_equal(f(*values), wanted(*values))
        (op,) = (op for op in f.maker.source.ops_in_order() if isinstance(op, Scan))
        assert op.inner.known("layout").step.maker.allow_gc is (allow_gc is not False)


def test_loops_that_run_otherwise_are_not_made_one():
    a, _ = theano.scan(lambda row, h: T.sort(row + h), X, x)
    for options, loops in (({}, 1), ({"allow_gc": False}, 2), ({"profile": "b"}, 2), ({"mode": "FAST_COMPILE"}, 2)):
        b, _ = theano.scan(lambda row, h: T.sort(row - h), X, x, **options)
        f = theano.function([X, x], [a, b])
        assert sum(isinstance(node.op, Scan) for node in f.maker.fgraph.toposort()) == loops


def test_forgotten_updates_are_told_of() -> None:
    count = theano.shared(0.0, "count")
    y, updates = theano.scan(lambda a: (a, {count: count + 1}), sequences=x, name="counting")
    with pytest.warns(UserWarning, match=r"new value of count, which for\{cpu,counting\}, written at .*test_options.py"):
        theano.function([x], y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theano.function([x], y, updates=updates)
        theano.function([x], y, updates=zip(updates, updates.values()))
        theano.function([x], y, no_default_updates=True)

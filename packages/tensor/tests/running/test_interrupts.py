"""Work that Ctrl-C has ended half-way can be done again, wherever it was ended."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from interrupts import interrupted_everywhere, run, spread

import theano
import theano.tensor as T
from portion import everything, turn
from theano.graph import FunctionGraph
from theano.rewriting import Phases, rewrite

#: How many places of each action are tried.
SAMPLES = 300 if os.environ.get("SIZES") == "sweep" else 12 if everything() else 6
X = np.array([0.5, -1.25, 3.0])


@pytest.fixture(autouse=True)
def flags():
    """Put back what `graph` sets: an interrupt at the entry of ``__exit__`` leaves it, and later tests would see it."""
    plans = theano.config.cache.plans
    yield
    theano.config.cache.plans = plans


def graph(plans=True):
    """Return a function with an update, its shared variable, and how it was compiled."""
    x, s = T.dvector("x"), theano.shared(np.ones(3), name="s")
    y = T.exp(x * s).sum() + (x / 2 + s)[::-1]
    with theano.config.change_flags({"cache.plans": plans}):
        f = theano.function([x], [y, T.tanh(y)], updates=[(s, s + 1)], name="f")
    return f, s


def planned():
    """Return a function whose rewritten graph nobody has made yet."""
    graph()
    f, s = graph()
    assert not f.maker.is_made
    return f, s


def values(f, s):
    """Return what a call returns and leaves in the shared variable."""
    s.set_value(np.ones(3))
    before = s.get_value().tolist()
    return before, [v.tolist() for v in f(X)], s.get_value().tolist()


def failure_of(f, *args):
    """Return the text of the error of a call."""
    with pytest.raises(ValueError) as caught:
        f(*args)
    return str(caught.value)


#: Made and removed where nothing is interrupted.
FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)


def page(f):
    """Return the text of a page that shows a function."""
    path = os.path.join(FOLDER.name, "page.html")
    theano.d3viz.d3viz(f, path)
    with open(path, encoding="utf-8") as file:
        return file.read()


ACTIONS = {
    "fgraph": (planned, lambda fs: fs[0].maker.fgraph, lambda fs, g: ([str(n) for n in g.toposort()], values(*fs))),
    "copy": (planned, lambda fs: fs[0].copy(), lambda fs, g: (values(g, fs[1]), values(*fs))),
    "pickle": (
        planned,
        lambda fs: pickle.dumps(fs[0]),
        lambda fs, g: ([v.tolist() for v in pickle.loads(g)(X)], values(*fs)),
    ),
    "debugprint": (
        planned,
        lambda fs: theano.printing.debugprint(fs[0], file="str"),
        lambda fs, g: (g, values(*fs)),
    ),
    "unpickle": (lambda: pickle.dumps(planned()[0]), pickle.loads, lambda _, g: [v.tolist() for v in g(X)]),
    "from the cache": (lambda: graph() and None, lambda _: graph(), lambda _, fs: values(*fs)),
    "without the cache": (lambda: None, lambda _: graph(plans=False), lambda _, fs: values(*fs)),
    "call": (lambda: planned(), lambda fs: fs[0]([1, 2, 3]), lambda fs, _: values(*fs)),
    "failing call": (
        lambda: planned(),
        lambda fs: failure_of(fs[0], np.ones(4)),
        lambda fs, text: (text, values(*fs)),
    ),
    "gradient": (lambda: T.dvector("x"), lambda x: theano.grad(T.tanh(x * x).sum(), x), lambda x, g: g.eval({x: X}).tolist()),
    "shared": (lambda: None, lambda _: theano.shared(X), lambda _, s: s.get_value().tolist()),
    "set_value": (lambda: theano.shared(X), lambda s: s.set_value([1, 2]), lambda s, _: s.get_value().tolist()),
    "page": (planned, lambda fs: page(fs[0]), lambda fs, text: ("tanh" in text, values(*fs))),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_that_was_interrupted_can_be_repeated(name):
    sent, seen = interrupted_everywhere(*ACTIONS[name], SAMPLES)
    assert seen >= 0.8 * sent and sent >= min(SAMPLES, 4)


def test_rewriting_leaves_nothing_wherever_it_is_interrupted():
    """Each place: what rewriting sets and puts back is a few of tens of thousands."""
    nothing = Phases("nothing")
    x = T.dvector("x")
    rewrite_it = lambda fgraph: rewrite(fgraph, sequence=nothing).complete
    sent, _ = interrupted_everywhere(lambda: FunctionGraph([x], [x]), rewrite_it, lambda fgraph, done: done, 10_000)
    assert 10 < sent < 10_000


@pytest.mark.parametrize("name", ["first shared", "first function", "first function with a cache", "import"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each place needs a process that has done nothing yet")
def test_what_a_process_does_once_can_be_repeated(name):
    program = os.path.join(os.path.dirname(__file__), "interrupted_once.py")
    offset = "0.5" if everything() else str(turn() % 10 / 10 + 0.05)
    done = subprocess.run([sys.executable, program, str(max(SAMPLES // 3, 2)), offset, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


# -- time-outs --------------------------------------------------------------------------------------------------


class Late(Exception):
    """What a program's own time-out raises."""


@pytest.fixture(params=[Late, TimeoutError])
def late(request, monkeypatch):
    """The class of an exception that a handler of SIGALRM raises, and how often each that was raised was lost."""
    rung = []

    def handler(number, frame):
        rung.append(0)
        raise request.param("late")

    def note(unraisable):
        rung[-1] += 1

    monkeypatch.setattr(sys, "unraisablehook", note)
    before = signal.signal(signal.SIGALRM, handler)
    yield request.param, rung
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", ["without the cache", "from the cache", "fgraph", "gradient", "failing call", "pickle"])
def test_a_time_out_is_not_lost(name, late):
    kind, rung = late
    prepare, act, _ = ACTIONS[name]
    act(prepare())
    thing = prepare()
    count = run(lambda: act(thing))[1]
    for at in spread(count, SAMPLES):
        thing = prepare()
        before = len(rung)
        try:
            run(lambda: act(thing), at, lambda: signal.raise_signal(signal.SIGALRM))  # noqa: B023
            # While a generator goes, Python itself lets nothing through.
            assert len(rung) == before or rung[-1], f"lost at place {at} of {count}"
        except kind as error:
            assert error.args == ("late",)

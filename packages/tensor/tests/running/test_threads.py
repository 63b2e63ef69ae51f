"""What is promised to threads: no update is lost, nobody sees half of one, and who updates nothing waits for nobody."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.compile.mode import Mode, get_mode
from theano.graph import Apply, Op

SIZES = [1, 1000, 100_000, 300_000, 1_000_000]
ONES = theano.shared(np.ones(1000), "ones")
PATIENCE = 120.0
"""Seconds after which threads are taken to wait for each other."""

#: How a step of one can be computed: over the old value, into another array, in Python, node by node.
STEPS: dict[str, Callable[[Any], Any]] = {
    "in place": lambda s: theano.function([], [], updates=[(s, s + 1)]),
    "another array": lambda s: theano.function([], [], updates=[(s, s + 1)], mode=get_mode("FAST_RUN").excluding("inplace")),
    "with a sum": lambda s: theano.function([], s.sum(), updates=[(s, s + 1)]),
    "returned": lambda s: theano.function([], s + 1, updates=[(s, s + 1)]),
    "reversed": lambda s: theano.function([], [], updates=[(s, s[::-1] + 1)]),
    "in parts": lambda s: theano.function([], [], updates=[(s, T.inc_subtensor(T.inc_subtensor(s[:1], 1.0)[1:], 1.0))]),
    "FAST_COMPILE": lambda s: theano.function([], [], updates=[(s, s + 1)], mode="FAST_COMPILE"),
    "in Python": lambda s: theano.function([], [], updates=[(s, s + 1)], mode=Mode("py", None)),
    "node by node": lambda s: theano.function([], [], updates=[(s, s + 1)], mode="NanGuardMode"),
}


def together(bodies: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run each in a thread, all at once; return what they return, raise what they raise."""
    start = threading.Barrier(len(bodies))
    results: list[Any] = [None] * len(bodies)
    errors: list[BaseException] = []

    def run(k: int) -> None:
        try:
            start.wait(PATIENCE)
            results[k] = bodies[k]()
        except BaseException as error:  # handed to the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(len(bodies))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
        assert not t.is_alive(), "threads wait for each other"
    if errors:
        raise errors[0]
    return results


class Meanwhile(Op):
    """Returns its input, and calls something before."""

    __props__ = ()

    def __init__(self, what: Callable[[], Any]):
        self.what = what

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        self.what()
        outputs[0][0] = np.array(inputs[0])


# -- updates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("step", STEPS)
def test_no_update_is_lost(step: str, size: int) -> None:
    s = theano.shared(np.zeros(size))
    f = STEPS[step](s)
    calls = 60 if size <= 1000 else 24_000_000 // size // 8
    together([lambda: [f() for _ in range(calls)]] * 8)
    value = s.get_value(borrow=True)
    assert value.min() == value.max() == 8 * calls


@pytest.mark.parametrize("size", [3, 300_000])
def test_functions_with_sets_that_overlap(size: int) -> None:
    rng = np.random.default_rng(size)
    shared = [theano.shared(np.zeros(size), f"s{k}") for k in range(5)]
    chosen = [rng.permutation(5)[: rng.integers(1, 6)] for _ in range(8)]  # each in an order of its own
    functions = [theano.function([], [], updates=[(shared[k], shared[k][::-1] + 1) for k in ks]) for ks in chosen]
    calls = [rng.integers(len(chosen), size=30) for _ in range(6)]
    together([lambda mine=mine: [functions[i]() for i in mine] for mine in calls])
    for k, s in enumerate(shared):
        value = s.get_value(borrow=True)
        assert value.min() == value.max() == sum(k in chosen[i] for mine in calls for i in mine)


def test_copies_and_pickles_take_the_same_locks() -> None:
    s, other = theano.shared(np.zeros(300_000)), theano.shared(np.zeros(300_000))
    f = STEPS["another array"](s)
    g = theano.function([], [], updates=[(s.clone(), s + 1)], mode="FAST_COMPILE")
    functions = [f, f.copy(), f.copy(swap={s: other}).copy(swap={other: s}), g]
    together([lambda f=f: [f() for _ in range(20)] for f in functions])
    assert s.get_value(borrow=True).min() == s.get_value(borrow=True).max() == 80 and not other.get_value().any()


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_an_argument_with_a_memory(mode: str) -> None:
    x = T.dvector("x")
    f = theano.function([theano.In(x, value=np.zeros(300_000), update=x + 1)], x[::-1].sum(), mode=mode)
    together([lambda: [f() for _ in range(20)]] * 4)
    assert f[x].min() == f[x].max() == 80


@pytest.mark.parametrize("set_value", [lambda f, s, v: s.set_value(v), lambda f, s, v: f.container[s].__setattr__("value", v)])
def test_a_value_that_is_set_comes_before_or_after_a_call(set_value: Any) -> None:
    s, inside, go_on = theano.shared(np.zeros(1000)), threading.Event(), threading.Event()
    f = theano.function([], [], updates=[(s, s + Meanwhile(lambda: (inside.set(), go_on.wait(PATIENCE)))(s))])
    caller = threading.Thread(target=f, daemon=True)
    caller.start()
    assert inside.wait(PATIENCE)
    setter = threading.Thread(target=set_value, args=(f, s, np.full(1000, 5.0)), daemon=True)
    setter.start()
    setter.join(0.1)
    assert setter.is_alive() and not s.get_value().any()
    go_on.set()
    setter.join(PATIENCE)
    caller.join(PATIENCE)
    assert (s.get_value() == 5).all()
    f()
    assert (s.get_value() == 10).all()


# -- who only reads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 1000, 200_000])
@pytest.mark.parametrize("step", ["in place", "another array", "in parts"])
def test_no_thread_sees_half_a_value(step: str, size: int) -> None:
    """Neither half of one array, nor one of several that a call updates together without the others."""
    w, v = theano.shared(np.zeros(size), "w"), theano.shared(np.zeros(size), "v")
    build = {
        "in place": lambda s: s + 1,
        "another array": lambda s: s[::-1] + 1,
        "in parts": lambda s: T.inc_subtensor(T.inc_subtensor(s[:1], 1.0)[1:], 1.0),
    }[step]
    f = theano.function([], [], updates=[(w, build(w)), (v, build(v))])
    look = theano.function([], [w.min(), w.max(), v.min(), v.max()])
    plain = theano.function([], [w[0], v[-1], (w - v).sum()], mode=Mode("py", None))
    wrong: list[Any] = []
    done = threading.Event()

    def observe() -> None:
        while not done.is_set():
            values = look()
            low = plain()
            value = w.get_value()
            if len({float(x) for x in values}) > 1 or low[0] != low[1] or low[2] != 0 or value.min() != value.max():
                wrong.append((values, low, value))

    def write() -> None:
        try:
            for _ in range(60):
                f()
        finally:
            done.set()

    together([observe, observe, write])
    assert not wrong
    assert w.get_value().min() == v.get_value().max() == 60


def test_what_a_reader_has_begun_with_stays() -> None:
    """A call that reads a variable sees what it was at its begin, however often others write it in place meanwhile."""
    s = theano.shared(np.zeros(1000))
    step = STEPS["in place"](s)
    step()
    read = theano.function([], [s.sum(), (Meanwhile(lambda: [step() for _ in range(5)])(s) + s).sum(), s])
    for k in (1, 6):
        before, twice, value = read()
        assert before == 1000 * k and twice == 2000 * k and (value == k).all()


@pytest.mark.parametrize("mode", [None, Mode("py", None), "NanGuardMode"])
def test_calls_without_updates_are_inside_together(mode: Any) -> None:
    s, x = theano.shared(np.zeros(1000)), T.dvector()
    meet = threading.Barrier(3)
    f = theano.function([x], Meanwhile(lambda: meet.wait(PATIENCE))(x) + s, mode=mode)
    for got in together([lambda: f(np.ones(1000))] * 3):
        assert (got == 1).all()


def test_calls_that_update_other_variables_are_inside_together() -> None:
    meet = threading.Barrier(3)
    data = theano.shared(np.ones(1000))
    shared = [theano.shared(np.zeros(1000)) for _ in range(3)]
    functions = [theano.function([], [], updates=[(s, s + Meanwhile(lambda: meet.wait(PATIENCE))(data))]) for s in shared]
    together(functions)
    assert all((s.get_value() == 1).all() for s in shared)


# -- what comes in between ------------------------------------------------------------------------------------------------


def test_a_call_that_fails_in_a_thread() -> None:
    s, i = theano.shared(np.zeros(300_000)), T.lscalar()
    f = theano.function([i], s[i], updates=[(s, s[::-1] + 1)])

    def try_it(k: int) -> int:
        good = 0
        for n in range(20):
            try:
                f(0 if (n + k) % 3 else 10**6)
                good += 1
            except IndexError:
                pass
        return good

    good = sum(together([lambda k=k: try_it(k) for k in range(6)]))
    value = s.get_value(borrow=True)
    assert 0 < good < 120 and value.min() == value.max() == good


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_number_of_threads_changes_no_bit(dtype: str) -> None:
    """Sums, products, convolutions and softmaxes are cut by their lengths alone."""
    A, v, maps, filters = T.matrix(dtype=dtype), T.vector(dtype=dtype), T.tensor4(dtype=dtype), T.tensor4(dtype=dtype)
    loss = (T.nnet.conv2d(maps, filters) ** 2).sum()
    made = [T.dot(A, A), T.dot(A.T, A), T.dot(A, v), T.dot(v, A), T.outer(v, v), T.exp(A).sum(), A.sum(0), A.var(1)]
    made += [T.nnet.softmax(A), A.cumsum(axis=0), T.tanh(A).prod(), T.nnet.softmax(maps.reshape((-1, 5))), loss, *T.grad(loss, [maps, filters])]
    draw = np.random.RandomState(3)
    given = [draw.randn(*shape).astype(dtype) for shape in [(419, 419), (419,), (24, 3, 33, 35), (9, 3, 3, 5)]]
    results = []
    for threads in (1, 2, 7):
        with theano.change_flags(threads=threads):
            results.append([r.tobytes() for r in theano.function([A, v, maps, filters], made)(*given)])
    assert results[0] == results[1] == results[2]


def test_a_python_op_within_an_update_calls_on() -> None:
    s, t = theano.shared(np.zeros(1000)), theano.shared(0)
    count = theano.function([], [], updates=[(t, t + 1), (s, s)])
    f = theano.function([], [], updates=[(s, s + Meanwhile(lambda: (count(), s.set_value(np.full(1000, -9.0))))(ONES))])
    together([lambda: [f() for _ in range(20)]] * 4)
    assert (s.get_value() == 80).all() and t.get_value() == 80


def test_fork_while_a_thread_is_inside_a_call() -> None:
    s = theano.shared(np.zeros(1000))
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert go_on.wait(PATIENCE)

    f = theano.function([], [], updates=[(s, s + Meanwhile(lambda: None if inside.is_set() else wait())(ONES))])
    g = STEPS["another array"](s)
    threads = [threading.Thread(target=h, daemon=True) for h in (f, g)]
    threads[0].start()
    assert inside.wait(PATIENCE)
    threads[1].start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads is the point
        child = os.fork()
    if child == 0:
        code = 1
        try:
            f()
            g()
            s.set_value(s.get_value() + 1)
            code = 0 if (s.get_value() == 3).all() else 1
        finally:
            os._exit(code)
    until, done, status = time.monotonic() + PATIENCE, 0, 0
    while not done and time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.005)
    if not done:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    go_on.set()
    for t in threads:
        t.join(PATIENCE)
    assert done and status == 0
    assert (s.get_value() == 2).all()


def test_ctrl_c_while_waiting_for_an_update() -> None:
    s = theano.shared(np.zeros(1000))
    inside, go_on = threading.Event(), threading.Event()
    f = theano.function([], [], updates=[(s, s + Meanwhile(lambda: (inside.set(), go_on.wait(PATIENCE)))(ONES))])
    step = STEPS["in place"](s)
    caller = threading.Thread(target=f, daemon=True)
    caller.start()
    assert inside.wait(PATIENCE)
    main = threading.main_thread().ident or 0
    presser = threading.Thread(target=lambda: (time.sleep(0.1), signal.pthread_kill(main, signal.SIGINT)), daemon=True)
    with pytest.raises(KeyboardInterrupt):
        presser.start()
        step()
        time.sleep(PATIENCE)
    presser.join()
    go_on.set()
    caller.join(PATIENCE)
    step()
    assert (s.get_value() == 2).all()

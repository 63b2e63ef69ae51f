"""Calls that update the same stored value run one after the other; all others run as they like."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from loader_specs import given, in_threads

from theano.loader.module import Function, store

Cell = list[Any]
PATIENCE = 60.0
"""Seconds after which threads are taken to wait for each other."""


def adding(cells: Sequence[Cell], meanwhile: Callable[[], Any] = lambda: None, step: int = 1) -> Function:
    """Return a function that adds to all cells; ``meanwhile`` is called between reading and storing."""
    n = len(cells)

    def add(node: Any, inputs: list[Any], outputs: list[Cell]) -> None:
        meanwhile()
        for cell, value in zip(outputs, inputs, strict=True):
            cell[0] = value + step

    return Function(
        slots=[("shared", None, cell) for cell in cells] + [("temp", None, None)] * n,
        instructions=[("perform", add, None, list(range(n)), list(range(n, 2 * n)))],
        inputs=[],
        outputs=list(range(n)),
        updates=[(cell, n + k) for k, cell in enumerate(cells)],
    )


def reading(cells: Sequence[Cell], meanwhile: Callable[[], Any] = lambda: None) -> Function:
    """Return a function that looks at all cells, and ``meanwhile`` before it returns what it saw."""

    def look(node: Any, inputs: list[Any], outputs: list[Cell]) -> None:
        meanwhile()
        outputs[0][0] = list(inputs)

    n = len(cells)
    return Function(
        slots=[*[("shared", None, cell) for cell in cells], ("temp", None, None)],
        instructions=[("perform", look, None, list(range(n)), [n])],
        inputs=[],
        outputs=[n],
        returns="one",
    )


class Gate:
    """Something to call within a call: it says that it was reached, and waits to be opened."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self.open.wait(PATIENCE)


class Thread(threading.Thread):
    """Runs something, and has its result or its exception."""

    def __init__(self, body: Callable[[], Any]):
        super().__init__(daemon=True)  # where threads wait for each other, the tests fail and end
        self.body, self.result, self.error = body, None, None
        self.start()

    def run(self) -> None:
        try:
            self.result = self.body()
        except BaseException as error:  # handed to the test's own thread
            self.error = error

    def outcome(self) -> Any:
        self.join(PATIENCE)
        assert not self.is_alive(), "it waits for ever"
        if self.error is not None:
            raise self.error
        return self.result


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


def in_child(body: Callable[[], bool]) -> bool:
    """Return what ``body`` returns in a child process; False if it does not end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads is the point
        child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if body() else 1
        finally:
            os._exit(code)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


# -- one after the other ------------------------------------------------------------------------------------------------


def test_no_update_is_lost() -> None:
    cell: Cell = [0]
    f = adding([cell], lambda: time.sleep(0))
    in_threads(8, lambda k: [f() for _ in range(50)])
    assert cell == [400]


def test_functions_with_sets_that_overlap() -> None:
    cells: list[Cell] = [[0] for _ in range(5)]
    rng = random.Random(0)
    chosen = [rng.sample(range(5), rng.randint(1, 5)) for _ in range(12)]  # each in an order of its own
    functions = [adding([cells[k] for k in ks], lambda: time.sleep(0)) for ks in chosen]
    calls = [rng.choices(range(12), k=40) for _ in range(8)]
    threads = [Thread(lambda mine=mine: [functions[i]() for i in mine]) for mine in calls]
    for t in threads:
        t.outcome()
    assert cells == [[sum(k in chosen[i] for mine in calls for i in mine)] for k in range(5)]


def test_the_same_cell_twice() -> None:
    cell: Cell = [0]
    f = Function(
        slots=[("shared", None, cell), ("input", None, None)],
        instructions=[],
        inputs=[given(1, "x")],
        outputs=[0],
        updates=[(cell, 0), (cell, 1)],
    )
    assert f(7) == [0] and cell == [7] and Thread(lambda: f(8)).outcome() == [7]


def test_the_default_of_an_argument_is_read_under_the_lock() -> None:
    cell: Cell = [0]

    def add(node: Any, inputs: list[Any], outputs: list[Cell]) -> None:
        time.sleep(0)
        outputs[0][0] = inputs[0] + 1

    f = Function(
        slots=[("input", None, None), ("temp", None, None)],
        instructions=[("perform", add, None, [0], [1])],
        inputs=[(0, "x", False, cell, None)],
        outputs=[],
        updates=[(cell, 1)],
    )
    in_threads(6, lambda k: [f() for _ in range(40)])
    assert cell == [240]


def test_who_waits_gets_his_turn() -> None:
    """Of two threads that call all the time neither does all its calls before the other: each is waited for."""
    cell: Cell = [0]
    order: list[int] = []
    f = adding([cell], lambda: (order.append(threading.get_ident()), time.sleep(0.0005)))
    in_threads(2, lambda k: [f() for _ in range(60)])
    changes = sum(a != b for a, b in itertools.pairwise(order))
    assert cell == [120] and changes > 10


def test_store_waits_for_calls(gate: Gate) -> None:
    cell: Cell = [1]
    f = adding([cell], gate)
    caller = Thread(f)
    gate.reached.wait(PATIENCE)
    storing = Thread(lambda: store(cell, 100))
    storing.join(0.1)
    assert cell == [1] and storing.is_alive()
    assert reading([cell])() == [1]  # who only reads waits for nobody
    gate.open.set()
    caller.outcome()
    storing.outcome()
    assert cell == [100]


def test_store_without_anybody_to_wait_for() -> None:
    cell: Cell = [1]
    store(cell, 2)
    assert cell == [2]
    f = adding([cell])
    store(cell, 3)
    f()
    del f
    store(cell, cell[0] + 1)
    assert cell == [5]
    for wrong in ([], ()):
        with pytest.raises((IndexError, TypeError)):
            store(wrong, 1)


# -- at the same time -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda cells, k, meanwhile: reading(cells, meanwhile), lambda cells, k, meanwhile: adding([cells[k]], meanwhile)])
def test_other_calls_are_inside_together(make: Any) -> None:
    """Calls without updates, even of what is updated, and calls with updates of different variables."""
    cells: list[Cell] = [[0], [0], [0]]
    both = threading.Barrier(3)
    functions = [make(cells, k, lambda: both.wait(PATIENCE)) for k in range(3)]
    for t in [Thread(f) for f in functions]:
        t.outcome()


def test_one_function_without_updates_is_inside_three_times() -> None:
    both = threading.Barrier(3)
    f = reading([[1]], lambda: both.wait(PATIENCE))
    assert [t.outcome() for t in [Thread(f) for _ in range(3)]] == [[1]] * 3


def test_readers_see_all_values_of_one_moment() -> None:
    cells: list[Cell] = [[0] for _ in range(4)]
    f, g = adding(cells, lambda: time.sleep(0)), reading(cells)
    done = threading.Event()
    seen: list[list[int]] = []
    reader = Thread(lambda: [seen.append(g()) for _ in iter(done.is_set, True)])
    in_threads(3, lambda k: [f() for _ in range(60)])
    done.set()
    reader.outcome()
    assert all(len(set(values)) == 1 for values in seen) and cells == [[180]] * 4


# -- calls within calls -----------------------------------------------------------------------------------------------------


def test_a_call_within_a_call() -> None:
    cell: Cell = [0]
    depth = [0]

    def again() -> None:
        if depth[0] < 3:
            depth[0] += 1
            f()
            store(cell, cell[0] + 10)

    f = adding([cell], again)
    f()
    assert cell == [1]  # the outermost call read 0
    depth[0] = 9
    assert Thread(f).outcome() == [1] and cell == [2]  # nothing is locked any more


def test_threads_that_would_wait_for_each_other() -> None:
    """Ops that call functions keep no order; who would wait for ever is told."""
    a, b = [0], [0]
    inner = {"a": adding([a]), "b": adding([b])}
    both = threading.Barrier(2)
    first = [True, True]

    def meet(k: int, name: str) -> None:
        if first[k]:
            first[k] = False
            both.wait(PATIENCE)
        inner[name]()

    outer = [adding([a], lambda: meet(0, "b")), adding([b], lambda: meet(1, "a"))]
    threads = [Thread(f) for f in outer]
    told = []
    for t in threads:
        try:
            t.outcome()
        except RuntimeError as error:
            told.append(str(error))
    assert len(told) == 1 and "wait for ever" in told[0]
    before = a[0] + b[0]
    for f in outer:
        Thread(f).outcome()
    assert a[0] + b[0] > before


# -- what goes wrong ----------------------------------------------------------------------------------------------------------


def test_a_call_that_fails_lets_go() -> None:
    cells: list[Cell] = [[1], [2]]

    def fail() -> None:
        if threading.current_thread() is threading.main_thread():
            raise LookupError("on purpose")

    f = adding(cells, fail)
    for _ in range(2):
        with pytest.raises(LookupError):
            f()
        assert cells[0][0] + 1 == cells[1][0]
        Thread(f).outcome()
    assert cells == [[3], [4]]
    with pytest.raises(TypeError):
        f(1)
    Thread(f).outcome()


def by_the_system() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def to_the_main_thread() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def to_another_thread() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("press", [by_the_system, to_the_main_thread, to_another_thread])
@pytest.mark.parametrize("what", ["call", "store"])
def test_ctrl_c_while_waiting(gate: Gate, press: Callable[[], None], what: str) -> None:
    cells: list[Cell] = [[0], [0]]
    f, g = adding([cells[1]], gate), adding(cells)
    caller = Thread(f)
    gate.reached.wait(PATIENCE)
    presser = Thread(lambda: (time.sleep(0.1), press()))
    with pytest.raises(KeyboardInterrupt):
        if what == "call":
            g()
        else:
            store(cells[1], 9)
        time.sleep(PATIENCE)
    presser.outcome()
    assert cells == [[0], [0]] and caller.is_alive()
    Thread(adding([cells[0]])).outcome()  # what it had locked already is free
    gate.open.set()
    caller.outcome()
    g()
    assert cells == [[2], [2]]


def test_a_handler_that_calls_a_function_while_waiting(gate: Gate) -> None:
    cells: list[Cell] = [[0], [0]]
    f, g, h = adding([cells[0]], gate), adding(cells), adding([cells[1]])
    caller = Thread(f)
    gate.reached.wait(PATIENCE)

    def handle(*_: Any) -> None:
        h()
        gate.open.set()

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        main = threading.main_thread().ident or 0
        presser = Thread(lambda: (time.sleep(0.1), signal.pthread_kill(main, signal.SIGUSR1)))
        g()
        presser.outcome()
    finally:
        signal.signal(signal.SIGUSR1, before)
    caller.outcome()
    assert cells == [[2], [2]]


def test_ctrl_c_in_the_middle_of_a_call() -> None:
    cell: Cell = [0]
    f = adding([cell], lambda: threading.current_thread() is threading.main_thread() and signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        f()
    assert cell == [0]
    Thread(f).outcome()
    assert cell == [1]


# -- fork -----------------------------------------------------------------------------------------------------------------------


def test_fork_while_other_threads_are_inside_and_waiting(gate: Gate) -> None:
    cells: list[Cell] = [[0], [0]]
    f, g = adding(cells, gate), adding(cells[::-1])
    threads = [Thread(f), Thread(g), Thread(lambda: store(cells[0], 50))]
    gate.reached.wait(PATIENCE)

    def child() -> bool:
        g()
        store(cells[1], cells[1][0] + 1)
        Thread(g).outcome()
        return cells == [[2], [3]]

    for _ in range(3):
        assert in_child(child)
    assert cells == [[0], [0]]
    gate.open.set()
    for t in threads:
        t.outcome()
    assert cells[1] == [2]


def test_fork_within_a_call() -> None:
    cell: Cell = [0]
    children: list[int] = []
    f = adding([cell], lambda: children.append(os.fork()) if not children else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        f()
    if children[0] == 0:
        code = 1
        try:
            f()
            Thread(f).outcome()
            code = 0 if cell == [3] else 1
        finally:
            os._exit(code)
    assert os.waitpid(children[0], 0)[1] == 0
    f()
    assert cell == [2]


def test_locks_go_with_the_functions() -> None:
    """Cells come and go; a new one may lie where an old one was."""
    for k in range(2000):
        cell: Cell = [k]
        f, g = adding([cell]), adding([cell])
        f()
        del f
        g()
        assert cell == [k + 2]


AT_THE_END = """
import sys, threading
from test_loader_locks import adding, store
cell, inside = [0], threading.Event()
def stay():
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        threading.Event().wait()
f = adding([cell], stay)
for _ in range(2):
    threading.Thread(target=f, daemon=True).start()
inside.wait()
class Late:
    def __init__(self, f, cell, store, write):
        self.f, self.cell, self.store, self.write = f, cell, store, write
    def __del__(self):
        self.store(self.cell, 5)
        self.f()
        self.write(f"late {self.cell}")
sys.modules["kept to the end"] = Late(f, cell, store, open(1, "w", closefd=False).write)
"""


def test_threads_that_the_end_of_the_interpreter_stops() -> None:
    """Who is called by a destructor at the very end does not wait for a thread that never runs again."""
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, "PYTHONPATH": path}
    )
    assert (done.returncode, done.stdout) == (0, "late [6]"), done.stderr

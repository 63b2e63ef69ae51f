"""Instructions: order, laziness, errors, threads, processes."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from loader_specs import VECTOR, ZERO, given, in_threads, integer, number

from theano.errors import DeviceError, DeviceMemoryError
from theano.loader import module
from theano.loader.module import Function

KINDS = {
    1: ValueError,
    2: IndexError,
    3: TypeError,
    4: MemoryError,
    5: ZeroDivisionError,
    6: AssertionError,
    7: np.linalg.LinAlgError,
    8: module.KernelShapeError,
    9: DeviceError,
    10: DeviceMemoryError,
}


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_kernels_become_exceptions(kernels: Any, kind: int) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.always_fails, struct.pack("i", kind), [0], [1], 1.0)],
        inputs=[given(0, "x")],
        outputs=[1],
    )
    for _ in range(3):
        with pytest.raises(KINDS[kind], match="on purpose: 100%") as caught:
            f(np.zeros(1))
        assert type(caught.value) is KINDS[kind] and caught.value.kind == kind


def test_a_kernel_that_fails_without_a_word(kernels: Any) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.says_nothing, None, [0], [1], 1.0)],
        inputs=[given(0, "x")],
        outputs=[1],
    )
    with pytest.raises(ValueError, match="did not say why"):
        f(np.zeros(1))


def failing_at(kernels: Any, where: int, cells: list[list[Any]], **more: Any) -> Function:
    """Three updates of three variables; instruction ``where`` of four fails, natively or in Python."""

    def boom(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = "left over"
        raise KeyError("boom")

    code: list[tuple[Any, ...]] = [("c", kernels.add, None, [0, k + 1], [k + 4], 1.0) for k in range(3)]
    code.append(("perform", lambda node, i, o: o[0].__setitem__(0, i[0] + 1), None, [6], [7]))
    if where < 4:
        kind, (into,) = where % 2, code[where][4]
        source = code[where][3]
        if kind == 0:
            code[where] = ("c", kernels.always_fails, struct.pack("i", 2), source, [into], 1.0)
        else:
            code[where] = ("perform", boom, None, source, [into])
    return Function(
        slots=[("input", VECTOR, None)] + [("shared", VECTOR, c) for c in cells] + [("temp", VECTOR, None)] * 4,
        instructions=code,
        inputs=[given(0, "x")],
        outputs=[7],
        updates=[(cells[0], 4), (cells[1], 5), (cells[2], 7)],
        **more,
    )


@pytest.mark.parametrize("where", [0, 1, 2, 3, 4])
def test_a_failed_call_changes_nothing(kernels: Any, where: int) -> None:
    cells = [[np.full(2, float(k))] for k in range(3)]
    before = [(c[0], c[0].copy()) for c in cells]
    f = failing_at(kernels, where, cells)
    if where == 4:
        f(np.ones(2))
        assert [c[0][0] for c in cells] == [1, 2, 4]
        return
    for _ in range(3):
        with pytest.raises((IndexError, KeyError)):
            f(np.ones(2))
        for cell, (array, copy) in zip(cells, before, strict=True):
            assert cell[0] is array and np.array_equal(array, copy)


def test_the_error_hook_sees_instruction_and_inputs(kernels: Any) -> None:
    seen = []

    class Better(Exception):
        pass

    def hook(index: int, error: BaseException, inputs: list[Any], slots: list[Any]) -> BaseException:
        seen.append((index, type(error), inputs))
        assert len(slots) > len(inputs)
        return Better(str(error))

    f = failing_at(kernels, 2, [[np.zeros(3)] for _ in range(3)], on_error=hook)
    with pytest.raises(Better):
        f(np.zeros(6)[::2])
    assert seen == [(2, IndexError, [((3,), (16,), "float64"), ((3,), (8,), "float64")])]
    f = failing_at(kernels, 0, [[np.zeros(3)] for _ in range(3)], on_error=lambda *a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        f(np.zeros(3))
    f = failing_at(kernels, 0, [[np.zeros(3)] for _ in range(3)], on_error=lambda *a: None)
    with pytest.raises(IndexError):
        f(np.zeros(3))


def test_interrupts_pass_the_hook_by() -> None:
    def stop(node: Any, inputs: list[Any], outputs: list[Any]) -> None:
        raise KeyboardInterrupt

    f = Function(
        slots=[("temp", None, None)],
        instructions=[("perform", stop, None, [], [0])],
        inputs=[],
        outputs=[0],
        on_error=lambda *a: 1 / 0,
    )
    with pytest.raises(KeyboardInterrupt):
        f()


@pytest.mark.parametrize("value", [np.zeros(2, "f4"), np.zeros((2, 2)), "text", 1.0, None])
def test_python_ops_must_keep_their_type(kernels: Any, value: Any) -> None:
    f = Function(
        slots=[("temp", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[
            ("perform", lambda node, i, o: o[0].__setitem__(0, value), None, [], [0]),
            ("c", kernels.add_const, number(1), [0], [1], 1.0),
        ],
        inputs=[],
        outputs=[1],
    )
    with pytest.raises((TypeError, RuntimeError), match="expected float64|left output 0 empty"):
        f()


# ------------------------------------------------------------------------------ laziness


def test_lazy_kernel_runs_one_branch(kernels: Any) -> None:
    ran = []

    def branch(name: str, shift: float) -> Any:
        def perform(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
            ran.append(name)
            outputs[0][0] = inputs[0] + shift

        return perform

    f = Function(
        slots=[("input", ZERO, None), ("input", VECTOR, None)] + [("temp", VECTOR, None)] * 4,
        instructions=[
            ("perform", branch("a", 1), None, [1], [2]),
            ("perform", branch("b", 2), None, [1], [3]),
            ("c", kernels.choose, None, [0, 2, 3], [4], 1.0, True),
            ("c", kernels.add_const, number(10), [4], [5], 1.0),
        ],
        inputs=[given(0, "c"), given(1, "x")],
        outputs=[5],
        returns="one",
        frees=[[], [1], [2, 3], [4]],
    )
    assert f.lazy
    x = np.zeros(2)
    assert f(np.array(1.0), x).tolist() == [11, 11] and ran == ["a"]
    assert f(np.array(0.0), x).tolist() == [12, 12] and ran == ["a", "b"]


def lazy_thunk(calls: list[Any]) -> Any:
    def factory(storage_in: Any, computed_in: Any, storage_out: Any, computed_out: Any) -> Any:
        def thunk() -> list[int] | None:
            calls.append([c[0] for c in computed_in])
            if not computed_in[0][0]:
                return [0]
            k = 1 if storage_in[0][0] else 2
            if not computed_in[k][0]:
                return [k]
            storage_out[0][0] = storage_in[k][0]
            return None

        return thunk

    return factory


def test_lazy_thunk_of_python_objects() -> None:
    calls: list[Any] = []
    ran: list[str] = []

    def make(name: str) -> Any:
        def perform(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
            ran.append(name)
            outputs[0][0] = name

        return perform

    f = Function(
        slots=[("input", None, None)] + [("temp", None, None)] * 4,
        instructions=[
            ("perform", lambda node, i, o: o[0].__setitem__(0, not i[0]), None, [0], [1]),
            ("perform", make("p"), None, [], [2]),
            ("perform", make("q"), None, [], [3]),
            ("thunk", lazy_thunk(calls), [1, 2, 3], [4], True),
        ],
        inputs=[given(0, "x")],
        outputs=[4],
        returns="one",
    )
    assert (f(0), ran) == ("p", ["p"])
    assert calls == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert (f(1), ran) == ("q", ["p", "q"])


def test_after_orders_in_place_work(kernels: Any) -> None:
    """Demand meets the instruction that overwrites x first, but y = x + 1 must have read it."""

    def wants(storage_in: Any, computed_in: Any, storage_out: Any, computed_out: Any) -> Any:
        def thunk() -> list[int] | None:
            if not computed_in[0][0]:
                return [0]
            storage_out[0][0] = storage_in[0][0] * 1
            return None

        return thunk

    f = Function(
        slots=[("input", VECTOR, None)] + [("temp", VECTOR, None)] * 3,
        instructions=[
            ("c", kernels.add_const, number(1), [0], [1], 1.0),
            ("c", kernels.add_inplace, number(5), [0], [2], 1.0),
            ("thunk", wants, [2], [3], True),
        ],
        inputs=[given(0, "x", writable=True)],
        outputs=[3, 1],
        control_dependencies=[[], [1], []],
    )
    assert [y.tolist() for y in f(np.zeros(2))] == [[5, 5], [1, 1]]


def test_lazy_protocol_errors(kernels: Any) -> None:
    def program(instruction: tuple[Any, ...]) -> Function:
        return Function(
            slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
            instructions=[instruction],
            inputs=[given(0, "x")],
            outputs=[1],
        )

    for instruction, text in [
        (("c", kernels.asks_for_nothing, None, [0], [1], 1.0), "all are computed"),
        (("c", kernels.asks_for_nothing, None, [0], [1], 1.0, True), "not missing"),
        (("thunk", lambda *a: lambda: [0], [0], [1], True), "computed already"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            program(instruction)(np.zeros(1))
    with pytest.raises(IndexError, match="input 4 of 1"):
        program(("thunk", lambda *a: lambda: [4], [0], [1], True))(np.zeros(1))


def test_skipping_many_instructions(kernels: Any) -> None:
    n = 1000
    f = Function(
        slots=[("input", ZERO, None), ("input", VECTOR, None)] + [("temp", VECTOR, None)] * (n + 2),
        instructions=[("c", kernels.add_const, number(1), [k + 1], [k + 2], 1.0) for k in range(n)]
        + [
            ("c", kernels.add_const, number(0), [1], [n + 2], 1.0),
            ("c", kernels.choose, None, [0, n + 1, n + 2], [n + 3], 1.0, True),
        ],
        inputs=[given(0, "c"), given(1, "x")],
        outputs=[n + 3],
        returns="one",
    )
    x = np.zeros(1)
    assert f(np.array(1.0), x) == n
    assert f(np.array(0.0), x) == 0


def test_plain_thunks_in_a_straight_line() -> None:
    bound = []

    def factory(storage_in: Any, computed_in: Any, storage_out: Any, computed_out: Any) -> Any:
        bound.append(1)

        def thunk() -> None:
            storage_out[0][0] = storage_in[0][0] * 2
            computed_out[0][0] = 1

        return thunk

    f = Function(
        slots=[("input", None, None), ("temp", None, None), ("temp", None, None)],
        instructions=[("thunk", factory, [0], [1]), ("thunk", factory, [1], [2])],
        inputs=[given(0, "x")],
        outputs=[2],
        returns="one",
    )
    assert [f(k) for k in range(5)] == [0, 4, 8, 12, 16]
    assert len(bound) == 2


def test_profile(kernels: Any, chain: Any) -> None:
    f = chain(3, profile=True)
    for _ in range(5):
        f(np.zeros(10))
    calls, total, each = f.profile_counts()
    assert calls == 5 and [c for c, _ in each] == [5, 5, 5]
    assert 0 < sum(ns for _, ns in each) <= total
    f.profile_reset()
    assert f.profile_counts() == (0, 0, [(0, 0)] * 3)
    assert chain(1).profile_counts() is None


# ------------------------------------------------------------------- threads and processes


def test_sixteen_threads(kernels: Any, chain: Any) -> None:
    f = chain(4)

    def body(k: int) -> None:
        x = np.arange(16.0) * (k + 1)
        wanted = x + 4
        for j in range(10000):
            y = f(x)
            if not j % 16 and not np.array_equal(y, wanted):
                raise AssertionError(f"thread {k}, call {j}: {y}")

    in_threads(16, body)
    assert 1 <= f.frames_at_rest <= 32


def test_sixteen_threads_without_the_gil(kernels: Any) -> None:
    """Work is declared heavy, so that each instruction gives the GIL away."""

    def double(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = inputs[0] * 2

    f = Function(
        slots=[("input", VECTOR, None)] + [("temp", VECTOR, None)] * 5,
        instructions=[
            ("c", kernels.add_const, number(1), [0], [1], 1e6),
            ("c", kernels.reverse_view, None, [1], [2], 1e6),
            ("perform", double, None, [2], [3]),
            ("c", kernels.add, None, [3, 0], [4], 1e6),
            ("c", kernels.reverse_view, None, [0], [5], 1e6),
        ],
        inputs=[given(0, "x")],
        outputs=[4, 5],
    )

    def body(k: int) -> None:
        x = np.arange(8.0) + 100 * k
        wanted = (x + 1)[::-1] * 2 + x
        for _ in range(500):
            y, r = f(x)
            assert np.array_equal(y, wanted) and np.array_equal(r, x[::-1])
            with pytest.raises(module.KernelShapeError):
                g(x, x[1:])

    g = Function(
        slots=[("input", VECTOR, None), ("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.add, None, [0, 1], [2], 1e6)],
        inputs=[given(0, "x"), given(1, "y")],
        outputs=[2],
    )
    in_threads(16, body)


def test_the_gil_is_free_during_long_kernels(kernels: Any) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.busy, integer(200_000_000), [0], [1], 1e9)],
        inputs=[given(0, "x")],
        outputs=[1],
    )
    thread = threading.Thread(target=f, args=(np.zeros(1),))
    thread.start()
    ticks = 0
    while thread.is_alive():
        ticks += 1
        time.sleep(0.001)
    assert ticks > 20  # with the GIL held: one or two


def test_recursion_through_a_python_op() -> None:
    def factorial(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        n = inputs[0]
        outputs[0][0] = 1 if n == 0 else n * f(n - 1)

    f = Function(
        slots=[("input", None, None), ("temp", None, None)],
        instructions=[("perform", factorial, None, [0], [1])],
        inputs=[given(0, "n")],
        outputs=[1],
        returns="one",
    )
    assert f(20) == 2432902008176640000
    with pytest.raises(RecursionError):
        f(-1)
    assert f(5) == 120


def test_ctrl_c_between_instructions(kernels: Any) -> None:
    running, ended = threading.Event(), []
    count = 400  # 20 seconds: the other thread has its turn long before
    f = Function(
        slots=[("input", VECTOR, None)] + [("temp", VECTOR, None)] * (count + 2),
        instructions=[
            ("perform", lambda node, i, o: (running.set(), o[0].__setitem__(0, i[0])), None, [0], [1]),
            *[("c", kernels.busy, integer(50_000_000), [k], [k + 1], 1e9) for k in range(1, count + 1)],
            ("perform", lambda node, i, o: (ended.append(1), o[0].__setitem__(0, i[0])), None, [count + 1], [count + 2]),
        ],
        inputs=[given(0, "x")],
        outputs=[count + 2],
    )

    def press() -> None:
        running.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    # A shell starts what it puts in the background with this signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            f(np.zeros(1))
    finally:
        signal.signal(signal.SIGINT, before)
        running.set()
        thread.join()
    assert not ended


def squares(kernels: Any, grain: int, work: float = 1.0) -> Function:
    return Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.square, integer(grain), [0], [1], work)],
        inputs=[given(0, "x")],
        outputs=[1],
        returns="one",
    )


def test_parallel_for_covers_each_index_once(kernels: Any) -> None:
    for n in [0, 1, 7, 1000, 100_003]:
        x = np.arange(float(n))
        for grain in [1, 100, 10_000]:
            f = squares(kernels, grain)
            for _ in range(20):
                assert np.array_equal(f(x), x * x)


def test_parallel_for_from_many_threads(kernels: Any) -> None:
    f = squares(kernels, 100)
    x = np.arange(20_000.0)

    def body(k: int) -> None:
        for _ in range(200):
            assert np.array_equal(f(x), x * x)

    in_threads(8, body)


def test_parallel_for_fails_once(kernels: Any) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.square_fails, None, [0], [1], 1.0)],
        inputs=[given(0, "x")],
        outputs=[1],
    )
    for _ in range(20):
        with pytest.raises(IndexError, match="part"):
            f(np.zeros(1000))


def test_number_of_threads(kernels: Any) -> None:
    usable = module.get_threads()
    assert usable >= 1
    f = squares(kernels, 10)
    x = np.arange(1000.0)
    try:
        for n in [1, 2, 1, 3, 0]:
            module.set_threads(n)
            assert module.get_threads() == (min(n, usable) if n else usable)
            assert np.array_equal(f(x), x * x)
    finally:
        module.set_threads(0)


def test_workers_leave_and_come(kernels: Any) -> None:
    f = squares(kernels, 10)
    x = np.arange(1000.0)
    try:
        for k in range(300):
            module.set_threads(k % 2 + 1)
            assert np.array_equal(f(x), x * x)
            if k % 50 == 0:
                time.sleep(0.01)  # they sleep
    finally:
        module.set_threads(0)


def excluded_for_threads(allowed: set[int]) -> Iterator[set[int]]:
    """Yield, for each thread of this process, on which of the allowed processors it does not run."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # others may end meanwhile
            yield allowed - os.sched_getaffinity(int(thread))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity") or module.get_threads() < 2, reason="Linux's, of two processors")
def test_workers_run_where_the_caller_does_not(kernels: Any) -> None:
    """Linux may wake them there, and leave them there for milliseconds."""
    f = squares(kernels, 10)
    x = np.arange(100_000.0)
    allowed = os.sched_getaffinity(0)
    try:
        module.set_threads(2)
        for processor in allowed:
            os.sched_setaffinity(0, {processor})
            os.sched_setaffinity(0, allowed)  # it most likely stays there
            assert np.array_equal(f(x), x * x)
            assert max(map(len, excluded_for_threads(allowed))) == 1
            assert os.sched_getaffinity(0) == allowed
    finally:
        os.sched_setaffinity(0, allowed)
        module.set_threads(0)


def test_small_arrays_stay_on_one_thread(kernels: Any) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.part_lengths, None, [0], [1], 1.0)],
        inputs=[given(0, "x")],
        outputs=[1],
        returns="one",
    )
    x = np.zeros(1000)
    alone = module.get_threads() == 1
    try:
        for least, whole in [(0, alone), (1000, alone), (1001, True)]:
            module.set_threads_least(least)
            assert (f(x).max() == 1000) == whole
    finally:
        module.set_threads_least(0)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_call(kernels: Any, chain: Any) -> None:
    f, g = squares(kernels, 10), chain(3)
    x = np.arange(100_000.0)
    f(x)  # threads are running
    g(x)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            good = all(np.array_equal(f(x), x * x) and np.array_equal(g(x), x + 3) for _ in range(20))
            os._exit(0 if good else 1)
        deadline = time.monotonic() + 20
        done, status = 0, 0
        while not done and time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.005)
        if not done:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert done and status == 0
        assert np.array_equal(f(x), x * x)

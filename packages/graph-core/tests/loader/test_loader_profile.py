"""Profiles of a program: runs are counted exactly, times are right although short calls are only sampled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from loader_specs import VECTOR, ZERO, given, in_threads, number

from theano.loader import module
from theano.loader.module import Function

FIRST = 64  # calls that are all timed
SPARSEST = 96  # calls between two that are timed, at most


@pytest.fixture(params=["counter", "clock"])
def clock(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both ways of reading the time."""
    if module.profile_clock(counter=request.param == "counter") != (request.param == "counter"):
        pytest.skip("this processor has no steady counter")
    yield request.param
    module.profile_clock()


def of_python(perform: Callable[[float], float], **more: Any) -> Function:
    """A program of two ops in Python."""

    def run(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = perform(inputs[0])

    return Function(
        slots=[("input", None, None), ("temp", None, None), ("temp", None, None)],
        instructions=[("perform", run, None, [0], [1]), ("perform", run, None, [1], [2])],
        inputs=[given(0, "x")],
        outputs=[2],
        returns="one",
        profile=True,
        **more,
    )


def burn(seconds: float) -> float:
    """Be busy for so long; return how long it really was."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        pass
    return time.perf_counter() - begin


def work(cost: float) -> float:
    """Take so long, in each of two ops; other programs may make it longer, never shorter."""
    if cost:
        burn(cost)
    return cost


def seconds(f: Function) -> tuple[float, float]:
    """What the profile says of the calls, and of all instructions."""
    _, total, each = f.profile_counts()
    return total * 1e-9, sum(ns for _, ns in each) * 1e-9


def test_short_calls_are_sampled_and_all_are_counted(chain: Any, clock: str) -> None:
    f, x = chain(3, profile=True), np.zeros(3)
    begin = time.perf_counter()
    for done in range(1, 20_001):
        f(x)
        if done == FIRST:
            assert f.profile_timed() == FIRST
        if done % 1009 == 0:  # at any point, also in between
            calls, total, each = f.profile_counts()
            assert calls == done and [runs for runs, _ in each] == [done] * 3
            assert 0 < sum(ns for _, ns in each) <= total
    elapsed = time.perf_counter() - begin
    assert FIRST <= f.profile_timed() < 15_000
    assert f.profile_timed() >= 20_000 // SPARSEST
    # Calls that were not timed are given no more time than there was.
    assert seconds(f)[0] <= elapsed * 1.01


def test_long_calls_are_all_timed(clock: str) -> None:
    took: list[float] = []

    def slow(x: float) -> float:
        took.append(burn(3e-4))
        return x

    f = of_python(slow)
    for _ in range(2 * FIRST):
        f(1.0)
    assert f.profile_timed() == 2 * FIRST
    whole, inside = seconds(f)
    assert sum(took) * 0.99 <= inside <= whole <= sum(took) * 2


QUICK, SLOW = 0.0, 1e-4


@pytest.mark.parametrize(
    "plan",
    [[(3000, QUICK), (200, SLOW)], [(200, SLOW), (3000, QUICK)], [(2000, QUICK), (200, SLOW)] * 2],
    ids=["slower", "faster", "to and fro"],
)
def test_a_cost_that_changes(plan: list[tuple[int, float]], clock: str) -> None:
    """Much slower from one call to the next, or much faster: neither is taken for the other."""
    f = of_python(work)
    begin = time.perf_counter()
    for count, cost in plan:
        for _ in range(count):
            f(cost)
    elapsed = time.perf_counter() - begin
    whole, inside = seconds(f)
    assert f.profile_counts()[0] == sum(count for count, _ in plan)
    # The calls before the first slow one that is timed are as slow, as far as the time that went by allows it.
    assert sum(2 * count * cost for count, cost in plan) * 0.9 <= whole <= elapsed * 1.01 and inside <= whole


def test_few_calls_are_slow_again_and_again(clock: str) -> None:
    """Most of the time goes into one call of fifty: those that are met stand for those that are missed."""
    f = of_python(work)
    begin = time.perf_counter()
    for k in range(20_000):
        f(SLOW if k % 50 == 0 else QUICK)
    elapsed = time.perf_counter() - begin
    whole, inside = seconds(f)
    assert 2 * 400 * SLOW * 0.5 <= inside <= whole <= elapsed * 1.01


def test_calls_far_apart_are_all_timed(chain: Any) -> None:
    """Looks at the time are not felt in a program that does other things, however short its calls are."""
    f, x = chain(1, profile=True), np.zeros(3)
    for _ in range(2 * FIRST):
        f(x)
        burn(1e-4)
    assert f.profile_timed() == 2 * FIRST


def test_what_is_timed_does_not_keep_step_with_a_rhythm(chain: Any) -> None:
    f, x = chain(2, profile=True), np.zeros(1)
    timed = []
    before = 0
    for k in range(60_000):
        f(x)
        if f.profile_timed() != before:
            timed.append(k)
            before = f.profile_timed()
    later = np.array(timed[FIRST:])
    assert len(later) > 300 and np.diff(later).max() <= SPARSEST
    for rhythm in (2, 3, 4, 8):
        shares = np.bincount(later % rhythm, minlength=rhythm) / len(later)
        assert shares.min() > 0.5 / rhythm, (rhythm, shares)


def test_threads(clock: str) -> None:
    """Calls that overlap, since the work gives the GIL away, are counted each; their times add up."""
    f = of_python(lambda x: time.sleep(x) or x)

    def body(_: int) -> None:
        for _ in range(300):
            f(0.0)
        f(0.02)

    in_threads(4, body)
    calls, total, each = f.profile_counts()
    assert calls == 4 * 301 and [runs for runs, _ in each] == [calls, calls]
    assert 0 < sum(ns for _, ns in each) <= total
    assert total > 0.02 * 2 * 1e9


def test_calls_that_fail_are_counted_as_far_as_they_came() -> None:
    def fails(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        if inputs[0] < 0:
            raise ValueError("negative")
        outputs[0][0] = inputs[0]

    def passes(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = inputs[0]

    f = Function(
        slots=[("input", None, None)] + [("temp", None, None)] * 3,
        instructions=[("perform", p, None, [k], [k + 1]) for k, p in enumerate((passes, fails, passes))],
        inputs=[given(0, "x")],
        outputs=[3],
        profile=True,
    )
    for k in range(1200):
        if k % 3:
            f(1.0)
        else:
            with pytest.raises(ValueError, match="negative"):
                f(-1.0)
    calls, total, each = f.profile_counts()
    assert calls == 1200 and [runs for runs, _ in each] == [1200, 800, 800]
    assert 0 < sum(ns for _, ns in each) <= total
    with pytest.raises(TypeError):
        f()
    assert f.profile_counts()[0] == 1201


def test_runs_driven_by_demand_are_counted_in_calls_that_are_not_timed(kernels: Any) -> None:
    f = Function(
        slots=[("input", ZERO, None), ("input", VECTOR, None)] + [("temp", VECTOR, None)] * 4,
        instructions=[
            ("c", kernels.add_const, number(1), [1], [2], 1.0),
            ("c", kernels.add_const, number(2), [1], [3], 1.0),
            ("c", kernels.choose, None, [0, 2, 3], [4], 1.0, True),
            ("c", kernels.add_const, number(10), [4], [5], 1.0),
        ],
        inputs=[given(0, "c"), given(1, "x")],
        outputs=[5],
        profile=True,
    )
    assert f.lazy
    yes, no, x = np.array(1.0), np.array(0.0), np.zeros(2)
    for k in range(4000):
        f(no if k % 4 == 0 else yes, x)
    calls, total, each = f.profile_counts()
    assert calls == 4000 and [each[k][0] for k in (0, 1, 3)] == [3000, 1000, 4000]
    assert 0 < sum(ns for _, ns in each) <= total and f.profile_timed() < 4000


def test_the_first_call_left_out_and_forgetting(chain: Any) -> None:
    f, x = chain(2, profile=["nodes", "skip_first"]), np.zeros(3)
    f(x)
    assert f.profile_counts() == (0, 0, [(0, 0)] * 2) and f.profile_timed() == 0
    for _ in range(5000):
        f(x)
    assert f.profile_counts()[0] == 5000 and f.profile_counts()[2][1][0] == 5000
    f.profile_reset()
    assert f.profile_counts() == (0, 0, [(0, 0)] * 2) and f.profile_timed() == 0
    for _ in range(FIRST):
        f(x)
    assert f.profile_timed() == FIRST and f.profile_counts()[0] == FIRST


def test_without_times_of_instructions(chain: Any) -> None:
    f, x = chain(2, profile=["skip_first"]), np.zeros(3)
    for _ in range(3001):
        f(x)
    calls, total, each = f.profile_counts()
    assert calls == 3000 and total > 0 and each == [(0, 0)] * 2


def test_shapes_are_noted_in_calls_that_are_not_timed(chain: Any) -> None:
    f = chain(2, profile=["shapes"])
    for n in range(3000):
        f(np.zeros(n % 7 if n != 2999 else 9))
    assert [row[0][:2] for row in f.profile_shapes()] == [(72, (9,))] * 2


def test_all_rows_are_one_call(chain: Any) -> None:
    f = chain(2, profile=True)
    f.loop(50, ((np.zeros((50, 3)), 0),), (), (), (), (50,), False)
    calls, total, each = f.profile_counts()
    assert calls == 1 and [runs for runs, _ in each] == [50, 50] and 0 < sum(ns for _, ns in each) <= total
    f(np.zeros(3))
    assert f.profile_counts()[0] == 2 and f.profile_counts()[2][0][0] == 51

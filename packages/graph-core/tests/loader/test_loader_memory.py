"""Who owns the numbers: recycling, views, updates, plans, leaks."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from loader_specs import SCALAR, VECTOR, ZERO, given, in_threads, integer, number, resident_kb

from theano.loader import module
from theano.loader.module import Function


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_results_that_are_kept_are_never_written_again(chain: Any) -> None:
    f = chain(3)
    kept = [f(np.full(4, float(k))) for k in range(50)]
    assert [y[0] for y in kept] == [k + 3 for k in range(50)]
    assert len({address(y) for y in kept}) == 50


def test_results_dropped_are_recycled(chain: Any) -> None:
    f = chain(1)
    x = np.zeros(4)
    first = address(f(x))
    assert address(f(x)) == first
    seen = set()
    for _ in range(20):
        y = f(x)  # the previous y is still alive while the next is computed
        seen.add(address(y))
    assert len(seen) <= 2
    y = f(y)
    assert y.tolist() == [2, 2, 2, 2]
    assert f(f(f(x))).tolist() == [3, 3, 3, 3]


def test_changed_results_are_not_recycled(chain: Any) -> None:
    f = chain(1)
    x = np.zeros(4)
    for spoil in [
        lambda y: y.setflags(write=False),
        lambda y: setattr(y, "shape", (2, 2)),
        lambda y: setattr(y, "dtype", "int64"),
    ]:
        y = f(x)
        spoil(y)
        del y
        assert f(x).tolist() == [1, 1, 1, 1]
    y = f(x)
    watch, view = weakref.ref(y), y[1:]
    del y
    assert f(x + 7).tolist() == [8, 8, 8, 8]
    assert view.tolist() == [1, 1, 1]
    del watch


def test_shapes_may_change_from_call_to_call(chain: Any) -> None:
    f = chain(4)
    for n in [3, 0, 1000, 5, 300000, 2, 300001, 0, 1]:
        assert np.array_equal(f(np.arange(float(n))), np.arange(float(n)) + 4)


def test_returned_views_keep_their_memory(kernels: Any, chain: Any) -> None:
    slots = [("input", VECTOR, None), ("temp", VECTOR, None), ("temp", VECTOR, None)]
    of_temp = Function(
        slots=slots,
        instructions=[
            ("c", kernels.add_const, number(1), [0], [1], 1.0),
            ("c", kernels.reverse_view, None, [1], [2], 1.0),
        ],
        inputs=[given(0, "x")],
        outputs=[2],
        returns="one",
    )
    kept = [of_temp(np.arange(3.0) + k) for k in range(20)]
    assert [y.tolist() for y in kept] == [[3.0 + k, 2.0 + k, 1.0 + k] for k in range(20)]
    assert kept[0].base is not None and kept[0].strides == (-8,)
    of_input = Function(
        slots=slots[:2],
        instructions=[("c", kernels.reverse_view, None, [0], [1], 1.0)],
        inputs=[given(0, "x")],
        outputs=[1],
        returns="one",
    )
    x = np.arange(3.0)
    y = of_input(x)
    assert np.shares_memory(x, y) and y.base is x and y.flags.writeable
    x.flags.writeable = False
    assert not of_input(x).flags.writeable
    before = sys.getrefcount(x)
    del y
    assert sys.getrefcount(x) == before - 1


@pytest.mark.parametrize("spec", [ZERO, SCALAR])
def test_views_of_zero_dimensions(kernels: Any, spec: Any) -> None:
    f = Function(
        slots=[("input", spec, None), ("temp", spec, None), ("temp", VECTOR, None)],
        instructions=[
            ("c", kernels.add_scalar, None, [0, 0], [1], 1.0),
            ("c", kernels.expand_view, None, [1], [2], 1.0),
        ],
        inputs=[given(0, "x", np.asarray if spec is ZERO else None)],
        outputs=[2],
        returns="one",
    )
    kept = [f(float(k)) for k in range(5)]
    assert [y.tolist() for y in kept] == [[2.0 * k] for k in range(5)]


def test_updates_take_turns_between_two_arrays(kernels: Any) -> None:
    cell = [np.zeros(100000)]
    f = Function(
        slots=[("shared", VECTOR, cell), ("temp", VECTOR, None)],
        instructions=[("c", kernels.add_const, number(1), [0], [1], 1.0)],
        inputs=[],
        outputs=[],
        returns="none",
        updates=[(cell, 1)],
    )
    seen = set()
    for k in range(20):
        f()
        seen.add(address(cell[0]))
        assert cell[0][0] == cell[0][-1] == k + 1
    assert len(seen) == 2
    kept = [cell[0]]
    for _ in range(5):
        f()
        kept.append(cell[0])
    assert [a[0] for a in kept] == [20, 21, 22, 23, 24, 25]


def test_two_variables_can_be_swapped(kernels: Any) -> None:
    a, b = [np.zeros(2)], [np.ones(2)]
    f = Function(
        slots=[("shared", VECTOR, a), ("shared", VECTOR, b)],
        instructions=[],
        inputs=[],
        outputs=[0, 1],
        updates=[(a, 1), (b, 0)],
    )
    old = f()
    assert old[0][0] == 0 and a[0][0] == 1 and b[0][0] == 0


def in_place(kernels: Any, how: int, cells: list[list[Any]], commit_start: int | None = 1, extra: Any = None) -> Function:
    """Adds 1, 2, ... to each cell in place after computing x + 1, which is returned."""
    slots = [("input", VECTOR, None), ("temp", VECTOR, None)]
    code = [("c", kernels.add_const, number(1), [0], [1], 1.0)]
    updates, overwritten = [], []
    for k, cell in enumerate(cells):
        slots += [("shared", VECTOR, cell), ("temp", VECTOR, None)]
        code.append(("c", kernels.add_inplace, number(k + 1), [2 * k + 2], [2 * k + 3], 1.0))
        updates.append((cell, 2 * k + 3))
        overwritten.append((2 * k + 2, how))
    if extra is not None:
        code.append(("c", extra, None, [0], [len(slots)], 1.0))
        slots.append(("temp", VECTOR, None))
        updates.append(([None], len(slots) - 1))
    return Function(
        slots=slots, instructions=code, inputs=[given(0, "x")], outputs=[1], returns="one", updates=updates,
        overwritten=overwritten, commit_start=commit_start,
    )  # fmt: skip


def test_shared_arrays_are_written_over_by_the_last_instructions(kernels: Any) -> None:
    a, b = [np.zeros(4)], [np.zeros(4)]
    f = in_place(kernels, 1, [a, b])
    f(np.zeros(4))  # on copies: nobody knows yet how much scratch memory the kernels want
    before = id(a[0]), id(b[0])
    for _ in range(3):
        f(np.zeros(4))
    assert (id(a[0]), id(b[0])) == before and a[0][0] == 4 and b[0][0] == 8
    held = a[0]
    f(np.zeros(4))
    assert held[0] == 4 and a[0][0] == 5 and a[0] is not held and id(b[0]) == before[1]


def test_scratch_memory_is_reserved_before_anything_is_written(kernels: Any) -> None:
    """A kernel that asks for it is run on copies until it is known how much it wants."""
    cell = [np.ones(5)]
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None), ("shared", VECTOR, cell), ("temp", VECTOR, None)],
        instructions=[
            ("c", kernels.add_const, number(1), [0], [1], 1.0),
            ("c", kernels.add_scratchy, None, [2, 0], [3], 1.0),
        ],
        inputs=[given(0, "x")],
        outputs=[1],
        updates=[(cell, 3)],
        overwritten=[(2, 1)],
        commit_start=1,
    )
    x = np.ones(5)
    place = 0
    for k, in_place in enumerate([False, True, True]):
        f(x)
        assert (address(cell[0]) == place) == in_place and cell[0][0] == k + 2
        place = address(cell[0])
    f(x[::-1])  # another layout
    assert address(cell[0]) != place and cell[0][0] == 5
    place = address(cell[0])
    f(x[::-1])
    assert address(cell[0]) == place and cell[0][0] == 6


def test_others_get_a_copy_of_what_they_overwrite(kernels: Any) -> None:
    a = [np.zeros(4)]
    f = in_place(kernels, 2, [a], commit_start=None)
    for k in range(3):
        old = id(a[0]), a[0]
        f(np.zeros(4))
        assert a[0][0] == k + 1 and old[1][0] == k


@pytest.mark.parametrize("fails", ["says_nothing", "always_fails_shape"])
def test_all_check_before_one_writes(kernels: Any, fails: str) -> None:
    a, b = [np.zeros(4)], [np.zeros(4)]
    f = in_place(kernels, 1, [a, b], extra=getattr(kernels, fails))
    arrays = a[0], b[0]
    places = [v.copy() for v in arrays]
    for _ in range(2):
        with pytest.raises(ValueError):
            f(np.zeros(4))
        assert a[0] is arrays[0] and b[0] is arrays[1]
        assert all(np.array_equal(v, w) for v, w in zip(arrays, places, strict=True))


def test_results_in_the_memory_of_others_are_recycled(kernels: Any) -> None:
    f = Function(
        slots=[("input", VECTOR, None), ("temp", VECTOR, None), ("temp", VECTOR, None)],
        instructions=[("c", kernels.add_const, number(1), [0], [1], 1.0), ("c", kernels.add_inplace, number(1), [1], [2], 1.0)],
        inputs=[given(0, "x")],
        outputs=[2],
        returns="one",
        frees=[[], [1]],
        result_bases=[(1, 2)],
    )
    y = f(np.zeros(3))
    assert y.base is None and y.tolist() == [2, 2, 2]
    kept = [f(np.full(3, float(k))) for k in range(4)]
    assert [v[0] for v in kept] == [2, 3, 4, 5]
    del y, kept
    assert len({id(f(np.zeros(3))) for _ in range(6)}) <= 2


def test_python_ops_may_keep_what_they_see(kernels: Any) -> None:
    hoard: list[Any] = []

    def keep(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        hoard.append(inputs[0][1:])
        outputs[0][0] = inputs[0]

    f = Function(
        slots=[("input", VECTOR, None)] + [("temp", VECTOR, None)] * 3,
        instructions=[
            ("c", kernels.add_const, number(1), [0], [1], 1.0),
            ("perform", keep, None, [1], [2]),
            ("c", kernels.add, None, [1, 2], [3], 1.0),
        ],
        inputs=[given(0, "x")],
        outputs=[3],
        returns="one",
        frees=[[0], [], [1, 2]],
    )
    results = [f(np.full(3, float(k))) for k in range(20)]
    assert [h.tolist() for h in hoard] == [[k + 1.0] * 2 for k in range(20)]
    assert [r[0] for r in results] == [2 * (k + 1) for k in range(20)]


@pytest.mark.parametrize("n", [5, 400000])
@pytest.mark.parametrize("frees", [True, False])
def test_memory_plan(kernels: Any, n: int, frees: bool) -> None:
    """t1..t6 in two buffers, right and (third case) with a plan that overlaps lives."""
    count = 6
    for reuse in ([0, 1] * 3, [0] * 6):
        f = Function(
            slots=[("input", VECTOR, None)] + [("temp", VECTOR, None)] * (count + 1),
            instructions=[("c", kernels.add_const, number(1), [k], [k + 1], 1.0) for k in range(count)]
            + [("c", kernels.add, None, [count - 2, count], [count + 1], 1.0)],
            inputs=[given(0, "x")],
            outputs=[count + 1],
            returns="one",
            reuse=[-1, *reuse, -1],
            frees=[[k] if k < count - 2 else [] for k in range(count)] + [[count - 2, count]] if frees else None,
        )
        for k in range(5):
            assert np.array_equal(f(np.full(n, float(k))), np.full(n, 2.0 * k + 2 * count - 2))


def test_views_and_plan_together(kernels: Any) -> None:
    """The viewed buffer is freed and its place in the plan taken while the view still lives."""
    f = Function(
        slots=[("input", VECTOR, None)] + [("temp", VECTOR, None)] * 4,
        instructions=[
            ("c", kernels.add_const, number(1), [0], [1], 1.0),
            ("c", kernels.reverse_view, None, [1], [2], 1.0),
            ("c", kernels.add_const, number(100), [0], [3], 1.0),
            ("c", kernels.add, None, [2, 3], [4], 1.0),
        ],
        inputs=[given(0, "x")],
        outputs=[4],
        returns="one",
        reuse=[-1, 0, -1, 0, -1],
        frees=[[], [1], [0], [2, 3]],
    )
    x = np.arange(4.0)
    for _ in range(5):
        assert np.array_equal(f(x), (x + 1)[::-1] + x + 100)


BIG = 1 << 18  # float64 numbers: 2 MiB


@pytest.fixture
def free_list() -> Any:
    """An empty free list with the limit it has by itself."""
    limit = module.memory_get_limit()
    module.memory_trim()
    yield
    module.memory_set_limit(limit)
    module.memory_trim()


def test_big_blocks_return_to_the_free_list(chain: Any, free_list: None) -> None:
    f = chain(3)
    f(np.zeros(BIG))
    waiting = module.memory_cached()
    assert waiting == 3 * (1 << 21)  # two intermediate values, and the result that was dropped
    f(np.zeros(BIG))
    assert module.memory_cached() == waiting
    y = f(np.zeros(BIG))
    assert module.memory_cached() == waiting - (1 << 21)
    del y
    module.memory_trim(1 << 21)
    assert module.memory_cached() == 1 << 21
    module.memory_trim()
    assert module.memory_cached() == 0
    module.memory_set_limit(0)
    f(np.zeros(BIG))
    assert module.memory_cached() == 0


def test_the_free_list_is_bounded(chain: Any, free_list: None) -> None:
    module.memory_set_limit(10 << 20)
    f = chain(2)
    for n in [200_000, 1_000_000, 300_000, 3_000_000, 500_000, 140_000] * 3:
        assert np.array_equal(f(np.zeros(n)), np.full(n, 2.0))
        assert module.memory_cached() <= 10 << 20


def test_big_results_are_ordinary_arrays(chain: Any, free_list: None) -> None:
    f = chain(1)
    y = f(np.arange(float(BIG)))
    assert y.flags.owndata and y.flags.writeable and y.base is None and type(y) is np.ndarray
    assert np.array_equal(y, np.arange(1.0, BIG + 1))
    y.resize(2 * BIG, refcheck=False)
    assert np.array_equal(y[:BIG], np.arange(1.0, BIG + 1)) and not y[BIG:].any()
    y.resize(3, refcheck=False)
    assert y.tolist() == [1, 2, 3]
    y.resize(BIG, refcheck=False)
    assert y[:3].tolist() == [1, 2, 3]
    view = f(np.zeros(BIG))[5:]
    other = f(np.ones(BIG))
    assert (view == 1).all() and (other == 2).all()


def test_big_results_that_are_kept_are_never_written_again(chain: Any, free_list: None) -> None:
    f = chain(2)
    kept = [f(np.full(BIG, float(k))) for k in range(6)]
    for k, y in enumerate(kept):
        assert (y == k + 2).all()
    kept.clear()
    places = {f(np.zeros(BIG)).__array_interface__["data"][0] for _ in range(6)}
    assert len(places) <= 2
    assert all(place % 64 == 0 for place in places)


def test_big_results_dropped_by_other_threads(chain: Any, free_list: None) -> None:
    f = chain(1)

    def body(k: int) -> None:
        for n in range(20):
            y = f(np.full(BIG + n, float(k)))
            assert y[0] == k + 1 == y[-1]

    in_threads(6, body)
    assert module.memory_cached() <= module.memory_get_limit()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_uses_big_memory(chain: Any, free_list: None) -> None:
    f = chain(3)
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            f(np.zeros(BIG))

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for t in threads:
        t.start()
    try:
        kept = f(np.ones(BIG))
        for _ in range(10):
            child = os.fork()
            if child == 0:  # the parent's threads may have been in the middle of taking or giving memory
                g = chain(3)
                good = all((g(np.full(BIG, float(k))) == k + 3).all() for k in range(5)) and kept[-1] == 4
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for t in threads:
            t.join()


def test_ensure_twice_and_scratch(kernels: Any) -> None:
    for outputs, spec in [([1], 0), ([2], 1)]:
        f = Function(
            slots=[("input", VECTOR, None), ("temp", VECTOR, None), ("temp", VECTOR, None)],
            instructions=[("c", kernels.scratchy, None, [0], [1], 1.0), ("c", kernels.scratchy, None, [1], [2], 1.0)],
            inputs=[given(0, "x")],
            outputs=outputs,
            returns="one",
        )
        for n in [1, 7, 100000]:
            assert np.array_equal(f(np.ones(n)), np.full(n, 2.0 * (1 + spec)))


def test_impossible_shapes(kernels: Any) -> None:
    def program(n: int) -> Function:
        return Function(
            slots=[("input", VECTOR, None), ("temp", VECTOR, None), ("temp", VECTOR, None)],
            instructions=[
                ("c", kernels.bad_shape, integer(n), [0], [1], 1.0),
                ("c", kernels.add_const, number(1), [1], [2], 1.0),
            ],
            inputs=[given(0, "x")],
            outputs=[2],
        )

    with pytest.raises(ValueError, match="negative length"):
        program(-1)(np.zeros(1))
    with pytest.raises(ValueError, match="more bytes than can be addressed"):
        program(1 << 62)(np.zeros(1))
    with pytest.raises(MemoryError):
        program(1 << 50)(np.zeros(1))


def test_free_drops_what_is_kept(chain: Any) -> None:
    f = chain(5)
    x = np.zeros(10)
    f(x)
    f.free()
    assert f(x).tolist() == [5.0] * 10


def test_no_growth_over_many_calls(kernels: Any, chain: Any) -> None:
    cell = [np.zeros(50)]

    def through(node: Any, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = inputs[0] * 2

    f = Function(
        slots=[("input", VECTOR, None), ("shared", VECTOR, cell)] + [("temp", VECTOR, None)] * 4,
        instructions=[
            ("c", kernels.add_const, number(1), [0], [2], 1.0),
            ("perform", through, None, [2], [3]),
            ("c", kernels.reverse_view, None, [3], [4], 1.0),
            ("c", kernels.add, None, [4, 1], [5], 1.0),
        ],
        inputs=[given(0, "x", np.asarray)],
        outputs=[2, 4],
        updates=[(cell, 5)],
        on_error=lambda index, error, *values: error,
    )
    x = np.zeros(50)
    wrong = np.zeros(3)
    for calls in (5000, 100000):
        for k in range(calls):
            f(x)
            if k % 16 == 0:
                with pytest.raises(ValueError):
                    f(wrong)
        if calls == 5000:
            before = resident_kb()
    assert resident_kb() - before < 512


def test_no_growth_over_many_programs(chain: Any) -> None:
    x = np.zeros(1000)

    def cycle() -> None:
        f = chain(5)
        f(x)
        f.itself = f

    def many(count: int) -> int:
        for k in range(count):
            cycle()
            if k % 20 == 0:
                gc.collect()  # the cycles; between collections garbage is allowed to wait
        return resident_kb()

    gc.collect()
    gc.freeze()  # so that a collection looks at these programs alone
    try:
        before = many(200)
        assert many(1000) - before < 1024
    finally:
        gc.unfreeze()

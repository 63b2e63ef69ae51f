"""Stages that workers of Dask are called for, past the scheduler: the same bits, whatever goes wrong on the way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from local_cluster import cluster, with_dask

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed import connections, direct

pytestmark = with_dask
da = pytest.importorskip("dask.array")
VALUE = np.random.default_rng(0).normal(size=(61, 3))


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes of the tree workers answered for, each shard if there are few: a number for each stage."""
    real, numbers = direct.DirectCalls.found, []

    def found(*args: Any) -> dict[int, Any]:
        try:
            answers = real(*args)
        except Exception:
            numbers.append(-1)
            raise
        numbers.append(len(answers))
        return answers

    monkeypatch.setattr(direct.DirectCalls, "found", found)
    monkeypatch.setattr(direct.DirectCalls, "SECONDS", 1000.0)
    monkeypatch.setattr(connections, "CONNECT", 60.0)  # on a machine that has much else to do
    return numbers


class Descent:
    """Steps of a model, whose costs are compared as text."""

    def __init__(self, on: Any, shards: int = 4, value: np.ndarray = VALUE):
        x, self.w = T.dmatrix("x"), theano.shared(np.ones(3), "w")
        cost = T.mean(T.tanh(T.dot(x, self.w)))
        updates = {self.w: self.w - T.grad(cost, self.w)}
        self.step = distributed.function([x], cost, updates=updates, shard={x: 0}, shards=shards, on=on)
        self.data = self.step.scatter(value)
        self.calls: Any = getattr(self.step.engine, "_calls", None)

    def costs(self, n: int) -> list[str]:
        return [float(self.step(self.data)).hex() for _ in range(n)]


@contextmanager
def descents(*, shards: int = 4, **options: Any) -> Iterator[tuple[Any, Descent, Descent]]:
    """Give a client, a descent on its workers that has made a first step by tasks, and one of this process."""
    with cluster(options.pop("workers", 2), quick=True, **options) as client:
        there, here = Descent(client, shards), Descent("serial", shards)
        assert there.costs(1) == here.costs(1)
        yield client, there, here


def one_of(client: Any) -> tuple[str, int]:
    return next(iter(client.run(os.getpid).items()))


def killed(client: Any) -> None:
    os.kill(one_of(client)[1], signal.SIGKILL)


@pytest.mark.parametrize(("threads", "shards", "nodes", "few"), [(1, 2, 2, 64), (2, 9, 9, 64), (2, 9, 2, 1)])
def test_the_same_bits_as_by_tasks(
    threads: int, shards: int, nodes: int, few: int, answered: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(distributed.DaskEngine, "FEW", few)
    with descents(threads=threads, shards=shards) as (client, there, here):
        assert there.costs(3) == here.costs(3) and answered == [0, nodes, nodes, nodes]
        monkeypatch.setattr(client, "direct_to_workers", False)
        assert there.costs(2) == here.costs(2) and answered[-2:] == [0, 0]
        assert Descent(client, shards).costs(7) == Descent("serial", shards).costs(7)


@pytest.mark.parametrize("here", [True, False])
def test_a_cluster_with_keys(here: bool, answered: list[int], monkeypatch: pytest.MonkeyPatch):
    """Small and large messages, before and after a worker was lost: encrypted between machines, plain on one."""
    if not here:
        monkeypatch.setattr(connections, "on_this_machine", lambda comm: False)
    pytest.importorskip("cryptography", reason="nox -s cluster installs it")
    with descents(security=True) as (client, there, same):
        assert client.scheduler.address.startswith("tls://")
        assert there.costs(3) == same.costs(3) and answered == [0, 4, 4, 4]
        x, v = T.dmatrix("x"), T.dvector("v")
        total = T.sum(x) + v
        f, g = (distributed.function([x, v], total, shard={x: 0}, shards=2, on=on) for on in (client, "serial"))
        large = np.random.default_rng(0).normal(size=300_000)  # more than one record of TLS, or a buffer, has room for
        data, wanted = f.scatter(VALUE), g(VALUE, large).tobytes()
        assert f(data, large).tobytes() == wanted and f(data, large).tobytes() == wanted and answered[-1] == 2
        killed(client)
        assert there.costs(1) == same.costs(1) and answered[-1] < 4
        client.wait_for_workers(2)
        assert there.costs(2) == same.costs(2) and answered[-1] == 4
        kept = [c for idle in there.calls._connections._idle.values() for c in idle]
        assert kept and all((c._socket.cipher() is None) == here for c in kept)


def test_results_that_are_sharded(answered: list[int]):
    x = T.dmatrix("x")
    with cluster(2, quick=True) as client:
        f = distributed.function([x], [T.sum(x, axis=0), x], shard={x: 0}, shards=3, on=client)
        data = f.scatter(np.asfortranarray(VALUE))
        for _ in range(2):
            total, same = f(data)
            np.testing.assert_array_equal(same.gather(), VALUE)
            np.testing.assert_allclose(total, VALUE.sum(axis=0))
    assert answered == [0, 3, 3, 3]


def test_what_goes_by_tasks(answered: list[int], tmp_path: Path):
    x = T.dmatrix("x")
    np.save(tmp_path / "x.npy", VALUE)
    with cluster(2, quick=True) as client:
        f = distributed.function([x], T.sum(T.nnet.softmax(x.T)), shard={x: 0}, on=client)
        for data in (f.scatter(np.load(tmp_path / "x.npy", mmap_mode="r")), f.scatter(da.from_array(VALUE, (31, 3)))):
            assert len({float(f(data)) for _ in range(2)}) == 1
    assert not answered, "stages that keep arrays, files and arrays that are made anew"


def test_a_worker_that_is_killed_between_steps(answered: list[int]):
    with descents() as (client, there, here):
        assert there.costs(2) == here.costs(2)
        killed(client)
        assert there.costs(1) == here.costs(1) and answered[-1] < 4
        client.wait_for_workers(2)
        assert there.costs(2) == here.costs(2)
        assert answered[-1] == 4


class Slow(theano.Op):
    """Takes a while, so that a step is not over before somebody is killed in it."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        time.sleep(0.2)
        output_storage[0][0] = inputs[0]


@pytest.fixture
def slow() -> Iterator[Any]:
    distributed.carries(Slow)(lambda given: given.axes[0])
    yield Slow()
    distributed.TABLE.pop(Slow, None)


@pytest.mark.parametrize(("shards", "nodes"), [(2, [[0], [1]]), (10, [range(8), (8, 9)])])
def test_a_worker_that_is_killed_in_mid_step(
    shards: int, nodes: Any, answered: list[int], slow: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(distributed.DaskEngine, "FEW", 1)
    x = T.dmatrix("x")
    with cluster(2, quick=True) as client:
        f, g = (
            distributed.function([x], T.sum(slow(x), axis=0), shard={x: 0}, shards=shards, on=on)
            for on in (client, "serial")
        )
        data, wanted = f.scatter(VALUE), g(VALUE).tobytes()
        assert f(data).tobytes() == wanted and f(data).tobytes() == wanted
        # Who it is is asked before: a machine that has much else to do would answer when the step is nearly over.
        address, process = one_of(client)
        places = f.engine._calls._where([s.arrays for s in data.shards])
        left = sum(all(places[i] != address for i in node) for node in nodes)
        threading.Timer(0.1, os.kill, [process, signal.SIGKILL]).start()
        assert f(data).tobytes() == wanted
        assert answered == [0, len(nodes), left], "those of which the killed worker has no shard"
        client.wait_for_workers(2, timeout=120)  # a new one starts slowly on a busy machine
        for _ in range(5):
            assert f(data).tobytes() == wanted
        assert answered[-1] == len(nodes)


def test_a_worker_that_joins(answered: list[int]):
    with descents(workers=1) as (client, there, here):
        assert there.costs(2) == here.costs(2)
        client.cluster.scale(2)
        client.wait_for_workers(2)
        shards = [s.arrays for s in there.data.shards]
        client.amm.stop()  # it would remove what is there twice
        client.replicate(shards, n=2)
        there.calls._end = 0.0  # the time for a step by tasks has come
        assert there.costs(3) == here.costs(3) and answered[-3:] == [0, 4, 4]
        assert sorted(Counter(there.calls._where(shards)).values()) == [2, 2]


def test_a_shard_that_is_elsewhere(answered: list[int]):
    with descents() as (client, there, here):
        assert there.costs(1) == here.costs(1)
        (places,) = there.calls._places.values()
        one, other = sorted(set(places))
        places[:] = [one if address == other else other for address in places]
        assert there.costs(2) == here.costs(2) and answered == [0, 4, 0, 4]


def test_a_worker_that_leaves(answered: list[int]):
    with descents() as (client, there, here):
        assert there.costs(1) == here.costs(1)
        client.retire_workers([next(iter(client.scheduler_info()["workers"]))])
        assert there.costs(2) == here.costs(2)
        assert answered[:2] == [0, 4] and answered[2] < 4 and answered[3] == 4


def test_a_client_that_cannot_connect_to_workers(answered: list[int], monkeypatch: pytest.MonkeyPatch):
    import distributed.comm

    with descents() as (_, there, here):
        tried = []

        async def connect(address: str, **_: Any) -> Any:
            tried.append(address)
            raise OSError("no way")

        with monkeypatch.context() as patch:
            patch.setattr(distributed.comm, "connect", connect)  # Dask's own connections are made by another name
            assert there.costs(3) == here.costs(3)
            assert answered == [0, 0, 0, 0] and 1 <= len(tried) <= 2, "it is tried once"
            assert there.calls._begin > time.monotonic() + 500
        there.calls._begin = 0.0  # the pause is over
        assert there.costs(1) == here.costs(1) and answered[-1] == 4


def test_workers_without_the_handler(answered: list[int]):
    def removed(dask_worker: Any) -> None:
        del dask_worker.handlers[direct.HANDLER]

    with descents() as (client, there, here):
        assert there.costs(1) == here.costs(1)
        client.run(removed)  # as if they were those of a new scheduler, to which there is no connection yet
        for idle in there.calls._connections._idle.values():
            idle.pop().close()
        assert there.costs(2) == here.costs(2) and answered == [0, 4, 0, 4]


def test_connections_that_are_cut(answered: list[int]):
    with descents() as (client, there, here):
        assert there.costs(1) == here.costs(1)
        (first, *_) = there.calls._connections._idle.values()
        first[0].close()
        assert there.costs(2) == here.costs(2) and answered[:2] == [0, 4] and answered[3] == 4
        assert 0 < answered[2] < 4, "the other worker has its shards"
        other = Descent(client)
        other.costs(2)
        assert [len(idle) for idle in there.calls._connections._idle.values()] == [1, 1], "functions share them"


def test_a_call_that_is_broken_off(answered: list[int], monkeypatch: pytest.MonkeyPatch):
    """What a worker replies to a call that somebody interrupted is not taken for the reply to the next."""
    with descents() as (_, there, here):
        assert there.costs(1) == here.costs(1)
        before = there.w.get_value()
        with monkeypatch.context() as patch:
            patch.setattr(connections, "_replied", lambda *_: signal.raise_signal(signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                there.step(there.data)
        there.w.set_value(before)
        assert there.costs(2) == here.costs(2) and answered[-2:] == [4, 4]


def test_a_stage_that_raises(answered: list[int]):
    x, i = T.dmatrix("x"), T.lscalar("i")
    with cluster(2, quick=True) as client:
        f = distributed.function([x, i], T.sum(x[:, i]), shard={x: 0}, shards=4, on=client)
        data = f.scatter(VALUE[:60])  # shards of one length: of tasks, any that failed may be raised first
        assert float(f(data, 1)) == float(f(data, 1))
        with pytest.raises(IndexError) as by_call:
            f(data, 7)
        assert answered == [0, 4, -1], "its error is no failure of the way"
        f.engine._calls._end = 0.0
        with pytest.raises(IndexError) as by_task:
            f(data, 7)
        assert answered == [0, 4, -1, 0]
        assert any("on shard 0" in note for note in by_call.value.__notes__)
        assert str(by_call.value) == str(by_task.value)
        assert f(data, 1) == f(data, 1) and answered[-2:] == [4, 4]


def test_a_cluster_that_adapts_its_size_has_tasks_only(answered: list[int]):
    with descents() as (client, there, here):
        client.cluster.adapt(minimum=2, maximum=2)
        assert there.costs(2) == here.costs(2) and answered == [0, 0, 0]


def test_a_cluster_of_threads_has_tasks_only(answered: list[int]):
    from dask.distributed import Client

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        assert Descent(client).costs(3) == Descent("serial").costs(3) and answered == [0, 0, 0]

"""What workers are asked, and what they answer: in one process, with stand-ins for the workers and clients of Dask."""

from __future__ import annotations

import importlib.util
import pickle
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from theano.distributed import connections, direct
from theano.distributed.combining import Combination
from theano.distributed.workers import pack

SUM = Combination(("sum",))


@pytest.fixture(autouse=True)
def pickles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python's pickles stand in for Dask's where it is not installed."""
    if importlib.util.find_spec("dask") is None:
        plain = SimpleNamespace(dumps=partial(pickle.dumps, protocol=5), loads=pickle.loads)
        monkeypatch.setattr(connections, "_pickle", lambda: plain)


def connected(end: socket.socket) -> connections.Connection:
    """Return a connection of a socket, as if an event loop had let go of it."""
    stream = SimpleNamespace(io_loop=SimpleNamespace(remove_handler=lambda _: None), fileno=end.fileno, socket=end)
    return connections.Connection(SimpleNamespace(stream=stream, abort=end.close))


def test_messages():
    """Things come as they went, in one message: their arrays writable, and aligned as their dtypes want it."""
    arrays = [
        np.arange(24.0).reshape(4, 6).T, np.zeros((0, 3)), np.arange(3, dtype="i1"), np.array(2 + 1j), np.ones((900, 900))[::2],
    ]  # fmt: skip
    here, there = map(connected, socket.socketpair())
    for things in ([], [None], [("a", {"b": arrays}), 7, arrays]):
        threading.Thread(target=here.send, args=[connections.Pickled(t) for t in things]).start()
        came = [connections.unpickled(frames) for frames in there.receive()]
        assert len(came) == len(things)
        for array, again in zip(arrays, came[2] if len(came) == 3 else arrays, strict=True):
            assert array.dtype == again.dtype and array.shape == again.shape and array.tobytes() == again.tobytes()
            assert again.flags.writeable and again.flags.aligned
    here.close()
    with pytest.raises(EOFError):
        there.receive()
    there.close()


class Scaled:
    """A stage that adds up a shard's numbers, times a value."""

    def __call__(self, arrays: Any, values: Any) -> Any:
        return list(arrays), [arrays[0].sum() * values[0]]


class Client:
    """What stages ask of a client of Dask."""

    def __init__(self, **holders: list[str]):
        self.direct_to_workers, self.asynchronous, self.status = None, False, "running"
        self.rpc, self.cluster = SimpleNamespace(connection_args={}), SimpleNamespace(_adaptive=None)
        self.loop = SimpleNamespace(asyncio_loop=None)
        self.holders = holders

    def register_worker_callbacks(self, callback: Any) -> None:
        """All workers have the handler."""

    def who_has(self, shards: Any) -> dict[str, list[str]]:
        return {shard.key: self.holders.get(shard.key, []) for shard in shards}


class Two:
    """Two workers with two shards each, the first of which calls the second; and the other ends of connections."""

    def __init__(self) -> None:
        keys = {"tcp://a": ("x0", "x1"), "tcp://b": ("x2", "x3")}
        self.client = Client(**{key: [address] for address, some in keys.items() for key in some})
        self.workers = {
            address: SimpleNamespace(
                status=SimpleNamespace(name="running"), rpc=self.client.rpc, executors={"default": ThreadPoolExecutor(1)},
                data={key: [np.full(2, int(key[1]))] for key in some},
            )
            for address, some in keys.items()
        }  # fmt: skip
        self.handlers = {address: direct.StageHandler(worker) for address, worker in self.workers.items()}
        self.handlers["tcp://a"]._connections = self.connections("tcp://b")
        self.calls = direct.DirectCalls(self.client)
        self.calls._connections = self.connections("tcp://a", "tcp://b")
        self.shards = [SimpleNamespace(key=f"x{i}") for i in range(4)]

    def connections(self, *addresses: str) -> connections.Connections:
        made = connections.Connections(self.client.rpc, None)  # type: ignore[arg-type]  # none is opened
        for address in addresses:
            here, there = map(connected, socket.socketpair())
            threading.Thread(target=self.handlers[address]._serve, args=(there, lambda: None), daemon=True).start()
            made._give(address, here)
        return made

    def found(self, nodes: Any, scale: float = 1.0) -> dict[int, Any]:
        return self.calls.found(pack(Scaled()), self.shards, [scale], nodes, SUM)


@pytest.fixture
def two() -> Iterator[Two]:
    made = Two()
    made.found([])  # the first step is for tasks
    yield made
    for some in (made.calls._connections, made.handlers["tcp://a"]._connections):
        connections._close(some._idle)
    for worker in made.workers.values():
        worker.executors["default"].shutdown()


def test_workers_answer_for_shards_and_for_what_is_combined_of_them(two: Two):
    for scale in (1.0, 0.5):  # the second time they have the stage
        assert two.found([0, 1, 2, 3], scale) == {i: [2 * i * scale] for i in range(4)}
        assert two.found([[0, 1], [2, 3]], scale) == {0: [2 * scale], 1: [10 * scale]}
        assert two.found([[0, 2], [1, 3]], scale) == {0: [4 * scale], 1: [8 * scale]}, "the first asks the second"
        assert two.found([[[0, 1], [2, 3]]], scale) == {0: [12 * scale]}


@pytest.mark.parametrize("address", ["tcp://a", "tcp://b"])
def test_workers_that_are_paused_or_lack_a_shard_do_not_answer(two: Two, address: str):
    worker, other = two.workers[address], [2, 3] if address == "tcp://a" else [0, 1]
    nodes: list[Any] = [0, 1, 2, 3]
    everything = two.found(nodes)
    assert list(everything) == nodes
    worker.status.name = "paused"
    assert two.found(nodes) == {i: everything[i] for i in other}
    assert two.found([[0, 2]]) == {}, "one of its shards is lacking"
    worker.status.name = "running"
    kept = worker.data.copy()
    del worker.data[next(iter(kept))]
    assert two.found(nodes) == {i: everything[i] for i in other}
    worker.data.update(kept)
    assert two.found(nodes) == everything


def test_when_workers_are_called(monkeypatch: pytest.MonkeyPatch, two: Two):
    now = two.calls._end - two.calls.SECONDS
    monkeypatch.setattr(direct, "time", SimpleNamespace(monotonic=lambda: now))
    assert len(two.found([0, 2])) == 2
    for of, name, value in (
        (two.client, "direct_to_workers", False), (two.client, "asynchronous", True), (two.client, "status", "closed"),
        (two.client.cluster, "_adaptive", object()), (two.client, "holders", {"x0": ["tcp://a"]}),
        (two.client, "holders", {key: ["inproc://a"] for key in two.client.holders}),
    ):  # fmt: skip
        two.calls._places.clear()
        with monkeypatch.context() as patch:
            patch.setattr(of, name, value)
            assert two.found([0, 2]) == {}, (name, value)
        assert len(two.found([0, 2])) == 2
    now += 1.5 * two.calls.SECONDS
    assert two.found([0, 2]) == {}, "from time to time a step is for tasks"
    assert len(two.found([0, 2])) == 2


@pytest.mark.parametrize("broken", ["none", "first", "middle", "last"])
def test_connections_of_which_a_reply_came_are_kept(broken: str):
    addresses = ["first", "middle", "last"]
    made = connections.Connections(SimpleNamespace(connection_args={}), None)  # type: ignore[arg-type]  # none is opened
    there = {}
    for address in addresses:
        here, there[address] = map(connected, socket.socketpair())
        made._give(address, here)
        if address == broken:
            there[address].close()
        else:
            there[address].send(connections.Pickled(f"of {address}"))
    replies = made.ask(addresses, lambda address: [connections.Pickled(address)], lambda address, reply: None)
    for address, reply in zip(addresses, replies, strict=True):
        assert isinstance(reply, (OSError, EOFError)) if address == broken else reply == f"of {address}"
        assert len(made._idle[address]) == (address != broken)
        there[address].close()
    connections._close(made._idle)


def test_a_call_that_is_broken_off_leaves_no_connection_open():
    ends = [socket.socketpair() for _ in "ab"]
    made = connections.Connections(SimpleNamespace(connection_args={}), None)  # type: ignore[arg-type]  # none is opened
    for address, (here, there) in zip("ab", ends, strict=True):
        made._give(address, connected(here))
        connected(there).send(connections.Pickled(address))

    def again(address: str, reply: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.ask("ab", lambda address: [connections.Pickled(address)], again)
    assert [len(made._idle[address]) for address in "ab"] == [0, 0]
    assert all(here.fileno() == -1 for here, _ in ends)
    for _, there in ends:
        there.close()


def test_workers_that_cannot_be_reached_are_called_again_after_twice_as_long_each_time(
    monkeypatch: pytest.MonkeyPatch, two: Two
):
    start, tried = two.calls._end - two.calls.SECONDS, []
    now = start
    monkeypatch.setattr(direct, "time", SimpleNamespace(monotonic=lambda: now))

    def ask(addresses: Any, *_: Any) -> list[Any]:
        tried.append((now - start) / two.calls.SECONDS)
        return [connections.UnreachableError(a) for a in addresses]

    with monkeypatch.context() as patch:
        patch.setattr(two.calls._connections, "ask", ask)
        for quarters in range(4 * 8):
            now = start + two.calls.SECONDS * quarters / 4
            assert two.found([0, 1]) == {}
    assert tried == [0, 1, 3, 7]
    now = start + 15 * two.calls.SECONDS
    assert len(two.found([0, 1])) == 2


def test_shards_that_several_workers_have_are_asked_of_each_of_them(two: Two):
    two.client.holders = {f"x{i}": ["tcp://a", "tcp://b"] for i in range(4)}
    assert sorted(two.calls._where(two.shards)) == ["tcp://a", "tcp://a", "tcp://b", "tcp://b"]

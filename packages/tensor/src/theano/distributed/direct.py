"""Stages asked of the workers of Dask that hold the shards, by one message to each, past the scheduler.

A step by tasks passes through the client, the scheduler and the workers several times, which keeps the processors of
small clusters as busy as the blocks do. Here each worker has a handler, `StageHandler`, which the client calls by
`DirectCalls`. The stages, the shards, the threads and the messages are those that tasks have, too.
"""

from __future__ import annotations

import asyncio
import importlib
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from theano.distributed.data import opened
from theano.distributed.workers import Packed, made

HANDLER = "theano_stage"


def run_stage(packed: Packed, shard: Any, kept: Sequence[Any], values: Sequence[Any], keeps: bool) -> Any:
    """Return what a stage finds in a shard; with what it keeps before that, if it keeps something."""
    with made(packed) as stage:
        given = [*(opened(a) for a in shard), *(a for some in kept for a in some)]
        arrays, found = stage(given, values)
        return (arrays[len(given) :], found) if keeps else found


# -- in a worker ------------------------------------------------------------------------------------------------------


class _NotHeldError(Exception):
    """The worker has a shard no more."""


class StageHandler:
    """Answers, in a worker of Dask, with what a stage finds in shards that the worker holds.

    Stages run in the threads in which the worker runs its tasks. A shard is taken from the worker's memory, or from its
    disk, when a thread is free for it.

    Parameters
    ----------
    worker : distributed.Worker
    """

    #: How many stages are kept, since workers of a cluster live long.
    KEPT = 32

    def __init__(self, worker: Any):
        self._worker = worker
        self._stages: dict[str, Packed] = {}
        self._free = asyncio.Semaphore(worker.state.nthreads)

    async def answer(
        self, digest: str, keys: Sequence[str], values: Sequence[Any], packed: Packed | None = None
    ) -> Mapping[str, Any]:
        """Return what the stage of a digest finds in the shards of some keys, or why there is nothing to return."""
        if packed is not None:
            self._stages[digest] = packed
            while len(self._stages) > self.KEPT:
                del self._stages[next(iter(self._stages))]
        if digest not in self._stages:
            return {"status": "unknown stage"}
        # A worker that is short of memory is paused.
        if self._worker.status.name != "running" or not all(key in self._worker.data for key in keys):
            return {"status": "not held"}
        core = importlib.import_module("distributed.core")  # this is a worker of it
        runs = [asyncio.ensure_future(self._found(self._stages[digest], key, list(values))) for key in keys]
        await asyncio.wait(runs)
        for i, run in enumerate(runs):
            try:
                run.result()
            except _NotHeldError:
                return {"status": "not held"}
            except Exception as exc:  # noqa: BLE001  (raised again where the stage was asked for)
                failure: Mapping[str, Any] = core.error_message(exc, status="raised")
                return {**failure, "at": i}
        serialized = importlib.import_module("distributed.protocol").to_serialize
        return {"status": "OK", "found": serialized([run.result() for run in runs])}

    async def _found(self, packed: Packed, key: str, values: Sequence[Any]) -> Any:
        async with self._free:
            shard = self._worker.data.get(key)
            if shard is None:
                raise _NotHeldError
            loop, threads = asyncio.get_running_loop(), self._worker.executors["default"]
            return await loop.run_in_executor(threads, run_stage, packed, shard, [], values, False)


def add_handler(dask_worker: Any) -> None:
    """Let a worker answer to `DirectCalls`; Dask calls this in each worker, by the name of the parameter."""
    if HANDLER not in dask_worker.handlers:
        dask_worker.handlers[HANDLER] = StageHandler(dask_worker).answer


# -- in the client ----------------------------------------------------------------------------------------------------

#: Clients whose workers have the handler.
_added: weakref.WeakSet[Any] = weakref.WeakSet()


class _UnreachableError(OSError):
    """A worker cannot be connected from here."""


class DirectCalls:
    """Calls of the workers that hold shards. What a worker does not answer is left out, and is for tasks to compute.

    Every `SECONDS` nothing is asked, so that tasks are run: then Dask sees that its cluster is used, and places what
    workers have joined for. Where workers cannot be reached nothing is asked for twice as long each time.

    Parameters
    ----------
    client : dask.distributed.Client
        One with ``direct_to_workers=False`` makes no calls; nor does that of a cluster that adapts its size to tasks.
    """

    #: For how long workers are called before tasks are run again.
    SECONDS = 10.0
    #: How long a worker that was not called before may take to be connected.
    CONNECT = 1.0

    def __init__(self, client: Any):
        self.client = client
        self._begin = self._end = 0.0
        self._pause = self.SECONDS
        self._places: dict[tuple[str, ...], dict[str, list[int]]] = {}
        self._connected: set[str] = set()

    def found(self, packed: Packed, shards: Sequence[Any], values: Sequence[Any]) -> dict[int, Any]:
        """Return what a stage finds in shards that are results of tasks, by their numbers, as far as workers answer.

        Parameters
        ----------
        packed : Packed
            The stage.
        shards : list of Future
        values : list
            What is the same everywhere.

        Raises
        ------
        Exception
            What the stage raised, that of the first such shard.
        """
        if not self._now():
            return {}
        try:
            places = self._where(shards)
            if not places or len(places) > self.client.rpc.limit:
                return {}
            replies = self.client.sync(self._all, packed, places, [s.key for s in shards], list(values))
        except Exception:  # noqa: BLE001  (of Dask's: tasks find out whether the cluster is well)
            self._retreat()
            return {}
        if any(isinstance(reply, _UnreachableError) for reply in replies):
            self._retreat()
        found, raised = dict[int, Any](), dict[int, Any]()
        for numbers, reply in zip(places.values(), replies, strict=True):
            status = reply.get("status") if isinstance(reply, dict) else None
            if status == "OK":
                found.update(zip(numbers, reply["found"], strict=True))
            elif status == "raised":
                raised[numbers[reply["at"]]] = reply
            else:
                self._forget()
        if raised:
            _, error, trace = importlib.import_module("distributed.core").clean_exception(**raised[min(raised)])
            raise error.with_traceback(trace)
        return found

    def _now(self) -> bool:
        """Tell whether this is a step in which workers are called."""
        now = time.monotonic()
        if self.client.direct_to_workers is False or getattr(self.client.cluster, "_adaptive", None) is not None:
            return False
        if self._begin <= now < self._end:
            return True
        if now >= self._end:
            self._end = now + self.SECONDS
            self._places.clear()
        return False

    def _where(self, shards: Sequence[Any]) -> dict[str, list[int]]:
        """Return the workers to be called, each with the numbers of its shards; none if some shard is nowhere yet."""
        keys = tuple(s.key for s in shards)
        if keys not in self._places:
            if self.client not in _added:
                self.client.register_worker_callbacks(add_handler)
                _added.add(self.client)
            holders, places = self.client.who_has(list(shards)), dict[str, list[int]]()
            for i, key in enumerate(keys):
                if not holders.get(key):
                    return {}
                least = min(holders[key], key=lambda address: len(places.get(address, ())))
                places.setdefault(least, []).append(i)
            self._places[keys] = places
        return self._places[keys]

    def _forget(self) -> None:
        self._places.clear()
        self._connected.clear()

    def _retreat(self) -> None:
        """Let tasks do it for a while, and then for twice as long."""
        self._forget()
        self._begin = time.monotonic() + self._pause
        self._end = self._begin + self.SECONDS
        self._pause *= 2

    async def _all(self, packed: Packed, places: Any, keys: Sequence[str], values: Sequence[Any]) -> list[Any]:
        calls = [self._call(a, packed, [keys[i] for i in numbers], values) for a, numbers in places.items()]
        return await asyncio.gather(*calls, return_exceptions=True)

    async def _call(self, address: str, packed: Packed, keys: list[str], values: Sequence[Any]) -> Any:
        serialized = importlib.import_module("distributed.protocol").to_serialize
        send_recv = importlib.import_module("distributed.core").send_recv
        comm = await self._connect(address)
        try:
            message = {"op": HANDLER, "digest": packed.digest, "keys": keys, "values": serialized(values)}
            reply = await send_recv(comm, **message)
            if reply is None:  # another scheduler than the one that has the handler for its workers
                _added.discard(self.client)
            elif reply["status"] == "unknown stage":
                reply = await send_recv(comm, **message, packed=serialized(packed))
            return reply
        finally:
            self.client.rpc.reuse(address, comm)

    async def _connect(self, address: str) -> Any:
        pool = self.client.rpc
        known = [*pool.available.get(address, ()), *pool.occupied.get(address, ())]
        if address in self._connected and all(comm.closed() for comm in known):
            raise OSError(f"the worker at {address} is gone")  # without the time that Dask tries to reach it again
        try:
            comm = await pool.connect(address, timeout=self.CONNECT)
        except OSError as exc:
            raise _UnreachableError(address) from exc
        self._connected.add(address)
        self._pause = self.SECONDS
        return comm

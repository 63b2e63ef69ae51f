"""Stages asked of the workers of Dask that hold the shards, by one message to each, past the scheduler.

A step by tasks passes through the client, the scheduler and the workers several times, which keeps the processors of
small clusters as busy as the blocks do. Here each worker has a handler, `StageHandler`, which the client calls by
`DirectCalls`. The stages, the shards and the threads are those that tasks have, too.

What is called for is a *plan*: a shard, as the worker that holds it with its key and its number, or several plans whose
results are combined. A worker that is called for several, the one of the first shard, calls others for what it lacks.
"""

from __future__ import annotations

import asyncio
import importlib
import time
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from theano.distributed.combining import Combination, Node
from theano.distributed.data import opened
from theano.distributed.workers import Packed, made

HANDLER = "theano_stage"


def run_stage(packed: Packed, shard: Any, kept: Sequence[Any], values: Sequence[Any], keeps: bool) -> Any:
    """Return what a stage finds in a shard; with what it keeps before that, if it keeps something."""
    with made(packed) as stage:
        given = [*(opened(a) for a in shard), *(a for some in kept for a in some)]
        arrays, found = stage(given, values)
        return (arrays[len(given) :], found) if keeps else found


#: ``(address, key, number)`` of a shard, or a tuple of plans.
Plan = tuple[Any, ...]

CONNECT = 3.0
"""How many seconds a worker that was not called before may take to be connected."""


def is_shard(plan: Plan) -> bool:
    """Tell whether a plan is one shard."""
    return isinstance(plan[0], str)


def leader(plan: Plan) -> str:
    """Return the address of the worker that is called for a plan: the one of its first shard."""
    return plan[0] if is_shard(plan) else leader(plan[0])


def _serialized(value: Any) -> Any:
    return importlib.import_module("distributed.protocol").to_serialize(value)  # there is a client or a worker of it


class Call(NamedTuple):
    """What workers are called for: a stage, the values that are the same everywhere, and how results are combined."""

    packed: Packed
    values: Sequence[Any]
    combination: Combination | None

    async def send(self, comm: Any, address: str, plans: Sequence[Plan]) -> Any:
        """Return the reply of the worker that plans know by an address, which is sent the stage if it lacks it."""
        send_recv = importlib.import_module("distributed.core").send_recv
        message = {
            "op": HANDLER, "digest": self.packed.digest, "address": address, "plans": plans,
            "values": _serialized(self.values), "combination": _serialized(self.combination),
        }  # fmt: skip
        reply = await send_recv(comm, **message)
        if reply is not None and reply["status"] == "unknown stage":
            reply = await send_recv(comm, **message, packed=_serialized(self.packed))
        return reply


# -- in a worker ------------------------------------------------------------------------------------------------------


class _NotHeldError(Exception):
    """The worker has a shard no more."""


class _RaisedError(Exception):
    """A stage raised: what Dask makes of its error, which is sent on as it is."""

    def __init__(self, reply: Mapping[str, Any]):
        super().__init__(reply)
        self.reply = reply


class StageHandler:
    """Answers, in a worker of Dask, with what a stage finds in its shards, and in those that are combined with them.

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
        self, digest: str, address: str, plans: Sequence[Plan], values: Sequence[Any], combination: Combination | None,
        packed: Packed | None = None,
    ) -> Mapping[str, Any]:  # fmt: skip
        """Return what the stage of a digest finds for some plans, or why there is nothing to return."""
        if packed is not None:
            self._stages[digest] = packed
            while len(self._stages) > self.KEPT:
                del self._stages[next(iter(self._stages))]
        if digest not in self._stages:
            return {"status": "unknown stage"}
        own, others = _parted(plans, address)
        # A worker that is short of memory is paused.
        if self._worker.status.name != "running" or not all(key in self._worker.data for _, key, _ in own):
            return {"status": "not held"}
        call = Call(self._stages[digest], list(values), combination)
        runs = {plan: asyncio.ensure_future(self._found(call, *plan[1:])) for plan in own}
        messages = [asyncio.ensure_future(self._asked(call, far, theirs)) for far, theirs in others.items()]
        done: list[Any] = await asyncio.gather(*runs.values(), *messages, return_exceptions=True)
        raised = [error.reply for error in done if isinstance(error, _RaisedError)]
        if raised:
            return min(raised, key=lambda reply: int(reply["at"]))
        if any(isinstance(error, BaseException) for error in done):
            return {"status": "not held"}
        found = dict(zip(runs, done, strict=False))
        for theirs, results in zip(others.values(), done[len(runs) :], strict=True):
            found.update(zip(theirs, results, strict=True))
        if not all(map(is_shard, plans)):
            offload = self._worker.executors["offload"]  # where Dask works on large messages
            loop = asyncio.get_running_loop()
            found = await loop.run_in_executor(offload, _all_combined, plans, found, combination)
        return {"status": "OK", "found": _serialized([found[plan] for plan in plans])}

    async def _found(self, call: Call, key: str, number: int) -> Any:
        async with self._free:
            shard = self._worker.data.get(key)
            if shard is None:
                raise _NotHeldError
            loop, threads = asyncio.get_running_loop(), self._worker.executors["default"]
            try:
                return await loop.run_in_executor(threads, run_stage, call.packed, shard, [], call.values, False)
            except Exception as exc:
                core = importlib.import_module("distributed.core")  # this is a worker of it
                raise _RaisedError({**core.error_message(exc, status="raised"), "at": number}) from exc

    async def _asked(self, call: Call, address: str, plans: Sequence[Plan]) -> Any:
        pool = self._worker.rpc
        comm = await pool.connect(address, timeout=CONNECT)
        try:
            reply = await call.send(comm, address, plans)
        finally:
            pool.reuse(address, comm)
        status = reply.get("status") if isinstance(reply, dict) else None
        if status == "raised":
            error = {name: _serialized(value) if isinstance(value, bytes) else value for name, value in reply.items()}
            raise _RaisedError(error)
        if status != "OK":
            raise _NotHeldError
        return reply["found"]


def _parted(plans: Sequence[Plan], here: str) -> tuple[list[Plan], dict[str, list[Plan]]]:
    """Return the shards that are worked on at an address, and what others are to be called for."""
    own: list[Plan] = []
    others: dict[str, list[Plan]] = {}
    for plan in plans:
        if leader(plan) != here:
            others.setdefault(leader(plan), []).append(plan)
        elif is_shard(plan):
            own.append(plan)
        else:
            more, far = _parted(plan, here)
            own += more
            for address, theirs in far.items():
                others.setdefault(address, []).extend(theirs)
    return own, others


def _all_combined(plans: Sequence[Plan], found: Mapping[Plan, Any], combination: Any) -> dict[Plan, Any]:
    """Return the results of plans by those of plans in them."""

    def of(plan: Plan) -> Any:
        return found[plan] if plan in found else combination.several(map(of, plan))

    return {plan: of(plan) for plan in plans}


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

    def __init__(self, client: Any):
        self.client = client
        self._begin = self._end = 0.0
        self._pause = self.SECONDS
        self._places: dict[tuple[str, ...], list[str]] = {}
        self._connected: set[str] = set()

    def found(
        self, packed: Packed, shards: Sequence[Any], values: Sequence[Any], nodes: Sequence[Node],
        combination: Combination | None = None,
    ) -> dict[int, Any]:  # fmt: skip
        """Return what a stage finds in shards that are results of tasks, as far as workers answer.

        Parameters
        ----------
        packed : Packed
            The stage.
        shards : list of Future
        values : list
            What is the same everywhere.
        nodes : list of Node
            What is wanted, of one shard or combined of several.
        combination : Combination, optional

        Returns
        -------
        dict
            The results of nodes, by their numbers.

        Raises
        ------
        Exception
            What the stage raised, that of the first such shard.
        """
        if not self._now():
            return {}
        try:
            places = self._where(shards)
            if not places:
                return {}
            wanted: dict[str, dict[int, Plan]] = {}
            for i, node in enumerate(nodes):
                plan = _plan(node, places, shards)
                wanted.setdefault(leader(plan), {})[i] = plan
            if len(wanted) > self.client.rpc.limit:
                return {}
            replies = self.client.sync(self._all, Call(packed, list(values), combination), wanted)
        except Exception:  # noqa: BLE001  (of Dask's: tasks find out whether the cluster is well)
            self._retreat()
            return {}
        return self._read([list(plans) for plans in wanted.values()], replies)

    def _read(self, wanted: Sequence[Sequence[int]], replies: Sequence[Any]) -> dict[int, Any]:
        """Return the results of nodes that workers replied with; raise what a stage raised."""
        if any(isinstance(reply, _UnreachableError) for reply in replies):
            self._retreat()
        found: dict[int, Any] = {}
        raised = []
        for numbers, reply in zip(wanted, replies, strict=True):
            status = reply.get("status") if isinstance(reply, dict) else None
            if status == "OK":
                found.update(zip(numbers, reply["found"], strict=True))
            elif status == "raised":
                raised.append(reply)
            else:
                self._forget()
        if raised:
            clean = importlib.import_module("distributed.core").clean_exception
            _, error, trace = clean(**min(raised, key=lambda reply: int(reply["at"])))
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

    def _where(self, shards: Sequence[Any]) -> list[str]:
        """Return which worker is called for each shard; none if some shard is nowhere yet."""
        keys = tuple(s.key for s in shards)
        if keys not in self._places:
            if self.client not in _added:
                self.client.register_worker_callbacks(add_handler)
                _added.add(self.client)
            holders, places, load = self.client.who_has(list(shards)), list[str](), Counter[str]()
            for key in keys:
                if not holders.get(key):
                    return []
                places.append(min(holders[key], key=lambda address: load[address]))
                load[places[-1]] += 1
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

    async def _all(self, call: Call, wanted: Mapping[str, Mapping[int, Plan]]) -> list[Any]:
        calls = [self._asked(call, address, list(plans.values())) for address, plans in wanted.items()]
        return await asyncio.gather(*calls, return_exceptions=True)

    async def _asked(self, call: Call, address: str, plans: Sequence[Plan]) -> Any:
        comm = await self._connect(address)
        try:
            reply = await call.send(comm, address, plans)
        finally:
            self.client.rpc.reuse(address, comm)
        if reply is None:  # another scheduler than the one that has the handler for its workers
            _added.discard(self.client)
        return reply

    async def _connect(self, address: str) -> Any:
        pool = self.client.rpc
        known = [*pool.available.get(address, ()), *pool.occupied.get(address, ())]
        if address in self._connected and all(comm.closed() for comm in known):
            raise OSError(f"the worker at {address} is gone")  # without the time that Dask tries to reach it again
        try:
            comm = await pool.connect(address, timeout=CONNECT)
        except OSError as exc:
            raise _UnreachableError(address) from exc
        self._connected.add(address)
        self._pause = self.SECONDS
        return comm


def _plan(node: Node, places: Sequence[str], shards: Sequence[Any]) -> Plan:
    if isinstance(node, list):
        return tuple(_plan(child, places, shards) for child in node)
    return places[node], shards[node].key, node

"""Stages asked of the workers of Dask that hold the shards, by one message to each, past the scheduler.

A step by tasks passes through the client, the scheduler and the workers several times, which keeps the processors of
small clusters as busy as the blocks do. Here each worker has a thread that waits for the client's `DirectCalls`, in
`StageHandler`, and no event loop on the way. The stages, the shards and the threads are those that tasks have, too.

What is called for is a *plan*: a shard, as the worker that holds it with its key and its number, or several plans whose
results are combined. A worker that is called for several, the one of the first shard, calls others for what it lacks.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from theano.distributed.combining import Combination, Node
from theano.distributed.connections import (
    HANDLER,
    Connection,
    Connections,
    NoHandlerError,
    Pickled,
    UnreachableError,
    unpickled,
)
from theano.distributed.data import opened
from theano.distributed.workers import Packed, made


def run_stage(packed: Packed, shard: Any, kept: Sequence[Any], values: Sequence[Any], keeps: bool) -> Any:
    """Return what a stage finds in a shard; with what it keeps before that, if it keeps something."""
    with made(packed) as stage:
        given = [*(opened(a) for a in shard), *(a for some in kept for a in some)]
        arrays, found = stage(given, values)
        return (arrays[len(given) :], found) if keeps else found


#: ``(address, key, number)`` of a shard, or a tuple of plans.
Plan = tuple[Any, ...]


def is_shard(plan: Plan) -> bool:
    """Tell whether a plan is one shard."""
    return isinstance(plan[0], str)


def leader(plan: Plan) -> str:
    """Return the address of the worker that is called for a plan: the one of its first shard."""
    return plan[0] if is_shard(plan) else leader(plan[0])


class StageCall:
    """What workers are called for: a stage, the values that are the same everywhere, and how results are combined."""

    def __init__(self, packed: Packed, values: Sequence[Any], combination: Combination | None):
        self.packed, self.values, self.combination = packed, values, combination
        self._same = Pickled((packed.digest, values, combination))

    def asked(self, connections: Connections, wanted: Mapping[str, Sequence[Plan]]) -> list[Any]:
        """Return the reply of each worker to plans, or the exception of one that did not reply."""

        def request(address: str) -> list[Pickled]:
            return [self._same, Pickled((address, wanted[address], None))]

        def again(address: str, reply: Any) -> list[Pickled] | None:
            return [self._same, Pickled((address, wanted[address], self.packed))] if reply == UNKNOWN else None

        return connections.ask(list(wanted), request, again)


# -- in a worker ------------------------------------------------------------------------------------------------------

#: Replies are one of these, "OK" with the results, or "raised" with the number of a shard and its error.
UNKNOWN, NOT_HELD = ("unknown stage",), ("not held",)


class _NotHeldError(Exception):
    """The worker has a shard no more."""


class StageHandler:
    """Answers, in a worker of Dask, with what a stage finds in its shards, and in those that are combined with them.

    A thread for each connection waits for requests. Stages run in the threads in which the worker runs its tasks. A
    shard is taken from the worker's memory, or from its disk, when a thread is free for it.

    Parameters
    ----------
    worker : distributed.Worker
    """

    #: How many stages are kept, since workers of a cluster live long.
    KEPT = 32

    def __init__(self, worker: Any):
        self._worker = worker
        self._stages: dict[str, Packed] = {}
        self._lock = threading.Lock()
        self._connections: Any = None  # made with the first connection, in its event loop

    async def converse(self, comm: Any, plain: bool = False) -> Any:
        """Let a thread answer what comes by a connection, until the other end closes it."""
        # The other end sends nothing until it has this, and nothing is read between this and the next line.
        await comm.write("OK")
        connection, loop, ended = Connection(comm, plain), asyncio.get_running_loop(), asyncio.Event()
        if self._connections is None:
            self._connections = Connections(self._worker.rpc, loop)

        def end() -> None:
            loop.call_soon_threadsafe(ended.set)

        threading.Thread(target=self._serve, args=(connection, end), name="Theano's stages", daemon=True).start()
        try:
            await ended.wait()
        finally:
            connection.close()
        return importlib.import_module("distributed.core").Status.dont_reply

    def _serve(self, connection: Connection, end: Callable[[], None]) -> None:
        try:
            connection.begin(second=True)
            while True:
                request = connection.receive()
                try:
                    reply = Pickled(self._answer(*map(unpickled, request)))
                except Exception:  # noqa: BLE001  (what cannot be pickled, or combined: tasks say what is wrong)
                    reply = Pickled(NOT_HELD)
                connection.send(reply)
        except (OSError, EOFError):
            pass  # the other end has closed it
        finally:
            try:
                end()
            except RuntimeError:
                pass  # the worker has ended

    def _answer(
        self, same: tuple[str, Sequence[Any], Combination | None], asked: tuple[str, Sequence[Plan], Packed | None]
    ) -> tuple[Any, ...]:
        """Return the results of a digest's stage for some plans, or the reason for none."""
        digest, values, combination = same
        address, plans, sent = asked
        packed = self._stage(digest, sent)
        if packed is None:
            return UNKNOWN
        own, others = _parted(plans, address)
        # A worker that is short of memory is paused.
        if self._worker.status.name != "running" or not all(key in self._worker.data for _, key, _ in own):
            return NOT_HELD
        threads = self._worker.executors["default"]
        runs = {plan: threads.submit(self._found, packed, plan[1], values) for plan in own}
        replies: list[Any] = []
        if others:
            replies = StageCall(packed, values, combination).asked(self._connections, others)
        done = {plan: _done(run, plan[2]) for plan, run in runs.items()}
        every = [*done.values(), *replies]
        raised = [reply for reply in every if isinstance(reply, tuple) and reply[0] == "raised"]
        if raised:
            return min(raised, key=lambda reply: int(reply[1]))
        if any(isinstance(reply, Exception) or reply == NOT_HELD for reply in every):
            return NOT_HELD
        found = {plan: results for plan, (_, results) in done.items()}
        for theirs, (_, results) in zip(others.values(), replies, strict=True):
            found.update(zip(theirs, results, strict=True))
        return "OK", [_combined(plan, found, combination) for plan in plans]

    def _stage(self, digest: str, sent: Packed | None) -> Packed | None:
        """Return the stage of a digest, which may have been sent along."""
        with self._lock:
            if sent is not None:
                self._stages[digest] = sent
                while len(self._stages) > self.KEPT:
                    del self._stages[next(iter(self._stages))]
            return self._stages.get(digest)

    def _found(self, packed: Packed, key: str, values: Sequence[Any]) -> Any:
        shard = self._worker.data.get(key)
        if shard is None:
            raise _NotHeldError
        return run_stage(packed, shard, [], values, False)


def _done(run: Future[Any], number: int) -> tuple[Any, ...]:
    """Return what became of a shard: its results, or its error as Dask sends that of a task."""
    try:
        return "OK", run.result()
    except _NotHeldError:
        return NOT_HELD
    except Exception as exc:  # noqa: BLE001  (raised in the client)
        said = importlib.import_module("distributed.core").error_message(exc)
        return "raised", number, {name: getattr(said[name], "data", None) for name in ("exception", "traceback")}


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


def _combined(plan: Plan, found: Mapping[Plan, Any], combination: Any) -> Any:
    """Return the results of a plan by those of plans in it."""
    return found[plan] if plan in found else combination.several(_combined(p, found, combination) for p in plan)


def add_handler(dask_worker: Any) -> None:
    """Let a worker answer to `DirectCalls`; Dask calls this in each worker, by the name of the parameter."""
    if HANDLER not in dask_worker.handlers:
        dask_worker.handlers[HANDLER] = StageHandler(dask_worker).converse


# -- in the client ----------------------------------------------------------------------------------------------------

#: Clients whose workers have the handler.
_added: weakref.WeakSet[Any] = weakref.WeakSet()
#: Those that all functions on one client share.
_shared: weakref.WeakKeyDictionary[Any, Connections] = weakref.WeakKeyDictionary()


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
        if client not in _shared:
            _shared[client] = Connections(client.rpc, client.loop.asyncio_loop)
        self._connections = _shared[client]

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
            The requested nodes, of one shard or combined of several.
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
            asked = {address: list(plans.values()) for address, plans in wanted.items()}
            replies = StageCall(packed, list(values), combination).asked(self._connections, asked)
        except Exception:  # noqa: BLE001  (of Dask's: tasks find out whether the cluster is well)
            self._retreat()
            return {}
        return self._read([list(plans) for plans in wanted.values()], replies)

    def _read(self, wanted: Sequence[Sequence[int]], replies: Sequence[Any]) -> dict[int, Any]:
        """Return the results of nodes that workers replied with; raise what a stage raised."""
        if any(isinstance(reply, NoHandlerError) for reply in replies):
            _added.discard(self.client)
        if any(isinstance(reply, UnreachableError) for reply in replies):
            self._retreat()
        else:
            self._pause = self.SECONDS
        found: dict[int, Any] = {}
        raised = []
        for numbers, reply in zip(wanted, replies, strict=True):
            if isinstance(reply, Exception) or reply == NOT_HELD:
                self._places.clear()
            elif reply[0] == "raised":
                raised.append(reply)
            else:
                found.update(zip(numbers, reply[1], strict=True))
        if raised:
            _, _, said = min(raised, key=lambda reply: int(reply[1]))
            _, error, trace = importlib.import_module("distributed.core").clean_exception(**said)
            raise error.with_traceback(trace)
        return found

    def _now(self) -> bool:
        """Tell whether this is a step in which workers are called."""
        now = time.monotonic()
        client = self.client
        if client.direct_to_workers is False or client.asynchronous or client.status != "running":
            return False
        # Dask (2026.8) keeps what `adapt` returns under this name only: neither cluster, client nor scheduler tell in
        # public whether there is one. Without the name, what adapts would see one step in `SECONDS`.
        if getattr(client.cluster, "_adaptive", None) is not None:
            return False
        if self._begin <= now < self._end:
            return True
        if now >= self._end:
            self._end = now + self.SECONDS
            self._places.clear()
        return False

    def _where(self, shards: Sequence[Any]) -> list[str]:
        """Return which worker is called for each shard; none if some shard is nowhere yet, or without a socket."""
        keys = tuple(s.key for s in shards)
        if keys not in self._places:
            if self.client not in _added:
                self.client.register_worker_callbacks(add_handler)
                _added.add(self.client)
            holders, places, load = self.client.who_has(list(shards)), list[str](), Counter[str]()
            for key in keys:
                if not holders.get(key) or not holders[key][0].startswith(("tcp://", "tls://")):
                    return []
                places.append(min(holders[key], key=lambda address: load[address]))
                load[places[-1]] += 1
            self._places[keys] = places
        return self._places[keys]

    def _retreat(self) -> None:
        """Let tasks do it for a while, and then for twice as long."""
        self._places.clear()
        self._begin = time.monotonic() + self._pause
        self._end = self._begin + self.SECONDS
        self._pause *= 2


def _plan(node: Node, places: Sequence[str], shards: Sequence[Any]) -> Plan:
    if isinstance(node, list):
        return tuple(_plan(child, places, shards) for child in node)
    return places[node], shards[node].key, node

"""Where the shards are, and who computes on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from theano.distributed.workers import Packed, made, pack

#: From the arrays of a shard and the values that are the same everywhere: the arrays that stay with the shard for
#: later stages, and the results that are sent back.
Stage = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]


class Engine(Protocol):
    """What a distributed function asks of an engine. Results are in the order of the shards."""

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Return a handle for each shard, whose arrays lie where they will be worked on."""

    def run(self, stage: Stage, shards: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage on each shard; return handles of the shards with what stays there, and the results."""


class SerialEngine:
    """One shard after the other, in this process.

    Only one shard is worked on at a time: with arrays that `numpy.memmap` maps, the data may be larger than the memory.
    """

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the shards as they are."""
        return [list(s) for s in shards]

    def run(self, stage: Stage, shards: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage on each shard."""
        found = [stage(s, values) for s in shards]
        return [f[0] for f in found], [f[1] for f in found]


class DaskEngine:
    """Workers of a `dask.distributed.Client`; what a lost worker had computed is computed again, since stages are pure.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any):
        self.client = client
        self._stages: dict[Stage, Any] = {}

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Send each shard to a worker, as the result of a task, which can be repeated where a worker is lost."""
        return [self.client.submit(list, list(s), pure=False) for s in shards]

    def run(self, stage: Stage, shards: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage where each shard is."""
        if stage not in self._stages:
            self._stages[stage] = self.client.submit(same, pack(stage), pure=False)
        there = self._stages[stage]
        found = [self.client.submit(_run, there, s, list(values), pure=False) for s in shards]
        kept = [self.client.submit(_item, f, 0, pure=False) for f in found]
        return kept, self.client.gather([self.client.submit(_item, f, 1, pure=False) for f in found])


class MPIEngine:
    """The ranks of a communicator: shard ``i`` is with rank ``i`` modulo their number, and all run the same program.

    Every rank gets the results of all shards, in their order, so that all go on with the same bits.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    """

    def __init__(self, comm: Any):
        self.comm = comm

    def _own(self, i: int) -> bool:
        return bool(i % self.comm.Get_size() == self.comm.Get_rank())

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Keep the shards that are this rank's."""
        return [list(s) if self._own(i) else None for i, s in enumerate(shards)]

    def run(self, stage: Stage, shards: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage on this rank's shards; a failure on one rank is raised on all."""
        kept: list[Any] = [None] * len(shards)
        results: dict[int, Any] = {}
        failure = None
        try:
            for i, s in enumerate(shards):
                if self._own(i):
                    kept[i], results[i] = stage(s, values)
        except Exception as exc:  # noqa: BLE001  (every rank must come to the exchange, where it is raised)
            failure = exc
        everything = {i: r for some in agree(self.comm, failure, results) for i, r in some.items()}
        return kept, [everything[i] for i in range(len(shards))]


def agree(comm: Any, failure: Exception | None, told: Any = None) -> list[Any]:
    """Return what each rank of a communicator tells, this process alone if it is None; raise one's failure on all."""
    if comm is None:
        if failure is not None:
            raise failure
        return [told]
    everybody = comm.allgather((None if failure is None else f"rank {comm.Get_rank()}: {failure}", told))
    if failure is not None:
        raise failure
    for message, _ in everybody:
        if message is not None:
            raise RuntimeError(message)
    return [each for _, each in everybody]


def same(thing: Any) -> Any:
    """Return what is given: as a task of Dask's, it is sent once, and goes from worker to worker as any result does."""
    return thing


def _run(packed: Packed, shard: Any, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    with made(packed) as stage:
        found: tuple[list[Any], list[Any]] = stage(shard, values)
        return found


def _item(pair: Sequence[Any], i: int) -> Any:
    return pair[i]


def is_client(on: Any) -> bool:
    """Tell whether something is a client of Dask's."""
    return hasattr(on, "submit") and hasattr(on, "gather")


def engine(on: Any) -> Engine:
    """Return the engine for what a user names: None, an engine, a Dask client, or a communicator of MPI."""
    if on is None:
        return SerialEngine()
    if is_client(on):
        return DaskEngine(on)
    if hasattr(on, "allgather") and hasattr(on, "Get_rank"):
        return MPIEngine(on)
    if hasattr(on, "scatter") and hasattr(on, "run"):
        found: Engine = on
        return found
    raise TypeError(f"distributed.function: on is to be None, a Dask client, a communicator or an Engine, not {on!r}")

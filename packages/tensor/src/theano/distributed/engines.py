"""Where the shards are, and who computes on them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from theano.distributed.data import Made, mapped, opened
from theano.distributed.workers import Packed, made, pack


class Stage(Protocol):
    """What is computed for a shard.

    Attributes
    ----------
    keeps : int
        How many arrays it makes that stay with the shard for later stages.
    """

    keeps: int

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any], /) -> tuple[list[Any], list[Any]]:
        """Return the shard's arrays, those that stay behind the others, and the results that are sent back.

        It is given the shard's arrays, and values that are the same everywhere.
        """


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
        kept, results = [], []
        for shard in shards:
            arrays, found = stage([opened(a) for a in shard], values)
            kept.append([*shard, *arrays[len(shard) :]])
            results.append(found)
        return kept, results


class _Held(NamedTuple):
    """A shard that workers of Dask have: its arrays, or what makes them anew each time, and what stages have kept."""

    arrays: Any
    lazy: bool
    kept: tuple[Any, ...] = ()


class DaskEngine:
    """Workers of a `dask.distributed.Client`; what a lost worker had computed is computed again, since stages are pure.

    An array that `numpy.memmap` maps is not sent: workers open the file, for as long as a task needs it. A dask array
    is made anew by each step and dropped, unless it was persisted. So the data may be larger than the memory of all.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any):
        self.client = client
        self._stages: dict[Stage, Any] = {}

    def scatter(self, shards: Sequence[Sequence[Any]]) -> list[Any]:
        """Send each shard to a worker, as the result of a task, which can be repeated where a worker is lost."""
        return [self._held([mapped(a) for a in s]) for s in shards]

    def _held(self, arrays: list[Any]) -> _Held:
        if not any(isinstance(a, (np.ndarray, Made)) for a in arrays):
            return _Held(arrays, False)  # numbers, and names of files
        lazy = any(isinstance(a, Made) and a.lazy for a in arrays)
        given = [a.source if isinstance(a, Made) else a for a in arrays]
        # In one task: what belongs to one shard lies with one worker.
        return _Held(_delayed(list)(given) if lazy else self.client.submit(list, given, pure=False), lazy)

    def run(self, stage: Stage, shards: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage where each shard is."""
        if stage not in self._stages or self._stages[stage].status in ("error", "cancelled", "lost"):
            self._stages[stage] = self.client.submit(same, pack(stage), pure=False)
        found = self._begun(self._stages[stage], shards, list(values), bool(stage.keeps))
        if not stage.keeps:
            return list(shards), self.client.gather(found)
        kept = [
            s._replace(kept=(*s.kept, self.client.submit(_item, f, 0, pure=False)))
            for s, f in zip(shards, found, strict=True)
        ]
        return kept, self.client.gather([self.client.submit(_item, f, 1, pure=False) for f in found])

    def _begun(self, there: Any, shards: Sequence[_Held], values: list[Any], keeps: bool) -> list[Any]:
        """Return the futures of what a stage finds for each shard."""
        if not any(s.lazy for s in shards):
            return [self.client.submit(_run, there, s.arrays, list(s.kept), values, keeps, pure=False) for s in shards]
        run = _delayed(_run)
        # One graph: Dask works on one shard to its end before it makes the next.
        found: list[Any] = self.client.compute(
            [run(there, s.arrays, list(s.kept), values, keeps) for s in shards], optimize_graph=False
        )
        return found


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
                    arrays, results[i] = stage([opened(a) for a in s], values)
                    kept[i] = [*s, *arrays[len(s) :]]
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


def _run(packed: Packed, shard: Any, kept: Sequence[Any], values: Sequence[Any], keeps: bool) -> Any:
    """Return what a stage finds in a shard; with what it keeps before that, if it keeps something."""
    with made(packed) as stage:
        given = [*(opened(a) for a in shard), *(a for some in kept for a in some)]
        arrays, found = stage(given, values)
        return (arrays[len(given) :], found) if keeps else found


def _delayed(function: Any) -> Any:
    return importlib.import_module("dask").delayed(function, pure=False)  # there is a client of Dask's


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

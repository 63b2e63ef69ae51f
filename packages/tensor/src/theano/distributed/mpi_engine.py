"""Ranks of MPI as an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.distributed.data import opened
from theano.distributed.engines import Stage


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

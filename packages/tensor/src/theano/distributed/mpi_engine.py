"""Ranks of MPI as an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from theano.distributed.combining import Combination, Node, first, tree
from theano.distributed.data import opened
from theano.distributed.engines import Stage


class MPIEngine:
    """The ranks of a communicator: shard ``i`` is with rank ``i`` modulo their number, and all run the same program.

    Every rank gets the results of all shards, or what was combined of them, so that all go on with the same bits.

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

    def run(
        self, stage: Stage, shards: Sequence[Any], values: Sequence[Any], combination: Combination | None = None
    ) -> tuple[list[Any], list[list[Any]]]:
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
        if combination is not None:
            return kept, [self._combined(combination, len(shards), results, failure)]
        everything = {i: r for some in agree(self.comm, failure, results) for i, r in some.items()}
        return kept, [everything[i] for i in range(len(shards))]

    def _combined(self, combination: Combination, shards: int, results: Any, failure: Exception | None) -> list[Any]:
        """Return what a combination makes of the results, on every rank, by messages along the tree."""
        told = None if failure is None else _Failed(f"rank {self.comm.Get_rank()}: {failure}")
        root = tree(shards)
        whole = self._up(combination, root, results, told)
        # The first shard, and so the root, is with the first rank.
        whole = self.comm.bcast(whole, root=0)
        if failure is not None:
            raise failure
        if isinstance(whole, _Failed):
            raise RuntimeError(whole.message)
        return whole  # type: ignore[no-any-return]  # of MPI's

    def _up(self, combination: Combination, node: Node, results: Any, told: Any) -> Any:
        """Return what a node makes, on the rank that has its first shard, or who failed; None on other ranks.

        All ranks go through the same tree in the same order, so that no two wait for each other.
        """
        size, rank = self.comm.Get_size(), self.comm.Get_rank()
        if not isinstance(node, list):
            return (told or results[node]) if self._own(node) else None
        leader = first(node) % size
        found = []
        for child in node:
            owner, value = first(child) % size, self._up(combination, child, results, told)
            if owner != leader and rank == owner:
                self.comm.send(value, dest=leader, tag=_TAG)
            elif owner != leader and rank == leader:
                value = self.comm.recv(source=owner, tag=_TAG)
            found.append(value)
        if rank != leader:
            return None
        failed = next((value for value in found if isinstance(value, _Failed)), None)
        return failed or combination.several(found)


class _Failed(NamedTuple):
    """What goes up the tree instead of results, where a stage raised."""

    message: str


#: Of messages along the tree: those of a program's own have others.
_TAG = 20_011


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

"""Ranks of MPI as an engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from theano.distributed.combining import Combination, tree
from theano.distributed.data import opened
from theano.distributed.engines import Stage
from theano.records import NamedTuple


class MPIEngine:
    """The ranks of a communicator: shard ``i`` is with rank ``i`` modulo their number, and all run the same program.

    Every rank gets the results of all shards, or what was combined of them, so that all go on with the same bits.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    """

    SMALL = 4096
    """A result up to this many bytes is sent to every rank in the message that reports success."""

    def __init__(self, comm: Any):
        self.comm = comm
        self._slices, self._workspace = _Slices(comm), _Workspace()

    def _own(self, i: int) -> bool:
        return bool(i % self.comm.Get_size() == self.comm.Get_rank())

    def scatter(self, shards: Sequence[Sequence[int | np.integer]]) -> list[Any]:
        """Keep the shards that are this rank's."""
        return [list(s) if self._own(i) else None for i, s in enumerate(shards)]

    def run(
        self, stage: Stage, shards: Sequence[Any], values: Sequence[Any], combination: Combination | None = None
    ) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage on this rank's shards; a failure on one rank is raised on all."""
        kept: list[Any] = [None] * len(shards)
        results: dict[int, list[Any]] = {}
        failure = None
        try:
            for i, s in enumerate(shards):
                if self._own(i):
                    arrays, results[i] = stage([opened(a) for a in s], values)
                    kept[i] = [*s, *arrays[len(s) :]]
        except Exception as exc:  # noqa: BLE001  (every rank must come to the exchange, where it is raised)
            failure = exc
        if combination is not None:
            own = {i: [np.asarray(a) for a in some] for i, some in results.items()}
            return kept, [self._combined(combination, len(shards), own, failure)]
        everything = _merged(agree(self.comm, failure, results))
        return kept, [everything[i] for i in range(len(shards))]

    def _combined(
        self,
        combination: Combination,
        shards: int,
        own: Mapping[int, Sequence[np.ndarray]],
        failure: Exception | None,
    ) -> list[Any]:
        """Return what a combination makes of the results, on every rank.

        Every rank combines what is small. Large results of a kind and dtype are one vector of each shard, of which a
        rank combines a slice; it sends and gets about twice the vector, however many ranks there are.
        """
        alone = self.comm.Get_size() == 1
        small = math.inf if alone else self.SMALL
        told = {i: [a if a.nbytes <= small else _Form(a.shape, a.dtype.str) for a in some] for i, some in own.items()}
        everything = _merged(agree(None if alone else self.comm, failure, told))
        whole: list[Any] = [None] * len(combination.kinds)
        vectors: dict[tuple[str, str], list[int]] = {}
        for k, kind in enumerate(combination.kinds):
            parts = [[everything[i][k]] for i in range(shards)]
            forms = {part if isinstance(part, _Form) else None for (part,) in parts}
            form = forms.pop()
            if forms:  # all ranks see it, and none waits for another
                raise ValueError(f"distributed: result {k} has several shapes or dtypes on the shards: {form}, {forms}")
            if form is None:
                (whole[k],) = Combination((kind,)).at(tree(shards), parts.__getitem__)
            else:
                vectors.setdefault((kind, form.dtype), []).append(k)
        for (kind, dtype), places in vectors.items():
            shapes = [everything[0][k].shape for k in places]
            ends = np.cumsum([math.prod(shape) for shape in shapes])
            mine = self._vectors({i: [some[k] for k in places] for i, some in own.items()}, int(ends[-1]), dtype)
            found = self._slices.combined(kind, shards, mine, int(ends[-1]), np.dtype(dtype))
            for k, shape, part in zip(places, shapes, np.split(found, ends[:-1]), strict=True):
                whole[k] = part.reshape(shape)
        return whole

    def _vectors(self, own: Mapping[int, Sequence[np.ndarray]], length: int, dtype: str) -> dict[int, np.ndarray]:
        """Return one vector of the arrays of each shard."""
        if all(len(arrays) == 1 for arrays in own.values()):
            return {i: array.ravel() for i, (array,) in own.items()}
        rows = self._workspace.array((len(own), length), np.dtype(dtype))
        for row, arrays in zip(rows, own.values(), strict=True):
            np.concatenate(arrays, axis=None, out=row)
        return dict(zip(own, rows, strict=True))


class _Form(NamedTuple):
    """What a rank tells of a large result."""

    shape: tuple[int, ...]
    dtype: str


class _Workspace:
    """Memory that each step uses again: a system gives new memory page by page, which takes longer than messages do."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
        """Return an array that is good until the next one is asked for."""
        size = math.prod(shape) * dtype.itemsize
        if size > self._bytes.size:
            self._bytes = np.empty(size, np.uint8)
        return self._bytes[:size].view(dtype).reshape(shape)


class _Slices:
    """Combines vectors of shards by slices, of which each rank of a communicator does one.

    All kinds of combination work on one number after the other, so that slices have the bits of the whole.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    """

    def __init__(self, comm: Any):
        self._comm = comm
        self._workspace = _Workspace()

    def combined(
        self, kind: str, shards: int, own: Mapping[int, np.ndarray], length: int, dtype: np.dtype[Any]
    ) -> np.ndarray:
        """Return, on every rank, what the vectors of all shards make together.

        Parameters
        ----------
        kind : str
            A key of `COMBINATIONS`.
        shards : int
            How many there are on all ranks.
        own : dict from int to ndarray
            The vectors of the shards that this rank has.
        length : int
            Of a vector.
        dtype : numpy.dtype

        Returns
        -------
        ndarray, shape (length,)
        """
        from mpi4py import MPI  # optional; the communicator is one of its

        comm = self._comm
        size, rank = comm.Get_size(), comm.Get_rank()
        cuts = np.arange(size + 1) * length // size
        begins, counts, each = cuts[:-1], np.diff(cuts), cuts[rank + 1] - cuts[rank]
        number = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
        slices = self._workspace.array((shards, int(each)), dtype)
        nothing = np.empty(0, dtype)
        for start in range(0, shards, size):  # of these every rank has one; of the last ones, the first ranks
            has = np.arange(size) < shards - start
            sent = [own.get(start + rank, nothing), counts * has[rank], begins, number]
            comm.Alltoallv(sent, [slices[start : start + size], each * has, each * np.arange(size), number])
        whole = np.empty(length, dtype)
        (mine,) = Combination((kind,)).at(tree(shards), lambda i: [slices[i]])
        whole[cuts[rank] : cuts[rank + 1]] = mine
        comm.Allgatherv(MPI.IN_PLACE, [whole, counts, begins, number])
        number.Free()
        return whole


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


def _merged(some: Sequence[Mapping[int, Any]]) -> dict[int, list[np.ndarray | _Form]]:
    """Return what all ranks told of their shards, by the shards' numbers."""
    return {i: each for told in some for i, each in told.items()}

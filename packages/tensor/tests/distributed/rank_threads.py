"""A communicator whose ranks are threads of one process: of MPI, it has what `MPIEngine` uses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np


def _number(size: int) -> Any:
    made = SimpleNamespace(size=size, Free=lambda: None)
    made.Commit = lambda: made
    return made


#: Stands in for ``mpi4py.MPI``.
MPI = SimpleNamespace(IN_PLACE=object(), BYTE=SimpleNamespace(Create_contiguous=_number))


def _bytes(array: np.ndarray, begin: int, count: int, number: Any) -> np.ndarray:
    """Return some of the bytes of an array, from a place in it, to read or write."""
    found: np.ndarray = array.reshape(-1).view(np.uint8)[begin * number.size : (begin + count) * number.size]
    assert np.shares_memory(found, array) or not found.size
    assert found.size == count * number.size, "beyond its end"
    return found


class Ranks:
    """A communicator; `each` calls something in all its ranks."""

    def __init__(self, size: int):
        self._size, self._here = size, threading.local()
        self._barrier, self._told = threading.Barrier(size, timeout=60), [None] * size

    def each(self, call: Callable[[], Any]) -> list[Any]:
        def one(rank: int) -> Any:
            self._here.rank = rank
            try:
                return call()
            except BaseException:
                self._barrier.abort()  # none waits for it
                raise

        with ThreadPoolExecutor(self._size) as threads:
            return [run.result() for run in [threads.submit(one, rank) for rank in range(self._size)]]

    def Get_size(self) -> int:
        return self._size

    def Get_rank(self) -> int:
        return int(self._here.rank)

    def allgather(self, thing: Any) -> list[Any]:
        self._told[self.Get_rank()] = thing
        self._barrier.wait()
        found = list(self._told)
        self._barrier.wait()
        return found

    def Alltoallv(self, sent: Any, received: Any) -> None:
        array, counts, begins, number = sent
        pieces = [_bytes(array, b, n, number).copy() for b, n in zip(begins, counts, strict=True)]
        self._receive([theirs[self.Get_rank()] for theirs in self.allgather(pieces)], *received)

    def Allgatherv(self, sent: Any, received: Any) -> None:
        assert sent is MPI.IN_PLACE
        array, counts, begins, number = received
        rank = self.Get_rank()
        self._receive(self.allgather(_bytes(array, begins[rank], counts[rank], number).copy()), *received)

    def _receive(self, pieces: Any, array: np.ndarray, counts: Any, begins: Any, number: Any) -> None:
        for piece, b, n in zip(pieces, begins, counts, strict=True):
            _bytes(array, b, n, number)[:] = piece

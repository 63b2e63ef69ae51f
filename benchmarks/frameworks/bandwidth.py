"""What the memory gives: not a framework, but the yardstick for rows that only move numbers.

For a row that reads and writes so many bytes, it moves as many through NumPy's addition into an existing array (two
read, one written), its copy (one, one), and, where the row writes nothing, its dot product (two, none). The best
one counts. With more threads, each moves its share, over and over, so that nobody waits for anybody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from benchmarks.frameworks.base import THREADS, Built, Framework, bytes_moved, clock
from benchmarks.workload import Workload

ITEM = 8
REPEATS = 7


class Bandwidth(Framework):
    """Moves as many bytes as a workload must; a call tells how long the best way took."""

    version = np.__version__

    def build(self, workload: Workload, dtype: str) -> Built:
        """Allocate operands for the fastest way."""
        moved = bytes_moved(workload, dtype)
        before = clock()
        ways = ("read",) if workload.writes < workload.reads / 4 else ("add", "copy")
        movers = [self._mover(way, moved) for way in ways]
        best = min(movers, key=lambda mover: min(mover() for _ in range(REPEATS)))
        return Built(best, (), [], {}, {"total": clock() - before, "bytes": moved}, times_itself=True)

    @staticmethod
    def _mover(way: str, moved: float) -> Callable[[], float]:
        """Return a function that moves about so many bytes once per thread's share, and gives the seconds."""
        arrays = {"read": 2, "copy": 2, "add": 3}[way]
        length = max(1, int(moved / THREADS / arrays / ITEM))
        operands = [[np.ones(length) for _ in range(arrays)] for _ in range(THREADS)]

        def once(own: list[np.ndarray]) -> None:
            if way == "read":
                np.dot(*own)
            elif way == "copy":
                np.copyto(own[1], own[0])
            else:
                np.add(own[0], own[1], out=own[2])

        return lambda: timed_together(once, operands, 10)


def timed_together(once: Callable, operands: list[list[np.ndarray]], times: int) -> float:
    """Return how long each of some threads takes for its operands, on average; one alone is not started."""
    if len(operands) == 1:
        before = clock()
        once(operands[0])
        return clock() - before

    def work(own: list[np.ndarray]) -> None:
        for _ in range(times):
            once(own)

    threads = [threading.Thread(target=work, args=(own,)) for own in operands]
    before = clock()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (clock() - before) / times

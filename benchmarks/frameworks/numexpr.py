"""numexpr: expressions in blocks, compiled for a little interpreter."""

from __future__ import annotations

import numexpr

from benchmarks.frameworks.base import THREADS, Built, Framework, NotAvailable, clock, copies
from benchmarks.workload import Workload


class NumExpr(Framework):
    """Workloads that have been written for it."""

    version = numexpr.__version__

    def __init__(self) -> None:
        numexpr.set_num_threads(THREADS)

    def build(self, workload: Workload, dtype: str) -> Built:
        """Evaluate it once."""
        if workload.numexpr is None:
            raise NotAvailable("not an expression of numexpr")
        inputs, _ = workload.arrays(dtype)
        text = workload.numexpr
        before = clock()
        first = numexpr.evaluate(text, local_dict=inputs)
        seconds = {"total": clock() - before}
        return Built(lambda: numexpr.evaluate(text, local_dict=inputs), (), copies([first]), {}, seconds)

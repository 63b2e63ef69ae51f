"""What the arithmetic units give: not a framework, but the yardstick for rows that only multiply and add.

For a row of so many floating-point operations it takes the time of a product of two matrices by NumPy's BLAS, as large
as the caches like, and scales that to as many operations. With more threads, each computes a product of its own.
"""

from __future__ import annotations

import numpy as np

from benchmarks.frameworks.bandwidth import timed_together
from benchmarks.frameworks.base import THREADS, Built, Framework, NotAvailable, clock
from benchmarks.workload import Workload

LENGTH = 512
FEWEST = 1e6  # operations; below, a call costs more than computing


class Peak(Framework):
    """Computes as many operations as a workload must; a call tells how long that took."""

    version = np.__version__

    def build(self, workload: Workload, dtype: str) -> Built:
        """Allocate the matrices."""
        if not workload.flops:
            raise NotAvailable("arithmetic is not its limit")
        if workload.flops < FEWEST:
            raise NotAvailable("so few operations are no matter of arithmetic")
        before = clock()
        kind = "float32" if dtype == "float32" else "float64"
        operands = [[np.ones((LENGTH, LENGTH), kind) for _ in range(3)] for _ in range(THREADS)]
        share = workload.flops / (2 * LENGTH**3 * THREADS)

        def call() -> float:
            return share * timed_together(lambda own: np.dot(own[0], own[1], out=own[2]), operands, 1)

        call()
        return Built(call, (), [], {}, {"total": clock() - before, "flops": workload.flops}, times_itself=True)

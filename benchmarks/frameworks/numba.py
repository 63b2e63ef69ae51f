"""Numba: loops written out by hand, where a workload has one."""

from __future__ import annotations

from typing import Any

import numba

from benchmarks.frameworks.base import Built, Framework, NotAvailable, clock, copies
from benchmarks.workload import Workload


class Numba(Framework):
    """A plain loop under ``numba.njit``."""

    version = numba.__version__

    def build(self, workload: Workload, dtype: str) -> Built:
        """Compile the plain loop and call it once."""
        if workload.plain is None:
            raise NotAvailable("no loop by hand")
        inputs, _ = workload.arrays(dtype)
        function: Any = numba.njit(workload.plain)
        arguments = tuple(inputs.values())
        before = clock()
        results = function(*arguments)
        return Built(function, arguments, copies(results), {}, {"total": clock() - before})

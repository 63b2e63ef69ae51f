"""What the memory of a device gives: not a framework, but the yardstick for rows that only move numbers there.

For a row that reads and writes so many bytes, PyTorch copies half as many from one array on the device to another.
"""

from __future__ import annotations

import math

from benchmarks.frameworks.base import Built, Framework, bytes_moved, clock
from benchmarks.frameworks.torch import DEVICE, device_name, torch, wait
from benchmarks.workload import Workload

AT_ONCE = 4e9  # bytes between two looks at the clock: 2 ms where memory moves 2 TB/s


class DeviceCopy(Framework):
    """Moves as many bytes as a workload must; a call tells how long that took."""

    version = torch.__version__
    device = device_name()

    def build(self, workload: Workload, dtype: str) -> Built:
        """Allocate both arrays."""
        moved = bytes_moved(workload, dtype)
        before = clock()
        source = torch.ones(int(moved / 2), dtype=torch.uint8, device=DEVICE)
        target, times = torch.empty_like(source), math.ceil(AT_ONCE / moved)

        def call() -> float:
            before = clock()
            for _ in range(times):
                target.copy_(source)
            wait()
            return (clock() - before) / times

        call()
        return Built(call, (), [], {}, {"total": clock() - before, "bytes": moved}, times_itself=True)

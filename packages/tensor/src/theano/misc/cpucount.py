"""How many processors there are."""

from __future__ import annotations

import os


def cpuCount() -> int:
    """Return how many processors this process may run on.

    Examples
    --------
    >>> cpuCount() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

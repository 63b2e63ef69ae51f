"""Measurements as ratios: how many times as long the best peer takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

OURS = "theano"
NOT_PEERS = {OURS, "bandwidth"}
# Those that compile nothing, or nothing that takes time.
INTERPRETERS = {"numpy", "numexpr", "torch", "torch-channels-last"}
# From here on two figures count as equal.
EQUAL = 0.97
NEEDED_SHARE = 0.9


def right(cell: dict[str, Any], key: str) -> bool:
    """Tell whether a cell has a figure, for a right result."""
    return key in cell and cell.get("right", True)


def best_peer(row: dict[str, Any], key: str = "median_ms") -> str | None:
    """Return the name of the fastest of the others."""
    found = [name for name, cell in row["cells"].items() if name not in NOT_PEERS and right(cell, key)]
    return min(found, key=lambda name: row["cells"][name][key], default=None)


def ratio(row: dict[str, Any], key: str = "median_ms") -> float | None:
    """Return the best peer's time by ours: above 1 we are faster."""
    peer = best_peer(row, key)
    ours = row["cells"].get(OURS, {})
    if peer is None or not right(ours, key):
        return None
    return row["cells"][peer][key] / ours[key]


def bandwidth_share(row: dict[str, Any]) -> float | None:
    """Return the part that we reach of the memory's speed in the same run, for a row that memory limits."""
    memory, ours = row["cells"].get("bandwidth", {}), row["cells"].get(OURS, {})
    if "median_ms" not in memory or not right(ours, "median_ms"):
        return None
    return memory["median_ms"] / ours["median_ms"]


def gigabytes_per_second(row: dict[str, Any]) -> float | None:
    """Return the memory's speed at the size of a row."""
    memory = row["cells"].get("bandwidth", {})
    if "median_ms" not in memory:
        return None
    return memory["build_s"]["bytes"] / memory["median_ms"] / 1e6


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean.

    Examples
    --------
    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


Rated = list[tuple[float, dict[str, Any]]]


def losses(rows: Iterable[dict[str, Any]], key: str = "median_ms", below: float = 1.0) -> Rated:
    """Return the rows on which a peer is faster, the worst first."""
    rated = [(ratio(row, key), row) for row in rows]
    lost = [(value, row) for value, row in rated if value is not None and value < below]
    return sorted(lost, key=lambda pair: pair[0])

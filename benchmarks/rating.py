"""Measurements as ratios: how many times as long the best peer takes."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

# This Theano, on a device and on the processor; of a row that has both, the first counts.
OURS = ("theano-gpu", "theano")
# What the machine gives: frameworks that only say how fast a row could be.
YARDSTICKS = {"bandwidth": "memory", "peak": "arithmetic", "copy-gpu": "the device's memory"}
NOT_PEERS = {*OURS, *YARDSTICKS}
# Those that compile nothing, or nothing that takes time.
INTERPRETERS = {"numpy", "numexpr", "torch", "torch-channels-last", "torch-gpu"}
# From here on two figures count as equal.
EQUAL = 0.97
# Below this share of what the machine gives, a row is a finding even where no peer is faster.
NEEDED_SHARE = 0.8


def right(cell: dict[str, Any], key: str) -> bool:
    """Tell whether a cell has a figure, for a right result."""
    return key in cell and cell.get("right", True)


def ours(row: dict[str, Any]) -> dict[str, Any]:
    """Return what this Theano made of a row.

    Examples
    --------
    >>> ours({"cells": {"theano-gpu": {"median_ms": 2.0}, "torch-gpu": {"median_ms": 3.0}}}), ours({"cells": {}})
    ({'median_ms': 2.0}, {})
    """
    return next((row["cells"][name] for name in OURS if name in row["cells"]), {})


def best_peer(row: dict[str, Any], key: str = "median_ms") -> str | None:
    """Return the name of the fastest of the others."""
    found = [name for name, cell in row["cells"].items() if name not in NOT_PEERS and right(cell, key)]
    return min(found, key=lambda name: row["cells"][name][key], default=None)


def ratio(row: dict[str, Any], key: str = "median_ms") -> float | None:
    """Return the best peer's time by ours: above 1 we are faster."""
    peer, own = best_peer(row, key), ours(row)
    if peer is None or not right(own, key):
        return None
    return row["cells"][peer][key] / own[key]


def floor(row: dict[str, Any]) -> tuple[float, str] | None:
    """Return the least milliseconds in which the machine can do a row, as measured in the same run, and what limits it.

    Each yardstick tells how long its part alone takes; a row cannot be faster than the slowest of them (the roofline
    model, S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
    architectures", Communications of the ACM 52 (2009) 65-76).

    Examples
    --------
    >>> floor({"cells": {"bandwidth": {"median_ms": 2.0}, "peak": {"median_ms": 0.5}}})
    (2.0, 'bandwidth')
    """
    known = [(cell["median_ms"], name) for name in YARDSTICKS if "median_ms" in (cell := row["cells"].get(name, {}))]
    return max(known, default=None)


def share(row: dict[str, Any]) -> float | None:
    """Return the part that we reach of what the machine gives, for a row whose floor is known."""
    least, own = floor(row), ours(row)
    return least[0] / own["median_ms"] if least is not None and right(own, "median_ms") else None


def rate_of_machine(row: dict[str, Any]) -> str:
    """Return how fast what limits a row is, with its unit.

    Examples
    --------
    >>> rate_of_machine({"cells": {"peak": {"median_ms": 0.5, "build_s": {"flops": 2e7}}}})
    '40.0 GFLOP/s'
    """
    least = floor(row)
    if least is None:
        return ""
    built = row["cells"][least[1]]["build_s"]
    unit, amount = ("GB/s", built["bytes"]) if "bytes" in built else ("GFLOP/s", built["flops"])
    return f"{amount / least[0] / 1e6:.1f} {unit}"


@cache
def _reasons() -> list[tuple[re.Pattern[str], str]]:
    with (Path(__file__).parent / "tried.toml").open("rb") as file:
        return [(re.compile(entry["rows"]), entry["because"]) for entry in tomllib.load(file)["slower"]]


def reason(row: dict[str, Any]) -> str:
    """Return why a peer is faster on a row, as ``tried.toml`` says; an empty text if it does not.

    Examples
    --------
    >>> row = {"name": "c_sum", "dtype": "float32", "threads": 1}
    >>> reason(row), reason(row | {"name": "a_scalar_add1"})
    ('Float32 is summed in float64, as `acc_dtype` says: half the lanes, and a conversion for each vector.', '')
    """
    named = f"{row['name']} {row['dtype']} t{row['threads']}"
    return next((because for rows, because in _reasons() if rows.match(named)), "")


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

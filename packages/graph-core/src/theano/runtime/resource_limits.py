"""How many threads one call may use, and how much memory exists: the requests and the limits.

The loader itself looks at the affinity mask and at the machine's memory; control groups and the environment are read
here, when a function is compiled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate

#: Where Linux shows control groups, and which of them this process is in.
CONTROL_GROUPS = "/sys/fs/cgroup"
MEMBERSHIP = "/proc/self/cgroup"


def requested_threads(flag: int, openmp: bool | None, environment: Mapping[str, str]) -> int:
    """Return how many threads were asked for; 0 if the number is unset.

    Parameters
    ----------
    flag : int
        The flag ``threads``; it goes before everything else.
    openmp : bool or None
        The flag ``openmp``, if it was set.
    environment : mapping
        ``OMP_NUM_THREADS`` is read; of a list for nested loops, the first number counts.

    Examples
    --------
    >>> threads = requested_threads
    >>> threads(0, None, {"OMP_NUM_THREADS": "4,2"}), threads(3, False, {}), threads(0, False, {})
    (4, 3, 1)
    """
    if flag > 0:
        return flag
    if openmp is False:
        return 1
    first = environment.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() else 0


@cache
def cpu_quota(control_groups: str = CONTROL_GROUPS, membership: str = MEMBERSHIP) -> int:
    """Return how many CPUs the quotas of this process's control groups amount to; 0 without a quota.

    A part of a CPU counts as one from a half on.
    """
    groups = _groups("cpu", control_groups, membership)
    quotas = [quota for version, group in groups if (quota := (_quota_1 if version == 1 else _quota_2)(group))]
    return max(1, int(min(quotas) + 0.5)) if quotas else 0


@cache
def memory_limit(control_groups: str = CONTROL_GROUPS, membership: str = MEMBERSHIP) -> int:
    """Return how many bytes this process's control groups may hold; 0 without a limit."""
    names = {1: "memory.limit_in_bytes", 2: "memory.max"}
    groups = _groups("memory", control_groups, membership)
    texts = [_read(group, names[version]).strip() for version, group in groups]
    # Version 1 says "no limit" with a number that no machine has.
    limits = [limit for text in texts if text.isdecimal() and (limit := int(text)) < 1 << 60]
    return min(limits, default=0)


def _groups(controller: str, control_groups: str, membership: str) -> Iterator[tuple[int, str]]:
    """Yield version and directory of the groups that this process is in, for one controller."""
    for line in _read(membership).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:  # version 2: one tree; beside version 1 it is called unified
            for tree in (control_groups, os.path.join(control_groups, "unified")):
                yield from ((2, group) for group in _up(tree, path))
        elif controller in controllers.split(","):
            for tree in (os.path.join(control_groups, controllers), os.path.join(control_groups, controller)):
                yield from ((1, group) for group in _up(tree, path))


def _up(tree: str, path: str) -> Iterator[str]:
    """Yield a group's directory and those of the groups around it; in a container only the outermost may be there."""
    return accumulate((part for part in path.split("/") if part), os.path.join, initial=tree)


def _quota_2(group: str) -> float:
    return _ratio(*(_read(group, "cpu.max").split() or ["max"]))


def _quota_1(group: str) -> float:
    return _ratio(_read(group, "cpu.cfs_quota_us").strip(), _read(group, "cpu.cfs_period_us").strip())


def _ratio(quota: str, period: str = "100000") -> float:
    """Return CPUs, or 0 for no limit."""
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else 0.0


def _read(*path: str) -> str:
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""

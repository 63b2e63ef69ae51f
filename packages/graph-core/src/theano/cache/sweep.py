"""Keeping the cache small: at most daily, by whichever writer finds the stamp old.

A sweep needs no lock. Removing an entry never hurts a reader: one that has it open or loaded goes
on, one that comes later sees a miss. Two sweeps at once remove the same files.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass

from theano.cache.contents import survey
from theano.cache.names import UNIT, EntryName, StageName
from theano.cache.staging import is_alive, remove_tree

STAMP = ".swept"
INTERVAL = 86400.0
FOREIGN_STAGE_AGE = 86400.0
"""A staging directory of another machine or container is removed when it is this old."""
YOUNG = 60.0
"""Entries are not removed in their first minute: whoever published them is about to load them."""


@dataclass(slots=True)
class Sweep:
    """What a sweep found and removed."""

    units: int = 0
    bytes: int = 0
    removed_units: int = 0
    removed_bytes: int = 0
    removed_stages: int = 0
    removed_references: int = 0


def sweep_if_due(root: str, size_cap: int, published: int) -> bool:
    """Sweep if nobody did for a day, or if this process alone has added a twentieth of the cap."""
    stamp = os.path.join(root, STAMP)
    try:
        age = time.time() - os.stat(stamp).st_mtime
        # A stamp from the future is a clock that was wrong; it must not stop sweeping for years.
        due = not -INTERVAL < age < INTERVAL or published * 20 > size_cap
        if not due:
            return False
        os.utime(stamp)
    except FileNotFoundError:
        try:
            os.close(os.open(stamp, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except OSError:
            return False
        if published * 20 <= size_cap:
            return False  # a new cache
    except OSError:
        return False
    sweep(root, size_cap)
    return True


def sweep(root: str, size_cap: int) -> Sweep:
    """Remove what is stale: staging of dead processes, dead references, the units and plans unused for longest.

    Parameters
    ----------
    root : str
        The cache's directory.
    size_cap : int
        Bytes that units and plans may take together.

    Returns
    -------
    Sweep
        What was done.
    """
    result = Sweep()
    now = time.time()
    contents = survey(root)
    for path, stage in contents.stages:
        result.removed_stages += _sweep_stage(path, stage, now)
    result.units, result.bytes = len(contents.units), contents.unit_bytes + contents.plan_bytes
    alive = {item.name for item in contents.units}
    if result.bytes > size_cap:
        # Some room is made, so that the next publication does not sweep again.
        goal = size_cap - size_cap // 10
        # A time in the future counts as now.
        for item in sorted(contents.units + contents.plans, key=lambda item: (min(item.used, now), item.path)):
            if result.bytes - result.removed_bytes <= goal or now - item.used < YOUNG:
                break
            _unlink(item.path)
            alive.discard(item.name)
            result.removed_units += item.name.kind == UNIT
            result.removed_bytes += item.size
    dependents = [(path, reference.unit) for path, reference in contents.references]
    dependents += [(item.path, EntryName(item.name.key, item.name.digest, UNIT)) for item in contents.sources]
    for path, unit in dependents:
        # A unit may have been published after the listing: look again before removing.
        if unit not in alive and not os.path.lexists(os.path.join(root, unit.relative)):
            _unlink(path)
            result.removed_references += 1
    return result


def _sweep_stage(path: str, stage: StageName, now: float) -> int:
    alive = is_alive(stage)
    if alive is None:
        try:
            alive = now - os.lstat(path).st_mtime < FOREIGN_STAGE_AGE
        except OSError:
            return 0
    if alive:
        return 0
    remove_tree(path)
    return 1


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)

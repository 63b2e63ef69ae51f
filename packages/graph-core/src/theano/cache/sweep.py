"""Keeping the cache small: at most daily, by whichever writer finds the stamp old.

A sweep needs no lock. Removing an entry never hurts a reader: one that has it open or loaded goes
on, one that comes later sees a miss. Two sweeps at once remove the same files.
"""

from __future__ import annotations

import os
import time

from theano.cache.contents import survey
from theano.cache.names import UNIT, EntryName, ReferenceName
from theano.cache.ownership import STAMP, is_marked, remove_entry
from theano.cache.staging import reclaim_stage
from theano.records import record

INTERVAL = 86400.0
YOUNG = 60.0
"""Entries are not removed in their first minute: the process that published them is about to load them."""


@record
class Sweep:
    """What a sweep found and removed."""

    units: int = 0
    bytes: int = 0
    removed_units: int = 0
    removed_bytes: int = 0
    removed_stages: int = 0
    removed_references: int = 0


def sweep_if_due(root: str, size_cap: int, published: int) -> bool:
    """Sweep if no process did for a day, or if this process alone has added a twentieth of the cap."""
    stamp = os.path.join(root, STAMP)
    try:
        age = time.time() - os.stat(stamp).st_mtime
        # A stamp from the future is a clock that was wrong; it must not stop sweeping for years.
        due = not -INTERVAL < age < INTERVAL or published * 20 > size_cap
        if not due:
            return False
        os.utime(stamp)
    except FileNotFoundError:
        if not is_marked(root):
            return False
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

    In a directory without the mark of a cache nothing is removed.

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
    if not is_marked(root):
        return result
    now = time.time()
    contents = survey(root)
    result.removed_stages = sum(not reclaim_stage(path, stage) for path, stage in contents.stages)
    result.units, result.bytes = len(contents.units), contents.unit_bytes + contents.plan_bytes
    alive = {item.name for item in contents.units}
    if result.bytes > size_cap:
        # Some space is made, so that the next publication does not sweep again.
        goal = size_cap - size_cap // 10
        # A time in the future counts as now.
        for item in sorted(contents.units + contents.plans, key=lambda item: (min(item.used, now), item.path)):
            if result.bytes - result.removed_bytes <= goal or now - item.used < YOUNG:
                break
            if remove_entry(item.path, item.name):
                continue
            alive.discard(item.name)
            result.removed_units += item.name.kind == UNIT
            result.removed_bytes += item.size
    dependents: list[tuple[str, EntryName | ReferenceName, EntryName]] = []
    dependents += [(path, reference, reference.unit) for path, reference in contents.references]
    dependents += [(item.path, item.name, item.name._replace(kind=UNIT)) for item in contents.sources]
    for path, name, unit in dependents:
        # A unit may have been published after the listing: look again before removing.
        if unit not in alive and not os.path.lexists(os.path.join(root, unit.relative)):
            result.removed_references += not remove_entry(path, name)
    return result

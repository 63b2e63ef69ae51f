"""What lies in a cache directory, for the sweep and for people."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple

from theano.cache.names import NOTE, PLAN, SOURCE, UNIT, EntryName, ReferenceName, StageName, is_shelf


class Item(NamedTuple):
    """One entry: where it is, its name taken apart, its bytes and the time it was last used."""

    path: str
    name: EntryName
    size: int
    used: float


@dataclass(slots=True)
class Contents:
    """Everything in a cache directory that is ours, by kind.

    Parameters
    ----------
    units, plans, notes, sources : list of Item
        The four kinds of entries.
    references : list of (str, ReferenceName)
        Paths of the references.
    stages : list of (str, StageName)
        Working directories of processes, perhaps dead ones.
    shelves : list of str
        The two-character folders.
    """

    units: list[Item] = field(default_factory=list)
    plans: list[Item] = field(default_factory=list)
    notes: list[Item] = field(default_factory=list)
    sources: list[Item] = field(default_factory=list)
    references: list[tuple[str, ReferenceName]] = field(default_factory=list)
    stages: list[tuple[str, StageName]] = field(default_factory=list)
    shelves: list[str] = field(default_factory=list)

    @property
    def unit_bytes(self) -> int:
        """Bytes of compiled code."""
        return sum(item.size for item in self.units)

    @property
    def plan_bytes(self) -> int:
        """Bytes of plans."""
        return sum(item.size for item in self.plans)


def survey(root: str) -> Contents:
    """List a cache directory; what is not ours is passed over, what disappears meanwhile is too.

    Examples
    --------
    >>> survey("/nonexistent").units
    []
    """
    contents = Contents()
    for entry in _scan(root):
        stage = StageName.parse(entry.name)
        if stage is not None:
            contents.stages.append((entry.path, stage))
        elif is_shelf(entry.name):
            contents.shelves.append(entry.path)
            for file in _scan(entry.path):
                _add(contents, file)
    return contents


def _scan(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _add(contents: Contents, file: os.DirEntry[str]) -> None:
    reference = ReferenceName.parse(file.name)
    if reference is not None:
        contents.references.append((file.path, reference))
        return
    name = EntryName.parse(file.name)
    if name is None:
        return
    try:
        info = file.stat(follow_symlinks=False)
    except OSError:
        return
    kinds = {UNIT: contents.units, PLAN: contents.plans, NOTE: contents.notes, SOURCE: contents.sources}
    kinds[name.kind].append(Item(file.path, name, info.st_size, info.st_mtime))

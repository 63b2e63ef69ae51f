"""The entries of a cache directory, for the sweep and for users."""

from __future__ import annotations

import os
import stat

from theano.cache.names import NOTE, PLAN, SOURCE, UNIT, EntryName, ReferenceName, StageName, is_bucket
from theano.cache.ownership import scan
from theano.records import NamedTuple, field, record


class Item(NamedTuple):
    """One entry: where it is, its name taken apart, its bytes and the time it was last used."""

    path: str
    name: EntryName
    size: int
    used: float


@record
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
    buckets : list of str
        The two-character folders.
    """

    units: list[Item] = field(default_factory=list)
    plans: list[Item] = field(default_factory=list)
    notes: list[Item] = field(default_factory=list)
    sources: list[Item] = field(default_factory=list)
    references: list[tuple[str, ReferenceName]] = field(default_factory=list)
    stages: list[tuple[str, StageName]] = field(default_factory=list)
    buckets: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[Item]:
        """All entries."""
        return self.units + self.plans + self.notes + self.sources

    @property
    def unit_bytes(self) -> int:
        """Bytes of compiled code."""
        return sum(item.size for item in self.units)

    @property
    def plan_bytes(self) -> int:
        """Bytes of plans."""
        return sum(item.size for item in self.plans)


def survey(root: str) -> Contents:
    """List a cache directory; what is not ours is passed over, as are links and what disappears meanwhile.

    Examples
    --------
    >>> survey("/nonexistent").units
    []
    """
    contents = Contents()
    for entry in scan(root):
        stage = StageName.parse(entry.name)
        if stage is not None and not entry.is_symlink():
            contents.stages.append((entry.path, stage))
        elif is_bucket(entry.name) and entry.is_dir(follow_symlinks=False):
            contents.buckets.append(entry.path)
            for file in scan(entry.path):
                _add(contents, file, entry.name)
    return contents


def _add(contents: Contents, file: os.DirEntry[str], bucket: str) -> None:
    try:
        info = file.stat(follow_symlinks=False)
    except OSError:
        return
    if not stat.S_ISREG(info.st_mode):
        return
    reference = ReferenceName.parse(file.name)
    if reference is not None and reference.kernel.startswith(bucket) and info.st_size == 0:
        contents.references.append((file.path, reference))
    name = EntryName.parse(file.name)
    if name is None or not name.key.startswith(bucket):
        return
    kinds = {UNIT: contents.units, PLAN: contents.plans, NOTE: contents.notes, SOURCE: contents.sources}
    kinds[name.kind].append(Item(file.path, name, info.st_size, info.st_mtime))

"""The file names of the cache, which carry all that a reader must know.

    <k1k2>/<key>.<digest>.so                        a compiled unit, or an object file of an exported model
    <k1k2>/<key>.<digest>.plan                      the program of a function, for its graph's key
    <k1k2>/<key>.<digest>.txt                       a note, such as what the compiler is
    <k1k2>/<key>.<digest>.c                         the unit's source, for users; <digest> is the .so's
    <k1k2>/<kernel key>.<unit key>.<digest>.ref     empty: this kernel is in that unit
    .stage-<pid>-<start time>-<machine>-<random>    where one process is working

``k1k2`` are the first two characters of the key. A digest is taken over the file's own bytes, so
the name is the checksum, and a reference has no content that could be torn. What a file is stands in it
once more, as a guard against renamed files: texts begin with their kind and key, a unit has its key as a symbol.
"""

from __future__ import annotations

import hashlib
import os
import re

from theano.records import NamedTuple

KEY_LENGTH = 32
DIGEST_LENGTH = 32

UNIT = "so"
PLAN = "plan"
NOTE = "txt"
SOURCE = "c"
REFERENCE = "ref"

HEADS = {
    PLAN: b"theano-cache plan ",
    NOTE: b"theano-cache txt ",
    SOURCE: b"/* theano-cache c ",
}
"""How texts begin; then come the key and the end of the line."""

_HEX = f"[0-9a-f]{{{KEY_LENGTH}}}"
_ENTRY = re.compile(rf"(?P<key>{_HEX})\.(?P<digest>{_HEX})\.(?P<kind>{UNIT}|{PLAN}|{NOTE}|{SOURCE})\Z")
_REFERENCE = re.compile(rf"(?P<kernel>{_HEX})\.(?P<key>{_HEX})\.(?P<digest>{_HEX})\.{REFERENCE}\Z")
_STAGE = re.compile(r"\.stage-(?P<pid>\d+)-(?P<start>\d+)-(?P<machine>[0-9a-f]{8,16})-(?P<random>\w+)\Z")
_BUCKET = re.compile(r"[0-9a-f]{2}\Z")


def digest_of(data: bytes) -> str:
    """Return the checksum that a file with these bytes carries in its name.

    Examples
    --------
    >>> digest_of(b"")
    'e3b0c44298fc1c149afbf4c8996fb924'
    """
    return hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH]


class EntryName(NamedTuple):
    """The name of an entry, taken apart.

    Examples
    --------
    >>> name = EntryName("0" * 32, "f" * 32, "so")
    >>> name.relative.startswith("00/0000")
    True
    >>> EntryName.parse(name.file) == name
    True
    >>> EntryName.parse("notes.txt") is None
    True
    """

    key: str
    digest: str
    kind: str

    @property
    def file(self) -> str:
        """The file's own name."""
        return f"{self.key}.{self.digest}.{self.kind}"

    @property
    def relative(self) -> str:
        """The path from the root of the cache."""
        return os.path.join(self.key[:2], self.file)

    @property
    def head(self) -> bytes:
        """The first line of a text, which says what it is and under which key; nothing for a unit."""
        if self.kind not in HEADS:
            return b""
        return HEADS[self.kind] + self.key.encode() + (b" */\n" if self.kind == SOURCE else b"\n")

    @classmethod
    def parse(cls, name: str) -> EntryName | None:
        """Take a file name apart; None if it is no entry's."""
        match = _ENTRY.match(name)
        return cls(match["key"], match["digest"], match["kind"]) if match else None


class ReferenceName(NamedTuple):
    """The name of a reference from a kernel to the unit that holds it."""

    kernel: str
    unit: EntryName

    @property
    def file(self) -> str:
        """The file's own name."""
        return f"{self.kernel}.{self.unit.key}.{self.unit.digest}.{REFERENCE}"

    @property
    def relative(self) -> str:
        """The path from the root of the cache."""
        return os.path.join(self.kernel[:2], self.file)

    @classmethod
    def parse(cls, name: str) -> ReferenceName | None:
        """Take a file name apart; None if it is no reference's."""
        match = _REFERENCE.match(name)
        return cls(match["kernel"], EntryName(match["key"], match["digest"], UNIT)) if match else None


class StageName(NamedTuple):
    """The name of a staging directory: which process, started when, on which machine."""

    pid: int
    start: int
    machine: str
    random: str

    @property
    def file(self) -> str:
        """The directory's own name."""
        return f".stage-{self.pid}-{self.start}-{self.machine}-{self.random}"

    @classmethod
    def parse(cls, name: str) -> StageName | None:
        """Take a directory name apart; None if it is no staging directory's."""
        match = _STAGE.match(name)
        return cls(int(match["pid"]), int(match["start"]), match["machine"], match["random"]) if match else None


def is_bucket(name: str) -> bool:
    """Say whether this is the name of one of the 256 two-character folders."""
    return _BUCKET.match(name) is not None

"""What in a directory is the cache's own: the mark of a cache, and the heads of its files.

Nothing is removed that is not recognised twice, by its name and by what it holds, and nothing at all in a
directory that neither carries the mark nor holds only what is ours: a setting may name any directory.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from theano.cache.names import HEADS, SOURCE, UNIT, EntryName, ReferenceName, StageName, digest_of, is_bucket
from theano.cache.staging import stage_path
from theano.cache.trust import open_regular

MARK = "CACHEDIR.TAG"
STAMP = ".swept"
_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55\n"
_OURS = b"# theano-cache 1\n"
MARK_BYTES = (
    _SIGNATURE
    + _OURS
    + b"# The cache of compiled functions of Theano. Programs that make backups leave it out, see\n"
    + b"# https://bford.info/cachedir/. The command `theano-cache` looks after it.\n"
)
_LIBRARY_HEADS = (
    b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ",
)  # fmt: skip
_HEAD = len(_SIGNATURE + _OURS)
"""More bytes than the head of anything has."""


def is_marked(root: str) -> bool:
    """Say whether a directory carries the mark of a cache; one that is a symbolic link does not.

    Examples
    --------
    >>> is_marked("/")
    False
    """
    if os.path.islink(root):
        return False
    head = _head_of(os.path.join(root, MARK))
    return head is not None and head.startswith(_SIGNATURE + _OURS)


def adopt(root: str) -> bool:
    """Mark a directory if it holds only entries of a cache; say whether it carries the mark then."""
    if is_marked(root):
        return True
    if os.path.islink(root) or next(foreign_files(root), None) is not None:
        return False
    staged = stage_path(root)
    try:
        with open(staged, "xb") as file:
            file.write(MARK_BYTES)
        os.chmod(staged, 0o444)
        os.replace(staged, os.path.join(root, MARK))
    except OSError:
        try:
            os.unlink(staged)
        except OSError:
            pass
        return False
    return True


def refusal_to_manage(root: str) -> str:
    """Say why nothing may be removed in a directory; "" if it is a cache, marked or from before there were marks."""
    if os.path.islink(root):
        return f"is a symbolic link (to {os.path.realpath(root)})"
    if is_marked(root):
        return ""
    foreign = next(foreign_files(root), None)
    if foreign is not None:
        return f"does not carry the mark of a cache ({MARK}) and holds other things, {foreign[0]} among them"
    try:
        return "" if os.listdir(root) else f"does not carry the mark of a cache ({MARK}) and is empty"
    except OSError as error:
        return error.strerror or str(error)


def foreign_files(root: str) -> Iterator[tuple[str, str]]:
    """Yield the paths in a directory that by name and kind are not a cache's own, each with what is wrong with it."""
    buckets = []
    for entry in scan(root):
        if is_bucket(entry.name) and entry.is_dir(follow_symlinks=False):
            buckets.append(entry)
        elif entry.name in (MARK, STAMP):
            if not entry.is_file(follow_symlinks=False) or (entry.name == MARK and not is_marked(root)):
                yield entry.path, "is not the cache's"
        elif StageName.parse(entry.name) is None or entry.is_symlink():
            yield entry.path, _kind_of(entry)
    for bucket in buckets:
        for entry in scan(bucket.path):
            name = EntryName.parse(entry.name) or ReferenceName.parse(entry.name)
            if name is None or not name.relative.startswith(bucket.name) or not entry.is_file(follow_symlinks=False):
                yield entry.path, _kind_of(entry)
            elif isinstance(name, ReferenceName) and entry.stat().st_size:
                yield entry.path, "is not empty, as references are"


def scan(path: str) -> list[os.DirEntry[str]]:
    """Return the entries of a directory, in a fixed order; nothing if it is a link or cannot be read."""
    try:
        if os.path.islink(path):
            return []
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _kind_of(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "is a symbolic link"
    return "is a directory of another user" if entry.is_dir() else "is not the cache's"


def refusal_to_remove(path: str, name: EntryName | ReferenceName) -> str:
    """Say why a file under an entry's name is not the cache's own; "" if it is, damaged or not.

    It is if it begins as entries of its kind do, if its digest is the one in its name, or if nothing is in it:
    no bytes, or only zeros, as a computer leaves that lost its power.
    """
    try:
        info = os.lstat(path)
        if not stat.S_ISREG(info.st_mode):
            return "is a symbolic link" if stat.S_ISLNK(info.st_mode) else "is not a regular file"
        if info.st_size == 0:
            return ""
        if isinstance(name, ReferenceName):
            return "is not empty, as references are"
        if _has_head(_head_of(path) or b"", name.kind):
            return ""
        with open(open_regular(path), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    if not data.strip(b"\0"):
        return ""
    # Entries from before they had heads.
    if digest_of(data) == name.digest or (name.kind == SOURCE and b"theano_unit_key" in data):
        return ""
    return "holds something that is not the cache's"


def _has_head(head: bytes, kind: str) -> bool:
    if kind == UNIT:
        return head.startswith(_LIBRARY_HEADS)
    return head.startswith(HEADS[kind])


def _head_of(path: str) -> bytes | None:
    try:
        with open(open_regular(path), "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return None


def remove_entry(path: str, name: EntryName | ReferenceName) -> str:
    """Remove a file of the cache's own; return why not if it is not removed."""
    refusal = refusal_to_remove(path, name)
    if not refusal:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            return error.strerror or str(error)
    return refusal

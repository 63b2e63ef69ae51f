"""A cache as one file: written on one computer, taken into the cache of another.

The file is a zip archive of entries under their names, which are their checksums, and of a list of all of them. Nothing
in it is believed that would not be believed in a directory: it must be the user's own (or root's), writable by no
other user, and every entry must be what its name says. It is judged whole before anything is written, and taken whole.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable

from theano.cache import trust
from theano.cache.contents import Item, survey
from theano.cache.names import SOURCE, UNIT, EntryName, ReferenceName
from theano.cache.staging import remove_tree, stage_path
from theano.cache.store import MAX_UNIT_BYTES, Cache, is_what_it_says, read_verified, rename
from theano.errors import TheanoError

LIST = "theano-cache-export"
HEAD = "theano-cache export 1"
#: What `zipfile` raises where an archive was damaged.
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, RuntimeError, ValueError, OverflowError)


class TransferError(TheanoError, ValueError):
    """A file is no export of a cache, is damaged, or may belong to another user; nothing was taken from it."""


def pack(root: str, path: str) -> int:
    """Write all that is right in a cache into one file, which appears whole; return the number of entries.

    Parameters
    ----------
    root : str
        The cache's directory.
    path : str
        Of the file, which is replaced if it is there.
    """
    contents = survey(root)
    staged = stage_path(os.path.dirname(os.path.abspath(path)))
    units, names = set(), []
    try:
        # Not before all is in it may another user be shown it.
        descriptor = os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for item in contents.units + contents.plans + contents.notes:
                data = read_verified(item.path, item.name, root_may_own=True)
                if data is not None:
                    archive.writestr(_member(item.name), data)
                    names.append(_member(item.name))
                    units.add(item.name)
            for item in contents.sources:
                # It has the digest of its unit in its name.
                text = _source(item) if item.name._replace(kind=UNIT) in units else b""
                if text.startswith(item.name.head):
                    archive.writestr(_member(item.name), text)
                    names.append(_member(item.name))
            for _, reference in contents.references:
                if reference.unit in units:
                    archive.writestr(_member(reference), b"")
                    names.append(_member(reference))
            archive.writestr(LIST, _list(names))
        os.replace(staged, path)
    except BaseException:
        remove_tree(staged)
        raise
    return len(names)


def _source(item: Item) -> bytes:
    with open(trust.open_regular(item.path), "rb") as file:
        return file.read(MAX_UNIT_BYTES)


def unpack(path: str, cache: Cache) -> tuple[int, int]:
    """Take the entries of a file into a cache; return how many were new, and how many there are.

    Parameters
    ----------
    path : str
        Of a file that `pack` wrote.
    cache : Cache
        Where they go; entries that are there stay as they are.

    Raises
    ------
    TransferError
        The file is not what it must be, and nothing was taken from it.
    OSError
        The file cannot be read, or the cache not be written. Nothing that is wrong was written.
    """
    with open(trust.open_regular(path), "rb") as file:
        refusal = trust.file_refusal(path, os.fstat(file.fileno()), root_may_own=True)
        if refusal is not None:
            own = "if you trust its author, make a copy (cp), which you then own"
            raise TransferError(f"{path} was not imported: it {refusal.reason}; {own}")
        try:
            with zipfile.ZipFile(file) as archive:
                names = _checked(archive)
                return _take(archive, names, cache), len(names)
        except TransferError as error:
            raise TransferError(f"{path} was not imported: {error}") from None
        except DAMAGED as error:
            raise TransferError(f"{path} was not imported: it is no export of a cache, or damaged ({error})") from error


def _checked(archive: zipfile.ZipFile) -> list[EntryName | ReferenceName]:
    """Return the names of all entries of an archive, each of which is right."""
    members = archive.namelist()
    if members.count(LIST) != 1:
        raise TransferError("it is no export of a cache")
    told = [member for member in members if member != LIST]
    if _read(archive, LIST) != _list(told).encode() or len(set(told)) != len(told):
        raise TransferError("its list of entries is not the one of what it holds")
    names = [_name(member) for member in told]
    units = {name for name in names if isinstance(name, EntryName) and name.kind == UNIT}
    for name in names:
        data = _read(archive, _member(name))
        if isinstance(name, ReferenceName):
            right = not data and name.unit in units
        elif name.kind == SOURCE:
            right = data.startswith(name.head) and name._replace(kind=UNIT) in units
        else:
            right = is_what_it_says(data, name)
        if not right:
            raise TransferError(f"its entry {_member(name)} is not what the name says")
    return names


def _take(archive: zipfile.ZipFile, names: Iterable[EntryName | ReferenceName], cache: Cache) -> int:
    """Write entries into a working directory, and then give all of them their places."""
    root = cache.writable_root()
    new = [name for name in names if not os.path.lexists(os.path.join(root, name.relative))]
    with cache.stage() as stage:
        for name in new:
            staged = os.path.join(stage, name.file)
            with open(staged, "wb") as file:
                file.write(_read(archive, _member(name)))
            os.chmod(staged, 0o500 if isinstance(name, EntryName) and name.kind == UNIT else 0o400)
            # The file may have changed since it was judged.
            if isinstance(name, EntryName) and name.kind != SOURCE:
                if read_verified(staged, name, root_may_own=False) is None:
                    raise TransferError(f"its entry {_member(name)} changed while it was read")
        # Units first: a reference must not lead to nothing, or a sweep would take it away.
        for name in sorted(new, key=lambda name: isinstance(name, ReferenceName)):
            rename(os.path.join(stage, name.file), os.path.join(root, name.relative))
    return len(new)


def _member(name: EntryName | ReferenceName) -> str:
    return name.relative.replace(os.sep, "/")


def _name(member: str) -> EntryName | ReferenceName:
    file = member.rpartition("/")[2]
    name = EntryName.parse(file) or ReferenceName.parse(file)
    # Thereby a name that leads out of the directory is none.
    if name is None or _member(name) != member:
        raise TransferError(f"it holds something that is no entry of a cache, {member!r}")
    return name


def _list(names: Iterable[str]) -> str:
    """Return the text that lists the entries, so that a removed or an added one is noticed."""
    lines = "\n".join([HEAD, *sorted(names)])
    return f"{lines}\n{hashlib.sha256(lines.encode()).hexdigest()}\n"


def _read(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as file:
        data = file.read(MAX_UNIT_BYTES + 1)
    if len(data) > MAX_UNIT_BYTES:
        raise TransferError(f"its entry {member} is larger than any of ours")
    return data

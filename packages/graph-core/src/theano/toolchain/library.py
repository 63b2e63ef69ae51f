"""Is a compiled library whole? To load one that was cut short would end this process.

The dynamic loader maps what the headers promise, and the system ends a process that touches a mapped page
beyond the end of a file. The headers also say where the last byte must be, so that is compared first.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from functools import cache

HEADER_BYTES = 64
_MAGIC = b"\x7fELF"
_SHARED_OBJECT = 3  # ET_DYN
_NO_BITS = 8  # SHT_NOBITS: a section that takes no space in the file
# Of the 32- and the 64-bit form: the header from e_type on; offset and size in the file in one entry of the table
# of segments; kind, offset and size in one entry of that of sections.
_FORMS = {1: ("=HHIIIIIHHHHHH", "=4xI8xI12x", "=4xI8xII16x"), 2: ("=HHIQQQIHHHHHH", "=8xQ16xQ16x", "=4xI16xQQ24x")}


@cache
def machine() -> bytes:
    """Return class, byte order and number of this process's machine, as ELF files say it; empty on other systems.

    Examples
    --------
    >>> len(machine()) in (0, 4)
    True
    """
    try:
        with open("/proc/self/exe", "rb") as file:
            head = file.read(20)
    except OSError:
        return b""
    return head[4:6] + head[18:20] if head[:4] == _MAGIC and len(head) == 20 else b""


Read = Callable[[int, int], bytes]
"""From a number of bytes and an offset: those that are there."""


def problem_of_library(library: str | bytes) -> str:
    """Return what speaks against loading a library: "" if it is a whole one for this machine.

    Parameters
    ----------
    library : str or bytes
        Its path, or the contents of the file, if the caller has read it anyway.

    Examples
    --------
    >>> problem_of_library("/no/such/file")
    'is not there'
    """
    if isinstance(library, bytes):
        return _problem(len(library), lambda count, offset: library[offset : offset + count])
    try:
        descriptor = os.open(library, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            return _problem(os.fstat(descriptor).st_size, lambda count, offset: os.pread(descriptor, count, offset))
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return "is not there"
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _problem(size: int, read: Read) -> str:
    if size == 0:
        return "is empty"
    if not machine():
        return ""  # another system, whose loader looks for itself
    try:
        end = _end(read)
    except ValueError as error:
        return str(error)
    except (struct.error, OverflowError):
        return f"was cut short ({size} bytes)"
    return f"was cut short ({size} bytes, of at least {end})" if size < end else ""


def _end(read: Read) -> int:
    """Return the number of bytes that the headers promise.

    Raises
    ------
    ValueError
        It is no library for this machine; the text says why.
    struct.error
        A header or a table is not all there.
    """
    head = read(HEADER_BYTES, 0)
    if head[:4] != _MAGIC:
        raise ValueError("is no library")
    if len(head) < HEADER_BYTES:
        raise struct.error
    if head[4:6] + head[18:20] != machine():
        raise ValueError("is for another machine")
    whole, segment, section = _FORMS[head[4]]
    kind, _, _, _, segments, sections, _, _, segment_bytes, segment_count, section_bytes, section_count, _ = (
        struct.unpack_from(whole, head, 16)
    )
    if kind != _SHARED_OBJECT:
        raise ValueError("is not a shared library")
    end: int = sections + section_bytes * section_count
    for offset, size in _table(read, segments, segment_bytes, segment_count, segment):
        end = max(end, offset + size)
    for bits, offset, size in _table(read, sections, section_bytes, section_count, section):
        if bits != _NO_BITS:
            end = max(end, offset + size)
    return end


def _table(read: Read, start: int, width: int, count: int, entry: str) -> Iterator[tuple[int, ...]]:
    """Return the entries of one of the two tables."""
    if count and width != struct.calcsize(entry):
        raise ValueError("is damaged in its headers")
    data = read(width * count, start) if count else b""
    if len(data) < width * count:
        raise struct.error
    return struct.iter_unpack(entry, data)

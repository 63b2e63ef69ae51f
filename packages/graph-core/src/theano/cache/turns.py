"""One process of a computer compiles, and the others that need the same wait for it: a courtesy, never a lock.

The compiling process listens on a local socket named after its work. A process that finds the name taken connects. The
system ends the connection when the other is done, is killed, or crashes. No file can be left behind. A process waits
at most `PATIENCE`, and neither for another user's process nor where the system has no such names: then it compiles,
too, which is always right, since what both publish is the same.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from theano.graph.signals import let_signals_through

if TYPE_CHECKING:
    import socket

PATIENCE = 30.0
"""Seconds that anybody waits in all: many times what a unit takes, and little beside one that never comes."""
_PAUSE = 0.05
"""Seconds until the next look where the queue for a name is full."""

_held: set[socket.socket] = set()


def _release_in_child() -> None:
    """A forked child shares the sockets of its parent: with them open, the parent's turns would not end."""
    while _held:
        _held.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)


@contextmanager
def turn(root: str, keys: Iterable[str], done: Callable[[], bool]) -> Iterator[bool]:
    """Give whether something is still to be compiled here, after waiting for a process that is compiling it just now.

    Parameters
    ----------
    root : str
        The cache's directory; "" where others cannot see what is compiled.
    keys : iterable of str
        Of what is to be compiled.
    done : callable
        Looks whether all of it is in the cache by now.

    Examples
    --------
    >>> with turn("/tmp/cache", ["0123"], lambda: False) as needed:
    ...     needed
    True
    """
    held = None
    try:
        if root and sys.platform == "linux":
            try:
                held = _wait(_name(root, keys), done, time.monotonic() + PATIENCE)
            except OSError as error:
                let_signals_through(error)  # otherwise a system that forbids sockets: everybody compiles
        # Between the look before this and now, another may have ended its turn.
        yield not done()
    finally:
        if held is not None:
            _held.discard(held)
            held.close()


def _name(root: str, keys: Iterable[str]) -> bytes:
    """Return a name that is no file's: it begins with a zero, and goes with the process that has it."""
    told = hashlib.sha256("\0".join([root, *sorted(keys)]).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return f"\0theano-{os.geteuid()}-{told}".encode()


def _wait(name: bytes, done: Callable[[], bool], end: float) -> socket.socket | None:
    """Return the socket of this process's turn; None if nothing is left to do, or waiting is of no use."""
    import socket  # only who compiles needs it

    while True:
        ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            ours.bind(name)
            ours.listen(1 << 12)
        except OSError as error:
            ours.close()
            let_signals_through(error)  # otherwise the name is taken
        except BaseException:
            ours.close()
            raise
        else:
            _held.add(ours)
            return ours
        if time.monotonic() >= end or not _wait_for_other(name, end) or done():
            return None


def _wait_for_other(name: bytes, end: float) -> bool:
    """Wait until a process ends its turn; say whether it is one to wait for, and there is time left."""
    import socket  # as above

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        try:
            other.connect(name)
        except BlockingIOError as error:
            let_signals_through(error)
            time.sleep(_PAUSE)
            return time.monotonic() < end
        except ConnectionRefusedError as error:
            let_signals_through(error)
            return True  # its turn has ended meanwhile
        _, user, _ = struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.geteuid():
            return False
        other.settimeout(max(0.0, end - time.monotonic()))
        # It is never answered, only ended.
        try:
            other.recv(1)
        except TimeoutError as error:
            let_signals_through(error)
            return False
        except ConnectionResetError as error:
            let_signals_through(error)
    return True

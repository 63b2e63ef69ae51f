"""Ending the programs that this process has started, also if it ends without doing so itself.

A process that is killed runs no code any more. So a second small program waits beside it at the end of a pipe,
which the system closes with the process, and then ends the groups that were still running. It is started only
when a program has been waited for a while, and ends with the last of them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading

SHELL = "/bin/sh"
# Each line lists all the groups that run now; what the last one lists when the pipe ends has lost its starter.
_SCRIPT = 'groups=; while read -r line; do groups=$line; done; [ -z "$groups" ] || kill -s KILL -- $groups'


class Watchdog:
    """The process groups that end with this process.

    Examples
    --------
    >>> watchdog = Watchdog()
    >>> watchdog.add(4194305)
    >>> watchdog.discard(4194305)
    >>> watchdog.is_awake
    False
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = -1

    @property
    def is_awake(self) -> bool:
        """Whether the second program runs."""
        return self._process is not None

    def add(self, group: int) -> None:
        """Note that a group runs."""
        with self._lock:
            self._groups.add(group)
            self._tell()

    def discard(self, group: int) -> None:
        """Note that a group has ended; called before its number can be given to another."""
        with self._lock:
            self._groups.discard(group)
            self._tell()
            if not self._groups:
                self._end()

    def wake(self) -> None:
        """Start the second program, if there is something for it to do and it does not run yet."""
        with self._lock:
            if self._process is not None or not self._groups:
                return
            try:
                reader, self._pipe = os.pipe()
            except OSError:
                return
            try:
                self._process = subprocess.Popen(
                    [SHELL, "-c", _SCRIPT],
                    cwd="/",
                    env={},
                    stdin=reader,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError:
                os.close(self._pipe)
                self._pipe = -1
            finally:
                os.close(reader)
            self._tell()

    def _tell(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                os.write(self._pipe, " ".join(f"-{group}" for group in sorted(self._groups)).encode() + b"\n")

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        os.close(self._pipe)
        self._pipe = -1

    def forget(self) -> None:
        """Leave all to the parent, in a forked child: as long as this end of the pipe is open, it does not end."""
        if self._pipe >= 0:
            with contextlib.suppress(OSError):
                os.close(self._pipe)
        if self._process is not None:
            self._process.returncode = 0  # not this process's child
        self.__dict__.update(Watchdog().__dict__)


watchdog = Watchdog()
"""That of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=watchdog.forget)

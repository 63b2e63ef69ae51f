"""Running a program in a clean room: no shell, little environment, its own group, a time limit."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from theano.toolchain.environment import clean_environment

TICK = 0.25
"""Seconds between two looks at the clock for somebody who waits."""


_NO_ROOM = re.compile(
    r"No space left|File too large|quota exceeded|Read-only file system|Input/output error|Cannot allocate memory|"
    r"out of memory|Killed signal|terminated (with|by) signal|No such file or directory.*\.[so]\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended: its status (negative: the signal that ended it) and what it wrote."""

    status: int
    output: str
    timed_out: bool = False

    @property
    def is_environments_fault(self) -> bool:
        """Whether it failed for want of room, memory or time, which says nothing about what it was given."""
        return self.status != 0 and (self.timed_out or self.status < 0 or _NO_ROOM.search(self.output) is not None)


class Running:
    """A program that has been started; `wait` ends with its outcome, `kill` with its whole group gone."""

    def __init__(self, arguments: Sequence[str], folder: str, log: str):
        self._log = os.path.join(folder, log)
        # A file, not a pipe: nothing has to be drained while several programs run.
        descriptor = os.open(self._log, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            self._process = subprocess.Popen(
                list(arguments),
                cwd=folder,
                env=clean_environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=os.name == "posix",
            )
        finally:
            os.close(descriptor)

    def wait(self, deadline: float, tick: Callable[[], None] | None = None) -> Outcome:
        """Wait until the program ends or `deadline` (``time.monotonic``) passes; call `tick` now and then meanwhile."""
        timed_out = not self._ends_before(deadline if tick is None else min(deadline, time.monotonic() + TICK))
        while timed_out and tick is not None and time.monotonic() < deadline:
            tick()
            timed_out = not self._ends_before(min(deadline, time.monotonic() + TICK))
        if timed_out:
            self.kill()
        with open(self._log, "rb") as file:
            output = file.read(1 << 20).decode("utf-8", "replace")
        return Outcome(self._process.returncode, output, timed_out)

    def _ends_before(self, deadline: float) -> bool:
        if hasattr(os, "pidfd_open"):
            # Popen.wait with a time limit sleeps in growing steps, up to half the time of a small compilation.
            with contextlib.suppress(OSError):
                descriptor = os.pidfd_open(self._process.pid)
                try:
                    ended = select.poll()
                    ended.register(descriptor, select.POLLIN)
                    if not ended.poll(max(0.0, deadline - time.monotonic()) * 1e3):
                        return False
                finally:
                    os.close(descriptor)
                self._process.wait()
                return True
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End the program and all it has started."""
        if self._process.returncode is not None:
            return
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()


def run_program(arguments: Sequence[str], folder: str, timeout: float, log: str = "log") -> Outcome | None:
    r"""Run one program to its end; None if it cannot be started.

    Examples
    --------
    >>> import sys, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_program([sys.executable, "-c", "print(1)"], folder, timeout=60).output
    '1\n'
    """
    running: Running | None = None
    try:
        running = Running(arguments, folder, log)
        return running.wait(time.monotonic() + timeout)
    except OSError:
        return None
    finally:
        if running is not None:
            running.kill()
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, log))

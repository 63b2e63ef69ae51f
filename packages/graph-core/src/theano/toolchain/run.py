"""Running a program in a clean environment: no shell, little environment, its own group, a time limit.

What is still in a program's group when it has ended is ended too, and so is all of it when this process ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from theano.records import record
from theano.toolchain.environment import clean_environment
from theano.toolchain.messages import first_words
from theano.toolchain.watchdog import watchdog

TICK = 0.25
"""Seconds between two looks at the clock while a caller waits. A program that runs longer than the first gets a
watchdog: what most units take is shorter, and ends by itself also after its caller has gone."""
LOG_BYTES = 1 << 26
"""At most this many bytes of messages are read; they are stored on a disk."""
_READ_BYTES = 1 << 20
NOT_STARTED = 127
"""The status that stands for a program that cannot be started, as in shells."""
_RESOURCES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC)


_NO_SPACE = re.compile(
    r"No space left|File too large|quota exceeded|Read-only file system|Input/output error|"
    r"No such file or directory.*\.[so]\b",
    re.IGNORECASE,
)
_NO_MEMORY = re.compile(
    r"Cannot allocate memory|out of memory|Killed signal|terminated (with|by) signal", re.IGNORECASE
)


def with_paths(data: bytes) -> str:
    r"""Return text that another program wrote, with names of files as Python spells them in this locale.

    Examples
    --------
    >>> os.fsencode(with_paths(b"M\xe1rton.so"))
    b'M\xe1rton.so'
    """
    return data.decode(sys.getfilesystemencoding(), "surrogateescape")


@record(frozen=True)
class ProcessResult:
    """How a program ended: its status (negative: the signal that ended it) and what it wrote.

    It has been ended from here if it `timed_out`, or `wrote_too_much`. `output` is what can be shown; `paths` is the
    same with names of files as Python spells them in this locale.
    """

    status: int
    output: str
    timed_out: bool = False
    wrote_too_much: bool = False
    paths: str = ""

    @property
    def lacked_space(self) -> bool:
        """Whether it says that the file system is at fault."""
        return self.status != 0 and not self.timed_out and _NO_SPACE.search(self.output) is not None

    @property
    def is_environments_fault(self) -> bool:
        """Whether it failed for want of space, memory or time, which says nothing about what it was given."""
        return self.status != 0 and (self.status < 0 or self.lacked_space or _NO_MEMORY.search(self.output) is not None)

    def ending(self, seconds: float) -> str:
        """Say how it ended, `seconds` after it was started, and the first of what it had said.

        Examples
        --------
        >>> ProcessResult(-11, "cc: out of luck").ending(1)
        'was ended by signal 11 (SIGSEGV), having said: cc: out of luck'
        """
        if self.timed_out:
            text = f"took more than {seconds:.3g} s"
        elif self.wrote_too_much:
            text = "wrote messages without end"
        elif self.status < 0:
            try:
                name = f" ({signal.Signals(-self.status).name})"
            except ValueError:
                name = ""
            text = f"was ended by signal {-self.status}{name}"
        elif self.status == NOT_STARTED and self.output.startswith("it cannot be started"):
            return self.output[3:]
        else:
            text = f"ended with status {self.status}"
        said = first_words(self.output)
        return f"{text}, having said: {said}" if said else text


class StartError(OSError):
    """A program cannot be started."""


class Running:
    """A program that has been started; `wait` ends with its outcome, `kill` with its whole group gone."""

    def __init__(self, arguments: Sequence[str], folder: str, log: str):
        self.started = time.monotonic()
        self.folder = folder
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
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and (error.filename == folder or error.errno in _RESOURCES):
                raise
            why = error.strerror if isinstance(error, OSError) else error
            raise StartError(getattr(error, "errno", None), str(why or error), arguments[0]) from error
        finally:
            os.close(descriptor)
        watchdog.add(self._process.pid)

    def wait(self, deadline: float, tick: Callable[[], None] | None = None) -> ProcessResult:
        """Wait until the program ends or `deadline` (``time.monotonic``) passes; call `tick` now and then meanwhile."""
        ended = too_much = False
        while not ended and not too_much and time.monotonic() < deadline:
            ended = self._ends_before(min(deadline, time.monotonic() + TICK))
            if not ended:
                watchdog.wake()
                too_much = os.path.exists(self._log) and os.path.getsize(self._log) > LOG_BYTES
                if tick is not None:
                    tick()
        if not ended:
            self.kill()
        with open(self._log, "rb") as file:
            data = file.read(_READ_BYTES)
        output = data.decode("utf-8", "replace")
        return ProcessResult(self._process.returncode, output, not ended and not too_much, too_much, with_paths(data))

    def _ends_before(self, deadline: float) -> bool:
        if self._process.returncode is not None:
            return True
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
                self.kill()
                return True
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        self._end_group()
        return True

    def _end_group(self) -> None:
        """End all that is left of the program's group."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        watchdog.discard(self._process.pid)

    def kill(self) -> None:
        """End the program and all it has started; one that has ended keeps its status."""
        if self._process.returncode is not None:
            return
        # The group's id is the program's, which the system cannot reuse before the wait.
        self._end_group()
        if os.name != "posix":
            self._process.kill()
        self._process.wait()


def run_to_end(
    arguments: Sequence[str],
    folder: str,
    timeout: float,
    log: str = "log",
    tick: Callable[[], None] | None = None,
) -> ProcessResult:
    """Run one program to its end, calling `tick` now and then.

    Raises
    ------
    StartError
        It cannot be started.
    OSError
        The disk of `folder` is full.
    """
    running: Running | None = None
    try:
        running = Running(arguments, folder, log)
        return running.wait(time.monotonic() + timeout, tick)
    finally:
        if running is not None:
            running.kill()
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, log))

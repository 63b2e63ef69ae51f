"""Lines that say what the compilers are doing, for those who wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self, TextIO

PATIENCE = 1.0
"""Seconds after which a waiting user sees a message about the compiler."""
LONG_WAIT = 5.0
"""The same where the standard error is no terminal, so that what is written stays."""


class StatusLine:
    """One line on the standard error, written from the second second on and wiped away at the end.

    Where the standard error is no terminal, one line is written after five seconds. If lines are wanted in any case,
    then it is after one, with another at the end.

    Parameters
    ----------
    wanted : {'auto', 'always', 'never'}
    stream : file, optional
        The standard error unless given.
    clock : callable, optional
        For tests.
    """

    def __init__(
        self,
        wanted: str = "auto",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._stream = sys.stderr if stream is None else stream
        self._terminal = _is_terminal(self._stream)
        self._shown, self._closed_with_a_line = wanted != "never", wanted == "always"
        self._patience = PATIENCE if self._terminal or wanted == "always" else LONG_WAIT
        self._clock, self._start = clock, clock()
        self._written = ""

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return self._clock() - self._start

    def text(self) -> str:
        """Return the line."""
        raise NotImplementedError

    def last_text(self) -> str:
        """Return the line that is written at the end where the other one cannot be wiped away; "" for none."""
        return ""

    def tick(self) -> None:
        """Write the line again if it is time for it and it has changed."""
        if not self._shown or self.seconds < self._patience:
            return
        text = self.text()
        if self._terminal and text != self._written:
            self._write("\r" + text.ljust(len(self._written)))
        elif not self._written:
            self._write(text + "\n")
        self._written = text

    def finish(self) -> None:
        """Wipe the line away; where that is not possible, say that it is over."""
        if not self._written:
            return
        if self._terminal:
            self._write("\r" + " " * len(self._written) + "\r")
        elif self._closed_with_a_line and self.last_text():
            self._write(self.last_text() + "\n")
        self._written = ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._shown = False  # the stream is closed or has no reader: compiling goes on

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.finish()


class ProgressLine(StatusLine):
    """The message while kernels are compiled.

    Parameters
    ----------
    total : int
        How many there are.
    wanted, stream, clock
        As in `StatusLine`.
    waits_for : str, optional
        Whose work it is, to be named where that takes long.
    what : str
        What one of them is called.

    Examples
    --------
    >>> with ProgressLine(37, "never") as progress:
    ...     progress.advance(12)
    >>> progress.text()
    'theano: compiling 37 kernels, 12 done, 0 s'
    """

    def __init__(
        self,
        total: int,
        wanted: str = "auto",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        waits_for: str = "",
        what: str = "kernel",
    ):
        super().__init__(wanted, stream, clock)
        self._total, self._done = total, 0
        self._waits_for, self._what = waits_for, what

    def text(self) -> str:
        """Return the line."""
        files = f"{self._total} {self._what}{'s' if self._total != 1 else ''}"
        waiting = f", waiting for {self._waits_for}" if self._waits_for and self.seconds >= LONG_WAIT else ""
        return f"theano: compiling {files}, {self._done} done, {self.seconds:.0f} s{waiting}"

    def last_text(self) -> str:
        """Return the line at the end."""
        return f"theano: {self._done} of {self._total} done after {self.seconds:.1f} s"

    def advance(self, count: int) -> None:
        """Note that some kernels are done."""
        self._done += count
        self.tick()


class ProbeLine(StatusLine):
    """The message while a compiler is probed.

    Examples
    --------
    >>> ProbeLine("/usr/bin/cc", "never").text()
    'theano: waiting for /usr/bin/cc to say what it is, 0 s'
    """

    def __init__(
        self,
        compiler: str,
        wanted: str = "auto",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        super().__init__(wanted, stream, clock)
        self._compiler = compiler

    def text(self) -> str:
        """Return the line."""
        return f"theano: waiting for {self._compiler} to say what it is, {self.seconds:.0f} s"


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False

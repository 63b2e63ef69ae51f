"""A line that says what the compilers are doing, for those who wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

PATIENCE = 1.0
"""Seconds after which somebody who waits wants to know what for."""


class ProgressLine:
    """One line on the standard error, written from the second second on and wiped away at the end.

    Where the standard error is no terminal, nothing is written, unless it is wanted in any case: then one line
    when the second is over and one at the end.

    Parameters
    ----------
    total : int
        How many kernels are compiled.
    wanted : {'auto', 'always', 'never'}
        ``'auto'``: on a terminal.
    stream : file, optional
        The standard error unless given.
    clock : callable, optional
        For tests.

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
    ):
        self._stream = sys.stderr if stream is None else stream
        self._terminal = _is_terminal(self._stream)
        self._shown = wanted == "always" or (wanted == "auto" and self._terminal)
        self._total, self._done = total, 0
        self._clock, self._start = clock, clock()
        self._written = ""

    def text(self) -> str:
        """Return the line."""
        kernels = f"{self._total} kernel{'s' if self._total != 1 else ''}"
        return f"theano: compiling {kernels}, {self._done} done, {self._clock() - self._start:.0f} s"

    def advance(self, count: int) -> None:
        """Note that some kernels are done."""
        self._done += count
        self.tick()

    def tick(self) -> None:
        """Write the line again if it is time for it and it has changed."""
        if not self._shown or self._clock() - self._start < PATIENCE:
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
        else:
            self._write(f"theano: {self._done} of {self._total} done after {self._clock() - self._start:.1f} s\n")
        self._written = ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._shown = False  # closed, or nobody reads it: compiling goes on

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.finish()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False

"""Where in the user's program an expression was written.

Every variable made by an op or a type remembers the frames of the user's code that led to it
(``variable.tag.trace``), so that an error met long after, in compiled code, can still name the line.
"""

from __future__ import annotations

import linecache
import sys
from types import FrameType
from typing import NamedTuple

# A trace is kept with each variable; more frames than these help nobody and cost at each op call.
TRACE_LIMIT = 8


class SourceLine(NamedTuple):
    """One frame of a user's program: file, line number and function name."""

    filename: str
    lineno: int
    function: str

    @property
    def text(self) -> str:
        """The line itself, stripped, or an empty string where the source cannot be read."""
        return linecache.getline(self.filename, self.lineno).strip()

    def __str__(self) -> str:
        return f"{self.filename}:{self.lineno}"


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name == "theano" or (name.startswith("theano.") and not name.startswith("theano.tests"))


def user_trace(limit: int = TRACE_LIMIT) -> tuple[SourceLine, ...]:
    """Return the user's frames around the current call, innermost first.

    Parameters
    ----------
    limit : int
        Largest number of frames.

    Returns
    -------
    tuple of SourceLine
        Frames of this library are left out, so the first one is the line that the user wrote.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    lines: list[SourceLine] = []
    while frame is not None and len(lines) < limit:
        code = frame.f_code
        lines.append(SourceLine(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(lines)


def created_at(variable: object) -> SourceLine | None:
    """Return the user's line that made ``variable``, or None where it is not known."""
    trace = getattr(getattr(variable, "tag", None), "trace", ())
    return trace[0] if trace else None

"""Where in the user's program an expression was written.

Every variable made by an op or a type remembers the frames of the user's code that led to it
(``variable.tag.trace``), so that an error met long after, in compiled code, can still name the line.
"""

from __future__ import annotations

import linecache
import sys
from _thread import _local as Local  # `threading.local`, without the millisecond that its module takes
from types import CodeType, FrameType
from typing import Any

from theano.extensions import Chain
from theano.graph.text import printable
from theano.records import NamedTuple

# Each variable keeps a trace; more frames than these are of no use and cost time at each op call.
_limit = 8


def set_trace_limit(limit: int) -> None:
    """Let variables remember this many frames from now on; all of them if ``limit`` is negative."""
    global _limit
    _limit = limit


#: The number of frames, ours included, that variables made while compiling remember.
_compile_limit = 0


def set_compile_trace_limit(limit: int) -> None:
    """Let variables made by rewriting remember this many frames from now on; all if ``limit`` is negative."""
    global _compile_limit
    _compile_limit = limit


class SourceLine(NamedTuple):
    """One frame of a user's program: file, line number and function name."""

    filename: str
    lineno: int
    function: str

    @property
    def text(self) -> str:
        """The line itself, stripped, or an empty string where the source cannot be read."""
        try:
            return linecache.getline(self.filename, self.lineno).strip()
        except (ValueError, OSError):  # no file can be called so
            return ""

    def __str__(self) -> str:
        cell = _cell_of(self.filename)
        return printable(f"{cell}, line {self.lineno}" if cell else f"{self.filename}:{self.lineno}")


def _cell_of(filename: str) -> str:
    """Return what a notebook calls the cell that it compiled under a name, such as ``Cell In[1]``, or an empty text."""
    try:
        found = sys.modules["IPython"].get_ipython().compile.format_code_name(filename)
    except (KeyError, AttributeError):  # no IPython, no shell of it, or one that numbers no cells
        return ""
    return " ".join(found) if found else ""


#: Packages under ``theano`` that use it as a user's program does.
user_packages: Chain[str] = Chain("graph.source.user_packages", "which packages of layers are users of the library")


def _is_ours(frame: FrameType) -> bool:
    name = f"{frame.f_globals.get('__name__', '')}."
    if not name.startswith("theano.") or ".tests.test_" in name:  # tests write programs, in any folder
        return False
    return not name.startswith(tuple(f"{package}." for package in user_packages))


#: Traces by the places of the frames in their code, with the code, so that no other code gets its id.
_traces: dict[tuple[int, ...], tuple[tuple[SourceLine, ...], list[CodeType]]] = {}
_MOST_TRACES = 10_000
_files: dict[str, bool] = {}


def _first_of_the_user(frame: FrameType | None) -> FrameType | None:
    files = _files
    while frame is not None:
        file = frame.f_code.co_filename
        ours = files.get(file)
        if ours is None:
            ours = files[file] = _is_ours(frame)
        if not ours:
            return frame
        frame = frame.f_back
    return None


class _Thread(Local):
    #: Let `user_trace` return nothing in this thread: what rewriting makes inherits the lines of what it replaces.
    #: With the flag ``traceback.compile_limit`` it returns the innermost frames instead, also those of this library.
    untraced = False


tracing = _Thread()


def user_trace(limit: int | None = None) -> tuple[SourceLine, ...]:
    """Return the user's frames around the current call, innermost first.

    Parameters
    ----------
    limit : int, optional
        Largest number of frames; negative for all of them.

    Returns
    -------
    tuple of SourceLine
        Frames of this library are left out, so the first one is the line that the user wrote.
    """
    if tracing.untraced:
        return _read_frames(sys._getframe(1), _compile_limit)[0] if _compile_limit else ()
    if limit is None:
        limit = _limit
    frame = start = _first_of_the_user(sys._getframe(1))
    places: list[int] = [limit]
    left = limit
    while frame is not None and left:
        places += (id(frame.f_code), frame.f_lasti)
        frame = frame.f_back
        left -= 1
    key = tuple(places)
    known = _traces.get(key)
    if known is None:
        if len(_traces) >= _MOST_TRACES:
            _traces.clear()
        known = _traces[key] = _read_frames(start, limit)
    return known[0]


def _read_frames(frame: FrameType | None, limit: int) -> tuple[tuple[SourceLine, ...], list[CodeType]]:
    lines: list[SourceLine] = []
    codes: list[CodeType] = []
    while frame is not None and len(lines) != limit:
        code = frame.f_code
        codes.append(code)
        lines.append(SourceLine(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(lines), codes


def created_at(variable: object) -> SourceLine | None:
    """Return the user's line that made ``variable``, or None where it is not known."""
    trace = getattr(getattr(variable, "tag", None), "trace", ())
    return trace[0] if trace else None


def copy_stack_trace(from_var: Any, to_var: Any) -> Any:
    """Let variables that a rewrite made remember the lines of those that they stand for.

    Parameters
    ----------
    from_var, to_var : Variable or list of Variable
        The lines of all of ``from_var`` become those of each of ``to_var``, after the ones it has itself.

    Returns
    -------
    Variable or list of Variable
        ``to_var``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x, y = generic("x"), generic("y")
    >>> x.tag.trace, y.tag.trace = (SourceLine("model.py", 3, "loss"),), ()
    >>> print(created_at(copy_stack_trace(x, y)))
    model.py:3
    """
    olds = list(from_var) if isinstance(from_var, (list, tuple)) else [from_var]
    news = list(to_var) if isinstance(to_var, (list, tuple)) else [to_var]
    lines = [line for v in olds for line in getattr(v.tag, "trace", ())]
    for v in news:
        v.tag.trace = tuple(dict.fromkeys([*getattr(v.tag, "trace", ()), *lines]))
    return to_var

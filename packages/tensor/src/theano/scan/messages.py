"""What the errors of ``theano.scan`` say beside what is wrong: which step it is about, and where it was written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import MissingInputError
from theano.graph.source import SourceLine, user_trace
from theano.runtime.failure import with_text

if TYPE_CHECKING:
    from theano.graph.variable import Variable


class naming:
    """A context that adds to errors where the function of the step is, and where the loop was written."""

    def __init__(self, fn: Callable[..., Any]):
        self.fn = fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, way: object) -> None:
        if isinstance(error, (TypeError, ValueError, IndexError, MissingInputError)):
            with_text(error, "\n".join([str(error), *_places(self.fn)]))


def call(fn: Callable[..., Any], arguments: Sequence[Variable]) -> Any:
    """Return what a step returns for ``arguments``.

    Raises
    ------
    TypeError
        It does not take as many.
    """
    try:
        return fn(*arguments)
    except TypeError:
        problem = _refused(fn, arguments)
        if problem is None:
            raise
    shown = ", ".join(map(str, arguments))
    text = (
        f"scan: the function of a step does not take what it is given: {problem}. It is given {len(arguments)}: "
        f"({shown}), the rows of sequences, then for each value of outputs_info that is not None what it was before, "
        "then non_sequences"
    )
    raise TypeError("\n".join([text, *_places(fn)]))


def _refused(fn: Callable[..., Any], arguments: Sequence[Variable]) -> str | None:
    """Return why a function cannot be called with as many arguments, None if it can, or if that is unknown."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*arguments)
    except TypeError as error:
        return str(error)
    return None


def _places(fn: Callable[..., Any]) -> list[str]:
    """Return lines about the function and the call."""
    code = getattr(fn, "__code__", None)
    lines = []
    if code is not None:
        first = SourceLine(code.co_filename, code.co_firstlineno, code.co_name)
        lines.append(f"  in the step {first.function} of {first}")
    called = user_trace()
    if called:
        lines.append(f"  written at {called[0]}" + (f": {called[0].text}" if called[0].text else ""))
    return lines

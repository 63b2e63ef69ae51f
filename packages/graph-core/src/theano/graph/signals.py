"""Exceptions that handlers of signals raise: a user's time-out is no failure of the code that it ends."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Call the handlers of signals that come meanwhile afterwards: for what cannot be tried again once interrupted.

    Only the main thread calls handlers, so in other threads nothing is deferred.

    Examples
    --------
    >>> import signal
    >>> before = signal.signal(signal.SIGTERM, lambda number, frame: print("handled"))
    >>> with deferred_signals():
    ...     signal.raise_signal(signal.SIGTERM)
    ...     print("work")
    work
    handled
    >>> _ = signal.signal(signal.SIGTERM, before)
    """
    # Most imports neither wait for a signal nor meet an error.
    import signal
    import threading

    came: list[int] = []
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for number in sorted(signal.valid_signals()):
                handler = signal.getsignal(number)
                if callable(handler) and not isinstance(handler, signal.Handlers):
                    # Undone also where the handler of another one, called as soon as it is back, raises.
                    stack.callback(_call_again, number, handler, came)
                    signal.signal(number, lambda number, frame: came.append(number))
        yield


def _call_again(number: int, handler: Callable[..., object], came: list[int]) -> None:
    import signal  # as above

    signal.signal(number, handler)
    if number in came:
        signal.raise_signal(number)


def let_signals_through(error: BaseException) -> None:
    """Raise ``error`` again if it, or what it came of, was raised by the handler of a signal.

    Code that catches errors of users' code, and goes on without it, calls this first. A handler is
    known by being registered, or by having been called as Python calls it: with the frame that it has interrupted. What
    another thread raises here (``PyThreadState_SetAsyncExc``) looks like one of the code itself.

    Examples
    --------
    >>> import signal
    >>> def handler(number, frame):
    ...     raise TimeoutError("too long")
    >>> before = signal.signal(signal.SIGTERM, handler)
    >>> for work in (lambda: signal.raise_signal(signal.SIGTERM), lambda: 1 / 0):
    ...     try:
    ...         try:
    ...             work()
    ...         except Exception as error:
    ...             let_signals_through(error)
    ...             print("a failure of the work")
    ...     except TimeoutError:
    ...         print("a time-out")
    a time-out
    a failure of the work
    >>> _ = signal.signal(signal.SIGTERM, before)
    """
    codes = None
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        cause = pending.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        codes = _registered() if codes is None else codes
        if _comes_from_handler(cause.__traceback__, codes):
            raise error
        pending += [cause.__cause__, cause.__context__]


def _comes_from_handler(trace: TracebackType | None, codes: set[CodeType]) -> bool:
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code in codes or _was_given_its_caller(frame):
            return True
        trace = trace.tb_next
    return False


def _was_given_its_caller(frame: FrameType) -> bool:
    code = frame.f_code
    if frame.f_back is None:
        return False
    names = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & inspect.CO_VARARGS:
        names.append(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
    values = frame.f_locals
    for name in names:
        value = values.get(name)
        if value is frame.f_back or (isinstance(value, tuple) and any(v is frame.f_back for v in value)):
            return True
    return False


def _registered() -> set[CodeType]:
    """Return the code of the functions that handle signals now."""
    import signal  # as above

    codes = set()
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        while handler is not None:
            code = getattr(handler, "__code__", None)
            if isinstance(code, CodeType):
                codes.add(code)
            # Methods, partial functions, wrappers, objects that can be called.
            handler = (
                getattr(handler, "__func__", None)
                or getattr(handler, "func", None)
                or getattr(handler, "__wrapped__", None)
                or _call_of(handler)
            )
    return codes


def _call_of(thing: object) -> Any:
    """Return the method behind calls of an object."""
    call = getattr(type(thing), "__call__", None)  # noqa: B004
    return call if inspect.isfunction(call) and not inspect.isroutine(thing) else None

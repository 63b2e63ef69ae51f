"""What runs in a worker of `theano.distributed.map`: a function that came as bytes, called for one task after another.

Everything travels as bytes that are pickled here, so that what cannot be pickled (a parameter, a result, an exception)
is a failure of one task and not of the engine.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import pickle
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import theano
from theano.compile.executable import Function
from theano.compile.shared import Container
from theano.distributed.units import Units
from theano.records import NamedTuple

#: What another one makes of a pickle need not be what was meant.
VERSIONS = (
    f"Theano {theano.__version__}, Python {sys.version_info.major}.{sys.version_info.minor} and "
    f"NumPy {np.__version__.partition('.')[0]}"
)


class Packed(NamedTuple):
    """A function as bytes, with the values of its shared variables, and the digest by which workers know it.

    Its machine code goes along to workers that may have another cache than this process, and so do `VERSIONS`.
    """

    digest: str
    data: bytes
    units: Units | None = None
    versions: str = VERSIONS


class Outcome(NamedTuple):
    """What became of a task: its result, or the error with its traceback as text."""

    kind: str  #: "result", "error", or "unloadable": the function could not be made from its bytes
    value: Any
    traceback: str = ""


def pack(function: Callable[..., Any]) -> Packed:
    """Return a function as bytes.

    Parameters
    ----------
    function : callable
        A function of `theano.function`, or any other that can be pickled.

    Raises
    ------
    TypeError
        It cannot be pickled.
    """
    cells: list[Container] = []
    compiled: list[Function] = []
    met: set[int] = set()
    file = io.BytesIO()
    pickler = _pickler()(file, pickle.HIGHEST_PROTOCOL)

    def note(obj: Any) -> None:
        if isinstance(obj, Container) and id(obj) not in met:
            met.add(id(obj))
            cells.append(obj)
        elif isinstance(obj, Function):
            compiled.append(obj)

    pickler.persistent_id = note
    try:
        # The list fills while the function is pickled: it comes second, and refers to what the function has.
        pickler.dump((function, cells))
    except Exception as exc:
        remedy = "" if _has_cloudpickle() else "; lambdas and functions in functions need: pip install cloudpickle"
        raise TypeError(f"distributed: {function!r} cannot be pickled: {exc}{remedy}") from exc
    data = file.getvalue()
    return Packed(hashlib.sha256(data).hexdigest(), data, Units(compiled))


def dumps(value: float | Outcome | Sequence[float] | Mapping[str, float]) -> bytes:
    """Return a value as bytes, by cloudpickle where it is installed: it pickles what the main program defines, too."""
    file = io.BytesIO()
    _pickler()(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def _has_cloudpickle() -> bool:
    return importlib.util.find_spec("cloudpickle") is not None


def _pickler() -> type:
    # By name: it is optional, and Dask brings it.
    base = importlib.import_module("cloudpickle").Pickler if _has_cloudpickle() else pickle.Pickler

    class Pickler(base):  # type: ignore[misc, valid-type]  # of one module or the other; attributes can be set on it
        pass

    return Pickler


class _Loaded:
    """A function that was made from bytes, and the first values of its shared variables."""

    def __init__(self, packed: Packed):
        if packed.versions != VERSIONS:
            raise RuntimeError(
                f"distributed: the worker {socket.gethostname()} has {VERSIONS}, and its client {packed.versions}: "
                "install the same versions on both"
            )
        # First the machine code, which is then there when functions are made from their pickle.
        if packed.units is not None:
            packed.units.receive()
        self.function, cells = pickle.loads(packed.data)
        self._first = [(c, c.data) for c in cells if not c.readonly]

    def reset(self) -> None:
        """Let each shared variable hold a copy of its first value."""
        for cell, value in self._first:
            cell.data = None if value is None else cell.type.value_copy(value)


class _Copies:
    """The copies of functions that no task works with: threads of one worker must not share one.

    Those of the last few functions are kept, since workers of a cluster live long.
    """

    KEPT = 32

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[_Loaded]] = {}

    def take(self, digest: str) -> _Loaded | None:
        """Return a copy for the exclusive use of the caller, if one exists."""
        with self._lock:
            copies = self._idle.get(digest)
            return copies.pop() if copies else None

    def give(self, digest: str, copy: _Loaded) -> None:
        """Take a copy back."""
        with self._lock:
            copies = self._idle.pop(digest, [])
            self._idle[digest] = [*copies, copy]
            while len(self._idle) > self.KEPT:
                del self._idle[next(iter(self._idle))]


_copies = _Copies()


def warm(packed: Packed) -> None:
    """Make the function from its bytes before the first task comes; each task reports a failure."""
    try:
        _copies.give(packed.digest, _Loaded(packed))
    except Exception:  # noqa: BLE001  (the tasks report it, with its traceback)
        return


def perform(packed: Packed, task: bytes) -> bytes:
    """Return the `Outcome` of a task, pickled.

    Parameters
    ----------
    packed : Packed
    task : bytes
        The pickled parameters.
    """
    copy = _copies.take(packed.digest)
    if copy is None:
        try:
            copy = _Loaded(packed)
        except Exception as exc:  # noqa: BLE001  (reported to the caller of map)
            return _failed("unloadable", exc)
    try:
        copy.reset()
        return pickle.dumps(Outcome("result", called(copy.function, pickle.loads(task))), pickle.HIGHEST_PROTOCOL)
    except (Exception, SystemExit) as exc:  # noqa: BLE001  (reported to the caller of map, with its parameters)
        return _failed("error", exc)
    finally:
        _copies.give(packed.digest, copy)


@contextmanager
def made(packed: Packed) -> Iterator[Any]:
    """Give a function, made from its bytes unless this process has an idle copy."""
    copy = _copies.take(packed.digest) or _Loaded(packed)
    try:
        yield copy.function
    finally:
        _copies.give(packed.digest, copy)


def called(function: Callable[..., Any], parameters: float | Sequence[float] | Mapping[str, float]) -> Any:
    """Call a function: a tuple has its arguments, a dict those with names, and anything else is the only one.

    Examples
    --------
    >>> called(divmod, (7, 2)), called(dict, {"a": 1}), called(len, [1, 2])
    ((3, 1), {'a': 1}, 2)
    """
    if isinstance(parameters, tuple):
        return function(*parameters)
    if isinstance(parameters, dict):
        return function(**parameters)
    return function(parameters)


def _failed(kind: str, error: BaseException) -> bytes:
    text = "".join(traceback.format_exception(error))
    if isinstance(error, Exception):
        try:
            data = dumps(Outcome(kind, error, text))
            pickle.loads(data)  # classes whose __init__ takes something else pickle well, and cannot be loaded
            return data
        except Exception:  # noqa: BLE001  (then another error tells of it)
            pass
    said = RuntimeError(f"{type(error).__name__}: {error}")
    return pickle.dumps(Outcome(kind, said, text))

"""What a function computes, node by node, written down once and compared afterwards: is a program deterministic?"""

from __future__ import annotations

import hashlib
import io
from typing import IO, Any

import numpy as np

from theano.compile.mode import Mode
from theano.compile.monitormode import MonitorMode
from theano.graph import Apply
from theano.runtime.interpreter import WrapLinker


class MismatchError(Exception):
    """A line is not the one that was recorded."""


class Record:
    """A sequence of lines that is written, or compared with the one that was written before.

    Parameters
    ----------
    file_object : file of text, optional
        Where the lines are. By default they stay in memory.
    file_path : str, optional
        The path of that file, in place of it.
    replay : bool
        Compare with the lines that are there; otherwise write them.

    Raises
    ------
    ValueError
        Both ``file_object`` and ``file_path`` are given.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO()
    >>> Record(file).handle_line("first\\n")
    >>> _ = file.seek(0)
    >>> Record(file, replay=True).handle_line("second\\n")
    Traceback (most recent call last):
    theano.tests.record.MismatchError: line 1 was 'first\\n', and is 'second\\n'
    """

    def __init__(self, file_object: IO[str] | None = None, file_path: str | None = None, replay: bool = False):
        if file_object is not None and file_path is not None:
            raise ValueError("Record: file_object and file_path are two ways to say one thing; give one of them")
        if file_path is not None:
            file_object = open(file_path, "r" if replay else "w")  # noqa: SIM115  (as long as there is the record)
        self.f: IO[str] = io.StringIO() if file_object is None else file_object
        self.replay = replay
        self.count = 0

    def handle_line(self, line: str) -> None:
        """Write a line, or compare it with the next one.

        Parameters
        ----------
        line : str
            With its newline.

        Raises
        ------
        MismatchError
            Another line was recorded there, or none.
        """
        self.count += 1
        if not self.replay:
            self.f.write(line)
            self.f.flush()
            return
        recorded = self.f.readline()
        if recorded != line:
            raise MismatchError(f"line {self.count} was {recorded!r}, and is {line!r}")


class RecordMode(MonitorMode):
    """Computes functions as the default mode does, and records each node with digests of its results.

    Parameters
    ----------
    record : Record, optional
    optimizer, linker
        As for a `MonitorMode`.
    **kwargs
        Those of a `Record`, in place of it.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> x = T.dvector("x")
    >>> record = Record()
    >>> theano.function([x], x.sum(), mode=RecordMode(record))([1.0, 2.0])
    array(3.)
    >>> print(record.f.getvalue().split(": ")[0])
    node 0, Sum{acc_dtype=float64}
    """

    def __init__(self, record: Record | None = None, optimizer: Any = "default", linker: Any = None, **kwargs: Any):
        if record is not None and kwargs:
            raise ValueError(f"RecordMode: these are of a Record, and one is given: {', '.join(kwargs)}")
        self.record = record if record is not None else Record(**kwargs)
        super().__init__(None, self._write, optimizer, linker)

    def set_record(self, record: Record) -> None:
        """Go on with another record."""
        self.record = record

    def _write(self, i: int, node: Apply, fn: Any) -> None:
        results = ", ".join(_digest(cell[0]) for cell in fn.outputs)
        self.record.handle_line(f"node {i}, {node.op}: {results}\n")

    def clone(self, link_kwargs: Any = None, optimizer: Any = "", **kwargs: Any) -> Mode:
        """Return a mode with the same record."""
        assert isinstance(self.linker, WrapLinker)
        inner = self.linker.linkers[0]
        linker = inner.clone(**link_kwargs) if link_kwargs else inner
        return type(self)(self.record, optimizer or self.optimizer, linker)


def _digest(value: Any) -> str:
    """Return a text that differs where a value does."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype != object:
        array = np.asarray(value)
        return f"{array.dtype} {array.shape} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]}"
    if isinstance(value, np.random.RandomState):
        return _digest(value.get_state())
    if isinstance(value, (list, tuple)):
        return " ".join(map(_digest, value))
    if hasattr(value, "indptr"):
        return " ".join(_digest(getattr(value, name)) for name in ("data", "indices", "indptr"))
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]

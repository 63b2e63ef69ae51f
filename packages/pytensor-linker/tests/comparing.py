"""What the tests share: graphs compiled for the mode THEANO and for PyTensor's mode of plain Python, on the same values."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor
import theano_pytensor  # noqa: F401
from pytensor.compile.mode import Mode

#: PyTensor's own `perform`, node by node, of the graph as it is written.
PY = Mode("py", None)

RNG = np.random.default_rng(51)


def value(dtype: str, shape: Sequence[int], low: float = -3, high: float = 3) -> Any:
    """Return an array of numbers of a dtype between two bounds."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return RNG.integers(0, 2, shape).astype(dtype)
    if kind in "iu":
        return RNG.integers(max(0, low) if kind == "u" else int(low), int(high) + 1, shape).astype(dtype)
    made = RNG.uniform(low, high, shape)
    return np.asarray(made + 1j * RNG.uniform(low, high, shape) if kind == "c" else made, dtype)


def compare(inputs: Sequence[Any], outputs: Any, values: Sequence[Any], rtol: float | None = None) -> Any:
    """Return the function of our mode, whose results for ``values`` are those of PyTensor's Python."""
    single = not isinstance(outputs, (list, tuple))
    outputs = [outputs] if single else list(outputs)
    ours = pytensor.function(list(inputs), outputs, mode="THEANO", on_unused_input="ignore")
    theirs = pytensor.function(list(inputs), outputs, mode=PY, on_unused_input="ignore")
    for got, wanted in zip(ours(*values), theirs(*values), strict=True):
        if hasattr(wanted, "toarray"):
            assert got.format == wanted.format
            got, wanted = got.toarray(), wanted.toarray()
        if isinstance(wanted, np.generic):  # some `perform` of PyTensor's leave an array's only element
            wanted = np.asarray(wanted)
        assert type(got) is type(wanted)
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        exact = got.dtype.kind not in "fc"
        eps = 0 if exact else float(np.finfo(got.dtype).eps)
        np.testing.assert_allclose(got, wanted, rtol=0 if exact else rtol or 64 * eps, atol=0 if exact else 64 * eps)
    return ours


class Performed(logging.Handler):
    """The lines of the log about ops that run as PyTensor's ``perform``, while it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(record.getMessage())

    def __enter__(self) -> Performed:
        log = logging.getLogger("theano_pytensor")
        log.addHandler(self)
        log.setLevel(logging.INFO)
        return self

    def __exit__(self, *exc: object) -> None:
        logging.getLogger("theano_pytensor").removeHandler(self)

"""What Python 2 had and the translation of a source does not show: whole division, and pickles read as text."""

from __future__ import annotations

import builtins
import operator
import pickle
import string
import sys
from typing import Any

import numpy as np


def whole(value: Any) -> bool:
    """Return whether a value is an integer, or an array of them."""
    return isinstance(value, (int, np.integer)) or (isinstance(value, np.ndarray) and value.dtype.kind in "iub")


def division(a: Any, b: Any) -> Any:
    """Return what ``a / b`` was: whole for integers, and what a class says for itself in ``__div__``."""
    if whole(a) and whole(b):
        return a // b
    for value, other, name in ((a, b, "__div__"), (b, a, "__rdiv__")):
        method = getattr(type(value), name, None)
        if method is not None and not isinstance(value, np.ndarray):
            return method(value, other)
    return a / b


def division_in_place(a: Any, b: Any) -> Any:
    """Return what ``a`` was after ``a /= b``."""
    if whole(a) and whole(b):
        return operator.ifloordiv(a, b)
    return operator.itruediv(a, b) if isinstance(a, np.ndarray) else division(a, b)


def bytes_of(file: Any) -> Any:
    """Return the file of bytes below a file that was opened as text, which was the same."""
    return getattr(file, "buffer", file)


load, dump = pickle.load, pickle.dump
builtins.division, builtins.division_in_place = division, division_in_place  # type: ignore[attr-defined]
builtins.cmp = lambda a, b: (a > b) - (a < b)  # type: ignore[attr-defined]
pickle.load = lambda file, **options: load(bytes_of(file), **{"encoding": "latin-1", **options})
pickle.dump = lambda obj, file, protocol=None: dump(obj, bytes_of(file), protocol)
sys.modules["cPickle"] = pickle
sys.maxint = sys.maxsize  # type: ignore[attr-defined]
string.letters, string.lowercase, string.uppercase = (  # type: ignore[attr-defined]
    string.ascii_letters, string.ascii_lowercase, string.ascii_uppercase
)  # fmt: skip

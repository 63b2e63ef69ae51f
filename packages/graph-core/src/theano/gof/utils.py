"""``theano.gof.utils``: small helpers of older programs; see also :mod:`theano.errors` and :mod:`theano.graph`."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from theano.errors import MethodNotDefined
from theano.graph.variable import Scratchpad as scratchpad

T = TypeVar("T")

object2 = object

#: How many bits an address has, and a C long.
LOCAL_BITWIDTH = 8 * struct.calcsize("P")
PYTHON_INT_BITWIDTH = 8 * struct.calcsize("l")


def hashtype(self: object) -> int:
    """Return a hash of the class of an object, the same in all processes that fix Python's hash seed.

    Examples
    --------
    >>> hashtype(1) == hashtype(2), hashtype(1) == hashtype("")
    (True, False)
    """
    kind = type(self)
    return hash((kind.__module__, kind.__name__))


def uniq(seq: Iterable[T]) -> list[T]:
    """Return the elements of a sequence without those that came before.

    Examples
    --------
    >>> uniq([3, 1, 3, 2, 1])
    [3, 1, 2]
    """
    return list(dict.fromkeys(seq))


def difference(seq1: Iterable[T], seq2: Iterable[T]) -> list[T]:
    """Return the elements of one sequence that are not in another.

    Examples
    --------
    >>> difference([3, 1, 2], [1])
    [3, 2]
    """
    others = list(seq2)
    return [x for x in seq1 if x not in others]


def to_return_values(values: Sequence[T]) -> Sequence[T] | T:
    """Return the only element of a sequence, or the sequence.

    Examples
    --------
    >>> to_return_values([1]), to_return_values([1, 2])
    (1, [1, 2])
    """
    return values[0] if len(values) == 1 else values


def from_return_values(values: Any) -> list[Any]:
    """Return what a function gave as a list, be it one value or several.

    Examples
    --------
    >>> from_return_values(1), from_return_values((1, 2))
    ([1], [1, 2])
    """
    return list(values) if isinstance(values, (list, tuple)) else [values]


def apply_across_args(*fns: Callable[[Any], T]) -> Any:
    """Return functions of several arguments (or one sequence of them) from functions of one.

    Examples
    --------
    >>> integers, texts = apply_across_args(int, str)
    >>> integers("1", "2"), integers(["1", "2"]), texts(1)
    ([1, 2], [1, 2], '1')
    """
    spread = [_across(fn) for fn in fns]
    return spread[0] if len(spread) == 1 else spread


def _across(fn: Callable[[Any], T]) -> Callable[..., T | list[T]]:
    def across(*args: Any) -> T | list[T]:
        several = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        return fn(several[0]) if len(several) == 1 else [fn(x) for x in several]

    return across


__all__ = [
    "LOCAL_BITWIDTH",
    "PYTHON_INT_BITWIDTH",
    "MethodNotDefined",
    "apply_across_args",
    "difference",
    "from_return_values",
    "hashtype",
    "object2",
    "scratchpad",
    "to_return_values",
    "uniq",
]

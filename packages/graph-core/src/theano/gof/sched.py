"""``theano.gof.sched``: orders of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def key_to_cmp(key: Callable[[Any], Any]) -> Callable[[Any, Any], int]:
    """Return a function that compares two things by a key, as ``functools.cmp_to_key`` takes them.

    Examples
    --------
    >>> compare = key_to_cmp(len)
    >>> compare("a", "bcd"), compare("ab", "cd"), compare("abc", "")
    (-1, 0, 1)
    """

    def compare(a: Any, b: Any) -> int:
        mine, others = key(a), key(b)
        return int(mine > others) - int(mine < others)

    return compare


__all__ = ["key_to_cmp"]

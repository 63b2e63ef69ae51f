"""A helper of tests for results that depend on the addresses of objects, such as the order of a set."""

from __future__ import annotations

from datetime import datetime

_kept: list[list[int]] = []


def disturb_mem() -> None:
    """Allocate a number of objects that depends on the time, and keep them until the next call.

    Examples
    --------
    >>> disturb_mem()
    """
    count, length = divmod(datetime.now().microsecond, 1000)
    _kept[:] = [[0] * length for _ in range(count)]

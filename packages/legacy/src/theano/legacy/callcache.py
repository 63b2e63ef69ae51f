"""A dictionary of results of calls that can be kept in a file."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any


class CallCache:
    """Keeps results of calls.

    Parameters
    ----------
    filename : str, optional
        A file that `persist` wrote before, where there is one. It is read as a pickle: only open your own.

    Examples
    --------
    >>> cache = CallCache()
    >>> cache.call(max, (1, 2)), cache.cache
    (2, {(<built-in function max>, (1, 2)): 2})
    """

    def __init__(self, filename: str | None = None) -> None:
        self.filename = filename
        known = filename is not None and Path(filename).exists()
        self.cache: dict[Hashable, Any] = pickle.loads(Path(filename).read_bytes()) if filename and known else {}

    def persist(self, filename: str | None = None) -> None:
        """Write the results into a file, otherwise that of the constructor."""
        target = filename or self.filename
        if target is None:
            raise ValueError("persist needs the name of a file")
        Path(target).write_bytes(pickle.dumps(self.cache))

    def call(self, fn: Callable[..., Any], args: Sequence[Any] = (), key: Hashable | None = None) -> Any:
        """Return ``fn(*args)``, computed once for ``key``, or else for the function and its arguments."""
        key = (fn, tuple(args)) if key is None else key
        if key not in self.cache:
            self.cache[key] = fn(*args)
        return self.cache[key]

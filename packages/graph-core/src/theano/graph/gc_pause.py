"""Holding Python's search for cyclic garbage while a great many objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Callable


def gc_restorer() -> Callable[[], object]:
    """Return what to call when cyclic garbage has been held and may be looked for again as it is now.

    Looking through the nodes of a graph again and again took a sixth of the time of rewriting them. This is no context
    manager: what is returned is a builtin, so that Ctrl-C cannot come between ``finally`` and its work.

    Examples
    --------
    >>> import gc
    >>> release = gc_restorer()
    >>> try:
    ...     gc.disable()
    ... finally:
    ...     release()
    >>> gc.isenabled()
    True
    """
    return gc.enable if gc.isenabled() else gc.isenabled

"""Who registered what: rules and passes of our own modules are known by name, those from outside are not.

Names of our own rules say, with the text of our modules, what rewriting does, so that a compiled function can be found
in the cache by them. Whatever a user's program registers ends that.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from theano.graph.canonical import is_ours

#: The namespace of one of our modules, or None for other code.
Registrar = dict[str, Any] | None


def importing() -> Registrar:
    """Return the names of that module of ours which registers something while it is imported, if one does."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and is_ours(frame.f_globals.get("__name__", "")):
        if frame.f_code.co_name == "<module>":
            return frame.f_globals
        frame = frame.f_back
    return None


def is_left_over(module: Registrar) -> bool:
    """Return whether an import was ended half-way: the module is gone, and will register the same once more."""
    return module is not None and getattr(sys.modules.get(module["__name__"]), "__dict__", None) is not module


class ChangeCount:
    """How often any sequence or phase was changed: earlier copies of them may be old."""

    count = 0

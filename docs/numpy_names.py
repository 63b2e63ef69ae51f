"""The page of NumPy's names: which of its functions are here, and under which name."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import theano.tensor as T
from theano.tensor import numpy_calls

HEAD = """# NumPy's functions

Of the {total} functions of `numpy` and `numpy.linalg`, {here} are here. `numpy.f(x)` of a variable `x` leads to the
function in the right column, where there is an arrow; it has the shape, dtype and values of NumPy's. What has no arrow
makes new arrays, and is called by its name here. What is absent raises a TypeError that says so.

"""


def page() -> str:
    """Return the page: a table of each module, and what is absent."""
    text, total, here = "", 0, 0
    for module, prefix in ((np, "T"), (np.linalg, "T.linalg")):
        rows, absent = [], []
        for name in sorted(module.__all__):
            f = getattr(module, name)
            if not hasattr(f, "__name__") or isinstance(f, (type, ModuleType)):
                continue
            total += 1
            ours = _name(name, f, prefix)
            if ours is None:
                absent.append(f"`{name}`")
            else:
                here += 1
                rows.append(f"| `{module.__name__}.{name}` | {ours} |\n")
        text += f"## `{module.__name__}`\n\n| NumPy | here |\n|---|---|\n{''.join(rows)}\n"
        text += f"Absent: {', '.join(absent)}.\n\n" if absent else ""
    return HEAD.format(total=total, here=here) + text.rstrip() + "\n"


def _name(name: str, f: Any, prefix: str) -> str | None:
    """Return how our counterpart is called, or None."""
    ours = numpy_calls.counterpart(f)
    namespace = T if prefix == "T" else T.linalg
    if ours is None:
        return f"`{prefix}.{name}`" if prefix == "T" and callable(getattr(namespace, name, None)) else None
    own = f.__name__
    for known in (name, own, numpy_calls.RENAMED.get(own, own), own.removeprefix("a"), getattr(ours, "__name__", own)):
        if callable(getattr(namespace, known, None)):
            return f"→ `{prefix}.{known}`"
    return "→ an expression"

"""The inventories of NumPy, SciPy and Python for references to them, made of their own names.

Sphinx would fetch these from the network, and the build would fail or wait without it. Where each name has its page
follows from the name.
"""

from __future__ import annotations

import builtins
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special

SITES = {
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "python": "https://docs.python.org/3/",
}


def _lines(project: str) -> Iterator[str]:
    """Yield the names of a project: what each is, and its page."""
    if project == "python":
        for name, thing in vars(builtins).items():
            if inspect.isclass(thing) and issubclass(thing, BaseException):
                yield f"{name} exception library/exceptions.html"
            elif inspect.isclass(thing) or inspect.isroutine(thing):
                yield f"{name} {_kind(thing)} library/functions.html"
        return
    modules = [np, np.linalg] if project == "numpy" else [scipy.special, scipy.linalg, scipy.sparse]
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                full = f"{module.__name__}.{name}"
                yield f"{full} {_kind(thing)} reference/generated/{full}.html"


def _kind(thing: object) -> str:
    return "class" if inspect.isclass(thing) else "function"


def mapping() -> dict[str, tuple[str, str]]:
    """Return what ``intersphinx_mapping`` is: for each project its site and the file of its names."""
    folder, found = Path(tempfile.mkdtemp(prefix="inventories")), {}
    for project, site in SITES.items():
        text = f"# Sphinx inventory version 1\n# Project: {project}\n# Version: stable\n"
        path = folder / f"{project}.inv"
        path.write_text(text + "\n".join(_lines(project)) + "\n", encoding="utf-8")
        found[project] = (site, str(path))
    return found

"""Families of rules: the modules that hold rules, and the order in which the rules of a phase meet a node.

A family is a module. Each layer states the order of its families in one place, where it calls `in_order`; within a
family the order is that of its statements. The rules of a phase are kept in that order whichever module is imported
first. The families of a layer come after those of the layers below it, and rules of others after all families, in the
order in which they were registered.

A layer names the packages that bring its families at the point `packages`. Nothing of them is loaded before the first
look at the common sequence, or the first rule: a program that finds its functions in the cache rewrites nothing.
Rules that are about some ops alone wait until the module of these is there, too.
"""

from __future__ import annotations

import importlib
import sys
from threading import get_ident

from theano.extensions import Table
from theano.rewriting.registration import importing

#: Packages that hold rules, of which each imports all of its families; for each, the module of the ops that all its
#: rules are about, or None where no such module exists.
packages: Table[str, str | None] = Table("rewriting.families.packages", "which packages hold rules")

#: For the name of a module its place among the families of all layers.
places: Table[str, int] = Table("rewriting.families.places", "when the rules of a family are tried")

# The thread that imports the rules, while it does.
_loading: int | None = None

#: The place of whatever is in no family.
LAST = float("inf")


def in_order(*modules: str) -> None:
    """Say in which order the rules of ``modules`` are tried, after those of the families that are known already.

    Examples
    --------
    >>> in_order("example.useless", "example.algebra")
    >>> place("example.useless") < place("example.algebra") < place("example.other")
    True
    >>> for name in ("example.useless", "example.algebra"):
    ...     del places[name]
    """
    for module in modules:
        places.setdefault(module, len(places))


def known() -> list[str]:
    """Return the families of all layers that are loaded, in order."""
    return sorted(places, key=places.__getitem__)


def place(module: str | None) -> float:
    """Return where the rules of a module belong."""
    return LAST if module is None else places.get(module, LAST)


def load() -> None:
    """Import the rules of all layers that are there.

    Each time, since an import that was interrupted leaves nothing behind. To import a loaded module takes no time. A
    package that is being imported asks for the sequence to register its rules, and has it as it is, as has a family
    that another thread imports by itself; other threads wait.
    """
    global _loading
    if _loading == get_ident():
        return
    module = importing()
    if module is not None and module["__name__"] in places:
        return
    for package, ops in list(packages.items()):
        if ops is not None and ops not in sys.modules:
            continue
        before, _loading = _loading, get_ident()
        try:
            importlib.import_module(package)
        finally:
            _loading = before


# The rule that computes what is constant is declared with the sequence itself.
in_order("theano.rewriting.declare")

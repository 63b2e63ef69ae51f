"""The message if files of an older Theano are in a folder that is searched for parts of ``theano``.

Both have that import name. Installed into one folder, each writes over files of the other, and a program would run
parts of both. Nothing here imports other modules of Theano: they may be the other's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NoReturn

#: Distributions that bring a folder ``theano`` of their own.
DISTRIBUTIONS = ("Theano", "Theano-PyMC")


def refuse(folders: Iterable[str]) -> NoReturn:
    """Raise an error that says which files are in the way, and what to do.

    Parameters
    ----------
    folders : iterable of str
        Where ``theano`` is searched for; the first with files of an older one is named.

    Raises
    ------
    ImportError
        Always.

    Examples
    --------
    >>> refuse(["/usr/lib/python3/dist-packages/theano"])
    Traceback (most recent call last):
     ...
    ImportError: /usr/lib/python3/dist-packages/theano has files of an older Theano, ...
    """
    places = list(folders)
    folder = next((place for place in places if os.path.exists(f"{place}/configdefaults.py")), places[0])
    found = _installed(os.path.dirname(folder))
    whose = f" ({' and '.join(found)})" if found else ""
    raise ImportError(
        f"{folder} has files of an older Theano{whose}, which cannot be installed beside this one: "
        f"run `pip uninstall -y {' '.join(name.partition(' ')[0] for name in found) or ' '.join(DISTRIBUTIONS)}`, "
        "remove that folder if it is still there, "
        "then `pip install --force-reinstall` the theano-* distributions that you use"
    )


def _installed(folder: str) -> list[str]:
    """Return the names and versions of the older distributions that a folder has; they end with 1."""
    from importlib import metadata  # only here: it takes longer to load than what it is needed for

    there = metadata.distributions(path=[folder])
    known = [(each.metadata["Name"] or "", each.version) for each in there]
    old = {name.lower() for name in DISTRIBUTIONS}
    named = [(name, version) for name, version in known if name.lower().replace("_", "-") in old]
    return sorted(f"{name} {version}" for name, version in named if version[:2] in ("0.", "1."))

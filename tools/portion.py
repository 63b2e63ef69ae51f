"""Which cases of a large table the tests try: a rotating part of it in every check, all of them by ``nox -s full``.

The part follows from the commit, so that a few commits try all cases and a run can be repeated: pytest prints the
number, and ``pytest --cases NUMBER`` tries the same part again. ``--cases all`` tries everything.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

VARIABLE = "TEST_CASES"
"""The environment variable by which processes of pytest-xdist learn of the option ``--cases``: a number, or ``all``."""


@cache
def turn() -> int | None:
    """Return the number that decides which part is tried, or None for all cases.

    Returns
    -------
    int or None
        What ``--cases`` says, or else the first digits of the commit's hash; 0 outside a clone.
    """
    wish = os.environ.get(VARIABLE)
    if wish:
        return None if wish == "all" else int(wish)
    ask = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return int(subprocess.run(ask, capture_output=True, text=True, check=True).stdout[:6], 16)
    except (OSError, subprocess.CalledProcessError):
        return 0


def everything() -> bool:
    """Return whether all cases are tried."""
    return turn() is None


def portion(cases: Iterable[T], one_in: int = 3, always: int = 1, which: int = 0) -> list[T]:
    """Return the cases that this run tries: the first ones, and each n-th of the others.

    Parameters
    ----------
    cases : iterable
        All of them.
    one_in : int
        One in how many is tried. After as many turns all have been.
    always : int
        How many at the start every run tries.
    which : int
        Another part for each number: tests of one table with ``one_in`` numbers in a row try all of it between them.

    Examples
    --------
    >>> len(portion(range(31), one_in=3)) in (11, 31)
    True
    """
    found, now = list(cases), turn()
    return found if now is None else found[:always] + found[always + (now + which) % one_in :: one_in]

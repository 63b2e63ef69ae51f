"""Lines of the doctor's page, and where layers register those of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Line(NamedTuple):
    """One line of the page.

    Parameters
    ----------
    topic : str
        What it is about.
    text : str
        What was found.
    ok : bool
        Whether all is well.
    remedy : str
        The command that mends it.
    essential : bool
        Whether Theano cannot work (or cannot compile) like this; the doctor then ends with status 1.

    Examples
    --------
    >>> print(Line("compiler", "was not found", False, "sudo apt-get install gcc"))
    ! compiler   was not found
                 -> sudo apt-get install gcc
    """

    topic: str
    text: str
    ok: bool = True
    remedy: str = ""
    essential: bool = False

    def __str__(self) -> str:
        text = f"{' ' if self.ok else '!'} {self.topic:<10} {self.text}"
        return text if self.ok or not self.remedy else f"{text}\n{'':13}-> {self.remedy}"


checks: dict[str, Callable[[], Iterable[Line]]] = {}
"""What layers have registered: a name and a function that returns lines."""


def register_check(name: str, check: Callable[[], Iterable[Line]]) -> None:
    """Add a check to the doctor's page; a layer calls this when it is imported.

    Parameters
    ----------
    name : str
        What it checks. ``"BLAS"`` takes the place of the line about the tensor layer missing.
    check : callable
        Returns lines.

    Examples
    --------
    >>> register_check("example", lambda: [Line("example", "fine")])
    >>> [line.text for line in checks.pop("example")()]
    ['fine']
    """
    checks[name] = check

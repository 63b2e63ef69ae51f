"""Lines of the doctor's page, and the point at which layers add their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from theano.extensions import Table
from theano.records import record


@record(frozen=True)
class Line:
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


#: Functions that return lines, by what they check.
checks: Table[str, Callable[[], Iterable[Line]]] = Table("toolchain.checks.checks", "what else the doctor looks at")

#: Functions that measure what is fastest on this machine, keep it, and return lines on what they found, by layer.
calibrations: Table[str, Callable[[], Iterable[Line]]] = Table("toolchain.checks.calibrations", "what can be measured")

"""What kernels are handed the addresses of, by families: layers say how a process finds them."""

from __future__ import annotations

from collections.abc import Callable

from theano.extensions import Table
from theano.records import record


@record(frozen=True)
class PointerFamily:
    """How a process finds what pointers of one family name, and what tells whether another found the same.

    Parameters
    ----------
    find : callable
        From a name (without the family) to the address in this process; 0 if it is missing. Programs keep what it
        returns: a `Pointer` can hold what is at the address.
    identity : callable
        A text; where two processes agree in it, a kernel works the same with the addresses of either.
    """

    find: Callable[[str], int]
    identity: Callable[[], str]


#: The families, by name.
pointer_families: Table[str, PointerFamily] = Table("graph.pointers.pointer_families", "where a pointer leads to")

"""Shapes of arrays that stretch against each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape in which arrays meet, as ``numpy.broadcast_shapes`` does, which knows 32 dimensions only.

    Examples
    --------
    >>> broadcast_shape((3, 1), (4,)), len(broadcast_shape((1,) * 64, (2,)))
    ((3, 4), 64)
    """
    found = []
    for lengths in zip_longest(*(reversed(s) for s in shapes), fillvalue=1):
        wide = {n for n in lengths if n != 1}
        if len(wide) > 1:
            raise ValueError(f"shapes do not broadcast together: {', '.join(map(str, map(tuple, shapes)))}")
        found.append(wide.pop() if wide else 1)
    return tuple(reversed(found))

"""How what shards have found is combined: in a tree that depends on their number alone.

So no engine, and no number of workers, changes a bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

#: How parts of each kind are combined, always in the order of the shards.
COMBINATIONS: Mapping[str, np.ufunc] = {
    "sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "logsumexp": np.logaddexp,
}  # fmt: skip
FAN_IN = 8
"""How many neighbours are combined at once."""

#: A shard's number, or the nodes that are combined.
Node = Any


def tree(shards: int) -> list[Node]:
    """Return the nodes that the root of the tree combines: shards, or lists of nodes.

    Examples
    --------
    >>> tree(3), tree(10)
    ([0, 1, 2], [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9]])
    """
    nodes: list[Node] = list(range(shards))
    while len(nodes) > FAN_IN:
        nodes = [nodes[i : i + FAN_IN] for i in range(0, len(nodes), FAN_IN)]
    return nodes


@dataclass(frozen=True)
class Combination:
    """What makes one list of results of those of several shards.

    Attributes
    ----------
    kinds : tuple of str
        Of each result, the key of `COMBINATIONS`.

    Examples
    --------
    >>> Combination(("sum", "max")).several([[1, 5], [2, 7], [3, 6]])
    [np.int64(6), np.int64(7)]
    """

    kinds: tuple[str, ...]

    def _two(self, a: Sequence[object], b: Sequence[object]) -> list[Any]:
        return [COMBINATIONS[kind](x, y) for kind, x, y in zip(self.kinds, a, b, strict=True)]

    def several(self, results: Iterable[Sequence[Any]]) -> list[Any]:
        """Return what neighbours make together, in their order."""
        whole: Sequence[Any] = reduce(self._two, results)
        return list(whole)

    def at(self, node: Node, found: Callable[[int], Sequence[Any]]) -> list[Any]:
        """Return what a node makes of what is found for its shards, which are asked for one after the other."""
        if isinstance(node, list):
            return self.several(self.at(child, found) for child in node)
        return list(found(node))

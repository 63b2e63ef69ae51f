"""How much memory the values of a graph take at one time, in the order in which its nodes run and in the best one."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from theano.graph.apply import Apply
from theano.graph.variable import Variable
from theano.records import NamedTuple, record

#: How many sets of nodes that have run the search for the best order looks at.
MOST_STATES = 20_000


class NodeMemory(NamedTuple):
    """The outputs of one node: bytes of those that take memory of their own, and how each comes about."""

    node: Apply
    total: int
    kinds: tuple[str, ...]


@record(frozen=True)
class Memory:
    """What the values of a graph take.

    Attributes
    ----------
    nodes : list of NodeMemory
    peak : int
        The most at one time, each value being dropped after its last use.
    without_gc : int
        The same if no value is dropped.
    least : int or None
        The most at one time in the best order, if that was searched for.
    exact : bool
        Whether no order does with less than ``least``.
    """

    nodes: list[NodeMemory]
    peak: int
    without_gc: int
    least: int | None = None
    exact: bool = True


def memory_of(
    nodes: Sequence[Apply], outputs: Sequence[Variable], sizes: Mapping[Variable, int], search: bool = False
) -> Memory:
    """Return what the values of a graph take.

    Parameters
    ----------
    nodes : list of Apply
        In the order in which they run.
    outputs : list of Variable
        What is still needed at the end.
    sizes : dict from Variable to int
        Bytes of each value.
    search : bool
        Search for the order that needs least.
    """
    rows = []
    for node in nodes:
        kinds = tuple(_kind(node, i) for i in range(len(node.outputs)))
        total = sum(sizes.get(v, 0) for v, kind in zip(node.outputs, kinds, strict=True) if kind == "c")
        rows.append(NodeMemory(node, total, kinds))
    blocks = _Blocks(nodes, outputs, sizes)
    peak = blocks.peak(range(len(nodes)))
    least, exact = blocks.best(peak) if search else (None, True)
    return Memory(rows, peak, sum(row.total for row in rows), least, exact)


def _kind(node: Apply, i: int) -> str:
    return "i" if i in node.op.destroy_map else "v" if i in node.op.view_map else "c"


class _Blocks:
    """Pieces of memory: who makes each, and who is the last to need it."""

    def __init__(self, nodes: Sequence[Apply], outputs: Sequence[Variable], sizes: Mapping[Variable, int]):
        self.count = len(nodes)
        number = {node: i for i, node in enumerate(nodes)}
        block_of: dict[Variable, int] = {}
        self.bytes: list[int] = []
        self.maker: list[int] = []
        users: list[int] = []
        self.before = [0] * self.count
        for i, node in enumerate(nodes):
            for v in node.inputs:
                if v.owner in number:
                    self.before[i] |= 1 << number[v.owner]
                if v in block_of:
                    users[block_of[v]] |= 1 << i
            self._add_outputs(node, i, sizes, block_of, users)
        self._order_destroyers(nodes, block_of, users)
        #: A block is needed until all of these have run; what is returned, for ever.
        self.users = users
        for v in outputs:
            if v in block_of:
                self.users[block_of[v]] = -1

    def _add_outputs(
        self, node: Apply, i: int, sizes: Mapping[Variable, int], block_of: dict[Variable, int], users: list[int]
    ) -> None:
        for o, v in enumerate(node.outputs):
            shared = [*node.op.view_map.get(o, ()), *node.op.destroy_map.get(o, ())]
            within = next((block_of[node.inputs[k]] for k in shared if node.inputs[k] in block_of), None)
            if within is not None:
                block_of[v] = within
            elif not shared:
                block_of[v] = len(self.bytes)
                self.bytes.append(sizes.get(v, 0))
                self.maker.append(i)
                users.append(1 << i)

    def _order_destroyers(self, nodes: Sequence[Apply], block_of: Mapping[Variable, int], users: list[int]) -> None:
        """Let nodes that overwrite memory run after the nodes that ran before them and read it."""
        for i, node in enumerate(nodes):
            for destroyed in node.op.destroy_map.values():
                for k in destroyed:
                    if node.inputs[k] in block_of:
                        self.before[i] |= users[block_of[node.inputs[k]]] & ((1 << i) - 1)

    def live(self, done: int) -> int:
        """Return the bytes that are needed when the nodes of the set ``done`` have run."""
        return sum(
            size
            for size, maker, users in zip(self.bytes, self.maker, self.users, strict=True)
            if done >> maker & 1 and users & ~done
        )

    def running(self, done: int, i: int) -> int:
        """Return the bytes that are in use while node ``i`` runs after the set ``done``."""
        return self.live(done) + sum(size for size, maker in zip(self.bytes, self.maker, strict=True) if maker == i)

    def peak(self, order: Sequence[int]) -> int:
        """Return the most at one time in some order."""
        done = most = 0
        for i in order:
            most = max(most, self.running(done, i))
            done |= 1 << i
        return most

    def best(self, bound: int) -> tuple[int, bool]:
        """Return the least peak of all orders, and whether it is that for sure: a search along the lowest peaks."""
        whole = (1 << self.count) - 1
        queue = [(0, 0, 0)]
        seen: set[int] = set()
        while queue:
            most, _, done = heapq.heappop(queue)
            if done == whole:
                return most, True
            if done in seen:
                continue
            seen.add(done)
            if len(seen) > MOST_STATES:
                return bound, False
            for i in range(self.count):
                if not done >> i & 1 and not self.before[i] & ~done:
                    peak = max(most, self.running(done, i))
                    if peak <= bound:
                        heapq.heappush(queue, (peak, -done.bit_count() - 1, done | 1 << i))
        return bound, True

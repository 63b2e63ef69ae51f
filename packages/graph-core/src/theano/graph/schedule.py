"""In which order nodes run, where more than what they need of each other counts.

The common order (`theano.graph.traverse.toposort`) is by need alone. An op whose nodes wait for something outside, such
as another process, says with its `priority` that they begin early or end late, so that the rest is computed meanwhile;
a linker may be given a schedule of its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph

Node = Apply[Any, Any]
Compare = Callable[[Any, Any], int]


def sort_nodes(
    nodes: Sequence[Node], key: Callable[[Node], Any], orderings: Mapping[Apply, Sequence[Apply]] | None = None
) -> list[Node]:
    """Return nodes in order: of those whose inputs are there the one with the least key, and among equals the first.

    Parameters
    ----------
    nodes : list of Apply
        In an order in which they can run.
    key : callable
        From a node to what is compared.
    orderings : dict from Apply to list of Apply, optional
        Further nodes that must come before a node.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Step(Op):
    ...     __props__ = ("name",)
    ...     itypes = otypes = [generic]
    ...     def __init__(self, name):
    ...         self.name = name
    ...     def __str__(self):
    ...         return self.name
    >>> x = generic("x")
    >>> first, second, third = Step("a")(x).owner, Step("c")(x).owner, Step("b")(x).owner
    >>> sort_nodes([second, first, third], lambda node: node.op.name)
    [a(x), b(x), c(x)]
    """
    number = {node: i for i, node in enumerate(nodes)}
    waits_for = [0] * len(nodes)
    users: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        needs = {v.owner for v in node.inputs} | set((orderings or {}).get(node, ()))
        for need in needs & number.keys():
            users[number[need]].append(i)
            waits_for[i] += 1
    ready = [(key(node), i) for i, node in enumerate(nodes) if not waits_for[i]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, i = heapq.heappop(ready)
        order.append(nodes[i])
        for user in users[i]:
            waits_for[user] -= 1
            if not waits_for[user]:
                heapq.heappush(ready, (key(nodes[user]), user))
    return order


def urgency_of(op: Any) -> float:
    """Return the priority of an op, 0 where programs call something else so.

    Examples
    --------
    >>> class Own:
    ...     priority = "high"
    >>> urgency_of(Own())
    0
    """
    return op.priority if isinstance(op.priority, (int, float)) else 0


def by_priority(nodes: Sequence[Node], orderings: Mapping[Apply, Sequence[Apply]] | None = None) -> list[Node]:
    """Return nodes in an order that keeps to the priorities of their ops.

    What a node that is to run early needs is early, too, unless that is to run late.
    """
    urgency = {node: urgency_of(node.op) for node in nodes}
    for node in reversed(nodes):
        for v in node.inputs:
            if v.owner in urgency and urgency[v.owner] <= 0:
                urgency[v.owner] = min(urgency[v.owner], urgency[node])
    return sort_nodes(nodes, lambda node: (urgency[node], urgency_of(node.op)), orderings)


# -- schedules by comparing nodes ---------------------------------------------------------------------------------


def sort_schedule_fn(*cmps: Compare) -> Callable[[FunctionGraph], list[Node]]:
    """Return a schedule for a linker: nodes as they need each other, and then by comparing them.

    Parameters
    ----------
    *cmps : callable
        Each takes two nodes and returns a negative number where the first should come first, a positive one where the
        second should, and 0 where the next callable is to say.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> by_name = sort_schedule_fn(lambda a, b: -1 if str(a.op) < str(b.op) else 1)
    >>> x = T.dvector("x")
    >>> graph = theano.FunctionGraph([x], [T.sin(x), T.cos(x)], clone=False)
    >>> [node.op.name for node in by_name(graph)], [node.op.name for node in graph.toposort()]
    (['Elemwise{cos,no_inplace}', 'Elemwise{sin,no_inplace}'], ['Elemwise{sin,no_inplace}', 'Elemwise{cos,no_inplace}'])
    """

    def schedule(fgraph: FunctionGraph) -> list[Node]:
        return sort_nodes(fgraph.toposort(), _key(cmps), fgraph.orderings())

    return schedule


def _key(cmps: Sequence[Compare]) -> Callable[[Node], Any]:
    def compare(a: Node, b: Node) -> int:
        return next((found for found in (cmp(a, b) for cmp in cmps) if found), 0)

    return cmp_to_key(compare)

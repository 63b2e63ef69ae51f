"""Graphs of any depth, as ``pickle`` and ``copy`` see them.

Both follow pointers, and Python's stack ends long before a graph does. What they have met is not followed again,
though: so the state of the first variable (or node) that they meet begins with all nodes that it depends on, in an
order in which each comes after those that it needs itself.
"""

from __future__ import annotations

from _thread import _local as Local  # `threading.local`, without the millisecond that its module takes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from theano.graph.annotations import Node

#: Under which names the order and the end stand in a state.
_ORDER, _END = "_unwound", "_unwound_end"

#: Graphs of no more nodes than this are left to the stack.
SMALL = 20


class _Underway(Local):
    """The nodes that an order in progress has listed, with their places: their own states need none.

    Work that was cut off by an error is not reported. But each node is met once, and never after a later one: what
    goes back in the order belongs to a new attempt.
    """

    def __init__(self) -> None:
        self.begin(())

    def begin(self, order: Sequence[Any]) -> None:
        """Take note of another order, of which nothing is met yet."""
        self.places: WeakKeyDictionary[Any, int] = WeakKeyDictionary(zip(order, range(len(order))))
        self.met = 0

    def continues_with(self, node: Node) -> bool:
        """Return whether ``node`` (or one of its outputs) is what the order in progress may meet now."""
        place = self.places.get(node, -1)
        if place < self.met:
            return False
        self.met = place
        return True


_underway = _Underway()


class _End:
    """Stands last in a state: when it is met, the order before it is done with."""

    def __reduce__(self) -> tuple[type[_End], tuple[()]]:
        _underway.begin(())
        return (_End, ())


def flattened_state(state: dict[str, Any], node: Node | None) -> dict[str, Any]:
    """Return the state of a node or of one of its outputs, the nodes that it depends on first.

    Parameters
    ----------
    state : dict
    node : Apply or None
        The node itself; the owner of a variable.
    """
    if node is None or _underway.continues_with(node):
        return state
    order = _before(node)
    if len(order) <= SMALL:
        return state
    # The last one is what the order is for. It is not listed as under way: were the work cut off by an error and
    # begun again, it would be taken for a part of it.
    _underway.begin(order[:-1])
    return {_ORDER: order, **state, _END: _End()}


def restored_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state as it was before :func:`flattened_state`."""
    state.pop(_ORDER, None)
    state.pop(_END, None)
    return state


def _before(node: Node) -> Sequence[Any]:
    """Return the nodes that ``node`` depends on and itself, each after those that it needs."""
    order: list[Any] = []
    done: set[Any] = set()
    stack = [(node, iter(node.inputs))]
    done.add(node)
    while stack:
        last, inputs = stack[-1]
        needed = next((v.owner for v in inputs if v.owner is not None and v.owner not in done), None)
        if needed is None:
            order.append(last)
            stack.pop()
        else:
            done.add(needed)
            stack.append((needed, iter(needed.inputs)))
    return order

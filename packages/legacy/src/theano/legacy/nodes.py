"""What older programs ask of a graph besides `theano.graph`: connections, orphans, a class of all that is in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from theano.graph.apply import Apply
from theano.graph.traverse import toposort
from theano.graph.variable import Variable


class _IsNode(type):
    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, (Apply, Variable))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (Apply, Variable)) or super().__subclasscheck__(kind)


class Node(metaclass=_IsNode):
    """What a graph consists of: variables and applications of ops.

    Examples
    --------
    >>> from theano.graph import generic
    >>> isinstance(generic("x"), Node), isinstance(3, Node)
    (True, False)
    """


def default_node_formatter(op: Any, argstrings: Sequence[str]) -> str:
    """Return the call of a node's op as text.

    Examples
    --------
    >>> default_node_formatter(Apply("add", [], []), ["x", "y"])
    'add(x, y)'
    """
    return f"{op.op}({', '.join(argstrings)})"


def io_connection_pattern(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[list[bool]]:
    """Return for each input which outputs have a derivative with respect to it, by the ops' ``connection_pattern``.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x, y = generic("x"), generic("y")
    >>> io_connection_pattern([x, y], [y])
    [[False], [True]]
    """
    reached: dict[Variable, set[Variable]] = {v: {v} for v in inputs}
    for node in toposort(outputs, inputs):
        pattern = getattr(node.op, "connection_pattern", None)
        connected = pattern(node) if pattern is not None else [[True] * len(node.outputs)] * len(node.inputs)
        for k, output in enumerate(node.outputs):
            # An input may be the output of a node that another output of the same node is asked for.
            if output in reached:
                continue
            from_inputs = (reached.get(v, set()) for i, v in enumerate(node.inputs) if connected[i][k])
            reached[output] = set().union(*from_inputs)
    return [[v in reached.get(output, ()) for output in outputs] for v in inputs]

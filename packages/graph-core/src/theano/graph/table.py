"""A graph as data: one table, of which a function's key is the digest and its pickle holds the bytes.

Variables are numbers: the first leaf is -1, the next one -2; results of nodes count from 0. A table lists each leaf and
each node once, so the depth of a graph does not matter, where following its pointers would end Python's stack. What it
holds of a variable beside its number, its look, is the caller's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Variable
from theano.records import record

if TYPE_CHECKING:
    from theano.graph.op import Op


@record
class GraphTable:
    """A graph as tables.

    Attributes
    ----------
    leaves : list of (look, object)
        Variables that no node computes, the inputs first; with each, the value that a constant has.
    nodes : list of (Op, list of int, list of look)
        Each after those that it needs: its op, the numbers of its inputs, and its results.
    n_inputs : int
    outputs : list of int
    """

    leaves: list[tuple[Any, Any]]
    nodes: list[tuple[Op, list[int], list[Any]]]
    n_inputs: int
    outputs: list[int]

    def graph(self, make: Callable[[Any, Any], Variable]) -> tuple[list[Variable], list[Variable]]:
        """Return the inputs and outputs of a new graph.

        Parameters
        ----------
        make : callable
            From a look and a value (None where it is no constant) to a new variable.
        """
        leaves = [make(look, value) for look, value in self.leaves]
        results: list[Variable] = []
        for op, operands, looks in self.nodes:
            inputs = [results[i] if i >= 0 else leaves[~i] for i in operands]
            results += Apply(op, inputs, [make(look, None) for look in looks]).outputs
        return leaves[: self.n_inputs], [results[i] if i >= 0 else leaves[~i] for i in self.outputs]


def table_of(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    look: Callable[[Variable], Any],
    nodes: Iterable[Apply] | None = None,
) -> GraphTable:
    """Return the graph between some variables as a table.

    Parameters
    ----------
    inputs, outputs : list of Variable
    look : callable
        From a variable to what the table holds of it.
    nodes : list of Apply, optional
        The nodes, each after those that it needs.

    Raises
    ------
    ValueError
        The nodes are in another order.

    Examples
    --------
    >>> import theano
    >>> x = theano.generic("x")
    >>> table_of([x], [theano.gradient.zero_grad(x), x], str)
    GraphTable(leaves=[('x', None)], nodes=[(ZeroGrad, [-1], ['ZeroGrad.0'])], n_inputs=1, outputs=[0, -1])
    """
    number: dict[Variable, int] = {}
    leaves: list[tuple[Any, Any]] = []
    rows: list[tuple[Op, list[int], list[Any]]] = []

    def leaf(v: Variable) -> int:
        if v.owner is not None and len(leaves) >= len(inputs):
            raise ValueError(f"{v} is used before it is computed")
        leaves.append((look(v), v.data if isinstance(v, Constant) else None))
        found = number[v] = -len(leaves)
        return found

    for v in inputs:
        leaf(v)
    made = 0
    for node in toposort(outputs, inputs) if nodes is None else nodes:
        operands = [number[v] if v in number else leaf(v) for v in node.inputs]
        looks = []
        for v in node.outputs:
            looks.append(look(v))
            number[v] = made
            made += 1
        rows.append((node.op, operands, looks))
    return GraphTable(leaves, rows, len(inputs), [number[v] if v in number else leaf(v) for v in outputs])

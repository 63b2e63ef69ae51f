"""What rewriting has done to one graph, kept so that it can be computed again: each variable that was replaced."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.variable import Constant, Variable
from theano.records import NamedTuple


class Replacement(NamedTuple):
    """One variable that took the place of another, and the rule that said so."""

    old: Variable
    new: Variable
    rule: str


class ReplacementRecorder(Feature):
    """Listens to a graph while it is rewritten, and remembers the old nodes.

    A node that leaves a graph keeps its inputs: what was replaced can be computed afterwards, from the same inputs
    of the graph, beside what replaced it.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> recorder = ReplacementRecorder()
    >>> fgraph.attach_feature(recorder)
    >>> fgraph.replace(fgraph.outputs[0], fgraph.inputs[0], reason="not_not")
    >>> [(str(r.old), str(r.new), r.rule) for r in recorder.replacements]
    [('Not.0', 'x', 'not_not')]
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[Variable, Variable], Replacement] = {}

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Note it, or forget it if the graph refused."""
        if reason == "revert":
            self._seen.pop((new_r, r), None)
        elif not (isinstance(r, Constant) and isinstance(new_r, Constant)):
            self._seen.setdefault((r, new_r), Replacement(r, new_r, str(reason)))

    @property
    def replacements(self) -> list[Replacement]:
        """What took the place of what, in order."""
        return list(self._seen.values())


def account(fgraph: FunctionGraph) -> list[tuple[Any, ...]]:
    """Return a graph as plain rows, one for each node in the order in which they run, to compare two graphs.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, generic
    >>> x = generic("x")
    >>> account(FunctionGraph([x], [x]))
    [('outputs', ('input', 0))]
    """
    place: dict[Variable, Any] = {v: ("input", i) for i, v in enumerate(fgraph.inputs)}

    def of(v: Variable) -> Any:
        if v in place:
            return place[v]
        assert isinstance(v, Constant)
        return ("constant", v.type, v.type.constant_signature(v.data))

    rows: list[tuple[Any, ...]] = []
    for n, node in enumerate(fgraph.toposort()):
        rows.append((node.op, *(of(v) for v in node.inputs)))
        place.update((v, (n, k)) for k, v in enumerate(node.outputs))
    rows.append(("outputs", *(of(v) for v in fgraph.outputs)))
    return rows

"""Who shares memory with whom, and who may overwrite it. (This is the one hard file of the graph package.)

Two declarations make aliasing: ``view_map`` says that an output may share the memory of inputs,
``destroy_map`` says that the memory of an input is overwritten. Everything here follows from three ideas.

*Roots.* Follow ``view_map`` from a variable up to variables that view nothing: these are its roots, the
variables whose memory it may live in. A variable may have several roots, since an output may view several
inputs (an if-then-else views both branches). An output that *destroys* an input lives in that input's memory
too, but is a root of its own: it holds a new value, and what reads it wants the new one.

*Impact.* Overwriting a variable changes everything that may share its memory: all variables with a root in
common. Whoever reads one of those must do so before the overwriting node runs. That is an ordering between
nodes, which the sort of the graph takes into account; the outputs of the graph are read after everything.

*Sense.* The graph has a meaning if (1) no memory is overwritten by two nodes, (2) nothing is overwritten that
must stay (constants, graph outputs, the caller's inputs), and (3) the orderings leave no cycle.

The answers are computed when asked, for the whole graph at once, in time linear in its size, and kept until the
graph changes. A rule that works in place asks :meth:`DestroyHandler.would_allow` first, which is local and cheap.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from theano.errors import InconsistencyError
from theano.graph.apply import Apply
from theano.graph.features import AlreadyThere, Feature
from theano.graph.traverse import toposort
from theano.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph


T = TypeVar("T")


class DestroyHandler(Feature):
    """Keeps in-place computation honest.

    Attached to a graph, it adds the orderings that in-place nodes need and refuses, in ``validate``, graphs
    that would read what has been overwritten.
    """

    def __init__(self) -> None:
        self._version = -1
        self._roots: dict[Variable, frozenset[Variable]] = {}
        self._sharing: dict[Variable, list[Variable]] = {}
        self._destroyers: dict[Variable, list[Apply]] = {}
        self._orderings: dict[Apply, list[Apply]] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Refuse to be there twice; let the graph answer who overwrites a variable."""
        if any(isinstance(f, DestroyHandler) for f in fgraph.features):
            raise AlreadyThere()
        fgraph.destroyers = lambda v: self.destroyers_of(fgraph, v)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Take the answer away."""
        fgraph.destroyers = None

    # -- answers -----------------------------------------------------------------------------------------

    def roots_of(self, fgraph: FunctionGraph, v: Variable) -> frozenset[Variable]:
        """Return the variables whose memory ``v`` may live in."""
        self._refresh(fgraph)
        return self._roots[v]

    def sharing_with(self, fgraph: FunctionGraph, v: Variable) -> list[Variable]:
        """Return the variables that may share memory with ``v``, itself included."""
        self._refresh(fgraph)
        return _unique(w for root in self._roots[v] for w in self._sharing[root])

    def destroyers_of(self, fgraph: FunctionGraph, v: Variable) -> list[Apply]:
        """Return the nodes that overwrite the memory of ``v``."""
        self._refresh(fgraph)
        return _unique(node for root in self._roots.get(v, ()) for node in self._destroyers.get(root, ()))

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Return, for each node that overwrites, the nodes that must have read before."""
        self._refresh(fgraph)
        return self._orderings

    def would_allow(self, fgraph: FunctionGraph, node: Apply, index: int) -> bool:
        """Return whether ``node`` could overwrite its input ``index``, judged by its neighbourhood alone.

        True is certain. False may be over-careful: where somebody else reads the memory, an order that lets
        him read first may exist, and only ``validate`` finds out.
        """
        target = node.inputs[index]
        for v in self.sharing_with(fgraph, target):
            if isinstance(v, Constant) or (v.owner is None and v not in fgraph.inputs):
                return False
            for client, i in v.clients:
                if client is node and i == index:
                    continue
                if isinstance(client, Apply) and client is not node and i in _viewed(client):
                    continue  # it makes another member of the family, whose own readers count
                return False
        return not self.destroyers_of(fgraph, target)

    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise InconsistencyError unless every value is read before it is overwritten."""
        self._refresh(fgraph)
        if not self._destroyers:
            return
        for root, nodes in self._destroyers.items():
            if len(nodes) > 1:
                raise InconsistencyError(f"the memory of {root} would be overwritten by {len(nodes)} nodes: {nodes}")
            for v in self._sharing[root]:
                self._check_expendable(v, nodes[0])
        toposort(fgraph.outputs, fgraph.inputs, fgraph.orderings())

    def _check_expendable(self, v: Variable, destroyer: Apply) -> None:
        if isinstance(v, Constant):
            raise InconsistencyError(f"{destroyer.op} would overwrite the constant {v}")
        if getattr(v.tag, "indestructible", False):
            raise InconsistencyError(f"{destroyer.op} would overwrite {v}, which is marked indestructible")
        for client, i in v.clients:
            if client == "output":
                raise InconsistencyError(f"{destroyer.op} would overwrite {v}, which is output {i} of the graph")

    # -- bookkeeping ----------------------------------------------------------------------------------------

    def _refresh(self, fgraph: FunctionGraph) -> None:
        if self._version == fgraph.version:
            return
        # The sort without our orderings: they are what is being computed.
        nodes = toposort(fgraph.outputs, fgraph.inputs)
        roots: dict[Variable, frozenset[Variable]] = {v: frozenset((v,)) for v in fgraph.variables}
        destroying: list[Apply] = []
        for node in nodes:
            for o, viewed in node.op.view_map.items():
                roots[node.outputs[o]] = frozenset().union(*(roots[node.inputs[i]] for i in viewed))
            if node.op.destroy_map:
                destroying.append(node)
        sharing: dict[Variable, list[Variable]] = {}
        for v, family in roots.items():
            for root in family:
                sharing.setdefault(root, []).append(v)
        self._roots, self._sharing = roots, sharing
        self._destroyers = {}
        self._orderings = {}
        for node in destroying:
            self._note_destroyer(node)
        self._version = fgraph.version

    def _note_destroyer(self, node: Apply) -> None:
        before: dict[Apply, None] = {}
        tolerated = getattr(node.op, "destroyhandler_tolerate_same", ())
        for destroyed in sorted({i for many in node.op.destroy_map.values() for i in many}):
            family = _unique(w for root in self._roots[node.inputs[destroyed]] for w in self._sharing[root])
            for root in self._roots[node.inputs[destroyed]]:
                users = self._destroyers.setdefault(root, [])
                if node not in users:
                    users.append(node)
            for v in family:
                for client, i in v.clients:
                    if not isinstance(client, Apply):
                        continue
                    if client is not node:
                        before[client] = None
                    elif i != destroyed and (destroyed, i) not in tolerated:
                        # The node would read through one input what it overwrites through another.
                        before[node] = None
        self._orderings[node] = list(before)


def _viewed(node: Apply) -> set[int]:
    return {i for many in node.op.view_map.values() for i in many}


def _unique(things: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(things))

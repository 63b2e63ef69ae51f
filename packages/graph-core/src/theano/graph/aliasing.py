"""Who shares memory with whom, and who may overwrite it. (This is the one hard file of the graph package.)

Two declarations make aliasing: ``view_map`` says that an output may share the memory of inputs,
``destroy_map`` says that the memory of an input is overwritten. Everything here follows from three ideas.

*Roots.* Follow ``view_map`` from a variable up to variables that view nothing: these are its roots, the
variables whose memory it may live in. A variable may have several roots, since an output may view several
inputs (an if-then-else views both branches). An output that *destroys* an input lives in that input's memory
too, but is a root of its own: it holds a new value, and what reads it wants the new one.

*Impact.* Overwriting a variable changes everything that may share its memory: all variables with a root in
common. All reads of those must come before the overwriting node runs. That is an ordering between
nodes, which the sort of the graph takes into account; the outputs of the graph are read after everything.

*Sense.* The graph has a meaning if (1) no memory is overwritten by two nodes, (2) nothing is overwritten that
must stay (constants, graph outputs, the caller's inputs), and (3) the orderings leave no cycle.

Roots are kept up to date change by change: a change touches the views downstream of it and nothing else, so
that a pass over a large graph stays linear. Orderings are computed when the graph is sorted. A rule that works in
place asks :meth:`DestroyHandler.would_allow` first, which looks at the neighbourhood of a variable only.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
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
        #: For each variable, the variables whose memory it may live in ...
        self._roots: dict[Variable, frozenset[Variable]] = {}
        #: ... for each root, who may live there (a dictionary, for its order) ...
        self._sharing: dict[Variable, dict[Variable, None]] = {}
        #: ... and the nodes that overwrite it.
        self._destroyers: dict[Variable, dict[Apply, None]] = {}
        self._destroying: dict[Apply, None] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Refuse a second attachment; take stock; let the graph answer which nodes overwrite a variable."""
        if any(isinstance(f, DestroyHandler) for f in fgraph.features):
            raise AlreadyThere()
        for node in toposort(fgraph.outputs, fgraph.inputs):
            self.on_import(fgraph, node, "on_attach")
        fgraph.destroyers = self.destroyers_of

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Forget everything."""
        self.__dict__.update(DestroyHandler().__dict__)
        fgraph.destroyers = None

    # -- answers -----------------------------------------------------------------------------------------

    def roots_of(self, v: Variable) -> frozenset[Variable]:
        """Return the variables whose memory ``v`` may live in."""
        return self._roots.get(v) or frozenset((v,))

    def sharing_with(self, v: Variable) -> list[Variable]:
        """Return the variables that may share memory with ``v``, itself included."""
        return _unique(w for root in self.roots_of(v) for w in (root, *self._sharing.get(root, ())))

    def destroyers_of(self, v: Variable) -> list[Apply]:
        """Return the nodes that overwrite the memory of ``v``."""
        return _unique(node for root in self.roots_of(v) for node in self._destroyers.get(root, ()))

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Return, for each node that overwrites, the nodes that must have read before."""
        return {node: self._readers_before(node) for node in self._destroying}

    def would_allow(self, fgraph: FunctionGraph, node: Apply, index: int) -> bool:
        """Return whether ``node`` could overwrite its input ``index``, judged by its neighbourhood alone.

        True is certain. False may be over-careful: where another node reads the memory, an order that lets
        him read first may exist, and only ``validate`` finds out.
        """
        target = node.inputs[index]
        # The roots last: of many views of one thing each is read, and one that is read is enough to say no.
        roots = self.roots_of(target)
        for v in chain(*(self._sharing.get(root, ()) for root in roots), roots):
            if isinstance(v, Constant):
                return False
            for client, i in v.clients:
                if client is node and i == index:
                    continue
                if isinstance(client, Apply) and client is not node and i in _viewed(client):
                    continue  # it makes another member of the family, whose own readers count
                return False
        return not self.destroyers_of(target)

    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise InconsistencyError unless every value is read before it is overwritten."""
        if not self._destroying:
            return
        for root, nodes in self._destroyers.items():
            if len(nodes) > 1:
                raise InconsistencyError(
                    f"the memory of {root} would be overwritten by {len(nodes)} nodes: {', '.join(map(str, nodes))}"
                )
            for v in (root, *self._sharing.get(root, ())):
                self._check_expendable(v, next(iter(nodes)))
        for node in self._destroying:
            roots = node.tag.destroyed_roots
            if len(set(roots)) < len(roots):
                raise InconsistencyError(f"{node} would overwrite the same memory through two of its inputs")
        fgraph.toposort()

    def _check_expendable(self, v: Variable, destroyer: Apply) -> None:
        if isinstance(v, Constant):
            raise InconsistencyError(f"{destroyer.op} would overwrite the constant {v}")
        if getattr(v.tag, "indestructible", False):
            raise InconsistencyError(f"{destroyer.op} would overwrite {v}, which is marked indestructible")
        for client, i in v.clients:
            if client == "output":
                raise InconsistencyError(f"{destroyer.op} would overwrite {v}, which is output {i} of the graph")

    # -- bookkeeping ----------------------------------------------------------------------------------------

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Take note of what a new node views and overwrites."""
        for o in node.op.view_map:
            self._settle(node.outputs[o])
        if node.op.destroy_map:
            self._destroying[node] = None
            self._mark(node)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Forget a node."""
        if node in self._destroying:
            self._unmark(node)
            del self._destroying[node]
        for v in node.outputs:
            for root in self._roots.pop(v, ()):
                self._leave(root, v)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Follow a change to the views and destroyers downstream of it."""
        if not isinstance(node, Apply):
            return
        if node in self._destroying:
            self._unmark(node)
            self._mark(node)
        stale = [node.outputs[o] for o, viewed in node.op.view_map.items() if i in viewed]
        while stale:
            v = stale.pop()
            self._settle(v)
            for client, j in v.clients:
                if not isinstance(client, Apply):
                    continue
                if client in self._destroying:
                    self._unmark(client)
                    self._mark(client)
                stale.extend(client.outputs[o] for o, viewed in client.op.view_map.items() if j in viewed)

    def _settle(self, v: Variable) -> None:
        """Find the roots of a viewing variable from those of what it views."""
        node = v.owner
        assert node is not None
        assert v.index is not None
        for root in self._roots.pop(v, ()):
            self._leave(root, v)
        roots = frozenset().union(*(self.roots_of(node.inputs[i]) for i in node.op.view_map[v.index]))
        self._roots[v] = roots
        for root in roots:
            self._sharing.setdefault(root, {})[v] = None

    def _leave(self, root: Variable, v: Variable) -> None:
        members = self._sharing[root]
        members.pop(v, None)
        if not members:
            del self._sharing[root]

    def _mark(self, node: Apply) -> None:
        node.tag.destroyed_roots = marked = [root for i in _destroyed(node) for root in self.roots_of(node.inputs[i])]
        for root in marked:
            self._destroyers.setdefault(root, {})[node] = None

    def _unmark(self, node: Apply) -> None:
        for root in node.tag.destroyed_roots:
            nodes = self._destroyers.get(root)
            if nodes is not None:
                nodes.pop(node, None)
                if not nodes:
                    del self._destroyers[root]

    def _readers_before(self, node: Apply) -> list[Apply]:
        before: dict[Apply, None] = {}
        same, aliased = node.op.destroyhandler_tolerate_same, node.op.destroyhandler_tolerate_aliased
        for destroyed in _destroyed(node):
            for v in self.sharing_with(node.inputs[destroyed]):
                for client, i in v.clients:
                    if not isinstance(client, Apply):
                        continue
                    if client is not node:
                        before[client] = None
                    elif i != destroyed and not (
                        (destroyed, i) in aliased or (v is node.inputs[destroyed] and (destroyed, i) in same)
                    ):
                        # The node would read through one input what it overwrites through another.
                        before[node] = None
        return list(before)


def _destroyed(node: Apply) -> list[int]:
    return sorted({i for many in node.op.destroy_map.values() for i in many})


def _viewed(node: Apply) -> set[int]:
    return {i for many in node.op.view_map.values() for i in many}


def _unique(things: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(things))

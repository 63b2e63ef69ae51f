"""Things that listen to a FunctionGraph, and the ones that every graph may want.

A feature is any object with some of the methods of :class:`Feature`. What it does with a change is its own
business: keep an index, take notes for going back, refuse the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import InconsistencyError
from theano.graph.apply import Apply
from theano.graph.variable import Variable

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph


class AlreadyThere(Exception):
    """A feature says so when the graph it is attached to has one like it."""


class ReplacementDidntRemovedError(Exception):
    """After a replacement the graph still holds a variable that should have left it."""


class Feature:
    """What a listener may define; each method does nothing here."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Called when the feature is attached; raise AlreadyThere to be dropped silently."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Called when the feature is removed."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Called when a node enters the graph, after the nodes that it needs."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Called when a node leaves the graph because its outputs are unused."""

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Called after input ``i`` of ``node`` (or output ``i`` of the graph, for ``"output"``) became ``new_r``."""

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply, list[Apply]]:
        """Return further nodes that must run before a node."""
        return {}

    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise InconsistencyError if the graph, as it stands, cannot be computed."""


class History(Feature):
    """Keeps what is needed to take changes back."""

    def __init__(self) -> None:
        self.journal: list[tuple[Apply | str, int, Variable]] | None = None
        self._reverting = False

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Refuse to keep the same notes twice."""
        if any(isinstance(f, History) for f in fgraph.features if f is not self):
            raise AlreadyThere()

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Note the way back."""
        if self.journal is not None and not self._reverting:
            self.journal.append((node, i, r))

    def checkpoint(self) -> int:
        """Return a mark to come back to."""
        if self.journal is None:
            self.journal = []
        return len(self.journal)

    def commit(self) -> None:
        """Forget the way back."""
        self.journal = None

    def revert(self, fgraph: FunctionGraph, checkpoint: int) -> None:
        """Take back the changes since ``checkpoint``."""
        assert self.journal is not None
        self._reverting = True
        try:
            while len(self.journal) > checkpoint:
                node, i, r = self.journal.pop()
                fgraph.change_input(node, i, r, reason="revert")
        finally:
            self._reverting = False


class Bookkeeper(Feature):
    """Base of features that see each node of the graph, those already there included."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Import the nodes that are there."""
        for node in fgraph.toposort():
            self.on_import(fgraph, node, "on_attach")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Prune the nodes that are there."""
        for node in fgraph.toposort():
            self.on_prune(fgraph, node, "Bookkeeper.detach")


class NodeFinder(Bookkeeper):
    """An index from op to the nodes that apply it."""

    def __init__(self) -> None:
        self.nodes: dict[Any, dict[Apply, None]] = {}

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Add ``node`` to the index."""
        self.nodes.setdefault(node.op, {})[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Drop ``node`` from the index."""
        self.nodes[node.op].pop(node, None)

    def get_nodes(self, op: Any) -> list[Apply]:
        """Return the nodes of ``op``, oldest first."""
        return list(self.nodes.get(op, ()))


class PrintListener(Feature):
    """Prints each change: for users who want to see rewriting at work."""

    def __init__(self, active: bool = True):
        self.active = active

    def _say(self, *words: Any) -> None:
        if self.active:
            print("--", *words)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Say so."""
        self._say("attaching to", fgraph)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Say so."""
        self._say("detaching from", fgraph)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Say so."""
        self._say("importing", node, "reason:", reason)

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Say so."""
        self._say("pruning", node, "reason:", reason)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: Any = None
    ) -> None:
        """Say so."""
        self._say("changing input", i, "of", node, "from", r, "to", new_r, "reason:", reason)


class Validator(Feature):
    """Does nothing: each graph can be asked whether it makes sense, by ``fgraph.validate()``."""


class NoOutputFromInplace(Feature):
    """Refuses that outputs of the graph are made by overwriting an input: its caller needs new memory.

    Parameters
    ----------
    first_output_idx, last_output_idx : int or None
        The slice of the outputs that this is about.
    """

    def __init__(self, first_output_idx: int = 0, last_output_idx: int | None = None):
        self.first_idx, self.last_idx = first_output_idx, last_output_idx

    def validate(self, fgraph: FunctionGraph) -> None:
        """Look at the outputs."""
        for v in fgraph.outputs[self.first_idx : self.last_idx]:
            if v.owner is not None and v.index in v.owner.op.destroy_map:
                raise InconsistencyError(f"{v.owner.op} would make an output of the graph by overwriting its input")


class PreserveVariableAttributes(Feature):
    """Lets a replacement inherit the name and the tags of what it replaces, where it has none of its own."""

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Hand them over."""
        if r.name is not None and new_r.name is None:
            new_r.name = r.name
        for key, value in r.tag.__dict__.items():
            new_r.tag.__dict__.setdefault(key, value)


class PreserveNames(Feature):
    """Lets a replacement inherit the name of what it replaces, when it has none."""

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: Any = None
    ) -> None:
        """Hand the name over."""
        if r.name is not None and new_r.name is None:
            new_r.name = r.name


class ReplaceValidate(Feature):
    """Checks each group of replacements, takes it back if the graph no longer makes sense, and tells why."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Refuse to be there twice."""
        if any(isinstance(f, ReplaceValidate) for f in fgraph.features if f is not self):
            raise AlreadyThere()
        self.history = next((f for f in fgraph.features if isinstance(f, History)), None) or History()
        if self.history not in fgraph.features:
            fgraph.attach_feature(self.history)

    def replace_all(
        self,
        fgraph: FunctionGraph,
        replacements: Iterable[tuple[Variable, Variable]],
        reason: object = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        """Make all replacements, or none.

        Raises
        ------
        InconsistencyError
            The graph would have no meaning afterwards; it is as it was.
        """
        outer = self.history.journal is not None
        mark = self.history.checkpoint()
        try:
            for old, new in replacements:
                fgraph.replace(old, new, reason=reason)
            fgraph.validate()
            if check is not None:
                check()
        except BaseException:
            self.history.revert(fgraph, mark)
            raise
        finally:
            if not outer:
                self.history.commit()


class Supervisor(Feature):
    """Protects variables from being overwritten: the inputs that belong to the caller.

    Parameters
    ----------
    protected : iterable of Variable
    replaced : iterable of Variable
        Those among them that get a new value in the end: who takes care that no failure can come after may overwrite
        them (``inplace_updates``); to all others they are protected like the rest.
    """

    def __init__(self, protected: Iterable[Variable], replaced: Iterable[Variable] = ()):
        self.protected = set(protected)
        self.replaced = set(replaced)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Check the graph as it is."""
        self.validate(fgraph)

    def validate(self, fgraph: FunctionGraph) -> None:
        """Raise if a node overwrites a protected variable."""
        destroyers: Callable[[Variable], Sequence[Apply]] | None = fgraph.destroyers
        if destroyers is None:
            return
        for v in self.protected - self.replaced:
            for node in destroyers(v):
                raise InconsistencyError(f"{node.op} would overwrite {v}, which belongs to the caller")

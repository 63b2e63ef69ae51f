"""What took the place of what: each node that rewriting made can say which rule made it and for which line."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.source import SourceLine, created_at
from theano.graph.variable import Constant, Variable
from theano.records import NamedTuple


class RewriteStep(NamedTuple):
    """One replacement: the rule, its phase, and the variable whose place was taken."""

    rule: str
    phase: str
    replaced: Variable

    @property
    def line(self) -> SourceLine | None:
        """The user's line that wrote what was replaced."""
        return created_at(self.replaced)

    def __str__(self) -> str:
        line = self.line
        where = f", written at {line}" if line is not None else ""
        return f"{self.rule} ({self.phase}) replaced {describe(self.replaced)}{where}"


class Provenance(Feature):
    """Listens to a graph while it is rewritten; hands names and source lines on to what comes new.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> provenance = Provenance()
    >>> fgraph.attach_feature(provenance)
    >>> provenance.begin("not_not", "canonicalize", fgraph.outputs[0])
    >>> fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    >>> print(provenance.steps[0].rule, len(provenance.steps))
    not_not 1
    """

    def __init__(self) -> None:
        self.steps: list[RewriteStep] = []
        #: The phase that runs, for unannounced changes.
        self.phase = ""
        self._made_by: dict[Apply, int] = {}
        # All nodes that have ever been there: when a change is taken back, nodes come in that are not new.
        self._known: set[Apply] = set()
        self._now: int | None = None
        self._unannounced: list[Apply] = []

    def begin(self, rule: str, phase: str, replaced: Variable) -> None:
        """Note what is going to be replaced: the nodes that enter from now on are this rule's."""
        self._now = len(self.steps)
        self.steps.append(RewriteStep(rule, phase, replaced))

    def mark(self) -> int:
        """Return a mark that :meth:`forget` goes back to."""
        return len(self.steps)

    def forget(self, mark: int) -> None:
        """Forget the steps since ``mark``: the graph refused, and is as it was then."""
        del self.steps[mark:]
        # Numbers only grow in this dictionary: what is to go stands at its end.
        while self._made_by and next(reversed(self._made_by.values())) >= mark:
            self._known.discard(self._made_by.popitem()[0])
        self._now = None

    def cancel(self) -> None:
        """Forget the last note: the graph refused."""
        if self._now is not None:
            self.forget(self._now)

    def end(self) -> None:
        """Let the nodes that enter from now on have no rule as their origin."""
        self._now = None

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Take note of the nodes that are there: they are the user's."""
        self._known.update(fgraph.apply_nodes)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Let a new node inherit the lines of what it replaces."""
        if node in self._known:
            return
        self._known.add(node)
        if self._now is None:
            self._unannounced.append(node)
        else:
            self._inherit(node, self._now)

    def _inherit(self, node: Apply, number: int) -> None:
        self._made_by[node] = number
        trace = getattr(self.steps[number].replaced.tag, "trace", None)
        if trace:
            for v in node.outputs:
                own = getattr(v.tag, "trace", ())
                v.tag.trace = trace if not own else tuple(dict.fromkeys((*trace, *own)))

    def _announce(self, r: Variable, reason: object) -> None:
        """Note a change that was made directly on the graph: nodes have come, and now ``r`` goes."""
        self.steps.append(RewriteStep(str(reason or self.phase), self.phase, r))
        for node in self._unannounced:
            self._inherit(node, len(self.steps) - 1)
        self._unannounced.clear()

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: Any = None
    ) -> None:
        """Let a replacement inherit the name and the tags of what it replaces; inputs and constants keep their own."""
        if self._unannounced:
            self._announce(r, reason)
        if new_r.owner is None or isinstance(new_r, Constant):
            return
        if r.name is not None and new_r.name is None:
            new_r.name = r.name
        mine = new_r.tag.__dict__
        for key, value in r.tag.__dict__.items():
            # What users say of a variable stays true of its replacement; what rules note for themselves may not.
            if not key.startswith("_"):
                mine.setdefault(key, value)

    def why(self, node: Apply) -> list[RewriteStep]:
        """Return the replacements that led to ``node``, the latest first; nothing for a node that the user made."""
        steps: list[RewriteStep] = []
        seen: set[Apply] = set()
        current: Apply | None = node
        while current is not None and current in self._made_by and current not in seen:
            seen.add(current)
            step = self.steps[self._made_by[current]]
            steps.append(step)
            current = step.replaced.owner
        return steps

    def explain(self, node: Apply) -> str:
        """Return :meth:`why` as text, one line for each replacement."""
        steps = self.why(node)
        if not steps:
            line = created_at(node.outputs[0]) if node.outputs else None
            return f"{describe(node.outputs[0])} is as it was written" + (f" at {line}" if line is not None else "")
        return "\n".join([f"{describe(node.outputs[0])}:", *(f"  {step}" for step in steps)])


def describe(v: Variable, depth: int = 3) -> str:
    """Return a few levels of the expression of ``v`` on one line."""
    if v.owner is None or v.name is not None:
        return str(v)
    if depth == 0:
        return "..."
    shown = [describe(i, depth - 1) for i in v.owner.inputs[:6]] + ["..."] * (len(v.owner.inputs) > 6)
    return f"{v.owner.op}({', '.join(shown)})"

"""Drivers: they try rules on the nodes of a graph, in some order, until a reason to stop.

Two are enough. :func:`walk` shows every node to the rules once, from the inputs or from the outputs.
:func:`fixpoint` goes on until no rule has anything to say; what changed is looked at again at once, the whole graph
only to confirm the end. Rules are indexed by the op they track, so a node meets only its own.

Every loop here has a limit, and a :class:`PhaseReport` says why it ended and, where it was cut short, which rule
let the graph grow most, or which rules undo each other.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from theano.graph.apply import Apply
from theano.graph.clone import clone
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.signals import let_signals_through
from theano.graph.traverse import equal_computations
from theano.graph.variable import Variable
from theano.rewriting.context import Context, Pass
from theano.rewriting.needs import OpsPresent
from theano.rewriting.report import PhaseReport
from theano.rewriting.rule import Rule, replacements


@lru_cache(maxsize=64)
def _tracked(rules: tuple[Rule, ...]) -> tuple[dict[Any, list[int]], frozenset[int]]:
    """Return the places of the rules that track an op or a class of ops, by these; under None of those that track all.

    Also return the hashes of these ops: an op that has none of them need not be looked for.
    A phase has the same rules each time. To hash the ops of all of them takes longer than to rewrite a small graph.
    """
    places: dict[Any, list[int]] = {}
    for i, rule in enumerate(rules):
        tracks = rule.tracks
        for key in (None,) if tracks is None else tracks:
            places.setdefault(key, []).append(i)
    return places, frozenset(hash(key) for key in places if not isinstance(key, type))


class RuleIndex:
    """Finds the rules that want to see a node, in the order in which they were given.

    A rule that needs an op which the graph has not is left out until one arrives: it could only say no.

    Parameters
    ----------
    rules : list of Rule
    ops : OpsPresent
        Those of the graph, to which arriving nodes are added.
    """

    def __init__(self, rules: Iterable[Rule], ops: OpsPresent):
        self._rules = tuple(rules)
        self._places, self._hashes = _tracked(self._rules)
        # By identity: the hash of an op is computed anew each time. The op is kept, so that its id stays its own.
        self._of_op: dict[int, tuple[Op, tuple[Rule, ...]]] = {}
        self._ops, self._known = ops, 0
        # Of the rules that a node could meet so far: whether the graph has what they need.
        self._takes_part: dict[int, bool] = {}
        self._awaited: set[Any] = set()  # ops, and classes of ops, that the others need

    def _may_take_part(self, i: int) -> bool:
        """Return whether the graph has what a rule needs; what it has not is awaited from now on."""
        known = self._takes_part.get(i)
        if known is None:
            rule, present = self._rules[i], self._ops.keys
            known = self._takes_part[i] = rule.may_apply(present)
            if not known:
                self._awaited |= rule.awaited - present
        return known

    def of(self, op: Op) -> tuple[Rule, ...]:
        """Return the rules that want to see the nodes of ``op``."""
        if len(self._ops.keys) != self._known:
            self._known = len(self._ops.keys)
            if not self._awaited.isdisjoint(self._ops.keys):
                self._awaited.clear()
                self._takes_part.clear()
                self._of_op.clear()
        known = self._of_op.get(id(op))
        if known is not None:
            return known[1]
        tracked = (op,) if self._ops.hash_of(op) in self._hashes else ()
        found = {i for key in (None, *tracked, *type(op).__mro__) for i in self._places.get(key, ())}
        rules = tuple([self._rules[i] for i in sorted(found) if self._may_take_part(i)])
        self._of_op[id(op)] = (op, rules)
        return rules


class _Recurrence:
    """Finds rules that undo each other: the graph is what it was a few changes before.

    The graph is remembered after 1024, 2048, ... uses of a rule, and compared with what a few changes more make of it:
    to compare graphs takes as long as some changes, and few graphs with an end need this many.
    """

    FIRST, FEW = 1024, 32

    def __init__(self, fgraph: FunctionGraph):
        self._fgraph = fgraph
        self._outputs: list[Variable] = []
        self._size = 0
        self._since: list[str] = []

    def after(self, rule: str, uses: int) -> str | None:
        """Return what to say of the rules since the graph was the same; None where it was not."""
        graph = self._fgraph
        if uses >= self.FIRST and not uses & (uses - 1):
            _, self._outputs = clone(graph.inputs, graph.outputs, copy_inputs=False)
            self._size, self._since = len(graph.apply_nodes), []
        elif self._outputs:
            self._since.append(rule)
            if len(graph.apply_nodes) == self._size and equal_computations(self._outputs, graph.outputs):
                *others, last = dict.fromkeys(self._since)
                who = f"the rules {', '.join(others)} and {last} undo each other" if others else f"{last} undoes itself"
                return f"{who}: the graph is what it was {len(self._since)} changes before"
            if len(self._since) == self.FEW:
                self._outputs = []
        return None


class _Limits:
    """Says when a phase has done enough."""

    def __init__(self, fgraph: FunctionGraph, context: Context):
        settings, size = context.settings, len(fgraph.apply_nodes)
        self._fgraph, self._report = fgraph, context.report
        self._recurrence = _Recurrence(fgraph)
        self._uses = int(settings.max_use_ratio * size) + settings.spare_uses
        self._nodes = int(settings.max_growth * size) + 1000
        self._deadline = None if settings.max_seconds is None else time.perf_counter() + settings.max_seconds
        self._seconds = settings.max_seconds

    def met(self, rule: Rule) -> bool:
        """Return whether a limit is met after a use of ``rule``, and let the report say which."""
        report = self._report
        uses = report.uses.get(rule.name, 0)
        reason = self._recurrence.after(rule.name, uses)
        if reason is not None:
            pass
        elif uses > self._uses:
            reason = f"the rule {rule.name} was used {uses} times"
        elif len(self._fgraph.apply_nodes) > self._nodes:
            reason = f"the graph grew to {len(self._fgraph.apply_nodes)} nodes"
        elif self._deadline is not None and time.perf_counter() > self._deadline:
            reason = f"{self._seconds} seconds have passed"
        if reason is None:
            return False
        cut_short(report, reason)
        return True


def cut_short(report: PhaseReport, reason: str) -> None:
    """Let ``report`` say that a limit ended the phase, and which rule is to blame."""
    report.complete = False
    report.stop = f"cut short: {reason}"
    if report.growth:
        name, grown = max(report.growth.items(), key=lambda item: (item[1], report.uses.get(item[0], 0)))
        if grown > 0:
            report.stop += f"; {name} let the graph grow most, by {grown} nodes in {report.uses[name]} uses"


def attempt(fgraph: FunctionGraph, node: Apply, rule: Rule, context: Context) -> bool:
    """Let ``rule`` look at ``node``; return whether the graph changed."""
    if context.refused and (rule, node) in context.refused:
        return False
    start = time.perf_counter() if context.settings.profile else 0.0
    try:
        answer = rule.answer(fgraph, node)
        if answer is None:  # most have nothing to say
            return False
        pairs = replacements(rule, node, answer)
    except Exception as error:  # noqa: BLE001  (the boundary to code that anybody may have written)
        let_signals_through(error)
        context.failed(rule, node, error)
        return False
    finally:
        if start:
            context.report.time(rule.name, time.perf_counter() - start)
    if not pairs:
        return False
    told: Any = answer
    remove = told.get("remove", ()) if isinstance(answer, Mapping) else ()
    changed = context.replace(fgraph, pairs, rule.name, remove)
    if not changed:
        context.refused.add((rule, node))
    return changed


def prepare(fgraph: FunctionGraph, rules: Iterable[Rule]) -> None:
    """Attach what rules need."""
    for rule in rules:
        rule.add_requirements(fgraph)


# -- once ----------------------------------------------------------------------------------------------------


class _Arrivals(Feature):
    """Collects the nodes that enter a graph, and their ops."""

    def __init__(self, ops: OpsPresent, arrive: Callable[[Apply], None]):
        self._ops, self._arrive = ops, arrive

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Collect it."""
        self._ops.add(node.op)
        self._arrive(node)


def walk(
    fgraph: FunctionGraph, rules: Sequence[Rule], context: Context, order: str = "in_to_out", fresh: bool = True
) -> None:
    """Show each node to ``rules`` once, those that come new included.

    Parameters
    ----------
    fgraph : FunctionGraph
    rules : list of Rule
        A node meets them in this order, until one of them changes it.
    context : Context
    order : "in_to_out" or "out_to_in"
    fresh : bool
        Show them the nodes that come new as well.
    """
    if order not in ("in_to_out", "out_to_in"):
        raise ValueError(f"order is {order!r}; it must be 'in_to_out' or 'out_to_in'")
    prepare(fgraph, rules)
    context.ops.add_all(fgraph)
    index, limits = RuleIndex(rules, context.ops), _Limits(fgraph, context)
    nodes = fgraph.toposort()
    todo: deque[Apply] = deque(nodes if order == "in_to_out" else reversed(nodes))
    arrivals = _Arrivals(context.ops, todo.append if fresh else lambda node: None)
    fgraph.attach_feature(arrivals)
    context.report.stop = "walked"
    try:
        while todo:
            node = todo.popleft()
            if node not in fgraph.apply_nodes:
                continue
            for rule in index.of(node.op):
                if rule not in context.switched_off and attempt(fgraph, node, rule, context):
                    if limits.met(rule):
                        return
                    if node not in fgraph.apply_nodes:
                        break
    finally:
        fgraph.remove_feature(arrivals)


def once(rules: Sequence[Rule], order: str = "in_to_out") -> Pass:
    """Return a pass that walks over the graph once with ``rules``."""

    def run(fgraph: FunctionGraph, context: Context) -> None:
        walk(fgraph, rules, context, order)

    return run


# -- until nothing changes -----------------------------------------------------------------------------------


class _Worklist(Feature):
    """The nodes that should be looked at, each once; changes put nodes back.

    What is new comes first: it should have its final form before its users look at it.
    """

    # Rules look below a node, not only at it: its users want another look when it changes. Not when there are very
    # many: the sweep over the whole graph finds those, and the work stays linear.
    MANY = 50

    def __init__(self, ops: OpsPresent) -> None:
        self._ops = ops
        self._todo: deque[Apply] = deque()
        self._fresh: deque[Apply] = deque()
        self._queued: set[Apply] = set()

    def add(self, node: Apply) -> None:
        """Put ``node`` at the end, unless it is there."""
        if node not in self._queued:
            self._queued.add(node)
            self._todo.append(node)

    def take(self) -> Apply:
        """Remove and return the next node."""
        node = (self._fresh or self._todo).popleft()
        self._queued.discard(node)
        return node

    def __len__(self) -> int:
        return len(self._todo) + len(self._fresh)

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Look at what is new."""
        self._ops.add(node.op)
        if node not in self._queued:
            self._queued.add(node)
            self._fresh.append(node)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: object = None
    ) -> None:
        """Look again at what has changed, and at its users."""
        if isinstance(node, str):
            return
        self.add(node)
        for v in node.outputs:
            if len(v.clients) <= self.MANY:
                for client, _ in v.clients:
                    if isinstance(client, Apply):
                        self.add(client)


def fixpoint(
    fgraph: FunctionGraph, rules: Sequence[Rule], context: Context, passes: Sequence[tuple[str, Pass]] = ()
) -> None:
    """Use ``rules`` until none of them changes anything.

    Parameters
    ----------
    fgraph : FunctionGraph
    rules : list of Rule
        A node meets them in this order.
    context : Context
    passes : list of (name, Pass)
        Passes over the whole graph, run before each sweep: equal nodes should be one before rules compare them.
    """
    prepare(fgraph, rules)
    context.ops.add_all(fgraph)
    index, limits = RuleIndex(rules, context.ops), _Limits(fgraph, context)
    worklist = _Worklist(context.ops)
    fgraph.attach_feature(worklist)
    context.report.stop = "nothing left to do"
    try:
        for _ in range(context.settings.max_sweeps):
            for _name, run in passes:
                run(fgraph, context)
            version = fgraph.version
            for node in fgraph.toposort():
                worklist.add(node)
            if not _drain(worklist, fgraph, index, limits, context):
                return
            if fgraph.version == version:
                return
        cut_short(context.report, f"{context.settings.max_sweeps} sweeps were not enough")
    finally:
        fgraph.remove_feature(worklist)


def _drain(worklist: _Worklist, fgraph: FunctionGraph, index: RuleIndex, limits: _Limits, context: Context) -> bool:
    """Work off the worklist; return False where a limit ended it."""
    alive, off = fgraph.apply_nodes, context.switched_off
    while worklist:
        node = worklist.take()
        if node not in alive:
            continue
        for rule in index.of(node.op):
            if rule in off or not attempt(fgraph, node, rule, context):
                continue
            if limits.met(rule):
                return False
            if node not in alive:
                break
    return True

"""Drivers: they try rules on the nodes of a graph, in some order, until a reason to stop.

Two are enough. :func:`walk` shows every node to the rules once, from the inputs or from the outputs.
:func:`fixpoint` goes on until no rule has anything to say; what changed is looked at again at once, the whole graph
only to confirm the end. Rules are indexed by the op they track, so a node meets only its own.

Every loop here has a limit, and a :class:`PhaseReport` says why it ended and, where it was cut short, which rule
let the graph grow most.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from theano.errors import InconsistencyError, RewriteError, RewriteWarning
from theano.graph.apply import Apply
from theano.graph.features import Feature
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.signals import let_signals_through
from theano.graph.text import text_of
from theano.graph.variable import Variable
from theano.rewriting.failure import RuleFailure
from theano.rewriting.history import Origins, describe
from theano.rewriting.rule import Rule, replacements

#: A pass over a whole graph: what is not a matter of single nodes.
GraphPass = Callable[[FunctionGraph, "Context"], Any]


@dataclass(frozen=True)
class RewriteSettings:
    """What bounds rewriting, and what happens when a rule fails.

    Attributes
    ----------
    max_use_ratio : float
        How often one rule may be used in one phase, per node of the graph at its start.
    max_growth : float
        How many times larger than at the start of a phase the graph may become.
    max_sweeps : int
        How often a fixpoint looks through the whole graph.
    max_seconds : float or None
        How long one phase may last.
    on_error : "raise", "warn", "ignore" or "pdb"
        What to do with a rule that raises: tests raise; otherwise the rule is switched off, with or without a warning.
        With pdb, the debugger is opened where it failed.
    check : bool
        Check the graph's books after each change; slow.
    verbose : bool
        Print each change.
    profile : bool
        Measure how long each rule takes.
    check_stack_trace : "off", "log", "warn" or "raise"
        What to do when a node comes in that knows no line of the user's program.
    """

    max_use_ratio: float = 8.0
    max_growth: float = 20.0
    max_sweeps: int = 50
    max_seconds: float | None = None
    on_error: str = "warn"
    check: bool = False
    verbose: bool = False
    profile: bool = False
    check_stack_trace: str = "off"

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "warn", "ignore", "pdb"):
            raise ValueError(f"on_error is {self.on_error!r}; it must be 'raise', 'warn', 'ignore' or 'pdb'")


@dataclass
class PhaseReport:
    """What one phase did.

    Attributes
    ----------
    stop : str
        "nothing left to do", "walked", or the limit that was met, with the rule to blame.
    uses, growth : dict from str to int
        By rule: how often it was used, and by how many nodes the graph grew through it.
    refused : dict from str to int
        By rule: replacements that the graph refused.
    rule_seconds, rule_calls : dict from str to float, and to int
        By rule: how long it was asked, and how often; empty unless that is measured.
    """

    name: str
    seconds: float = 0.0
    nodes_before: int = 0
    nodes_after: int = 0
    stop: str = ""
    complete: bool = True
    uses: dict[str, int] = field(default_factory=dict)
    growth: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    rule_seconds: dict[str, float] = field(default_factory=dict)
    rule_calls: dict[str, int] = field(default_factory=dict)

    def time(self, rule: str, seconds: float) -> None:
        """Count one time that ``rule`` was asked."""
        self.rule_seconds[rule] = self.rule_seconds.get(rule, 0.0) + seconds
        self.rule_calls[rule] = self.rule_calls.get(rule, 0) + 1

    def __str__(self) -> str:
        most = sorted(self.uses.items(), key=lambda item: (-item[1], item[0]))
        used = ", ".join(f"{name} x{n}" for name, n in most[:8]) or "no rule used"
        change = f"{self.nodes_before} -> {self.nodes_after} nodes, {self.seconds * 1e3:.1f} ms"
        return f"{self.name}: {change}, {self.stop}; {used}"


class Context:
    """What drivers and passes share while one graph is rewritten."""

    def __init__(self, settings: RewriteSettings | None = None, origins: Origins | None = None):
        self.settings = settings or RewriteSettings()
        self.origins = origins or Origins()
        self.report = PhaseReport("(none)")
        self.warnings: list[str] = []
        self.failures: list[RuleFailure] = []
        #: Rules that failed; they are not asked again.
        self.switched_off: set[Rule] = set()
        #: What the graph refused in this phase. Taking a change back lets nodes come in as if they were new, and
        #: whoever looks at new nodes would try the same for ever.
        self.refused: set[tuple[Rule, Apply]] = set()

    def failed(self, rule: Rule, node: Apply, error: BaseException) -> None:
        """Deal with a rule that raised, as the settings say."""
        failure = RuleFailure(rule, node, error)
        self.failures.append(failure)
        self._report(failure.message(), failure, error)
        self.switched_off.add(rule)

    def pass_failed(self, name: str, error: BaseException) -> None:
        """Deal with a pass over the whole graph that raised; the graph is as it was before."""
        said = f"{type(error).__name__}: {text_of(error)}"
        self._report(f"the optimizer {name} failed: {said}. What it did is undone for this function.", None, error)

    def _report(self, message: str, failure: RuleFailure | None, error: BaseException) -> None:
        if self.settings.on_error == "raise":
            raise RewriteError(message) from error
        if self.settings.on_error == "pdb":
            print(message, file=sys.stderr)
            # Loaded for those who ask for it: it brings in much.
            import pdb  # noqa: T100

            pdb.post_mortem(error.__traceback__)
        self.warnings.append(message)
        if self.settings.on_error == "warn":
            hint = "" if failure is None else " A program that repeats it: f.maker.rewriting.failures[0].reproducer()."
            warnings.warn(message + hint, RewriteWarning, stacklevel=3)

    def replace(
        self,
        fgraph: FunctionGraph,
        pairs: Sequence[tuple[Variable, Variable]],
        rule: str,
        remove: Sequence[Variable] = (),
    ) -> bool:
        """Make replacements in the name of ``rule``, after which the graph must not hold the variables ``remove``.

        Return whether the graph accepted them.
        """
        if not pairs:
            return False
        before = len(fgraph.apply_nodes)
        self.origins.begin(rule, self.report.name, pairs[0][0])
        try:
            fgraph.replace_all_validate_remove(pairs, remove, reason=rule)
        except InconsistencyError:
            self.origins.cancel()
            self.report.refused[rule] = self.report.refused.get(rule, 0) + 1
            return False
        finally:
            self.origins.end()
        if self.settings.check:
            fgraph.check_integrity()
        if self.settings.verbose:
            for old, new in pairs:
                print(f"rewriting: {rule} ({self.report.name}) replaces {describe(old)} with {describe(new)}")
        self.note(rule, len(fgraph.apply_nodes) - before)
        return True

    def note(self, rule: str, growth: int) -> None:
        """Count one use of ``rule``."""
        report = self.report
        report.uses[rule] = report.uses.get(rule, 0) + 1
        report.growth[rule] = report.growth.get(rule, 0) + growth


#: The context of the rewriting that this thread is in, for optimizers that are handed nothing but a graph.
current: ContextVar[Context | None] = ContextVar("current", default=None)


class RuleIndex:
    """Finds the rules that want to see a node, in the order in which they were given."""

    def __init__(self, rules: Iterable[Rule]):
        self._by_key: dict[Any, list[tuple[int, Rule]]] = {}
        self._always: list[tuple[int, Rule]] = []
        # By identity: the hash of an op is computed anew each time. The op is kept, so that its id stays its own.
        self._of_op: dict[int, tuple[Op, tuple[Rule, ...]]] = {}
        for i, rule in enumerate(rules):
            if rule.tracks is None:
                self._always.append((i, rule))
            for key in rule.tracks or ():
                self._by_key.setdefault(key, []).append((i, rule))

    def of(self, op: Op) -> tuple[Rule, ...]:
        """Return the rules that want to see the nodes of ``op``."""
        known = self._of_op.get(id(op))
        if known is not None:
            return known[1]
        found = dict(self._always)
        for key in (op, *type(op).__mro__):
            found.update(self._by_key.get(key, ()))
        rules = tuple(found[i] for i in sorted(found))
        self._of_op[id(op)] = (op, rules)
        return rules


class _Limits:
    """Says when a phase has done enough."""

    def __init__(self, fgraph: FunctionGraph, context: Context):
        settings, size = context.settings, len(fgraph.apply_nodes)
        self._fgraph, self._report = fgraph, context.report
        # Small graphs need room as well: a rule may need a hundred steps to get anywhere.
        self._uses = int(settings.max_use_ratio * size) + 100
        self._nodes = int(settings.max_growth * size) + 1000
        self._deadline = None if settings.max_seconds is None else time.perf_counter() + settings.max_seconds
        self._seconds = settings.max_seconds

    def met(self, rule: Rule | None = None) -> bool:
        """Return whether a limit is met, and let the report say which."""
        report = self._report
        reason = None
        if rule is not None and report.uses.get(rule.name, 0) > self._uses:
            reason = f"the rule {rule.name} was used {report.uses[rule.name]} times"
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
        pairs = replacements(rule, node, answer)
    except Exception as error:  # noqa: BLE001  (the boundary to code that anybody may have written)
        let_signals_through(error)
        context.failed(rule, node, error)
        return False
    if start:
        context.report.time(rule.name, time.perf_counter() - start)
    if not pairs:
        return False
    remove = answer.get("remove", ()) if isinstance(answer, Mapping) else ()  # type: ignore[call-overload]
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
    """Collects the nodes that enter a graph."""

    def __init__(self, arrive: Callable[[Apply], None]):
        self._arrive = arrive

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Collect it."""
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
    index, limits = RuleIndex(rules), _Limits(fgraph, context)
    nodes = fgraph.toposort()
    todo: deque[Apply] = deque(nodes if order == "in_to_out" else reversed(nodes))
    arrivals = _Arrivals(todo.append if fresh else lambda node: None)
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


# -- until nothing changes -----------------------------------------------------------------------------------


class _Agenda(Feature):
    """The nodes that should be looked at, each once; changes put nodes back.

    What is new comes first: it should have its final form before its users look at it.
    """

    # Rules look below a node, not only at it: its users want another look when it changes. Not when there are very
    # many: the sweep over the whole graph finds those, and the work stays linear.
    MANY = 50

    def __init__(self) -> None:
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

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        """Look at what is new."""
        if node not in self._queued:
            self._queued.add(node)
            self._fresh.append(node)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | str, i: int, r: Variable, new_r: Variable, reason: Any = None
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
    fgraph: FunctionGraph, rules: Sequence[Rule], context: Context, passes: Sequence[tuple[str, GraphPass]] = ()
) -> None:
    """Use ``rules`` until none of them changes anything.

    Parameters
    ----------
    fgraph : FunctionGraph
    rules : list of Rule
        A node meets them in this order.
    context : Context
    passes : list of (name, callable)
        Passes over the whole graph, run before each sweep: equal nodes should be one before rules compare them.
    """
    prepare(fgraph, rules)
    index, limits = RuleIndex(rules), _Limits(fgraph, context)
    agenda = _Agenda()
    fgraph.attach_feature(agenda)
    context.report.stop = "nothing left to do"
    try:
        for _ in range(context.settings.max_sweeps):
            for _name, run in passes:
                run(fgraph, context)
            version = fgraph.version
            for node in fgraph.toposort():
                agenda.add(node)
            if not _drain(agenda, fgraph, index, limits, context):
                return
            if fgraph.version == version:
                return
        cut_short(context.report, f"{context.settings.max_sweeps} sweeps were not enough")
    finally:
        fgraph.remove_feature(agenda)


def _drain(agenda: _Agenda, fgraph: FunctionGraph, index: RuleIndex, limits: _Limits, context: Context) -> bool:
    """Work the agenda off; return False where a limit ended it."""
    alive, off = fgraph.apply_nodes, context.switched_off
    while agenda:
        node = agenda.take()
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

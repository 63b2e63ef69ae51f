"""Phases: which rules run when, and how a query picks some of them.

Rewriting is a sequence of named entries, each at a position (a number: smaller is earlier) and with tags. An entry is
a pass over the whole graph, or a :class:`Phase`: a set of rules, each with tags of its own, and the driver that uses
them. A :class:`Query` picks by tag; each entry and each rule carries its own name as a tag, so a query can speak of
one rule as well as of all that belong to ``"fast_run"``.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm, is_ours
from theano.graph.collector import collector_release
from theano.graph.fgraph import FunctionGraph
from theano.graph.source import tracing
from theano.rewriting.drive import Context, GraphPass, PhaseReport, RewriteSettings, current, fixpoint, walk
from theano.rewriting.failure import RuleFailure
from theano.rewriting.history import Origins, Step
from theano.rewriting.local import LocalOptGroup, as_rule
from theano.rewriting.query import DB, Query, as_query
from theano.rewriting.rule import Rule
from theano.rewriting.whole import (
    CheckStackTraceFeature,
    EquilibriumOptimizer,
    Optimizer,
    SeqOptimizer,
    TopoOptimizer,
    as_pass,
    working,
)


def _importing() -> dict[str, Any] | None:
    """Return the names of that module of ours which enters something while it is imported, if one does."""
    frame = sys._getframe(2)
    while frame is not None and is_ours(frame.f_globals.get("__name__", "")):
        if frame.f_code.co_name == "<module>":
            return frame.f_globals
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _is_left_over(module: dict[str, Any] | None) -> bool:
    """Return whether an import was ended half-way: the module is gone, and will enter the same once more."""
    return module is not None and getattr(sys.modules.get(module["__name__"]), "__dict__", None) is not module


class _Changes:
    """How often any sequence or phase was changed: what was read of them before may be old."""

    count = 0


class Phase(DB):
    """Rules that are used together.

    Parameters
    ----------
    name : str
    order : "fixpoint", "in_to_out" or "out_to_in"
        Until nothing changes, or once, from the inputs or from the outputs.
    """

    def __init__(self, name: str = "", order: str = "fixpoint"):
        if order not in ("fixpoint", "in_to_out", "out_to_in"):
            raise ValueError(f"the order of the phase {name} is {order!r}; it must be fixpoint, in_to_out or out_to_in")
        self.name = name
        self.order = order
        self._rules: dict[str, tuple[Rule, frozenset[str]]] = {}
        self._passes: dict[str, tuple[Any, frozenset[str]]] = {}
        #: Collections whose rules take part as one.
        self._inner: dict[str, tuple[DB, frozenset[str]]] = {}
        #: What somebody else than our own modules has entered.
        self._foreign: set[str] = set()
        #: The names of those modules, by what they have entered.
        self._modules: dict[str, dict[str, Any]] = {}

    def _changed(self, name: str, module: dict[str, Any] | None) -> None:
        _Changes.count += 1
        if module is None:
            self._foreign.add(name)
            self._modules.pop(name, None)
        else:
            self._foreign.discard(name)
            self._modules[name] = module

    def _check_free(self, name: str) -> None:
        if name in self and not _is_left_over(self._modules.get(name)):
            raise ValueError(f"the phase {self.name} has a rule named {name} already")

    def add(self, rule: Rule, *tags: str, before: str | None = None) -> Rule:
        """Add ``rule`` under its own tags and ``tags``; one of the same name must not be there.

        ``before`` names a rule that comes later than this one where both want the same node.
        """
        self._check_free(rule.name)
        self._changed(rule.name, _importing())
        entry = (rule, frozenset((rule.name, self.name, *rule.tags, *tags)))
        if before is None:
            self._rules[rule.name] = entry
        else:
            items = [item for item in self._rules.items() if item[0] != rule.name]
            at = next((i for i, (name, _) in enumerate(items) if name == before), len(items))
            self._rules = dict([*items[:at], (rule.name, entry), *items[at:]])
        return rule

    def add_pass(self, name: str, run: GraphPass, *tags: str) -> None:
        """Add a pass over the whole graph, to be run before each sweep of the rules."""
        self._check_free(name)
        self._changed(name, _importing())
        self._passes[name] = (run, frozenset((name, self.name, *tags)))

    def register(
        self,
        name: str,
        obj: Any,
        *tags: str,
        use_db_name_as_tag: bool = True,
        final_opt: bool = False,
        cleanup: bool = False,
    ) -> None:
        """Enter a rule, an optimizer or a collection of rules under ``name``.

        Parameters
        ----------
        name : str
        obj : LocalOptimizer, Rule, Optimizer or DB
            An optimizer of whole graphs runs between two looks at the graph.
        *tags : str
        use_db_name_as_tag : bool
            Let queries that want this collection by its name have it.
        final_opt, cleanup : bool
            Taken for older programs.

        Raises
        ------
        ValueError
            The name is taken.
        """
        if isinstance(obj, DB):
            self._check_free(name)
            self._changed(name, _importing())
            obj.name = obj.name or name
            self._inner[name] = (obj, frozenset((name, self.name, *tags)))
        elif isinstance(obj, Optimizer):
            self.add_pass(name, obj, *tags)  # type: ignore[arg-type]
        else:
            self.add(as_rule(obj, name, tuple(getattr(obj, "tags", ()) or ())), *tags)
        if not use_db_name_as_tag:
            self.remove_tags(name, self.name)

    def remove(self, name: str) -> None:
        """Remove the rule or pass ``name``."""
        _Changes.count += 1
        self._foreign.discard(name)
        del self._holding(name)[name]

    def _holding(self, name: str) -> dict[str, Any]:
        for kind in (self._rules, self._passes, self._inner):
            if name in kind:
                return kind
        raise KeyError(name)

    def rules(self, query: Query | None = None) -> list[Rule]:
        """Return the rules that ``query`` picks, or all."""
        found = [rule for rule, tags in self._rules.values() if query is None or query.picks(tags)]
        for name, (db, tags) in self._inner.items():
            if query is not None and query.picks(tags):
                found.append(as_rule(db.query(query.inside(name)), name))
        return found

    def passes(self, query: Query) -> list[tuple[str, GraphPass]]:
        """Return the passes that ``query`` picks, with their names."""
        return [(name, as_pass(run)) for name, (run, tags) in self._passes.items() if query.picks(tags)]

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of a rule or pass."""
        return self._holding(name)[name][1]  # type: ignore[no-any-return]

    def _set_tags(self, name: str, tags: frozenset[str]) -> None:
        self._changed(name, _importing())
        holding = self._holding(name)
        holding[name] = (holding[name][0], tags)

    def members(self) -> list[str]:
        """Return the names of all rules and passes, in order."""
        return [*self._passes, *self._rules, *self._inner]

    def query(self, *tags: str | Query, **changes: Any) -> Optimizer:
        """Return one optimizer that uses what the query picks, in the order of this phase."""
        wanted = as_query(*tags, **changes)
        rules, passes = self.rules(wanted), [run for run, tags in self._passes.values() if wanted.picks(tags)]
        if self.order == "fixpoint":
            return _named(EquilibriumOptimizer([*rules, *(_as_optimizer(p) for p in passes)]), self.name)
        walks = [TopoOptimizer(LocalOptGroup(*rules), order=self.order)] if rules else []
        return _named(SeqOptimizer(*(_as_optimizer(p) for p in passes), *walks), self.name)

    def __getitem__(self, name: str) -> Any:
        return self._holding(name)[name][0]

    def __contains__(self, name: str) -> bool:
        return name in self._rules or name in self._passes or name in self._inner

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules())

    def __len__(self) -> int:
        return len(self._rules)

    def contents(self) -> list[Any]:
        """Return what is in the phase, in order, as names and tags; see :meth:`Phases.contents`."""
        if self._foreign:
            raise NoCanonicalForm(f"rules were added from outside: {', '.join(sorted(self._foreign))}")
        entries = [*self._rules.items(), *self._passes.items()]
        return [self.name, self.order, *([name, sorted(tags)] for name, (_, tags) in entries)]

    def run(self, fgraph: FunctionGraph, context: Context, query: Query) -> None:
        """Use the rules that ``query`` picks."""
        rules = self.rules(query)
        passes = self.passes(query)
        if self.order == "fixpoint":
            fixpoint(fgraph, rules, context, passes)
            return
        for _, run in passes:
            run(fgraph, context)
        walk(fgraph, rules, context, self.order)

    def __repr__(self) -> str:
        return f"<phase {self.name}: {len(self._rules)} rules>"


def _named(opt: Optimizer, name: str) -> Optimizer:
    opt.name = name
    return opt


class _PassOptimizer(Optimizer):
    """One of our passes as an optimizer."""

    def __init__(self, run: GraphPass, name: str):
        self._run, self.name = run, name

    def apply(self, fgraph: FunctionGraph) -> None:
        """Run it."""
        with working(fgraph, self) as context:
            self._run(fgraph, context)


def _as_optimizer(thing: Any, name: str = "") -> Any:
    return thing if hasattr(thing, "optimize") else _PassOptimizer(thing, name or getattr(thing, "__name__", "pass"))


@dataclass
class _Entry:
    name: str
    what: DB | Optimizer | GraphPass
    position: float
    tags: frozenset[str]
    module: dict[str, Any] | None


class Phases(DB):
    """Entries in order of their position.

    Examples
    --------
    >>> some = Phases("some")
    >>> _ = some.register("late", lambda fgraph, context: None, 2, "fast_run")
    >>> _ = some.register("early", Phase("early"), 1, "fast_run")
    >>> some.names()
    ['early', 'late']
    >>> some.names(Query(include=["late"]))
    ['late']
    """

    def __init__(self, name: str = "phases"):
        self.name = name
        self._entries: dict[str, _Entry] = {}

    def register(
        self,
        name: str,
        what: DB | Optimizer | GraphPass,
        position: float | str,
        *tags: str,
        replace: bool = False,
        use_db_name_as_tag: bool = True,
    ) -> Any:
        """Add an entry; return ``what``.

        Parameters
        ----------
        name : str
            Also a tag of the entry.
        what : Phase, Phases, another DB, Optimizer, or callable of (fgraph, context)
        position : float or 'last'
        *tags : str
        replace : bool
            Take the place of an entry of that name, which otherwise must not exist.
        use_db_name_as_tag : bool
            Taken for older programs.

        Raises
        ------
        ValueError
            The name is taken.
        """
        if name in self._entries and not replace and not _is_left_over(self._entries[name].module):
            raise ValueError(f"{self.name} has an entry named {name} already")
        if position == "last":
            position = max((e.position for e in self._entries.values()), default=-1.0) + 1
        if isinstance(what, DB) and not what.name:
            what.name = name
        _Changes.count += 1
        self._entries[name] = _Entry(name, what, float(position), frozenset((name, *tags)), _importing())
        return what

    @property
    def __position__(self) -> Mapping[str, float]:
        """Where each entry stands."""
        return {name: entry.position for name, entry in self._entries.items()}

    def _set_tags(self, name: str, tags: frozenset[str]) -> None:
        _Changes.count += 1
        entry = self._entries[name]
        entry.tags, entry.module = tags, entry.module and _importing()

    def members(self) -> list[str]:
        """Return the names of all entries, in order."""
        return self.names()

    def query(self, *tags: str | Query, **changes: Any) -> Optimizer:
        """Return one optimizer that runs what the query picks, in order."""
        wanted = as_query(*tags, **changes)
        steps = [(e.position, e.what.query(wanted.inside(e.name)) if isinstance(e.what, DB) else
                  _as_optimizer(e.what, e.name)) for e in self._picked(wanted)]  # fmt: skip
        steps += [(position, opt) for opt, position in wanted.extra_optimizations if position < wanted.position_cutoff]
        return SeqOptimizer(*(opt for _, opt in sorted(steps, key=lambda step: step[0])), name=self.name)

    def remove(self, name: str) -> None:
        """Remove the entry ``name``."""
        _Changes.count += 1
        del self._entries[name]

    def names(self, query: Query | None = None) -> list[str]:
        """Return the names of the entries that ``query`` picks (or of all), in the order in which they run."""
        return [e.name for e in self._picked(query)]

    def position(self, name: str) -> float:
        """Return where the entry ``name`` stands."""
        return self._entries[name].position

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of the entry ``name``."""
        return self._entries[name].tags

    def _picked(self, query: Query | None) -> list[_Entry]:
        entries = sorted(self._entries.values(), key=lambda e: (e.position, e.name))
        if query is None:
            return entries
        return [e for e in entries if query.picks(e.tags) and e.position < query.position_cutoff]

    def __getitem__(self, name: str) -> Any:
        return self._entries[name].what

    def __getattr__(self, name: str) -> Any:
        entries = self.__dict__.get("_entries", {})
        if name in entries:
            return entries[name].what
        raise AttributeError(f"there is no phase named {name}; there are {', '.join(entries)}")

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def find(self, name: str) -> Any:
        """Return the entry or rule called ``name``, wherever it is, or None."""
        for entry in self._picked(None):
            what = entry.what
            if entry.name == name:
                return what
            if isinstance(what, Phases):
                inner = what.find(name)
                if inner is not None:
                    return inner
            elif isinstance(what, Phase):
                for rule in what:
                    if rule.name == name:
                        return rule
        return None

    @staticmethod
    def changes() -> int:
        """Return a number that grows whenever an entry or a rule comes or goes, in any sequence."""
        return _Changes.count

    def contents(self) -> list[Any]:
        """Return what is in the sequence, in order, as names, positions and tags.

        With the text of our own modules, these names say what rewriting does.

        Raises
        ------
        NoCanonicalForm
            Something was entered by others than our own modules, so that a name does not say what it is.
        """
        found: list[Any] = [self.name]
        for entry in sorted(self._entries.values(), key=lambda e: (e.position, e.name)):
            if entry.module is None:
                raise NoCanonicalForm(f"the entry {entry.name} was added from outside")
            if isinstance(entry.what, DB) and not isinstance(entry.what, (Phase, Phases)):
                raise NoCanonicalForm(f"nobody knows what {entry.name} holds")
            inner = entry.what.contents() if isinstance(entry.what, (Phase, Phases)) else None
            found.append([entry.name, entry.position, sorted(entry.tags), inner])
        return found

    def all_rules(self) -> dict[str, Rule]:
        """Return every rule of every phase, by name."""
        found: dict[str, Rule] = {}
        for entry in self._picked(None):
            if isinstance(entry.what, Phases):
                found.update(entry.what.all_rules())
            elif isinstance(entry.what, Phase):
                found.update((rule.name, rule) for rule in entry.what)
        return found

    def run(self, fgraph: FunctionGraph, context: Context, query: Query, report: Report) -> None:
        """Run the entries that ``query`` picks."""
        entries = self._picked(query)
        if query.extra_optimizations:
            entries += [_Entry(str(o), o, p, frozenset(), None) for o, p in query.extra_optimizations
                        if p < query.position_cutoff]  # fmt: skip
            entries.sort(key=lambda e: e.position)
        for entry in entries:
            if isinstance(entry.what, Phases):
                entry.what.run(fgraph, context, query.inside(entry.name), report)
                continue
            with _reported(entry.name, fgraph, context, report):
                if isinstance(entry.what, Phase):
                    entry.what.run(fgraph, context, query.inside(entry.name))
                elif isinstance(entry.what, DB):
                    as_pass(_whole(entry.what.query(query.inside(entry.name))))(fgraph, context)
                else:
                    as_pass(entry.what)(fgraph, context)


def _whole(thing: Any) -> Any:
    """Return an optimizer of whole graphs; a rule becomes one."""
    return thing if hasattr(thing, "optimize") else TopoOptimizer(thing)


@contextmanager
def _reported(name: str, fgraph: FunctionGraph, context: Context, report: Report) -> Iterator[None]:
    """Report what is done inside under ``name``."""
    context.report = phase = PhaseReport(name, nodes_before=len(fgraph.apply_nodes), stop="done")
    context.origins.phase = name
    context.refused.clear()
    start = time.perf_counter()
    yield
    phase.seconds = time.perf_counter() - start
    phase.nodes_after = len(fgraph.apply_nodes)
    report.phases.append(phase)


@dataclass
class Report:
    """What rewriting did to one graph.

    Attributes
    ----------
    phases : list of PhaseReport
        One for each phase and pass, in the order in which they ran.
    warnings : list of str
        What failed.
    failures : list of RuleFailure
        The rules among that: each can write a program that makes it fail again.
    origins : Origins
        Answers :meth:`why`.
    """

    phases: list[PhaseReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failures: list[RuleFailure] = field(default_factory=list)
    origins: Origins = field(default_factory=Origins)
    seconds: float = 0.0

    @property
    def uses(self) -> Mapping[str, int]:
        """How often each rule was used, over all phases."""
        total: dict[str, int] = {}
        for phase in self.phases:
            for name, n in phase.uses.items():
                total[name] = total.get(name, 0) + n
        return total

    @property
    def complete(self) -> bool:
        """Whether every phase ended by itself; otherwise a limit did, and :attr:`stop` says which."""
        return all(phase.complete for phase in self.phases)

    @property
    def stop(self) -> str:
        """Why rewriting ended: the limits that were met, or "nothing left to do"."""
        return "; ".join(f"{p.name} {p.stop}" for p in self.phases if not p.complete) or "nothing left to do"

    def why(self, node: Apply) -> list[Step]:
        """Return the replacements that led to ``node``, the latest first."""
        return self.origins.why(node)

    def explain(self, node: Apply) -> str:
        """Return :meth:`why` as text."""
        return self.origins.explain(node)

    def __str__(self) -> str:
        return "\n".join([f"rewriting: {self.seconds * 1e3:.1f} ms, {self.stop}", *(f"  {p}" for p in self.phases)])


#: The sequence that `theano.function` runs; layers above enter their rules and passes.
phases = Phases("phases")

#: What the names that users may give as ``optimizer`` mean.
predefined_queries: dict[str | None, Query] = {
    None: Query(),
    "None": Query(),
    "merge": Query(include=["merge"]),
    "fast_compile": Query(include=["fast_compile"]),
    "o1": Query(include=["fast_compile"]),
    "o2": Query(include=["fast_run"], exclude=["elemwise_fusion", "inplace"]),
    "o3": Query(include=["fast_run"], exclude=["inplace"]),
    "o4": Query(include=["fast_run"]),
    "fast_run": Query(include=["fast_run"]),
    "fast_run_stable": Query(include=["fast_run"], require=["stable"]),
    "stabilize": Query(include=["fast_run"], position_cutoff=1.5000001),
    "unsafe": Query(include=["fast_run", "unsafe"], exclude=["inplace"]),
}


def query_of(what: str | Query | Optimizer | None) -> Query:
    """Return the query that ``what`` names; an optimizer becomes a query for it alone.

    Raises
    ------
    ValueError
        No query has that name.
    """
    if isinstance(what, Query):
        return what
    if hasattr(what, "optimize"):
        return Query(extra_optimizations=[(what, 0.0)])
    if what not in predefined_queries:
        known = ", ".join(str(name) for name in predefined_queries if name is not None)
        raise ValueError(f"no optimizer is called {what!r}; there are {known}")
    return predefined_queries[what]


def rewrite(
    fgraph: FunctionGraph,
    query: str | Query | Optimizer | None = "fast_run",
    settings: RewriteSettings | None = None,
    sequence: Phases | None = None,
) -> Report:
    """Rewrite ``fgraph`` in place.

    Parameters
    ----------
    fgraph : FunctionGraph
    query : Query or str
        What takes part: a query, or the name of one (``"fast_run"``, ``"fast_compile"``, ``"o1"`` to ``"o4"``, ...).
    settings : RewriteSettings, optional
    sequence : Phases, optional
        Instead of the common sequence; for tests.

    Returns
    -------
    Report
        What was done, how long it took, and why it ended.
    """
    context = Context(settings)
    report = Report(warnings=context.warnings, failures=context.failures, origins=context.origins)
    start = time.perf_counter()
    watchers: list[Any] = [context.origins]
    if context.settings.check_stack_trace != "off":
        watchers.append(CheckStackTraceFeature(context.settings.check_stack_trace))
    for watcher in watchers:
        fgraph.attach_feature(watcher)
    # What is restored comes first and without a call into Python, so that Ctrl-C cannot come between.
    release, untraced, around = collector_release(), tracing.untraced, current.get()
    try:
        gc.disable()
        current.set(context)
        tracing.untraced = True
        (phases if sequence is None else sequence).run(fgraph, context, query_of(query), report)
    finally:
        tracing.untraced = untraced
        current.set(around)
        release()
        for watcher in watchers:
            fgraph.remove_feature(watcher)
    report.seconds = time.perf_counter() - start
    return report


def once(rules: Sequence[Rule], order: str = "in_to_out") -> Callable[[FunctionGraph, Context], None]:
    """Return a pass that walks over the graph once with ``rules``."""

    def run(fgraph: FunctionGraph, context: Context) -> None:
        walk(fgraph, rules, context, order)

    return run


def show_again(name: str, inputs: Sequence[Any], outputs: Sequence[Any], sequence: Phases | None = None) -> Any:
    """Show an expression to the rule called ``name``, as it was when the rule failed; see ``RuleFailure.reproducer``.

    Returns
    -------
    object
        What the rule answers; the error comes through if it fails again.

    Raises
    ------
    LookupError
        No rule has that name: the module that registers it has to be imported first.
    """
    rule = (phases if sequence is None else sequence).find(name)
    if not isinstance(rule, Rule):
        raise LookupError(f"no rule is called {name!r}; import the module that registers it")
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    rule.add_requirements(fgraph)
    return rule.answer(fgraph, fgraph.outputs[0].owner)  # type: ignore[arg-type]

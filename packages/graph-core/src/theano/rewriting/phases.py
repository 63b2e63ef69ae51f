"""Phases: which rules run when, and how a query picks some of them.

Rewriting is a sequence of named entries, each at a position (a number: smaller is earlier) and with tags. An entry is
a pass over the whole graph, or a :class:`Phase`: a set of rules, each with tags of its own, and the driver that uses
them. A :class:`Query` picks by tag; each entry and each rule carries its own name as a tag, so a query can speak of
one rule as well as of all that belong to ``"fast_run"``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from theano.graph.apply import Apply
from theano.graph.canonical import NoCanonicalForm, is_ours
from theano.graph.collector import collector_held
from theano.graph.fgraph import FunctionGraph
from theano.graph.source import untraced
from theano.rewriting.drive import Context, GraphPass, PhaseReport, RewriteSettings, fixpoint, walk
from theano.rewriting.history import Origins, Step
from theano.rewriting.rule import Rule


@dataclass(frozen=True)
class Query:
    """Which entries and rules take part.

    Attributes
    ----------
    include : frozenset of str
        Tags; an entry needs one of them.
    exclude : frozenset of str
        Tags; an entry with one of them stays out.
    require : frozenset of str
        Tags; an entry needs all of them.
    position_cutoff : float
        Entries at this position and later stay out.

    Examples
    --------
    >>> q = Query(include=["fast_run"]).excluding("inplace")
    >>> q.picks({"fast_run"}), q.picks({"fast_run", "inplace"})
    (True, False)
    """

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    require: frozenset[str] = frozenset()
    position_cutoff: float = float("inf")

    def __init__(
        self,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        require: Iterable[str] = (),
        position_cutoff: float = float("inf"),
    ):
        for name, tags in (("include", include), ("exclude", exclude), ("require", require)):
            object.__setattr__(self, name, frozenset([tags] if isinstance(tags, str) else tags or ()))
        object.__setattr__(self, "position_cutoff", position_cutoff)

    def including(self, *tags: str) -> Query:
        """Return a query that lets ``tags`` in as well."""
        return replace(self, include=self.include | frozenset(tags))

    def excluding(self, *tags: str) -> Query:
        """Return a query that keeps ``tags`` out."""
        return replace(self, exclude=self.exclude | frozenset(tags))

    def requiring(self, *tags: str) -> Query:
        """Return a query that wants all of ``tags``."""
        return replace(self, require=self.require | frozenset(tags))

    def picks(self, tags: frozenset[str] | set[str]) -> bool:
        """Return whether something with ``tags`` takes part."""
        return not self.include.isdisjoint(tags) and self.require <= tags and self.exclude.isdisjoint(tags)


def _at_import() -> bool:
    """Return whether what is being entered is entered by one of our modules while that is imported."""
    frame = sys._getframe(2)
    while frame is not None and is_ours(frame.f_globals.get("__name__", "")):
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class _Changes:
    """How often any sequence or phase was changed: what was read of them before may be old."""

    count = 0


class Phase:
    """Rules that are used together.

    Parameters
    ----------
    name : str
    order : "fixpoint", "in_to_out" or "out_to_in"
        Until nothing changes, or once, from the inputs or from the outputs.
    """

    def __init__(self, name: str, order: str = "fixpoint"):
        if order not in ("fixpoint", "in_to_out", "out_to_in"):
            raise ValueError(f"the order of the phase {name} is {order!r}; it must be fixpoint, in_to_out or out_to_in")
        self.name = name
        self.order = order
        self._rules: dict[str, tuple[Rule, frozenset[str]]] = {}
        self._passes: dict[str, tuple[GraphPass, frozenset[str]]] = {}
        #: What somebody else than our own modules has entered.
        self._foreign: set[str] = set()

    def _changed(self, name: str, ours: bool) -> None:
        _Changes.count += 1
        (self._foreign.discard if ours else self._foreign.add)(name)

    def add(self, rule: Rule, *tags: str, before: str | None = None) -> Rule:
        """Add ``rule`` under its own tags and ``tags``; one of the same name must not be there.

        ``before`` names a rule that comes later than this one where both want the same node.
        """
        if rule.name in self:
            raise ValueError(f"the phase {self.name} has a rule named {rule.name} already")
        self._changed(rule.name, _at_import())
        entry = (rule, frozenset((rule.name, self.name, *rule.tags, *tags)))
        if before is None:
            self._rules[rule.name] = entry
        else:
            items = list(self._rules.items())
            at = next((i for i, (name, _) in enumerate(items) if name == before), len(items))
            self._rules = dict([*items[:at], (rule.name, entry), *items[at:]])
        return rule

    def add_pass(self, name: str, run: GraphPass, *tags: str) -> None:
        """Add a pass over the whole graph, to be run before each sweep of the rules."""
        if name in self:
            raise ValueError(f"the phase {self.name} has a rule named {name} already")
        self._changed(name, _at_import())
        self._passes[name] = (run, frozenset((name, self.name, *tags)))

    def remove(self, name: str) -> None:
        """Remove the rule or pass ``name``."""
        self._changed(name, True)
        if self._rules.pop(name, None) is None:
            del self._passes[name]

    def rules(self, query: Query | None = None) -> list[Rule]:
        """Return the rules that ``query`` picks, or all."""
        return [rule for rule, tags in self._rules.values() if query is None or query.picks(tags)]

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of a rule or pass."""
        return (self._rules.get(name) or self._passes[name])[1]

    def __contains__(self, name: str) -> bool:
        return name in self._rules or name in self._passes

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
        passes = [(name, run) for name, (run, tags) in self._passes.items() if query.picks(tags)]
        if self.order == "fixpoint":
            fixpoint(fgraph, rules, context, passes)
            return
        for _, run in passes:
            run(fgraph, context)
        walk(fgraph, rules, context, self.order)

    def __repr__(self) -> str:
        return f"<phase {self.name}: {len(self._rules)} rules>"


@dataclass
class _Entry:
    name: str
    what: Phase | Phases | GraphPass
    position: float
    tags: frozenset[str]
    ours: bool


class Phases:
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
        self, name: str, what: Phase | Phases | GraphPass, position: float, *tags: str, replace: bool = False
    ) -> Phase | Phases | GraphPass:
        """Add an entry; return ``what``.

        Parameters
        ----------
        name : str
            Also a tag of the entry.
        what : Phase, Phases or callable of (fgraph, context)
        position : float
        *tags : str
        replace : bool
            Take the place of an entry of that name, which otherwise must not exist.
        """
        if name in self._entries and not replace:
            raise ValueError(f"{self.name} has an entry named {name} already")
        _Changes.count += 1
        self._entries[name] = _Entry(name, what, float(position), frozenset((name, *tags)), _at_import())
        return what

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

    def find(self, name: str) -> Rule | Phase | Phases | GraphPass | None:
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
            if not entry.ours:
                raise NoCanonicalForm(f"the entry {entry.name} was added from outside")
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
        for entry in self._picked(query):
            if isinstance(entry.what, Phases):
                # A cutoff speaks of the outermost positions only.
                entry.what.run(fgraph, context, replace(query, position_cutoff=float("inf")), report)
                continue
            context.report = phase = PhaseReport(entry.name, nodes_before=len(fgraph.apply_nodes), stop="done")
            start = time.perf_counter()
            if isinstance(entry.what, Phase):
                entry.what.run(fgraph, context, query)
            else:
                entry.what(fgraph, context)
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
        Rules that failed.
    origins : Origins
        Answers :meth:`why`.
    """

    phases: list[PhaseReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
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


def query_of(what: str | Query | None) -> Query:
    """Return the query that ``what`` names.

    Raises
    ------
    ValueError
        No query has that name.
    """
    if isinstance(what, Query):
        return what
    if what not in predefined_queries:
        known = ", ".join(str(name) for name in predefined_queries if name is not None)
        raise ValueError(f"no optimizer is called {what!r}; there are {known}")
    return predefined_queries[what]


def rewrite(
    fgraph: FunctionGraph,
    query: str | Query | None = "fast_run",
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
    report = Report(warnings=context.warnings, origins=context.origins)
    start = time.perf_counter()
    fgraph.attach_feature(context.origins)
    try:
        with collector_held(), untraced():
            (phases if sequence is None else sequence).run(fgraph, context, query_of(query), report)
    finally:
        fgraph.remove_feature(context.origins)
    report.seconds = time.perf_counter() - start
    return report


def once(rules: Sequence[Rule], order: str = "in_to_out") -> Callable[[FunctionGraph, Context], None]:
    """Return a pass that walks over the graph once with ``rules``."""

    def run(fgraph: FunctionGraph, context: Context) -> None:
        walk(fgraph, rules, context, order)

    return run

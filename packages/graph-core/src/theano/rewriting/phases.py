"""The sequence: which passes run when, and how a query picks some of them.

Rewriting is a sequence of named entries, each at a position (a number: smaller is earlier) and with tags. An entry is
a :class:`~theano.rewriting.context.Pass` or another sequence. A :class:`~theano.rewriting.query.Query` picks by tag;
each entry, and each rule of a :class:`~theano.rewriting.phase.Phase`, carries its own name as a tag, so a query can
speak of one rule as well as of all that belong to ``"fast_run"``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from theano.graph.canonical import NoCanonicalForm
from theano.graph.fgraph import FunctionGraph
from theano.records import record
from theano.rewriting import families
from theano.rewriting.context import Context, Pass
from theano.rewriting.phase import Phase
from theano.rewriting.query import Query
from theano.rewriting.registration import ChangeCount, Registrar, importing, is_left_over
from theano.rewriting.report import PhaseReport, Report
from theano.rewriting.rule import Rule


@record
class _Entry:
    name: str
    what: Pass | Phases
    position: float
    tags: frozenset[str]
    module: Registrar


class Phases:
    """Passes, and sequences of passes, in order of their position.

    Parameters
    ----------
    name : str
    complete : callable, optional
        Registers the missing entries of the sequence; called at each access to an entry.

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

    def __init__(self, name: str = "phases", complete: Callable[[], None] | None = None):
        self.name = name
        self._registered: dict[str, _Entry] = {}
        self._complete = complete
        #: Whether other code has removed or changed what our own modules registered.
        self._altered = False

    @property
    def _entries(self) -> dict[str, _Entry]:
        if self._complete is not None:
            self._complete()
        return self._registered

    def register(
        self,
        name: str,
        what: Pass | Phases,
        position: float | str,
        *tags: str,
        replace: bool = False,
    ) -> Any:
        """Add an entry; return ``what``.

        Parameters
        ----------
        name : str
            Also a tag of the entry.
        what : Pass or Phases
            A phase, a function of a graph and a context, or a sequence inside this one.
        position : float or 'last'
        *tags : str
        replace : bool
            Take the place of an entry of that name, which otherwise must not exist.

        Raises
        ------
        ValueError
            The name is taken.
        TypeError
            It is no pass.
        """
        if not (callable(what) or isinstance(what, Phases)):
            raise TypeError(f"{what!r} is no pass: user-defined rewriters are registered in theano.compile.optdb")
        if name in self._entries and not replace and not is_left_over(self._entries[name].module):
            raise ValueError(f"{self.name} has an entry named {name} already")
        if position == "last":
            position = max((e.position for e in self._entries.values()), default=-1.0) + 1
        if isinstance(what, (Phase, Phases)) and not what.name:
            what.name = name
        ChangeCount.count += 1
        module = importing()
        self._altered |= module is None and self._is_ours(name)
        self._entries[name] = _Entry(name, what, float(position), frozenset((name, *tags)), module)
        return what

    def set_tags(self, name: str, tags: frozenset[str]) -> None:
        """Give an entry other tags."""
        ChangeCount.count += 1
        entry, module = self._entries[name], importing()
        self._altered |= module is None and self._is_ours(name)
        entry.tags, entry.module = tags, entry.module and module

    def remove(self, name: str) -> None:
        """Remove the entry ``name``."""
        ChangeCount.count += 1
        self._altered |= importing() is None and self._is_ours(name)
        del self._entries[name]

    def _is_ours(self, name: str) -> bool:
        return name in self._entries and self._entries[name].module is not None

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
        if name.startswith("_"):  # no entry is called so; a copy that is being made has nothing yet
            raise AttributeError(name)
        entries = self._entries
        if name in entries:
            return entries[name].what
        raise AttributeError(f"no phase named {name}; the phases are {', '.join(entries)}")

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
        return ChangeCount.count

    def contents(self) -> list[Any]:
        """Return what is in the sequence, in order, as names, positions and tags.

        With the text of our own modules, these names say what rewriting does.

        Raises
        ------
        NoCanonicalForm
            Something was registered by others than our own modules, so that a name does not say what it is.
        """
        found: list[Any] = [self.name]
        for entry in sorted(self._entries.values(), key=lambda e: (e.position, e.name)):
            if entry.module is None:
                raise NoCanonicalForm(f"the entry {entry.name} was added from outside")
            inner = entry.what.contents() if isinstance(entry.what, (Phase, Phases)) else None
            found.append([entry.name, entry.position, sorted(entry.tags), inner])
        return found

    def as_declared(self) -> bool:
        """Return whether it holds what our own modules have registered while they were imported, and nothing else.

        Then their text says what it holds, and it need not be complete for this to be known.
        """
        return not self._altered and all(
            entry.module is not None and (not isinstance(entry.what, (Phase, Phases)) or entry.what.as_declared())
            for entry in self._registered.values()
        )

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
            what, inside = entry.what, query.inside(entry.name)
            if isinstance(what, Phases):
                what.run(fgraph, context, inside, report)
                continue
            run: Pass = what
            with _reported(entry.name, fgraph, context, report):
                context.query = inside
                run(fgraph, context)


@contextmanager
def _reported(name: str, fgraph: FunctionGraph, context: Context, report: Report) -> Iterator[None]:
    """Report what is done inside under ``name``."""
    context.report = phase = PhaseReport(name, nodes_before=len(fgraph.apply_nodes), stop="done")
    context.provenance.phase = name
    context.refused.clear()
    start = time.perf_counter()
    yield
    phase.seconds = time.perf_counter() - start
    phase.nodes_after = len(fgraph.apply_nodes)
    report.phases.append(phase)


#: The sequence that `theano.function` runs; layers above register their rules and passes.
phases = Phases("phases", families.load)

"""What all user-defined collections are: phases and sequences of the core; what is registered is adapted to them, once.

A node rewriter becomes a rule, a graph rewriter a pass, and a collection the phase or the sequence that it stands for.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from theano.graph.fgraph import FunctionGraph
from theano.records import replace
from theano.rewriting.context import Context, Pass
from theano.rewriting.phase import Phase
from theano.rewriting.phases import Phases
from theano.rewriting.query import Query
from theano.rewriting.rule import Rule
from theano.rewriting.userdefined.adapt import as_pass, as_rule
from theano.rewriting.userdefined.graph_rewriters import (
    EquilibriumOptimizer,
    Optimizer,
    SeqOptimizer,
    TopoOptimizer,
    as_graph_rewriter,
)
from theano.rewriting.userdefined.node_rewriters import LocalOptGroup


def as_query(*tags: str | Query, **changes: Any) -> Query:
    """Return the query that the arguments of :meth:`DB.query` mean.

    Parameters
    ----------
    *tags : str or Query
        A query; or tags, which ``+`` includes, ``-`` excludes and ``&`` requires.
    **changes
        ``subquery``, ``position_cutoff``.

    Examples
    --------
    >>> as_query("+fast_run", "-inplace").exclude
    frozenset({'inplace'})
    """
    if len(tags) == 1 and isinstance(tags[0], Query):
        return replace(tags[0], **changes)
    sets: dict[str, set[str]] = {"+": set(), "-": set(), "&": set()}
    for tag in tags:
        if not isinstance(tag, str) or tag[:1] not in sets:
            raise ValueError(f"a tag to ask for begins with +, & or -: {tag!r} does not")
        sets[tag[0]].add(tag[1:])
    return Query(sets["+"], sets["&"], sets["-"], **changes)


class DB(ABC):
    """A collection of optimizers under names and tags, from which queries pick.

    Attributes
    ----------
    name : str
        Under which a larger collection knows it.
    """

    name: str = ""

    @abstractmethod
    def query(self, *tags: str | Query, **changes: object) -> Any:
        """Return one optimizer that does what the query picks.

        Parameters
        ----------
        *tags : Query or str
            As for :func:`as_query`: ``db.query("+fast_run", "-inplace")``.
        """

    @abstractmethod
    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of an entry."""

    @abstractmethod
    def _set_tags(self, name: str, tags: frozenset[str]) -> None: ...

    @abstractmethod
    def members(self) -> list[str]:
        """Return the names of all entries, in order."""

    def add_tags(self, name: str, *tags: str) -> None:
        """Give an entry more tags."""
        self._set_tags(name, self.tags(name) | frozenset(tags))

    def remove_tags(self, name: str, *tags: str) -> None:
        """Take tags away from an entry."""
        self._set_tags(name, self.tags(name) - frozenset(tags))

    def print_summary(self, stream: TextIO | None = None) -> None:
        """Print the names and the tags of all entries."""
        out = sys.stdout if stream is None else stream
        print(f"{type(self).__name__} {self.name} (id {id(self)})", file=out)
        for name in self.members():
            print(f"  {name}: {', '.join(sorted(self.tags(name) - {name}))}", file=out)


# -- phases and sequences as collections ---------------------------------------------------------------------


class PhaseDB(DB):
    """A phase of the core as a collection: rewriters are adapted and added to it.

    Whatever else the phase has (``add``, ``rules``, ``contents``) is found here as well.

    Parameters
    ----------
    phase : Phase
    """

    def __init__(self, phase: Phase):
        self.phase = phase
        #: Graph rewriters and collections by name, each after what it was adapted to: that may be gone by now.
        self._registered: dict[str, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """Under which a larger collection knows it."""
        return self.phase.name

    @name.setter
    def name(self, name: str) -> None:
        self.phase.name = name

    def register(
        self,
        name: str,
        obj: object,
        *tags: str,
        use_db_name_as_tag: bool = True,
        final_opt: bool = False,
        cleanup: bool = False,
        before: str | None = None,
    ) -> None:
        """Register a rule, a rewriter or a collection of rules under ``name``.

        Parameters
        ----------
        name : str
        obj : LocalOptimizer, Rule, Optimizer or DB
            A graph rewriter runs between two looks at the graph; a collection takes part as one rule.
        *tags : str
        use_db_name_as_tag : bool
            Let queries that want this collection by its name have it.
        final_opt, cleanup : bool
            Without effect.
        before : str, optional
            The name of a rule that comes later than this one where both want the same node.

        Raises
        ------
        ValueError
            The name is taken.
        """
        if isinstance(obj, DB):
            self.phase.add_group(name, lambda query: as_rule(obj.query(query), name), *tags)
            obj.name = obj.name or name
            self._registered[name] = (self.phase[name], obj)
        elif isinstance(obj, Optimizer):
            self.phase.add_pass(name, as_pass(obj), *tags)
            self._registered[name] = (self.phase[name], obj)
        else:
            own = () if isinstance(obj, Rule) and obj.name == name else tuple(getattr(obj, "tags", ()) or ())
            self.phase.add(as_rule(obj, name, own), *tags, before=before)
        if not use_db_name_as_tag:
            self.remove_tags(name, self.name)

    def remove(self, name: str) -> None:
        """Remove what is registered as ``name``."""
        self.phase.remove(name)
        self._registered.pop(name, None)

    def query(self, *tags: str | Query, **changes: object) -> Any:
        """Return one graph rewriter that uses what the query picks, in the order of the phase."""
        wanted = as_query(*tags, **changes)
        rules = self.phase.rules(wanted)
        passes = [as_graph_rewriter(self[name], name) for name, _ in self.phase.passes(wanted)]
        found: Optimizer
        if self.phase.order == "fixpoint":
            found = EquilibriumOptimizer([*rules, *passes])
        else:
            walks = [TopoOptimizer(LocalOptGroup(*rules), order=self.phase.order)] if rules else []
            found = SeqOptimizer(*passes, *walks)
        found.name = self.name
        return found

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of what is registered as ``name``."""
        return self.phase.tags(name)

    def _set_tags(self, name: str, tags: frozenset[str]) -> None:
        self.phase.set_tags(name, tags)

    def members(self) -> list[str]:
        """Return the names of all that is registered, in order."""
        return self.phase.members()

    def __getitem__(self, name: str) -> Any:
        adapted_to, registered = self._registered.get(name, (None, None))
        there = self.phase[name]
        return registered if adapted_to is there else there

    def __contains__(self, name: str) -> bool:
        return name in self.phase

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.phase)

    def __len__(self) -> int:
        return len(self.phase)

    def __repr__(self) -> str:
        return repr(self.phase)

    def __getattr__(self, name: str) -> Any:
        if name == "phase":  # a copy that is being made has none yet
            raise AttributeError(name)
        return getattr(self.phase, name)


class PhasesDB(DB):
    """A sequence of the core as a collection: rewriters are adapted and registered in it.

    Whatever else the sequence has (``names``, ``position``, ``find``) is found here as well, and each entry as an
    attribute.

    Parameters
    ----------
    sequence : Phases

    Examples
    --------
    >>> from theano.rewriting import phases
    >>> db = PhasesDB(phases)
    >>> db.__position__["canonicalize"], db["canonicalize"] is db.canonicalize
    (1.0, True)
    """

    def __init__(self, sequence: Phases):
        self.sequence = sequence
        #: What was registered, by name, each after what it was adapted to: that may be gone by now.
        self._registered: dict[str, tuple[Any, Any]] = {}

    @property
    def name(self) -> str:
        """Under which a larger collection knows it."""
        return self.sequence.name

    @name.setter
    def name(self, name: str) -> None:
        self.sequence.name = name

    def register(
        self,
        name: str,
        what: object,
        position: float | str,
        *tags: str,
        replace: bool = False,
        use_db_name_as_tag: bool = True,
    ) -> Any:
        """Register a graph rewriter, a pass or a collection; return it.

        Parameters
        ----------
        name : str
            Also a tag of the entry.
        what : Optimizer, DB, or callable of (fgraph, context)
        position : float or 'last'
        *tags : str
        replace : bool
            Take the place of an entry of that name, which otherwise must not exist.
        use_db_name_as_tag : bool
            Without effect.

        Raises
        ------
        ValueError
            The name is taken.
        """
        adapted_to = _adapt(what)
        self.sequence.register(name, adapted_to, position, *tags, replace=replace)
        if isinstance(what, DB):
            what.name = what.name or name
        if adapted_to is not what:
            self._registered[name] = (adapted_to, what)
        return what

    def remove(self, name: str) -> None:
        """Remove the entry ``name``."""
        self.sequence.remove(name)
        self._registered.pop(name, None)

    def query(self, *tags: str | Query, **changes: object) -> SeqOptimizer:
        """Return one graph rewriter that runs what the query picks, in order."""
        wanted = as_query(*tags, **changes)
        steps = [(self.sequence.position(name), self._step(name, wanted)) for name in self.sequence.names(wanted)]
        steps += [(position, opt) for opt, position in wanted.extra_optimizations if position < wanted.position_cutoff]
        return SeqOptimizer(*(opt for _, opt in sorted(steps, key=lambda step: step[0])), name=self.name)

    def _step(self, name: str, query: Query) -> Any:
        what = self[name]
        return what.query(query.inside(name)) if isinstance(what, DB) else as_graph_rewriter(what, name)

    @property
    def __position__(self) -> Mapping[str, float]:
        """Where each entry stands."""
        return {name: self.sequence.position(name) for name in self.sequence.names()}

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of the entry ``name``."""
        return self.sequence.tags(name)

    def _set_tags(self, name: str, tags: frozenset[str]) -> None:
        self.sequence.set_tags(name, tags)

    def members(self) -> list[str]:
        """Return the names of all entries, in order."""
        return self.sequence.names()

    def __getitem__(self, name: str) -> Any:
        there = self.sequence[name]
        if self._registered.get(name, (None,))[0] is not there:
            self._registered[name] = (there, _collection_of(there))
        return self._registered[name][1]

    def __contains__(self, name: str) -> bool:
        return name in self.sequence

    def __getattr__(self, name: str) -> Any:
        if name == "sequence":  # a copy that is being made has none yet
            raise AttributeError(name)
        return self[name] if name in self.sequence else getattr(self.sequence, name)


def _collection_of(what: Pass | Phases) -> Any:
    """Return an entry of a sequence as users know it: phases and sequences as collections."""
    if isinstance(what, Phase):
        return PhaseDB(what)
    return PhasesDB(what) if isinstance(what, Phases) else what


def _adapt(what: object) -> Pass | Phases:
    """Return what stands for ``what`` in a sequence of the core."""
    if isinstance(what, PhaseDB):
        return what.phase
    if isinstance(what, PhasesDB):
        return what.sequence
    return _CollectionPass(what) if isinstance(what, DB) else as_pass(what)


class _CollectionPass:
    """A pass that does what a collection answers to the query of the moment."""

    def __init__(self, db: DB):
        self._db = db

    def __call__(self, fgraph: FunctionGraph, context: Context, /) -> None:
        as_pass(as_graph_rewriter(self._db.query(context.query)))(fgraph, context)

    def __str__(self) -> str:
        return str(self._db)


def adapted(query: Query) -> Query:
    """Return ``query`` with the graph rewriters and collections that it adds as passes.

    Examples
    --------
    >>> query = adapted(Query(extra_optimizations=[(SeqOptimizer(name="mine"), 1.5)]))
    >>> [(type(extra).__name__, str(extra), position) for extra, position in query.extra_optimizations]
    [('GraphRewriterPass', 'mine', 1.5)]
    """
    return replace(query, extra_optimizations=tuple((_adapt(what), at) for what, at in query.extra_optimizations))

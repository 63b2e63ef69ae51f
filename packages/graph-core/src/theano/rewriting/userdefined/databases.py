"""User-defined collections of rewriters, from which queries pick; and the common sequence as such a collection."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from theano.rewriting.phase import Phase
from theano.rewriting.phases import Phases, phases
from theano.rewriting.query import Query
from theano.rewriting.userdefined.adapt import name_of
from theano.rewriting.userdefined.collection import DB, PhaseDB, PhasesDB, as_query
from theano.rewriting.userdefined.graph_rewriters import SeqOptimizer, TopoOptimizer
from theano.rewriting.userdefined.node_rewriters import LocalOptGroup


class SequenceDB(PhasesDB):
    """Graph rewriters that run one after the other, each at its position.

    Parameters
    ----------
    failure_callback : callable, optional
        What is told of failures when the rewriter of a query is run by hand.

    Examples
    --------
    >>> db = SequenceDB()
    >>> _ = db.register("second", EquilibriumDB(), 2, "fast_run")
    >>> _ = db.register("first", EquilibriumDB(), 1, "fast_run", "fast_compile")
    >>> db.query("+fast_run")
    SeqOpt(first, second)
    """

    seq_opt = SeqOptimizer

    def __init__(self, failure_callback: Callable[..., Any] | None = SeqOptimizer.warn):
        super().__init__(Phases(""))
        self.failure_callback = failure_callback

    def query(self, *tags: str | Query, **changes: Any) -> Any:
        """Return one graph rewriter that runs what the query picks, in order."""
        found = super().query(*tags, **changes)
        found.failure_callback = self.failure_callback
        return found


class EquilibriumDB(PhaseDB):
    """Node rewriters that are used until none of them changes anything.

    Parameters
    ----------
    ignore_newtrees, tracks_on_change_inputs : bool
        Taken for older programs: what comes new, and what a change reaches, is always looked at again.
    """

    def __init__(self, ignore_newtrees: bool = True, tracks_on_change_inputs: bool = False):
        super().__init__(Phase(""))
        self.ignore_newtrees, self.tracks_on_change_inputs = ignore_newtrees, tracks_on_change_inputs


class LocalGroupDB(PhaseDB):
    """Node rewriters that become one: the first that has something to say is heard.

    Parameters
    ----------
    apply_all_opts : bool
        Show what one rule made to the others as well.
    profile : bool
        Taken for older programs: ``profile_optimizer`` measures all rules.
    local_opt : class
        What to make of them.
    """

    def __init__(self, apply_all_opts: bool = False, profile: bool = False, local_opt: Any = LocalOptGroup):
        super().__init__(Phase("", "out_to_in"))
        self.apply_all_opts, self.profile, self.local_opt = apply_all_opts, profile, local_opt
        self._position: dict[str, float] = {}

    def register(self, name: str, obj: Any, *tags: str, position: float | str = "last", **options: Any) -> None:
        """Register a rule; ``position`` (a number, or ``'last'``) says where among the others."""
        last = max(self._position.values(), default=0.0) + 1
        place = last if position == "last" else float(position)
        after = (rule.name for rule in self if self._position.get(rule.name, 0.0) > place)
        super().register(name, obj, *tags, before=next(after, None), **options)
        self._position[name] = place

    def query(self, *tags: str | Query, **changes: Any) -> Any:
        """Return one node rewriter of those that the query picks."""
        rules = self.phase.rules(as_query(*tags, **changes))
        options = {"apply_all_opts": self.apply_all_opts, "profile": self.profile}
        taken = inspect.signature(self.local_opt).parameters
        return self.local_opt(*rules, **{key: value for key, value in options.items() if key in taken})


class _Wrapper(DB):
    """A collection whose entries are those of another one, ``db``."""

    db: DB

    def tags(self, name: str) -> frozenset[str]:
        """Return the tags of an entry of the collection inside."""
        return self.db.tags(name)

    def _set_tags(self, name: str, tags: frozenset[str]) -> None:
        self.db._set_tags(name, tags)

    def members(self) -> list[str]:
        """Return the names of the collection inside."""
        return self.db.members()


class TopoDB(_Wrapper):
    """The rule that another collection gives, shown to each node once.

    Parameters
    ----------
    db : DB
    order : 'in_to_out' or 'out_to_in'
    ignore_newtrees : bool
    failure_callback : callable, optional
    """

    def __init__(
        self,
        db: DB,
        order: str = "in_to_out",
        ignore_newtrees: bool = False,
        failure_callback: Callable[..., Any] | None = None,
    ):
        self.db, self.order, self.ignore_newtrees = db, order, ignore_newtrees
        self.failure_callback = failure_callback

    def query(self, *tags: str | Query, **changes: Any) -> TopoOptimizer:
        """Return an optimizer that walks over the graph with what the query picks."""
        rule = self.db.query(*tags, **changes)
        return TopoOptimizer(rule, self.order, self.ignore_newtrees, self.failure_callback, name=self.name)

    def register(self, *args: Any, **options: Any) -> Any:
        """Register a rule in the collection inside."""
        db: Any = self.db  # each kind of collection has a method of its own
        return db.register(*args, **options)


class ProxyDB(_Wrapper):
    """A collection that can stand at a second place of a sequence.

    Parameters
    ----------
    db : DB
    """

    def __init__(self, db: DB):
        if not isinstance(db, DB):
            raise TypeError(f"a ProxyDB stands for a collection of optimizers, not for {db!r}")
        self.db = db

    def query(self, *tags: str | Query, **changes: Any) -> Any:
        """Return what the collection gives."""
        return self.db.query(*tags, **changes)


# -- the common sequence ---------------------------------------------------------------------------------------

#: The sequence that `theano.function` runs, as programs know it.
optdb = PhasesDB(phases)


def _register_in(phase: str, always: tuple[str, ...] = ("fast_run",)) -> Callable[..., Any]:
    def register(lopt: Any, *tags: str, name: str | None = None, **options: Any) -> Any:
        if isinstance(lopt, str):
            return lambda rule: register(rule, lopt, *tags, name=name, **options)
        called = name or name_of(lopt)
        where = optdb[phase]
        if called in where and where[called] is lopt:
            return lopt
        where.register(called, lopt, *always, *tags, **options)
        return lopt

    register.__name__ = register.__qualname__ = f"register_{phase}"
    register.__doc__ = f"""Register a node rewriter in the phase ``{phase}``; return it.

    Use it as a decorator above ``local_optimizer``, with tags or without: ``@register_{phase}("fast_compile")``.

    Parameters
    ----------
    lopt : LocalOptimizer or Rule
    *tags : str
        More tags than ``fast_run``.
    name : str, optional
        Under which it is registered; its own name by default.
    """
    return register


register_useless = _register_in("useless")
register_canonicalize = _register_in("canonicalize")
register_stabilize = _register_in("stabilize")
register_specialize = _register_in("specialize")
register_uncanonicalize = _register_in("uncanonicalize")
register_specialize_device = _register_in("specialize_device")

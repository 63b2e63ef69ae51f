"""Rewriters and collections that only older programs make."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from theano.graph.fgraph import FunctionGraph
from theano.graph.traverse import toposort
from theano.graph.variable import Variable
from theano.rewriting.drive import walk
from theano.rewriting.phase import Phase
from theano.rewriting.query import Query
from theano.rewriting.rule import replacements
from theano.rewriting.source_lines import CheckStackTraceFeature
from theano.rewriting.userdefined import DB, LocalOptGroup, NavigatorOptimizer, Optimizer, TopoOptimizer, as_rule
from theano.rewriting.userdefined.collection import PhaseDB, as_query
from theano.rewriting.userdefined.graph_rewriters import FailureCallback, working


class OpKeyOptimizer(NavigatorOptimizer):
    """Shows the nodes of one op to a rule: those that its ``op_key()`` names.

    Parameters
    ----------
    local_opt : LocalOptimizer with ``op_key``
    ignore_newtrees : bool
    failure_callback : callable, optional
    """

    def __init__(
        self, local_opt: Any, ignore_newtrees: bool | str = False, failure_callback: FailureCallback | None = None
    ):
        if not hasattr(local_opt, "op_key"):
            raise TypeError("an OpKeyOptimizer takes a rule with a method op_key, which says the op that it wants")
        super().__init__(local_opt, ignore_newtrees, failure_callback)

    def apply(self, fgraph: FunctionGraph) -> None:
        """Walk over the nodes of the op."""
        keys = self.local_opt.op_key()
        rule = as_rule(_Tracking(self.local_opt, keys if isinstance(keys, (list, tuple)) else [keys]))
        with working(fgraph, self, self.failure_callback) as context:
            walk(fgraph, [rule], context, fresh=not self.ignore_newtrees)


class _Tracking:
    """A rule that is shown other nodes than it says itself."""

    def __init__(self, local: Any, keys: Sequence[Any]):
        self._local, self._keys, self.name = local, keys, getattr(local, "name", None)
        takes_graph = len(inspect.signature(local.transform).parameters) == 2
        if takes_graph:
            self.transform = local.transform
        else:
            self.transform = lambda node: local.transform(node)

    def tracks(self) -> Sequence[Any]:
        return self._keys


def pre_greedy_local_optimizer(*arguments: Any) -> Variable:
    """Return a variable after some rules were shown the nodes below it, the outermost last; graphs stay as they are.

    It is for expressions that a rule has just built, which belong to no graph yet.

    Parameters
    ----------
    *arguments
        The rules and the variable; Theano-PyMC has the closed graph before them.
    """
    optimizations: Sequence[Any]
    out: Variable
    around: Any
    *graph, optimizations, out = arguments
    rule = as_rule(LocalOptGroup(*optimizations))
    known: dict[Any, Any] = {}
    for node in toposort([out]):
        inputs = [known.get(v, v) for v in node.inputs]
        at = node if inputs == node.inputs else node.clone_with_new_inputs(inputs)
        known.update(zip(node.outputs, at.outputs, strict=True))
        around = node.fgraph or (graph[0] if graph else None)
        answer = rule.answer(around, at)
        found = dict(replacements(rule, at, answer) or ())
        known.update((old, found[own]) for old, own in zip(node.outputs, at.outputs, strict=True) if own in found)
    result: Variable = known.get(out, out)
    return result


class CheckStackTraceOptimization(Optimizer):
    """Lets a graph watch over lines of the program from there on; see :class:`CheckStackTraceFeature`."""

    name = "CheckStackTrace"

    def __init__(self, action: str = "raise"):
        self.action = action

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the watcher."""
        if not any(isinstance(f, CheckStackTraceFeature) for f in fgraph.features):
            fgraph.attach_feature(CheckStackTraceFeature(self.action))

    def apply(self, fgraph: FunctionGraph) -> None:
        """Change nothing."""


class LocalGroupDB(PhaseDB):
    """Node rewriters that become one: the first that has something to say is heard.

    Parameters
    ----------
    apply_all_opts : bool
        Show what one rule made to the others as well.
    profile : bool
        Without effect: ``profile_optimizer`` measures all rules.
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

"""User-defined collections of rewriters, from which queries pick; and the common sequence as such a collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from theano.rewriting.phase import Phase
from theano.rewriting.phases import Phases, phases
from theano.rewriting.query import Query
from theano.rewriting.userdefined.adapt import name_of
from theano.rewriting.userdefined.collection import PhaseDB, PhasesDB
from theano.rewriting.userdefined.graph_rewriters import SeqOptimizer

if TYPE_CHECKING:
    pass


class SequenceDB(PhasesDB):
    """Graph rewriters that run one after the other, each at its position.

    Parameters
    ----------
    failure_callback : callable, optional
        How failures are reported when the rewriter of a query is run by hand.

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

    def query(self, *tags: str | Query, **changes: object) -> SeqOptimizer:
        """Return one graph rewriter that runs what the query picks, in order."""
        found = super().query(*tags, **changes)
        found.failure_callback = self.failure_callback
        return found


class EquilibriumDB(PhaseDB):
    """Node rewriters that are used until none of them changes anything.

    Parameters
    ----------
    ignore_newtrees, tracks_on_change_inputs : bool
        Without effect: what comes new, and what a change reaches, is always looked at again.
    """

    def __init__(self, ignore_newtrees: bool = True, tracks_on_change_inputs: bool = False):
        super().__init__(Phase(""))
        self.ignore_newtrees, self.tracks_on_change_inputs = ignore_newtrees, tracks_on_change_inputs


# -- the common sequence ---------------------------------------------------------------------------------------

#: The sequence that `theano.function` runs, as programs know it.
optdb = PhasesDB(phases)


def _register_in(phase: str, always: tuple[str, ...] = ("fast_run",)) -> Callable[..., Any]:
    def register(lopt: Any, *tags: str, name: str | None = None, **options: object) -> Any:
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

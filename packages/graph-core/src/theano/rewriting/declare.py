"""How rules are written down, and the sequence of phases that they go into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from theano.graph.aliasing import DestroyHandler
from theano.graph.fgraph import FunctionGraph
from theano.rewriting.context import Context
from theano.rewriting.merge import constant_folding, merge
from theano.rewriting.pattern import Pattern
from theano.rewriting.phase import Phase
from theano.rewriting.phases import Phases, phases
from theano.rewriting.rule import Answer, FunctionRule, PatternRule, Rule

if TYPE_CHECKING:
    from theano.graph.op import Op

R = TypeVar("R", bound=Rule)


def rule(
    name: str,
    pattern: Pattern,
    result: object,
    keeps: str = "exact",
    when: Callable[..., Any] | None = None,
    phases: Sequence[str] = ("canonicalize",),
    tags: Sequence[str] = ("fast_run",),
    allow_multiple_clients: bool = True,
    also: Sequence[tuple[Any, ...]] = (),
    doc: str | None = None,
    into: Phases | None = None,
) -> PatternRule:
    """Declare that ``pattern`` may become ``result``.

    Parameters
    ----------
    name : str
    pattern : Pattern
        What to look for.
    result : Pattern, number or callable
        What to put there. A callable takes what its parameters name in the pattern, and may return None; "out" is
        what is replaced, "fgraph" the graph. It may also answer as a function of a node does: with a list that has a
        replacement, or None, for each output, or with a dictionary from variable to replacement.
    keeps : "exact", "close" or "finite"
        What it does to values: same bits, same within rounding, or same where everything is finite and no divisor zero.
    when : callable, optional
        A condition; its parameters are as those of a result. What concerns one variable is better said by it
        (``x.where(...)``).
    phases : list of str
        Where it takes part; nowhere, if empty.
    tags : list of str
        Queries select by these, by the name of the rule and by that of the phase.
    allow_multiple_clients : bool
        Match also where an inner part of the pattern is used elsewhere and has to be computed anyway.
    also : list of (pattern, result) or (pattern, result, when)
        More cases of the same rule, tried in this order.
    doc : str, optional
        What the rule does, where its formula does not say it.
    into : Phases, optional
        A sequence other than the common one; for tests.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> from theano.rewriting import P, pattern_vars
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> (x,) = pattern_vars("x")
    >>> rule("not_not", P(Not())(P(Not())(x)), x, phases=())
    <rule not_not: Not(Not(x)) -> x>

    With a function, the right side may be anything that follows from what the left side has found:

    >>> class Not2(Op):
    ...     __props__ = ("times",)
    ...     def __init__(self, times):
    ...         self.times = times
    ...     itypes = otypes = [generic]
    >>> odd = rule("odd", P(Not2, "op")(x), lambda op, x: Not()(x), when=lambda op: op.times % 2 == 1, phases=())
    >>> odd.transform(Not2(3)(generic("a")).owner)
    [Not.0]
    """
    made = PatternRule(
        name, pattern, result, when=when, allow_multiple_clients=allow_multiple_clients, also=also, doc=doc,
        keeps=keeps, tags=tags,
    )  # fmt: skip
    return _enter(made, phases, into)


def local_rule(
    tracks: Sequence[Any] | None = None,
    name: str | None = None,
    keeps: str = "exact",
    phases: Sequence[str] = ("canonicalize",),
    tags: Sequence[str] = ("fast_run",),
    into: Phases | None = None,
    needs: Sequence[type | Op] = (),
) -> Callable[[Callable[..., Answer]], FunctionRule]:
    """Declare a rule written as a function of a node, or of a graph and a node.

    The function returns None or False for "nothing to do", a list with a replacement (or None) for each output, or
    a dictionary from variable to replacement.

    Parameters
    ----------
    tracks : list of Op or of subclasses of Op, or None
        The nodes it wants to see; None is all.
    name : str or None
        The function's own, if None.
    keeps, phases, tags, into
        As for :func:`rule`.
    needs : list of Op or of subclasses of Op
        Without a node of one of them anywhere in the graph the rule has nothing to say, and is not asked.
    """

    def declare(function: Callable[..., Answer]) -> FunctionRule:
        made = FunctionRule(function, name or function.__name__, tracks=tracks, keeps=keeps, tags=tags, needs=needs)
        return _enter(made, phases, into)

    return declare


def _enter(made: R, names: Sequence[str], into: Phases | None) -> R:
    sequence = phases if into is None else into
    for name in names:
        sequence[name].add(made)
    return made


# -- the sequence, as far as it is a matter of graphs alone -----------------------------------------------------


def add_destroy_handler(fgraph: FunctionGraph, context: Context) -> None:
    """Let the graph watch over memory from here on: the rules that follow work in place."""
    fgraph.attach_feature(DestroyHandler())


def _fill(sequence: Phases) -> None:
    fast = ("fast_run", "fast_compile")
    for name, position, tags in (
        ("canonicalize", 1, ("canonicalize_db", *fast)),
        ("stabilize", 1.5, ("fast_run",)),
        ("specialize", 2, ("fast_run", "fast_compile_gpu")),
        ("uncanonicalize", 3, ("fast_run",)),
        ("specialize_device", 48.6, fast),
    ):
        sequence.register(name, Phase(name), position, *tags)
    sequence.register("useless", Phase("useless", "out_to_in"), 0.6, *fast)
    for name in ("canonicalize", "stabilize", "specialize", "uncanonicalize"):
        # Rules compare variables by identity, so what is equal should be one before each sweep.
        sequence[name].add_pass("merge", merge, "MergeOptimizer", *fast)
        sequence[name].add(constant_folding)
    for name, position, tags in (
        ("merge1", 0, fast),
        ("merge1.1", 0.65, fast),
        ("merge1.2", 1.2, fast),
        ("merge2", 49, ("fast_run",)),
        ("merge3", 100, ("fast_run",)),
    ):
        sequence.register(name, merge, position, "merge", "MergeOptimizer", *tags)
    sequence.register("add_destroy_handler", add_destroy_handler, 49.5, "fast_run", "inplace", "AddDestroyHandler")


_fill(phases)

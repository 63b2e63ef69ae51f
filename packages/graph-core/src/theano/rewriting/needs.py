"""What a graph must have for a rule to apply: most graphs have few ops, and most rules are about others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, product
from typing import Any

from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.rewriting.pattern import Call, NumberPattern, OneOf, Pattern, Where, operators

#: Ops and classes of ops: of each tuple one must be there.
Needs = tuple[tuple[Any, ...], ...]
NOTHING: Needs = ()


class OpsPresent:
    """The ops that the nodes of a graph have, or had before they were replaced.

    Attributes
    ----------
    keys : set
        The ops, and the classes that they are of.
    """

    def __init__(self) -> None:
        self.keys: set[Any] = set()
        # By identity, since the hash of an op is computed anew each time. The op is kept, so that its id stays its own.
        self._seen: dict[int, tuple[Op, int]] = {}

    def add(self, op: Op) -> None:
        """Note that the graph has a node of ``op``."""
        if id(op) not in self._seen:
            self._seen[id(op)] = (op, hash(op))
            self.keys.update((op, *type(op).__mro__))

    def hash_of(self, op: Op) -> int:
        """Return the hash of an op, without computing it if the graph has a node of it."""
        seen = self._seen.get(id(op))
        return hash(op) if seen is None else seen[1]

    def add_all(self, fgraph: FunctionGraph) -> None:
        """Note the ops of all nodes."""
        for node in fgraph.apply_nodes:
            self.add(node.op)


def needed(pattern: Pattern) -> list[Needs]:
    """Return what a graph must have for ``pattern`` to match anything, in each of the ways to write it.

    Examples
    --------
    >>> from theano.graph import Op
    >>> from theano.rewriting import P, pattern_vars
    >>> class Minus(Op):
    ...     __props__ = ()
    >>> (x,) = pattern_vars("x")
    >>> needed(x), needed(P(Minus)(P(Minus)(x))) == [((Minus,),)]
    ([()], True)
    """
    if isinstance(pattern, Call):
        named = pattern.op.op
        # An operator that no layer knows is reported where the pattern is used.
        known = not isinstance(named, str) or named in operators
        return together([[(pattern.op.resolve().tracks(),)] if known else [NOTHING], needed_below(pattern)])
    if isinstance(pattern, Where):
        return needed(pattern.inner)
    if isinstance(pattern, OneOf):
        return [way for one in pattern.patterns for way in needed(one)]
    return [NOTHING]


def needed_below(pattern: Call) -> list[Needs]:
    """Return what the arguments of a pattern need."""
    parts = [needed(arg) for arg in pattern.specific if not isinstance(arg, NumberPattern)]
    return together(parts) if parts else [NOTHING]


def together(parts: Sequence[list[Needs]]) -> list[Needs]:
    """Return the ways in which several things can be there together, given the ways of each."""
    return [tuple(dict.fromkeys(chain.from_iterable(way))) for way in product(*parts)]

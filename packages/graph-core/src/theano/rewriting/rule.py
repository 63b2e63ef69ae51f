"""Rules: what may take the place of what, under which condition, and what that does to the value.

A rule is data. It does not decide when it is tried, nor does it change a graph: it looks at one node and answers
what could stand in place of its outputs. Drivers (:mod:`theano.rewriting.drive`) do the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from types import FunctionType
from typing import Any, TypeGuard

from theano.errors import RewriteError
from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.op import Op
from theano.graph.variable import Variable
from theano.rewriting import families
from theano.rewriting.literals import conform, literal_like
from theano.rewriting.needs import NOTHING, Needs, needed_below
from theano.rewriting.pattern import (
    MANY_OPS,
    Bindings,
    Call,
    OneOf,
    Pattern,
    Special,
    as_pattern,
    build,
    fits,
    match_inputs,
    variable_names,
)

#: What a rule may promise about values:
#:
#: exact
#:     The same bits.
#: close
#:     The same within rounding, which the sign of a zero is part of.
#: finite
#:     The same within rounding, where no divisor is zero and all values, before and after, are in the range of their
#:     dtypes: not infinite, no NaN, not so small that digits get lost. The terms of a sum may be added in another
#:     order, so that its rounding is that of the largest.
#: approximate
#:     Something near, as the text of the rule says; one has to ask for such a rule.
CONTRACTS = ("exact", "close", "finite", "approximate")

#: A replacement for each output (None keeps it), or by the variable replaced.
Answer = Sequence[Variable | None] | Mapping[Variable, Variable] | Variable | bool | None


class Rule:
    """Something that may take the place of a node's outputs.

    Attributes
    ----------
    name : str
        Under which queries select it, reports count it and errors speak of it.
    tracks : tuple of Op or subclasses of Op, or None
        Which nodes it wants to see; None is all, which costs time at every node.
    keeps : "exact", "close", "finite" or "approximate"
        What it promises about values.
    tags : tuple of str
    needs : list of Needs
        What the graph must have somewhere, besides the node itself, in each of the ways in which the rule may apply.
        (To its constructor: ops and classes of ops, one of which must be there.)
    """

    _ways: Sequence[Needs] = (NOTHING,)

    def __init__(
        self,
        name: str,
        tracks: Sequence[Any] | None = None,
        keeps: str = "exact",
        tags: Sequence[str] = (),
        doc: str | None = None,
        needs: Sequence[type | Op] = (),
    ):
        if keeps not in CONTRACTS:
            raise ValueError(f"the rule {name} keeps {keeps!r}; it must be one of {', '.join(CONTRACTS)}")
        self.name = name
        self._tracks = None if tracks is None else tuple(tracks)
        self.keeps = keeps
        self.tags = tuple(tags)
        if needs:
            self._ways = ((tuple(needs),),)
        self.__doc__ = doc or self.__doc__

    @property
    def tracks(self) -> tuple[Any, ...] | None:
        """The ops and classes of ops whose nodes are shown to the rule, or None."""
        return self._tracks

    @property
    def needs(self) -> Sequence[Needs]:
        """What the graph must have, besides the node itself, in each of the ways in which the rule may apply."""
        return self._ways

    def may_apply(self, present: Set[type | Op]) -> bool:
        """Return False where a graph with these ops, and classes of ops, has no node that the rule could change."""
        return any(not any(map(present.isdisjoint, way)) for way in self._hashed_needs)

    @cached_property
    def _hashed_needs(self) -> list[list[frozenset[type | Op]]]:
        """The needs as sets, which keep the hashes of ops: to compute these takes longer than to look them up."""
        return [[frozenset(any_of) for any_of in way] for way in self.needs]

    @cached_property
    def awaited(self) -> frozenset[type | Op]:
        """All ops, and classes of ops, that are among its needs."""
        return frozenset(chain.from_iterable(chain.from_iterable(self._hashed_needs)))

    def answer(self, fgraph: FunctionGraph, node: Apply) -> Answer:
        """Return what could stand in place of the outputs of ``node``; None or False for nothing."""
        raise NotImplementedError(f"{type(self).__name__} does not define answer")

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach to ``fgraph`` the features that the rule needs; drivers call this before they use it."""

    def transform(self, node: Apply) -> Answer:
        """Return :meth:`answer` for a node by itself, under the name of user-defined rewriters' method.

        Where that names a replacement for each output, it is a list of these.
        """
        found = self.answer(node.fgraph, node) or False
        if isinstance(found, dict) and set(found) == set(node.outputs):
            return [found[v] for v in node.outputs]
        return found

    def __repr__(self) -> str:
        return f"<rule {self.name}>"


class FunctionRule(Rule):
    """A rule written as a Python function of a node (or of a graph and a node)."""

    def __init__(self, function: Callable[..., Answer], name: str, **kwargs: Any):
        super().__init__(name, doc=function.__doc__, **kwargs)
        self.function = function
        self.__wrapped__ = function
        wanted = _required_count(function)
        if wanted not in (1, 2):
            raise TypeError(f"the rule {name} must take a node, or a graph and a node, not {wanted} arguments")
        self._wants_graph = wanted == 2

    def answer(self, fgraph: FunctionGraph, node: Apply) -> Answer:
        """Ask the function."""
        return self.function(fgraph, node) if self._wants_graph else self.function(node)

    def __call__(self, *args: Any) -> Answer:
        """Call the function itself."""
        return self.function(*args)


#: What conditions and results may speak of beside the names of their pattern: what is replaced, and the graph it is in.
CONTEXT = ("out", "fgraph")


class Case:
    """One pattern, what takes its place, and under which condition.

    Parameters
    ----------
    rule : str
        The rule that it is part of, for messages.
    pattern : Pattern
    result : Pattern, number or callable
    when : callable or None
    """

    def __init__(self, rule: str, pattern: Pattern, result: Any, when: Callable[..., Any] | None = None):
        if not isinstance(pattern, Call):
            raise TypeError(f"the pattern of the rule {rule} must be an op applied to something, not {pattern!r}")
        self.pattern = pattern
        self.result = result if callable(result) and not isinstance(result, Pattern) else as_pattern(result)
        self.when = when
        known = variable_names(pattern)
        if isinstance(self.result, Pattern):
            unknown = [n for n in variable_names(self.result) if n not in known]
            if unknown:
                raise ValueError(
                    f"the result of the rule {rule} uses {', '.join(unknown)}, which its pattern does not bind"
                )
        self._when_names = _parameters(when, known, rule) if when is not None else []
        self._result_names = _parameters(self.result, known, rule) if not isinstance(self.result, Pattern) else []

    @property
    def tracks(self) -> tuple[type | Op, ...]:
        """The ops that the root of the pattern matches."""
        return self.pattern.op.resolve().tracks()

    def answer(self, fgraph: FunctionGraph, node: Apply, alone: bool = False) -> Answer:
        """Return the result of the first way to match that meets the condition.

        With ``alone`` inner parts of the pattern must not be used elsewhere.
        """
        if not fits(self.pattern, node):
            return None
        out = node.outputs[self.pattern.op.resolve().output]
        for found, rest in match_inputs(self.pattern, node, {"out": out, "fgraph": fgraph}):
            if alone and not self._used_here_only(node, found):
                continue
            if self.when is not None and not self.when(*[found[n] for n in self._when_names]):
                continue
            if isinstance(self.result, Pattern):
                new = build(self.result, found)
            else:
                new = self.result(*[found[n] for n in self._result_names])
            if new is None:
                continue
            if isinstance(new, (list, tuple, Mapping)):
                return new  # as a rule that is a function answers, for each output
            if rest:
                new = node.op(new, *rest)
            if not isinstance(new, Variable):
                new = literal_like(new, out)
            new = None if new is None else conform(new, out)
            if new is not None:
                return {out: new}
        return None

    def _used_here_only(self, node: Apply, found: Bindings) -> bool:
        bound = {v for v in found.values() if isinstance(v, Variable)}

        def inner(pattern: Pattern, n: Apply) -> bool:
            # Only the ops of the pattern count; what variables stand for may be used elsewhere.
            for arg in pattern.args if isinstance(pattern, Call) else ():
                while isinstance(arg, Special):
                    arg = arg.inner
                if not isinstance(arg, Call):
                    continue
                for v in n.inputs:
                    if v in bound or v.owner is None or not arg.op.resolve().matches(v.owner.op):
                        continue
                    users = {c for c, _ in v.clients}
                    if len(users) > 1 or "output" in users:
                        return False
                    if not inner(arg, v.owner):
                        return False
            return True

        return inner(self.pattern, node)

    def __repr__(self) -> str:
        return f"{self.pattern} -> {self.result}"


class PatternRule(Rule):
    """A rule written as patterns and what takes their place.

    Parameters
    ----------
    name : str
    pattern : Pattern
    result : Pattern, number or callable
    when : callable or None
    allow_multiple_clients : bool
    also : list of (pattern, result) or (pattern, result, when)
        More cases: the first that matches a node is used.
    """

    def __init__(
        self,
        name: str,
        pattern: Pattern,
        result: Any,
        when: Callable[..., Any] | None = None,
        allow_multiple_clients: bool = True,
        also: Sequence[tuple[Any, ...]] = (),
        **kwargs: Any,
    ):
        super().__init__(name, **kwargs)
        families.load()  # what operators and numbers mean in patterns is said by the layers that have rules for them
        self.cases: list[Case] = []
        for left, right, *conditions in [(pattern, result, when), *also]:
            # Ways to write one thing are cases of their own, since they may be found at different ops.
            forms = left.patterns if isinstance(left, OneOf) else (left,)
            self.cases += [Case(name, form, right, *conditions) for form in forms]
        self.allow_multiple_clients = allow_multiple_clients
        #: The cases that an op can meet, by its identity: its hash is computed anew each time. (The op is kept, so that
        #: its id stays its own.)
        self._met: dict[int, tuple[Op, list[Case]]] = {}

    @property
    def tracks(self) -> tuple[type | Op, ...]:
        """The ops at the roots of the patterns."""
        return tuple(dict.fromkeys(op for case in self.cases for op in case.tracks))

    @cached_property
    def needs(self) -> Sequence[Needs]:
        """What stands below the roots of the patterns."""
        ways: list[Needs] = []
        for case in self.cases:
            ways += needed_below(case.pattern)
            if NOTHING in ways:
                return (NOTHING,)
        return tuple(dict.fromkeys(ways))

    def _cases_of(self, op: Op) -> list[Case]:
        """Return the cases whose roots match ``op``: of a long table these are few."""
        known = self._met.get(id(op))
        if known is None:
            if len(self._met) >= MANY_OPS:
                self._met.clear()
            known = op, [case for case in self.cases if case.pattern.op.resolve().matches(op)]
            self._met[id(op)] = known
        return known[1]

    def answer(self, fgraph: FunctionGraph, node: Apply) -> Answer:
        """Return the result of the first case that matches and whose condition is met."""
        for case in self.cases if len(self.cases) < 3 else self._cases_of(node.op):
            found = case.answer(fgraph, node, alone=not self.allow_multiple_clients)
            if found is not None:
                return found
        return None

    def __repr__(self) -> str:
        return f"<rule {self.name}: {'; '.join(map(repr, self.cases))}>"


# `inspect` takes 20 microseconds for a function of which its code says the same at once; there are two hundred.


def _is_plain(function: Callable[..., Any]) -> TypeGuard[FunctionType]:
    """Return whether the code of a function says all about its parameters."""
    return type(function) is FunctionType and not hasattr(function, "__wrapped__") and not function.__kwdefaults__


def _required_count(function: Callable[..., Any]) -> int:
    """Return how many arguments a function wants that have no default."""
    if _is_plain(function):
        return function.__code__.co_argcount - len(function.__defaults__ or ())
    parameters = inspect.signature(function).parameters.values()
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)


def _names(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's parameters."""
    if _is_plain(function) and not function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        code = function.__code__
        return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return list(inspect.signature(function).parameters)


def _parameters(function: Callable[..., Any], known: Sequence[str], rule: str) -> list[str]:
    """Return the names of a function's parameters, each of which the pattern must bind."""
    names = _names(function)
    unknown = [n for n in names if n not in known and n not in CONTEXT]
    if unknown:
        raise ValueError(
            f"the condition or result of the rule {rule} takes {', '.join(unknown)}, which its pattern does not bind"
        )
    return names


def replacements(rule: Rule, node: Apply, answer: Answer) -> list[tuple[Variable, Variable]]:
    """Return what ``answer`` means: pairs of old and new variables, those that change nothing left out.

    Raises
    ------
    RewriteError
        The answer has the wrong length, or a replacement is of another type than what it replaces.
    """
    if answer is None or answer is False or answer is True:
        return []
    if isinstance(answer, Variable):
        answer = [answer]
    if isinstance(answer, Mapping):
        pairs = [(old, new) for old, new in answer.items() if isinstance(old, Variable)]
    else:
        if len(answer) != len(node.outputs):
            raise RewriteError(
                f"the rule {rule.name} gave {len(answer)} replacements for the {len(node.outputs)} outputs of {node.op}"
            )
        pairs = [(old, new) for old, new in zip(node.outputs, answer, strict=True) if new is not None]
    return [(old, _fitting(rule, old, new)) for old, new in pairs if not _no_change(old, new)]


def _fitting(rule: Rule, old: Variable, new: Variable) -> Variable:
    if new.type == old.type:
        return new
    try:
        return old.type.filter_variable(new)
    except TypeError:
        raise RewriteError(
            f"the rule {rule.name} would put {new} of type {new.type} in the place of {old} of type {old.type}. "
            "A replacement must be of the type of what it replaces."
        ) from None


def _no_change(old: Variable, new: Variable) -> bool:
    """Return whether ``new`` is ``old``, or the same op on the same inputs: a rule that says so would never end."""
    if old is new:
        return True
    a, b = old.owner, new.owner
    if a is None or b is None or old.index != new.index or len(a.inputs) != len(b.inputs):
        return False
    return all(x is y for x, y in zip(a.inputs, b.inputs, strict=True)) and a.op == b.op

"""Unification: what variables must be for two nested structures to be equal.

A variable stands for a set of values: all, one, one of some, or all but some. To unify two variables is to take the
intersection of their sets.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

from theano.legacy.utilities import ANY_TYPE, FALL_THROUGH, comm_guard

__all__ = [
    "ANY_TYPE",
    "FALL_THROUGH",
    "NV",
    "BoundVariable",
    "FVar",
    "FreeVariable",
    "NotVariable",
    "OrV",
    "OrVariable",
    "Unification",
    "V",
    "Var",
    "Variable",
    "VariableInList",
    "comm_guard",
    "unify",
    "unify_build",
    "unify_merge",
    "unify_walk",
    "var_lookup",
]  # fmt: skip


class Variable:
    """A name for a set of values.

    Examples
    --------
    >>> OrVariable("x", [1, 2]), NotVariable("y", [1])
    (OrVariable(x), NotVariable(y))
    """

    def __init__(self, name: str = "?") -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def has(self, value: Any) -> bool:
        """Return whether the variable may be ``value``."""
        return True


class FreeVariable(Variable):
    """A variable that may be anything."""


class BoundVariable(Variable):
    """A variable that is ``value``."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name)
        self.value = value

    def has(self, value: Any) -> bool:
        """Return whether the variable may be ``value``."""
        return bool(self.value == value)


class OrVariable(Variable):
    """A variable that is one of ``options``."""

    def __init__(self, name: str, options: Iterable[Any]) -> None:
        super().__init__(name)
        self.options = list(options)

    def has(self, value: Any) -> bool:
        """Return whether the variable may be ``value``."""
        return value in self.options


class NotVariable(Variable):
    """A variable that is none of ``not_options``."""

    def __init__(self, name: str, not_options: Iterable[Any]) -> None:
        super().__init__(name)
        self.not_options = list(not_options)

    def has(self, value: Any) -> bool:
        """Return whether the variable may be ``value``."""
        return value not in self.not_options


class VariableInList:
    """A list that holds the value of ``variable``."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


class FVar:
    """The value of a function of what its arguments turn out to be."""

    def __init__(self, fn: Callable[..., Any], *args: Any) -> None:
        self.fn = fn
        self.args = args

    def __call__(self, u: Unification) -> Any:
        """Return the value under a unification."""
        return self.fn(*[unify_build(arg, u) for arg in self.args])


_all: dict[tuple[type, Hashable], Variable] = {}


def var_lookup(vartype: type[Variable], name: str, *args: Any, **kwargs: Any) -> Variable:
    """Return the variable of this class and name, which is made the first time.

    Examples
    --------
    >>> V("x") is V("x"), V("x") is V("y")
    (True, False)
    """
    key = (vartype, name)
    if key not in _all:
        _all[key] = vartype(name, *args, **kwargs)
    return _all[key]


Var = V = partial(var_lookup, FreeVariable)
OrV = partial(var_lookup, OrVariable)
NV = partial(var_lookup, NotVariable)


class Unification:
    """Which variables are equal, and what they may be.

    Parameters
    ----------
    inplace : bool
        Whether `merge` changes this object, otherwise it returns another.

    Examples
    --------
    >>> x, y = FreeVariable("x"), FreeVariable("y")
    >>> known = Unification().merge(BoundVariable("?", 3), x, y)
    >>> known[x].value, known[y].value, Unification()[x] is x
    (3, 3, True)
    """

    def __init__(self, inplace: bool = False) -> None:
        self.unif: dict[Variable, tuple[Variable, set[Variable]]] = {}
        self.inplace = inplace

    def merge(self, new_best: Variable, *vars: Variable) -> Unification:
        """Return the unification in which ``vars``, and all equal to them, are ``new_best``."""
        merged = self
        if not self.inplace:
            merged = Unification()
            merged.unif.update(self.unif)
        pool = {new_best, *vars}
        for v in list(pool):
            pool |= merged.unif.get(v, (v, set()))[1]
        merged.unif.update(dict.fromkeys(pool, (new_best, pool)))
        return merged

    def __getitem__(self, v: Variable) -> Variable:
        """Return the variable that says most of what ``v`` may be."""
        return self.unif[v][0] if v in self.unif else v


def _common(a: Variable, b: Variable) -> Variable | None:
    """Return a variable for the values that two have in common, None if they have none."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x, BoundVariable):
            return x if y.has(x.value) else None
    for x, y in ((a, b), (b, a)):
        if isinstance(x, OrVariable):
            options = [value for value in x.options if y.has(value)]
            if len(options) > 1:
                return OrVariable("?", options)
            return BoundVariable("?", options[0]) if options else None
    if isinstance(a, NotVariable) and isinstance(b, NotVariable):
        return NotVariable("?", [*a.not_options, *(v for v in b.not_options if v not in a.not_options)])
    return b if isinstance(a, FreeVariable) else a


def _all_of(pairs: Iterable[tuple[Any, Any]], U: Any) -> Any:
    for x, y in pairs:
        U = unify_walk(x, y, U)
        if U is False:
            break
    return U


def unify_walk(a: Any, b: Any, U: Unification) -> Any:
    """Return ``U`` with what makes ``a`` and ``b`` equal, False where nothing does.

    Objects that are no variables may have a method ``__unify_walk__(other, U)``.

    Examples
    --------
    >>> x = FreeVariable("x")
    >>> unify_walk([1, x], [1, 2], Unification())[x].value, unify_walk([1, x], [2, x], Unification())
    (2, False)
    """
    if isinstance(b, Variable) and not isinstance(a, Variable):
        a, b = b, a
    if isinstance(a, Variable):
        first = U[a]
        other = U[b] if isinstance(b, Variable) else BoundVariable("?", b)
        best = first if first is other else _common(first, other)
        return False if best is None else U.merge(best, a, first, *([b, other] if isinstance(b, Variable) else []))
    for x, y in ((a, b), (b, a)):
        if hasattr(x, "__unify_walk__"):
            return x.__unify_walk__(y, U)
        if isinstance(x, VariableInList) and isinstance(y, (list, tuple)):
            return unify_walk(x.variable, OrVariable("?", y), U)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return _all_of(zip(a, b, strict=True), U) if len(a) == len(b) else False
    if isinstance(a, dict) and isinstance(b, dict):
        return _all_of(((a[key], b[key]) for key in a if key in b), U)
    return U if type(a) is type(b) and a == b else False


def unify_merge(a: Any, b: Any, U: Unification) -> Any:
    """Return what ``a`` and ``b``, which ``U`` makes equal, are; variables that may be several things remain.

    Examples
    --------
    >>> x = FreeVariable("x")
    >>> unify_merge({"a": x}, {"b": 1}, unify_walk(x, 2, Unification()))
    {'a': 2, 'b': 1}
    """
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Variable):
            best = U[x]
            return best.value if isinstance(best, BoundVariable) else best
        if isinstance(x, FVar):
            return x(U)
        if hasattr(x, "__unify_merge__"):
            return x.__unify_merge__(y, U)
        if isinstance(x, VariableInList) and isinstance(y, (list, tuple)):
            return [unify_build(leaf, U) for leaf in y]
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return [unify_merge(x, y, U) for x, y in zip(a, b, strict=False)]
    if isinstance(a, dict) and isinstance(b, dict):
        return type(a)((key, unify_merge(a.get(key, b.get(key)), b.get(key, a.get(key)), U)) for key in {**a, **b})
    return a


def unify_build(x: Any, U: Unification) -> Any:
    """Return ``x`` with the values of its variables.

    Examples
    --------
    >>> x = FreeVariable("x")
    >>> unify_build(["a", x], unify_walk(x, 2, Unification()))
    ['a', 2]
    """
    return unify_merge(x, x, U)


def unify(a: Any, b: Any) -> tuple[Any, Any]:
    """Return what two structures are when they are made equal, and the unification; ``(None, False)`` for none.

    Examples
    --------
    >>> unify([V("a"), 2], [1, V("b")])[0], unify([1], [2])
    ([1, 2], (None, False))
    """
    found = unify_walk(a, b, Unification())
    return (None, False) if found is False else (unify_merge(a, b, found), found)

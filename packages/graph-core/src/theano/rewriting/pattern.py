"""Patterns: the left and right sides of rules, written as expressions.

A pattern is made of *holes* (``x, y = pattern_vars("x y")``), of ops called on patterns (``P(exp)(x)``), of
Python's operators between patterns, and of numbers::

    x, y = pattern_vars("x y")
    (x * y) / y          # what the operators stand for is looked up in `operators` when the pattern is used
    P(exp)(x) + 1        # a number matches a constant that is worth it everywhere

This file knows no arithmetic. The layer that has ops for the operators enters them in :data:`operators`, a way to
tell what a constant is worth in :data:`literal_readers`, and a way to make a replacement fit in :data:`conformers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from theano.errors import RewriteError
from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.variable import Constant, Variable

Bindings = dict[str, Variable]

#: What Python's operators mean between patterns: from "add", "mul", "truediv", ... to an op wrapped in :class:`P`.
operators: dict[str, P] = {}

#: Functions that return what a variable is worth everywhere, as a Python number, or None. The first answer counts.
literal_readers: list[Callable[[Variable], Any]] = []

#: Functions ``(new, old) -> Variable or None`` that bring a replacement to the type of what it replaces.
conformers: list[Callable[[Variable, Variable], Variable | None]] = []


def literal_value(variable: Variable) -> Any:
    """Return the one number that ``variable`` is worth everywhere, or None where that is not known."""
    for read in literal_readers:
        value = read(variable)
        if value is not None:
            return value
    return None


def conform(new: Variable, old: Variable) -> Variable | None:
    """Return ``new`` with the type of ``old``, or None where no way is known."""
    if new.type == old.type:
        return new
    for change in conformers:
        changed = change(new, old)
        if changed is not None and changed.type == old.type:
            return changed
    return None


class Pattern:
    """Something that a variable may match."""

    def __add__(self, other: Any) -> Call:
        return _infix("add", self, other)

    def __radd__(self, other: Any) -> Call:
        return _infix("add", other, self)

    def __sub__(self, other: Any) -> Call:
        return _infix("sub", self, other)

    def __rsub__(self, other: Any) -> Call:
        return _infix("sub", other, self)

    def __mul__(self, other: Any) -> Call:
        return _infix("mul", self, other)

    def __rmul__(self, other: Any) -> Call:
        return _infix("mul", other, self)

    def __truediv__(self, other: Any) -> Call:
        return _infix("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Call:
        return _infix("truediv", other, self)

    def __floordiv__(self, other: Any) -> Call:
        return _infix("floordiv", self, other)

    def __mod__(self, other: Any) -> Call:
        return _infix("mod", self, other)

    def __pow__(self, other: Any) -> Call:
        return _infix("pow", self, other)

    def __rpow__(self, other: Any) -> Call:
        return _infix("pow", other, self)

    def __matmul__(self, other: Any) -> Call:
        return _infix("matmul", self, other)

    def __neg__(self) -> Call:
        return _infix("neg", self)

    def __abs__(self) -> Call:
        return _infix("abs", self)

    def __and__(self, other: Any) -> Call:
        return _infix("and", self, other)

    def __or__(self, other: Any) -> Call:
        return _infix("or", self, other)

    def __xor__(self, other: Any) -> Call:
        return _infix("xor", self, other)

    def __invert__(self) -> Call:
        return _infix("invert", self)


class Hole(Pattern):
    """Matches anything; the same hole twice wants the same thing twice."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Literal(Pattern):
    """Matches what is worth one number everywhere."""

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


class Special(Pattern):
    """A pattern that brings a way of its own to match; what it says about holes is that of the pattern inside."""

    def __init__(self, inner: Pattern):
        self.inner = inner

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        """Yield each way to fill the holes; the same as :func:`match`."""
        raise NotImplementedError(f"{type(self).__name__} does not define match")

    def holes(self) -> list[str]:
        """Return the names of the holes that a match fills."""
        return holes(self.inner)


class P:
    """An op for use in patterns.

    Parameters
    ----------
    op : Op, subclass of Op, or str
        An op matches equal ops, a class its instances, a string what :data:`operators` has under it.
        A replacement can only be built of an op.
    output : int
        Which output of the op is meant.
    commutative, associative : bool or None
        Whether inputs may be exchanged, and regrouped; None asks the op's attribute of that name.

    Examples
    --------
    >>> x, y = pattern_vars("x y")
    >>> P("hypot")(x, y + 1)
    hypot(x, add(y, 1))
    """

    def __init__(
        self,
        op: Op | type[Op] | str,
        output: int = 0,
        commutative: bool | None = None,
        associative: bool | None = None,
    ):
        self.op = op
        self.output = output
        self._commutative = commutative
        self._associative = associative

    def __call__(self, *args: Any) -> Call:
        """Return the pattern of this op applied to patterns and numbers."""
        return Call(self, [as_pattern(a) for a in args])

    def resolve(self) -> P:
        """Return this, or what :data:`operators` has in place of a string."""
        if not isinstance(self.op, str):
            return self
        if self.op not in operators:
            raise RewriteError(
                f"a pattern uses the operator {self.op!r}, which no op has been entered for. "
                f"Enter one in theano.rewriting.operators; there are {sorted(operators)}"
            )
        return operators[self.op]

    def matches(self, op: Op) -> bool:
        """Return whether ``op`` is meant."""
        mine = self.op
        if isinstance(mine, type):
            return isinstance(op, mine)
        return mine is op or mine == op

    def commutative(self, op: Op) -> bool:
        """Return whether the inputs of ``op`` may be exchanged."""
        return getattr(op, "commutative", False) if self._commutative is None else self._commutative

    def associative(self, op: Op) -> bool:
        """Return whether ``op`` takes any number of inputs, and grouping them does not matter."""
        return getattr(op, "associative", False) if self._associative is None else self._associative

    def __repr__(self) -> str:
        return self.op.__name__ if isinstance(self.op, type) else str(self.op)


class Call(Pattern):
    """Matches an output of a node of one op whose inputs match."""

    def __init__(self, op: P, args: Sequence[Pattern]):
        self.op = op
        self.args = list(args)

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


def pattern_vars(names: str) -> tuple[Hole, ...]:
    """Return one hole for each name in ``names``, which blanks or commas separate.

    Examples
    --------
    >>> x, y = pattern_vars("x y")
    >>> (x * y) / y
    truediv(mul(x, y), y)
    """
    return tuple(Hole(name) for name in names.replace(",", " ").split())


def as_pattern(value: Any) -> Pattern:
    """Return ``value`` as a pattern; what is none already is a number to match."""
    return value if isinstance(value, Pattern) else Literal(value)


def _infix(name: str, *args: Any) -> Call:
    return P(name)(*args)


def holes(pattern: Pattern) -> list[str]:
    """Return the names of the holes of ``pattern``, each once."""
    if isinstance(pattern, Hole):
        return [pattern.name]
    if isinstance(pattern, Call):
        return list(dict.fromkeys(name for a in pattern.args for name in holes(a)))
    return pattern.holes() if isinstance(pattern, Special) else []


def same(a: Variable, b: Variable) -> bool:
    """Return whether two variables are one, or equal constants."""
    return a is b or (isinstance(a, Constant) and a.equals(b))


# -- matching ------------------------------------------------------------------------------------------------


def match(pattern: Pattern, variable: Variable, bindings: Bindings | None = None) -> Iterator[Bindings]:
    """Yield each way to fill the holes so that ``pattern`` is ``variable``.

    Examples
    --------
    >>> from theano.graph import Apply, Op, generic
    >>> class Pair(Op):
    ...     __props__ = ()
    ...     itypes, otypes = [generic, generic], [generic]
    >>> a, b = generic("a"), generic("b")
    >>> x, y = pattern_vars("x y")
    >>> list(match(P(Pair())(x, y), Pair()(a, b)))
    [{'x': a, 'y': b}]
    >>> list(match(P(Pair())(x, x), Pair()(a, b)))
    []
    """
    bindings = {} if bindings is None else bindings
    if isinstance(pattern, Hole):
        bound = bindings.get(pattern.name)
        if bound is None:
            yield {**bindings, pattern.name: variable}
        elif same(bound, variable):
            yield bindings
    elif isinstance(pattern, Literal):
        value = literal_value(variable)
        if value is not None and value == pattern.value:
            yield bindings
    elif isinstance(pattern, Call):
        node = variable.owner
        spec = pattern.op.resolve()
        if node is not None and variable.index == spec.output and spec.matches(node.op):
            for found, rest in match_inputs(pattern, node, bindings):
                if not rest:
                    yield found
    elif isinstance(pattern, Special):
        yield from pattern.match(variable, bindings)


def match_inputs(pattern: Call, node: Apply, bindings: Bindings) -> Iterator[tuple[Bindings, list[Variable]]]:
    """Yield each way to match the inputs of ``node``, with the inputs that the pattern says nothing about.

    Only an op that commutes and associates can have such a remainder: ``x * 1`` in the product ``a * b * 1``.
    A hole takes the remainder where there is a free one.
    """
    spec = pattern.op.resolve()
    if not spec.commutative(node.op):
        if len(pattern.args) == len(node.inputs):
            for found in _in_order(pattern.args, node.inputs, bindings):
                yield found, []
        return
    if len(node.inputs) < len(pattern.args):
        return
    # What is specific decides first, free holes take what is left.
    args = sorted(pattern.args, key=lambda a: isinstance(a, Hole) and a.name not in bindings)
    if len(node.inputs) == len(args):
        for found, _ in _in_any_order(args, list(node.inputs), bindings):
            yield found, []
    elif spec.associative(node.op):
        *firm, last = args
        bound = {*bindings, *(n for a in firm for n in holes(a))}
        if isinstance(last, Hole) and last.name not in bound:
            for found, rest in _in_any_order(firm, list(node.inputs), bindings):
                grouped = rest[0] if len(rest) == 1 else node.op(*rest)
                yield {**found, last.name: grouped}, []
        else:
            yield from _in_any_order(args, list(node.inputs), bindings)


def _in_order(args: Sequence[Pattern], inputs: Sequence[Variable], bindings: Bindings) -> Iterator[Bindings]:
    if not args:
        yield bindings
        return
    for found in match(args[0], inputs[0], bindings):
        yield from _in_order(args[1:], inputs[1:], found)


def _in_any_order(
    args: Sequence[Pattern], inputs: list[Variable], bindings: Bindings
) -> Iterator[tuple[Bindings, list[Variable]]]:
    if not args:
        yield bindings, inputs
        return
    for i, candidate in enumerate(inputs):
        for found in match(args[0], candidate, bindings):
            yield from _in_any_order(args[1:], inputs[:i] + inputs[i + 1 :], found)


# -- building ------------------------------------------------------------------------------------------------


def build(pattern: Pattern, bindings: Bindings) -> Any:
    """Return the expression that ``pattern`` describes, its holes filled; a number stays a number."""
    if isinstance(pattern, Hole):
        return bindings[pattern.name]
    if isinstance(pattern, Literal):
        return pattern.value
    assert isinstance(pattern, Call)
    spec = pattern.op.resolve()
    if not isinstance(spec.op, Op):
        raise RewriteError(f"nothing can be built of {spec}: a result needs an op, not a class of ops")
    outputs = spec.op(*(build(a, bindings) for a in pattern.args), return_list=True)
    # An op with a default output returns only that one.
    return outputs[spec.output] if len(outputs) > 1 else outputs[0].owner.outputs[spec.output]

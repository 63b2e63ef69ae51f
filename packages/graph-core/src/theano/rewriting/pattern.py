"""Patterns: the left and right sides of rules, written as expressions.

A pattern is made of *pattern variables* (``x, y = pattern_vars("x y")``), of ops called on patterns (``P(exp)(x)``), of
Python's operators between patterns, and of numbers::

    x, y = pattern_vars("x y")
    (x * y) / y          # what the operators stand for is looked up in `operators` when the pattern is used
    P(exp)(x) + 1        # a number matches a constant that is worth it everywhere

What may be said beyond that::

    real = x.where(is_real)                # a condition that belongs to the variable, wherever it stands
    P(exp)(x).where(condition)             # the same for what an op computes
    P(exp)(x).single_use()                 # one node uses the result, so that it need not be computed any more
    P(add)(1, Rest("terms"))               # all other inputs of a node, as a tuple
    P(Sum, "op", axis=None)(x)             # a class of ops with some attributes, and the op itself under a name
    P((log, log1p), "f")(P(exp)(x))        # one of several ops
    P("f")(x) in a result                  # the op that was found under that name
    P(exp)(x).named("power")               # a name for what an op computes
    one_of(x - y, x + -y)                  # what can be written in several ways

This file knows no arithmetic. The layer that has ops for the operators enters them in :data:`operators`, and says in
:mod:`theano.rewriting.literals` what numbers and types are to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from theano.errors import RewriteError
from theano.extensions import Table
from theano.graph.apply import Apply
from theano.graph.op import Op
from theano.graph.variable import Constant, Variable
from theano.rewriting.literals import literal_value

if TYPE_CHECKING:
    from theano.graph.annotations import Value

#: What the names in a pattern stand for: variables, tuples of them (of :class:`Rest`), and ops.
Bindings = dict[str, Any]
#: The number of ops for which a pattern, or a rule, remembers whether it matches them.
MANY_OPS = 256

#: What Python's operators mean between patterns: from "add", "mul", "truediv", ... to an op wrapped in :class:`P`.
operators: Table[str, P] = Table("rewriting.pattern.operators", "which op an operator stands for")


def _operator(name: str, swapped: bool = False) -> Callable[[Pattern, Any], Call]:
    """Return the method of a pattern for one of Python's operators."""

    def apply(self: Pattern, other: object) -> Call:
        return P(name)(other, self) if swapped else P(name)(self, other)

    return apply


class Pattern:
    """Something that a variable may match."""

    def where(self, condition: Callable[[Any], bool]) -> Pattern:
        """Return a pattern of the variables that match this one and meet ``condition``."""
        return Where(self, condition)

    def single_use(self) -> Pattern:
        """Return a pattern of the variables that match this one and that only one node uses."""
        return Where(self, _has_one_user)

    def named(self, name: str) -> Pattern:
        """Return a pattern of the variables that match this one, and that it binds to ``name``.

        Examples
        --------
        >>> x, y = pattern_vars("x y")
        >>> variable_names((x * y).named("product") / y)
        ['product', 'x', 'y']
        """
        return Named(self, name)

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("truediv"), _operator("truediv", swapped=True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", swapped=True)
    __floordiv__, __mod__, __matmul__ = _operator("floordiv"), _operator("mod"), _operator("matmul")
    __and__, __or__, __xor__ = _operator("and"), _operator("or"), _operator("xor")

    def __neg__(self) -> Call:
        return P("neg")(self)

    def __abs__(self) -> Call:
        return P("abs")(self)

    def __invert__(self) -> Call:
        return P("invert")(self)


class Var(Pattern):
    """Matches anything that meets its condition; the same one twice wants the same thing twice."""

    def __init__(self, name: str, condition: Callable[[Any], bool] | None = None):
        self.name = name
        self.condition = condition

    def where(self, condition: Callable[[Any], bool]) -> Var:
        """Return a variable of the same name that matches what meets ``condition`` (and that of this one)."""
        mine = self.condition
        return Var(self.name, condition if mine is None else lambda v: mine(v) and condition(v))

    def __repr__(self) -> str:
        return self.name


class Rest(Pattern):
    """Matches all inputs of a node that the arguments beside it leave, as a tuple; in a result it stands for them.

    In an op that commutes these are any inputs; in another one those after the other arguments, so it comes last.
    """

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"*{self.name}"


class NumberPattern(Pattern):
    """Matches what is worth one number everywhere."""

    def __init__(self, value: Value):
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


class Special(Pattern):
    """A pattern with a way of its own to match; its variables are those of the pattern inside."""

    def __init__(self, inner: Pattern):
        self.inner = inner

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        """Yield each way to bind the variables; the same as :func:`match`."""
        raise NotImplementedError(f"{type(self).__name__} does not define match")

    def variable_names(self) -> list[str]:
        """Return the names that a match binds."""
        return variable_names(self.inner)

    def build(self, bindings: Bindings) -> Any:
        """Return what the pattern stands for in a result; the same as :func:`build`."""
        return build(self.inner, bindings)

    def may_match(self, variable: Variable) -> bool:
        """Return False where :meth:`match` is certain to find nothing, at low cost."""
        return True


class Where(Special):
    """Matches what another pattern does, where a condition on the variable holds."""

    def __init__(self, inner: Pattern, condition: Callable[[Any], bool]):
        super().__init__(inner)
        self.condition = condition

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        """Yield the matches of the pattern inside."""
        if self.condition(variable):
            yield from match(self.inner, variable, bindings)

    def may_match(self, variable: Variable) -> bool:
        """Return whether the pattern inside may match."""
        return may_match(self.inner, variable)

    def __repr__(self) -> str:
        return repr(self.inner)


class Named(Where):
    """Matches what another pattern does, and binds the variable itself to a name."""

    def __init__(self, inner: Pattern, name: str):
        super().__init__(inner, lambda variable: True)
        self.name = name

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        """Yield the matches of the pattern inside, with the name."""
        for found in match(self.inner, variable, bindings):
            yield {**found, self.name: variable}

    def variable_names(self) -> list[str]:
        """Return the name, and those of the pattern inside."""
        return [self.name, *variable_names(self.inner)]

    def build(self, bindings: Bindings) -> Any:
        """Return the variable."""
        return bindings[self.name]


class OneOf(Special):
    """Matches what any of several patterns does."""

    def __init__(self, patterns: Sequence[Pattern]):
        super().__init__(patterns[0])
        self.patterns = tuple(patterns)

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        """Yield the matches of each pattern in turn."""
        for pattern in self.patterns:
            yield from match(pattern, variable, bindings)

    def may_match(self, variable: Variable) -> bool:
        """Return whether one of the patterns may match."""
        # (Faster than with a generator.)
        return True in [may_match(pattern, variable) for pattern in self.patterns]

    def __repr__(self) -> str:
        return repr(self.inner)


def one_of(*patterns: Pattern) -> OneOf:
    """Return the pattern of what can be written in several ways, all of which bind the same names.

    Examples
    --------
    >>> x, y = pattern_vars("x y")
    >>> one_of(x - y, x + -y)
    sub(x, y)
    """
    names = [sorted(variable_names(pattern)) for pattern in patterns]
    if any(other != names[0] for other in names):
        raise ValueError(f"each of {', '.join(map(repr, patterns))} must bind the same names")
    return OneOf(patterns)


def _has_one_user(variable: Variable) -> bool:
    clients = [client for client, _ in variable.clients]
    return bool(clients) and isinstance(clients[0], Apply) and all(client is clients[0] for client in clients)


class P:
    """An op for use in patterns.

    Parameters
    ----------
    op : Op, subclass of Op, tuple of these, or str
        An op matches equal ops, a class its instances, a tuple what one of its members matches, a string what
        :data:`operators` has under it. In a result, an op stands for itself, a string also for the op that the
        pattern found under that name.
    name : str or None
        What to call the op that is found, so that conditions and results can speak of it and of its parameters.
    output : int
        Which output of the op is meant.
    commutative, associative : bool or None
        Whether inputs may be exchanged, and regrouped; None asks the op's attribute of that name.
    **attributes
        What attributes of the op must be equal to.

    Examples
    --------
    >>> x, y = pattern_vars("x y")
    >>> P("hypot")(x, y + 1)
    hypot(x, add(y, 1))
    """

    def __init__(
        self,
        op: Op | type[Op] | tuple[Op | type[Op], ...] | str,
        name: str | None = None,
        *,
        output: int = 0,
        commutative: bool | None = None,
        associative: bool | None = None,
        **attributes: Any,
    ):
        self.op = op
        self.name = name
        self.output = output
        self.attributes = attributes
        self._commutative = commutative
        self._associative = associative
        #: Of the ops that were asked about, by identity: whether they are meant, and whether their inputs may be
        #: exchanged. The same few are asked about at each node, and to compare ops takes longer. (The op is kept, so
        #: that its id stays its own.)
        self._met: dict[int, tuple[Op, bool, bool]] = {}

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
        return self.met(op)[1]

    def met(self, op: Op) -> tuple[Op, bool, bool]:
        """Return ``op``, whether it is meant, and whether its inputs may be exchanged."""
        known = self._met.get(id(op))
        if known is None:
            if len(self._met) >= MANY_OPS:
                self._met.clear()
            meant = any(_is_meant(one, op) for one in self.tracks()) and all(
                getattr(op, k, None) == value for k, value in self.attributes.items()
            )
            known = self._met[id(op)] = op, meant, meant and bool(self.commutative(op))
        return known

    def tracks(self) -> tuple[Any, ...]:
        """Return the ops and classes of ops that can match."""
        return self.op if isinstance(self.op, tuple) else (self.op,)

    def commutative(self, op: Op) -> bool:
        """Return whether the inputs of ``op`` may be exchanged."""
        return op.commutative if self._commutative is None else self._commutative

    def associative(self, op: Op) -> bool:
        """Return whether ``op`` takes any number of inputs, and grouping them does not matter."""
        return op.associative if self._associative is None else self._associative

    def __repr__(self) -> str:
        if self.name is not None:
            return self.name
        if isinstance(self.op, tuple):
            return "|".join(op.__name__ if isinstance(op, type) else str(op) for op in self.op)
        return self.op.__name__ if isinstance(self.op, type) else str(self.op)


def _is_meant(mine: type | Op, op: Op) -> bool:
    return isinstance(op, mine) if isinstance(mine, type) else mine is op or mine == op


class Call(Pattern):
    """Matches an output of a node of one op whose inputs match."""

    def __init__(self, op: P, args: Sequence[Pattern]):
        self.op = op
        self.args = list(args)
        #: The arguments that do not match everything, those that an op decides first: it is the cheaper test.
        self.specific = sorted(
            (a for a in self.args if not isinstance(a, (Var, Rest))), key=lambda a: isinstance(a, NumberPattern)
        )

        #: The arguments but for one that takes the rest, the name of that, and the names of variables among the others.
        last = self.args[-1] if self.args else None
        self.rest = last.name if isinstance(last, Rest) else None
        self.firm = self.args if self.rest is None else self.args[:-1]
        self.names = [a.name for a in self.firm if isinstance(a, Var)]
        #: The first checks of the inputs: `anywhere` for inputs in any order, `checked` for inputs at their positions.
        self.anywhere = [_core(a) for a in self.specific]
        self.checked = [
            (i, _core(a)) for i, a in enumerate(self.args)
            if a in self.specific or isinstance(a, Var) and a.condition is not None
        ]  # fmt: skip

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


def _core(pattern: Pattern) -> Pattern:
    """Return what a pattern wants first, without the conditions and the names that come after it."""
    while isinstance(pattern, Where):
        pattern = pattern.inner
    return pattern


def pattern_vars(names: str, condition: Callable[[Any], bool] | None = None) -> tuple[Var, ...]:
    """Return one pattern variable for each name in ``names``, which blanks or commas separate.

    Parameters
    ----------
    names : str
    condition : callable or None
        What each of them must meet.

    Examples
    --------
    >>> x, y = pattern_vars("x y")
    >>> (x * y) / y
    truediv(mul(x, y), y)
    """
    return tuple(Var(name, condition) for name in names.replace(",", " ").split())


def as_pattern(value: Value) -> Pattern:
    """Return ``value`` as a pattern; what is none already is a number to match."""
    return value if isinstance(value, Pattern) else NumberPattern(value)


def variable_names(pattern: Pattern) -> list[str]:
    """Return the names that a match of ``pattern`` binds, each once."""
    if isinstance(pattern, (Var, Rest)):
        return [pattern.name]
    if isinstance(pattern, Call):
        own = [] if pattern.op.name is None else [pattern.op.name]
        return list(dict.fromkeys([*own, *(name for a in pattern.args for name in variable_names(a))]))
    return pattern.variable_names() if isinstance(pattern, Special) else []


def same(a: Variable, b: Variable) -> bool:
    """Return whether two variables are one, or equal constants."""
    return a is b or (isinstance(a, Constant) and a.equals(b))


# -- matching ------------------------------------------------------------------------------------------------


def match(pattern: Pattern, variable: Variable, bindings: Bindings | None = None) -> Iterator[Bindings]:
    """Yield each way to bind the names so that ``pattern`` is ``variable``.

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
    if isinstance(pattern, Var):
        bound = bindings.get(pattern.name)
        if bound is not None and not same(bound, variable):
            return
        if pattern.condition is None or pattern.condition(variable):
            yield bindings if bound is not None else {**bindings, pattern.name: variable}
    elif isinstance(pattern, NumberPattern):
        value = literal_value(variable)
        if value is not None and value == pattern.value:
            yield bindings
    elif isinstance(pattern, Call):
        node = variable.owner
        if node is not None and variable.index == pattern.op.resolve().output and fits(pattern, node):
            for found, rest in match_inputs(pattern, node, dict(bindings)):
                if not rest:
                    yield found
    elif isinstance(pattern, Special):
        yield from pattern.match(variable, bindings)


def may_match(pattern: Pattern, variable: Variable) -> bool:
    """Return False where ``variable`` certainly does not match: most do not, which the ops alone decide."""
    if isinstance(pattern, Call):
        node = variable.owner
        return node is not None and fits(pattern, node)
    if isinstance(pattern, NumberPattern):
        value = literal_value(variable)
        return value is not None and bool(value == pattern.value)
    if isinstance(pattern, Var):
        return pattern.condition is None or pattern.condition(variable)
    return pattern.may_match(variable) if isinstance(pattern, Special) else True


def fits(pattern: Call, node: Apply) -> bool:
    """Return False where the inputs of ``node`` certainly do not match."""
    spec, op = pattern.op, node.op
    if isinstance(spec.op, str):
        spec = spec.resolve()
    known = spec._met.get(id(op)) or spec.met(op)
    if not known[1]:
        return False
    args, inputs = pattern.args, node.inputs
    if len(inputs) != len(args):
        if args and isinstance(args[-1], Rest):
            if len(inputs) < len(args) - 1:
                return False
        elif not (known[2] and len(inputs) > len(args) > 1):  # what commutes may leave some
            return False
    if known[2]:
        for arg in pattern.anywhere:
            for v in inputs:
                if may_match(arg, v):
                    break
            else:
                return False
        return True
    for i, arg in pattern.checked:  # noqa: SIM110  (a generator takes longer)
        if not may_match(arg, inputs[i]):
            return False
    return True


def match_inputs(pattern: Call, node: Apply, found: Bindings) -> Iterable[tuple[Bindings, list[Variable]]]:
    """Return each way to match the inputs of ``node``, with the inputs that the pattern says nothing about.

    It is for nodes that :func:`fits` has passed, and writes into ``found``. Only an op that commutes and associates can
    have such a remainder: ``x * 1`` in the product ``a * b * 1``. A :class:`Rest` takes the remainder, or a free
    variable where there is one beside other arguments.
    """
    spec, op = pattern.op, node.op
    if spec.name is not None and found.setdefault(spec.name, op) != op:
        return ()
    if isinstance(spec.op, str):
        spec = spec.resolve()
    if spec.met(op)[2]:
        return _match_in_any_order(pattern, spec, node, found)
    if pattern.rest is not None:
        found[pattern.rest] = tuple(node.inputs[len(pattern.firm) :])
    if pattern.specific:
        return ((each, []) for each in _in_order(pattern.firm, node.inputs, found))
    # Variables alone need no search; their conditions have been asked.
    for name, v in zip(pattern.names, node.inputs, strict=False):
        bound = found.setdefault(name, v)
        if bound is not v and not same(bound, v):
            return ()
    return [(found, [])]


def _match_in_any_order(
    pattern: Call, spec: P, node: Apply, bindings: Bindings
) -> Iterator[tuple[Bindings, list[Variable]]]:
    inputs, args = list(node.inputs), _specific_first(pattern.firm, bindings)
    if pattern.rest is not None:
        for found, rest in _in_any_order(args, inputs, bindings):
            yield {**found, pattern.rest: tuple(rest)}, []
    elif len(inputs) == len(args):
        for found, _ in _in_any_order(args, inputs, bindings):
            yield found, []
    elif len(inputs) > len(args) > 1 and spec.associative(node.op):
        *firm, last = args
        bound = {*bindings, *(n for a in firm for n in variable_names(a))}
        if isinstance(last, Var) and last.name not in bound:
            for found, rest in _in_any_order(firm, inputs, bindings):
                grouped = rest[0] if len(rest) == 1 else node.op(*rest)
                if last.condition is None or last.condition(grouped):
                    yield {**found, last.name: grouped}, []
        else:
            yield from _in_any_order(args, inputs, bindings)


def _specific_first(args: Sequence[Pattern], bindings: Bindings) -> list[Pattern]:
    """Return the arguments so that specific ones decide first, and free variables take the rest."""
    return sorted(args, key=lambda a: isinstance(a, Var) and a.name not in bindings)


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
    """Return the expression that ``pattern`` describes, its names replaced; a number stays a number."""
    if isinstance(pattern, Var):
        return bindings[pattern.name]
    if isinstance(pattern, NumberPattern):
        return pattern.value
    if isinstance(pattern, Special):
        return pattern.build(bindings)
    assert isinstance(pattern, Call)
    args: list[Any] = []
    for arg in pattern.args:
        args += bindings[arg.name] if isinstance(arg, Rest) else [build(arg, bindings)]
    # A string is the name of an op that the pattern found, or one of Python's operators.
    named = bindings.get(pattern.op.op) if isinstance(pattern.op.op, str) else None
    spec = pattern.op.resolve() if named is None else P(named, output=pattern.op.output)
    if not isinstance(spec.op, Op):
        raise RewriteError(f"nothing can be built of {spec}: a result needs an op, not a class of ops")
    if len(args) == 1 and spec.associative(spec.op) and any(isinstance(arg, Rest) for arg in pattern.args):
        return args[0]  # all that a sum is left with
    outputs = spec.op(*args, return_list=True)
    # An op with a default output returns only that one.
    return outputs[spec.output] if len(outputs) > 1 else outputs[0].owner.outputs[spec.output]

"""`PatternSub`: a user-defined node rewriter written as two patterns of tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.fgraph import FunctionGraph
from theano.graph.source import copy_stack_trace
from theano.graph.variable import Variable
from theano.rewriting.pattern import Bindings, NumberPattern, P, Pattern, Special, Var, match, same
from theano.rewriting.rule import Answer, PatternRule
from theano.rewriting.userdefined.node_rewriters import LocalOptimizer

if TYPE_CHECKING:
    from theano.graph.op import Op


class _Where(Special):
    """Matches what another pattern does, if a condition on the variable holds."""

    def __init__(self, inner: Pattern, condition: Callable[[Variable], bool]):
        super().__init__(inner)
        self.condition = condition

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        for found in match(self.inner, variable, bindings):
            if self.condition(variable):
                yield found

    def __repr__(self) -> str:
        return f"{self.inner} subject to {getattr(self.condition, '__name__', self.condition)}"


class _Through(Special):
    """Matches what another pattern does, there or behind what is as good as the variable."""

    def __init__(self, inner: Pattern, behind: Callable[[Variable], Variable | None]):
        super().__init__(inner)
        self.behind = behind

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        here: Variable | None = variable
        while here is not None:
            found = list(match(self.inner, here, bindings))
            if found:
                yield from found
                return
            here = self.behind(here)


class _Exactly(Special):
    """Matches one variable, or a constant equal to it; in a result it is that variable."""

    def __init__(self, variable: Variable):
        super().__init__(Var("_"))
        self.variable = variable

    def match(self, variable: Variable, bindings: Bindings) -> Iterator[Bindings]:
        if same(self.variable, variable):
            yield bindings

    def variable_names(self) -> list[str]:
        return []

    def build(self, bindings: Bindings) -> Variable:
        return self.variable

    def __repr__(self) -> str:
        return str(self.variable)


class PatternSub(LocalOptimizer):
    """Puts one expression in the place of another; both are written as tuples.

    A tuple is an op followed by its inputs, a string a hole that anything fills (the same thing wherever it stands), a
    number a constant of that value, and ``{"pattern": p, "constraint": f}`` what matches ``p`` and for which
    ``f(variable)`` is true.

    Parameters
    ----------
    in_pattern : tuple or dict
    out_pattern : tuple, str or number
    allow_multiple_clients : bool
        Match also where an inner part is used elsewhere.
    skip_identities_fn : callable, optional
        Takes a variable, and returns one that it is as good as, or None.
    name : str, optional
    pdb : bool
        Open the debugger before a replacement is made.
    tracks : list, optional
        Nodes to be shown instead of those of the pattern's own op; needs ``get_nodes``.
    get_nodes : callable, optional
        Takes such a node, and returns the nodes at which the pattern may stand.
    values_eq_approx : callable, optional
        How values of the replacement are compared with the old ones; becomes its tag.

    Examples
    --------
    >>> from theano.graph import FunctionGraph, Op, generic
    >>> class Not(Op):
    ...     __props__ = ()
    ...     itypes = otypes = [generic]
    >>> from theano.rewriting.userdefined.graph_rewriters import TopoOptimizer
    >>> rule = PatternSub((Not(), (Not(), "x")), "x", name="not_not")
    >>> x = generic("x")
    >>> fgraph = FunctionGraph([x], [Not()(Not()(x))])
    >>> _ = TopoOptimizer(rule).optimize(fgraph)
    >>> rule, fgraph
    (<PatternSub (Not, (Not, x)) -> x>, [x])
    """

    def __init__(
        self,
        in_pattern: Any,
        out_pattern: Any,
        allow_multiple_clients: bool = False,
        skip_identities_fn: Callable[[Variable], Variable | None] | None = None,
        name: str | None = None,
        pdb: bool = False,
        tracks: Sequence[Op] = (),
        get_nodes: Callable[[Apply], Any] | None = None,
        values_eq_approx: Callable[[Any, Any], bool] | None = None,
    ):
        super().__init__(name)
        self.in_pattern, self.out_pattern = in_pattern, out_pattern
        self.__name__ = str(self)  # reports tell patterns without a name apart, and limits count each by itself
        self.pdb, self.get_nodes, self._given = pdb, get_nodes, list(tracks)
        self.values_eq_approx = values_eq_approx
        root, self._condition = in_pattern, None
        if isinstance(root, dict):
            root, self._condition = root["pattern"], root["constraint"]
        if not isinstance(root, (list, tuple)):
            raise TypeError(
                f"the pattern to search for must be a tuple that begins with an op, or a dictionary with such a "
                f"pattern in it, not {in_pattern!r}"
            )
        if tracks and get_nodes is None:
            raise ValueError("a PatternSub that tracks other nodes needs get_nodes, to go from them to the pattern")
        self.op: Any = root[0]
        made = _from_tuples(root, skip_identities_fn, True)
        result = _from_tuples(out_pattern, None, False)
        self._rule = PatternRule(str(self), made, result, allow_multiple_clients=allow_multiple_clients)

    def op_key(self) -> Any:
        """Return the op at the root of the pattern."""
        return self.op

    def tracks(self) -> list[Op]:
        """Return what to show: nodes of the op at the root, unless others were named."""
        return self._given or [self.op]

    def transform(self, fgraph: Any, node: Apply | None = None) -> Answer:  # type: ignore[override]
        """Return the expression of the second pattern, where the first one matches; takes the node alone as well."""
        at: Apply = fgraph if node is None else node
        graph = at.fgraph if node is None else fgraph
        if self.get_nodes is None or not self._given or at.op == self.op:
            found: Answer = self._at(graph, at)
            return found
        for other in self.get_nodes(at):
            answer: Any = self._at(graph, other) if isinstance(other, Apply) else False
            if answer:
                return answer if isinstance(answer, dict) else dict(zip(other.outputs, answer, strict=True))
        return False

    def _at(self, fgraph: FunctionGraph, node: Apply) -> Any:
        answer: Any = self._rule.answer(fgraph, node)
        if not answer:
            return False
        ((old, new),) = answer.items()
        if self._condition is not None and not self._condition(old):
            return False
        if self.values_eq_approx is not None:
            new.tag.__dict__["values_eq_approx"] = self.values_eq_approx
        if new.owner is not None:
            copy_stack_trace(old, new)
        if self.pdb:
            # Loaded for those who ask for it: it brings in much.
            import pdb  # noqa: T100

            pdb.set_trace()  # noqa: T100
        return [new] if len(node.outputs) == 1 else {old: new}

    def __str__(self) -> str:
        return self.name or f"{_text(self.in_pattern)} -> {_text(self.out_pattern)}"

    def __repr__(self) -> str:
        return f"<PatternSub {_text(self.in_pattern)} -> {_text(self.out_pattern)}>"


def _from_tuples(pattern: Any, behind: Callable[[Variable], Variable | None] | None, root: bool) -> Pattern:
    """Return a pattern of ours for one of tuples, strings and numbers."""
    if isinstance(pattern, Pattern):
        return pattern
    if isinstance(pattern, (list, tuple)):
        # Written in an order, and meant in it: rules of this kind never tried others.
        op = P(pattern[0], commutative=False)
        made: Pattern = op(*(_from_tuples(part, behind, False) for part in pattern[1:]))
        return made if root or behind is None else _Through(made, behind)
    if isinstance(pattern, dict):
        return _Where(_from_tuples(pattern["pattern"], behind, False), pattern["constraint"])
    if isinstance(pattern, str):
        return Var(pattern)
    return _Exactly(pattern) if isinstance(pattern, Variable) else NumberPattern(pattern)


def _text(pattern: Any) -> str:
    if isinstance(pattern, (list, tuple)):
        return "(" + ", ".join(_text(part) for part in pattern) + ")"
    if isinstance(pattern, dict):
        constraint = pattern.get("constraint")
        return f"{_text(pattern['pattern'])} subject to {getattr(constraint, '__name__', constraint)}"
    return str(pattern)

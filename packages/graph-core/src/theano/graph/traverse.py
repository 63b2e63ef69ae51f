"""Walks over a graph outside of a FunctionGraph: inputs, ancestors, nodes in order, equality of two expressions.

All walks are iterative: a chain of ten thousand nodes is an ordinary graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from theano.errors import CycleError
from theano.graph.apply import Apply
from theano.graph.source import created_at
from theano.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from theano.graph.annotations import Node

T = TypeVar("T", bound=Hashable)


def walk(start: Iterable[T], expand: Callable[[T], Iterable[T] | None]) -> Iterator[T]:
    """Yield each thing reachable from ``start`` once, depth first.

    Parameters
    ----------
    start : iterable
    expand : callable
        The neighbours of a thing; None or nothing ends the walk there.
    """
    seen: set[T] = set()
    stack = list(start)[::-1]
    while stack:
        thing = stack.pop()
        if thing in seen:
            continue
        seen.add(thing)
        yield thing
        neighbours = expand(thing)
        if neighbours:
            stack.extend(n for n in reversed(list(neighbours)) if n not in seen)


def ancestors(graphs: Iterable[Variable], blockers: Collection[Variable] | None = None) -> Iterator[Variable]:
    """Yield the variables that ``graphs`` depend on, themselves included, not looking past ``blockers``."""
    stop = set(blockers or ())

    def expand(v: Variable) -> list[Variable] | None:
        return v.owner.inputs if v.owner is not None and v not in stop else None

    return walk(graphs, expand)


def inputs(graphs: Iterable[Variable], blockers: Collection[Variable] | None = None) -> list[Variable]:
    """Return the variables without owner that ``graphs`` depend on, constants among them, in order of first use.

    Examples
    --------
    >>> from theano.graph import generic
    >>> x = generic("x")
    >>> inputs([x])
    [x]
    """
    stop = set(blockers or ())
    return [v for v in ancestors(graphs, stop) if v.owner is None or v in stop]


def explicit_inputs(graphs: Iterable[Variable]) -> list[Variable]:
    """Return the inputs that are not constants."""
    return [v for v in inputs(graphs) if not isinstance(v, Constant)]


def variables_between(ins: Collection[Variable], outs: Iterable[Variable]) -> list[Variable]:
    """Return the variables between ``ins`` and ``outs``, both included, and the orphans met on the way."""
    stop = set(ins)
    found: dict[Variable, None] = {}
    for v in ancestors(outs, stop):
        found[v] = None
        # A node computes all its outputs, used or not.
        if v.owner is not None and v not in stop:
            found.update(dict.fromkeys(v.owner.outputs))
    return list(found)


def orphans_between(ins: Collection[Variable], outs: Iterable[Variable]) -> list[Variable]:
    """Return the variables without owner between ``ins`` and ``outs`` that are not in ``ins``."""
    stop = set(ins)
    return [v for v in variables_between(stop, outs) if v.owner is None and v not in stop]


def applys_between(ins: Collection[Variable], outs: Iterable[Variable]) -> list[Node]:
    """Return the nodes between ``ins`` and ``outs`` in an order in which they can be computed."""
    return toposort(outs, ins)


def toposort(
    outs: Iterable[Variable],
    ins: Collection[Variable] = (),
    orderings: Mapping[Apply, Sequence[Apply]] | None = None,
    last_input_first: bool = False,
) -> list[Apply[Any, Any]]:
    """Return the nodes that ``outs`` need, each after the nodes that it needs itself.

    Parameters
    ----------
    outs : list of Variable
    ins : collection of Variable
        Where to stop.
    orderings : dict from Apply to list of Apply, optional
        Further nodes that must come before a node: those that read what it overwrites.
    last_input_first : bool
        What a node's last input needs comes before what its first one needs, and not the other way round.

    Raises
    ------
    CycleError
        No such order exists.
    """
    # A graph asks with the set of all its variables, which must not be copied for each node that enters.
    stop = ins if isinstance(ins, (set, frozenset, dict)) else set(ins)
    roots = [v.owner for v in outs if v.owner is not None and v not in stop]
    return toposort_nodes(roots, stop, orderings, last_input_first)


def toposort_nodes(
    roots: Iterable[Apply],
    stop: Collection[Variable] = (),
    orderings: Mapping[Apply, Sequence[Apply]] | None = None,
    last_input_first: bool = False,
) -> list[Node]:
    """Return ``roots`` and the nodes they need, each after the nodes that it needs itself."""
    order: list[Node] = []
    state: dict[Apply, bool] = {}  # absent: not met; False: its needs are being visited; True: placed
    extra = orderings or {}
    stack = list(roots)[::-1]
    while stack:
        node = stack[-1]
        met = state.get(node)
        if met is None:
            state[node] = False
            needs = [v.owner for v in node.inputs if v.owner is not None and v not in stop]
            if extra:
                needs.extend(extra.get(node, ()))
            waits = False
            # What comes first is pushed last. A node may be pushed again by another that needs it earlier.
            for need in needs if last_input_first else reversed(needs):
                placed = state.get(need)
                if placed is None:
                    stack.append(need)
                    waits = True
                elif not placed:
                    raise CycleError(_describe_cycle([n for n in stack if state.get(n) is False], need))
            if not waits:
                stack.pop()
                state[node] = True
                order.append(node)
        else:
            stack.pop()
            if not met:
                state[node] = True
                order.append(node)
    return order


def _describe_cycle(path: list[Apply], again: Apply) -> str:
    cycle = path[path.index(again) :]
    shown = " -> ".join(str(n.op) for n in cycle[:6]) + (" -> ..." if len(cycle) > 6 else "")
    lines = dict.fromkeys(str(line) for n in cycle for v in n.outputs if (line := created_at(v)) is not None)
    written = f"\n  written at {', '.join(list(lines)[:4])}" if lines else ""
    types = dict.fromkeys(f"{v} : {v.type}" for n in cycle[:3] for v in n.outputs)
    return (
        f"the graph has a cycle of {len(cycle)} nodes: {shown} -> {again.op}.{written}\n"
        f"  through {', '.join(list(types)[:4])}\n"
        "A variable would be needed to compute itself, or overwritten before a node that still reads it: "
        "let the replacement depend on what comes before it only, or copy what is overwritten."
    )


def independent_of(
    inside: Collection[Variable],
    outputs: Sequence[Variable],
    outside: Collection[Variable] = (),
    stays: Callable[[Apply], bool] | None = None,
) -> list[Variable]:
    """Return what ``outputs`` are computed from together with ``inside``, and what does not depend on that itself.

    It is the most that can be computed before ``inside`` is known. Constants are left out.

    Parameters
    ----------
    inside, outputs : list of Variable
    outside : list of Variable, optional
        Computed before, whatever it is computed by.
    stays : callable, optional
        Which nodes are not computed before, although they could be.

    Examples
    --------
    >>> from theano.graph import Op, generic
    >>> class Pair(Op):
    ...     __props__ = ()
    ...     itypes, otypes = [generic, generic], [generic]
    >>> a, b, x = generic("a"), generic("b"), generic("x")
    >>> independent_of([x], [Pair()(Pair()(a, b), x)])
    [Pair.0]
    """
    moving = set(inside)
    order = toposort(outputs, [*inside, *outside])
    for node in order:
        if not moving.isdisjoint(node.inputs) or (stays is not None and stays(node)):
            moving.update(node.outputs)
    # An output that does not move is outside as well.
    read = [v for node in order if not moving.isdisjoint(node.outputs) for v in node.inputs]
    return [v for v in dict.fromkeys([*read, *outputs]) if v not in moving and not isinstance(v, Constant)]


def view_roots(variable: Variable) -> list[Variable]:
    """Return the variables whose memory ``variable`` may share, found by following ``view_map`` to the end."""

    def viewed(v: Variable) -> list[Variable]:
        if v.owner is None:
            return []
        return [v.owner.inputs[i] for i in v.owner.op.view_map.get(v.index, ())]

    return [v for v in walk([variable], viewed) if not viewed(v)]


def op_as_string(
    ins: Collection[Variable],
    node: Apply,
    leaf_formatter: Callable[[Variable], str] = str,
    node_formatter: Callable[[Any, list[str]], str] = lambda op, args: f"{op}({', '.join(args)})",
) -> str:
    """Return the expression of ``node`` in one line, as nested calls down to ``ins``."""
    return as_string(ins, [node.outputs[0]], leaf_formatter, node_formatter)[0]


def as_string(
    ins: Collection[Variable],
    outs: Sequence[Variable],
    leaf_formatter: Callable[[Variable], str] = str,
    node_formatter: Callable[[Any, list[str]], str] = lambda op, args: f"{op}({', '.join(args)})",
) -> list[str]:
    """Return one line for each of ``outs``; what is used twice is shown as ``*1 -> ...``, then as ``*1``."""
    stop = set(ins)
    uses: dict[Apply, int] = {}
    for node in toposort(outs, stop):
        for v in node.inputs:
            if v.owner is not None and v not in stop:
                uses[v.owner] = uses.get(v.owner, 0) + 1
    for v in outs:
        if v.owner is not None and v not in stop:
            uses[v.owner] = uses.get(v.owner, 0) + 1
    number = {n: i + 1 for i, n in enumerate(n for n in toposort(outs, stop) if uses.get(n, 0) > 1)}
    told: set[Apply] = set()

    def known(v: Variable) -> str | None:
        """Return the text of a variable that needs no other text."""
        if v in stop or v.owner is None:
            return leaf_formatter(v)
        return f"*{number[v.owner]}{suffix(v)}" if v.owner in told else None

    def suffix(v: Variable) -> str:
        node: Any = v.owner
        return "" if len(node.outputs) == 1 or v.index == node.op.default_output else f"::{v.index}"

    def describe(v: Variable) -> str:
        # The way down to the text that is being made: variables, and texts of their inputs so far. No recursion:
        # graphs are deeper than Python's stack.
        way: list[tuple[Variable, list[str]]] = []
        text = known(v)
        while text is None or way:
            if text is None:
                way.append((v, []))
                if v.owner is not None and v.owner in number:
                    told.add(v.owner)
            else:
                way[-1][1].append(text)
            above, texts = way[-1]
            node: Any = above.owner
            if len(texts) < len(node.inputs):
                v = node.inputs[len(texts)]
                text = known(v)
                continue
            way.pop()
            mark = f"*{number[node]} -> " if node in number else ""
            text = mark + node_formatter(node.op, texts) + suffix(above)
        return text

    return [describe(v) for v in outs]


def equal_computations(
    xs: Sequence[Variable],
    ys: Sequence[Variable],
    in_xs: Sequence[Variable] = (),
    in_ys: Sequence[Variable] = (),
) -> bool:
    """Return whether two lists of expressions compute the same by construction.

    Parameters
    ----------
    xs, ys : list of Variable
        Compared one by one.
    in_xs, in_ys : list of Variable
        Inputs that stand for each other.
    """
    if len(xs) != len(ys) or len(in_xs) != len(in_ys):
        return False
    inputs: dict[Variable, Variable] = dict(zip(in_xs, in_ys, strict=True))
    pending = list(zip(xs, ys, strict=True))
    # Pairs, not one partner for each: what one graph computes once, the other one may compute twice.
    same: set[tuple[Variable, Variable]] = set()
    while pending:
        x, y = pending.pop()
        if x in inputs:
            if inputs[x] is not y:
                return False
            continue
        if (x, y) in same:
            continue
        if x.type != y.type:
            return False
        if x.owner is None or y.owner is None:
            if not (x is y or isinstance(x, Constant) and isinstance(y, Constant) and x.equals(y)):
                return False
            continue
        if x.owner.op != y.owner.op or x.index != y.index or len(x.owner.inputs) != len(y.owner.inputs):
            return False
        same.update(zip(x.owner.outputs, y.owner.outputs, strict=True))
        pending.extend(zip(x.owner.inputs, y.owner.inputs, strict=True))
    return True


def is_same_graph(
    var1: Variable, var2: Variable, givens: Mapping[Variable, Variable] | None = None, debug: bool = False
) -> bool:
    """Return whether two expressions compute the same, with ``givens`` put in place of their keys.

    ``debug`` is without effect: there is one way to compare.
    """
    pairs = dict(givens or {})
    return equal_computations([var1], [var2], list(pairs), list(pairs.values()))

"""What user-defined graph rewriters return of their work, in print."""

from __future__ import annotations

from typing import Any, TextIO


def print_profile(stream: TextIO, prof: object, level: int = 0) -> None:
    """Print what the ``optimize`` of a graph rewriter returned.

    Parameters
    ----------
    stream : file
    prof : tuple or None
        The rewriter and its numbers. Those of `SeqOptimizer`, `EquilibriumOptimizer` and `TopoOptimizer` are known; of
        others, nothing is printed.
    level : int
        How deep it is in others: four spaces each.

    Examples
    --------
    >>> import sys
    >>> from theano.graph import FunctionGraph, generic
    >>> from theano.rewriting.userdefined import MergeOptimizer, SeqOptimizer
    >>> x = generic("x")
    >>> both = SeqOptimizer(MergeOptimizer(), name="both")
    >>> both.print_profile(sys.stdout, both.optimize(FunctionGraph([x], [x])))  # doctest: +ELLIPSIS
    SeqOptimizer both: 0.00... s, 0 nodes before, 0 after
        0.00... s, 0 nodes before, 0 after: merge
    """
    if not isinstance(prof, tuple) or not prof:
        return
    tell = _TELLERS.get(next((c.__name__ for c in type(prof[0]).__mro__ if c.__name__ in _TELLERS), ""))
    if tell is not None:
        tell(stream, prof, "    " * level, level)


def _line(stream: TextIO, indent: str, rewriter: Any, seconds: float, before: int, after: int) -> None:
    name = f" {rewriter.name}" if getattr(rewriter, "name", None) else ""
    kind = type(rewriter).__name__
    print(f"{indent}{kind}{name}: {seconds:.6f} s, {before} nodes before, {after} after", file=stream)


def _sequence(stream: TextIO, prof: Any, indent: str, level: int) -> None:
    rewriter, seconds, before, after, found, sizes = prof[0], prof[1], prof[4], prof[5], prof[6], prof[8]
    _line(stream, indent, rewriter, sum(seconds), before, after)
    parts = list(rewriter)
    # With a failure among them, which part each number belongs to is not known.
    names = [str(part) for part in parts] if len(parts) == len(seconds) else ["?"] * len(seconds)
    for name, spent, (size, left) in zip(names, seconds, sizes, strict=True):
        print(f"{indent}    {spent:.6f} s, {size} nodes before, {left} after: {name}", file=stream)
    for inner in found:
        print_profile(stream, inner, level + 1)


def _equilibrium(stream: TextIO, prof: Any, indent: str, level: int) -> None:
    rewriter, seconds, uses, (before, after, _) = prof[:4]
    _line(stream, indent, rewriter, sum(seconds), before, after)
    for rule, n in sorted(uses[0].items(), key=lambda item: (-item[1], str(item[0]))):
        print(f"{indent}    {n} times {getattr(rule, 'name', rule)}", file=stream)


def _walk(stream: TextIO, prof: Any, indent: str, level: int) -> None:
    rewriter, changes, before, after, _, seconds = prof[:6]
    _line(stream, indent, rewriter, seconds, before, after)
    print(f"{indent}    {changes} times", file=stream)


_TELLERS = {"SeqOptimizer": _sequence, "EquilibriumOptimizer": _equilibrium, "TopoOptimizer": _walk}

"""Classes of which two have one name, and public methods that nobody has documented.

A method needs no docstring of its own where a class that its own is made from defines it, in these layers: the
contract says what it is asked for. Bases are found by their names, which are unique.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

#: Names that two public classes have, and why. What Theano documents keeps its name.
SHARED = {
    "Cast": "of numbers, and of sparse matrices: Theano has both",
    "Dot": "of arrays, and of sparse matrices: Theano has both",
    "ScalarSharedVariable": "in the scalar layer, and in the tensor layer: Theano has both",
}
#: What serves only older programs has their names, which are often those of things below.
OLDER = "legacy"


class Defined(NamedTuple):
    """A class at the top of a module: where it is, and what it says."""

    layer: str
    place: str
    node: ast.ClassDef


def classes_of(layer: str, place: str, parsed: ast.Module) -> Iterator[Defined]:
    """Yield the classes of a module."""
    for node in parsed.body:
        if isinstance(node, ast.ClassDef):
            yield Defined(layer, f"{place}:{node.lineno}", node)


def problems(classes: Iterable[Defined]) -> Iterator[str]:
    r"""Yield each broken rule in words.

    Examples
    --------
    >>> text = "class A:\n def f(self): 'Return 1.'\nclass B(A):\n def f(self): pass\n def g(self): pass\n"
    >>> list(problems(classes_of("tensor", "x.py", ast.parse(text + "class A: pass"))))
    ['x.py:6: A is also a class at x.py:1; call one of them by what it is', 'x.py:3: B.g has no docstring']
    """
    by_name: dict[str, list[Defined]] = defaultdict(list)
    for defined in classes:
        by_name[defined.node.name].append(defined)
    for name, (first, *others) in by_name.items():
        if not name.startswith("_") and name not in SHARED:
            for other in others:
                if OLDER not in (first.layer, other.layer):
                    yield f"{other.place}: {name} is also a class at {first.place}; call one of them by what it is"
    for defined in (each for group in by_name.values() for each in group):
        if not defined.node.name.startswith("_"):
            for method in _undocumented(defined.node, by_name):
                yield f"{defined.place}: {defined.node.name}.{method} has no docstring"


def _undocumented(node: ast.ClassDef, by_name: Mapping[str, list[Defined]]) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and not statement.name.startswith("_"):
            decorators = [ast.unparse(d) for d in statement.decorator_list]
            attribute = "property" in decorators and f"\n{statement.name} : " in (ast.get_docstring(node) or "")
            again = any(d.endswith(("overload", ".setter")) for d in decorators)
            if not (again or attribute or ast.get_docstring(statement) or statement.name in _inherited(node, by_name)):
                yield statement.name


def _inherited(node: ast.ClassDef, by_name: Mapping[str, list[Defined]]) -> set[str]:
    """Return the names of what classes define that a class is made from."""
    found: set[str] = set()
    seen, waiting = {node.name}, [node]
    while waiting:
        for base in waiting.pop().bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            name = ast.unparse(plain).rpartition(".")[2]
            if name not in seen:
                seen.add(name)
                named = [each.node for each in by_name.get(name, [])]
                waiting += named
                found |= {s.name for each in named for s in each.body if isinstance(s, ast.FunctionDef)}
    return found

"""Changes of one token: which there are, a sample of them, and names that last while their file changes.

The mutations are cosmic-ray's. Left out are places where a change says nothing.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from mutation import groups

#: Identity in place of equality, exponents in place of sums and the like say little: an operator that users confuse
#: with the one that stands there says much.
OPERATORS = (
    *("AddNot", "NumberReplacer", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse"),
    *("ReplaceFalseWithTrue", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
    *("ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_USub"),
    *(f"ReplaceComparisonOperator_{pair}" for pair in (
        "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_Gt", "Gt_Lt", "Is_IsNot", "IsNot_Is")),
    *(f"ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "Sub_Add", "Mul_Add", "FloorDiv_Mul", "Div_Mul", "Mod_FloorDiv", "BitAnd_BitOr", "BitOr_BitAnd",
        "BitXor_BitAnd", "LShift_RShift", "RShift_LShift", "Pow_Mul")),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one token."""

    group: str
    path: str
    operator: str
    occurrence: int
    line: int
    column: int

    def code(self, original: str) -> str:
        """Return the changed source."""
        changed = mutate_code(original, plugins.get_operator(f"core/{self.operator}")(), self.occurrence)
        assert changed is not None
        return str(changed)

    def lines(self, original: str) -> tuple[str, str]:
        """Return the first line that differs, before and after."""
        before, after = original.splitlines(), self.code(original).splitlines()
        at = next(k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
        return before[at].strip(), after[at].strip()


@dataclass(frozen=True)
class Name:
    """What names a mutant while its file changes elsewhere: the text of its line, and which of equal ones it is."""

    group: str
    path: str
    operator: str
    before: str
    after: str
    which: int


def silent_lines(tree: ast.Module) -> set[int]:
    """Return the lines on which a change says nothing: types, texts of errors, what only type checkers read.

    Examples
    --------
    >>> sorted(silent_lines(ast.parse("if x:" + chr(10) + "    raise ValueError(x + 1)")))
    [2]
    """
    found: set[int] = set()
    for node in ast.walk(tree):
        typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Raise) or typing or called.startswith(("logger.", "warnings.warn")):
            found.update(_span(node))
    return found


def silent_parts(tree: ast.Module) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return from where to where go annotations, and values of keywords that no result depends on.

    The ``strict`` of ``zip`` asserts that lengths agree; ``maxsize`` is a cache's; ``work`` and ``ulp`` are estimates.
    """
    found = []
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call):
            is_zip = ast.unparse(node.func) == "zip"
            silent = {"maxsize", "work", "ulp"} | ({"strict"} if is_zip else set())
            parts += [keyword.value for keyword in node.keywords if keyword.arg in silent]
        for part in parts:
            if part is not None:
                found.append(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)))
    return found


def _span(node: ast.AST) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]


def statement(tree: ast.Module, line: int) -> range:
    """Return the lines of the smallest statement around a line, or of its head where it has a body."""
    best = range(line, line + 1)
    size = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and line in (span := _span(node)) and (size is None or len(span) < size):
            best, size = span, len(span)
            body = getattr(node, "body", None)
            if body and line < body[0].lineno:
                best = range(node.lineno, body[0].lineno)
    return best


def runs_on_import(tree: ast.Module, line: int) -> bool:
    """Return whether a line is in the body of no function."""
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return not any(f.body[0].lineno <= line <= (f.end_lineno or line) for f in functions)


def first_elements(tree: ast.Module) -> set[tuple[int, int]]:
    """Return where the 0 of an index ``[0]`` stands: ``[-1]`` is the same where there is one element."""
    indices = (node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript))
    return {(i.lineno, i.col_offset) for i in indices if isinstance(i, ast.Constant) and i.value == 0}


def mutants(group: str, path: str, source: str, operators: Iterable[str] = OPERATORS) -> Iterator[Mutant]:
    """Yield each change of a module that is worth a test."""
    tree = ast.parse(source)
    silent, parts, firsts = silent_lines(tree), silent_parts(tree), first_elements(tree)
    nodes = list(ast_nodes(get_ast(source)))
    for name in operators:
        operator = plugins.get_operator(f"core/{name}")()
        positions = [at for node in nodes for at, _ in operator.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(positions):
            if line in silent or any(a <= (line, column) < b for a, b in parts):
                continue
            # A number is made larger by one first, then smaller.
            is_smaller = name == "NumberReplacer" and positions[occurrence - 1] == (line, column)
            if not (is_smaller and (line, column) in firsts):
                yield Mutant(group, path, name, occurrence, line, column)


def sample(chosen_groups: Iterable[str], share: int, rng: random.Random, taken: Iterable[Mutant] = ()) -> list[Mutant]:
    """Return some mutants of each group, at most one at a place, and none where there is one already."""
    chosen: list[Mutant] = []
    occupied = {_place(mutant) for mutant in taken}
    for group in chosen_groups:
        places: dict[tuple[str, int, int], list[Mutant]] = {}
        for path in sorted({p for pattern in groups.GROUPS[group][0] for p in groups.ROOT.glob(pattern)}):
            name = path.relative_to(groups.ROOT).as_posix()
            for mutant in mutants(group, name, path.read_text(encoding="utf-8")):
                if _place(mutant) not in occupied:
                    places.setdefault(_place(mutant), []).append(mutant)
        at = sorted(rng.sample(sorted(places), min(len(places), share)))
        chosen += [rng.choice(places[place]) for place in at]
        occupied.update(at)
    return chosen


def _place(mutant: Mutant) -> tuple[str, int, int]:
    return mutant.path, mutant.line, mutant.column


# -- names that last ---------------------------------------------------------------------------------------------------


def name_of(mutant: Mutant) -> Name:
    """Return the name of a mutant."""
    source = (groups.ROOT / mutant.path).read_text(encoding="utf-8")
    before, after = mutant.lines(source)
    written = source.splitlines()[mutant.line - 1].strip()
    same = _same(source, written, after, mutants(mutant.group, mutant.path, source, [mutant.operator]))
    return Name(mutant.group, mutant.path, mutant.operator, before, after, same.index(mutant))


def find(name: Name) -> Mutant | None:
    """Return the mutant that has a name, or None if its line is gone."""
    path = groups.ROOT / name.path
    if not path.is_file():
        return None
    source = path.read_text(encoding="utf-8")
    same = _same(source, name.before, name.after, mutants(name.group, name.path, source, [name.operator]))
    return same[name.which] if name.which < len(same) else None


def _same(source: str, before: str, after: str, made: Iterable[Mutant]) -> list[Mutant]:
    """Return those mutants that stand on a line of this text and turn it into the same one, from above to below."""
    lines = source.splitlines()
    there = [m for m in made if lines[m.line - 1].strip() == before]
    return [m for m in there if m.lines(source)[1] == after]

"""Print where the sources grow: long files, long functions, and how long an op's statement is.

    python tools/check_sizes.py [ROOT]

Size is a sign, not a law: nothing here fails.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FILE, TEST_FILE, FUNCTION = 600, 800, 60
SUFFIXES = {".py", ".c", ".h", ".cpp", ".hpp"}
PLACES = ("packages", "tools", "benchmarks", "examples", "docs", "noxfile.py")


def sources(root: Path) -> Iterator[Path]:
    """Yield the files that users write."""
    for place in PLACES:
        start = root / place
        found = [start] if start.is_file() else sorted(start.rglob("*"))
        yield from (p for p in found if p.suffix in SUFFIXES and not {"build", "_build"} & set(p.parts))


def is_test(path: Path) -> bool:
    """Tell whether a file belongs to tests.

    Examples
    --------
    >>> is_test(Path("packages/scalar/tests/test_tiny.py"))
    True
    """
    return "tests" in path.parts


def long_files(root: Path) -> list[tuple[int, Path]]:
    """Return the files past their sign, longest first."""
    counted = [(len(p.read_text(encoding="utf-8").splitlines()), p) for p in sources(root)]
    return sorted((c for c in counted if c[0] > (TEST_FILE if is_test(c[1]) else FILE)), reverse=True)


def long_functions(root: Path) -> list[tuple[int, str]]:
    """Return the Python functions past the sign, longest first."""
    found = []
    for path in sources(root):
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1 - _docstring_lines(node)
                if lines > FUNCTION:
                    found.append((lines, f"{path.relative_to(root)}:{node.lineno} {node.name}"))
    return sorted(found, reverse=True)


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    if ast.get_docstring(node) is None:
        return 0
    return (first.end_lineno or first.lineno) - first.lineno + 1


def op_statements(root: Path) -> list[int]:
    """Return how many lines each ``scalar_op(...)`` statement of the scalar layer has."""
    lengths = []
    for path in (root / "packages" / "scalar" / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "scalar_op":
                lengths.append((node.end_lineno or node.lineno) - node.lineno + 1)
    return lengths


def main(arguments: list[str]) -> int:
    """Print the signs of a tree."""
    root = Path(arguments[0]).resolve() if arguments else ROOT
    every = [len(p.read_text(encoding="utf-8").splitlines()) for p in sources(root) if not is_test(p)]
    print(f"{len(every)} source files, {sum(every)} lines, median {statistics.median(every or [0]):.0f}")
    for count, path in long_files(root):
        print(f"  {count} lines: {path.relative_to(root)}")
    for count, where in long_functions(root):
        print(f"  {count} lines: {where}()")
    statements = op_statements(root)
    if statements:
        print(f"{len(statements)} scalar ops, median statement {statistics.median(statements):.0f} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Print how large the sources are and where they grow: lines of code, long files and functions, an op's statement.

    python tools/size.py [ROOT]

Lines of code are counted by layer, without blank lines, comments and docstrings. Size is a sign, not a law: nothing
here fails.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FILE, TEST_FILE, FUNCTION = 600, 800, 60
SUFFIXES = {".py", ".c", ".h", ".cpp", ".hpp", ".cl", ".cu", ".cuh"}
_C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
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


def lines_of_code(path: Path) -> int:
    """Return the lines of a file that hold code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return sum(bool(line.strip()) for line in _C_COMMENT.sub(_blank, text).splitlines())
    tree, kinds = ast.parse(text), (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [n.body[0] for n in ast.walk(tree) if isinstance(n, kinds) and ast.get_docstring(n) is not None]
    said = {line for d in docstrings for line in range(d.lineno, (d.end_lineno or d.lineno) + 1)}
    tokens = (t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in _NO_CODE)
    return len({line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - said)


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")


def by_layer(root: Path) -> dict[str, tuple[int, int]]:
    """Return the lines of code of each package's sources: of Python, and of C, C++ and kernels of devices."""
    found: dict[str, tuple[int, int]] = {}
    for folder in sorted((root / "packages").glob("*/src")):
        paths = [p for p in folder.rglob("*") if p.suffix in SUFFIXES]
        python = sum(lines_of_code(p) for p in paths if p.suffix == ".py")
        found[folder.parent.name] = python, sum(lines_of_code(p) for p in paths if p.suffix != ".py")
    return found


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
    layers = by_layer(root)
    for layer, (python, c) in layers.items():
        print(f"  {layer:12} {python:7,} lines of Python {c:7,} of C")
    if layers:
        python, c = (sum(sizes) for sizes in zip(*layers.values(), strict=True))
        print(f"  {'all layers':12} {python:7,} {c:24,}")
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

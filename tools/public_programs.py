"""Run tasks of ours on programs from public repositories, over the theano that is installed.

Called by ``nox -s "programs(public)" -- -k NAME``. ``programs/public.toml`` lists the programs. Each is fetched at its
commit into the environment's folder, translated if it was written for Python 2, and never kept in the repository.
THEANO_PROGRAMS_MIRROR names a folder of bare git directories, OWNER+NAME/repo, for machines that do not reach GitHub.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "programs"
PAGE = FOLDER.parent / "docs" / "programs.md"
MARKS = "<!-- public programs -->", "<!-- end of public programs -->"


def fetched(repository: str, commit: str, tree: Path) -> None:
    """Put the files of a commit into a folder. A mirror may lack large files, which tasks do without."""
    mirror = os.environ.get("THEANO_PROGRAMS_MIRROR")
    git = ["git", "-c", "safe.directory=*", "-C", str(tree)]
    if mirror:
        bare = Path(mirror) / repository.replace("/", "+") / "repo"
        bare = bare / ".git" if (bare / ".git").is_dir() else bare
        checkout = [*git, f"--git-dir={bare}", f"--work-tree={tree}", "checkout", "-f", commit, "--", "."]
        index = os.environ | {"GIT_INDEX_FILE": str(tree / ".index")}
        subprocess.run(checkout, env=index, check=False, capture_output=True)
    else:
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "fetch", "-q", "--depth", "1", f"https://github.com/{repository}", commit], check=True)
        subprocess.run([*git, "checkout", "-q", "FETCH_HEAD"], check=True)
    if not any(tree.glob("[!.]*")):
        raise SystemExit(f"{repository} has no files at {commit}")


class Older(ast.NodeTransformer):
    """Let ``/`` divide as in Python 2, by two functions of ``programs/shims/python2``, and nothing equal None but None.

    NumPy 1.13 compares an array with None element by element.

    Examples
    --------
    >>> ast.unparse(Older(exact=False).visit(ast.parse("a.b /= 1 / 2 if x != None else 0")))
    'a.b = division_in_place(a.b, division(1, 2) if x is not None else 0)'
    """

    def __init__(self, exact: bool) -> None:
        """Leave divisions alone where a source asks for those of Python 3."""
        self.exact = exact

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Compare with None by identity."""
        self.generic_visit(node)
        if isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None:
            same = {ast.Eq: ast.Is, ast.NotEq: ast.IsNot}
            node.ops = [same.get(type(op), type(op))() for op in node.ops]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace a quotient by a call."""
        self.generic_visit(node)
        if self.exact or not isinstance(node.op, ast.Div):
            return node
        return self.called("division", node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Replace a division in place by an assignment of what a call returns."""
        self.generic_visit(node)
        if self.exact or not isinstance(node.op, ast.Div):
            return node
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], self.called("division_in_place", read, node.value), lineno=node.lineno)

    def called(self, name: str, *values: ast.expr) -> ast.expr:
        """Return the call of a function."""
        return ast.Call(ast.Name(name, ast.Load()), list(values), [])


@cache
def fixers() -> Any:
    """Return what translates everything but `Older`."""
    from fissix.refactor import RefactoringTool, get_fixers_from_package

    return RefactoringTool(get_fixers_from_package("fissix.fixes"))


def translated(source: str, path: str) -> str:
    """Return Python 3 for a source in Python 2; imports of files beside its path become relative in a package."""
    tree = ast.parse(str(fixers().refactor_string(source.expandtabs().rstrip() + "\n", path)))
    exact = any(isinstance(node, ast.ImportFrom) and node.module == "__future__"
                and any(name.name == "division" for name in node.names) for node in tree.body)  # fmt: skip
    return ast.unparse(ast.fix_missing_locations(Older(exact).visit(tree)))


def translate(tree: Path, omitted: Sequence[str]) -> None:
    """Translate all sources of a folder that can be; say which cannot."""
    from fissix.pgen2.parse import ParseError
    from fissix.pgen2.tokenize import TokenError

    for path in sorted(tree.rglob("*.py")):
        if any(path.relative_to(tree).is_relative_to(part) for part in omitted):
            continue
        data = path.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        try:
            path.write_text(translated(text.replace("\r\n", "\n"), str(path)), encoding="utf-8")
        except (ParseError, TokenError, SyntaxError) as error:
            print(f"{path.relative_to(tree)} is not translated: {error}")


def checkout(program: Mapping[str, Any], folder: Path) -> Path:
    """Return the folder with a program's files, fetched and translated once."""
    tree = folder / f"{program['name']}-{program['commit'][:10]}"
    if not tree.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as name:
            part = Path(name) / "tree"
            part.mkdir()
            fetched(program["repository"], program["commit"], part)
            for under, (repository, commit) in program.get("submodules", {}).items():
                (part / under).mkdir(exist_ok=True)
                fetched(repository, commit, part / under)
            if program["python"] == 2:
                translate(part, program.get("omitted", ()))
            part.rename(tree)
    return tree


def ran(program: Mapping[str, Any], folder: Path) -> tuple[bool, float, str]:
    """Run a program's task in an empty folder; return whether it passed, its seconds, and its last line."""
    path = [str(FOLDER / "shims"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "MPLBACKEND": "agg",
                                "PROGRAM_PYTHON": str(program["python"])}  # fmt: skip
    tree = checkout(program, folder)
    task = [sys.executable, "-W", "ignore", str(FOLDER / "public" / f"{program['name']}.py"), str(tree)]
    with tempfile.TemporaryDirectory() as scratch:
        start = time.perf_counter()
        result = subprocess.run(task, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
    if result.returncode:
        print(f"--- {program['name']}\n{result.stdout[-3000:]}{result.stderr[-4000:]}")
    return result.returncode == 0, seconds, (result.stdout.strip().splitlines() or [""])[-1]


def table(programs: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of the page."""
    rows = [f"| [{program['repository']}](https://github.com/{program['repository']}) | {program['about']} "
            f"| {program['python']} | {program['result']} |" for program in programs]  # fmt: skip
    return "\n".join(("| program | what it is | Python | result of the task |", "|---|---|---|---|", *rows))


def main(arguments: Sequence[str]) -> int:
    """Run the tasks of the programs whose names contain a text; return 0 where all passed."""
    parser = argparse.ArgumentParser(prog='nox -s "programs(public)" --')
    parser.add_argument("-k", default="", metavar="TEXT", help="only programs whose name contains this")
    parser.add_argument("--write", action="store_true", help="write the table of programs into docs/programs.md")
    options = parser.parse_args(arguments)
    everything = tomllib.loads((FOLDER / "public.toml").read_text())["program"]
    if options.write:
        before, rest = PAGE.read_text().split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n{table(everything)}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
        return 0
    programs = [program for program in everything if options.k in program["name"]]
    needs = sorted({need for program in programs for need in program["needs"]})
    if needs:  # without what these need: some of them would bring the original
        subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-deps",
                        *needs], check=True)  # fmt: skip
    results = {program["name"]: ran(program, Path(sys.prefix) / "published") for program in programs}
    for name, (passed, seconds, line) in results.items():
        print(f"{'passed' if passed else 'FAILED':6} {seconds:5.1f} s  {name:24} {line if passed else ''}")
    return 0 if all(passed for passed, _, _ in results.values()) else 1

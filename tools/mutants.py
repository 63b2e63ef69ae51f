"""Change one token of the sources, and see that a test fails: mutation testing of what wrong numbers come from.

    python tools/mutants.py [--count 200] [--seed N] [--group rules ...] [--jobs 2]

The mutations are cosmic-ray's; which tests see a mutant is decided here, so that a mutant costs seconds. The tests run
once under coverage.py, which notes who reaches which line; a mutant is then given to those tests alone, the quickest
first, and the first failure ends it. Where nobody is known to reach the line (tables are made on import), all tests of
its group are asked.

A mutant that no test catches is a survivor. One that cannot be told from the original has its reason in mutants.toml
and does not count; of the others, exit status 1 says that more than one in twenty survived.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import coverage
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
REASONS = ROOT / "tools" / "mutants.toml"
LAYERS = ("graph-core", "scalar", "tensor", "sparse")

CORE, TENSOR = "packages/graph-core/src/theano", "packages/tensor/src/theano/tensor"
CORE_TESTS, TENSOR_TESTS = "packages/graph-core/tests", "packages/tensor/tests"
RECORDED = f"{TENSOR_TESTS}/test_recorded_cases.py"

#: What is mutated, and the tests that shall notice.
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rules": (
        (f"{TENSOR}/rules/*.py", f"{TENSOR}/*/rules/*.py", f"{TENSOR}/*/rules.py"),
        (f"{TENSOR_TESTS}/rules", f"{TENSOR_TESTS}/linalg", f"{TENSOR_TESTS}/running/test_updates.py",
         f"{TENSOR_TESTS}/control/test_ifelse.py", f"{TENSOR_TESTS}/rows/test_rows.py",
         f"{TENSOR_TESTS}/reduce/test_logsumexp.py",
         RECORDED),
    ),
    "gradients": (
        (f"{CORE}/gradient/*.py", f"{TENSOR}/linalg/gradients.py", f"{TENSOR}/index/basic.py",
         f"{TENSOR}/elemwise/op.py", f"{TENSOR}/reduce/careduce.py"),
        (f"{CORE_TESTS}/gradient", f"{TENSOR_TESTS}/test_every_op.py", f"{TENSOR_TESTS}/linalg",
         f"{TENSOR_TESTS}/index/test_index.py", f"{TENSOR_TESTS}/reduce/test_reduce.py",
         f"{TENSOR_TESTS}/elemwise/test_elemwise.py",
         f"{TENSOR_TESTS}/reduce/test_axes.py", f"{TENSOR_TESTS}/test_known.py", RECORDED),
    ),
    "shapes": (
        (f"{TENSOR}/shape/*.py", f"{TENSOR}/index/lengths.py", f"{TENSOR}/shape/rules/shapes.py",
         f"{TENSOR}/shape/rules/lengths.py"),
        (f"{TENSOR_TESTS}/rules", f"{TENSOR_TESTS}/test_every_op.py", f"{TENSOR_TESTS}/index/test_index.py",
         f"{TENSOR_TESTS}/shape/test_shape.py", f"{TENSOR_TESTS}/shape/test_shape_forms.py",
         f"{TENSOR_TESTS}/reduce/test_axes.py",
         f"{TENSOR_TESTS}/test_known.py", f"{TENSOR_TESTS}/test_cases.py", RECORDED),
    ),
    "updates": (
        (f"{CORE}/runtime/updates.py", f"{CORE}/compile/pack.py", f"{CORE}/compile/shared.py", f"{CORE}/updates.py"),
        (f"{CORE_TESTS}/compile", f"{CORE_TESTS}/runtime", f"{TENSOR_TESTS}/running/test_updates.py",
         f"{TENSOR_TESTS}/running/test_arguments.py", f"{TENSOR_TESTS}/plans",
         f"{TENSOR_TESTS}/test_recorded_plans.py"),
    ),
    "memory": (
        (f"{CORE}/graph/aliasing.py", f"{CORE}/compile/aliasing.py", f"{CORE}/runtime/resource_limits.py",
         f"{TENSOR}/rules/inplace.py", f"{CORE}/runtime/program.py"),
        (f"{CORE_TESTS}/graph", f"{CORE_TESTS}/compile", f"{CORE_TESTS}/runtime",
         f"{TENSOR_TESTS}/running/test_updates.py",
         f"{TENSOR_TESTS}/rules", RECORDED, f"{TENSOR_TESTS}/test_recorded_plans.py"),
    ),
    "cache": (
        (f"{CORE}/cache/*.py", f"{CORE}/compile/key.py", f"{CORE}/compile/program_cache.py",
         f"{CORE}/compile/program_source.py", f"{CORE}/runtime/serialized.py", f"{CORE}/codegen/key.py"),
        (f"{CORE_TESTS}/cache", f"{CORE_TESTS}/codegen", f"{TENSOR_TESTS}/plans"),
    ),
}  # fmt: skip

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

#: Seconds: of tests for one mutant as they took before, and of a mutant altogether.
BUDGET, PATIENCE = 60.0, 240.0


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


@dataclass(frozen=True)
class Reach:
    """What each test took, and which of them reach a line."""

    seconds: dict[str, float]
    lines: dict[tuple[str, int], frozenset[str]]

    def tests(self, mutant: Mutant, lines: range) -> list[str]:
        """Return the tests for a statement, the quickest first, as many as the budget allows."""
        reaching = (self.lines.get((mutant.path, line), frozenset()) for line in lines)
        found = frozenset().union(*reaching) & self.seconds.keys()
        group = [test for test in self.seconds if test.startswith(GROUPS[mutant.group][1])]
        chosen: list[str] = []
        total = 0.0
        for test in sorted(found or group, key=lambda t: self.seconds[t]):
            total += self.seconds[test]
            if total > BUDGET:
                break
            chosen.append(test)
        return chosen


# -- what is mutated ---------------------------------------------------------------------------------------------------


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
    """Return from where to where go annotations, and the ``strict`` of ``zip``: an assertion that lengths agree."""
    found = []
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "zip":
            parts += [keyword.value for keyword in node.keywords if keyword.arg == "strict"]
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


def first_elements(tree: ast.Module) -> set[tuple[int, int]]:
    """Return where the 0 of an index ``[0]`` stands: ``[-1]`` is the same where there is one element."""
    indices = (node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript))
    return {(i.lineno, i.col_offset) for i in indices if isinstance(i, ast.Constant) and i.value == 0}


def mutants(group: str, path: str, source: str) -> Iterator[Mutant]:
    """Yield each change of a module that is worth a test."""
    tree = ast.parse(source)
    silent, parts, firsts = silent_lines(tree), silent_parts(tree), first_elements(tree)
    nodes = list(ast_nodes(get_ast(source)))
    for name in OPERATORS:
        operator = plugins.get_operator(f"core/{name}")()
        positions = [at for node in nodes for at, _ in operator.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(positions):
            if line in silent or any(a <= (line, column) < b for a, b in parts):
                continue
            # A number is made larger by one first, then smaller.
            is_smaller = name == "NumberReplacer" and positions[occurrence - 1] == (line, column)
            if not (is_smaller and (line, column) in firsts):
                yield Mutant(group, path, name, occurrence, line, column)


def sample(groups: list[str], count: int, rng: random.Random) -> list[Mutant]:
    """Return some mutants, as many of each group, at most one at a place."""
    chosen: list[Mutant] = []
    for group in groups:
        places: dict[tuple[str, int, int], list[Mutant]] = {}
        for path in sorted({p for pattern in GROUPS[group][0] for p in ROOT.glob(pattern)}):
            name = path.relative_to(ROOT).as_posix()
            for mutant in mutants(group, name, path.read_text(encoding="utf-8")):
                places.setdefault((name, mutant.line, mutant.column), []).append(mutant)
        share = min(len(places), -(-count // len(groups)))
        chosen += [rng.choice(places[place]) for place in sorted(rng.sample(sorted(places), share))]
    return chosen


# -- a tree of its own for each worker ---------------------------------------------------------------------------------


class Tree:
    """A copy of the repository whose sources come first on Python's path."""

    def __init__(self, folder: Path):
        self.folder = folder
        ignored = shutil.ignore_patterns(".git", ".nox", "build", "__pycache__", "_build", ".hypothesis", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
        sources = [str(folder / "packages" / layer / "src") for layer in LAYERS]
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sources),
            # A mutant is written and restored within the resolution of a file's date.
            "PYTHONDONTWRITEBYTECODE": "1",
            "THEANO_FLAGS": f"base_compiledir={folder}/cache",
        }

    def pytest(self, *arguments: str, patience: float | None = None) -> int | None:
        """Run tests here; return pytest's status, or None where it had to be ended."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            return process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def reach(self, groups: list[str], jobs: int) -> Reach:
        """Run the tests of some groups as they are, several at a time, and note who reaches what."""
        notes, data, settings = (self.folder / name for name in ("tests.jsonl", "tests.coverage", "coverage.toml"))
        self.environment["COVERAGE_FILE"] = str(data)
        sources = sorted({str((self.folder / pattern).parent) for group in groups for pattern in GROUPS[group][0]})
        # Processes that tests start say in their context which test that was; pytest names it in the environment.
        settings.write_text(
            f"[tool.coverage.run]\nsource = {json.dumps(sources)}\n"
            'parallel = true\npatch = ["subprocess", "_exit"]\ncontext = "${PYTEST_CURRENT_TEST-}"\n'
        )
        tests = sorted({test for group in groups for test in GROUPS[group][1]})
        self.pytest("-n", str(jobs), f"--report-log={notes}", "--cov", f"--cov-config={settings}", "--cov-context=test",
                    "--cov-report=", *tests)  # fmt: skip
        reports = [json.loads(line) for line in notes.read_text().splitlines()]
        calls = [r for r in reports if r.get("$report_type") == "TestReport"]
        for failed in sorted({r["nodeid"] for r in calls if r["outcome"] == "failed"}):
            print(f"left out, since it fails in a copy without any mutant: {failed}", flush=True)
        passed = [r for r in calls if r["when"] == "call" and r["outcome"] == "passed"]
        seconds = {r["nodeid"]: float(r["duration"]) for r in passed}
        found = coverage.CoverageData(str(data))
        found.read()
        lines: dict[tuple[str, int], frozenset[str]] = {}
        for file in found.measured_files():
            path = Path(file).relative_to(self.folder).as_posix()
            for line, contexts in found.contexts_by_lineno(file).items():
                lines[path, line] = frozenset(_test_of(context) for context in contexts)
        return Reach(seconds, lines)

    def catches(self, mutant: Mutant, reach: Reach) -> bool:
        """Tell whether a test fails with a mutant in place."""
        path = self.folder / mutant.path
        original = path.read_text(encoding="utf-8")
        tests = reach.tests(mutant, statement(ast.parse(original), mutant.line))
        chosen = self.folder / "tests.txt"
        chosen.write_text("\n".join(tests))
        try:
            path.write_text(mutant.code(original), encoding="utf-8")
            return self.pytest("-x", f"@{chosen}", patience=PATIENCE) != 0
        finally:
            path.write_text(original, encoding="utf-8")


def _test_of(context: str) -> str:
    """Return the test that a context is: ``test|run`` in pytest's process, ``test (call)`` in one that it started.

    Examples
    --------
    >>> _test_of("a.py::test|run"), _test_of("a.py::test (call)"), _test_of("a.py::test (call)|")
    ('a.py::test', 'a.py::test', 'a.py::test')
    """
    return re.sub(r" \(\w+\)$", "", context.partition("|")[0])


# -- the report --------------------------------------------------------------------------------------------------------


def changed_line(mutant: Mutant) -> tuple[str, str]:
    """Return the line of a mutant before and after."""
    original = (ROOT / mutant.path).read_text(encoding="utf-8")
    before, after = original.splitlines(), mutant.code(original).splitlines()
    at = next(k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    return before[at].strip(), after[at].strip()


def reasons() -> dict[tuple[str, str, str], str]:
    """Return why some mutants cannot be told from the original."""
    entries = tomllib.loads(REASONS.read_text(encoding="utf-8")).get("equivalent", [])
    return {(e["path"], e["line"], e["mutant"]): e["reason"] for e in entries}


def main(arguments: list[str] | None = None) -> int:
    """Make mutants, and say which of them survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many mutants in all")
    parser.add_argument("--seed", type=int, default=None, help="which ones; the clock decides where it is not given")
    parser.add_argument("--group", nargs="+", choices=sorted(GROUPS), default=sorted(GROUPS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    seed = asked.seed if asked.seed is not None else time.time_ns() % 2**31
    print(f"seed {seed}", flush=True)
    known = reasons()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(asked.jobs) as pool:
        trees = list(pool.map(lambda k: Tree(Path(scratch) / str(k)), range(asked.jobs)))
        free = list(trees)

        def in_a_tree(mutant: Mutant) -> bool:
            tree = free.pop()
            try:
                return tree.catches(mutant, reach)
            finally:
                free.append(tree)

        print("tests as they are ...", flush=True)
        reach = trees[0].reach(asked.group, asked.jobs)
        chosen = sample(asked.group, asked.count, random.Random(seed))
        caught = list(tqdm(pool.map(in_a_tree, chosen), "mutants", len(chosen)))
    survivors = [m for m, was in zip(chosen, caught, strict=True) if not was]
    excused = [m for m in survivors if (m.path, *changed_line(m)) in known]
    for m in survivors:
        if m not in excused:
            before, after = changed_line(m)
            print(f"survived: {m.path}:{m.line} {m.operator}\n    - {before}\n    + {after}")
    total, left = Counter(m.group for m in chosen), Counter(m.group for m in survivors if m not in excused)
    for group in asked.group:
        print(f"{group}: {total[group]} mutants, {left[group]} survived")
    counted = len(chosen) - len(excused)
    alive = sum(left.values())
    print(f"{counted - alive} of {counted} caught, {len(excused)} more cannot be told from the original")
    return 1 if alive * 20 > counted else 0


if __name__ == "__main__":
    sys.exit(main())

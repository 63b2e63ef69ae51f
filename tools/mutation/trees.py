"""Copies of the repository: in each of them one mutant at a time is written, and tests are run."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutation import groups
from mutation.changes import Mutant, statement
from mutation.reach import Reach, Run, batches, in_order, within

SCRIPT = str(Path(__file__).with_name("chosen.py"))
#: The plugin of Hypothesis takes half a second to import; its tests run without, too.
LIGHT = ("-p", "no:hypothesispytest")
TOO_LONG = "too long"
NOTHING_WENT_WRONG = (0, 1, 5)  # pytest's statuses: tests passed, some failed, there are none


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the stage that caught it, "short", "whole" or "", and how."""

    caught: str
    test: str
    #: Seconds in all, how many tests there were for it, and whether some of them did not fit into the budget.
    seconds: float
    tests: int
    is_cut: bool


class Tree:
    """A copy of the repository whose sources come first on Python's path."""

    def __init__(self, folder: Path, cache: Path):
        self.folder = folder
        ignored = shutil.ignore_patterns(".git", ".nox", "build", "__pycache__", "_build", ".hypothesis", "*.egg-info")
        shutil.copytree(groups.ROOT, folder, ignore=ignored, symlinks=True)
        sources = [str(folder / "packages" / layer / "src") for layer in groups.LAYERS]
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"},
            "PYTHONPATH": os.pathsep.join(sources),
            # A mutant is written and restored within the resolution of a file's date.
            "PYTHONDONTWRITEBYTECODE": "1",
            "THEANO_FLAGS": f"base_compiledir={cache}",
        }

    def pytest(self, *arguments: str, patience: float | None = None, **variables: str) -> int | None:
        """Run tests here; return pytest's status, or None where it had to be ended."""
        command = [sys.executable, SCRIPT, "-q", "-p", "no:cacheprovider", *arguments]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment | variables, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            return process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def judge(self, mutant: Mutant, reach: Reach, cases: str, budget: float) -> Verdict:
        """Ask the tests of the short run, then the others, whether they notice a mutant."""
        path = self.folder / mutant.path
        original = path.read_text(encoding="utf-8")
        lines = statement(ast.parse(original), mutant.line)
        start, asked, is_cut = time.monotonic(), 0, False
        try:
            path.write_text(mutant.code(original), encoding="utf-8")
            for stage, which in (("short", cases), ("whole", "all")):
                seconds = reach.tests(stage, mutant, lines)
                tests = within(in_order(seconds, groups.GROUPS[mutant.group][1]), seconds, budget)
                asked += len(tests)
                is_cut = is_cut or len(tests) < len(seconds)
                for batch in batches(tests):
                    # The tests took so long beside others; alone with a mutant, more may have to be compiled.
                    patience = 90 + 4 * sum(seconds[test] for test in batch)
                    failed = self.failing(batch, which, "-x", patience=patience)
                    if failed == [TOO_LONG] and stage == "whole":  # its seconds were an estimate
                        is_cut = True
                    elif failed:
                        return Verdict(stage, failed[0], time.monotonic() - start, asked, is_cut)
        finally:
            path.write_text(original, encoding="utf-8")
        return Verdict("", "", time.monotonic() - start, asked, is_cut)

    def failing(self, tests: list[str], cases: str, *options: str, patience: float | None = None) -> list[str]:
        """Return those of some tests that fail, or what else went wrong."""
        chosen, log = self.folder / "chosen.txt", self.folder / "chosen.jsonl"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        log.unlink(missing_ok=True)
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        status = self.pytest(*options, f"--chosen={chosen}", f"--report-log={log}", "--cases", cases, *LIGHT, *files,
                             patience=patience)  # fmt: skip
        if status in (0, 5):
            return []
        reports = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
        failed = [report["nodeid"] for report in reports if report.get("outcome") == "failed"]
        return failed or [TOO_LONG if status is None else f"pytest's status {status}"]


# -- who reaches what --------------------------------------------------------------------------------------------------


def digest(*more: str) -> str:
    """Return a digest of all that decides which tests reach what: sources, tests, and what else is named."""
    state = hashlib.sha256(json.dumps(more).encode())
    found = [p for layer in groups.LAYERS for p in (groups.ROOT / "packages" / layer).rglob("*")]
    found += [groups.ROOT / "conftest.py", groups.ROOT / "pyproject.toml", groups.ROOT / "tools" / "portion.py"]
    for path in sorted(found):
        inner = path.relative_to(groups.ROOT)
        if path.is_file() and path.suffix not in (".pyc", ".so") and "build" not in inner.parts:
            state.update(f"{inner}\0".encode() + path.read_bytes())
    return state.hexdigest()


def tried_in_part(files: Iterable[str]) -> frozenset[str]:
    """Return those files of tests that import tools/portion.py, or a helper that does."""
    paths = [p for layer in groups.LAYERS for p in (groups.ROOT / "packages" / layer / "tests").rglob("*.py")]
    texts = {p: p.read_text(encoding="utf-8") for p in {*paths, *(groups.ROOT / file for file in files)}}
    modules, before = {"portion"}, set[str]()
    while modules != before:
        before = set(modules)
        imports = re.compile(rf"^\s*(?:from|import) (?:\w+\.)*(?:{'|'.join(modules)})\b", re.MULTILINE)
        dependent = {p for p, text in texts.items() if imports.search(text)}
        modules |= {p.stem for p in dependent if p.stem not in ("conftest", "__init__")}
    return frozenset(file for file in files if groups.ROOT / file in dependent)


class Measurement:
    """A run of the tests as they are, of which all that it notes stays in a folder."""

    def __init__(self, tree: Tree, folder: Path, tests: list[str], cases: str, jobs: int):
        self.tree, self.folder, self.cases, self.jobs = tree, folder, cases, jobs
        self.tests = [test for test in tests if (groups.ROOT / test).exists()]
        self.settings = folder / "coverage.toml"
        patterns = [str(tree.folder / pattern) for pattern in groups.patterns()]
        self.settings.write_text(
            f"[tool.coverage.run]\ninclude = {json.dumps(patterns)}\n"
            'parallel = true\npatch = ["_exit"]\ncontext = "${PYTEST_CURRENT_TEST-}"\n'
        )
        # A process that a test starts says in its context which test that is: pytest has named it in the environment.
        # The patch for this of coverage.py keeps the context of the first process, and needs a file in site-packages.
        on_start = folder / "on_start" / "sitecustomize.py"
        on_start.parent.mkdir(exist_ok=True)
        on_start.write_text(
            'import os\n\nif "PYTEST_CURRENT_TEST" in os.environ:\n    import coverage\n\n'
            f'    os.environ["COVERAGE_PROCESS_START"] = {str(self.settings)!r}\n    coverage.process_startup()\n'
        )
        self.path = os.pathsep.join([str(on_start.parent), tree.environment["PYTHONPATH"]])

    def reach(self) -> Reach:
        """Trace the short run where that has not been done yet, and return who reaches what."""
        layers = self._by_layer(self.tests)
        short = Run(self.tree.folder, [self._run(f"short-{k}", tests) for k, tests in enumerate(layers)])
        whole = frozenset(test for k, tests in enumerate(layers) for test in self._collect(f"whole-{k}", tests))
        files = {test.partition("::")[0] for test in whole}
        return Reach(short, whole, tried_in_part(files))

    @staticmethod
    def _by_layer(tests: Iterable[str]) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for test in tests:
            found.setdefault(groups.layer_of(test), []).append(test)
        return list(found.values())

    def _collect(self, name: str, tests: list[str]) -> list[str]:
        """Return the ids of the tests that the whole run has."""
        collected = self.folder / f"{name}.txt"
        if not collected.exists():
            given = ("--cases", "all", *tests)
            status = self.tree.pytest("--collect-only", "--continue-on-collection-errors", f"--collected={collected}",
                                      *LIGHT, *given)  # fmt: skip
            _check(status, given)
        return collected.read_text(encoding="utf-8").split("\n")

    def _run(self, name: str, tests: list[str]) -> Path:
        """Return the notes of some tests: a file of reports, and beside it what coverage.py has found."""
        notes = self.folder / f"{name}.jsonl"
        if notes.exists():
            return notes
        print(f"{name}: {tests[0]}{' ...' if tests[1:] else ''}", flush=True)
        for stale in self.folder.glob(f"{name}.*"):
            stale.unlink()
        unfinished = notes.with_suffix(".unfinished")
        given = ("--cases", self.cases, *tests)
        status = self.tree.pytest(
            *("-n", str(self.jobs), "--continue-on-collection-errors", f"--report-log={unfinished}"),
            *("--cov", f"--cov-config={self.settings}", "--cov-context=test", "--cov-report=", *given),
            COVERAGE_FILE=str(notes.with_suffix(".coverage")), PYTHONPATH=self.path,
        )  # fmt: skip
        _check(status, given)
        return unfinished.rename(notes)


def _check(status: int | None, given: tuple[str, ...]) -> None:
    if status not in NOTHING_WENT_WRONG:
        raise SystemExit(f"pytest ended with status {status}: pytest {' '.join(given)}")

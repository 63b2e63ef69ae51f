"""Which tests reach a line, and in which order a mutant of that line meets them."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import coverage

from mutation import groups
from mutation.changes import Mutant, runs_on_import, statement

#: Files of tests that a mutant meets first. Most are caught there, and to import all files takes longer than that.
FIRST_FILES = 4
#: How many cases of a function of the group's tests come before tests of other groups.
MORE_CASES = 8
#: The context of what runs on import, while no test does.
ON_IMPORT = ""
#: Seconds that a slow test is taken to last.
UNKNOWN = 5.0


@dataclass
class Run:
    """What a run of tests has noted: seconds of those that passed, and who reaches a line."""

    root: Path
    notes: list[Path]
    seconds: dict[str, float] = field(default_factory=dict)
    #: All tests and files of which there is a report.
    known: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    lines: dict[tuple[str, int], set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for notes in self.notes:
            reports = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
            self.known |= {r["nodeid"] for r in reports if "nodeid" in r}
            self.failed |= {r["nodeid"] for r in reports if r.get("outcome") == "failed"}
            calls = [r for r in reports if r.get("$report_type") == "TestReport"]
            passed = {r["nodeid"] for r in calls if r["when"] == "call" and r["outcome"] == "passed"} - self.failed
            for r in calls:
                if r["nodeid"] in passed:
                    self.seconds[r["nodeid"]] = self.seconds.get(r["nodeid"], 0.0) + float(r["duration"])

    def look_up(self, wanted: dict[str, set[int]]) -> None:
        """Read who reaches some lines of some files, and no more: a line can have thousands of contexts."""
        for notes in self.notes:
            found = coverage.CoverageData(str(notes.with_suffix(".coverage")))
            found.read()
            for path, lines in wanted.items():
                for line, contexts in found.contexts_by_lineno(str(self.root / path)).items():
                    if line in lines:
                        self.lines.setdefault((path, line), set()).update(map(sys.intern, contexts))

    def reaching(self, path: str, lines: Iterable[int], asked_on_import: Iterable[str]) -> set[str]:
        """Return the tests that reach one of some lines.

        What a fixture does is noted for the test that came first, so all tests of that file count. What runs on import
        is noted for nobody.
        """
        found: set[str] = set()
        contexts = {context for line in lines for context in self.lines.get((path, line), ())}
        files = {test.partition("::")[0] for context in contexts for test, when in [parts(context)] if when == "setup"}
        if not contexts or any(parts(context)[0] == ON_IMPORT for context in contexts):
            found.update(asked_on_import)
        found.update(parts(context)[0] for context in contexts)
        found.update(test for test in self.seconds if test.partition("::")[0] in files)
        return found & self.seconds.keys()


@dataclass
class Reach:
    """The tests of the short run that reach a line, and those of the whole run that may.

    Only the short run is traced. The whole run has other cases of its functions, and slow tests beside them. An id can
    stand for one case in the whole run and for another in the short one, and a test can try more in the whole one.
    """

    short: Run
    #: The ids of the whole run.
    whole: frozenset[str]
    #: The files of tests that depend on the part of the cases that a run tries.
    files: frozenset[str]
    #: The mutants whose lines run on import, which can be before coverage.py starts in a process.
    on_import: set[tuple[str, int]] = field(default_factory=set)

    def look_up(self, mutants: Iterable[Mutant]) -> None:
        """Read who reaches the statements of some mutants."""
        wanted: dict[str, set[int]] = defaultdict(set)
        trees: dict[str, ast.Module] = {}
        for m in mutants:
            if m.path not in trees:
                trees[m.path] = ast.parse((groups.ROOT / m.path).read_text(encoding="utf-8"))
            wanted[m.path].update(statement(trees[m.path], m.line))
            if runs_on_import(trees[m.path], m.line):
                self.on_import.add((m.path, m.line))
        self.short.look_up(wanted)

    def leave_out(self, tests: set[str]) -> None:
        """Ask some tests about no mutant from now on."""
        for test in tests:
            self.short.seconds.pop(test, None)
        self.whole -= tests

    def tests(self, stage: str, mutant: Mutant, lines: range) -> dict[str, float]:
        """Return the tests that a stage has for some lines, with their seconds: "short", or "whole" for the others.

        The seconds of tests of the whole run are estimates: those of the function's slowest case, or `UNKNOWN`.
        """
        group = [test for test in self.short.seconds if test.startswith(groups.GROUPS[mutant.group][1])]
        reaching = self.short.reaching(mutant.path, lines, group)
        reaching.update(group if (mutant.path, mutant.line) in self.on_import else ())
        seconds = {test: self.short.seconds[test] for test in reaching}
        if stage == "short":
            return seconds
        slowest: dict[str, float] = {}
        for test, its in seconds.items():
            slowest[function_of(test)] = max(its, slowest.get(function_of(test), 0.0))
        reached, known = {test.partition("::")[0] for test in seconds}, set(map(function_of, self.short.known))
        found = {}
        for test in self.whole:
            file, function = test.partition("::")[0], function_of(test)
            is_new = test not in self.short.known or file in self.files
            if is_new and (function in slowest or (file in reached and function not in known)):
                found[test] = slowest.get(function, UNKNOWN)
        return found


def function_of(test: str) -> str:
    """Return the id of a test without its case."""
    return test.partition("[")[0]


def parts(context: str) -> tuple[str, str]:
    """Return the test of a context, and what it was at: pytest-cov's, or those of a process that a test started.

    Examples
    --------
    >>> parts("a.py::test|run"), parts("a.py::test (call)"), parts("a.py::test (setup)|")
    (('a.py::test', 'run'), ('a.py::test', 'call'), ('a.py::test', 'setup'))
    """
    test, _, when = context.partition("|")
    named = re.fullmatch(r"(.*) \((\w+)\)", test, re.DOTALL)
    return (named[1], named[2]) if named else (test, when)


def in_order(tests: dict[str, float], preferred: tuple[str, ...]) -> list[str]:
    """Return tests so that a failure comes early: some cases of the group's functions, one of others, then the rest.

    Examples
    --------
    >>> in_order({"a.py::f[1]": 0.2, "a.py::f[2]": 0.1, "b.py::g": 0.3, "c.py::h": 9.0, "c.py::h[2]": 9.5}, ("c.py",))
    ['c.py::h', 'c.py::h[2]', 'a.py::f[2]', 'b.py::g', 'a.py::f[1]']
    """
    ranks: dict[str, int] = defaultdict(int)
    keys = {}
    for test in sorted(tests, key=lambda t: (tests[t], t)):
        function, is_near = function_of(test), test.startswith(preferred)
        rank = ranks[function]
        first = (0 if rank == 0 else 1 if rank < MORE_CASES else 3) if is_near else (2 if rank == 0 else 4)
        keys[test] = first, rank, tests[test]
        ranks[function] += 1
    return sorted(keys, key=lambda t: keys[t])


def within(tests: Iterable[str], seconds: dict[str, float], budget: float) -> list[str]:
    """Return as many of the first tests as the budget allows; one that does not fit is left out."""
    chosen: list[str] = []
    for test in tests:
        if seconds[test] <= budget:
            budget -= seconds[test]
            chosen.append(test)
    return chosen


def batches(tests: list[str]) -> Iterator[list[str]]:
    """Yield the tests for one process after the other: those of the first files, then those of each layer.

    Modules of tests of two layers can have one name. In a batch, the tests of a file stay together: many share what a
    fixture has made.

    Examples
    --------
    >>> list(batches(["p/a/x.py::f", "p/b/x.py::f", "p/a/y.py::f", "p/a/x.py::g"]))
    [['p/a/x.py::f', 'p/a/x.py::g', 'p/a/y.py::f'], ['p/b/x.py::f']]
    """
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    found: dict[tuple[bool, str], list[str]] = {}
    first = next(iter(files), "")
    near = [file for file in files if groups.layer_of(file) == groups.layer_of(first)][:FIRST_FILES]
    for file, its in files.items():
        found.setdefault((file in near, groups.layer_of(file)), []).extend(its)
    yield from found.values()

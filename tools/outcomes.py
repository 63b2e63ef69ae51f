"""A report of each command of pytest: outcomes and seconds of its tests, and what repeats one of them.

``tools/run.py`` names a folder in THEANO_TEST_REPORTS. Sessions of nox run pytest by `run_pytest`, which begins a file
of JSON lines in that folder. The hooks of this module add to it: ``conftest.py`` loads them as a plugin where
THEANO_TEST_REPORT names a file. `read` returns what a file says. Without the folder nothing is written, and a failed
test fails its session.

The plugin comes from ``conftest.py`` because ``-p`` would need this folder on PYTHONPATH, where processes that tests
start would find it, too.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER, REPORT = "THEANO_TEST_REPORTS", "THEANO_TEST_REPORT"
#: Lines that are kept of what pytest says of a failure; the end names the error.
LINES = 60


@dataclass(frozen=True)
class Outcome:
    """What a test came to: "passed", "failed", "skipped" or "xfailed", and the last lines if it failed."""

    outcome: str
    seconds: float
    said: tuple[str, ...] = ()


@dataclass
class Command:
    """What a command of pytest ran, as its report has it.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = begin(Path(folder), "tests(scalar)", {"THEANO_FLAGS": "cpu_level=v3"})
    ...     _ = _add(path, {"test": "a.py::test_a", "outcome": "failed", "seconds": 0.5, "said": ["assert 1 == 2"]})
    ...     _ = _add(path, {"status": 1, "collected": 1, "finished": 1})
    ...     command = read(path)
    >>> command.session, command.failed(), command.only_tests_failed()
    ('tests(scalar)', ['a.py::test_a'], True)
    """

    session: str = ""
    env: dict[str, str | None] = field(default_factory=dict)
    python: str = sys.executable
    folder: str = "."
    root: str = "."
    options: list[str] = field(default_factory=list)
    tests: dict[str, Outcome] = field(default_factory=dict)
    #: What could not be collected, and the last lines of that.
    uncollected: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The exit status; None if pytest has died.
    status: int | None = None
    collected: int = 0
    finished: int = 0

    def failed(self) -> list[str]:
        """Return the ids of the tests that failed."""
        return [name for name, test in self.tests.items() if test.outcome == "failed"]

    def only_tests_failed(self) -> bool:
        """Tell whether the report accounts for exit status 1: each test was run, and some have failed."""
        is_whole = self.finished >= self.collected and not self.uncollected
        return self.status == 1 and is_whole and bool(self.failed())

    def targets(self) -> dict[str, list[str]]:
        """Return what has to be run to repeat the failed tests, each with their ids.

        In a file that is no Python each block stands on those before, so it is repeated as a whole.

        Examples
        --------
        >>> failed = Outcome("failed", 0.1)
        >>> Command(tests={"a.py::test[x]": failed, "b.md::1": failed, "b.md::2": failed}).targets()
        {'a.py::test[x]': ['a.py::test[x]'], 'b.md': ['b.md::1', 'b.md::2']}
        """
        found: dict[str, list[str]] = {}
        for name in self.failed():
            path = name.partition("::")[0]
            found.setdefault(name if path.endswith(".py") else path, []).append(name)
        return found

    def again(self, target: str) -> list[str]:
        """Return the command that runs one test, or one file, as this command ran it."""
        # A path of pathlib would leave out a part of an id like "a//b".
        return [self.python, "-m", "pytest", *self.options, os.path.join(self.root, target)]

    def environment(self, report: Path) -> dict[str, str]:
        """Return the environment variables for `again`, with a report of its own."""
        whole = {**os.environ, **self.env, REPORT: str(report)}
        return {name: value for name, value in whole.items() if value is not None}


def begin(folder: Path, session: str, env: Mapping[str, str | None]) -> Path:
    """Begin a report of a command that a session starts with some environment variables, and return its path."""
    handle, name = tempfile.mkstemp(".jsonl", "tests-", folder)
    os.close(handle)
    return _add(Path(name), {"session": session, "env": dict(env)})


def _add(path: Path, line: dict[str, Any]) -> Path:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return path


def read(path: Path) -> Command:
    """Return what a report says; of a process that was killed, what it had written."""
    command = Command()
    for text in path.read_text("utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue  # the last line of a process that was killed
        said = tuple(line.pop("said", ()))
        if "test" in line:
            name, before = line["test"], command.tests.get(line["test"])
            if before is None or before.outcome != "failed":
                command.tests[name] = Outcome(line["outcome"], line["seconds"], said)
        elif "uncollected" in line:
            command.uncollected[line["uncollected"]] = said
        else:
            vars(command).update(line)
    return command


# -- in a session of nox -----------------------------------------------------------------------------------------------


def run_pytest(session: Any, *arguments: str, env: Mapping[str, str] | None = None) -> None:
    """Run pytest in a session of nox.

    If only tests have failed and ``tools/run.py`` wants a report, the session goes on: at the end these tests are run
    once more, which decides. A crash, an error of collection or an empty collection fails the session at once.
    """
    folder = os.environ.get(FOLDER)
    command = ("python", "-m", "pytest", *arguments)
    if not folder:
        session.run(*command, env=env)
        return
    path = begin(Path(folder), session.name, _added(session, env or {}))
    session.run(*command, env={**(env or {}), REPORT: str(path)}, success_codes=[0, 1])
    report = read(path)
    if report.only_tests_failed():
        session.log(f"{len(report.failed())} tests failed: they run once more when all sessions have ended")
    elif report.status != 0:
        session.error(f"{' '.join(command)} failed with exit code 1, and not only by tests that could be repeated")


def _added(session: Any, env: Mapping[str, str]) -> dict[str, str | None]:
    """Return the environment variables that nox and a session set, or remove, for a command."""
    path = os.pathsep.join([*map(str, session.bin_paths or ()), os.environ.get("PATH", os.defpath)])
    whole = {**session.env, "PATH": path, **env}
    return {name: value for name, value in whole.items() if os.environ.get(name) != value}


# -- in pytest ---------------------------------------------------------------------------------------------------------


def pytest_configure(config: Any) -> None:
    """Write a report if one is wanted; processes that tests start do not see that."""
    path = os.environ.pop(REPORT, None)
    if path and not hasattr(config, "workerinput"):  # not in a worker of pytest-xdist
        config.pluginmanager.register(Recorder(config, Path(path)))


class Recorder:
    """The hooks that write a report."""

    def __init__(self, config: Any, path: Path) -> None:
        self.path, self.parts, self.finished, self.session = path, {}, 0, None
        given = config.invocation_params
        places = set(config.option.file_or_dir or ())
        # A test that ran in a worker is repeated in one: there it has another standard input, and its own directory.
        alone = ["-n", "1"] if getattr(config.option, "numprocesses", None) else []
        options = [argument for argument in given.args if argument not in places] + alone
        self.add(python=sys.executable, folder=str(given.dir), root=str(config.rootpath), options=options)

    def add(self, **line: Any) -> None:
        """Write one line."""
        _add(self.path, line)

    def pytest_collectreport(self, report: Any) -> None:
        """Note what cannot be collected, and modules that skip themselves."""
        if report.failed:
            self.add(uncollected=report.nodeid, said=_last_lines(report))
        elif report.skipped:
            self.add(test=report.nodeid, outcome="skipped", seconds=0.0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the outcome of a test after its last part; pytest-xdist says of a crash that it is in no part."""
        parts = self.parts.setdefault(report.nodeid, [])
        parts.append(report)
        if report.when in ("setup", "call"):
            return
        del self.parts[report.nodeid]
        self.finished += 1
        failed = [part for part in parts if part.failed]
        skipped = [part for part in parts if part.skipped]
        outcome = "failed" if failed else "passed"
        if skipped and not failed:
            outcome = "xfailed" if any(hasattr(part, "wasxfail") for part in skipped) else "skipped"
        seconds = round(sum(part.duration for part in parts), 4)
        said = {"said": [line for part in failed for line in _last_lines(part)]} if failed else {}
        self.add(test=report.nodeid, outcome=outcome, seconds=seconds, **said)

    def pytest_sessionfinish(self, session: Any) -> None:
        """Keep the session: plugins may still change its exit status."""
        self.session = session

    def pytest_unconfigure(self) -> None:
        """Note how it ended."""
        if self.session is not None:
            status, collected = int(self.session.exitstatus), self.session.testscollected
            self.add(status=status, collected=collected, finished=self.finished)


def _last_lines(report: Any) -> list[str]:
    return str(report.longreprtext).splitlines()[-LINES:]

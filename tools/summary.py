"""What a run of all checks came to: failed tests are run once more, and the last screen says what matters.

``tools/run.py`` hands over a folder with the reports of nox (``*.json``) and those of pytest (``*.jsonl``, see
`outcomes`), and what the sessions printed. Only Python's standard library is used.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import outcomes

#: So many failed tests are run once more. If more fail, they are not unstable: something is broken.
MOST_REPEATED = 20
#: Failures that are shown, and modules that are shown as slow.
SHOWN, SLOWEST = 20, 10


@dataclass(frozen=True)
class Session:
    """How a session of nox ended; older versions do not say after how long."""

    name: str
    result: str
    seconds: float | None = None


@dataclass(frozen=True)
class Failure:
    """A test that failed: what it said then, and when it was run once more (None where it was not)."""

    session: str
    test: str
    first: tuple[str, ...]
    second: tuple[str, ...] | None = None
    unstable: bool = False


@dataclass
class Checks:
    r"""All that a run of checks has left, and what follows from it.

    Examples
    --------
    >>> passed = outcomes.Outcome("passed", 1.5)
    >>> tests = outcomes.Command("tests", tests={"a.py::test_a": passed, "a.py::test_b": passed})
    >>> checks = Checks([Session("lint", "success", 2.0), Session("tests", "success", 9.5)], [tests])
    >>> print(*checks.screen(""), sep="\n")
    session  result  seconds  passed  failed  skipped
    lint     success     2.0
    tests    success     9.5       2       0        0
    <BLANKLINE>
    slowest modules of tests:
        3.0 s  a.py (tests)
    <BLANKLINE>
    2 passed, 0 failed, 0 skipped
    """

    sessions: list[Session]
    commands: list[outcomes.Command] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def failed(self) -> list[tuple[str, str]]:
        """Return the session and the name of each failure: tests, files not collected, sessions without either."""
        found = [(each.session, each.test) for each in self.failures if not each.unstable]
        found += [(each.session, f"{name} (collection)") for each in self.commands for name in each.uncollected]
        told = {session for session, _ in found}
        ended = [each for each in self.sessions if each.result not in ("success", "skipped")]
        return found + [(each.name, each.result) for each in ended if each.name not in told]

    def counts(self, session: str | None = None) -> dict[str, int]:
        """Return how many tests passed, failed and were skipped, in all or in a session; unstable ones passed."""
        found = Counter(
            test.outcome
            for command in self.commands if session in (None, command.session)
            for test in command.tests.values()
        )  # fmt: skip
        unstable = sum(each.unstable for each in self.failures if session in (None, each.session))
        failed = sum(session in (None, name) for name, _ in self.failed())
        return {
            "passed": found["passed"] + unstable, "failed": failed, "skipped": found["skipped"] + found["xfailed"],
        }  # fmt: skip

    def screen(self, said: str) -> list[str]:
        """Return the lines of the last screen; what nox printed has what a command that failed said last."""
        texts = [line for each in self.failures[:SHOWN] for line in [*_shown(each), ""]]
        lines = [*what_failed(said), *texts, *self._table(), "", *self._slowest()]
        for title, found in (
            ("failed:", self.failed()),
            ("unstable, failed first and passed when run once more:",
             [(each.session, each.test) for each in self.failures if each.unstable]),
        ):  # fmt: skip
            if found:
                more = [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
                lines += [title, *(f"  {session}: {test}" for session, test in found[:SHOWN]), *more, ""]
        return [*lines, ", ".join(f"{number} {what}" for what, number in self.counts().items())]

    def _table(self) -> list[str]:
        """Return a line for each session."""
        with_tests = {command.session for command in self.commands}
        red = {session for session, _ in self.failed()}
        wide = max([len("session"), *(len(each.name) for each in self.sessions)])
        lines = [f"{'session':{wide}}  result  seconds  passed  failed  skipped"]
        for each in self.sessions:
            result = "failed" if each.name in red and each.result == "success" else each.result
            numbers = self.counts(each.name).values() if each.name in with_tests else ()
            seconds = "" if each.seconds is None else f"{each.seconds:.1f}"
            columns = [f"{number:{width}}" for number, width in zip(numbers, (8, 8, 9))]
            lines.append("".join([f"{each.name:{wide}}  {result:7} {seconds:>7}", *columns]).rstrip())
        return lines

    def _slowest(self) -> list[str]:
        """Return a line for each of the modules whose tests took longest."""
        seconds: Counter[tuple[str, str]] = Counter()
        for command in self.commands:
            for name, test in command.tests.items():
                seconds[name.partition("::")[0], command.session] += test.seconds
        lines = [f"{took:7.1f} s  {name} ({session})" for (name, session), took in seconds.most_common(SLOWEST)]
        return ["slowest modules of tests:", *lines, ""] if lines else []


def _shown(failure: Failure) -> list[str]:
    """Return the last lines that a failed test has said, both times."""
    ends = "passed when run once more" if failure.unstable else "failed"
    lines = [f"--- {failure.test} ({failure.session}): {ends}", *failure.first]
    if failure.second and not failure.unstable:
        lines += [f"--- {failure.test} ({failure.session}): failed again", *failure.second]
    return lines


def read(folder: Path, said_failed: tuple[str, ...] = ()) -> Checks:
    """Return what the reports in a folder say, and as failures the processes of nox that failed without saying why."""
    found: dict[str, Session] = {}  # the packages are asked for by each process of nox
    for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime):
        for each in json.loads(path.read_text("utf-8"))["sessions"]:
            name = each["signatures"][0] if each["signatures"] else each["name"]
            if name not in found or each["result"] != "success":
                found[name] = Session(name, each["result"], each.get("duration"))
    sessions = list(found.values())
    if all(each.result in ("success", "skipped") for each in sessions):
        sessions += [Session(name, "failed") for name in said_failed]
    return Checks(sessions, [outcomes.read(path) for path in sorted(folder.glob("*.jsonl"))])


def repeat(checks: Checks, folder: Path) -> None:
    """Run each failed test once more, one after the other, and note in ``failures`` what became of it."""
    wanted = [(command, target) for command in checks.commands for target in command.targets()]
    again = folder / "again"
    again.mkdir()
    for command, target in wanted:
        names, second = command.targets()[target], None
        if len(wanted) <= MOST_REPEATED:
            print(f"once more, alone: {target} ({command.session})", flush=True)
            second = _repeated(command, target, again)
        for name in names:
            checks.failures.append(_failure(command, name, second))
    if len(wanted) > MOST_REPEATED:
        print(f"{len(wanted)} tests failed, more than are run once more ({MOST_REPEATED})", flush=True)


def _repeated(command: outcomes.Command, target: str, folder: Path) -> outcomes.Command:
    """Run a test again, and return the report; the output is passed on."""
    path = outcomes.begin(folder, command.session, command.env)
    done = subprocess.run(
        command.again(target), cwd=command.folder, env=command.environment(path), check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
    )  # fmt: skip
    print(done.stdout, flush=True)
    report = outcomes.read(path)
    report.status = done.returncode
    if done.returncode and not report.failed():
        report.uncollected[target] = tuple(done.stdout.splitlines()[-outcomes.LINES :])
    return report


def _failure(command: outcomes.Command, name: str, again: outcomes.Command | None) -> Failure:
    first = command.tests[name].said
    if again is None:
        return Failure(command.session, name, first)
    test = again.tests.get(name)
    if again.status == 0 and test is not None and test.outcome == "passed":
        return Failure(command.session, name, first, unstable=True)
    said = test.said if test else next(iter(again.uncollected.values()), ())
    outcome = test.outcome if test else "not run"
    said = said or (f"the repetition ended with status {again.status}: {outcome}",)
    return Failure(command.session, name, first, said)


def what_failed(said: str, most: int = 120) -> list[str]:
    r"""Return the last lines of each command of nox that failed, and the traceback of each session that raised.

    Of a long output one often sees the end alone, and what ran beside the tests comes after them.

    >>> said = "nox > pytest\nassert 1 == 2\nnox > Command pytest failed with exit code 1\nnox > mypy\nfine"
    >>> print(*what_failed(said + "\nnox > * tests: failed\nnox > * types: success"), sep="\n")
    assert 1 == 2
    nox > Command pytest failed with exit code 1
    """
    shown, parts = [], [[]]
    # A process that died may not have ended its line.
    for line in re.sub("(.)(nox > Command .* failed with exit code )", r"\1\n\2", said).splitlines():
        if line.startswith("nox > "):
            parts.append([])
        parts[-1].append(line)
    for before, part, after in zip(parts, parts[1:], [*parts[2:], []]):
        head = part[0]
        if head.startswith("nox > * "):
            continue  # nox's own summary
        if " failed with exit code " in head:
            # Where nox hides what a command prints, as of pip, it prints that now.
            shown += [head, *after[-most:]] if head.endswith(":") else [*before[1:][-most:], head]
        elif " raised exception " in head:
            shown += part[-most:]
    return shown

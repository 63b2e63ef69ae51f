"""Run the tests many times under disturbances, to find those whose outcome depends on order, load or environment.

    python tools/unstable.py [RUNS] [--seed N] [--kind KIND] -- [OPTIONS OF PYTEST] packages/LAYER/tests

Each run has a random order that its seed decides (pytest-randomly). A process for each core computes meanwhile. One
run of ten ignores the signals that ``nohup`` and a shell let be ignored of a process in the background, and has no
terminal. Two of ten use instructions of a level below the CPU's own. The table at the end has each failure and the
command that repeats its run: the same order, but which worker takes which test is decided by time.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import outcomes

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".nox" / "unstable-logs"
KINDS = ("load", "level", "nohup")
#: Keeps a core busy, and ends when the process that started it has gone, in whatever way.
LOAD = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    sum(k * k for k in range(100_000))
"""


@dataclass(frozen=True)
class Run:
    """One run of all tests."""

    number: int
    seed: int
    kind: str


@dataclass(frozen=True)
class Finding:
    """A failure of a test, or of a whole run, and what it said last."""

    run: Run
    what: str
    said: tuple[str, ...]


def plan(runs: int, seed: int, kind: str | None = None) -> list[Run]:
    """Return the runs: of ten, two at a lower level and one under ``nohup``, unless all shall be of one kind.

    Examples
    --------
    >>> [run.kind for run in plan(10, 1)]
    ['load', 'load', 'level', 'load', 'nohup', 'load', 'load', 'level', 'load', 'load']
    >>> plan(1, 7, "nohup")
    [Run(number=1, seed=7, kind='nohup')]
    """
    usual = {2: "level", 4: "nohup", 7: "level"}
    return [Run(k + 1, seed + k, kind or usual.get(k % 10, "load")) for k in range(runs)]


def lower_level(level: int) -> str | None:
    """Return the highest level of x86-64 below that of a CPU, or None if there is none.

    Examples
    --------
    >>> lower_level(4), lower_level(3), lower_level(0)
    ('v3', 'baseline', None)
    """
    return "v3" if level >= 4 else "baseline" if level == 3 else None


def own_level() -> int:
    """Return the level of this CPU."""
    from theano.loader.module import cpu_level  # the rest of this module works without the layers

    return int(cpu_level())


@contextmanager
def load(processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep some cores busy."""
    started = [subprocess.Popen([sys.executable, "-c", LOAD, str(os.getpid())]) for _ in range(processes)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


def _signals(handler: signal.Handlers) -> None:
    """Ignore what ``nohup`` and a shell let be ignored, or take it as a terminal's process does."""
    signal.signal(signal.SIGHUP, handler)
    signal.signal(signal.SIGINT, handler)


def run_suite(run: Run, options: list[str], suite: str, level: str | None, logs: Path) -> list[Finding]:
    """Run the tests of one folder, and return what failed; what pytest prints goes to a file."""
    command = [sys.executable, "-m", "pytest", *options, f"--randomly-seed={run.seed}", suite]
    env = dict(os.environ)
    if run.kind == "level" and level:
        env["THEANO_FLAGS"] = ",".join(filter(None, [env.get("THEANO_FLAGS", ""), f"cpu_level={level}"]))
    # Whoever runs this may be in the background itself.
    handler = signal.SIG_IGN if run.kind == "nohup" else signal.SIG_DFL
    signals = {"preexec_fn": lambda: _signals(handler)} if os.name == "posix" else {}
    log = logs / f"{run.number:02}-{suite.replace('/', '-')}.txt"
    with tempfile.TemporaryDirectory() as folder, log.open("w", encoding="utf-8") as printed:
        env[outcomes.REPORT] = str(outcomes.begin(Path(folder), suite, {}))
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT,
            start_new_session=run.kind == "nohup", **signals,
        )
        try:
            status = process.wait()
        finally:
            process.kill()  # where this is interrupted, which a process under nohup is not
        report = outcomes.read(Path(env[outcomes.REPORT]))
    found = [Finding(run, name, report.tests[name].said) for name in report.failed()]
    found += [Finding(run, f"{name} (collection)", said) for name, said in report.uncollected.items()]
    if status and not report.only_tests_failed() and not report.uncollected:
        said = tuple(log.read_text("utf-8", "replace").splitlines()[-outcomes.LINES :])
        found.append(Finding(run, f"{suite}: pytest ended with status {status}", said))
    print(f"  {suite}: {len(report.tests)} tests, {len(found)} failures, {log}", flush=True)
    return found


def table(found: list[Finding], suite: str) -> list[str]:
    r"""Return a line for each failure, by test, and one with the command that repeats its run.

    Examples
    --------
    >>> failure = Finding(Run(3, 12, "level"), "packages/scalar/tests/b.py::test_c", ())
    >>> print(*table([failure], "packages/scalar/tests"), sep="\n")
    run  seed        kind   what failed
      3  12          level  packages/scalar/tests/b.py::test_c
         repeat: nox -s "unstable(scalar)" -- 1 --seed 12 --kind level
    """
    layer = Path(suite).parts[-2:][0]
    lines = ["run  seed        kind   what failed"]
    for each in sorted(found, key=lambda each: (each.what, each.run.number)):
        run = each.run
        lines.append(f"{run.number:3}  {run.seed:<10}  {run.kind:5}  {each.what}")
        lines.append(f'     repeat: nox -s "unstable({layer})" -- 1 --seed {run.seed} --kind {run.kind}')
    return lines


def main(arguments: list[str]) -> int:
    """Run all, print what failed; exit with 1 if anything did."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    given = arguments[split + 1 :]
    parser = argparse.ArgumentParser("unstable.py", description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="?", type=int, default=10, help="how many; 10 by default")
    parser.add_argument("--seed", type=int, help="of the first run, others count up from it; drawn if not given")
    parser.add_argument("--kind", choices=KINDS, help="of all runs; by default some are of each")
    wanted = parser.parse_args(arguments[:split])
    *options, suite = given
    seed = random.SystemRandom().randrange(2**31) if wanted.seed is None else wanted.seed
    runs = [run for run in plan(wanted.runs, seed, wanted.kind) if run.kind != "nohup" or os.name == "posix"]
    level = lower_level(own_level()) if any(run.kind == "level" for run in runs) else None
    LOGS.mkdir(parents=True, exist_ok=True)
    found: list[Finding] = []
    for run in runs:
        how = {"level": f"cpu_level={level}" if level else "no lower level here: load only"}.get(run.kind, run.kind)
        print(f"run {run.number} of {wanted.runs}, seed {run.seed}, {how}", flush=True)
        start = time.perf_counter()
        with load(os.cpu_count() or 1):
            found += run_suite(run, options, suite, level, LOGS)
        print(f"  {time.perf_counter() - start:.0f} s", flush=True)
    for each in found:
        print(f"--- run {each.run.number}, {each.what}", *each.said, "", sep="\n")
    print(*table(found, suite) if found else (f"{len(runs)} runs from seed {seed}, nothing failed",), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

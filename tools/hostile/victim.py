"""Programs that attacks of processes are made on, and how such a process ends.

python -m hostile.victim check SEED COUNT    compile and call some samples
python -m hostile.victim work SEED           compile, call, pickle and sweep until a signal comes
    python -m hostile.victim cache WORD          what ``python -m theano.cache`` does
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import theano
import theano.tensor as T
from hostile import faults
from hostile.finding import Finding, expect
from hostile.samples import SAMPLES, chosen, numbers, same, wanted, wrong_answers
from theano import errors
from theano.cache import command as cache_command
from theano.cache.sweep import sweep

RIGHT, WRONG, REFUSED = 0, 3, 4
LINES = 10  # of an error's message


class End(NamedTuple):
    """How a process ended: its status, what it printed, and whether it had to be killed."""

    status: int
    out: str
    err: str
    hung: bool = False

    @property
    def said(self) -> str:
        """All that it said, for a finding."""
        return f"status {self.status}\n{self.out[-3000:]}\n{self.err[-3000:]}"


def command(*words: object) -> list[str]:
    """Return the command line of a program of this module."""
    return [sys.executable, "-m", "hostile.victim", *map(str, words)]


def ended(arguments: list[str], env: Mapping[str, str] | None = None, limit: float = 90, **options: object) -> End:
    """Run a process to its end."""
    child = subprocess.Popen(
        arguments,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,  # type: ignore[call-overload]
    )
    return end_of(child, limit)


def end_of(child: subprocess.Popen[bytes], limit: float) -> End:
    """Wait for the end of a process."""
    hung = False
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired as late:
        hung = True
        child.kill()
        out, err = late.stdout or b"", late.stderr or b""
        try:
            out, err = child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            pass  # somebody that it left behind holds the pipes
    return End(child.returncode, *(text.decode("utf-8", "backslashreplace") for text in (out, err)), hung)


def hold_to_right(end: End, what: str, *, may_refuse: bool = False) -> None:
    """Raise a finding unless a victim gave the right answers, or (where it may) a short and documented error."""
    expect(not end.hung, f"{what}: no end", end.said)
    expect(end.status >= 0, f"{what}: {_signal(end.status)}", end.said)
    expect(end.status != WRONG, f"{what}: wrong answers", end.said)
    if may_refuse and end.status == REFUSED:
        lines = end.out.split("message:\n", 1)[-1].rstrip().splitlines()
        expect(len(lines) <= LINES, f"{what}: an error of more than {LINES} lines", end.said)
        expect("\0" not in end.out and all(len(line) < 1000 for line in lines), f"{what}: noise in an error", end.said)
        return
    expect(end.status == RIGHT, f"{what}: {_last_class(end.err)}", end.said)


def _signal(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _last_class(err: str) -> str:
    lines = [line for line in err.splitlines() if line[:1].isalpha()]
    return lines[-1].partition(":")[0] if lines else "an unknown error"


def left_behind(grace: float) -> list[str]:
    """Wait for all children of this process to end, those inherited from victims too; return who is left, killed.

    An attacker's process is the parent of what its victims leave behind.
    """
    until = time.monotonic() + grace
    while True:
        _reap()
        alive = _children()
        if not alive:
            return []
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    names = []
    for pid in alive:
        try:
            names.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            os.kill(pid, signal.SIGKILL)
        except (OSError, ProcessLookupError):
            continue
    _reap()
    return names


def _children() -> list[int]:
    """Return the living children of this process."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in listed.read_text().split()] if listed.exists() else []


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def check(seed: int, count: int) -> int:
    """Compile and call some samples; say what was wrong, or which error there was."""
    rng = np.random.default_rng(seed)
    try:
        wrong = wrong_answers(chosen(rng, count), rng)
    except (errors.TheanoError, errors.FlagError) as error:
        print(f"{type(error).__name__}\nmessage:\n{error}")
        return REFUSED
    print("\n".join(wrong) or "right")
    return WRONG if wrong else RIGHT


def work(seed: int) -> int:
    """Do everything that writes, again and again; Ctrl-C ends an operation, which must then work again."""
    rng = np.random.default_rng(seed)
    steps = Steps()
    signal.signal(signal.SIGINT, steps.interrupt)
    print("ready", flush=True)
    for _ in range(1000):
        steps.begin(chosen(rng, 1)[0], numbers(rng), float(rng.integers(1, 10**9)))
        for step in (steps.compile, steps.call, steps.look, steps.store, steps.call, steps.tidy):
            if not steps.done(step):
                print(f"{step.__name__} of {steps.name}: wrong")
                return WRONG
    return RIGHT


class Steps:
    """What a worker does with one function."""

    busy = False

    def begin(self, name: str, x: Any, shift: float) -> None:
        """Take another sample; the number makes it a function of its own."""
        self.name, self.x, self.shift = name, x, shift

    def interrupt(self, number: int, frame: object) -> None:
        """Raise as Ctrl-C does, where Theano is at work."""
        if self.busy:
            self.busy = False
            raise KeyboardInterrupt

    def done(self, step: Callable[[], None]) -> bool:
        """Carry out a step, again where it was interrupted; tell whether it came out right."""
        for _ in range(20):
            try:
                self.busy = True
                step()
                self.busy = False
                return True
            except KeyboardInterrupt:
                print(f"interrupted in {step.__name__}", flush=True)
            except Finding:
                return False
        return False

    def compile(self) -> None:
        """Compile the sample."""
        v = T.dvector("v")
        self.f = theano.function([v], [SAMPLES[self.name](T, v), v + self.shift])

    def call(self) -> None:
        """Call it and compare with NumPy."""
        answer, moved = self.f(self.x)
        expect(same(answer, wanted(self.name, self.x)) and same(moved, self.x + self.shift), "wrong")

    def store(self) -> None:
        """Pickle it and go on with what is read."""
        self.f = pickle.loads(pickle.dumps(self.f))

    def look(self) -> None:
        """Ask for its graph."""
        theano.printing.debugprint(self.f, file="str")
        self.f.copy()

    def tidy(self) -> None:
        """Sweep the cache, so that it loses what is old."""
        sweep(cache_command.configured_settings().directory(), 200_000)


def main(arguments: list[str]) -> int:
    """Run one of the programs."""
    if os.environ.get("HOSTILE_FAULT"):
        faults.plant(os.environ["HOSTILE_FAULT"])
    what, *words = arguments
    if what == "cache":
        return cache_command.main(words)
    return check(int(words[0]), int(words[1])) if what == "check" else work(int(words[0]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

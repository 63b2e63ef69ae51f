"""The child process that attacks, and the parent's end of it.

The child reads seeds, a line each, and answers with a line of JSON. What it prints, and what the libraries in it print,
goes into a file, of which a finding keeps the end.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

from hostile.finding import TOOLS, Finding

PR_SET_CHILD_SUBREAPER = 36
START = 120.0  # seconds until a child is ready
TAIL = 6000  # characters of the child's output that are kept

#: Each kind of attack, with the seconds after which one of it hangs.
KINDS = {
    "graphs": 120, "updates": 60, "arguments": 120, "cache": 180, "compilers": 240, "kills": 180, "threads": 120,
    "pickles": 60, "memory": 120, "names": 60, "big": 300,
}  # fmt: skip


def environment(folder: Path, fault: str = "") -> dict[str, str]:
    """Return the environment of an attacker: nothing of the user's flags, and a cache of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("THEANO_FLAGS", "THEANORC")}
    path = os.pathsep.join(filter(None, [str(TOOLS), kept.get("PYTHONPATH", "")]))
    return {**kept, "PYTHONPATH": path, "THEANO_FLAGS": f"base_compiledir={folder / 'cache'}", "HOSTILE_FAULT": fault}


def attacked(kind: str, seed: int) -> Finding | None:
    """Carry out one attack in this process."""
    try:
        found: Finding | None = importlib.import_module(f"hostile.attacks.{kind}").attack(np.random.default_rng(seed))
    except Finding as finding:
        return finding
    except Exception as error:  # noqa: BLE001  (whatever an attack did not reckon with is a finding)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, {frame.name}"
        return Finding(f"{type(error).__name__} in {where}", traceback.format_exc())
    return found


def repeat(kind: str, seed: int) -> int:
    """Carry out one attack in this process and show what it finds; the exit status."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        os.environ.update(environment(Path(folder)))
        prepare()
        found = attacked(kind, seed)
    print(found or "nothing found")
    return int(found is not None)


def prepare() -> None:
    """Make this process the parent of what its children leave behind, and show where a crash was."""
    faulthandler.enable()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def serve(kind: str, limit: float) -> None:
    """Attack for each seed that comes in."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    prepare()
    fault = os.environ.get("HOSTILE_FAULT")
    if fault:
        from hostile import faults  # theano is imported only if one is wanted

        faults.plant(fault)
    importlib.import_module(f"hostile.attacks.{kind}")
    print("{}", file=answers, flush=True)  # ready
    for line in sys.stdin:
        faulthandler.dump_traceback_later(limit * 0.9)
        found = attacked(kind, int(line))
        faulthandler.cancel_dump_traceback_later()
        answer = {} if found is None else {"what": found.what, "details": found.details}
        print(json.dumps(answer), file=answers, flush=True)


class Attacker:
    """The parent's end: a child that attacks in one way, started when it is needed."""

    def __init__(self, kind: str, folder: Path, fault: str = "", limit: float | None = None) -> None:
        self.kind, self.folder, self.fault = kind, folder, fault
        self.limit = limit or KINDS[kind]
        self.errors = folder / f"{kind}.txt"
        self.child: subprocess.Popen[bytes] | None = None

    def attack(self, seed: int) -> tuple[Finding | None, str]:
        """Return what an attack found, and the end of what the child printed."""
        problem = None if self.child is not None else self._start()
        if problem is None:
            self.child.stdin.write(b"%d\n" % seed)  # type: ignore[union-attr]
            self.child.stdin.flush()  # type: ignore[union-attr]
            answer = self._answer(self.limit)
            problem = answer if isinstance(answer, Finding) else None
            if problem is None and answer:
                problem = Finding(answer["what"], answer["details"])
        return problem, self._printed()

    def _answer(self, limit: float) -> dict[str, str] | Finding:
        """Return the child's next line; a finding where there is none."""
        child = self.child
        assert child is not None and child.stdout is not None
        ready, _, _ = select.select([child.stdout], [], [], limit)
        if not ready:
            self.close()
            return Finding("no end within the limit", f"{limit:g} s")
        line = child.stdout.readline()
        if line:
            found: dict[str, str] = json.loads(line)
            return found
        status = child.wait()
        self.close()
        how = signal.Signals(-status).name if status < 0 else f"status {status}"
        return Finding(f"the process ended: {how}")

    def _start(self) -> Finding | None:
        """Start the child and wait until it is ready."""
        command = [sys.executable, "-m", "hostile.attacker", self.kind, str(self.limit)]
        with open(self.errors, "wb") as errors:
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env=environment(self.folder, self.fault), start_new_session=True,
            )  # fmt: skip
        answer = self._answer(START)
        return answer if isinstance(answer, Finding) else None

    def _printed(self) -> str:
        """Return the end of what the child printed since it was last asked."""
        text = self.errors.read_bytes()[-TAIL:].decode("utf-8", "backslashreplace")
        if self.child is not None:
            os.truncate(self.errors, 0)
        return text

    def close(self) -> None:
        """End the child and all that it started."""
        if self.child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self.child = None


if __name__ == "__main__":
    serve(sys.argv[1], float(sys.argv[2]))

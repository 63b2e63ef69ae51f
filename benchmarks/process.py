"""The other end of a worker's pipe."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

from benchmarks.frameworks import on_device
from benchmarks.rating import OURS, YARDSTICKS

ROOT = Path(__file__).resolve().parent.parent
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_MAX_THREADS")


def environment(name: str, threads: int, cache: Path, extra: dict[str, str]) -> dict[str, str]:
    """Return the environment of a worker: so many threads, and a cache of its own."""
    env = {**os.environ, "BENCH_THREADS": str(threads), "BENCH_CACHE": str(cache)}
    # Who installs a package has its bytecode. A checkout without it compiles 90 modules of Python as well, in 0.2 s.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    blas = "1" if name in YARDSTICKS else str(threads)  # those make their own threads
    env |= dict.fromkeys(LIMITS, blas)
    env["BENCH_DEVICE"] = os.environ.get("BENCH_DEVICE", "cuda") if on_device(name) else ""
    if name in OURS:
        flags = [os.environ.get("THEANO_FLAGS", ""), f"base_compiledir={cache}", f"threads={threads}"]
        if on_device(name):
            flags.append(f"device={env['BENCH_DEVICE']},force_device=True,floatX=float32")
        env["THEANO_FLAGS"] = ",".join(filter(None, flags))
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    else:
        env["PYTHONPATH"] = str(ROOT)
    return env | {key: value.replace("{cache}", str(cache)) for key, value in extra.items()}


class Worker:
    """A process with one framework in it. After a failure of the process itself it is dead, and says so."""

    def __init__(self, name: str, python: str, threads: int, cache: Path, log: IO, extra: dict[str, str] | None = None):
        cache.mkdir(parents=True, exist_ok=True)
        env = environment(name, threads, cache, extra or {})
        command = [python, "-m", "benchmarks.worker", name]
        self.alive = True
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=env, cwd=cache
        )
        self.hello = self.read(300)

    def ask(self, timeout: float = 120, **request: Any) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        self.send(**request)
        return self.read(timeout)

    def send(self, **request: Any) -> None:
        """Send a request."""
        if self.alive:
            try:
                self.process.stdin.write((json.dumps(request) + "\n").encode())
                self.process.stdin.flush()
            except OSError:
                self.alive = False

    def read(self, timeout: float) -> dict[str, Any]:
        """Return the next answer, or what became of it."""
        if not self.alive:
            return {"failure": "its process has ended"}
        end, text = time.monotonic() + timeout, b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                if not selector.select(max(0.0, end - time.monotonic())):
                    self.kill()
                    return {"failure": f"not done after {timeout:.0f} s", "timeout": True}
                piece = os.read(self.process.stdout.fileno(), 1 << 20)
                if not piece:
                    self.kill()
                    return {"failure": f"its process ended with {self.process.returncode}"}
                text += piece
        return json.loads(text)

    def kill(self) -> None:
        """End the process now."""
        self.alive = False
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Let the process end."""
        self.send(do="stop")
        try:
            self.process.stdin.close()
            self.process.wait(20)
        except (OSError, subprocess.TimeoutExpired):
            self.kill()
        self.alive = False


def interpreter(entry: str | dict[str, Any] | None) -> tuple[str, dict[str, str]]:
    """Return the Python of a peer and what to add to its environment, from an entry of the file of peers."""
    if entry is None:
        return sys.executable, {}
    if isinstance(entry, str):
        return entry, {}
    return entry["python"], entry.get("env", {})

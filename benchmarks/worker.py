"""The process of one framework: reads a request in JSON a line, answers with a line.

``build`` makes a workload ready and checks its first result, ``time`` calls it for a while, ``calls`` measures single
calls in nanoseconds, ``stop`` ends.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import frameworks
from benchmarks.frameworks.base import Built, NotAvailable
from benchmarks.workload import SAMPLED, Workload
from benchmarks.workloads import WORKLOADS

clock = time.perf_counter
SHORTEST = 2e-5  # seconds between two looks at the clock
SHORTEST_ON_DEVICE = 2e-3  # where the host waits for the device before it looks
MOST_SAMPLES = 20000


def distance(built: Built, wanted: dict[str, np.ndarray], jumps: bool = False) -> float:
    """Return the largest error of any result, relative to the result's largest number; where it jumps, both by norm.

    Raises
    ------
    AssertionError
        A result is missing or has another shape.
    """
    got = {**{str(i): r for i, r in enumerate(built.results)}, **built.state}
    assert got.keys() == wanted.keys(), f"results {sorted(got)} in place of {sorted(wanted)}"
    worst = 0.0
    for name, right in wanted.items():
        assert got[name].shape == right.shape, f"result {name} has shape {got[name].shape} in place of {right.shape}"
        if right.size:
            right = right.astype("float64")
            size = np.linalg.norm if jumps else np.max
            error = size(np.abs(got[name].astype("float64") - right).ravel()) / (size(np.abs(right).ravel()) + 1e-30)
            worst = max(worst, float(error)) if np.isfinite(error) else float("inf")
    return worst


def judge(workload: Workload, built: Built, dtype: str, reference: str | None) -> dict[str, Any]:
    """Return whether the first results are right, and how far off they are."""
    if built.times_itself or reference is None:
        return {"right": True}
    if workload.accept is not None:
        return {"right": bool(workload.accept(built.results))}
    if workload.sample is not None:
        built = replace(built, results=[result[::SAMPLED] for result in built.results])
    with np.load(reference) as wanted:
        error = distance(built, dict(wanted), workload.jumps)
    return {"right": error <= workload.allowed(dtype), "error_of_result": error}


def measure(built: Built, seconds: float) -> tuple[list[float], list[float]]:
    """Return wall and processor seconds of a call, again and again for a while.

    Short calls are timed several at once. Where neighbours take the machine away, the processor's seconds of a long
    call on one thread stay comparable. Calls that only ask a device for work are asked for several at once too, and
    waited for in the time that counts.
    """
    function, arguments, finish = built.function, built.arguments, built.finish
    if built.times_itself:
        end, wall = clock() + seconds, []
        while clock() < end or len(wall) < 3:
            wall.append(function())
        return wall, wall
    several = 1
    if finish is None:
        before = clock()
        function(*arguments)
        several = max(1, int(SHORTEST / max(clock() - before, 1e-7)))
    else:
        while asked(function, arguments, several, finish) < SHORTEST_ON_DEVICE:
            several *= 2
    wall, processor, end = [], [], clock() + seconds
    while True:
        spent, before = time.process_time(), clock()
        for _ in itertools.repeat(None, several):
            function(*arguments)
        if finish is not None:
            finish()
        after = clock()
        wall.append((after - before) / several)
        processor.append((time.process_time() - spent) / several)
        if (after > end and len(wall) >= 3) or len(wall) >= MOST_SAMPLES:
            return wall, processor


def asked(function: Callable, arguments: tuple, times: int, finish: Callable) -> float:
    """Return the seconds until a device has done so many calls."""
    before = clock()
    for _ in itertools.repeat(None, times):
        function(*arguments)
    finish()
    return clock() - before


def call_overhead(built: Built, times: int = 2000, rounds: int = 10) -> dict[str, float]:
    """Return the nanoseconds of a call whose result is dropped, and of one whose result is kept, loop not counted."""
    names = ", ".join(f"a{i}" for i in range(len(built.arguments)))
    space = {"f": built.function, "clock": clock, **{f"a{i}": a for i, a in enumerate(built.arguments)}}

    def nanoseconds(line: str) -> float:
        text = f"def loop(times, kept):\n b = clock()\n for i in range(times):\n  {line}\n return clock() - b"
        exec(text, space)  # a plain loop, with the call written out in it
        loop = space["loop"]
        return min(loop(times, [None] * times) for _ in range(rounds)) / times * 1e9

    dropped = nanoseconds(f"f({names})") - nanoseconds("pass")
    kept = nanoseconds(f"kept[i] = f({names})") - nanoseconds("kept[i] = i")
    return {"dropped_ns": dropped, "kept_ns": kept}


def peak_memory() -> float:
    """Return the most memory this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Server:
    """Answers requests; holds the one workload that is ready."""

    def __init__(self, name: str) -> None:
        before = clock()
        self.framework = frameworks.start(name)
        self.import_seconds = clock() - before
        self.built: Built | None = None

    def hello(self) -> dict[str, Any]:
        """Return what is to be said first."""
        said = {"version": self.framework.version, "import_s": self.import_seconds, "memory_mib": peak_memory()}
        return said | ({"device": self.framework.device} if self.framework.device else {})

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request says."""
        try:
            return getattr(self, "do_" + request.pop("do"))(**request)
        except NotAvailable as reason:
            return {"not_available": str(reason)}
        except Exception as error:  # noqa: BLE001  (whatever a framework raises belongs into its cell)
            text = f"{type(error).__name__}: {str(error).strip()[:300]}"
            traceback.print_exc()
            return {"failure": text}

    def do_build(self, name: str, dtype: str, reference: str | None = None) -> dict[str, Any]:
        """Make a workload ready, and judge its first result."""
        self.built = None
        gc.collect()
        workload = WORKLOADS[name]
        self.built = self.framework.build(workload, dtype)
        verdict = judge(workload, self.built, dtype, reference)
        return {"build_s": self.built.seconds, **verdict, "memory_mib": peak_memory()}

    def do_time(self, seconds: float) -> dict[str, Any]:
        """Call the workload for a while."""
        assert self.built is not None
        gc.collect()
        gc.disable()
        try:
            wall, processor = measure(self.built, seconds)
        finally:
            gc.enable()
        return {"median": float(np.median(wall)), "best": min(wall), "processor": min(processor)}

    def do_calls(self) -> dict[str, Any]:
        """Measure single calls."""
        assert self.built is not None
        return call_overhead(self.built)

    def do_reference(self, name: str, dtype: str, path: str) -> dict[str, Any]:
        """Write what NumPy gives in float64 into a file."""
        from benchmarks.frameworks.numpy import reference

        np.savez(path, **reference(WORKLOADS[name], dtype))
        return {}


def main(name: str) -> None:
    """Serve until there are no more requests."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a framework prints must not come between the answers
    sys.setrecursionlimit(50000)
    server = Server(name)
    print(json.dumps(server.hello()), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "stop":
            break
        print(json.dumps(server.answer(request)), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

"""Lets the frameworks take turns on every workload, and collects what they measured."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmarks.process import Worker, interpreter
from benchmarks.rating import INTERPRETERS, YARDSTICKS
from benchmarks.workload import Workload

# Below this much work a second thread is of no use to anybody, so such rows are measured with one only.
LARGE_NUMBERS, LARGE_FLOPS = 5e5, 2e7
# A framework that compiled faster than this is asked again, because one measurement of a short time means little.
ASK_AGAIN_BELOW = 10.0
# Seconds before a turn with several threads: after their work those of OpenBLAS keep cores busy for 2^28 cycles.
REST = 0.15
NOTHING_TO_COMPILE = INTERPRETERS | YARDSTICKS.keys()

Row = dict[str, Any]


@dataclass
class Plan:
    """What to run.

    Parameters
    ----------
    frameworks : dict
        Names, ours first, and the entry of the file of peers for each: None for the running interpreter.
    workloads : list of Workload
    dtypes : tuple of str
        Float dtypes to leave in; rows of other dtypes always stay.
    rounds, seconds
        How often the frameworks take turns on a row, and how long a turn is.
    build_limit : float
        Seconds after which a build is given up.
    cache : Path
        A directory for what the frameworks compile.
    """

    frameworks: dict[str, Any]
    workloads: list[Workload]
    dtypes: tuple[str, ...]
    rounds: int
    seconds: float
    build_limit: float
    cache: Path
    log: IO
    skip: Callable[[str, Workload], bool] = field(default=lambda framework, workload: False)

    def rows(self, threads: int) -> Iterator[tuple[Workload, str]]:
        """Yield the rows for a number of threads."""
        for workload in self.workloads:
            if threads > 1 and workload.reads + workload.writes < LARGE_NUMBERS and workload.flops < LARGE_FLOPS:
                continue
            for dtype in workload.dtypes:
                if not dtype.startswith("float") or dtype in self.dtypes:
                    yield workload, dtype

    def spawn(self, name: str, threads: int, cache: Path | None = None) -> Worker:
        """Start the process of a framework."""
        python, extra = interpreter(self.frameworks.get(name))
        return Worker(name, python, threads, (cache or self.cache) / name, self.log, extra)


class Session:
    """One process per framework, with a number of threads."""

    def __init__(self, plan: Plan, threads: int) -> None:
        self.plan, self.threads = plan, threads
        self.workers: dict[str, Worker] = {}
        self.said: dict[str, Any] = {}
        self.reference = plan.spawn("numpy", len(os.sched_getaffinity(0)), plan.cache / "reference")
        for name in plan.frameworks:
            self._start(name)
        self.absent = {name for name, said in self.said.items() if "version" not in said}
        if self.absent:
            print(f"not measured, because they do not start: {', '.join(sorted(self.absent))}", flush=True)

    def _start(self, name: str) -> Worker:
        worker = self.workers[name] = self.plan.spawn(name, self.threads)
        self.said[name] = worker.hello
        return worker

    def close(self) -> None:
        """End all processes."""
        for worker in [*self.workers.values(), self.reference]:
            worker.stop()

    def row(self, workload: Workload, dtype: str) -> Row:
        """Measure one row."""
        cells: dict[str, dict[str, Any]] = {}
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "reference.npz")
            answer = self.reference.ask(do="reference", name=workload.name, dtype=dtype, path=path)
            known = path if not answer else None
            if "failure" in answer:
                raise RuntimeError(f"{workload.name} has no reference: {answer['failure']}")
            for name in self.plan.frameworks:
                cells[name] = self._build(name, workload, dtype, known)
        ready = [name for name, cell in cells.items() if "build_s" in cell]
        turns: dict[str, list[dict[str, float]]] = {name: [] for name in ready}
        for i in range(self.plan.rounds):
            for name in ready if i % 2 == 0 else reversed(ready):
                if self.threads > 1:
                    time.sleep(REST)
                answer = self.workers[name].ask(do="time", seconds=self.plan.seconds)
                if "median" in answer:
                    turns[name].append(answer)
        for name in ready:
            cells[name] |= _summary(turns[name])
            if workload.group == "a":
                cells[name] |= self.workers[name].ask(do="calls")
        return {"name": workload.name, "group": workload.group, "dtype": dtype, "threads": self.threads,
                "flops": workload.flops, "cells": cells}  # fmt: skip

    def _build(self, name: str, workload: Workload, dtype: str, reference: str | None) -> dict[str, Any]:
        if name in self.absent or self.plan.skip(name, workload):
            return {"not_available": "left out"}
        worker = self.workers[name]
        if not worker.alive:
            worker = self._start(name)
        return worker.ask(self.plan.build_limit, do="build", name=workload.name, dtype=dtype, reference=reference)


def _summary(turns: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of the turns' medians in milliseconds, the best of all, and the least processor time."""
    if not turns:
        return {"failure": "no measurement"}
    return {
        "median_ms": statistics.median(turn["median"] for turn in turns) * 1e3,
        "best_ms": min(turn["best"] for turn in turns) * 1e3,
        "processor_ms": min(turn["processor"] for turn in turns) * 1e3,
    }


def compile_times(plan: Plan, workload: Workload, dtype: str = "float64", times: int = 3) -> Row:
    """Measure how long a workload takes to be compiled: with an empty cache, then in a new process with a full one."""
    compilers = [name for name in plan.frameworks if name not in NOTHING_TO_COMPILE]
    cells: dict[str, dict[str, Any]] = {name: {"cold": [], "warm": []} for name in compilers}
    for _ in range(times):
        for name, cell in cells.items():
            quick = not cell["cold"] or max(cell["cold"]) < ASK_AGAIN_BELOW
            if "failure" in cell or not quick or plan.skip(name, workload):
                continue
            with tempfile.TemporaryDirectory(dir=plan.cache) as empty:
                for phase in ("cold", "warm"):
                    worker = plan.spawn(name, 1, Path(empty))
                    answer = worker.ask(plan.build_limit, do="build", name=workload.name, dtype=dtype)
                    worker.stop()
                    if "build_s" not in answer:
                        cell |= {"failure": answer.get("failure") or answer.get("not_available")}
                        break
                    cell[phase].append(answer["build_s"]["total"])
                    cell[phase + "_parts"] = answer["build_s"]
    for cell in cells.values():
        for phase in ("cold", "warm"):
            values = cell.pop(phase)
            if values:
                cell[phase + "_s"] = statistics.median(values)
    return {"name": workload.name, "dtype": dtype, "cells": cells}

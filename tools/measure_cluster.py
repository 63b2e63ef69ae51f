"""What the engines of theano.distributed cost: steps of blocks of 50 ms with 1 to 8 processes on this machine.

    python tools/measure_cluster.py             print it; three minutes, on a machine that does nothing else
    python tools/measure_cluster.py --write     write it into docs/performance.md, too (``nox -s engines``)

Ratios are medians of those of single rounds, in which the calls take turns. With more than two processes the blocks
only sleep: what is measured is the engine, whose cost a formula is fitted to. It needs what ``nox -s cluster`` has.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed.combining import FAN_IN, Combination
from theano.distributed.data import Made
from theano.distributed.local import local_client

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
MARKS = "<!--- measure_cluster.py: begin -->", "<!--- measure_cluster.py: end -->"
BLOCK = 0.05
"""Seconds that each block takes."""
PAUSE = 0.03
"""Seconds before each call, in which Dask forgets the tasks of the last one."""
COLUMNS, UNITS = 64, 256
"""A row has so many numbers, and a layer so many units: 131 kB of parameters travel each step, each way."""
PROCESSES = (1, 2, 4, 8)
MESSAGES = (1_000, 131_072, 1_048_576)
"""Bytes that travel to each shard and back."""
OVERLAPPED = (131_072, 1_048_576, 8_388_608)
"""Bytes of gradients that are added up while a block is computed."""

SUM = Combination(("sum",))

Seconds = dict[str, list[float]]


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> Seconds:
    """Return the seconds of each call, once in each round."""
    seconds: Seconds = {name: [] for name in calls}
    for call in calls.values():
        call()  # what is made in the first call is not measured
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def network() -> tuple[Any, Any, Any, Any, list[tuple[Any, Any]]]:
    """Return a network with one layer: its inputs, parameters, cost and updates."""
    x, y, w = T.dmatrix("x"), T.dvector("y"), theano.shared(np.full((COLUMNS, UNITS), 0.1), "w")
    p = T.nnet.sigmoid(T.mean(T.tanh(T.dot(x, w)), axis=1))
    cost = T.mean(T.nnet.binary_crossentropy(p, y))
    return x, y, w, cost, [(w, w - 0.1 * T.grad(cost, w))]


def rows_of_a_block() -> int:
    """Return how many rows keep one process busy for as long as a block shall last."""
    x, y, _, cost, updates = network()
    f = theano.function([x, y], cost, updates=updates)
    rows = 1 << 12
    data = np.ones((rows, COLUMNS)), np.ones(rows)
    seconds = min(in_turns({"f": lambda: f(*data)}, 7)["f"])
    return max(64, int(rows * BLOCK / seconds))


class Clocked:
    """A stage that sends back, behind its results, how long it took where it ran."""

    def __init__(self, stage: Any):
        self.stage, self.keeps = stage, stage.keeps

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Run the stage."""
        start = time.perf_counter()
        kept, found = self.stage(arrays, values)
        return kept, [*found, time.perf_counter() - start]


class ClockedEngine:
    """An engine that takes down how long the longest block of each stage took."""

    def __init__(self, engine: Any):
        self.engine, self.longest = engine, [0.0]
        self._clocked: dict[Any, Clocked] = {}
        self.scatter = engine.scatter

    def run(self, stage: Any, shards: Any, values: Any, combination: Any = None) -> tuple[list[Any], list[list[Any]]]:
        """Run a stage."""
        clocked = self._clocked.setdefault(stage, Clocked(stage))
        if combination is not None:
            combination = Combination((*combination.kinds, "max"))
        kept, found = self.engine.run(clocked, shards, values, combination)
        self.longest.append(max(f[-1] for f in found))
        return kept, [f[:-1] for f in found]


class Sleeping:
    """A stage that waits as long as a block takes, and returns as much as it is given."""

    keeps = 0

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Wait."""
        time.sleep(BLOCK)
        return list(arrays), [values[0]]


def slept(block: float, weights: Any) -> tuple[float, Any]:
    """Wait; return what a stage does: a cost and a gradient. A task of Dask's without anything of ours."""
    time.sleep(block)
    return 0.0, weights + 1


# -- what is run in processes of its own, and prints what it measured -----------------------------------------------


def dask_step(rounds: int) -> Seconds:
    """Measure a step on two workers of a cluster of Dask's that somebody has started, with the settings that it has."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers) as client:
        return step_of(client, rounds)


def local_step(rounds: int) -> Seconds:
    """Measure a step on the two workers that ``on="dask"`` starts where there are two processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    return step_of(local_client(), rounds)


def step_of(client: Any, rounds: int) -> Seconds:
    """Measure a step with a block for each of two workers, called directly, beside tasks that do nothing but wait."""
    rows = rows_of_a_block()
    data = np.random.default_rng(0).normal(size=(2 * rows, COLUMNS)), np.ones(2 * rows)
    x, y, _, cost, updates = network()
    engine = ClockedEngine(distributed.DaskEngine(client))
    step = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, shards=2, on=engine)
    local = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, shards=2, on="serial")
    there, here = step.scatter(*data), local.scatter(*data)
    weights = np.zeros((COLUMNS, UNITS))
    names = list(client.scheduler_info()["workers"])

    def sleep() -> Any:
        return client.gather([client.submit(slept, BLOCK, weights, pure=False, workers=[n]) for n in names])

    calls = {"step": lambda: step(there), "one by one": lambda: local(here), "sleep": sleep}
    seconds = in_turns(calls, rounds)
    return {**seconds, "block": engine.longest[-rounds:]}


def dask_messages(rounds: int) -> Seconds:
    """Measure steps of blocks that sleep, on 1 to 8 workers, with messages of several sizes."""
    from dask.distributed import Client, LocalCluster, wait

    most = max(PROCESSES)
    with (
        LocalCluster(n_workers=most, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        engine, stage = distributed.DaskEngine(client), Sleeping()
        names = list(client.scheduler_info()["workers"])
        held = [client.submit(np.zeros, 1, pure=False, workers=[n]) for n in names]
        # Dask may put two of them on one worker, whose blocks would then come one after the other.
        given, shards = [[Made(h, (1,), np.dtype(float))] for h in held], list[Any]()
        while len({place for s in shards for place in client.who_has([s.arrays])[s.arrays.key]}) < most:
            shards = engine.scatter(given)
            wait([s.arrays for s in shards])
        values = {size: [np.zeros(size // 8)] for size in MESSAGES}
        calls = {
            f"{n} {size}": lambda n=n, size=size: engine.run(stage, shards[:n], values[size], SUM)
            for n in PROCESSES
            for size in MESSAGES
        }
        return in_turns(calls, rounds)


def mpi_step(rounds: int) -> Seconds:
    """Measure a step of one block a rank, beside the same with Allreduce by hand, and all blocks on one rank."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    size, rank = comm.Get_size(), comm.Get_rank()
    rows = int(comm.bcast(rows_of_a_block()))
    whole = np.random.default_rng(0).normal(size=(size * rows, COLUMNS)), np.ones(size * rows)
    x, y, w, cost, updates = network()
    step = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, shards=size, on=comm)
    there = step.scatter(*whole)
    part = theano.function([x, y], [cost * x.shape[0], T.grad(cost * x.shape[0], w)])
    mine = [np.ascontiguousarray(np.array_split(a, size)[rank]) for a in whole]

    def by_hand() -> None:
        found, gradient = part(*mine)
        total = np.empty(COLUMNS * UNITS + 1)
        comm.Allreduce(np.concatenate([[found], gradient.ravel()]), total)
        w.set_value(w.get_value() - 0.1 * total[1:].reshape(COLUMNS, UNITS) / (size * rows))

    local = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, shards=size, on="serial")
    here = local.scatter(*whole)

    def one_by_one() -> None:
        if rank == 0:
            local(here)
        done = comm.Ibarrier()
        while not done.Test():
            time.sleep(0.001)  # MPI itself waits at a processor's full speed

    return in_turns({"step": lambda: step(there), "by hand": by_hand, "one by one": one_by_one}, rounds)


def mpi_messages(rounds: int) -> Seconds:
    """Measure steps of blocks that sleep, a rank each, with messages of several sizes."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    engine, stage, n = distributed.MPIEngine(comm), Sleeping(), comm.Get_size()
    shards = engine.scatter([[i] for i in range(n)])
    values = {size: [np.zeros(size // 8)] for size in MESSAGES}
    calls = {f"{n} {size}": lambda size=size: engine.run(stage, shards, values[size], SUM) for size in MESSAGES}
    return in_turns(calls, rounds)


def mpi_overlap(rounds: int) -> Seconds:
    """Measure what it brings to add up a gradient by hand while the block of the next is computed, at best.

    The message is begun before a whole block, and waited for behind it: no gradient could be had earlier.
    """
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rows = int(comm.bcast(rows_of_a_block()))
    x, y, w, cost, _ = network()
    part, data = theano.function([x, y], T.grad(cost, w)), (np.ones((rows, COLUMNS)), np.ones(rows))
    calls: dict[str, Callable[[], Any]] = {}
    for size in OVERLAPPED:
        own, total = np.ones(size // 8), np.empty(size // 8)

        def alone() -> None:
            comm.Barrier()
            part(*data)

        def behind(own: Any = own, total: Any = total) -> None:
            alone()
            comm.Allreduce(own, total)

        def meanwhile(own: Any = own, total: Any = total) -> None:
            comm.Barrier()
            message = comm.Iallreduce(own, total)
            part(*data)
            message.Wait()

        calls |= {f"alone {size}": alone, f"behind {size}": behind, f"meanwhile {size}": meanwhile}
    return in_turns(calls, rounds)


PARTS = {
    part.__name__: part for part in (dask_step, local_step, dask_messages, mpi_step, mpi_messages, mpi_overlap)
}  # fmt: skip


def measured(part: str, rounds: int, ranks: int = 0, **environment: str) -> Seconds:
    """Run a part in a process of its own, or in several of MPI, with one thread each."""
    mpiexec = Path(sys.executable).parent / "mpiexec"
    launcher = [str(mpiexec if mpiexec.exists() else "mpiexec"), "-n", str(ranks)] if ranks else []
    command = [*launcher, sys.executable, __file__, "--part", part, "--rounds", str(rounds)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    # Apart: workers of Dask's log errors when they are told to end.
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
    found: Seconds = json.loads(line)
    return found


# -- the formula, and what is written -------------------------------------------------------------------------------


Terms = Callable[[float, float, float], list[float]]
"""Of processes, bytes and processors: what the cost of a step is a sum of, but for the coefficients."""


def messages(workers: float, few: int) -> float:
    """Return how many messages one process after the other waits for: those of a node on each level of the tree.

    Up to a few go to one process.
    """
    return workers if workers <= few else FAN_IN + messages(-(-workers // FAN_IN), FAN_IN)


def of_tree(workers: float, size: float, processors: float, few: int = FAN_IN) -> list[float]:
    """Return the terms of Dask: a constant, and for each message of the tree a part, and one for its bytes."""
    n = messages(workers, few)
    return [1.0, n, n * size]


def of_slices(ranks: float, size: float, processors: float) -> list[float]:
    """Return the terms of MPI: a constant, the other ranks, and the bytes of the two slices that each of them gets.

    All this as often as ranks share a processor.
    """
    shared = max(1.0, ranks / processors)
    return [shared, (ranks - 1) * shared, 2 * size * (ranks - 1) / ranks * shared]


def fitted(seconds: Seconds, terms: Terms, processors: float) -> tuple[np.ndarray, float]:
    """Return the coefficients, none of them negative, that fit medians best, and the largest relative error.

    Examples
    --------
    >>> cost = lambda n, size: 0.05 + 0.002 + 0.001 * n + 1e-9 * n * size
    >>> found, error = fitted({f"{n} {m}": [cost(n, m)] for n in (1, 2, 4) for m in (1e3, 1e6)}, of_tree, 2)
    >>> found.round(12).tolist(), error < 1e-6
    ([0.002, 0.001, 1e-09], True)
    """
    keys = [tuple(map(float, key.split())) for key in seconds]
    costs = np.array([max(statistics.median(s) - BLOCK, 1e-6) for s in seconds.values()])
    # Each row divided by its cost: errors are relative.
    rows = np.array([terms(n, size, processors) for n, size in keys]) / costs[:, None]
    best, error = np.zeros(3), np.inf
    for some in (c for k in (1, 2, 3) for c in itertools.combinations(range(3), k)):
        tried = np.zeros(3)
        scale = np.abs(rows[:, some]).max(axis=0)
        tried[list(some)] = np.linalg.lstsq(rows[:, some] / scale, np.ones(len(costs)))[0] / scale
        miss = float(np.sum((rows @ tried - 1) ** 2))
        if (tried >= 0).all() and miss < error:
            best, error = tried, miss
    return best, float(np.abs(rows @ best - 1).max())


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Return the median of the ratios of single rounds."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def milliseconds(seconds: Sequence[float]) -> str:
    """Return a median as text."""
    return f"{statistics.median(seconds) * 1e3:.1f}"


def of_dask(whose: str, found: Seconds, at_once: float) -> list[str]:
    """Return the rows of what a step costs on two workers, and how much that is of what two processors give at once."""
    engine = [s - BLOCK for s in found["sleep"]]
    needed = [b + e for b, e in zip(found["block"], engine, strict=True)]
    efficiency = ratio(found["one by one"], [2 * s for s in found["step"]])
    return [
        f"| 2 workers of {whose}: a step | {milliseconds(found['step'])} | {ratio(found['step'], needed):.3f} | 1.10 |",
        f"| its longer block, and what Dask needs for tasks that only wait | {milliseconds(needed)} | 1 | |",
        f"| of this, Dask's tasks | {milliseconds(engine)} | | |",
        f"| both blocks one after the other in one process | {milliseconds(found['one by one'])} | | |",
        f"| **efficiency of 2 workers**: half of that, by a step | | **{efficiency:.3f}** | 0.85 |",
        f"| the same, of what two processors give at once | | {efficiency / at_once:.3f} | |",
    ]


def steps(dask: Seconds, local: Seconds, mpi: Seconds) -> list[str]:
    """Return the table of what a step costs on two processes."""
    at_once = ratio(mpi["one by one"], [2 * s for s in mpi["by hand"]])
    return [
        "| a block of about 50 ms on each of two processes | ms | ratio | aim |", "|---|---:|---:|---:|",
        *of_dask("Dask that `on=\"dask\"` starts", local, at_once),
        *of_dask("a cluster of Dask's with its own settings", dask, at_once),
        f"| 2 ranks of MPI: a step | {milliseconds(mpi['step'])} | {ratio(mpi['step'], mpi['by hand']):.3f} | 1.03 |",
        f"| the same with `Allreduce` by hand | {milliseconds(mpi['by hand'])} | 1 | |",
        f"| both blocks one after the other on one rank | {milliseconds(mpi['one by one'])} | | |",
        "| what two processors of this machine give at once: half of that, by `Allreduce` by hand "
        f"| | {at_once:.3f} | |",
    ]  # fmt: skip


def extrapolated(name: str, found: np.ndarray, terms: Terms, ways: int) -> list[str]:
    """Return the rows of the table up to 1,000 workers; the bytes of the terms pass a link in so many directions."""
    rows = []
    for n in (2, 8, 32, 128, 512, 1000):
        cells = []
        for link in (1.25e9, 0.125e9):
            each = max(float(found[2]), ways / link)
            cost = float(np.dot([found[0], found[1], each], terms(n, MESSAGES[1], n)))
            cells += [f"{cost * 1e3:,.0f}", f"{1 / (1 + cost):.2f}", f"{10 / (10 + cost):.2f}"]
        rows.append(f"| {name} | {n:,} | " + " | ".join(cells) + " |")
    return rows


def overlaps(plain: Seconds, helped: Seconds) -> list[str]:
    """Return the table of what it brings to add up a gradient while a block is computed."""
    lines = [
        "| 2 ranks, ms | block | `Allreduce` behind it adds | `Iallreduce` meanwhile adds |", "|---|---:|---:|---:|",
    ]  # fmt: skip
    for said, found in (("", plain), (", and a thread for messages", helped)):
        for size in OVERLAPPED:
            alone = found[f"alone {size}"]
            more = (found[f"{way} {size}"] for way in ("behind", "meanwhile"))
            added = ([b - a for a, b in zip(alone, with_it, strict=True)] for with_it in more)
            lines.append(f"| {size / 1000:,.0f} kB{said} | {' | '.join(map(milliseconds, (alone, *added)))} |")
    return lines


def page(
    waiting: float, dask: Seconds, local: Seconds, mpi: Seconds, dask_sizes: Seconds, mpi_sizes: Seconds,
    plain: Seconds, helped: Seconds,
) -> str:  # fmt: skip
    """Return the text with all tables."""
    processors = os.cpu_count() or 1
    heads = " | ".join(f"{m / 1000:,.0f} kB" for m in MESSAGES)
    lines = [
        f"Taken on {date.today()} on {processors} processors, which {waiting:.1f} other processes wanted as well.",
        "",
        *steps(dask, local, mpi),
        "",
        "What it would bring to add up gradients while the backward pass goes on. Here the message may travel during a",
        "whole block, which is more than could be had. MPI moves it on when it is called, or in a thread of its own",
        "(`MPICH_ASYNC_PROGRESS=1`), which needs a processor:",
        "",
        *overlaps(plain, helped),
        "",
        "What a step costs beside its blocks, in ms, measured on this machine, by processes and the bytes that go to",
        "each and back; and by formulas that are fitted to it (`m` bytes; `n` messages of Dask's; for MPI `n` others,",
        "to which two slices of `m` bytes go, `v` in all, and the whole as often as ranks share a processor, `s`):",
        "",
        f"| | processes | {heads} | fitted |",
        "|---|---:" + "|---:" * len(MESSAGES) + "|---|",
    ]
    fits = {}
    few = partial(of_tree, few=distributed.DaskEngine.FEW)
    for name, sizes, terms, by in (
        ("Dask", dask_sizes, few, "a + b n + c n m"), ("MPI", mpi_sizes, of_slices, "(a + b n + c v) s"),
    ):  # fmt: skip
        found, error = fits[name] = fitted(sizes, terms, processors)
        values = "a = {:.2f} ms, b = {:.3f} ms, c = {:.2f} ns".format(*(found * [1e3, 1e3, 1e9]))
        said = f"`{by}`: {values}; error at most {error:.0%}"
        for n in PROCESSES:
            cells = " | ".join(f"{(statistics.median(sizes[f'{n} {m}']) - BLOCK) * 1e3:.1f}" for m in MESSAGES)
            lines.append(f"| {name} | {n} | {cells} | {said if n == 1 else ''} |")
    lines += [
        "",
        "**Extrapolated**, not measured: the same formulas with a processor for each worker, 131 kB each way, and the",
        "time that a link of 10 or 1 Gbit/s takes where it is more than `c`; of Dask's messages those that one process",
        "after the other waits for in the tree (26 for 1,000 workers). ms beside the blocks, and the efficiency with",
        "blocks of 1 s and of 10 s:",
        "",
        "| | workers | 10 Gbit/s: ms | 1 s | 10 s | 1 Gbit/s: ms | 1 s | 10 s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *extrapolated("Dask", fits["Dask"][0], few, 2),  # there and back
        *extrapolated("MPI", fits["MPI"][0], of_slices, 1),
    ]
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the text between its marks in the page."""
    begin, end = MARKS
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def main() -> None:
    """Measure all parts, or one, of which the processes are started here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        found = PARTS[options.part](options.rounds)
        if not options.part.startswith("mpi") or _rank() == 0:
            print(f"\n{json.dumps(found)}", flush=True)
        return
    few, waiting = max(1, options.rounds // 3), os.getloadavg()[0]
    parts = measured("local_step", options.rounds), measured("dask_step", options.rounds)
    local, dask, mpi = *parts, measured("mpi_step", options.rounds, 2)
    of_ranks = [measured("mpi_messages", few, n) for n in PROCESSES]
    mpi_sizes = {key: seconds for each in of_ranks for key, seconds in each.items()}
    overlap = [measured("mpi_overlap", few, 2, **env) for env in ({}, {"MPICH_ASYNC_PROGRESS": "1"})]
    text = page(waiting, dask, local, mpi, measured("dask_messages", few), mpi_sizes, *overlap)
    print(text)
    if options.write:
        write(text)


def _rank() -> int:
    from mpi4py import MPI

    return int(MPI.COMM_WORLD.Get_rank())


if __name__ == "__main__":
    main()

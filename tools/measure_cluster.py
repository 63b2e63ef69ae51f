"""What the engines of theano.distributed cost: steps of blocks of 50 ms with 1 to 8 processes on this machine.

    python tools/measure_cluster.py             print it; three minutes, on a machine that does nothing else
    python tools/measure_cluster.py --write     write it as docs/data/cluster.json, too (``nox -s engines``)

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

DATA = Path(__file__).resolve().parents[1] / "docs" / "data" / "cluster.json"
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


def milliseconds(seconds: Sequence[float]) -> float:
    """Return a median in milliseconds."""
    return round(statistics.median(seconds) * 1e3, 1)


def of_dask(found: Seconds, at_once: float) -> dict[str, float]:
    """Return what a step costs on two workers, and how much that is of what two processors give at once."""
    engine = [s - BLOCK for s in found["sleep"]]
    needed = [b + e for b, e in zip(found["block"], engine, strict=True)]
    efficiency = ratio(found["one by one"], [2 * s for s in found["step"]])
    return {
        "step": milliseconds(found["step"]), "ratio": round(ratio(found["step"], needed), 3),
        "needed": milliseconds(needed), "tasks": milliseconds(engine),
        "one_by_one": milliseconds(found["one by one"]), "efficiency": round(efficiency, 3),
        "of_both": round(efficiency / at_once, 3),
    }  # fmt: skip


def steps(dask: Seconds, local: Seconds, mpi: Seconds) -> dict[str, dict[str, float]]:
    """Return what a step costs on two processes: workers of ``on="dask"``, of another cluster, and ranks of MPI."""
    at_once = ratio(mpi["one by one"], [2 * s for s in mpi["by hand"]])
    of_mpi = {
        "step": milliseconds(mpi["step"]), "ratio": round(ratio(mpi["step"], mpi["by hand"]), 3),
        "by_hand": milliseconds(mpi["by hand"]), "one_by_one": milliseconds(mpi["one by one"]),
        "at_once": round(at_once, 3),
    }  # fmt: skip
    return {"on": of_dask(local, at_once), "client": of_dask(dask, at_once), "mpi": of_mpi}


def extrapolated(name: str, found: np.ndarray, terms: Terms, ways: int) -> list[dict[str, Any]]:
    """Return what steps would cost on up to 1,000 workers; the bytes of the terms pass a link in so many directions."""
    rows = []
    for n in (2, 8, 32, 128, 512, 1000):
        for gbit in (10, 1):
            each = max(float(found[2]), ways / (gbit * 0.125e9))
            cost = float(np.dot([found[0], found[1], each], terms(n, MESSAGES[1], n)))
            rows.append({
                "engine": name, "workers": n, "gbit": gbit, "ms": round(cost * 1e3),
                "efficiency_1s": round(1 / (1 + cost), 2), "efficiency_10s": round(10 / (10 + cost), 2),
            })  # fmt: skip
    return rows


def overlaps(plain: Seconds, helped: Seconds) -> list[dict[str, Any]]:
    """Return what it brings to add up a gradient while a block is computed."""
    rows = []
    for thread, found in ((False, plain), (True, helped)):
        for size in OVERLAPPED:
            alone = found[f"alone {size}"]
            added = {
                way: milliseconds([b - a for a, b in zip(alone, found[f"{way} {size}"], strict=True)])
                for way in ("behind", "meanwhile")
            }
            rows.append({"bytes": size, "thread": thread, "block": milliseconds(alone), **added})
    return rows


def costs(dask: Seconds, mpi: Seconds, processors: int) -> dict[str, Any]:
    """Return what steps cost beside their blocks, formulas fitted to it, and what these say of more workers."""
    cost, fit, more = [], {}, []
    few = partial(of_tree, few=distributed.DaskEngine.FEW)
    for name, sizes, terms, by, ways in (
        ("Dask", dask, few, "a + b n + c n m", 2),  # there and back
        ("MPI", mpi, of_slices, "(a + b n + c v) s", 1),
    ):
        found, error = fitted(sizes, terms, processors)
        a, b, c = (round(float(x), 3) for x in found * [1e3, 1e3, 1e9])
        fit[name] = {"formula": by, "a_ms": a, "b_ms": b, "c_ns": c, "error": round(error, 2)}
        for n in PROCESSES:
            cells = [round(milliseconds(sizes[f"{n} {m}"]) - BLOCK * 1e3, 1) for m in MESSAGES]
            cost.append({"engine": name, "processes": n, "ms": cells})
        more += extrapolated(name, found, terms, ways)
    return {"cost": cost, "fit": fit, "extrapolated": more}


def as_text(found: dict[str, Any]) -> str:
    """Return measurements as JSON, an entry of a table in each line."""
    parts = []
    for key, value in found.items():
        text = json.dumps(value)
        if isinstance(value, list) and isinstance(value[0], dict):
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "]"
        elif isinstance(value, dict):
            text = "{\n  " + ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()) + "}"
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Measure all parts, or one, of which the processes are started here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="docs/data/cluster.json")
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
    processors = os.cpu_count() or 1
    text = as_text({
        "date": str(date.today()), "processors": processors, "waiting": round(waiting, 1), "bytes": MESSAGES,
        "step": steps(dask, local, mpi), "overlap": overlaps(*overlap),
        **costs(measured("dask_messages", few), mpi_sizes, processors),
    })  # fmt: skip
    print(text)
    if options.write:
        DATA.write_text(text, encoding="utf-8")


def _rank() -> int:
    from mpi4py import MPI

    return int(MPI.COMM_WORLD.Get_rank())


if __name__ == "__main__":
    main()

"""What the engines of theano.distributed cost: a step of blocks beside the same tasks doing nothing but wait.

    python tools/measure_cluster.py --dask            a step on 2 workers of Dask
    mpiexec -n 2 python tools/measure_cluster.py      a step on 2 ranks, beside mpi4py by hand

Ratios are of medians that were taken in turns in one run, on processors that others may use as well. It needs what
``nox -s cluster`` installs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano import distributed

BLOCK = 0.05
"""Seconds that each block takes."""
COLUMNS, UNITS = 64, 256
"""A row has so many numbers, and a layer so many units: 128 kB of parameters travel each step."""


def in_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each call, once in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()  # what is made in the first call is not measured
    for _ in range(rounds):
        for name, call in calls.items():
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


def report(name: str, seconds: dict[str, list[float]]) -> None:
    """Print medians, and their ratios to the last."""
    medians = {key: statistics.median(values) for key, values in seconds.items()}
    last = list(medians.values())[-1]
    for key, value in medians.items():
        print(f"{name}: {key:32s} {value * 1e3:8.1f} ms  {value / last:6.3f}", flush=True)


def nothing(shard: Any, weights: Any) -> tuple[Any, Any]:
    """Wait for as long as a block takes, and return what a stage does: a cost and a gradient."""
    time.sleep(BLOCK)
    return 0.0, np.zeros_like(weights)


def on_dask(rounds: int) -> None:
    """Measure a step of one block a worker beside tasks that sleep."""
    from dask.distributed import Client, LocalCluster

    rows = rows_of_a_block()
    data = np.random.default_rng(0).normal(size=(2 * rows, COLUMNS)), np.ones(2 * rows)
    x, y, _, cost, updates = network()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers, Client(workers) as client:
        step = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, shards=2, on=client)
        local = distributed.function([x, y], cost, updates, shard={x: 0, y: 0}, shards=2)
        there, here = step.scatter(*data), local.scatter(*data)
        weights = np.zeros((COLUMNS, UNITS))
        held = [client.submit(np.zeros, 1, pure=False, workers=[w]) for w in client.scheduler_info()["workers"]]

        def engine() -> Any:
            return client.gather([client.submit(nothing, h, weights, pure=False) for h in held])

        seconds = in_turns(
            {"a step": lambda: step(there), "the blocks one by one": lambda: local(here), "tasks that sleep": engine},
            rounds,
        )
        report("dask", seconds)


def on_mpi(rounds: int) -> None:
    """Measure a step of one block a rank beside the same with Allreduce by hand."""
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
    values = theano.shared(np.zeros((COLUMNS, UNITS)), "by hand")

    def by_hand() -> None:
        found, gradient = part(*mine)
        total = np.empty(COLUMNS * UNITS + 1)
        comm.Allreduce(np.concatenate([[found], gradient.ravel()]), total)
        values.set_value(values.get_value() - 0.1 * total[1:].reshape(COLUMNS, UNITS) / (size * rows))

    seconds = in_turns({"a step": lambda: step(there), "by hand": by_hand}, rounds)
    if rank == 0:
        report("mpi", seconds)


def main() -> None:
    """Run what the command says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    (on_dask if options.dask else on_mpi)(options.rounds)


if __name__ == "__main__":
    main()

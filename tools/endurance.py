"""Run for long, and see that memory does not grow.

    python tools/endurance.py [--calls 100000] [--cycles 1000]

Two things are done: one function with updates of every kind is called very often, some of the calls failing; and
functions are compiled, called and dropped very often. The memory of the process (resident, with what the machine keeps
for reuse given back) is read after a tenth of each, when all caches are warm, and at the end. Exit status 1: it grew
by more than is allowed, which is printed.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np

import theano
import theano.tensor as T
from theano.loader.module import memory_trim

#: For the graphs and kernels of a thousand cycles, and for a hundred thousand calls: a leak of 10 bytes per call shows.
ALLOWED_KB = {"calls": 1024, "cycles": 4096}


def resident_kb() -> int:
    """Return the memory of this process."""
    gc.collect()
    memory_trim()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise SystemExit("this needs /proc, as Linux has it")


def training(seed: int) -> tuple[Callable[..., object], int]:
    """Return a function that trains a small network with momentum and a table of rows, and the table's length."""
    rng = np.random.default_rng(seed)
    length = 50 + seed % 7
    x, i = T.dmatrix("x"), T.lvector("i")
    table = theano.shared(rng.normal(size=(length, 8)), "table")
    w, b = theano.shared(rng.normal(size=(8, 8)), "w"), theano.shared(np.zeros(8), "b")
    hidden = T.tanh(T.dot(x + table[i], w) + b)
    cost = T.sqr(hidden - 1).mean() + seed * 1e-6 * T.sqr(w).sum()
    updates = [(table, T.inc_subtensor(table[i], -0.01 * T.dot(hidden - 1, w.T)))]
    for p in (w, b):
        speed = theano.shared(np.zeros_like(p.get_value()))
        faster = 0.9 * speed - 0.01 * T.grad(cost, p)
        updates += [(speed, faster), (p, p + faster)]
    return theano.function([x, i], [cost, hidden], updates=updates), length


def call_often(count: int) -> int:
    """Call one function ``count`` times; return by how many kB memory grew."""
    f, length = training(0)
    good, bad = np.arange(4), np.array([0, 1, 2, length])
    x = np.ones((4, 8))
    before = 0
    for k in range(count):
        if k == count // 10:
            before = resident_kb()
        f(x, good)
        if k % 16 == 0:
            try:
                f(x, bad)
            except IndexError:
                continue
            raise SystemExit("an index out of bounds was not noticed")
    return resident_kb() - before


def compile_often(count: int) -> int:
    """Compile, call and drop ``count`` functions; return by how many kB memory grew."""
    before = 0
    for k in range(count):
        if k == count // 10:
            before = resident_kb()
        f, _ = training(k)
        f(np.ones((3, 8)), np.arange(3))
        if k % 50 == 0:
            gc.collect()
    return resident_kb() - before


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--cycles", type=int, default=1000)
    args = parser.parse_args()
    grown = {"calls": call_often(args.calls), "cycles": compile_often(args.cycles)}
    for what, kb in grown.items():
        print(f"{getattr(args, what)} {what}: grew by {kb} kB, {ALLOWED_KB[what]} kB are allowed")
    return int(any(kb > ALLOWED_KB[what] for what, kb in grown.items()))


if __name__ == "__main__":
    raise SystemExit(main())

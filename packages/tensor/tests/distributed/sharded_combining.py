"""Reductions of all kinds over many shards, on several engines: ``mpiexec -n 3 python sharded_combining.py``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano import distributed
from theano.distributed import MPIEngine, SerialEngine
from theano.distributed.combining import COMBINATIONS, Combination

#: Where groups of eight are not full, full, and full of groups.
COUNTS = (1, 7, 8, 9, 17, 65)


def reductions() -> tuple[Any, list[Any]]:
    """Return a matrix, and reductions of all kinds over its rows."""
    x = T.dmatrix("x")
    weights = T.exp(x[:, 0]).dimshuffle(0, "x")
    return x, [
        T.sum(x, axis=0), T.max(x, axis=0), T.min(x, axis=0), T.prod(x, axis=0), T.logsumexp(x, axis=0),
        T.sum(weights * x, axis=0) / T.sum(weights), T.all(x > -9, axis=0), T.any(x > 3, axis=0),
    ]  # fmt: skip


def rows(shards: int) -> list[np.ndarray]:
    """Return the rows of each shard; every fifth has none."""
    rng = np.random.default_rng(shards)
    return [rng.normal(size=(0 if i % 5 == 3 else int(rng.integers(1, 4)), 3)) for i in range(shards)]


def found(on: Any) -> dict[int, list[bytes]]:
    """Return the exact results for several numbers of shards, each as often as two steps have them."""
    x, outputs = reductions()
    f = distributed.function([x], outputs, shard={x: 0}, on=on)
    exact = {}
    for n in COUNTS:
        data = f.scatter(rows(n))
        exact[n] = [np.asarray(value).tobytes() for _ in range(2) for value in f(data)]
    return exact


class Draws:
    """A stage that draws arrays for each kind of combination, of sizes on both sides of what MPI sends in slices."""

    keeps = 0
    SHAPES = ((), (3,), (0, 4), (MPIEngine.SMALL // 8,), (MPIEngine.SMALL // 8 + 1,), (700, 3), (513, 2, 2))
    KINDS = tuple(np.repeat(list(COMBINATIONS), len(SHAPES)).tolist())
    #: Sums are also drawn of these, of the last shape.
    DTYPES = ("float16", "float32", "complex64", "complex128", "int8", "int64", "bool")

    def __call__(self, arrays: Any, values: Any) -> Any:
        rng = np.random.default_rng(int(arrays[0]))
        found = []
        for kind, shape in zip(self.KINDS, self.SHAPES * len(COMBINATIONS), strict=True):
            numbers = rng.normal(size=shape) * 10.0 ** (arrays[0] % 7)
            found.append(numbers.astype(int) if kind in ("and", "or") else np.asfortranarray(numbers))
        return list(arrays), [*found, *((9 * rng.random(self.SHAPES[-1])).astype(dtype) for dtype in self.DTYPES)]


def drawn(engine: Any) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Return dtypes, shapes and exact numbers of what an engine makes of arrays of several numbers of shards."""
    combination, found = Combination((*Draws.KINDS, *("sum",) * len(Draws.DTYPES))), []
    for n in COUNTS:
        _, (whole,) = engine.run(Draws(), engine.scatter([[np.int64(i)] for i in range(n)]), [], combination)
        found += [(a.dtype.str, a.shape, a.tobytes()) for a in map(np.asarray, whole)]
    return found


class Uneven:
    """A stage whose result has another length on the last shard, and is large or not."""

    keeps = 0

    def __init__(self, length: int):
        self.length = length

    def __call__(self, arrays: Any, values: Any) -> Any:
        return list(arrays), [np.ones(self.length + int(arrays[0] == 2))]


class Refuses(theano.Op):
    """Refuses rows that begin with 13."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        if (inputs[0][:, 0] == 13).any():
            raise ArithmeticError("thirteen")
        output_storage[0][0] = inputs[0]


def refused(on: Any) -> tuple[Any, Any, Any]:
    """Return a sum that fails on the shard of thirteen, data that have it, and others that do not."""
    distributed.carries(Refuses)(lambda given: given.axes[0])
    x = T.dmatrix("x")
    f = distributed.function([x], T.sum(Refuses()(x), axis=0), shard={x: 0}, on=on)
    return f, f.scatter([np.full((1, 2), i, "float64") for i in range(20)]), f.scatter([np.ones((1, 2))] * 20)


if __name__ == "__main__":
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    assert found(comm) == found("serial")
    assert drawn(MPIEngine(comm)) == drawn(SerialEngine())
    for length in (10, MPIEngine.SMALL // 8, 2000):
        engine = MPIEngine(comm)
        try:
            engine.run(Uneven(length), engine.scatter([[i] for i in range(3)]), [], Combination(("sum",)))
        except ValueError:
            pass
        else:
            raise AssertionError(length)
    f, bad, good = refused(comm)
    for _ in range(2):
        try:
            f(bad)
            said = "nothing"
        except Exception as error:
            said = str(error)
        assert "thirteen" in said, said
        assert f(good).tolist() == [20, 20]
    sys.stdout.write(f"rank {comm.Get_rank()} agrees\n")

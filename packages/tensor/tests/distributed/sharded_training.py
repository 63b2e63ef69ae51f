"""A program that trains on several engines, for tests of them: ``mpiexec -n 2 python sharded_training.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano import distributed


def train(on: Any) -> list[str]:
    """Return the exact costs of four steps of a network, a sharded output's sum and the parameters' sum."""
    rng = np.random.default_rng(0)
    x, y = T.dmatrix("x"), T.lvector("y")
    w, v = (theano.shared(rng.normal(size=s)) for s in ((3, 4), (4, 2)))
    p = T.nnet.softmax(T.dot(T.tanh(T.dot(x, w)), v))
    cost = T.mean(T.nnet.categorical_crossentropy(p, y)) + T.sum(w**2) + T.max(p, axis=0).sum()
    updates = [(v, v - 0.1 * g) for v, g in zip([w, v], T.grad(cost, [w, v]), strict=True)]
    step = distributed.function([x, y], [cost, p], updates, shard={x: 0, y: 0}, shards=5, on=on)
    data = step.scatter(rng.normal(size=(17, 3)), rng.integers(0, 2, 17))
    results = [step(data) for _ in range(4)]
    values = [*(c for c, _ in results), results[-1][1].gather().sum(), w.get_value().sum()]
    return [float(c).hex() for c in values]


def fail(on: Any) -> str:
    """Return the error of a step that fails on one shard."""
    x, i = T.dmatrix("x"), T.lscalar("i")
    f = distributed.function([x, i], T.sum(x[:, i]), shard={x: 0}, on=on)
    try:
        f(np.ones((4, 2)), 7)
    except Exception as exc:
        return type(exc).__name__
    return "none"


if __name__ == "__main__":
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    assert comm.Get_size() == 2 and train(comm) == train("serial") and fail(comm) != "none"
    # One write: lines of ranks that write at once get mixed otherwise.
    print(f"rank {comm.Get_rank()} agrees\n", end="", flush=True)

"""A program of several processes, which ``test_mpi.py`` starts: ops of all ranks against NumPy and finite differences.

Each rank makes the arrays of all, from a seed, so that it knows what it must get. Gradients are compared with finite
differences of the sum of the costs of all ranks, in each number of each rank.
"""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import theano
import theano.distributed as d
import theano.tensor as T

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
STEP = 1e-6


def arrays(shape: Callable[[int], tuple[int, ...]], dtype: str = "float64") -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [(rng.normal(size=shape(r)) * 4).astype(dtype) for r in range(size)]


def check(build: Callable[[Any], Any], xs: list[np.ndarray], wanted: Callable[[list[np.ndarray]], Any]) -> None:
    """Compare what a rank gets with NumPy's; float64 with finite differences, too."""
    x = T.TensorType(xs[0].dtype, (False,) * xs[0].ndim)("x")
    y = build(x)
    found = theano.function([x], y)(xs[rank])
    np.testing.assert_allclose(found, wanted(xs), rtol=1e-6 if xs[0].dtype == "float32" else 1e-12)
    assert found.dtype == xs[0].dtype
    if xs[0].dtype != "float64":
        return
    weights = np.random.default_rng(rank).normal(size=found.shape)
    cost = T.sum(T.tanh(y) * weights)
    f, gradient = theano.function([x], cost), theano.function([x], T.grad(cost, x))(xs[rank])
    for r in range(size):
        for i in np.ndindex(xs[r].shape):
            totals = []
            for step in (STEP, -STEP):
                value = xs[rank].copy()
                if r == rank:
                    value[i] += step
                totals.append(comm.allreduce(float(f(value))))
            if r == rank:
                np.testing.assert_allclose(gradient[i], (totals[0] - totals[1]) / (2 * STEP), rtol=1e-5, atol=1e-8)


def same(r: int) -> tuple[int, ...]:
    return (2, 3)


def uneven(r: int) -> tuple[int, ...]:
    return (r + 1 if r != 1 else 0, 2)


def values_and_gradients() -> None:
    for dtype in ("float64", "float32", "int64", "complex128"):
        xs = arrays(same, dtype)
        check(d.all_reduce, xs, sum)
        for root in range(size):
            check(lambda x, root=root: d.broadcast(x, root), xs, lambda xs, root=root: xs[root])
        check(d.all_gather, arrays(uneven, dtype), np.concatenate)
        whole = arrays(lambda r: (size * (size + 1) // 2, 2), dtype)
        start = rank * (rank + 1) // 2
        check(lambda x: d.reduce_scatter(x, rank + 1), whole, lambda xs, a=start: sum(xs)[a : a + rank + 1])
        right, left = (rank + 1) % size, (rank - 1) % size
        check(lambda x, to=right, of=left: d.send_receive(x, to, of), arrays(uneven, dtype), lambda xs, of=left: xs[of])
    for kind in ("max", "min"):
        check(lambda x, kind=kind: d.all_reduce(x, kind), arrays(same), lambda xs, kind=kind: getattr(np, kind)(xs, 0))
    check(lambda x: d.all_reduce(T.sum(x**2)), arrays(same), lambda xs: sum((x**2).sum() for x in xs))


def one_way() -> None:
    """Rank 0 computes, sends to the last, which computes on: a model in two pieces."""
    last = size - 1
    to, of = (last if rank == 0 else None), (0 if rank == last else None)
    check(
        lambda x: T.sqr(d.send_receive(T.sin(x), to, of)), arrays(same),
        lambda xs: np.sin(xs[0]) ** 2 if rank == last else np.zeros((2, 3)),
    )  # fmt: skip


def second_derivatives() -> None:
    xs = arrays(same)
    x = T.dmatrix("x")
    cost = T.sum(d.all_reduce(x**2) ** 2)
    g = T.grad(cost, x)
    found = theano.function([x], T.grad(T.sum(g * 0.5), x))(xs[rank])
    # The cost of all ranks: size * (the sum of squares)^2; by hand.
    total, ones = sum(x**2 for x in xs), sum(xs)
    np.testing.assert_allclose(found, 2 * size * total + 4 * size * xs[rank] * ones, rtol=1e-10)


def training() -> None:
    """Each rank has rows of the data; all take the steps of one process, bit for bit alike."""
    rng = np.random.default_rng(0)
    data, target = rng.normal(size=(12, 3)), rng.normal(size=12)
    X, y, w = T.dmatrix("X"), T.dvector("y"), theano.shared(np.zeros(3), "w")
    g = d.all_reduce(T.grad(T.sum((T.dot(X, w) - y) ** 2), w))
    step = theano.function([X, y], [], updates={w: w - 0.01 * g})
    wanted = np.zeros(3)
    for _ in range(10):
        step(data[rank::size], target[rank::size])
        wanted = wanted - 0.01 * 2 * data.T @ (data @ wanted - target)
    np.testing.assert_allclose(w.get_value(), wanted, rtol=1e-10)
    assert len(set(comm.allgather(w.get_value().tobytes()))) == 1


def what_does_not_fit_is_an_error_on_all() -> None:
    x = T.dvector("x")
    for f, value in (
        (theano.function([x], d.all_reduce(x)), np.ones(rank + 1)),
        (theano.function([x], d.all_reduce(x) if rank == 0 else d.all_gather(x)), np.ones(2)),
        (theano.function([x], d.reduce_scatter(x, 1)), np.ones(7)),
    ):
        try:
            f(value)
        except (RuntimeError, ValueError) as error:
            assert "all ranks must make the same function" in str(error) or "the ranks want" in str(error), error
        else:
            raise AssertionError("no error")


faulthandler.dump_traceback_later(150, exit=True)  # a deadlock says where it is
for part in (values_and_gradients, one_way, second_derivatives, training, what_does_not_fit_is_an_error_on_all):
    part()
sys.stdout.write(f"rank {rank} is done\n")

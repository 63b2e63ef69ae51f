"""A program of two processes, which ``test_mpi.py`` starts by ``mpiexec -n 2``: each rank checks what it receives."""

from __future__ import annotations

import faulthandler
import sys

import numpy as np
from mpi4py import MPI

import theano
import theano.tensor as T
from theano.graph.schedule import sort_schedule_fn
from theano.tensor.io import mpi_cmps

rank = MPI.COMM_WORLD.Get_rank()
other = 1 - rank
assert MPI.COMM_WORLD.Get_size() == 2


def there_and_back():
    """One sends, the other doubles it and sends that back."""
    for dtype in ("float32", "float64", "int64", "complex128", "bool"):
        for shape in ((), (0,), (3,), (2, 3), (2, 1, 4)):
            value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
            if rank == 0:
                x = T.TensorType(dtype, (False,) * len(shape))("x")
                f = theano.function([x], [T.send(x, 1, 11), T.recv(shape, dtype, 1, 12)])
                _, back = f(value)
                np.testing.assert_array_equal(back, value + value)
                assert back.dtype == dtype
            else:
                y = T.recv(shape, dtype, 0, 11)
                theano.function([], T.send(T.cast(y + y, dtype), 0, 12))()


def both_at_once(mode=None):
    """Both send what is larger than MPI keeps by itself, and receive: who received first would wait for ever."""
    n = 300_000
    x = T.dvector("x")
    received = T.recv((n,), "float64", other, 20)
    f = theano.function([x], [received.sum() + x[0], T.send(x[::-1] * 2, other, 20), T.exp(x).sum()], mode=mode)
    for k in range(20):
        total, sent, around = f(np.full(n, float(rank + k)))
        assert total == 2.0 * (other + k) * n + rank + k and sent is True
        np.testing.assert_allclose(around, np.exp(rank + k) * n)


def a_sum_of_gradients():
    """Each has half of the data; both make the same steps."""
    rng = np.random.RandomState(0)
    data, target = rng.randn(40, 3), rng.randn(40)
    w, x, y = theano.shared(np.zeros(3), "w"), T.dmatrix("x"), T.dvector("y")
    g = T.grad(((T.dot(x, w) - y) ** 2).sum(), w)
    whole = g + T.recv((3,), "float64", other, 30)
    step = theano.function([x, y], T.send(g, other, 30), updates=[(w, w - 0.005 * whole)])
    wanted = np.zeros(3)
    for _ in range(10):
        step(data[rank::2], target[rank::2])
        wanted -= 0.005 * 2 * data.T @ (data @ wanted - target)
    np.testing.assert_allclose(w.get_value(), wanted, rtol=1e-10)


faulthandler.dump_traceback_later(100, exit=True)  # a deadlock says where it is
there_and_back()
both_at_once()
both_at_once(theano.Mode(optimizer=None, linker=theano.OpWiseCLinker(schedule=sort_schedule_fn(*mpi_cmps))))
both_at_once("FAST_COMPILE")
a_sum_of_gradients()
sys.stdout.write(f"rank {rank} is done\n")

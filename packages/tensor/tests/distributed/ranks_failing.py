"""A program of two ranks, one of which fails in mid-step: ``mpiexec -n 2 python ranks_failing.py KIND``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

import theano
import theano.tensor as T
from theano import distributed


class Fails(theano.Op):
    """Does nothing, but on rank 1, at the third call."""

    __props__ = ()
    calls = 0

    def make_node(self, x: Any) -> Any:
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]
        Fails.calls += 1
        if MPI.COMM_WORLD.Get_rank() == 1 and Fails.calls == 3:
            if sys.argv[1] == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ArithmeticError("the third step of rank 1")


x, w = T.dmatrix("x"), theano.shared(np.ones(2), "w")
distributed.carries(Fails)(lambda given: given.axes[0])
step = distributed.function([x], [], {w: w + T.sum(Fails()(x), axis=0)}, shard={x: 0}, on=MPI.COMM_WORLD)
data = step.scatter(np.ones((4, 2)))
for i in range(5):
    try:
        step(data)
    except Exception as error:
        said = str(error).partition("\n")[0]
        # Nothing was updated where it failed, on no rank, and the next step works on all.
        sys.stdout.write(f"rank {MPI.COMM_WORLD.Get_rank()} step {i} w {w.get_value()[0]:g}: {said}\n")
sys.stdout.write(f"end {w.get_value()[0]:g}\n")

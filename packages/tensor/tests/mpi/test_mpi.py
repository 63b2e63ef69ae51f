"""Processes on one machine send arrays to each other; ``nox -s mpi`` installs what that needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from launcher import MPIEXEC

import theano.distributed as d
import theano.tensor as T
from theano.distributed import collectives as ops
from theano.gradient import DisconnectedInputError
from theano.tensor import io


@pytest.mark.skipif(not io.mpi_enabled, reason="mpi4py is not installed: nox -s mpi installs it")
@pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec is here: nox -s mpi installs one")
@pytest.mark.parametrize(("program", "ranks"), [("ranks.py", 2), ("collective_ranks.py", 2), ("collective_ranks.py", 3)])
def test_processes_that_send_to_each_other(program: str, ranks: int):
    command = [str(MPIEXEC), "-n", str(ranks), sys.executable, str(Path(__file__).with_name(program))]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
    )  # fmt: skip
    said = sorted(done.stdout.split("\n"))
    assert done.returncode == 0 and said == ["", *(f"rank {r} is done" for r in range(ranks))], (
        done.stdout + done.stderr
    )


def test_gradients_go_back_the_way_that_values_came():
    x, n, like = T.dmatrix("x"), T.lscalar("n"), T.dmatrix("like")
    ways = [
        (d.all_reduce(x), ops.AllReduce()), (d.broadcast(x, 2), ops.ReduceTo(2)), (ops.ReduceTo(2)(x), ops.Broadcast(2)),
        (d.all_gather(x), ops.ReduceScatter()), (d.reduce_scatter(x, n), ops.AllGather()),
        (d.send_receive(x, 1, 2, tag=3, like=like), ops.SendReceive(2, 1, 3)),
    ]  # fmt: skip
    for y, back in ways:
        g = T.dmatrix("g")
        (found,) = T.grad(None, [x], known_grads={y: g})
        assert found.owner.op == back and found.owner.inputs[0] is g, str(back)
    # Neither how many rows come back nor the shape of zeros have a derivative.
    for y, v in ((ways[4][0], n), (ways[5][0], like)):
        assert y.owner.op.connection_pattern(y.owner) == [[True], [False]]
        with pytest.raises(DisconnectedInputError):
            T.grad(y.sum(), v)

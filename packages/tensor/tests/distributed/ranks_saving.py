"""All ranks save and load checkpoints together: ``mpiexec -n 2 python ranks_saving.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import theano
import theano.tensor as T
from theano import distributed


def main(folder: str) -> None:
    comm = MPI.COMM_WORLD
    x, w = T.dmatrix("x"), theano.shared(np.arange(3.0), "w")
    f = distributed.function([x], T.dot(x, w), shard={x: 0}, shards=5, on=comm)
    found = f(np.arange(21.0).reshape(7, 3))
    for per_shard in (True, False):
        path = Path(folder) / ("directory" if per_shard else "file")
        distributed.save(path, {"w": w, "y": found}, per_shard=per_shard, on=comm)
        w.set_value(np.zeros(3))
        again = distributed.load(path, [w], on=comm)["y"]
        assert len(again.shards) == 5 and (again.gather() == np.arange(21.0).reshape(7, 3) @ np.arange(3.0)).all()
        assert (w.get_value() == np.arange(3.0)).all()
    # What fits on one rank only is loaded on none; what cannot be written is told on all.
    v = theano.shared(np.zeros(3 + comm.Get_rank()), "w")
    errors = 0
    try:
        distributed.load(Path(folder) / "file", [v], on=comm)
    except (distributed.CheckpointError, RuntimeError):
        errors += 1
    for per_shard in (True, False):
        try:
            distributed.save(Path(folder) / "not" / "there", {"w": w, "y": found}, per_shard=per_shard, on=comm)
        except (OSError, RuntimeError):
            errors += 1
    assert errors == 3 and not v.get_value().any(), errors
    print(f"rank {comm.Get_rank()} agrees\n", end="", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

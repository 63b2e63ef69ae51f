"""Functions of data split into shards, many fits, checkpoints: on one machine, on Dask workers, or on MPI's ranks.

``rules.py`` is the table of how op families carry a shard; ``stages.py`` walks a graph with it and splits it into
stages; ``function.py`` compiles and runs these; ``combining.py`` is the tree in which their parts are combined.
``engines.py`` says what runs the local parts, ``dask_engine.py`` (by ``direct.py`` and ``connections.py``, or by tasks)
and ``mpi_engine.py`` where; ``local.py`` starts workers here, in the process of
``cluster_process.py``.
``many.py`` calls a function for many sets of parameters: ``pools.py`` says where, ``workers.py`` is what runs
there. ``checkpoints.py`` saves and loads values, in the files of ``archive.py``. ``collectives.py`` has ops for MPI
programs of one's own.
"""

from __future__ import annotations

from theano.distributed.archive import CheckpointError
from theano.distributed.checkpoints import load, save
from theano.distributed.collectives import all_gather, all_reduce, broadcast, reduce_scatter, send_receive
from theano.distributed.dask_engine import DaskEngine
from theano.distributed.engines import Engine, SerialEngine
from theano.distributed.function import DistributedFunction, ShardedArray, function
from theano.distributed.many import FailedTasksError, Failure, LostTaskError, map
from theano.distributed.mpi_engine import MPIEngine
from theano.distributed.rules import TABLE, NotCarriedError, carries

__all__ = [
    "TABLE", "CheckpointError", "DaskEngine", "DistributedFunction", "Engine", "FailedTasksError", "Failure",
    "LostTaskError", "MPIEngine", "NotCarriedError", "SerialEngine", "ShardedArray", "all_gather", "all_reduce",
    "broadcast", "carries", "function", "load", "map", "reduce_scatter", "save", "send_receive",
]  # fmt: skip

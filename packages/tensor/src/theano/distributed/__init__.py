"""Functions of data that lie in shards: on one machine, on Dask workers, or on the ranks of MPI.

``rules.py`` is the table of how op families carry a shard; ``stages.py`` walks a graph with it and splits it into
stages; ``function.py`` compiles and runs these; ``engines.py`` says where the local parts run.
"""

from __future__ import annotations

from theano.distributed.engines import DaskEngine, Engine, MPIEngine, SerialEngine
from theano.distributed.function import DistributedFunction, ShardedArray, function
from theano.distributed.rules import TABLE, NotCarriedError, carries

__all__ = [
    "TABLE", "DaskEngine", "DistributedFunction", "Engine", "MPIEngine", "NotCarriedError", "SerialEngine",
    "ShardedArray", "carries", "function",
]  # fmt: skip

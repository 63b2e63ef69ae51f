"""The passes that bring graphs to devices; to import this module enters them.

They take part where a query has ``gpuarray``; once a device was started for functions, in each (`theano.gpuarray.use`).
"""

from __future__ import annotations

from theano.gpuarray import lowering  # noqa: F401  (its entries)
from theano.gpuarray.lowering.common import TARGET
from theano.gpuarray.placement import GpuPlacement, name_ops
from theano.rewriting.phases import phases

# Fusion is complete at this point, and in-place rewriting has not started.
phases.register("gpuarray_opt", GpuPlacement(TARGET), 49.4, "gpuarray", "placement")
phases.register("gpu_names", name_ops, 101, "gpuarray")

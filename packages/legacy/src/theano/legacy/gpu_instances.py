"""Ops on devices, as instances that older programs call."""

from __future__ import annotations

from theano.gpuarray.ops import GpuAllocEmpty, GpuContiguous, GpuJoin
from theano.gpuarray.variables import GpuFromHost

gpu_contiguous, gpu_join = GpuContiguous(), GpuJoin()

# Of the backend before, with its one device and dtype.
gpu_from_host, gpu_alloc_empty = GpuFromHost(None), GpuAllocEmpty("float32", None)

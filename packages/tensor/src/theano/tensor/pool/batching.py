"""Batching rule of pooling: windows span the last axes, so more rows are one more axis before them."""

from __future__ import annotations

from typing import Any

from theano.tensor.batching.batched_node import BatchedNode, batches
from theano.tensor.pool.op import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
)


@batches(Pool, MaxPoolGrad, AveragePoolGrad, DownsampleFactorMaxGradGrad, MaxPoolRop)
def _one_more_axis(given: BatchedNode) -> Any:
    arrays = range(len(given.op.arrays))
    if not given.only(*arrays):
        return None  # windows of their own for each row
    return given.op(*(given.full(i) for i in arrays), *given.inputs[len(arrays) :])

"""Batching rules of convolutions: more images are a larger batch."""

from __future__ import annotations

from typing import Any

from theano.tensor.batching.batched_node import BatchedNode, batches
from theano.tensor.conv.conv_elemwise import ConvElemwise
from theano.tensor.conv.op import (
    AbstractConv2d,
    AbstractConv2d_gradInputs,
    AbstractConv3d,
    AbstractConv3d_gradInputs,
)


@batches(AbstractConv2d, AbstractConv3d, ConvElemwise)
def _more_images(given: BatchedNode) -> Any:
    if not given.only(0):
        return None  # filters, or numbers for them, of their own for each row
    return given.split_batch(given.op(given.merge_batch(0), *given.inputs[1:]), 0)


@batches(AbstractConv2d_gradInputs, AbstractConv3d_gradInputs)
def _more_outputs(given: BatchedNode) -> Any:
    if not given.only(1):
        return None
    return given.split_batch(given.op(given.inputs[0], given.merge_batch(1), given.inputs[2]), 1)

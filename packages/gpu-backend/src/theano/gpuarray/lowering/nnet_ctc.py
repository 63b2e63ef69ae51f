"""Connectionist temporal classification, a group of work-items for each sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.gpuarray.kernels.library import ready
from theano.gpuarray.kernels.parameters import DeviceAlignments
from theano.gpuarray.lowering.common import functions, on_device, shipped
from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.table import register
from theano.tensor.kernels.common import dtype_of
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification

if TYPE_CHECKING:
    from theano.graph.annotations import Node


@ready("th_kernel_gpu_ctc")
def ctc_kernel(op: Any, node: Apply) -> Parameters:
    """Return minus the logarithm of the probability of labels, and its gradient."""
    text = shipped("nnet_ctc.cl", dtype_of(node.inputs[0]))
    log_softmax, alignments = functions(node, text, ("log_softmax", "alignments"))
    return DeviceAlignments(log_softmax=log_softmax, alignments=alignments)


def _labels(node: Node) -> tuple[int, ...]:
    """Return the inputs that the host reads: labels, and how many steps sequences have."""
    return (1, 2)


register(on_device(ConnectionistTemporalClassification, ctc_kernel, on_host=_labels))

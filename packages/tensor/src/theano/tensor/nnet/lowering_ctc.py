"""Connectionist temporal classification: kernels built with the layer (``c/ctc.c``)."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels.common import nothing, ready
from theano.tensor.nnet.ctc import ConnectionistTemporalClassification


@ready("th_kernel_ctc", work=50.0)
def ctc_kernel(op: ConnectionistTemporalClassification, node: Apply) -> Parameters:
    """Return minus the logarithm of the probability of labels, and its gradient."""
    return nothing


register(
    Lowering(ConnectionistTemporalClassification, ctc_kernel, Accepts(
        "activations, labels, lengths -> costs, *gradient",
        dtypes={"activations": SINGLE_OR_DOUBLE, "labels": INTEGERS, "lengths": INTEGERS},
        same=("activations costs gradient",),
    )),
)  # fmt: skip

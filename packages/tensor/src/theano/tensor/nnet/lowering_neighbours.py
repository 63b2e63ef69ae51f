"""Neighbourhoods of images as rows: kernels built with the layer (``c/neighbours.c``)."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INTEGERS, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import ready
from theano.tensor.kernels.parameters import Neighbours
from theano.tensor.nnet.neighbours import Images2Neibs


@ready("th_kernel_images2neibs", work=1.0)
def images2neibs_kernel(op: Images2Neibs, node: Apply) -> Parameters:
    """Return the neighbourhoods of images as rows."""
    return parameters.Images2NeibsParams(mode=Neighbours[op.mode.upper()])


register(
    Lowering(Images2Neibs, images2neibs_kernel, Accepts(
        "images, shape, step -> rows", dtypes={"shape": INTEGERS, "step": INTEGERS}, same=("images rows",),
    )),
)  # fmt: skip

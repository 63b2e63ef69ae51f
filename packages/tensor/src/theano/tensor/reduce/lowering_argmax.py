"""Where the largest or smallest element is: argmax over any axes, alone or with the maximum itself (``c/argmax.c``)."""

from __future__ import annotations

from typing import Any

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import INT64, REAL, Accepts
from theano.lowering.table import Lowering, register
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import ndim_of, normal_axes, ready
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax


def _params(op: Argmax, node: Apply, smallest: bool) -> Parameters | None:
    """Return the axes, which count as one in C order, and what is searched."""
    ndim = ndim_of(node.inputs[0])
    axes = normal_axes(op.axis, ndim)
    if ndim_of(node.outputs[0]) != ndim - len(axes):
        return None
    return parameters.ArgmaxParams(searched=sum(1 << a for a in axes), smallest=smallest)


@ready("th_kernel_argmax")
def argmax_kernel(op: Argmax, node: Apply) -> Parameters | None:
    """Return the places of the largest elements, and these themselves where two outputs are wanted."""
    return _params(op, node, smallest=False)


@ready("th_kernel_argmax")
def argmin_kernel(op: Any, node: Apply) -> Parameters | None:
    """Return the places of the smallest elements."""
    return _params(op, node, smallest=True)


_PLACES = Accepts("x -> place", dtypes={"x": REAL, "place": INT64})

register(
    Lowering(Argmax, argmax_kernel, _PLACES),
    Lowering(Argmin, argmin_kernel, _PLACES),
    Lowering(MaxAndArgmax, argmax_kernel, Accepts(
        "x -> largest, place", dtypes={"x": REAL, "place": INT64}, same=("x largest",),
    )),
)  # fmt: skip

"""Joins and their pieces: kernels built with the layer, and the parameters that each node hands them."""

from __future__ import annotations

from theano.graph.apply import Apply
from theano.graph.parameters import Parameters
from theano.lowering.accepts import WHOLE, Accepts
from theano.lowering.table import Lowering, register
from theano.lowering.targets import ANY
from theano.tensor.join.op import Join, MakeVector, Split
from theano.tensor.kernels import parameters
from theano.tensor.kernels.common import is_view, nothing, ready


@ready("th_kernel_join")
def join_kernel(op: Join, node: Apply) -> Parameters:
    """Return the join of tensors along a run-time axis.

    ``op.view`` is read if output 0 is declared a view.
    """
    return parameters.JoinParams(viewed=op.view if is_view(op) else -1)


@ready("th_kernel_split")
def split_kernel(op: Split, node: Apply) -> Parameters:
    """Return the pieces of a tensor along a run-time axis; views where declared."""
    return parameters.SplitParams(copies=[not is_view(op, i) for i in range(len(node.outputs))])


@ready("th_kernel_make_vector")
def make_vector_kernel(op: MakeVector, node: Apply) -> Parameters:
    """Return a vector of numbers."""
    return nothing


register(
    Lowering(Join, join_kernel, Accepts(
        "axis, *parts -> y", dtypes={"axis": WHOLE}, same=("parts y",),
    ), target=ANY, on_host=lambda node: (0,)),
    Lowering(Split, split_kernel, Accepts(
        "x, axis, lengths -> *parts", dtypes={"axis": WHOLE, "lengths": WHOLE},
    ), target=ANY, on_host=lambda node: (1, 2)),
    Lowering(MakeVector, make_vector_kernel, Accepts("*numbers -> vector", same=("numbers vector",))),
)  # fmt: skip

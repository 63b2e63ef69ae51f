"""What is done with each result of a convolution is done while the result is in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import FunctionGraph
from theano.lowering.table import lower
from theano.rewriting import Context
from theano.tensor.conv.conv_elemwise import ConvElemwise, suits
from theano.tensor.conv.op import AbstractConv
from theano.tensor.elemwise.rules.fusion import fusion_phases
from theano.tensor.kernels.parameters import ConvLimit
from theano.tensor.rules.joining import is_fusible, scalar_expression
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.annotations import Node


def fuse_convolutions(fgraph: FunctionGraph, context: Context) -> None:
    """Compute an element-wise op of a convolution with it, such as a bias and an activation.

    Its other operands are a number for each filter, or one for all. The results themselves have no other use. Several
    outputs are faster in a pass of their own: they would be written in pieces here and there.
    """
    for node in fgraph.toposort():
        if len(node.outputs) > 1 or not is_fusible(node) or len(node.inputs) >= ConvLimit.OPERANDS:
            continue
        made = [v for v in node.inputs if v.owner is not None and isinstance(v.owner.op, AbstractConv)]
        if len(made) == 1 and len(made[0].clients) == 1 and lower(made[0].owner) is not None:
            _join(fgraph, node, made[0], context)


def split_convolutions(fgraph: FunctionGraph, context: Context) -> list[tuple[ConvElemwise, Node]]:
    """Undo `fuse_convolutions`, and return the ops that were there with the nodes of what is done with results."""
    found = []
    for node in fgraph.toposort():
        if isinstance(node.op, ConvElemwise):
            made = node.op.apart(*node.inputs)
            context.replace(fgraph, [(node.outputs[0], made)], "conv_elemwise_split")
            found.append((node.op, made.owner))
    return found


def join_convolutions(
    fgraph: FunctionGraph, context: Context, split: Sequence[tuple[ConvElemwise, Node]]
) -> None:
    """Undo `split_convolutions` where both nodes are still there."""
    for op, node in split:
        if node in fgraph.apply_nodes and node.inputs[0].owner is not None and node.inputs[0].owner.op == op.conv:
            joined = op(*node.inputs[0].owner.inputs, *node.inputs[1:])
            context.replace(fgraph, [(node.outputs[0], joined)], "conv_elemwise_fusion")


def _join(fgraph: FunctionGraph, node: TensorApply, y: Any, context: Context) -> None:
    """Put one node in the place of a convolution, which makes ``y``, and of the element-wise node that uses it."""
    outside, known = scalar_expression([node], [])
    result, others = outside.pop(y), list(outside)
    if node.outputs[0].type != y.type or not suits(others, y.type.dtype):
        return
    expression = scal.Composite([result, *outside.values()], [known[node.outputs[0]]])
    fused = ConvElemwise(y.owner.op, expression)(*y.owner.inputs, *others)
    context.replace(fgraph, [(node.outputs[0], fused)], "conv_elemwise_fusion")


# When element-wise nodes have been joined.
fusion_phases.register("conv_elemwise_fusion", fuse_convolutions, 2, "fast_run", "fusion")

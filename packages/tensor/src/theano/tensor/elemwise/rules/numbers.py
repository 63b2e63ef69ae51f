"""Numbers: tensors of one element are computed without dimensions, and read without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph import Constant
from theano.rewriting import phases
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.numbers import ElemwiseOfNumbers
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.elemwise.rules.fusion import fusion_phases
from theano.tensor.reduce.map_reduce import MapReduce, MapReduceOfNumbers
from theano.tensor.rules.joining import is_fusible, loop_pattern
from theano.tensor.rules.predicates import number_of
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph import FunctionGraph, Op, Variable
    from theano.rewriting import Context
    from theano.tensor.type import Tensor


def compute_numbers(fgraph: FunctionGraph, context: Context) -> None:
    """Element-wise nodes whose inputs are numbers with dimensions of length 1 compute before these are added."""
    for node in fgraph.toposort():
        pattern = loop_pattern(node) if isinstance(node.op, Elemwise) else ()
        if not pattern or not all(pattern) or not is_fusible(node):
            continue
        inputs = [_as_number(v) for v in node.inputs]
        if None in inputs:
            continue
        made: list[Tensor] = node.op.make_node(*inputs).outputs
        shaped = [DimShuffle((), ("x",) * len(pattern))(v) for v in made]
        if all(new.type == old.type for new, old in zip(shaped, node.outputs, strict=True)):
            context.replace(fgraph, list(zip(node.outputs, shaped, strict=True)), "compute_numbers")


def _as_number(v: Tensor) -> Variable | None:
    """Return a constant, or a number with dimensions of length 1, without them; None for others."""
    if isinstance(v, Constant):
        return number_of(v.data.reshape(-1)[0], v.type.dtype, 0) if v.data.size == 1 else None
    if v.owner is None or not isinstance(v.owner.op, DimShuffle):
        return None
    x: Tensor = v.owner.inputs[0]
    return None if x.type.ndim else x


def read_numbers(fgraph: FunctionGraph, context: Context) -> None:
    """Loops read numbers without the dimensions that were added to them."""
    for node in fgraph.toposort():
        other = _of_numbers(node.op)
        if other is None:
            continue
        written = {i for places in node.op.destroy_map.values() for i in places}
        inputs: list[Tensor] = [v if i in written else _without_axes(v) for i, v in enumerate(node.inputs)]
        if inputs == node.inputs or not any(v.type.ndim for v in inputs):
            continue
        made = other.make_node(*inputs).outputs
        if all(new.type == old.type for new, old in zip(made, node.outputs, strict=True)):
            context.replace(fgraph, list(zip(node.outputs, made, strict=True)), "read_numbers")


def _of_numbers(op: Op) -> Op | None:
    """Return the op that does the same with numbers, None for what is no loop."""
    if type(op) is Elemwise:
        return ElemwiseOfNumbers(op.scalar_op, op.inplace_pattern)
    return MapReduceOfNumbers(op.scalar_op, op.reductions) if type(op) is MapReduce else None


def _without_axes(v: Tensor) -> Tensor:
    """Return the number that a variable is but for its dimensions, else the variable."""
    if v.owner is None or not isinstance(v.owner.op, DimShuffle):
        return v
    (x,) = v.owner.inputs
    return x if type(x.type) is TensorType and not x.type.ndim else v


# Before nodes are joined, so that numbers are joined with numbers.
fusion_phases.register("compute_numbers", compute_numbers, -3, "fast_run", "fusion")
# After all rules that look at loops, and all decisions to work in place.
phases.register("read_numbers", read_numbers, 101, "fast_run")

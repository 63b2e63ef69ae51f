"""Parts of tensors, read and written."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.basic import Choose, PermuteRowElements
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset, RavelMultiIndex, UnravelIndex
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor, IncSubtensor, Subtensor
from pytensor.tensor.type_other import NoneTypeT

import theano.tensor as T
from theano_pytensor.convert import convert
from theano_pytensor.types import cast


def entries(op: Any, node: Any, indices: Any, first: int) -> tuple[Any, ...]:
    """Return an index of Python, of variables of ours; ``first`` is the place of the first one in the node."""

    def entry(k: Any) -> Any:
        if k is None or isinstance(node.inputs[first + k].type, NoneTypeT):
            return None
        v = node.inputs[first + k]
        value = getattr(v, "data", None)
        if value is not None and getattr(value, "ndim", 1) == 0:
            return int(value)  # a constant: our ops keep what they know
        return indices[k]

    return tuple(
        slice(entry(e.start), entry(e.stop), entry(e.step)) if isinstance(e, slice) else entry(e) for e in op.idx_list
    )


@convert.register(Subtensor)
@convert.register(AdvancedSubtensor)
def _(op: Any, node: Any, x: Any, *indices: Any) -> Any:
    return x[entries(op, node, indices, 1)]


@convert.register(IncSubtensor)
@convert.register(AdvancedIncSubtensor)
def _(op: Any, node: Any, x: Any, y: Any, *indices: Any) -> Any:
    part = x[entries(op, node, indices, 2)]
    y = cast(y, x.type.dtype)
    if op.set_instead_of_inc:
        return T.set_subtensor(part, y)
    if getattr(op, "ignore_duplicates", False):
        return T.set_subtensor(part, part + y)  # of places that are named twice the last one counts
    return T.inc_subtensor(part, y)


@convert.register(FillDiagonal)
def _(op: Any, node: Any, x: Any, value: Any) -> Any:
    return T.fill_diagonal(x, value)


@convert.register(FillDiagonalOffset)
def _(op: Any, node: Any, x: Any, value: Any, offset: Any) -> Any:
    return T.fill_diagonal_offset(x, value, offset)


@convert.register(UnravelIndex)
def _(op: Any, node: Any, places: Any, lengths: Any) -> Any:
    return T.unravel_index(places, lengths, op.order, ndim=len(node.outputs))


@convert.register(RavelMultiIndex)
def _(op: Any, node: Any, *inputs: Any) -> Any:
    *indices, lengths = inputs
    return T.ravel_multi_index(indices, lengths, op.mode, op.order)


@convert.register(PermuteRowElements)
def _(op: Any, node: Any, x: Any, order: Any) -> Any:
    return T.permute_row_elements(x, order, op.inverse)


@convert.register(Choose)
def _(op: Any, node: Any, numbers: Any, choices: Any) -> Any:
    if not isinstance(choices.type, T.TensorType):
        raise NotImplementedError("a choice from a list of tensors of several shapes")
    return T.choose(numbers, choices, mode=op.mode)

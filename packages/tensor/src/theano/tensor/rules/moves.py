"""Ops that move elements and compute nothing: whose elements their results have, and which op undoes which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Apply, Op
from theano.tensor.create.alloc import Alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import switch
from theano.tensor.index.advanced import (
    AdvancedBooleanIncSubtensor,
    AdvancedBooleanSubtensor,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.join.op import Join, MakeVector, Split
from theano.tensor.rules.predicates import scalar_of
from theano.tensor.shape.basic import Rebroadcast, SpecifyShape
from theano.tensor.shape.diagonals import ExtractDiag, SetDiag
from theano.tensor.shape.repeat import RepeatOp
from theano.tensor.shape.reshape import Reshape
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor

#: For each class of ops that write into parts of a tensor, the one that reads the same parts.
READS: Mapping[type[Op], type[Op]] = {
    IncSubtensor: Subtensor, AdvancedIncSubtensor1: AdvancedSubtensor1, AdvancedIncSubtensor: AdvancedSubtensor,
    AdvancedBooleanIncSubtensor: AdvancedBooleanSubtensor, SetDiag: ExtractDiag,
}  # fmt: skip

_OF_FIRST = (DimShuffle, Reshape, Rebroadcast, SpecifyShape, Alloc, Split, RepeatOp, *READS.values())

#: All classes and ops with which an element may change its place.
MOVES = (*_OF_FIRST, Join, MakeVector, *READS, switch)


def sources(v: Variable) -> tuple[int, ...]:
    """Return the positions of those inputs of the owner of ``v`` whose elements ``v`` has; () if it has others.

    Examples
    --------
    >>> import theano.tensor as T
    >>> a, b = T.dmatrices("a", "b")
    >>> sources(a[0]), sources(T.concatenate([a, b])), sources(T.switch(a, a, b)), sources(a + b)
    ((0,), (1, 2), (1, 2), ())
    """
    node = v.owner
    if node is None:
        return ()
    op: Op = node.op
    if isinstance(op, _OF_FIRST):
        return (0,)
    if isinstance(op, Join):
        return tuple(range(1, len(node.inputs)))
    if isinstance(op, MakeVector):
        return tuple(range(len(node.inputs)))
    if type(op) in READS:
        return (0, 1) if replaces(op) else ()
    chosen = scalar_of(node)
    return (1, 2) if chosen == scal.switch else (1,) if chosen == scal.second else ()


def moved_alike(v: Any, replacements: Mapping[int, Tensor]) -> Tensor:
    """Return what the owner of ``v`` makes of other variables at some positions."""
    node: Apply = v.owner
    inputs = [replacements.get(i, w) for i, w in enumerate(node.inputs)]
    made: list[Any] = node.op.make_node(*inputs).outputs
    return made[node.outputs.index(v)]


def same_part(a: TensorApply, b: TensorApply) -> bool:
    """Return whether two nodes that read or write parts of tensors name the same parts.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x, y, places = T.dvector("x"), T.dvector("y"), T.lvector("places")
    >>> written = T.set_subtensor(y[places], 0).owner
    >>> same_part(x[places].owner, written), same_part(x[2 * places].owner, written)
    (True, False)
    """
    return _part(a) == _part(b) is not None


def _part(node: TensorApply) -> Any:
    """Return what tells parts of a tensor from others; None where the node neither reads nor writes a part."""
    op, x = node.op, node.inputs[0]
    if isinstance(op, (ExtractDiag, SetDiag)):
        ndim = x.type.ndim
        return op.offset, op.axis1 % ndim, op.axis2 % ndim
    places = 2 if type(op) in READS else 1 if type(op) in READS.values() else None
    return None if places is None else (getattr(op, "idx_list", None), list(node.inputs[places:]))


def replaces(op: Op) -> bool:
    """Return whether an op that writes into parts replaces the old values."""
    return type(op) in READS and getattr(op, "set_instead_of_inc", True)

"""How op families carry a shard: one statement for each.

A rule is asked of a node of which at least one input is sharded, and answers with one of

* a number: each output is sharded along this axis, and the op itself computes a shard of it from shards;
* `Partial`: the op computes on each shard a part of its only output, and a reduction of the parts gives the whole;
* `Expanded`: the outputs as expressions of other ops, which are looked at in turn;
* `Local`: other expressions of the shards, and the axis along which they are sharded;
* None: it does not carry the shard on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.gradient.barriers import IdentityOp
from theano.graph.variable import Variable
from theano.tensor.blas.dot import BatchedDot, Dot
from theano.tensor.convert import NotScalarConstantError, get_scalar_constant_value, static_int
from theano.tensor.create.alloc import Alloc, alloc
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import exp, log
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.advanced import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
)
from theano.tensor.index.basic import IncSubtensor, Subtensor
from theano.tensor.join.op import Join, Split
from theano.tensor.nnet.crossentropy import CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad
from theano.tensor.nnet.softmax import LogSoftmax, Softmax, SoftmaxGrad
from theano.tensor.reduce import functions as reductions
from theano.tensor.reduce.argmax import Argmax, Argmin, MaxAndArgmax
from theano.tensor.reduce.careduce import CAReduce, ProductOfOthers
from theano.tensor.reduce.logsumexp import LogSumExp
from theano.tensor.shape.basic import Rebroadcast
from theano.tensor.shape.contiguous import CpuContiguous
from theano.tensor.sort.cumulative import CumOp, LinearRecurrence
from theano.tensor.sort.op import ArgSortOp, SortOp

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.type import Tensor


class NotCarriedError(NotImplementedError):
    """An op does not carry a shard on: what it computes for one shard is neither a shard nor a part of its result."""


@dataclass(frozen=True)
class Partial:
    """What each shard has a part of; ``kind`` names the reduction (`COMBINATIONS` in ``combining.py``)."""

    kind: str


@dataclass(frozen=True)
class Expanded:
    """The outputs of a node in other ops, on the node's own inputs."""

    outputs: Sequence[Any]


@dataclass(frozen=True)
class Local:
    """The outputs of a node for one shard, on the shard's inputs, and the axis along which they are sharded."""

    outputs: Sequence[Any]
    axis: int


class ShardedNode:
    """What a rule is given.

    Parameters
    ----------
    node : Apply
    axes : list of int or None
        Along which axis each input is sharded; None for one that is the same everywhere.
    lengths : list of bool
        Which inputs are the length of the sharded axis over all shards.
    inputs : list of Variable
        The inputs for one shard; one that is such a length is the length of the shard.
    counts : list of bool
        Which inputs are the numbers of the rows, counted over all shards (``arange`` of such a length).
    start : Variable
        The number of the shard's first row.
    """

    def __init__(
        self, node: Node, axes: Sequence[int | None], lengths: Sequence[bool], inputs: Sequence[Any],
        counts: Sequence[bool], start: Tensor,
    ):  # fmt: skip
        self.node, self.axes, self.lengths, self.inputs = node, axes, lengths, inputs
        self.op: Any = node.op
        self.counts, self.start = counts, start

    def only(self, *places: int) -> bool:
        """Return whether no other inputs than those at ``places`` are sharded."""
        return all(a is None or i in places for i, a in enumerate(self.axes))

    def one_axis(self) -> int | None:
        """Return the axis along which all sharded inputs are, or None where they are along different ones."""
        found = {a for a in self.axes if a is not None}
        return found.pop() if len(found) == 1 else None

    def ndim(self, i: int) -> int:
        """Return how many dimensions input ``i`` has."""
        return int(getattr(self.node.inputs[i].type, "ndim", 0))


Rule = Callable[[ShardedNode], Any]

#: The rules, by class of op; they count for subclasses too.
TABLE: dict[type, Rule] = {}


def carries(*classes: type) -> Callable[[Rule], Rule]:
    """Enter a rule for classes of ops.

    Parameters
    ----------
    *classes : type
        The classes.

    Returns
    -------
    callable
        A decorator of the rule, a function of a `ShardedNode`.

    Examples
    --------
    >>> import theano.distributed
    >>> class Mark:
    ...     "An op of which each shard computes its own part."
    >>> @carries(Mark)
    ... def axis_of_result(given):
    ...     return given.axes[0]
    >>> axis_of_result.__name__
    'axis_of_result'
    """

    def enter(rule: Rule) -> Rule:
        TABLE.update(dict.fromkeys(classes, rule))
        return rule

    return enter


@carries(Elemwise)
def _elemwise(given: ShardedNode) -> int | None:
    axis = given.one_axis()
    if axis is None:
        return None
    # What is the same everywhere must stretch along the axis: one that is as long as all shards fits none of them.
    same = (v.type for v, a in zip(given.node.inputs, given.axes, strict=True) if a is None)
    return axis if all(t.broadcastable[axis] for t in same) else None


#: For the scalar op of a reduction, how parts of it are combined.
REDUCTIONS = {"add": "sum", "mul": "product", "maximum": "max", "minimum": "min", "and_": "and", "or_": "or"}


@carries(CAReduce, LogSumExp, MaxAndArgmax, Argmax, Argmin)
def _reduced(given: ShardedNode) -> Any:
    axis, axes = given.axes[0], given.op.axes_of(given.ndim(0))
    assert axis is not None
    if axis not in axes:
        return axis - sum(d < axis for d in axes)
    # Places of the largest are not combined: they have no scalar op.
    kind = "logsumexp" if isinstance(given.op, LogSumExp) else REDUCTIONS.get(str(getattr(given.op, "scalar_op", None)))
    return None if kind is None else Partial(kind)


@carries(ProductOfOthers)
def _others(given: ShardedNode) -> Any:
    axis, along = given.one_axis(), given.op.axis
    axes = range(given.ndim(0)) if along is None else [d % given.ndim(0) for d in np.atleast_1d(along)]
    return None if axis in axes else axis


@carries(Dot)
def _product(given: ShardedNode) -> Any:
    a, b = given.axes
    last, first = given.ndim(0) - 1, max(given.ndim(1) - 2, 0)
    if a == last and b == first:
        return Partial("sum")
    if b is None and a is not None and a != last:
        return a
    if a is None and b is not None and b != first:
        return last + (b if b < first else b - 1)
    return None


@carries(BatchedDot)
def _products(given: ShardedNode) -> Any:
    return 0 if list(given.axes) == [0, 0] else None


@carries(DimShuffle)
def _shuffled(given: ShardedNode) -> Any:
    return given.op.new_order.index(given.axes[0])


@carries(Rebroadcast, CpuContiguous, IdentityOp)
def _same(given: ShardedNode) -> Any:
    return given.axes[0]


@carries(Softmax, LogSoftmax)
def _softmax(given: ShardedNode) -> int | Expanded:
    if given.axes[0] == 0:
        return 0
    (x,) = given.node.inputs
    # Not by the maximum, which rows of no elements have not.
    shifted = x - reductions.logsumexp(x, axis=1, keepdims=True)
    e = exp(shifted)
    total = reductions.sum(e, axis=1, keepdims=True)
    # Where numbers are large it is not 1: their logsumexp has lost what the difference needs.
    return Expanded([shifted - log(total) if isinstance(given.op, LogSoftmax) else e / total])


@carries(SoftmaxGrad)
def _softmax_slope(given: ShardedNode) -> int | Expanded:
    if list(given.axes) == [0, 0]:
        return 0
    dy, sm = given.node.inputs
    return Expanded([sm * (dy - reductions.sum(dy * sm, axis=1, keepdims=True))])


@carries(CrossentropyCategorical1Hot, CrossentropyCategorical1HotGrad)
def _entropy(given: ShardedNode) -> int | None:
    return 0 if all(a == 0 for a in given.axes) else None


@carries(Join)
def _joined(given: ShardedNode) -> int | None:
    axis, at = given.one_axis(), static_int(given.node.inputs[0])
    if axis is None or at is None or any(a is None for a in given.axes[1:]):
        return None
    return axis if at % given.ndim(1) != axis else None


@carries(Split)
def _pieces(given: ShardedNode) -> int | None:
    at = static_int(given.node.inputs[1])
    return given.axes[0] if at is not None and given.only(0) and at % given.ndim(0) != given.axes[0] else None


def _kept(entries: Sequence[object], axis: int) -> int | None:
    """Return which axis of ``x[entries]`` the axis of ``x`` is, or None where not all of it is taken."""
    if axis < len(entries) and entries[axis] != slice(None):
        return None
    return axis - sum(not isinstance(e, slice) for e in entries[:axis])


@carries(Subtensor)
def _taken(given: ShardedNode) -> Any:
    axis = given.axes[0]
    return _kept(given.op.idx_list, axis) if axis is not None and given.only(0) else None


@carries(IncSubtensor)
def _changed(given: ShardedNode) -> int | None:
    axis = given.axes[0]
    if axis is None or not given.only(0, 1):
        return None
    kept = _kept(given.op.idx_list, axis)
    if kept is None:
        return None
    x, y = given.node.inputs[:2]
    taken = x.type.ndim - sum(not isinstance(e, slice) for e in given.op.idx_list)
    place = kept - (taken - y.type.ndim)
    fits = given.axes[1] == place if given.axes[1] is not None else place < 0 or y.type.broadcastable[place]
    return axis if fits else None


@carries(AdvancedSubtensor1)
def _rows_taken(given: ShardedNode) -> int | None:
    return 0 if given.axes[0] is None else None


@carries(AdvancedIncSubtensor1)
def _rows_added(given: ShardedNode) -> Any:
    """Return the rule of the gradient of ``W[y]``: what shards add to zeros are parts of a sum."""
    if given.op.set_instead_of_inc or list(given.axes) != [None, 0, 0]:
        return None
    return Partial("sum") if _is_zero(given.node.inputs[0]) else None


def _is_zero(x: Variable) -> bool:
    try:
        return bool(get_scalar_constant_value(x) == 0)
    except NotScalarConstantError:
        return False


def _counted(given: ShardedNode, first: int) -> tuple[list[Variable], int] | None:
    """Return the inputs for one shard where one of the indices counts the rows, and the axis of the indices.

    ``first`` is the place of the first index. The numbers of the rows begin with the shard's first.
    """
    places = range(first, len(given.inputs))
    rows = [i for i in places if given.counts[i]]
    ndims = {given.ndim(i) for i in places}
    if len(rows) != 1 or len(places) != given.ndim(0) or len(ndims) != 1 or given.axes[0] != rows[0] - first:
        return None
    at = given.axes[rows[0]]
    if at is None or not all(_along(given, i, at) for i in places):
        return None
    return [v - given.start if i in rows else v for i, v in enumerate(given.inputs)], at


def _along(given: ShardedNode, i: int, at: int) -> bool:
    """Return whether an input is sharded along an axis, or stretches along it."""
    return given.axes[i] == at if given.axes[i] is not None else bool(given.node.inputs[i].type.broadcastable[at])


@carries(AdvancedSubtensor)
def _of_each_row(given: ShardedNode) -> Any:
    """Return the rule of ``x[arange(n), y]``."""
    found = _counted(given, 1)
    return found and Local(given.op.make_node(*found[0]).outputs, found[1])


@carries(AdvancedIncSubtensor)
def _of_each_row_changed(given: ShardedNode) -> Any:
    found = _counted(given, 2)
    if found is None or given.ndim(1) != given.ndim(2) or not _along(given, 1, found[1]):
        return None
    return Local(given.op.make_node(*found[0]).outputs, given.axes[0] or 0)


@carries(CumOp)
def _running(given: ShardedNode) -> Any:
    axis = given.op.axis
    return given.axes[0] if axis is not None and axis % given.ndim(0) != given.axes[0] else None


@carries(LinearRecurrence)
def _recurrence(given: ShardedNode) -> Any:
    a, b = given.axes
    return a if a == b != given.op.axis else None


@carries(SortOp, ArgSortOp)
def _sorted(given: ShardedNode) -> Any:
    axis = static_int(given.node.inputs[1])
    return given.axes[0] if axis is not None and axis % given.ndim(0) != given.axes[0] else None


@carries(Alloc)
def _repeated(given: ShardedNode) -> Local | None:
    places = [i for i, length in enumerate(given.lengths[1:]) if length]
    ndim = len(given.inputs) - 1
    if len(places) != 1 or given.axes[0] not in (None, places[0] - ndim + given.ndim(0)):
        return None
    at = places[0] - ndim + given.ndim(0)
    if given.axes[0] is None and at >= 0 and not given.node.inputs[0].type.broadcastable[at]:
        return None
    return Local([alloc(*given.inputs)], places[0])


@carries(ARange)
def _numbers(given: ShardedNode) -> Local | None:
    first, step = (static_int(given.node.inputs[i]) for i in (0, 2))
    if (first, step) != (0, 1) or not given.lengths[1]:
        return None
    start, _, step_ = given.inputs
    # The numbers of the rows over all shards: those of this shard begin where the one before it ends.
    return Local([given.op(start + given.start, given.start + given.inputs[1], step_)], 0)


def answer(given: ShardedNode) -> Variable | Any:
    """Return what the table says of a node, or None where it says nothing."""
    for cls in type(given.op).__mro__:
        if cls in TABLE:
            return TABLE[cls](given)
    return None

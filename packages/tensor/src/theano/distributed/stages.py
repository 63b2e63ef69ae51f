"""A graph of sharded inputs, split into stages.

Each variable is the same everywhere or sharded along an axis; what has parts on the shards is combined at once, which
ends a stage. A stage computes at one place what is the same everywhere, then on each shard what depends on it; after
that the parts are combined. A variable's *level* is the number of its stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.compile.shared import SharedVariable
from theano.distributed.rules import Expanded, Local, NotCarriedError, Partial, ShardedNode, answer
from theano.graph.traverse import ancestors, toposort
from theano.graph.variable import Constant, Variable
from theano.ifelse import ifelse
from theano.runtime.failure import written_at
from theano.tensor.blas.dot import Dot
from theano.tensor.convert import constant, is_tensor, static_int
from theano.tensor.create.alloc import Alloc, alloc
from theano.tensor.create.arange import ARange
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.functions import cast, eq
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.basic import Subtensor
from theano.tensor.join.op import MakeVector, stack
from theano.tensor.random.draw import Draw
from theano.tensor.random.op import RandomVariable
from theano.tensor.shape.basic import Shape, Shape_i, patternbroadcast, shape_i
from theano.tensor.shape.scalars import ScalarFromTensor, TensorFromScalar
from theano.tensor.type import TensorType

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.type import Tensor


@dataclass(frozen=True)
class Placed:
    """Where a variable is: its expression at one place (``axis`` is None) or on a shard, and its level."""

    expr: Any
    level: int
    axis: int | None = None
    length: bool = False  #: it is the length of the sharded axis over all shards
    counts: bool = False  #: it is the numbers of all rows


@dataclass(frozen=True)
class Part:
    """What each shard computes in a stage, the reduction over the shards, and what stands for its result."""

    kind: str
    expr: Any
    level: int
    whole: Any


class Stages:
    """The stages of a graph.

    Parameters
    ----------
    outputs : list of Variable
    shard : dict from Variable to int
        The sharded inputs, and along which axis each is.

    Raises
    ------
    NotCarriedError
        An op does not carry a shard on.
    """

    def __init__(self, outputs: Sequence[Any], shard: Mapping[Variable, int]):
        self.shard = dict(shard)
        self.length, self.count, self.start = (TensorType("int64", ())(name) for name in ("length", "count", "start"))
        self.dims: dict[tuple[Any, int], Any] = {}
        self.parts: list[Part] = []
        self.sent: dict[Any, tuple[Any, int]] = {}  # expression at one place: what stands for it on shards, its level
        self.substates: dict[Any, Any] = {}  # state of a stream that shards draw from: what stands for a shard's own
        self.carried: dict[Any, tuple[Any, int]] = {}  # expression on shards: what stands for it later, its level
        self._levels: dict[Any, int] = {}
        self._placed: dict[Any, Placed] = {x: Placed(x, 0, axis) for x, axis in self.shard.items()}
        self._walk(outputs)
        self.outputs = [self.placed(v) for v in outputs]

    def placed(self, v: Tensor) -> Placed:
        """Return where a variable is; one that nothing is said of is the same everywhere."""
        return self._placed.get(v) or Placed(v, self._level(v))

    def _level(self, v: Tensor) -> int:
        """Return in which stage an expression of what is the same everywhere can be computed."""
        if v not in self._levels:
            self._levels[v] = 0 if v.owner is None else max((self._level(a) for a in v.owner.inputs), default=0)
        return self._levels[v]

    def _walk(self, outputs: Sequence[Tensor]) -> None:
        for node in toposort(outputs, list(self._placed)):
            if not all(v in self._placed for v in node.outputs):
                found = self._node(node)
                self._placed.update(zip(node.outputs, found, strict=True))

    def _node(self, node: Node) -> list[Placed]:
        given = [self.placed(v) for v in node.inputs]
        op = node.op
        if given and isinstance(op, (Shape, Shape_i)) and given[0].axis is not None:
            return [self._shape(node)]
        if isinstance(op, Draw):
            return self._draw(node, given)
        of = node.inputs[0].owner if isinstance(op, Subtensor) else None
        if of is not None and isinstance(of.op, Shape) and self.placed(of.inputs[0]).axis is not None:
            i = static_int(node.inputs[1]) if len(node.inputs) == 2 and node.outputs[0].type.ndim == 0 else None
            if i is not None:
                return [self._dimension(of.inputs[0], i % of.inputs[0].type.ndim)]
        if isinstance(op, Elemwise) and str(op.scalar_op) == "second" and node.inputs[0].type.ndim == 0:
            # Only the shape of the first input counts, and a scalar has none: nothing waits for its value.
            fill = cast(node.inputs[1], node.outputs[0].type.dtype)
            self._walk([fill])
            return [self.placed(fill)]
        if all(g.axis is None for g in given) and not (
            isinstance(op, (Alloc, ARange)) and any(g.length for g in given)
        ):
            return self._everywhere(node, given)
        return self._sharded(node, given)

    def _everywhere(self, node: Node, given: Sequence[Placed]) -> list[Placed]:
        level = max((g.level for g in given), default=0)
        exprs = [g.expr for g in given]
        unchanged = all(a is b for a, b in zip(exprs, node.inputs, strict=True))
        made = node.outputs if unchanged else node.clone_with_new_inputs(exprs, strict=False).outputs
        still = isinstance(node.op, (ScalarFromTensor, TensorFromScalar)) and given[0].length
        for v in made:
            self._levels[v] = level
        return [Placed(v, level, length=still) for v in made]

    def _sharded(self, node: Node, given: Sequence[Placed]) -> list[Placed]:
        level = max(g.level for g in given)
        sizes = isinstance(node.op, (Alloc, ARange))
        inputs = [self._here(g, level, sizes) for g in given]
        flags = ([g.axis for g in given], [g.length for g in given], inputs, [g.counts for g in given])
        said = answer(ShardedNode(node, *flags, self.start))
        if said is None:
            raise NotCarriedError(_refusal(node, given))
        if isinstance(said, Expanded):
            self._walk(said.outputs)
            return [self.placed(v) for v in said.outputs]
        if isinstance(said, Local):
            counts = isinstance(node.op, ARange)
            return [Placed(v, level, said.axis, counts=counts) for v in said.outputs]
        made = node.clone_with_new_inputs(inputs, strict=False).outputs
        if isinstance(said, Partial):
            (v,) = made
            return [self._part(said.kind, self._of_rows(v) if said.kind in ("max", "min") else v, level)]
        axis: Any = said
        counts = isinstance(node.op, DimShuffle) and given[0].counts
        return [Placed(v, level, axis, counts=counts) for v in made]

    def _part(self, kind: str, expr: Variable, level: int) -> Placed:
        whole = expr.type()
        self.parts.append(Part(kind, expr, level, whole))
        self._levels[whole] = level + 1
        return Placed(whole, level + 1)

    def _of_rows(self, v: Any) -> Any:
        """Return a maximum or minimum that a shard without rows has as well: what changes no other."""
        (x,) = v.owner.inputs
        dtype = np.dtype(v.type.dtype)
        upper = "min" in type(v.owner.op).__name__.lower()
        if dtype.kind == "f":
            unit: Any = np.inf if upper else -np.inf
        elif dtype.kind == "b":
            unit = upper
        else:
            unit = np.iinfo(dtype).max if upper else np.iinfo(dtype).min
        axes = v.owner.op.axes_of(x.type.ndim)
        none = alloc(constant(np.asarray(unit, dtype)), *(shape_i(x, d) for d in range(x.type.ndim) if d not in axes))
        return ifelse(eq(self.count, 0), patternbroadcast(none, v.type.broadcastable), v)

    # -- random numbers --------------------------------------------------------------------------------------------
    def _draw(self, node: Node, given: Sequence[Placed]) -> list[Placed]:
        """Let each shard draw its own rows from a state of its own, where a length or a parameter is sharded."""
        sizes = self._sizes(node.inputs[1])
        axes = {i for i, size in enumerate(sizes) if size.length} | set(_drawn_axes(node, given))
        if not axes:
            return self._everywhere(node, given)
        axis, state = axes.pop(), node.inputs[0]
        fits = not axes and (not sizes or axis < len(sizes) and sizes[axis].length)
        same = [i for i in _parameters(node) if given[i].axis is None]
        if not fits or not isinstance(state, SharedVariable) or any(_is_long(node, i, axis) for i in same):
            raise NotCarriedError(_refusal(node, given))
        level = max(g.level for g in (*given, *sizes))
        self.sent[state] = self.substates.setdefault(state, state.type()), 0
        size = stack([cast(self._here(s, level, True), "int64") for s in sizes]) if sizes else node.inputs[1]
        inputs = [self.substates[state], size, *(self._here(g, level, False) for g in given[2:])]
        _, numbers = node.clone_with_new_inputs(inputs, strict=False).outputs
        # How the stream goes on is not for the graph to say: the shards have not drawn from this state itself.
        return [Placed(state, 0), Placed(numbers, level, axis)]

    def _sizes(self, v: Any) -> list[Placed]:
        """Return the known lengths in a vector of them; nothing where none of them can be sharded."""
        op = v.owner.op if v.owner is not None else None
        if isinstance(op, Shape):
            return [self._dimension(v.owner.inputs[0], i) for i in range(v.owner.inputs[0].type.ndim)]
        if isinstance(op, MakeVector):
            return [self.placed(_without_casts(n)) for n in v.owner.inputs]
        return self._sizes(v.owner.inputs[0]) if isinstance(op, Elemwise) and len(v.owner.inputs) == 1 else []

    # -- lengths ---------------------------------------------------------------------------------------------------
    def _shape(self, node: Node) -> Placed:
        (x,) = node.inputs
        if isinstance(node.op, Shape_i):
            return self._dimension(x, node.op.i)
        dims = [self._dimension(x, i) for i in range(x.type.ndim)]
        v, level = stack([d.expr for d in dims]), max(d.level for d in dims)
        self._levels[v] = level
        return Placed(v, level)

    def _dimension(self, v: Tensor, i: int) -> Placed:
        """Return the length of an axis: from inputs, whose shapes are known before anything runs, where it can be."""
        at = self.placed(v)
        if i == at.axis:
            return Placed(self.length, 0, length=True)
        if v.type.broadcastable[i]:
            return Placed(constant(np.int64(1)), 0)
        if at.axis is None:
            n = shape_i(at.expr, i)
            self._levels[n] = at.level
            return Placed(n, at.level)
        if v in self.shard:
            return Placed(self.dims.setdefault((v, i), TensorType("int64", ())()), 0)
        op, inputs = (v.owner.op, v.owner.inputs) if v.owner is not None else (None, [])
        if isinstance(op, Elemwise):
            return self._dimension(next(a for a in inputs if not a.type.broadcastable[i]), i)
        if isinstance(op, DimShuffle):
            return self._dimension(inputs[0], int(op.new_order[i]))
        if isinstance(op, Dot):
            last = inputs[0].type.ndim - 1
            return self._dimension(inputs[0], i) if i < last else self._dimension(inputs[1], inputs[1].type.ndim - 1)
        return self._part("max", shape_i(self._here(at, at.level, False), i), at.level)

    # -- what a shard is given -------------------------------------------------------------------------------------
    def _here(self, at: Placed, level: int, sizes: bool) -> Any:
        """Return what stands on a shard, in a stage of ``level``, for a variable."""
        if at.axis is None:
            if at.length and sizes:
                return ScalarFromTensor()(self.count) if not is_tensor(at.expr) else self.count
            return self._sent(at.expr, at.level)
        if at.level == level or at.expr in self.shard:
            return at.expr
        return self.carry(at)

    def carry(self, at: Placed) -> Any:
        """Return what stands in later stages for something that shards have computed."""
        return self.carried.setdefault(at.expr, (at.expr.type(), at.level))[0]

    def _sent(self, v: Variable, level: int) -> Any:
        if isinstance(v, Constant) or all(isinstance(a, Constant) or a.owner is not None for a in ancestors([v])):
            return v
        if v.owner is not None and (isinstance(v.owner.op, DimShuffle) or not is_tensor(v)):
            inputs = [self._sent(a, self._level(a)) for a in v.owner.inputs]
            return v.owner.clone_with_new_inputs(inputs, strict=False).outputs[v.owner.outputs.index(v)]
        return self.sent.setdefault(v, (v.type(), level))[0]


def _without_casts(n: Tensor) -> Any:
    """Return the number that only changes its type or dtype until it is n."""
    while n.owner is not None and (
        isinstance(n.owner.op, (ScalarFromTensor, TensorFromScalar))
        or isinstance(n.owner.op, Elemwise) and str(n.owner.op.scalar_op).startswith("Cast")
    ):  # fmt: skip
        n = n.owner.inputs[0]
    return n


def _parameters(node: Node) -> range:
    """Return which inputs of a draw are parameters of the distribution."""
    return range(3 if isinstance(node.op, RandomVariable) else 2, len(node.inputs))


def _place(node: Node, i: int, axis: int) -> int:
    """Return which axis of the numbers a parameter's axis is; negative for one of a single draw's."""
    op, ndim = node.op, node.inputs[i].type.ndim
    if isinstance(op, RandomVariable):
        own, added = op.ndims_params[i - 3], op.ndim_supp
    else:
        added = getattr(op, "ndim_added", 0)
        own = min(added, ndim)
    return node.outputs[1].type.ndim - added - (ndim - own) + axis if axis < ndim - own else -1


def _drawn_axes(node: Node, given: Sequence[Placed]) -> list[int]:
    """Return along which axes of the numbers the parameters of a draw are sharded."""
    return [_place(node, i, axis) for i in _parameters(node) if (axis := given[i].axis) is not None]


def _is_long(node: Node, i: int, axis: int) -> bool:
    """Return whether a parameter that is the same everywhere has an axis of the numbers, so that it fits no shard."""
    pattern = node.inputs[i].type.broadcastable
    return any(_place(node, i, d) == axis and not one for d, one in enumerate(pattern))


def _refusal(node: Node, given: Iterable[Placed]) -> str:
    """Return why a node cannot be computed shard by shard, and what to do."""
    line = written_at(node)
    where = [] if line is None else [f"  written at {line}: {line.text}"]
    inputs = [
        f"  input {i}, {v} of type {v.type}, is "
        + ("the same everywhere" if g.axis is None else f"sharded, axis {g.axis}")
        for i, (v, g) in enumerate(zip(node.inputs, given, strict=True))
    ]
    return "\n".join(
        [
            f"{node.op} cannot be computed shard by shard: what it makes of one shard is no part of its result", *where,
            *inputs,
            "  what to do: shard along another axis; shard all inputs that have this axis; write it in ops that carry",
            "  a shard; or enter a rule for the op by theano.distributed.carries",
        ]
    )  # fmt: skip


def leaves(exprs: Sequence[Tensor]) -> list[Variable]:
    """Return what expressions are computed from: variables without an owner that are no constants."""
    return [v for v in ancestors(exprs) if v.owner is None and not isinstance(v, Constant)]

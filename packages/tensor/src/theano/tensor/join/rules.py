"""Join and Split: pieces that are nothing, pieces that are one, and reductions along the joint."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import Constant
from theano.rewriting import P, Rest, pattern_vars, rule
from theano.tensor.convert import static_int
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.index.basic import Subtensor
from theano.tensor.index.rules.reads import entries, is_known
from theano.tensor.join.op import Join, MakeVector, Split, join
from theano.tensor.reduce.careduce import CAReduce, Max, Min, Prod, Sum
from theano.tensor.shape.basic import Rebroadcast, Shape_i, patternbroadcast
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.scalar.annotations import Number
    from theano.tensor.type import Tensor


def joint(node: TensorApply) -> int | None:
    """Return the axis of a join or split, counted from the left, or None where it is not known."""
    axis = static_int(node.inputs[1 if isinstance(node.op, Split) else 0])
    ndim = node.inputs[0 if isinstance(node.op, Split) else 1].type.ndim
    return None if axis is None or not -ndim <= axis < ndim else axis % ndim


def _index_of_joined(op: Any, numbers: Any, joined: Any, fgraph: object) -> tuple[int | None, list[Any]]:
    """Return the axis along which the pieces were joined that a part is read of, and the index.

    None stands for the axis if the index does not reach it, or the other lengths of the pieces are not known to agree.
    """
    feature = getattr(fgraph, "shape_feature", None)
    axis, index = joint(joined.owner), entries(op, numbers)
    if feature is None or axis is None or axis >= len(index):
        return None, []
    first, *rest = joined.owner.inputs[1:]
    others = [a for a in range(joined.type.ndim) if a != axis]
    return axis if all(feature.same_shape(first, v, a, a) for v in rest for a in others) else None, index


def _in_a_piece(
    op: Subtensor, numbers: tuple[Number, ...], joined: Tensor, pieces: tuple[Tensor, ...], fgraph: FunctionGraph
) -> Any:
    # The lengths of the pieces beside the joint have to be known to agree: else that would no longer be checked.
    axis, index = _index_of_joined(op, numbers, joined, fgraph)
    if axis is None or isinstance(index[axis], slice) or not is_known(index[axis]):
        return None
    place = index[axis]
    left = place if place >= 0 else -1 - place
    for piece in pieces if place >= 0 else reversed(pieces):
        n = static_int(fgraph.shape_feature.lengths(piece)[axis])
        if n is None:
            return None
        if left < n:
            index[axis] = left if place >= 0 else -1 - left
            return F.cast(piece, joined.type.dtype)[tuple(index)]
        left -= n
    return None


x, axis = pattern_vars("x axis")
joined = P(Join)(axis, Rest("pieces"))
_part_of_joined = P(Subtensor, "op")(joined.named("joined"), Rest("numbers"))
rule("local_subtensor_of_join", _part_of_joined, _in_a_piece, phases=("canonicalize", "specialize"),
     doc="An element of joined pieces is an element of one piece, if its position is known.")  # fmt: skip


def _behind_pieces(
    op: Subtensor,
    numbers: tuple[Number, ...],
    joined: Tensor,
    pieces: tuple[Tensor, ...],
    out: Tensor,
    fgraph: FunctionGraph,
) -> Any:
    axis, index = _index_of_joined(op, numbers, joined, fgraph)
    if axis is None:
        return None
    part = index[axis]
    if not isinstance(part, slice) or not is_known(part) or part.stop is not None or part.step not in (None, 1):
        return None
    left, gone = part.start or 0, 0
    while left > 0 and gone < len(pieces) - 1:
        n = static_int(fgraph.shape_feature.lengths(pieces[gone])[axis])
        if n is None or n > left:
            break
        left -= n
        gone += 1
    if not gone or left < 0:
        return None
    first, *others = (F.cast(v, joined.type.dtype) for v in pieces[gone:])
    index[axis] = slice(left or None, None)
    return patternbroadcast((join(axis, first, *others) if others else first)[tuple(index)], out.type.broadcastable)


rule("local_subtensor_behind_joined", _part_of_joined, _behind_pieces, phases=("canonicalize", "specialize"),
     doc="A part of joined pieces that begins where one of them does has none of those before.")  # fmt: skip


rule("local_join_1", P(Join)(axis, x), x, when=lambda out: joint(out.owner) is not None,
     phases=("canonicalize", "specialize"), doc="One piece joined with nothing is that piece.")  # fmt: skip


def _without_empty(pieces: Any, out: Any) -> Any:
    # The other lengths of an empty piece have to match all the same, which only vectors have not to prove.
    along, full = joint(out.owner), [v for v in pieces if not _is_empty(v)]
    return join(along, *full) if along is not None and 0 < len(full) < len(pieces) else None


rule("local_join_empty", joined, _without_empty, phases=("canonicalize", "specialize"),
     doc="A piece that is known to be empty along the joint adds nothing.")  # fmt: skip


def _is_empty(v: Tensor) -> bool:
    if v.type.ndim != 1:
        return False
    made = v.owner
    return isinstance(v, Constant) and not v.data.size or (
        made is not None and isinstance(made.op, MakeVector) and not made.inputs
    )


def _made_together(pieces: Any, out: Any) -> Any:
    if out.type.ndim != 1 or joint(out.owner) is None:
        return None
    fewer: list[Tensor] = []
    plain = [_made_in(v) for v in pieces]
    for together, run in groupby(plain, _is_made):
        members: list[Any] = list(run)
        if together and len(members) > 1:
            numbers = [x for v in members for x in v.owner.inputs]
            members = [MakeVector(out.type.dtype)(*[F.cast(x, out.type.dtype) for x in numbers])]
        fewer += members
    return join(0, *fewer) if len(fewer) < len(pieces) or plain != list(pieces) else None


rule("local_join_make_vector", joined, _made_together, phases=("canonicalize", "specialize"),
     doc="Adjacent vectors of scalars are one vector of scalars.")  # fmt: skip


def _made_in(v: Tensor) -> Tensor:
    """Return a vector of scalars without what declares its length."""
    if v.owner is None or not isinstance(v.owner.op, Rebroadcast):
        return v
    (x,) = v.owner.inputs
    return x if _is_made(x) else v


def _is_made(v: Tensor) -> bool:
    return v.owner is not None and isinstance(v.owner.op, MakeVector)


def _is_whole(x: Tensor, lengths: tuple[Tensor, ...], out: Any) -> bool:
    # The length asked for may be another one, which is an error of run time.
    along = joint(out.owner)
    return along is not None and _is_length(lengths[0], x, along)


rule("local_useless_split", P(Split, len_splits=1)(x, axis, P(MakeVector)(Rest("lengths"))), x, when=_is_whole,
     phases=("canonicalize", "specialize"),
     doc="A tensor cut into one piece of its own length is that tensor.")  # fmt: skip


def _is_length(n: Tensor, x: Tensor, axis: int) -> bool:
    asked = n.owner
    if asked is not None and isinstance(asked.op, Shape_i):
        return asked.inputs[0] is x and asked.op.i == axis
    return x.type.broadcastable[axis] and static_int(n) == 1


_PAIRWISE = {Sum: F.add, Prod: F.mul, Max: F.maximum, Min: F.minimum}


def _without_axis(v: Tensor, order: list[int]) -> Tensor:
    """Return a piece without the axis along which it was joined, and without a shuffle that only added that."""
    inner = v.owner
    if inner is not None and isinstance(inner.op, DimShuffle):
        before = [inner.op.new_order[d] for d in order]
        x = inner.inputs[0]
        return x if before == list(range(x.type.ndim)) else DimShuffle(x.type.broadcastable, before)(x)
    return DimShuffle(v.type.broadcastable, order)(v)


def _combined(op: CAReduce, stacked: Any, pieces: tuple[Tensor, ...], out: Tensor) -> Any:
    combine, axis = _PAIRWISE.get(type(op)), joint(stacked.owner)
    if combine is None or axis is None or op.axes_of(pieces[0].type.ndim) != (axis,):
        return None
    if not all(v.type.broadcastable[axis] for v in pieces) or len({v.type.broadcastable for v in pieces}) > 1:
        return None
    dtype = getattr(op, "acc_dtype", None) or out.type.dtype
    narrow = dtype in scal.discrete_dtypes and dtype not in ("int64", "uint64")
    if narrow and isinstance(op, (Sum, Prod)) or dtype == "bool":
        return None  # narrow whole numbers would be added in their own dtype
    if dtype in scal.complex_dtypes and isinstance(op, Max):
        return None  # a pair of complex numbers has no larger one
    order = [i for i in range(pieces[0].type.ndim) if i != axis]
    flat = [F.cast(_without_axis(v, order), dtype) for v in pieces]
    return combine(*flat) if combine in (F.add, F.mul) else reduce(combine, flat)


rule("local_reduce_join", P(CAReduce, "op")(joined.named("stacked").single_use()), _combined, keeps="close",
     phases=("uncanonicalize",),
     doc="A reduction along the axis on which tensors were stacked combines them element by element.")  # fmt: skip

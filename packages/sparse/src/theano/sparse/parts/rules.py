"""Parts of a matrix that was made of parts, gradients with respect to them, and ops that are said by parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import FunctionGraph
from theano.graph.op_contract import answers
from theano.rewriting import P, local_rule, pattern_vars, rule
from theano.sparse.convert import is_sparse
from theano.sparse.parts.op import CSM, CheckedParts, CSMGrad, CSMProperties, length
from theano.tensor.convert import is_tensor, static_int
from theano.tensor.elemwise.functions import cast
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.index.basic import Subtensor, get_idx_list
from theano.tensor.join.op import stack
from theano.tensor.rules.predicates import FAST
from theano.tensor.shape.basic import Shape_i

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.rewriting.rule import Answer
    from theano.tensor.shape.rules.shapes import ShapeFeature
    from theano.tensor.type import Tensor

EARLY = ("canonicalize", "specialize")

x, g, g_shape = pattern_vars("x g g_shape")
parts = data, indices, indptr, shape = pattern_vars("data indices indptr shape")


def is_ours(indices: Any, indptr: Any) -> bool:
    """Return whether index arrays come from a matrix or an op that makes them, so that they need no validation."""
    makers = [v.owner for v in (indices, indptr)]
    if any(m is None for m in makers):
        return False
    return all(type(m.op).__module__.startswith("theano.sparse.") for m in makers)


def _lengths(feature: ShapeFeature, v: Any) -> Any:
    """Return the lengths of an input; none for None, as an open end of a slice is."""
    if is_tensor(v):
        return feature.lengths(v)
    return (length(v, 0), length(v, 1)) if is_sparse(v) else None


def _looked_at(made: CSM, data: Tensor, indices: Tensor, indptr: Tensor, shape: Tensor) -> list[Tensor]:
    if not is_ours(indices, indptr):
        indices, indptr, shape, data = CheckedParts(made.format)(indices, indptr, shape, data)
    return [data, indices, indptr, shape]


local_csm_properties_csm = rule(
    "local_csm_properties_csm", P(CSMProperties)(P(CSM, "made")(*parts)), _looked_at, phases=EARLY, tags=FAST,
    doc="The parts of a matrix made of parts are these parts; arrays from elsewhere are validated.",
)  # fmt: skip


@local_rule([CSMProperties], phases=EARLY, tags=FAST)
def local_csm_shape(fgraph: FunctionGraph, node: Node) -> Answer:
    """The shape of a matrix of which nothing else is wanted is inferred, as far as its op knows it."""
    made: Any = node.inputs[0].owner
    feature = getattr(fgraph, "shape_feature", None)
    if (
        made is None
        or feature is None
        or not answers(made.op, "infer_shape")
        or any(v.clients for v in node.outputs[:3])
    ):
        return None
    given = [_lengths(feature, v) for v in made.inputs]
    lengths = made.op.infer_shape(made, given)[node.inputs[0].index]
    if lengths is None:
        return None
    return {node.outputs[3]: stack([cast(n, "int32") for n in lengths])}


@local_rule([Elemwise], phases=("uncanonicalize",), tags=FAST)  # once the clients of the parts are settled
def local_lengths_of_matrix(node: Node) -> Answer:
    """A matrix of which nothing but lengths is wanted is asked for these, not taken apart."""
    wanted, axes = node.inputs[0], {0, 1}
    if not (isinstance(node.op.scalar_op, scal.Cast) and node.outputs[0].type.dtype == "int64"):
        return None
    if wanted.owner is not None and type(wanted.owner.op) is Subtensor and wanted.owner.inputs[0].type.ndim == 1:
        (axis,) = get_idx_list(wanted.owner.inputs, wanted.owner.op.idx_list)
        wanted, axes = wanted.owner.inputs[0], {0, 1} & {static_int(axis)}
    parts = wanted.owner
    if parts is None or not isinstance(parts.op, CSMProperties) or wanted.index != 3:
        return None
    if any(v.clients for v in parts.outputs[:3]) or not axes:
        return None
    lengths = [Shape_i(axis)(parts.inputs[0]) for axis in sorted(axes)]
    return lengths if len(axes) == 1 else [stack(lengths)]


rule("local_csm_csm_properties", P(CSM)(*[P(CSMProperties, output=i)(x) for i in range(4)]), x,
     when=lambda x, out: x.type == out.type, phases=EARLY, tags=FAST,
     doc="A matrix of all parts of another one of its format is that matrix.")  # fmt: skip


local_csm_grad_c = rule(
    "local_csm_grad_c", P(CSMGrad)(data, indices, indptr, shape, g, indices, indptr, g_shape), lambda g: [g],
    when=lambda indices, indptr: is_ours(indices, indptr), phases=EARLY,
    doc="A gradient with the structure of the matrix is read without a search: its numbers are in the wanted order.",
)  # fmt: skip

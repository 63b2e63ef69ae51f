"""Products by parts, and products that are added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.graph import FunctionGraph, Op
from theano.rewriting import Context, P, local_rule, pattern_vars, phases, rule
from theano.sparse.convert import is_sparse
from theano.sparse.elemwise.rules import for_kernels, in_dtype
from theano.sparse.parts.elements import Scattered
from theano.sparse.parts.op import CSM, as_format, csm_properties
from theano.sparse.product.op import Dot, SamplingDot, StructuredDot, TrueDot, Usmm, sdg_csc, sdg_csr, usmm
from theano.sparse.product.vectors import AddedProduct, ProductOfParts, SparseProduct
from theano.tensor.elemwise import functions as F
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.join.op import stack
from theano.tensor.rules.inplace import MayTake, work_in_place

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.graph.variable import Variable
    from theano.rewriting.rule import Answer
    from theano.sparse.annotations import Sparse
    from theano.tensor.type import Tensor

SPECIALIZE = ("specialize",)
x, y, z, p, alpha = pattern_vars("x y z p alpha")


def _product(x: Sparse, y: Variable, out: Tensor) -> Tensor:
    """Return the product of a sparse with a dense operand by parts, in the dtype of a result."""
    data, *places = csm_properties(x)
    data, y = in_dtype(out, data, y)
    return ProductOfParts(x.type.format)(data, *places, y)


def _sparse_product(x: Sparse, y: Sparse, out: Variable) -> Sparse:
    """Return the product of two sparse matrices by parts, in the format of the first."""
    format = x.type.format
    (a, *a_places), (b, *b_places) = csm_properties(x), csm_properties(as_format(y, format))
    a, b = in_dtype(out, a, b)
    found = SparseProduct(format)(a, *a_places, b, *b_places)
    shape = F.cast(stack([a_places[2][0], b_places[2][1]]), "int32")
    return CSM(format)(*found, shape)


def _has_parts(v: Variable) -> bool:
    return not is_sparse(v) or v.type.format != "bsr"


def _dot(x: Any, y: Any, out: Any) -> list[Variable]:
    if not is_sparse(x):
        return [_product(y.T, x.T, out).T]
    if not is_sparse(y):
        return [_product(x, y, out)]
    found = _sparse_product(x, y, out)
    return [found if is_sparse(out) else Scattered(found.type.format)(*csm_properties(found))]


local_structured_dot = rule(
    "local_structured_dot", P((StructuredDot, Dot))(x.where(_has_parts), y.where(_has_parts)), _dot, when=for_kernels,
    phases=SPECIALIZE,
    doc="A product is computed of the parts of the sparse operand, or of both.",
)  # fmt: skip


rule("local_true_dot", P(TrueDot)(x, y.where(is_sparse)), _sparse_product, when=for_kernels, phases=SPECIALIZE,
     doc="The product of two sparse matrices is computed of their parts.")  # fmt: skip


def _sampled(x: Tensor, y: Tensor, p: Sparse, out: Sparse) -> Sparse:
    format = p.type.format
    data, indices, indptr, shape = csm_properties(p)
    data, x, y = in_dtype(out, data, x, y)
    products = (sdg_csr if format == "csr" else sdg_csc)(indices, indptr, y, x)
    return CSM(format)(data * products, indices, indptr, shape)


local_sampling_dot_csr = rule(
    "local_sampling_dot_csr", P(SamplingDot)(x, y, p), _sampled, when=for_kernels, phases=SPECIALIZE,
    doc="A sampled product is computed at the places alone, and multiplied with their numbers.",
)  # fmt: skip


# -- products that are added -----------------------------------------------------------------------------------


def _scaled(term: Tensor) -> tuple[Any, Any, Any] | None:
    """Return alpha, x and y of a term ``alpha * dot(x, y)`` whose product has no other use."""
    alpha, node = None, term.owner
    if node is not None and isinstance(node.op, Elemwise) and node.op.scalar_op == scal.mul and len(node.inputs) == 2:
        product, factor = sorted(node.inputs, key=lambda v: all(v.type.broadcastable))
        if all(factor.type.broadcastable):
            alpha, node, term = factor.dimshuffle(), product.owner, product
    if node is None or not isinstance(node.op, (Dot, StructuredDot)) or is_sparse(term) or len(term.clients) > 1:
        return None
    if term.type.ndim != 2 or any(v.type.ndim != 2 for v in node.inputs):
        return None
    return alpha, node.inputs[0], node.inputs[1]


@local_rule([Elemwise], phases=("stabilize",))  # before the products in it are taken apart
def local_usmm(node: Node) -> Answer:
    """A dense matrix plus or minus a product of sparse ones is one op."""
    (out,) = node.outputs[:1]
    if len(node.outputs) > 1 or node.op.scalar_op not in (scal.add, scal.sub) or len(node.inputs) != 2:
        return None
    if (
        not for_kernels(out)
        or any(v.type.dtype != out.type.dtype for v in node.inputs)
        or any(out.type.broadcastable)
    ):
        return None
    for i, term in enumerate(node.inputs):
        found, other = _scaled(term), node.inputs[1 - i]
        minus = node.op.scalar_op == scal.sub
        if found is None or (minus and i == 0):
            continue
        alpha, x, y = found
        if is_sparse(x) and is_sparse(y) or any(other.type.broadcastable):
            continue
        one = F.cast(1, out.type.dtype) if alpha is None else F.cast(alpha, out.type.dtype)
        return [usmm(-one if minus else one, x, y, other)]
    return None


def _added(alpha: Any, x: Any, y: Any, z: Any, out: Tensor) -> list[Tensor]:
    if is_sparse(y):
        return [usmm(alpha, y.T, x.T, z.T).T]
    data, *places = csm_properties(x)
    alpha, data, y, z = in_dtype(out, alpha, data, y, z)
    return [AddedProduct(x.type.format)(alpha, data, *places, y, z)]


local_usmm_csx = rule(
    "local_usmm_csx", P(Usmm)(alpha, x, y, z), _added,
    when=lambda x, y, out: for_kernels(out) and not (is_sparse(x) and is_sparse(y)), phases=SPECIALIZE,
    doc="A product that is added is computed of the parts of the sparse factor.",
)  # fmt: skip


def _in_place(node: Node, may_take: MayTake) -> Op | None:
    op = node.op
    if not isinstance(op, AddedProduct) or op.inplace or any(node.inputs[-1].type.broadcastable) or not may_take(6):
        return None
    return AddedProduct(op.format, inplace=True)


def local_usmm_csc_dense_inplace(fgraph: FunctionGraph, context: Context) -> None:
    """Let products be added to the matrix itself."""
    work_in_place(fgraph, context, "local_usmm_csc_dense_inplace", _in_place)


phases.register("local_usmm_csc_dense_inplace", local_usmm_csc_dense_inplace, 60, "fast_run", "inplace")

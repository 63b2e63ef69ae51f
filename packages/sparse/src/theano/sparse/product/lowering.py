"""Products: kernels built with the layer (``c/dense.c``, ``c/sparse.c``, ``c/places.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph.parameters import Parameters
from theano.lowering.accepts import SINGLE_OR_DOUBLE, Accepts
from theano.lowering.table import Lowering, register
from theano.sparse.kernels import parameters
from theano.sparse.kernels.library import INT32, ready
from theano.sparse.product.op import StructuredDotGradCSC, StructuredDotGradCSR
from theano.sparse.product.vectors import AddedProduct, ProductOfParts, SparseProduct

if TYPE_CHECKING:
    from theano.graph.annotations import Node


@ready("th_kernel_sparse_dense", work=20.0)
def product_kernel(op: ProductOfParts, node: Node) -> Parameters:
    """Return the product of a sparse matrix with a dense operand. ``op.format`` is read."""
    return parameters.ProductParams(columns=op.format == "csc", added=False, in_place=False)


@ready("th_kernel_sparse_dense", work=20.0)
def added_product_kernel(op: AddedProduct, node: Node) -> Parameters:
    """Return a product, scaled and added to a matrix. ``op.format`` and ``op.inplace`` are read."""
    return parameters.ProductParams(columns=op.format == "csc", added=True, in_place=op.inplace)


@ready("th_kernel_sparse_sparse", work=100.0)
def sparse_product_kernel(op: SparseProduct, node: Node) -> Parameters:
    """Return the product of two sparse matrices. ``op.format`` is read."""
    return parameters.CompressedParams(columns=op.format == "csc")


@ready("th_kernel_products_at", work=20.0)
def products_at_kernel(op: StructuredDotGradCSC | StructuredDotGradCSR, node: Node) -> Parameters:
    """Return the products of rows at some places. ``op.format`` is read."""
    return parameters.CompressedParams(columns=op.format == "csc")


_PARTS = dict.fromkeys(("indices", "indptr", "shape"), INT32)
_PLACES = Accepts(
    "indices, indptr, b, g -> z", dtypes={"indices": INT32, "indptr": INT32, "b": SINGLE_OR_DOUBLE}, same=("b g z",)
)

register(
    Lowering(ProductOfParts, product_kernel, Accepts(
        "data, indices, indptr, shape, b -> z", dtypes={**_PARTS, "data": SINGLE_OR_DOUBLE}, same=("data b z",),
    )),
    Lowering(AddedProduct, added_product_kernel, Accepts(
        "alpha, data, indices, indptr, shape, b, z -> sum", dtypes={**_PARTS, "data": SINGLE_OR_DOUBLE},
        same=("alpha data b z sum",),
    )),
    Lowering(SparseProduct, sparse_product_kernel, Accepts(
        "a, a_indices, a_indptr, a_shape, b, b_indices, b_indptr, b_shape -> data, indices, indptr",
        dtypes={"a": SINGLE_OR_DOUBLE, **dict.fromkeys((
            "a_indices", "a_indptr", "a_shape", "b_indices", "b_indptr", "b_shape", "indices", "indptr"), INT32)},
        same=("a b data",),
    )),
    Lowering(StructuredDotGradCSR, products_at_kernel, _PLACES),
    Lowering(StructuredDotGradCSC, products_at_kernel, _PLACES),
)  # fmt: skip

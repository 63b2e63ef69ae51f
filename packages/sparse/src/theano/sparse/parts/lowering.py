"""The parts of matrices: kernels built with the layer (``c/parts.c``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano.graph.parameters import Parameters
from theano.lowering.accepts import KNOWN, SINGLE_OR_DOUBLE, Accepts, Dtypes
from theano.lowering.table import Lowering, register
from theano.sparse.kernels import parameters
from theano.sparse.kernels.library import INT32, ready
from theano.sparse.parts.elements import ElementsAt, Scattered
from theano.sparse.parts.op import CheckedParts, CSMGrad, Recompressed

if TYPE_CHECKING:
    from theano.graph.annotations import Node

ADDED = Dtypes("integer, float32 or float64", frozenset(
    {"float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
))  # fmt: skip


def _compressed(op: Scattered | CheckedParts | Recompressed) -> Parameters:
    return parameters.CompressedParams(columns=op.format == "csc")


@ready("th_kernel_checked_parts", work=0.5)
def checked_kernel(op: CheckedParts, node: Node) -> Parameters:
    """Return views of the parts, after a look at whether they make a matrix. ``op.format`` is read."""
    return _compressed(op)


@ready("th_kernel_recompressed", work=5.0)
def recompressed_kernel(op: Recompressed, node: Node) -> Parameters:
    """Return the parts in the other format. ``op.format`` is read."""
    return _compressed(op)


@ready("th_kernel_elements_at", work=2.0)
def elements_kernel(op: ElementsAt, node: Node) -> Parameters:
    """Return the elements of a dense matrix at the places of a sparse one. ``op.format`` is read."""
    one_row, one_column = node.inputs[3].type.broadcastable
    return parameters.StretchedParams(columns=op.format == "csc", one_row=one_row, one_column=one_column)


@ready("th_kernel_scattered", work=1.0)
def scattered_kernel(op: Scattered, node: Node) -> Parameters:
    """Return the dense matrix of the parts. ``op.format`` is read."""
    return _compressed(op)


@ready("th_kernel_csm_grad", work=3.0)
def csm_grad_kernel(op: CSMGrad, node: Node) -> Parameters:
    """Return the numbers of one matrix at the places of another."""
    return parameters.CompressedParams(columns=False)


_PARTS = dict.fromkeys(("indices", "indptr", "shape"), INT32)
_READ = ("g_indices", "g_indptr", "g_shape")

register(
    Lowering(CheckedParts, checked_kernel, Accepts(
        "indices, indptr, shape, data -> i, p, s, d", dtypes={**_PARTS, "data": KNOWN},
    )),
    Lowering(Recompressed, recompressed_kernel, Accepts(
        "data, indices, indptr, shape -> d, i, p", dtypes=_PARTS, same=("data d",),
    )),
    Lowering(ElementsAt, elements_kernel, Accepts(
        "indices, indptr, shape, dense -> z", dtypes=_PARTS, same=("dense z",),
    )),
    Lowering(Scattered, scattered_kernel, Accepts(
        "data, indices, indptr, shape -> z", dtypes={**_PARTS, "data": ADDED}, same=("data z",),
    )),
    Lowering(CSMGrad, csm_grad_kernel, Accepts(
        "data, indices, indptr, shape, g, g_indices, g_indptr, g_shape -> z",
        dtypes={**_PARTS, "g": SINGLE_OR_DOUBLE, **dict.fromkeys(_READ, INT32)}, same=("g z",),
    )),
)  # fmt: skip

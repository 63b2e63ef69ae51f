"""Dot and its relatives."""

from __future__ import annotations

from typing import Any

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.blas.dot import Dot
from theano.tensor.create import alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.rules.words import filled_with, fit, number_of, only_used_by
from theano.tensor.shape.basic import shape_i


@local_rule([Dot], keeps="finite", phases=("canonicalize", "stabilize"))
def local_0_dot_x(fgraph: Any, node: Apply) -> Any:
    """A product with zeros is zeros."""
    if not any(filled_with(v, 0) for v in node.inputs):
        return None
    a, b = node.inputs
    out: Any = node.outputs[0]
    lengths = [shape_i(a, 0, fgraph)] if a.type.ndim == 2 else []  # type: ignore[attr-defined]
    if b.type.ndim == 2:  # type: ignore[attr-defined]
        lengths.append(shape_i(b, 1, fgraph))
    zero = number_of(0, out.type.dtype, 0)
    return [fit(alloc(zero, *lengths) if lengths else zero, out)]


@local_rule([DimShuffle], keeps="close", phases=("canonicalize",))
def local_lift_transpose_through_dot(node: Apply) -> Any:
    """The transpose of a product is the product of the transposes, the other way round; those cost nothing."""
    product = node.inputs[0].owner
    if node.op.new_order != (1, 0) or product is None or not isinstance(product.op, Dot):  # type: ignore[attr-defined]
        return None
    a, b = product.inputs
    if a.type.ndim != 2 or b.type.ndim != 2 or not only_used_by(node.inputs[0], node):  # type: ignore[attr-defined]
        return None
    return [fit(product.op(b.T, a.T), node.outputs[0])]  # type: ignore[attr-defined]

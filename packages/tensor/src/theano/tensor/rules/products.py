"""Dot and its relatives."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.blas.dot import Dot
from theano.tensor.create import alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
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


#: For a transpose in a product, whether the number of transposes of products around it is odd.
_odd: WeakKeyDictionary[Apply, bool] = WeakKeyDictionary()


@local_rule([DimShuffle], keeps="close", phases=("canonicalize",))
def local_lift_transpose_through_dot(node: Apply) -> Any:
    """The transpose of a product is the product of the transposes, the other way round; those cost nothing."""
    product = node.inputs[0].owner
    if not _is_transpose(node) or product is None or not isinstance(product.op, Dot):
        return None
    a, b = product.inputs
    if a.type.ndim != 2 or b.type.ndim != 2 or not only_used_by(node.inputs[0], node):  # type: ignore[attr-defined]
        return None
    if _undone_from_outside(node):
        return None
    return [fit(product.op(b.T, a.T), node.outputs[0])]  # type: ignore[attr-defined]


def _is_transpose(node: Apply) -> bool:
    return isinstance(node.op, DimShuffle) and node.op.new_order == (1, 0)


def _around(node: Apply) -> Apply | None:
    """Return the transpose of a product of which the transpose ``node`` is a factor, if nobody else uses either.

    Element-wise ops in between make no difference: transposes go through them.
    """
    products = 0
    while True:
        clients = node.outputs[0].clients
        client = clients[0][0] if len(clients) == 1 else None
        if not isinstance(client, Apply):
            return None
        if isinstance(client.op, Dot) and not products:
            products = 1
        elif not isinstance(client.op, Elemwise) or len(client.outputs) > 1:
            return client if products and _is_transpose(client) else None
        node = client


def _undone_from_outside(node: Apply) -> bool:
    """Return whether a transpose around this one, lifted itself, will cancel it.

    Of transposes one inside the other every second one is lifted, and takes the next inner one away. If each were,
    each would turn round again all that is inside.
    """
    chain: list[Apply] = []
    outer: Apply | None = node
    while outer is not None and outer not in _odd:
        chain.append(outer)
        outer = _around(outer)
    odd = outer is None or not _odd[outer]
    for inner in reversed(chain):
        odd = not odd
        _odd[inner] = odd
    # What was known of the graph around may have changed since.
    return _odd[node] and _around(node) is not None

"""Dot and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from theano.graph import Apply
from theano.rewriting import P, pattern_vars, rule
from theano.tensor.blas.dot import Dot
from theano.tensor.control.rules.asserts import if_equal
from theano.tensor.create.alloc import alloc
from theano.tensor.elemwise.dimshuffle import DimShuffle
from theano.tensor.elemwise.op import Elemwise
from theano.tensor.rules.predicates import filled_with, number_of, transpose
from theano.tensor.shape.basic import shape_i

if TYPE_CHECKING:
    from theano.graph.fgraph import FunctionGraph
    from theano.graph.variable import Variable
    from theano.tensor.type import Tensor


def _zeros(a: Tensor, b: Tensor, out: Tensor, fgraph: FunctionGraph) -> Tensor:
    inner = shape_i(a, a.type.ndim - 1, fgraph), shape_i(b, 0, fgraph)
    lengths = [shape_i(a, 0, fgraph)] if a.type.ndim == 2 else []
    if b.type.ndim == 2:
        lengths.append(shape_i(b, 1, fgraph))
    zero = if_equal(number_of(0, out.type.dtype, 0), [inner], "dot: the inner lengths of the factors differ")
    return alloc(zero, *lengths) if lengths else zero


def _is_zero(v: Variable) -> bool:
    return filled_with(v, 0)


def _is_matrix(v: Tensor) -> bool:
    return bool(v.type.ndim == 2)


a, b = pattern_vars("a b")
rule("local_0_dot_x", P(Dot)(a.where(_is_zero), b), _zeros, keeps="finite", phases=("canonicalize", "stabilize"),
     also=[(P(Dot)(a, b.where(_is_zero)), _zeros)], doc="A product with zeros is zeros.")  # fmt: skip


#: For a transpose in a product, whether the number of transposes of products around it is odd.
_odd: WeakKeyDictionary[Apply, bool] = WeakKeyDictionary()


def _is_transpose(node: Apply) -> bool:
    return isinstance(node.op, DimShuffle) and node.op.new_order == (1, 0)


def _around(node: Apply) -> Apply | None:
    """Return the transpose of a product of which the transpose ``node`` is a factor, if neither has another use.

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
    # The graph around may have changed since the stored answer.
    return _odd[node] and _around(node) is not None


rule("local_lift_transpose_through_dot",
     transpose(P(Dot, "dot")(a.where(_is_matrix), b.where(_is_matrix)).single_use()), lambda dot, a, b: dot(b.T, a.T),
     when=lambda out: not _undone_from_outside(out.owner), keeps="close",
     doc="The transpose of a product is the product of the transposes, the other way round; those cost nothing.",
)  # fmt: skip

"""The rules of the tensor layer, by family. Importing this package enters them in ``theano.rewriting.phases``.

``words`` is the vocabulary. ``compound`` puts expressions in place of the ops that stand for them. ``useless``,
``algebra``, ``power`` and ``stable`` speak of element-wise ops, ``layout`` and ``shapes`` of dimensions and lengths,
``reductions``, ``index``, ``products``, ``blas`` and ``softmax`` of their ops; ``fusion`` makes one kernel of many
(``map_reduce`` of reductions and what they reduce, ``joining`` says what both need), ``inplace`` takes over memory that
nobody needs any more.
"""

from __future__ import annotations

# The order is that in which rules meet a node: what is useless goes first, so that the others need not see it.
from theano.tensor.rules import (  # isort: skip
    compound,
    useless,
    algebra,
    power,
    stable,
    layout,
    shapes,
    reductions,
    index,
    products,
    blas,
    softmax,
    fusion,
    inplace,
)

__all__ = [
    "algebra", "blas", "compound", "fusion", "index", "inplace", "layout", "power", "products", "reductions", "shapes",
    "softmax", "stable", "useless",
]  # fmt: skip

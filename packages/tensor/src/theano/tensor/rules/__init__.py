"""The rules of the tensor layer, by family. Importing this package enters them in ``theano.rewriting.phases``.

``words`` is the vocabulary. ``useless``, ``algebra``, ``power``, ``stable`` speak of element-wise ops, ``layout`` and
``shapes`` of dimensions and lengths, ``reductions``, ``index``, ``products`` and ``softmax`` of their ops; ``fusion``
makes one kernel of many, ``inplace`` takes over memory that nobody needs any more.
"""

from __future__ import annotations

from theano.tensor.rules import (
    useless,  # first: what it takes away the others need not see
    algebra,
    power,
    stable,
    layout,
    shapes,
    reductions,
    index,
    products,
    softmax,
    fusion,
    inplace,
)

__all__ = [
    "algebra", "fusion", "index", "inplace", "layout", "power", "products", "reductions", "shapes", "softmax", "stable",
    "useless",
]

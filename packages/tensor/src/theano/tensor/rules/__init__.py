"""The rules of the tensor layer, by family. Importing this package enters them in ``theano.rewriting.phases``.

``words`` is the vocabulary. ``compound`` puts expressions in place of the ops that stand for them, ``rows`` in place
of loops. ``useless``, ``algebra``, ``power``, ``stable`` and ``approximations`` speak of element-wise ops, ``repeats``
of fills and allocations, ``layout``, ``shapes`` and ``lengths`` of dimensions and how long they are, ``joins``,
``reductions``, ``index`` and ``writes`` (parts read, parts written), ``products``, ``narrow`` (which dtypes kernels
take), ``equations``, ``blas``, ``softmax``, ``asserts`` and
``choices`` of their ops; ``fusion`` makes one kernel of many
(``map_reduce`` of reductions and what they reduce, ``joining`` says what both need), ``inplace`` takes over memory
that nobody needs any more.
"""

from __future__ import annotations

# The order is that in which rules meet a node: what is useless goes first, so that the others need not see it.
from theano.tensor.rules import (  # isort: skip
    compound,
    rows,
    useless,
    repeats,
    asserts,
    algebra,
    power,
    stable,
    layout,
    shapes,
    lengths,
    joins,
    reductions,
    index,
    writes,
    products,
    narrow,
    equations,
    blas,
    softmax,
    choices,
    approximations,
    fusion,
    inplace,
)

__all__ = [
    "algebra", "approximations", "asserts", "blas", "choices", "compound", "equations", "fusion", "index", "inplace",
    "joins", "layout", "lengths", "narrow", "power", "products", "reductions", "repeats", "rows", "shapes", "softmax",
    "stable", "useless", "writes",
]  # fmt: skip

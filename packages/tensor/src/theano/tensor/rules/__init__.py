"""The rules of the tensor layer, by family, and the order in which they are tried.

Importing this package, or a module of it, enters all of them in ``theano.rewriting.phases``; nobody needs to, since the
sequence asks for them when it is first looked at. ``words`` is their vocabulary, ``joining`` what ``fusion`` and
``map_reduce`` (of reductions and what they reduce) both need.
"""

from __future__ import annotations

from theano.rewriting import families

#: The families in the order in which a phase shows them a node. Where two rules want the same node the earlier one has
#: it, and what it leaves is shown to all of them again: so this order decides where a phase ends only for rules that
#: lead away from each other, else how soon it ends. A family that stands where its subject alone would not put it says
#: why. Which phases a rule takes part in, and what it does within its family, is said where the rule is.
FAMILIES = (
    # What stands for something else goes first: the others know only what it stands for.
    "compound",  # expressions in place of the ops that stand for them
    "rows",  # and in place of loops over rows
    # What does nothing goes next, so that the others need not see it.
    "useless",  # hints, copies, choices between the same, casts of casts
    "layout",  # dimensions: before fills, which a reshape or a transpose hides from what they fill
    "repeats",  # fills and allocations: before arithmetic, which sinks through them
    "asserts",
    # Element-wise ops: first the normal form of sums and products, which the others are written for.
    "algebra",
    "power",  # after products, which powers are collected from
    "stable",  # what is computed more exactly, from terms in normal form
    "shapes",  # shapes as numbers of the inputs'
    "lengths",  # comparisons of such numbers
    # Parts, and what is put together of parts.
    "index",  # parts read
    "joins",  # after parts: one of a join may be a part of one input alone
    "reductions",
    "writes",  # parts written
    "products",
    "narrow",  # the dtypes that kernels take
    "equations",
    "inplace",  # takes over memory that nobody needs any more; a phase of its own, at a late position
    "blas",  # after equations, which take products apart
    "softmax",  # after reductions: it looks for sums and maxima as they leave them
    "choices",
    "approximations",  # for those who ask for them
    "fusion",  # one kernel of many; a phase of its own
)

families.in_order(*(f"{__name__}.{name}" for name in FAMILIES))

# They are imported below what says their order, and in any order.
from theano.tensor.rules import (  # noqa: E402
    algebra,
    approximations,
    asserts,
    blas,
    choices,
    compound,
    equations,
    fusion,
    index,
    inplace,
    joins,
    layout,
    lengths,
    narrow,
    power,
    products,
    reductions,
    repeats,
    rows,
    shapes,
    softmax,
    stable,
    useless,
    writes,
)

__all__ = [
    "FAMILIES", "algebra", "approximations", "asserts", "blas", "choices", "compound", "equations", "fusion", "index",
    "inplace", "joins", "layout", "lengths", "narrow", "power", "products", "reductions", "repeats", "rows", "shapes",
    "softmax", "stable", "useless", "writes",
]  # fmt: skip

"""The rules of the tensor layer, by family, and the order in which they are tried.

Importing this package, or a module of it, enters all of them in ``theano.rewriting.phases``; nobody needs to, since the
sequence asks for them when it is first looked at. ``words`` is their vocabulary, ``joining`` what ``fusion`` and
``map_reduce`` (of reductions and what they reduce) both need.
"""

from __future__ import annotations

from theano.rewriting import families

#: The families in the order in which a phase shows them a node. Where two rules want the same node the earlier one has
#: it, and what it leaves is shown to all of them again: the order decides how soon a phase ends, and where, only for
#: rules that lead away from each other. What a rule does among those of its family is a matter of its place there.
#: What comes out is recorded (``pytest packages/tensor/tests -k recorded``): move a family, and see.
FAMILIES = (
    # What stands for something else goes first: the others know only what it stands for.
    "compound",  # expressions in place of the ops that stand for them
    "rows",  # and in place of loops over rows
    # What does nothing goes next, so that the others need not see it.
    "useless",  # hints, copies, choices between the same, casts of casts
    "layout",  # dimensions. It is before repeats, and index before joins, for no better reason than that it always was:
    "repeats",  # fills and allocations; these modules import from those, and imports once decided
    "asserts",
    # Element-wise ops.
    "algebra",
    "power",
    "stable",
    # Dimensions and how long they are.
    "shapes",
    "lengths",
    # Other ops, by kind.
    "index",  # parts read
    "joins",
    "reductions",
    "writes",  # parts written
    "products",
    "narrow",  # which dtypes kernels take
    "equations",
    "inplace",  # passes at late positions of their own, no rule of a phase
    "draws",  # the same for the states of random numbers
    "blas",
    "softmax",
    "choices",
    "approximations",  # for who asks for them
    "fusion",  # a sequence of its own: one kernel of many
)

families.in_order(*(f"{__name__}.{name}" for name in FAMILIES))

# They are imported below what says their order, and in any order.
from theano.tensor.rules import , inplace
from theano.tensor.elemwise.rules import approximations
from theano.tensor.control.rules import asserts
from theano.tensor.blas.rules import routines as blas
from theano.tensor.control.rules import choices
from theano.tensor.expressions import rules as compound
from theano.tensor.random import rules as draws
from theano.tensor.linalg import rules as equations
from theano.tensor.elemwise.rules import fusion
from theano.tensor.index.rules import reads as index
from theano.tensor.join import rules as joins
from theano.tensor.shape.rules import layout
from theano.tensor.shape.rules import lengths
from theano.tensor.elemwise.rules import narrow
from theano.tensor.elemwise.rules import power
from theano.tensor.blas.rules import products
from theano.tensor.reduce.rules import reductions
from theano.tensor.shape.rules import repeats
from theano.tensor.rows import rules as rows
from theano.tensor.shape.rules import shapes
from theano.tensor.nnet import rules as softmax
from theano.tensor.elemwise.rules import stable
from theano.tensor.elemwise.rules import useless
from theano.tensor.index.rules import writes

__all__ = [
    "FAMILIES", "algebra", "approximations", "asserts", "blas", "choices", "compound", "draws", "equations", "fusion",
    "index", "inplace", "joins", "layout", "lengths", "narrow", "power", "products", "reductions", "repeats", "rows",
    "shapes", "softmax", "stable", "useless", "writes",
]  # fmt: skip

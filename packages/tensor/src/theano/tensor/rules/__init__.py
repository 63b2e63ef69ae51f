"""The order in which the rules of the tensor layer are tried, and what serves the rules of all op families.

The rules of a family are in its own folder. Importing `every` enters all of them in ``theano.rewriting.phases``; no
caller needs to, since the sequence imports them on first access. `predicates` is their vocabulary, `inplace`
decides what works in place, `by_name` has each rule under its name.
"""

from __future__ import annotations

from theano.rewriting import families

#: The families in the order in which a phase shows them a node. Where two rules want the same node the earlier one has
#: it, and what it leaves is shown to all of them again: the order decides how soon a phase ends, and where, only for
#: rules that lead away from each other. What a rule does among those of its family is a matter of its place there.
#: What comes out is recorded (``pytest packages/tensor/tests -k recorded``): move a family, and see.
FAMILIES = (
    # What stands for something else goes first: the others know only what it stands for.
    "expressions.rules",  # expressions in place of the ops that stand for them
    "rows.rules",  # and in place of loops over rows
    # What does nothing goes next, so that the others need not see it.
    "elemwise.rules.useless",  # hints, copies, choices between the same, casts of casts
    # Dimensions. They are before repeats, and reads before joins, for no better reason than that they always were:
    "shape.rules.layout",
    "shape.rules.repeats",  # fills and allocations; these modules import from those, and imports once decided
    "control.rules.asserts",
    # Element-wise ops.
    "elemwise.rules.algebra",
    "elemwise.rules.power",
    "elemwise.rules.stable",
    "elemwise.rules.moved",  # the same where elements were moved in between
    # Dimensions and how long they are.
    "shape.rules.shapes",
    "shape.rules.lengths",
    # Other ops, by kind.
    "index.rules.reads",  # parts read
    "join.rules",
    "reduce.rules.reductions",
    "index.rules.writes",  # parts written
    "blas.rules.products",
    "elemwise.rules.narrow",  # which dtypes kernels take
    "linalg.rules",
    "rules.inplace",  # passes at late positions of their own, no rule of a phase
    "random.rules",  # the same for the states of random numbers
    "blas.rules.routines",
    "nnet.rules",
    "reduce.rules.logsumexp",  # what is no softmax
    "conv.rules",  # which op computes a convolution
    "control.rules.choices",
    "elemwise.rules.approximations",  # only on request
    "elemwise.rules.fusion",  # a sequence of its own: one kernel of many
    "elemwise.rules.numbers",  # its first part, and the last pass over loops
    "conv.fusion",  # its last part
)

#: What enters rules or passes only once the ops are there that they are about: `every` leaves it out.
WITH_THEIR_OPS = ("conv.rules", "conv.fusion", "nnet.blocksparse")

families.in_order(*(f"theano.tensor.{name}" for name in FAMILIES))

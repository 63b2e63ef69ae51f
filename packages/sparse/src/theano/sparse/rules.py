"""The order in which the rules of the sparse layer are tried, after those of lower layers; to import it enters them."""

from __future__ import annotations

from theano.rewriting import families

#: The families in the order in which a phase shows them a node.
FAMILIES = (
    "theano.sparse.parts.rules",  # what does nothing goes first
    "theano.sparse.structure.rules",
    "theano.sparse.elemwise.rules",
    "theano.sparse.reduce.rules",
    "theano.sparse.product.rules",
)

families.in_order(*FAMILIES)

from theano.sparse.elemwise import rules as _elemwise  # noqa: E402, F401  (their order is known by now)
from theano.sparse.parts import rules as _parts  # noqa: E402, F401
from theano.sparse.product import rules as _product  # noqa: E402, F401
from theano.sparse.reduce import rules as _reduce  # noqa: E402, F401
from theano.sparse.structure import rules as _structure  # noqa: E402, F401

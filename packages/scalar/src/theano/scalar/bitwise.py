"""Bitwise operations on integers; on booleans, the logical ones."""

from __future__ import annotations

import numpy as np

from theano.scalar.base import flat
from theano.scalar.define import scalar_op
from theano.scalar.output_types import bitwise_out

_EXAMPLE = {"example_integers": True}

and_ = scalar_op(
    "and_", "x y", types=bitwise_out, py=np.bitwise_and, c="{x} & {y}", grad=flat, domain=(0.0, 9.0),
    commutative=True, associative=True, identity=-1, class_name="AND", attributes=_EXAMPLE,
    doc="The bits that are set in both; of booleans, whether both are true.",
)  # fmt: skip

or_ = scalar_op(
    "or_", "x y", types=bitwise_out, py=np.bitwise_or, c="{x} | {y}", grad=flat, domain=(0.0, 9.0),
    commutative=True, associative=True, identity=0, class_name="OR", attributes=_EXAMPLE,
    doc="The bits that are set in one at least; of booleans, whether one at least is true.",
)  # fmt: skip

xor = scalar_op(
    "xor", "x y", types=bitwise_out, py=np.bitwise_xor, c="{x} ^ {y}", grad=flat, domain=(0.0, 9.0),
    commutative=True, associative=True, identity=0, class_name="XOR", attributes=_EXAMPLE,
    doc="The bits that are set in one only; of booleans, whether just one is true.",
)  # fmt: skip

invert = scalar_op(
    "invert", "x", types=bitwise_out, py=np.invert, c={"b": "!{x}", "iu": "~{x}"}, grad=flat, domain=(0.0, 9.0),
    attributes=_EXAMPLE,
    doc="All bits inverted; of a boolean, whether it is false.",
)  # fmt: skip

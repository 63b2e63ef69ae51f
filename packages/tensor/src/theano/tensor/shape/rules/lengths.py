"""Comparisons with lengths, which are never negative: decided while compiling.

Slices and gradients of indices are full of them: ``switch(lt(x.shape[0], 0), ...)``, ``maximum(x.shape[0], 0)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano import scalar as scal
from theano.rewriting import pattern_vars, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import E, is_discrete, made_by, scalar_of, uniform

if TYPE_CHECKING:
    from theano.tensor.type import Tensor

_COMPARISONS = (F.lt, F.le, F.gt, F.ge, F.eq, F.maximum, F.minimum)


def not_negative(v: Tensor) -> bool:
    """Return whether ``v`` is a length, a number that is not negative, or a sum or product of such."""
    value = uniform(v)
    if value is not None:
        return bool(value >= 0)
    if v.owner is None or not is_discrete(v):
        return False
    if v.owner.op.is_length:
        return True
    inner = made_by(v, F.add) or made_by(v, F.mul) or made_by(v, F.maximum)
    if inner is not None:
        # In the dtype of lengths, whose sums do not wrap: memory is smaller than that.
        return v.type.dtype == "int64" and all(not_negative(x) for x in inner.inputs)
    cast = scalar_of(v.owner)
    return isinstance(cast, scal.Cast) and v.type.dtype == "int64" and not_negative(v.owner.inputs[0])


def _is_length(v: Tensor) -> bool:
    return is_discrete(v) and uniform(v) is None and not_negative(v)


def _is_up_to(largest: int) -> Any:
    return lambda v: is_discrete(v) and (value := uniform(v)) is not None and bool(value <= largest)


x, n = pattern_vars("x n")
length, natural = x.where(_is_length), x.where(lambda v: is_discrete(v) and not_negative(v))
not_above, below = n.where(_is_up_to(0)), n.where(_is_up_to(-1))
rule("local_useless_elemwise_comparison", E(F.lt)(length, not_above), 0,
     also=[(E(F.lt)(below, length), 1), (E(F.gt)(not_above, length), 0), (E(F.gt)(length, below), 1),
           (E(F.ge)(length, not_above), 1), (E(F.ge)(below, length), 0), (E(F.le)(not_above, length), 1),
           (E(F.le)(length, below), 0), (E(F.eq)(natural, below), 0), (E(F.maximum)(length, not_above), x),
           (E(F.minimum)(length, not_above), n)],
     phases=("stabilize", "specialize"),
     doc="A length is never below 0, and the larger of it and 0 is the length.")  # fmt: skip

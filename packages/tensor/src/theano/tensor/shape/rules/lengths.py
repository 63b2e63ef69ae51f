"""Comparisons of what is never negative, such as lengths and squares: decided while compiling.

Slices and gradients of indices are full of them: ``switch(lt(x.shape[0], 0), ...)``, ``maximum(x.shape[0], 0)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theano.rewriting import pattern_vars, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import E, is_complex, is_discrete, is_real, uniform
from theano.tensor.rules.signs import not_negative

if TYPE_CHECKING:
    from theano.tensor.type import Tensor

_COMPARISONS = (F.lt, F.le, F.gt, F.ge, F.eq, F.maximum, F.minimum)


def _is_length(v: Tensor) -> bool:
    return is_discrete(v) and uniform(v) is None and not_negative(v)


def _is_up_to(largest: int) -> Any:
    return lambda v: is_discrete(v) and _is_at_most(v, largest)


def _is_at_most(v: Tensor, largest: int) -> bool:
    value = uniform(v)
    return value is not None and bool(value <= largest)


def _is_nan(v: Tensor) -> bool:
    value = uniform(v)
    return value is not None and bool(value != value)


x, n, nan = pattern_vars("x n nan")
length, natural = x.where(_is_length), x.where(lambda v: is_discrete(v) and not_negative(v))
not_above, below = n.where(_is_up_to(0)), n.where(_is_up_to(-1))
# Real numbers may be nan, of which each comparison is false.
real, missing = x.where(lambda v: is_real(v) and not_negative(v)), nan.where(_is_nan)
limit = n.where(lambda v: not is_complex(v) and _is_at_most(v, 0))
rule("local_useless_elemwise_comparison", E(F.lt)(length, not_above), 0,
     also=[(E(F.lt)(below, length), 1), (E(F.gt)(not_above, length), 0), (E(F.gt)(length, below), 1),
           (E(F.ge)(length, not_above), 1), (E(F.ge)(below, length), 0), (E(F.le)(not_above, length), 1),
           (E(F.le)(length, below), 0), (E(F.eq)(natural, below), 0), (E(F.maximum)(length, not_above), x),
           (E(F.minimum)(length, not_above), n),
           (E(F.lt)(real, limit), 0), (E(F.gt)(limit, real), 0),
           (E(F.switch)(E(F.ge)(real, limit), x, missing), x), (E(F.switch)(E(F.le)(limit, real), x, missing), x)],
     phases=("stabilize", "specialize"),
     doc="A length is never below 0, nor is a square, and the larger of a length and 0 is the length.")  # fmt: skip

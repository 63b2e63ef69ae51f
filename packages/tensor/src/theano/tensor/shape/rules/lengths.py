"""Comparisons with lengths, which are never negative: decided while compiling.

Slices and gradients of indices are full of them: ``switch(lt(x.shape[0], 0), ...)``, ``maximum(x.shape[0], 0)``.
"""

from __future__ import annotations

from typing import Any

from theano import scalar as scal
from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import conform, constant_like, is_discrete, made_by, scalar_of, uniform

_COMPARISONS = (F.lt, F.le, F.gt, F.ge, F.eq, F.maximum, F.minimum)


def not_negative(v: Any) -> bool:
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


@local_rule(_COMPARISONS, keeps="exact", phases=("stabilize", "specialize"))
def local_useless_elemwise_comparison(node: Apply) -> Any:
    """A length is never below 0, and the larger of it and 0 is the length."""
    a, b = node.inputs
    (out,) = node.outputs
    if not is_discrete(a) or not is_discrete(b):
        return None
    op = scalar_of(node)
    if op in (scal.maximum, scal.minimum):
        return _larger(op, a, b, out) or _larger(op, b, a, out)
    answers = {scal.lt: _below(a, b), scal.gt: _below(b, a), scal.ge: _not(_below(a, b)), scal.le: _not(_below(b, a))}
    answer = answers.get(op)
    if op == scal.eq and (_is_below_zero(a) and not_negative(b) or _is_below_zero(b) and not_negative(a)):
        answer = False
    if answer is None:
        return None
    new = constant_like(int(answer), out)
    return None if new is None else [new]


def _is_below_zero(v: Any) -> bool:
    value = uniform(v)
    return value is not None and bool(value < 0)


def _below(a: Any, b: Any) -> bool | None:
    """Return whether ``a < b`` always or never, else None."""
    low, high = uniform(a), uniform(b)
    if low is not None and high is not None:
        return None  # constant folding computes it
    if high is not None and high <= 0 and not_negative(a):
        return False
    if low is not None and low < 0 and not_negative(b):
        return True
    return None


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _larger(op: Any, length: Any, number: Any, out: Any) -> Any:
    value = uniform(number)
    if value is None or value > 0 or uniform(length) is not None or not not_negative(length):
        return None
    chosen = length if op == scal.maximum else number
    new = conform(chosen, out)
    return None if new is None else [new]

"""The signs of elements, as far as expressions determine them, without computing them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from theano import scalar as scal
from theano.graph import Constant
from theano.tensor.elemwise import functions as F
from theano.tensor.reduce.careduce import CAReduce
from theano.tensor.rules.moves import sources
from theano.tensor.rules.predicates import NESTED, is_complex, is_discrete, made_by, scalar_of, uniform

if TYPE_CHECKING:
    from theano.graph.annotations import Node
    from theano.tensor.type import Tensor

#: Functions of real numbers that are never below 0.
_NEVER = (
    scal.abs_, scal.sqr, scal.sqrt, scal.exp, scal.exp2, scal.cosh, scal.erfc, scal.erfcx, scal.sigmoid, scal.softplus,
)  # fmt: skip
#: Functions that are not below 0 where their arguments are not.
_NOT_OF_SUCH = (
    scal.add, scal.mul, scal.minimum, scal.expm1, scal.log1p, scal.sinh, scal.arcsinh, scal.tanh, scal.arctan, scal.erf,
    scal.floor, scal.ceil, scal.trunc, scal.rint,
)  # fmt: skip
_NOT_BELOW = (scal.add, scal.mul, scal.maximum, scal.minimum)


def not_negative(v: Tensor, levels: int = NESTED) -> bool:
    """Return whether no element of ``v`` is below 0: real numbers may be nan, and zeros have either sign.

    Parameters
    ----------
    v : variable
    levels : int
        How deep to look.

    Examples
    --------
    >>> import theano.tensor as T
    >>> x = T.dvector("x")
    >>> [not_negative(v) for v in (x, x - 1, x**2, T.clip(x, 0, 5) + 1, T.exp(x) * abs(x))]
    [False, False, True, True, True]
    """
    if is_complex(v):
        return False
    if isinstance(v, Constant):
        return bool(np.all(v.data >= 0))
    value, node = uniform(v), v.owner
    if value is not None or node is None or levels == 0:
        return value is not None and bool(value >= 0)
    return (_whole if is_discrete(v) else _real)(v, node, levels - 1)


def _whole(v: Tensor, node: Node, levels: int) -> bool:
    """Return whether ``v`` is a length, or a sum or product of such."""
    if node.op.is_length:
        return True
    inner = made_by(v, F.add) or made_by(v, F.mul) or made_by(v, F.maximum)
    if inner is not None:
        # In the dtype of lengths, whose sums do not wrap: memory is smaller than that.
        return v.type.dtype == "int64" and all(not_negative(x, levels) for x in inner.inputs)
    cast = scalar_of(node)
    return isinstance(cast, scal.Cast) and v.type.dtype == "int64" and not_negative(node.inputs[0], levels)


def _real(v: Tensor, node: Node, levels: int) -> bool:
    """Return whether real numbers are computed by what does not go below 0."""
    places = sources(v)
    op = node.op.scalar_op if isinstance(node.op, CAReduce) else scalar_of(node)

    def known(i: int) -> bool:
        return not_negative(node.inputs[i], levels)

    if places:
        return all(map(known, places))
    if op in _NEVER:
        return True
    if isinstance(node.op, CAReduce):
        return op in _NOT_BELOW and known(0)
    if op == scal.mul:
        odd = [x for x, times in Counter(node.inputs).items() if times % 2]
        return all(not_negative(x, levels) for x in odd)
    if op == scal.maximum:
        return known(0) or known(1)
    if op == scal.clip:
        # Where the lower bound is nan, x comes as it is.
        return uniform(node.inputs[1]) is not None and known(1) and known(2)
    if op == scal.pow:
        exponent = uniform(node.inputs[1])
        return exponent is not None and bool(exponent % 2 == 0 or exponent > 0 and known(0))
    return (op in _NOT_OF_SUCH or isinstance(op, scal.Cast)) and all(map(known, range(len(node.inputs))))

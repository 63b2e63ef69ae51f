"""Powers with a known exponent: squares, roots, reciprocals, chains of squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.graph import Apply
from theano.rewriting import local_rule
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.words import constant_like, fit, is_float, uniform


@local_rule([F.pow], keeps="close")
def local_pow_canonicalize(node: Apply) -> Any:
    """``x ** 0`` is 1, ``x ** 1`` is x. (A power of complex numbers does not keep the signs of zeros.)"""
    exponent = uniform(node.inputs[1])
    if exponent is None:
        return None
    out = node.outputs[0]
    if exponent == 0:
        new = constant_like(1, out)
    elif exponent == 1:
        new = fit(node.inputs[0], out)
    else:
        return None
    return None if new is None else [new]


@local_rule([F.pow], keeps="finite", phases=("canonicalize",))
def local_inv_canon(node: Apply) -> Any:
    """``x ** -1`` is ``1 / x``, the one form of a reciprocal that products cancel."""
    base: Any = node.inputs[0]
    out: Any = node.outputs[0]
    if not is_float(out) or uniform(node.inputs[1]) != -1:
        return None
    new = fit(F.inv(base if base.type.dtype == out.type.dtype else F.cast(base, out.type.dtype)), out)
    return None if new is None else [new]


@local_rule([F.pow], keeps="finite", phases=("specialize",))
def local_pow_specialize(node: Apply) -> Any:
    """``x ** 2`` is a square, ``x ** 0.5`` a root, and so on for their reciprocals."""
    base: Any = node.inputs[0]
    out: Any = node.outputs[0]
    exponent = uniform(node.inputs[1])
    if exponent is None:
        return None
    if base.type.dtype != out.type.dtype:
        # The result may have room that the base has not: 20 ** 2 is 400 in int16, but not in uint8.
        base = F.cast(base, out.type.dtype)
    if exponent == 2:
        new = F.sqr(base)
    elif not is_float(out):
        return None
    elif exponent == 0.5:
        new = F.sqrt(base)
    elif exponent == -0.5:
        new = F.inv(F.sqrt(base))
    elif exponent == -1:
        new = F.inv(base)
    elif exponent == -2:
        new = F.inv(F.sqr(base))
    else:
        return None
    new = fit(new, out)
    return None if new is None else [new]


@local_rule([F.pow], keeps="finite", phases=("specialize_device",))
def local_pow_specialize_device(node: Apply) -> Any:
    """A whole exponent up to 512 becomes squares and products, so that no logarithm is taken."""
    base: Any = node.inputs[0]
    out: Any = node.outputs[0]
    exponent = uniform(node.inputs[1])
    if exponent is None or isinstance(exponent, np.complexfloating) or base.type.dtype != out.type.dtype:
        return None
    if exponent != int(exponent) if np.isfinite(exponent) else True:
        return None
    n = abs(int(exponent))
    if not 2 < n <= 512 or (exponent < 0 and not is_float(out)):
        return None
    new = _by_squaring(base, n)
    new = fit(F.inv(new) if exponent < 0 else new, out)
    return None if new is None else [new]


def _by_squaring(base: Any, n: int) -> Any:
    """Return ``base`` to the power of ``n``, with about ``log2(n)`` squares."""
    factors = []
    power = base
    while n:
        if n & 1:
            factors.append(power)
        n >>= 1
        if n:
            power = F.sqr(power)
    return factors[0] if len(factors) == 1 else F.mul(*factors)

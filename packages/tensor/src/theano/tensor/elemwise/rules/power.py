"""Powers with a known exponent: squares, roots, reciprocals, chains of squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from theano.graph import Apply
from theano.rewriting import local_rule, pattern_vars, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import combine, computed, conform, is_float, uniform, worth

(x,) = pattern_vars("x")


def _gives_floats(out: Any) -> bool:
    return is_float(out)


rule("local_pow_canonicalize", x ** worth(0), 1, keeps="close", also=[(x ** worth(1), x)],
     doc="``x ** 0`` is 1, ``x ** 1`` is x. (A power of complex numbers does not keep the signs of zeros.)",
)  # fmt: skip


rule("local_inv_canon", x ** worth(-1), computed(F.inv), when=_gives_floats, keeps="finite",
     doc="``x ** -1`` is ``1 / x``, the one form of a reciprocal that products cancel.")  # fmt: skip


#: What a power of a float is, by its exponent.
_POWERS: dict[float, Callable[[Any], Any]] = {
    0.5: F.sqrt, -0.5: lambda x: F.inv(F.sqrt(x)), -1: F.inv, -2: lambda x: F.inv(F.sqr(x)),
}  # fmt: skip
rule("local_pow_specialize", x ** worth(2), computed(F.sqr), keeps="finite", phases=("specialize",),
     also=[(x ** worth(exponent), computed(made), _gives_floats) for exponent, made in _POWERS.items()],
     doc="``x ** 2`` is a square, ``x ** 0.5`` a root, and so on for their reciprocals.")  # fmt: skip


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
    new = conform(F.inv(new) if exponent < 0 else new, out)
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
    return combine(F.mul, factors, base.type.dtype)

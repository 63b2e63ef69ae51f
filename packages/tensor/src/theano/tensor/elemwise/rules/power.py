"""Powers with a known exponent: squares, roots, reciprocals, chains of squares."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.rewriting import P, local_rule, pattern_vars, rule
from theano.tensor.elemwise import functions as F
from theano.tensor.rules.predicates import (
    E,
    combine,
    computed,
    conform,
    factors_of,
    is_complex,
    is_float,
    is_real,
    made_by,
    number_like,
    scalar_of,
    uniform,
    worth,
)
from theano.tensor.type import TensorApply

if TYPE_CHECKING:
    from theano.rewriting.rule import Answer
    from theano.tensor.type import Tensor

x, n = pattern_vars("x n")


def _gives_floats(out: Tensor) -> bool:
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


def _is_whole(v: Tensor) -> bool:
    exponent = uniform(v)
    if exponent is None or isinstance(exponent, np.complexfloating) or not np.isfinite(exponent):
        return False
    return bool(exponent == int(exponent)) and 2 < abs(int(exponent)) <= 512


def _by_squaring(x: Tensor, n: Tensor, out: Tensor) -> Any:
    """Return ``x ** n``, with about ``log2(n)`` squares."""
    left = abs(int(uniform(n)))
    if x.type.dtype != out.type.dtype or (uniform(n) < 0 and not is_float(out)):
        return None
    factors = []
    power = x
    while left:
        if left & 1:
            factors.append(power)
        left >>= 1
        if left:
            power = F.sqr(power)
    new = combine(F.mul, factors, x.type.dtype)
    return F.inv(new) if uniform(n) < 0 else new


rule("local_pow_specialize_device", x ** n.where(_is_whole), _by_squaring, keeps="finite",
     phases=("specialize_device",),
     doc="A whole exponent up to 512 becomes squares and products, so that no logarithm is taken.")  # fmt: skip


def _is_even(n: Tensor) -> bool:
    exponent = uniform(n)
    return exponent is not None and not is_complex(n) and bool(exponent > 0 and exponent % 2 == 0)


real, size = x.where(is_real), E(F.abs_)(x)
rule("local_root_of_power", E(F.sqrt)(E(F.sqr)(real)), size,
     also=[(E(F.sqrt)(P(F.mul, commutative=False)(real, real)), size),
           (E(F.sqrt)(real ** n.where(_is_even)), lambda x, n: F.pow(F.abs_(x), number_like(uniform(n) / 2, x)))],
     keeps="finite", phases=("canonicalize", "specialize"),
     doc="The root of a square is an absolute value; the square might overflow.")  # fmt: skip


rule("local_root_times_itself", E(F.mul)(E(F.sqrt)(x), E(F.sqrt)(x)), x, keeps="finite",
     doc="The square of a root is what the root was taken of.")  # fmt: skip


@local_rule([F.true_div, F.mul], keeps="finite", phases=("canonicalize",), needs=[F.sqr, F.sqrt, F.pow, F.abs_])
def local_power_over_itself(node: TensorApply) -> Answer:
    """``x / x ** n`` and ``x * x ** -n`` are ``x ** (1 - n)``, and ``sgn(x) / |x|`` is ``1 / x``, in any product.

    Gradients of logarithms of powers look like this, where the power may overflow.
    """
    out = node.outputs[0]
    if not is_float(out) or is_complex(out):
        return None
    for above, below in _sides(node):
        for (i, v), (j, w) in itertools.product(enumerate(above), enumerate(below)):
            new = _quotient(v, w) if v.type.dtype == w.type.dtype == out.type.dtype else None
            if new is not None:
                over, under = new
                tops = [*above[:i], *over, *above[i + 1 :]] or [number_like(1, out)]
                unders = [*below[:j], *under, *below[j + 1 :]]
                top = combine(F.mul, tops, out.type.dtype)
                return [conform(F.true_div(top, combine(F.mul, unders, out.type.dtype)) if unders else top, out)]
    return None


def _sides(node: TensorApply) -> Iterator[tuple[list[Tensor], list[Tensor]]]:
    """Yield the factors and divisors of a quotient, and of a product for each of its negative powers."""
    if scalar_of(node) == scal.true_div:
        yield factors_of(node.inputs[0]), factors_of(node.inputs[1])
        return
    for j, w in enumerate(node.inputs):
        x, n = _base(w)
        if n < 0:
            yield [*node.inputs[:j], *node.inputs[j + 1 :]], [F.pow(x, number_like(-n, x))]


def _quotient(v: Tensor, w: Tensor) -> tuple[list[Any], list[Any]] | None:
    """Return what to multiply with and to divide by in place of ``v / w``; None where they share no base."""
    (x, m), (y, n) = _base(v), _base(w)
    size, sign = made_by(w, F.abs_), made_by(v, F.sgn)
    if size is not None and sign is not None and size.inputs[0] is sign.inputs[0]:
        return [], size.inputs
    if x is not y or m == n == 1:
        return None
    left = m - n
    power = [] if left == 0 else [x] if abs(left) == 1 else [F.pow(x, number_like(abs(left), x))]
    return (power, []) if left > 0 else ([], power)


def _base(v: Tensor) -> tuple[Tensor, float]:
    """Return x and n if ``v`` is ``x ** n`` with a number n; any other variable is its own first power."""
    square, root, power = made_by(v, F.sqr), made_by(v, F.sqrt), made_by(v, F.pow)
    if power is not None and uniform(power.inputs[1]) is not None and power.inputs[0].type == v.type:
        return power.inputs[0], uniform(power.inputs[1]).item()
    if square is not None:
        return square.inputs[0], 2
    return (v, 1) if root is None else (root.inputs[0], 0.5)

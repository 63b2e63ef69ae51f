"""Rounding. The results are floats, also those of integers, as in Theano."""

from __future__ import annotations

import numpy as np

from theano.scalar.base import flat
from theano.scalar.define import scalar_op
from theano.scalar.output_types import same_out_float_only, upgrade_to_float_no_complex

ceil = scalar_op(
    "ceil", "x", types=upgrade_to_float_no_complex, py=np.ceil, c="ceil({x})",
    grad=flat, domain=(2.1, 2.9),
    doc="The smallest whole number that is not below x.",
)  # fmt: skip

floor = scalar_op(
    "floor", "x", types=upgrade_to_float_no_complex, py=np.floor, c="floor({x})",
    grad=flat, domain=(2.1, 2.9),
    doc="The largest whole number that is not above x.",
)  # fmt: skip

trunc = scalar_op(
    "trunc", "x", types=upgrade_to_float_no_complex, py=np.trunc, c="trunc({x})",
    grad=flat, domain=(2.1, 2.9),
    doc="The whole number next to x on the side of zero.",
)  # fmt: skip

round_half_to_even = scalar_op(
    "round_half_to_even", "x", types=same_out_float_only, py=np.rint, c="rint({x})",
    grad=flat, domain=(2.6, 3.4), aliases="rint",
    doc="The nearest whole number; a half goes to the even one.",
)  # fmt: skip


def _round_away(x: np.ndarray) -> np.ndarray:
    a = np.abs(x)
    whole = np.floor(a)
    result: np.ndarray = np.copysign(whole + (a - whole >= 0.5), x)
    return result


round_half_away_from_zero = scalar_op(
    "round_half_away_from_zero", "x", types=same_out_float_only, py=_round_away, c="round_away({x})",
    grad=flat, domain=(2.6, 3.4),
    doc="The nearest whole number; a half goes away from zero.",
)  # fmt: skip


def round_half_away_from_zero_(a: float) -> float:
    """Return one number rounded, halves away from zero.

    Parameters
    ----------
    a : float

    Examples
    --------
    >>> round_half_away_from_zero_(-2.5)
    -3.0
    """
    return float(_round_away(np.asarray(a, np.float64)))


def round_half_away_from_zero_vec(a: np.ndarray) -> np.ndarray:
    """Return an array rounded, halves away from zero.

    Parameters
    ----------
    a : array

    Examples
    --------
    >>> round_half_away_from_zero_vec(np.array([0.5, 1.4]))
    array([1., 1.])
    """
    return _round_away(np.asarray(a))

"""Shared variables that hold one number.

``theano.shared`` of a number makes a tensor without dimensions, as it always did; for a
scalar use the function here.
"""

from __future__ import annotations

import numpy as np

from theano.compile.shared import SharedVariable
from theano.scalar.convert import convert
from theano.scalar.type import get_scalar_type
from theano.scalar.variable import ScalarOperators


class ScalarSharedVariable(ScalarOperators, SharedVariable):
    """A number that lives between calls.

    Examples
    --------
    >>> n = shared(3, name="n")
    >>> n.get_value(), n.type
    (np.int64(3), int64)
    """


def shared(
    value: object, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None
) -> ScalarSharedVariable:
    """Return a shared scalar.

    Parameters
    ----------
    value : number
        Its dtype is NumPy's: int64 and float64 for Python's numbers. (That of a constant, the least one, would not
        hold what the number becomes.)
    name : str, optional
    strict : bool
        Store numbers of that very dtype only.
    allow_downcast : bool or None
        Whether storing may lose precision.

    Examples
    --------
    >>> shared(1.5).dtype
    'float64'
    """
    number = convert(np.asarray(value)[()])
    if number.ndim:
        raise TypeError(f"a shared scalar holds one number, not an array of shape {number.shape}")
    return ScalarSharedVariable(
        name=name,
        type=get_scalar_type(number.dtype.name),
        value=number[()],
        strict=strict,
        allow_downcast=allow_downcast,
    )

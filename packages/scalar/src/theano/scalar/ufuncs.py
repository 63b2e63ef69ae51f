"""Which of NumPy's functions reduces by a scalar operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.scalar.dtypes import discrete_dtypes

_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def ufunc_of(scalar_op: Any) -> Any:
    """Return what NumPy calls a scalar operation of two numbers.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> ufunc_of(ts.add)
    <ufunc 'add'>
    """
    name, own = str(scalar_op), getattr(scalar_op, "numpy_function", None)
    if name in _UFUNCS or isinstance(own, np.ufunc):
        return _UFUNCS.get(name, own)
    return np.frompyfunc(scalar_op.impl, 2, 1)


def neutral(op: object, dtype: str) -> float | None:
    """Return the number that an associative op combines with any number of a dtype without changing that, or None.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> neutral(ts.maximum, "float64"), neutral(ts.minimum, "int8"), neutral(ts.mul, "int8")
    (-inf, 127, 1)
    """
    if str(op) not in ("maximum", "minimum"):
        return getattr(op, "identity", None)
    least, largest = -np.inf, np.inf
    if dtype in discrete_dtypes:
        least, largest = (False, True) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return least if str(op) == "maximum" else largest

"""Facts about the dtypes of scalars, and which dtype comes out of several.

A dtype is written as NumPy's name for it. The names stand in the order of the loader's
codes (``TH_BOOL = 0``, ...); ``float16`` is stored in 16 bits and computed in 32.

Examples
--------
>>> promote("int32", "float32")
'float64'
>>> upcast(["int32", "float32"], policy="numpy+floatX", floatx="float32")
'float32'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import numpy as np

from theano.loader.abi import dtype_names

int_dtypes = ("int8", "int16", "int32", "int64")
uint_dtypes = ("uint8", "uint16", "uint32", "uint64")
float_dtypes = ("float16", "float32", "float64")
complex_dtypes = ("complex64", "complex128")
integer_dtypes = int_dtypes + uint_dtypes
discrete_dtypes = ("bool", *integer_dtypes)
continuous_dtypes = float_dtypes + complex_dtypes
all_dtypes = dtype_names()
DTYPE_CODES = {name: code for code, name in enumerate(all_dtypes)}


def normalise(dtype: np.dtype | str | type) -> str:
    """Return the name of a dtype given as a name, a NumPy dtype, a NumPy or a Python type.

    Raises
    ------
    TypeError
        Not one of the dtypes of scalars.

    Examples
    --------
    >>> normalise(float), normalise(np.dtype("<i4")), normalise("d")
    ('float64', 'int32', 'float64')
    """
    if dtype in DTYPE_CODES:
        return str(dtype)
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if name not in DTYPE_CODES:
        raise TypeError(f"unsupported dtype {dtype!r}: it must be one of {', '.join(all_dtypes)}")
    return name


def kind(dtype: str) -> str:
    """Return ``'b'`` (bool), ``'i'`` (signed), ``'u'`` (unsigned), ``'f'`` or ``'c'`` (complex).

    Examples
    --------
    >>> [kind(name) for name in ("bool", "int8", "uint8", "float16", "complex64")]
    ['b', 'i', 'u', 'f', 'c']
    """
    return dtype[0]


def bits(dtype: str) -> int:
    """Return the number of bits of an element; 8 for bool.

    Examples
    --------
    >>> bits("complex64"), bits("bool")
    (64, 8)
    """
    return 8 if dtype == "bool" else int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))


def is_discrete(dtype: str) -> bool:
    """Return whether values are counted (bool and integers) rather than measured.

    Examples
    --------
    >>> is_discrete("bool"), is_discrete("float16")
    (True, False)
    """
    return dtype in discrete_dtypes


def is_complex(dtype: str) -> bool:
    """Return whether values have an imaginary part.

    Examples
    --------
    >>> is_complex("complex64")
    True
    """
    return dtype in complex_dtypes


def real_dtype(dtype: str) -> str:
    """Return the dtype of the real part.

    Examples
    --------
    >>> real_dtype("complex64"), real_dtype("int8")
    ('float32', 'int8')
    """
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def complex_dtype(dtype: str) -> str:
    """Return the complex dtype whose parts hold values of a real dtype.

    Examples
    --------
    >>> complex_dtype("float32"), complex_dtype("int32")
    ('complex64', 'complex128')
    """
    return promote(dtype, "complex64")


@cache
def promote(*dtypes: str) -> str:
    """Return NumPy's common dtype of arrays of these dtypes.

    Examples
    --------
    >>> promote("uint64", "int64"), promote("int16", "float16"), promote("uint8", "int8")
    ('float64', 'float32', 'int16')
    """
    result = np.dtype(dtypes[0])
    for dtype in dtypes[1:]:
        result = np.promote_types(result, dtype)
    return result.name


def upcast(dtypes: Sequence[str], policy: str = "custom", floatx: str = "float64") -> str:
    """Return the dtype in which values of several dtypes meet.

    Parameters
    ----------
    dtypes : sequence of str
        At least one.
    policy : str
        ``'custom'``: NumPy's promotion. ``'numpy+floatX'``: the same, but a float64 that none of the
        inputs asked for (int32 with float32, say) stays at ``floatx``.
    floatx : str
        The configured ``floatX``.

    Examples
    --------
    >>> upcast(["int8", "uint8"])
    'int16'
    >>> upcast(["int64", "float64"], policy="numpy+floatX", floatx="float32")
    'float64'
    """
    result = promote(*dtypes)
    if policy == "numpy+floatX" and result in ("float64", "float32") and floatx != "float64":
        # A float that is wider than every float given was made by the promotion of an integer.
        asked = max((bits(d) for d in dtypes if d in float_dtypes), default=0)
        if asked <= bits(floatx) < bits(result):
            return floatx
    return result


def autocast_dtype(
    value: float,
    candidates: Iterable[str],
    policy: str = "custom",
    floatx: str = "float64",
) -> str:
    """Return the dtype that a Python number gets when it meets symbolic variables.

    Parameters
    ----------
    value : int or float
    candidates : iterable of str
        Dtypes to choose from, small ones first.
    policy, floatx : str
        As for :func:`upcast`. With ``'custom'``, the first candidate that holds the value exactly; but a
        float is a ``floatx`` where that is one of the candidates and not float64, and is a float16 only
        where ``floatx`` says so. With ``'numpy+floatX'``, int64 (uint64 where it must) and ``floatx``.

    Examples
    --------
    >>> autocast_dtype(1, int_dtypes), autocast_dtype(200, int_dtypes)
    ('int8', 'int16')
    >>> autocast_dtype(0.5, float_dtypes), autocast_dtype(0.1, float_dtypes)
    ('float32', 'float64')
    >>> autocast_dtype(0.1, float_dtypes, floatx="float32")
    'float32'
    """
    return _autocast_dtype(value, tuple(candidates), policy, floatx)


@lru_cache(maxsize=1024, typed=True)  # programs write the same few numbers again and again
def _autocast_dtype(value: float, candidates: tuple[str, ...], policy: str, floatx: str) -> str:
    is_float = isinstance(value, float)
    if policy == "numpy+floatX":
        if is_float:
            return floatx
        return "int64" if -(2**63) <= value < 2**63 else "uint64"
    if is_float and floatx in candidates and floatx != "float64":
        return floatx
    usable = [c for c in candidates if c != "float16" or floatx == "float16"]
    for dtype in usable:
        if holds(value, dtype):
            return dtype
    if not is_float and 0 <= value < 2**64:
        return "uint64"
    return usable[-1]


def holds(value: float, dtype: str) -> bool:
    """Return whether a Python number is represented exactly; every float dtype holds nan.

    Examples
    --------
    >>> holds(127, "int8"), holds(128, "int8"), holds(0.1, "float32"), holds(float("nan"), "float16")
    (True, False, False, True)
    """
    if dtype in integer_dtypes:
        limits = np.iinfo(dtype)
        return bool(limits.min <= value <= limits.max and value == int(value))
    if dtype == "bool":
        return value in (0, 1)
    with np.errstate(over="ignore"):
        # item(): NumPy compares its own scalar with a Python float in the scalar's precision
        stored = np.dtype(dtype).type(value).item()
    return bool(stored == value or value != value)

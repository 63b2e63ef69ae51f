"""From Python and NumPy numbers to symbolic ones."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import NumberRangeError
from theano.extensions import Chain
from theano.graph.apply import Apply
from theano.graph.variable import Variable
from theano.scalar import policy
from theano.scalar.dtypes import autocast_dtype, normalise
from theano.scalar.dtypes import upcast as upcast_dtypes
from theano.scalar.type import Scalar, get_scalar_type
from theano.scalar.variable import ScalarConstant

if TYPE_CHECKING:
    from theano.scalar.annotations import Number


class NumpyAutocaster:
    """Chooses the dtype of Python numbers that meet symbolic variables.

    Parameters
    ----------
    dtypes : sequence of str
        The dtypes it chooses from, small ones first.

    Examples
    --------
    >>> NumpyAutocaster(("int8", "int16"))(300).dtype
    dtype('int16')
    """

    def __init__(self, dtypes: tuple[str, ...]):
        self.dtypes = tuple(dtypes)

    def __call__(self, x: float) -> np.ndarray:
        """Return ``x`` as an array: of its own dtype if it has one, else of one that holds it."""
        if isinstance(x, (np.generic, np.ndarray)):
            return np.asarray(x)
        dtype = autocast_dtype(x, self.dtypes, policy.cast_policy(), policy.floatx())
        return np.asarray(x).astype(dtype)


autocast_int = NumpyAutocaster(("int8", "int16", "int32", "int64"))
autocast_float = NumpyAutocaster(("float16", "float32", "float64"))


class autocast_float_as:
    """Within a ``with`` block, choose the dtype of Python floats from the given ones.

    Parameters
    ----------
    *dtypes : str

    Examples
    --------
    >>> import theano.scalar as ts
    >>> with autocast_float_as("float32"):
    ...     (ts.float32("x") + 1.1).dtype
    'float32'
    >>> (ts.float32("x") + 1.1).dtype
    'float64'
    """

    def __init__(self, *dtypes: str):
        self.dtypes = dtypes

    def __enter__(self) -> None:
        self.old_dtypes = autocast_float.dtypes
        autocast_float.dtypes = self.dtypes

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        autocast_float.dtypes = self.old_dtypes


def convert(x: Any, dtype: str | None = None) -> np.ndarray:
    """Return a number as an array without dimensions, of the dtype that it gets in an expression.

    Parameters
    ----------
    x : number
    dtype : str, optional
        The dtype wanted. Without it, NumPy numbers keep theirs and Python numbers are autocast.

    Examples
    --------
    >>> convert(300).dtype, convert(0.5).dtype, convert(True).dtype, convert(np.float32(2)).dtype
    (dtype('int16'), dtype('float32'), dtype('bool'), dtype('float32'))
    >>> convert(2**70)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    theano.errors.NumberRangeError: 1180591620717411303424 does not fit in int64 or uint64. ...
    """
    if dtype is not None:
        dtype = normalise(policy.floatx() if dtype == "floatX" else dtype)
        try:
            return np.asarray(x, dtype=dtype)
        except OverflowError as error:
            raise out_of_range(x, dtype) from error
    if isinstance(x, bool):
        return np.asarray(x)
    if isinstance(x, int):
        try:
            return autocast_int(x)
        except OverflowError as error:
            raise out_of_range(x, "int64 or uint64") from error
    if isinstance(x, float) and not isinstance(x, np.floating):
        return autocast_float(x)
    array = np.asarray(x)
    normalise(array.dtype)
    return array


def out_of_range(x: object, dtypes: str) -> NumberRangeError:
    """Return the error for a number that some dtypes do not hold."""
    text = repr(x) if not isinstance(x, int) or abs(x) < 10**60 else f"a whole number of {x.bit_length()} bits"
    return NumberRangeError(
        f"{text if len(text) < 80 else text[:76] + ' ...'} does not fit in {dtypes}. "
        "Whole numbers are -2**63 to 2**64 - 1; for others say that a float is meant, as in float(2**70)"
    )


def constant(x: Any, name: str | None = None, dtype: Any = None) -> ScalarConstant:
    """Return a scalar constant.

    Parameters
    ----------
    x : number
    name : str, optional
    dtype : str, optional
        See :func:`convert`.

    Examples
    --------
    >>> constant(2), constant(2).type, constant(2, dtype="float32").type
    (ScalarConstant{2}, int8, float32)
    """
    array = convert(x, dtype)
    if array.ndim != 0:
        raise TypeError(f"a scalar constant needs one number, got an array of shape {array.shape}")
    result: Any = get_scalar_type(array.dtype.name).make_constant(array[()], name)
    return result


#: Functions from a variable of another layer to a scalar, or None.
scalar_converters: Chain[Callable[[Any], Any]] = Chain("scalar.convert.scalar_converters", "how a variable is a scalar")


def as_scalar(x: Any, name: str | None = None) -> Any:
    """Return ``x`` as a scalar variable.

    Parameters
    ----------
    x : number, scalar variable, Apply with one output, or a variable that another layer can convert
    name : str, optional
        Name of the constant, where one is made.

    Examples
    --------
    >>> as_scalar(3)
    ScalarConstant{3}
    """
    if isinstance(x, Apply):
        x = x.default_output()
    if isinstance(x, Variable):
        if isinstance(x.type, Scalar):
            return x
        for converter in scalar_converters:
            converted = converter(x)
            if converted is not None:
                return converted
        raise TypeError(f"{x} of type {x.type} cannot be used as a scalar")
    if isinstance(x, (str, bytes)) or x is None:
        raise TypeError(f"cannot convert {x!r} to a scalar: it is no number")
    try:
        return constant(x, name)
    except (TypeError, ValueError) as error:
        raise TypeError(f"cannot convert {x!r} to a scalar: {error}") from error


def upcast(dtype: str, *dtypes: str) -> str:
    """Return the dtype in which several dtypes meet, under ``theano.config.cast_policy``.

    Parameters
    ----------
    dtype, *dtypes : str

    Examples
    --------
    >>> upcast("int32", "float32"), upcast("int8", "uint8", "float16")
    ('float64', 'float32')
    """
    return upcast_dtypes((dtype, *dtypes), policy.cast_policy(), policy.floatx())


def as_common_dtype(*variables: Number) -> tuple[Number, ...]:
    """Return the variables, cast to the dtype in which they meet.

    Examples
    --------
    >>> import theano.scalar as ts
    >>> [v.dtype for v in as_common_dtype(ts.int8("i"), ts.float32("x"))]
    ['float32', 'float32']
    """
    wanted = upcast(*[v.dtype for v in variables])
    return tuple(v.astype(wanted) for v in variables)

"""Shared variables that hold arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano import scalar as scal
from theano.compile.shared import SharedVariable, shared_constructor
from theano.layers import lazily
from theano.tensor.foreign import in_memory
from theano.tensor.type import TensorType
from theano.tensor.var import Operators


class TensorSharedVariable(Operators, SharedVariable):
    """A shared variable whose value is an array.

    Examples
    --------
    >>> import theano
    >>> w = theano.shared(np.zeros((2, 3)), name="w")
    >>> w.type, type(w).__name__, (w + 1).ndim
    (TensorType(float64, matrix), 'TensorSharedVariable', 2)
    """

    if TYPE_CHECKING:

        def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> np.ndarray: ...


class ScalarSharedVariable(TensorSharedVariable):
    """A shared variable whose value is one number, kept as an array without dimensions."""


@shared_constructor
def tensor_constructor(
    value: np.ndarray,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    broadcastable: Any = None,
    target: str = "cpu",
) -> TensorSharedVariable:
    """Return a shared variable for an array.

    Parameters
    ----------
    value : numpy.ndarray, or what speaks DLPack, the buffer interface or NumPy's protocols
        The first value.
    name : str, optional
        What graphs and messages call the variable.
    strict, allow_downcast : bool
        How later values are taken; see :class:`TensorType`.
    borrow : bool
        Keep the array itself rather than a copy.
    broadcastable : sequence of bool, optional
        Dimensions whose length is always 1. None by default, so that later values may have other lengths.
    target : str
        Device; only "cpu" here.

    Returns
    -------
    TensorSharedVariable
        Of the dtype and number of dimensions of the value.

    Raises
    ------
    TypeError
        It is no array, one of a dtype that no tensor holds, or not for this device.

    Examples
    --------
    >>> tensor_constructor(np.zeros((2, 3))).type
    TensorType(float64, matrix)
    """
    if target != "cpu":
        raise TypeError("not for cpu")
    if isinstance(value, np.generic) and broadcastable is not None:
        value = np.asarray(value)  # NumPy computes numbers from arrays without axes; who tells of axes means an array
    value = in_memory(value)
    if not isinstance(value, np.ndarray):
        raise TypeError(f"tensor_constructor takes a numpy array, not {type(value).__name__}")
    if value.dtype.newbyteorder("=").name not in scal.all_dtypes:
        raise TypeError(f"no tensor holds values of dtype {value.dtype}")
    pattern = (False,) * value.ndim if broadcastable is None else broadcastable
    type_ = TensorType(value.dtype.newbyteorder("=").name, pattern)
    kept = np.asarray(value) if borrow else np.array(value, copy=True, subok=False)
    return TensorSharedVariable(type=type_, value=kept, name=name, strict=strict, allow_downcast=allow_downcast)


@shared_constructor
def scalar_constructor(
    value: complex | np.number | np.bool_,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    target: str = "cpu",
) -> ScalarSharedVariable:
    """Return a shared variable for a number, of the dtype that NumPy gives it.

    A Python float is a float64 (or floatX, where that is asked of ``allow_downcast``), a Python int an int64.

    Parameters
    ----------
    value : float, int, complex, bool or NumPy scalar
        The first value.
    name : str, optional
        How the variable is printed.
    strict, allow_downcast : bool
        How later values are taken; see :class:`TensorType`.
    borrow : bool
        Without effect: a number is always copied.
    target : str
        Device; only "cpu" here.

    Returns
    -------
    ScalarSharedVariable
        A tensor of no dimensions.

    Examples
    --------
    >>> scalar_constructor(3).type, scalar_constructor(np.float32(3)).type
    (TensorType(int64, scalar), TensorType(float32, scalar))
    """
    if target != "cpu":
        raise TypeError("not for cpu")
    if not isinstance(value, (np.number, np.bool_, float, int, complex)) or isinstance(value, np.ndarray):
        raise TypeError(f"scalar_constructor takes a number, not {type(value).__name__}")
    kept = np.asarray(value).copy()
    type_ = TensorType(kept.dtype.name, ())
    return ScalarSharedVariable(type=type_, value=kept, name=name, strict=strict, allow_downcast=allow_downcast)


__getattr__, __dir__ = lazily(globals())

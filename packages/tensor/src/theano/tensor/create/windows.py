"""Window functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theano.settings import config
from theano.tensor.convert import (
    as_tensor_variable,
    constant,
)
from theano.tensor.create.arange import arange
from theano.tensor.elemwise.functions import cast, maximum, neq, switch, true_div

if TYPE_CHECKING:
    from theano.tensor.type import Tensor


def bartlett(M: Any) -> Tensor:
    """Return a window of ``M`` numbers that rises in a straight line from 0 to 1 and falls back.

    Parameters
    ----------
    M : int or scalar of int
        Number of elements.

    Returns
    -------
    TensorVariable
        A vector of floatX, empty for ``M`` below 1.

    See Also
    --------
    numpy.bartlett

    Examples
    --------
    >>> bartlett(5).eval()
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    size = cast(as_tensor_variable(M), "int64")
    if size.type.ndim:
        raise TypeError(f"bartlett takes one whole number, but {M} has {size.type.ndim} dimensions")
    places = cast(arange(size), str(config.floatX))
    last = cast(maximum(size - 1, 1), str(config.floatX))
    half = true_div(last, constant(np.array(2, dtype=str(config.floatX))))
    rising = true_div(places, half)
    window = switch(places <= half, rising, 2 - rising)
    return switch(neq(size, 1), window, window.ones_like())

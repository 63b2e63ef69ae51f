"""The C library of this layer: which of its levels is loaded, as the tensor layer decides for its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from theano.tensor.kernels.common import Params, Ready, library_paths
from theano.tensor.kernels.common import ready as _ready

PACKAGE = os.path.dirname(os.path.abspath(__file__))
"""The folder in which the library lies."""

ready: Callable[..., Callable[[Params], Ready]] = partial(_ready, package=PACKAGE)
"""`theano.tensor.kernels.common.ready`, for kernels of this layer's library."""


def levels() -> list[str]:
    """Return the levels of instructions for which the library was built and which this CPU has.

    Examples
    --------
    >>> "baseline" in levels()
    True
    """
    return list(library_paths(PACKAGE))

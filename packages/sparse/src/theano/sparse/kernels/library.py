"""The C library of this layer: which of its levels is loaded, as the tensor layer decides for its own."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from theano.lowering.accepts import Dtypes
from theano.tensor.kernels.common import Params, Ready, library_level, library_paths
from theano.tensor.kernels.common import ready as _ready

PACKAGE = os.path.dirname(os.path.abspath(__file__))
"""The folder of the library."""

INT32 = Dtypes("int32", frozenset({"int32"}))
"""Of the indices that kernels take."""

ready: Callable[..., Callable[[Params], Ready]] = partial(_ready, package=PACKAGE)
"""`theano.tensor.kernels.common.ready`, for kernels of this layer's library."""


def levels() -> list[str]:
    """Return the levels of instructions for which the library was built and which this CPU has.

    Examples
    --------
    >>> set(levels()) <= {"baseline", "v3", "v4"}
    True
    """
    return list(library_paths(PACKAGE))


_MODULES = {
    "baseline": "theano.sparse.kernels._kernels",
    "v3": "theano.sparse.kernels._kernels_v3",
    "v4": "theano.sparse.kernels._kernels_v4",
}


def module() -> Any:
    """Return the library as a module of Python, at the level that suits this CPU; None if none was built."""
    level = library_level(PACKAGE)
    return None if level is None else importlib.import_module(_MODULES[level])

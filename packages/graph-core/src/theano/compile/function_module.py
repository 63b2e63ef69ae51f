"""``theano.compile.function_module``: see :mod:`theano.compile.executable` and :mod:`theano.compile.maker`."""

from __future__ import annotations

from theano.compile.aliasing import insert_deepcopy
from theano.compile.executable import DUPLICATE, Function
from theano.compile.maker import FunctionMaker
from theano.errors import AliasedMemoryError, UnusedInputError
from theano.graph.features import Supervisor

__all__ = [
    "DUPLICATE",
    "AliasedMemoryError",
    "Function",
    "FunctionMaker",
    "Supervisor",
    "UnusedInputError",
    "insert_deepcopy",
]

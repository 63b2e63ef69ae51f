"""Symbolic mathematics, differentiated and compiled to fast machine code.

``theano`` is the public module of the system. This file belongs to the graph-core
layer; the layers above it (``theano.scalar``, ``theano.tensor``, ...) live in
distributions of their own and appear here as soon as they are installed and used.

Examples
--------
>>> import theano
>>> theano.__version__[0]
'2'
>>> x = theano.generic("x")
>>> theano.function([x], x)("anything")
'anything'
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import time
from typing import TYPE_CHECKING, Any

# The upper layers are other distributions, which put their sub-packages into other folders.
__path__ = pkgutil.extend_path(__path__, __name__)
# Of all layers, whose setup.py read it here. As both PEP 440 and semantic versioning can read it: programs compare it
# by either.
__version__ = "2.0.0-a1"
# When this process began to import us: a source file that is younger is not what runs.
__imported__ = time.time()

# Only the old Theano and its forks under this name have this file; the check costs one lookup per folder.
if any(os.path.exists(f"{folder}/configdefaults.py") for folder in __path__):
    from theano.older import refuse

    refuse(__path__)

from theano.errors import FlagError

try:
    from theano.settings import change_flags, config
except FlagError as error:  # of a user's file or environment: our frames say nothing about it
    raise error.with_traceback(None) from None

from theano import layers
from theano.compile import (
    Container,
    In,
    Out,
    Param,
    SymbolicInput,
    SymbolicOutput,
    function,
    function_dump,
    shared,
)
from theano.errors import InconsistencyError, UnavailableLayerError
from theano.graph import Apply, Constant, FunctionGraph, Generic, Op, Type, Variable, generic
from theano.graph.clone import copy_expression as clone
from theano.updates import OrderedUpdates

if TYPE_CHECKING:
    from theano.compile import (
        FunctionMaker,
        Mode,
        OpFromGraph,
        ProfileStats,
        as_op,
        explain_compile,
        predefined_linkers,
        predefined_modes,
        predefined_optimizers,
    )
    from theano.printing import pp, pprint
    from theano.runtime.failure import last_error

#: Modules of this layer that are loaded when they are first used.
_MODULES = (
    "batching", "codegen", "d3viz", "doctor", "gradient", "loader", "lowering", "printing", "rewriting", "runtime",
)  # fmt: skip

#: Modules of this layer that people use, by `dir`; the others are how it is made.
_SHOWN = ("d3viz", "doctor", "errors", "gradient", "graph", "printing")

#: Names that live elsewhere, by the module that defines them. What layers add, and old spellings, these say themselves.
_ELSEWHERE = {
    **dict.fromkeys(
        (
            "Function", "FunctionMaker", "Mode", "OpFromGraph", "ProfileStats", "as_op", "explain_compile",
            "predefined_linkers", "predefined_modes", "predefined_optimizers",
        ),
        "theano.compile",
    ),
    "Lop": "theano.gradient",
    "Rop": "theano.gradient",
    "checkpoint": "theano.compile.checkpoint",
    "checkpoint_sequential": "theano.compile.checkpoint",
    "export": "theano.aot.export",
    "grad": "theano.gradient",
    "last_error": "theano.runtime.failure",
    "pp": "theano.printing",
    "pprint": "theano.printing",
    "subgraph_grad": "theano.gradient",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"theano.{name}")
    return layers.attribute("theano", name)


def __dir__() -> list[str]:
    return layers.names_in_use("theano", [*__all__, *_ELSEWHERE, "__version__", *_SHOWN])


if config.device != "cpu" or config.init_gpu_device or config.contexts:
    layers.start_devices()

__all__ = [
    "Apply",
    "Constant",
    "Container",
    "FunctionGraph",
    "FunctionMaker",
    "Generic",
    "In",
    "InconsistencyError",
    "Mode",
    "Op",
    "OpFromGraph",
    "OrderedUpdates",
    "Out",
    "Param",
    "ProfileStats",
    "SymbolicInput",
    "SymbolicOutput",
    "Type",
    "UnavailableLayerError",
    "Variable",
    "as_op",
    "change_flags",
    "clone",
    "config",
    "explain_compile",
    "function",
    "function_dump",
    "generic",
    "last_error",
    "pp",
    "pprint",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "shared",
]

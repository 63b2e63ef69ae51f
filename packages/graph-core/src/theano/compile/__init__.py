"""Compiling: from the user's expressions to a function, in readable steps.

Read in this order: ``inputs`` and ``shared`` (what the user says), ``closed_graph`` (the graph is copied and closed),
``mode`` (how it is rewritten and run), ``maker`` (the steps), ``aliasing`` (copies at the borders), ``executable``
(what comes out), ``pickling`` (pickles).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from theano import layers
from theano.compile import test_values  # noqa: F401  (it watches the flags of test values and traces)
from theano.compile.accepted import Accepted
from theano.compile.aliasing import insert_deepcopy
from theano.compile.builders import OpFromGraph, ops_with_inner_function
from theano.compile.copy_ops import (
    DeepCopyOp,
    OutputGuard,
    ViewOp,
    deep_copy_op,
    register_deep_copy_kernel,
    register_deep_copy_op_c_code,
    register_view_op_c_code,
    view_op,
)
from theano.compile.from_function import FromFunctionOp, as_op
from theano.compile.function import function, function_dump
from theano.compile.inputs import In, Out, Param, SymbolicInput, SymbolicOutput
from theano.compile.maker import FunctionMaker
from theano.compile.mode import (
    FAST_COMPILE,
    FAST_RUN,
    OPT_FAST_COMPILE,
    OPT_FAST_RUN,
    OPT_FAST_RUN_STABLE,
    OPT_MERGE,
    OPT_NONE,
    OPT_O2,
    OPT_O3,
    OPT_STABILIZE,
    OPT_UNSAFE,
    Mode,
    exclude,
    get_default_mode,
    get_mode,
    predefined_linkers,
    predefined_modes,
    predefined_optimizers,
    register_linker,
    register_mode,
    register_optimizer,
)
from theano.compile.shared import Container, SharedVariable, shared, shared_constructor
from theano.errors import AliasedMemoryError, UnusedInputError
from theano.graph.aliasing import DestroyHandler
from theano.graph.features import Supervisor
from theano.graph.traverse import is_same_graph
from theano.graph.variable import Variable
from theano.runtime.profile import ProfileStats, explain_compile
from theano.settings import config

if TYPE_CHECKING:
    from theano.compile.debugmode import DebugMode
    from theano.compile.executable import Function
    from theano.compile.mode import local_useless
    from theano.compile.monitormode import MonitorMode
    from theano.compile.nanguardmode import NanGuardMode
    from theano.compile.print_current import PrintCurrentFunctionGraph
    from theano.rewriting.userdefined import AddDestroyHandler, AddFeatureOptimizer, optdb

#: Modes that look at each node, with the modules that are brought in when somebody wants one.
_LOOKING = {"DebugMode": "debugmode", "MonitorMode": "monitormode", "NanGuardMode": "nanguardmode"}

#: What is user-defined in rewriting, with the modules that are loaded when somebody asks for it.
_USER_DEFINED = {
    "AddDestroyHandler": "theano.rewriting.userdefined",
    "AddFeatureOptimizer": "theano.rewriting.userdefined",
    "PrintCurrentFunctionGraph": "theano.compile.print_current",
    "local_useless": "theano.compile.mode",
    "optdb": "theano.rewriting.userdefined",
}


def __getattr__(name: str) -> Any:
    if name == "profiling" or name in _LOOKING.values():
        return importlib.import_module(f"theano.compile.{name}")
    if name in _LOOKING:
        return getattr(importlib.import_module(f"theano.compile.{_LOOKING[name]}"), name)
    if name == "Function":
        # Its base is the loader's class, a compiled module that brings in NumPy.
        from theano.compile.executable import Function

        return Function
    if name in _USER_DEFINED:
        return getattr(importlib.import_module(_USER_DEFINED[name]), name)
    return layers.attribute("theano.compile", name)


def __dir__() -> list[str]:
    return sorted(
        {*globals(), "Function", *_USER_DEFINED, *_LOOKING, *_LOOKING.values(), *layers.added_names("theano.compile")}
    )


__all__ = [
    "FAST_COMPILE",
    "FAST_RUN",
    "OPT_FAST_COMPILE",
    "OPT_FAST_RUN",
    "OPT_FAST_RUN_STABLE",
    "OPT_MERGE",
    "OPT_NONE",
    "OPT_O2",
    "OPT_O3",
    "OPT_STABILIZE",
    "OPT_UNSAFE",
    "Accepted",
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "AliasedMemoryError",
    "Container",
    "DebugMode",
    "DeepCopyOp",
    "DestroyHandler",
    "FromFunctionOp",
    "Function",
    "FunctionMaker",
    "In",
    "Mode",
    "MonitorMode",
    "NanGuardMode",
    "OpFromGraph",
    "Out",
    "OutputGuard",
    "Param",
    "PrintCurrentFunctionGraph",
    "ProfileStats",
    "SharedVariable",
    "Supervisor",
    "SymbolicInput",
    "SymbolicOutput",
    "UnusedInputError",
    "Variable",
    "ViewOp",
    "as_op",
    "config",
    "deep_copy_op",
    "exclude",
    "explain_compile",
    "function",
    "function_dump",
    "get_default_mode",
    "get_mode",
    "insert_deepcopy",
    "is_same_graph",
    "local_useless",
    "ops_with_inner_function",
    "optdb",
    "predefined_linkers",
    "predefined_modes",
    "predefined_optimizers",
    "register_deep_copy_kernel",
    "register_deep_copy_op_c_code",
    "register_linker",
    "register_mode",
    "register_optimizer",
    "register_view_op_c_code",
    "shared",
    "shared_constructor",
    "view_op",
]

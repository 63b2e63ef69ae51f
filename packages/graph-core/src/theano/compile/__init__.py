"""Compiling: from the user's expressions to a function, in readable steps.

Read in this order: ``inputs`` and ``shared`` (what the user says), ``closed_graph`` (the graph is copied and closed),
``mode`` (how it is rewritten and run), ``maker`` (the steps), ``aliasing`` (copies at the borders), ``executable``
(what comes out), ``pickling`` (pickles).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from theano import layers
from theano.compile import test_values  # noqa: F401  (it watches the flags of test values and traces)
from theano.compile.function import function, function_dump
from theano.compile.inputs import In, Out, Param, SymbolicInput, SymbolicOutput
from theano.compile.shared import Container, SharedVariable, shared, shared_constructor
from theano.errors import AliasedMemoryError, UnusedInputError
from theano.extensions import extension
from theano.graph.traverse import is_same_graph
from theano.graph.variable import Variable
from theano.layers.spellings import named
from theano.settings import config

if TYPE_CHECKING:
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
    from theano.compile.debugmode import DebugMode
    from theano.compile.executable import Function
    from theano.compile.from_function import FromFunctionOp, as_op
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
        local_useless,
        predefined_linkers,
        predefined_modes,
        predefined_optimizers,
        register_linker,
        register_mode,
        register_optimizer,
    )
    from theano.compile.monitormode import MonitorMode
    from theano.compile.nanguardmode import NanGuardMode
    from theano.compile.print_current import PrintCurrentFunctionGraph
    from theano.graph.aliasing import DestroyHandler
    from theano.graph.features import Supervisor
    from theano.rewriting.userdefined import AddDestroyHandler, AddFeatureOptimizer, optdb
    from theano.runtime.profile import ProfileStats, explain_compile

#: Loaded by the first call of `function`, or by access to one of these names: the compiler, by modules.
_COMPILER = {
    "theano.compile.accepted": ("Accepted",),
    "theano.compile.aliasing": ("insert_deepcopy",),
    "theano.compile.builders": ("OpFromGraph", "ops_with_inner_function"),
    "theano.compile.copy_ops": (
        "DeepCopyOp", "OutputGuard", "ViewOp", "deep_copy_op", "register_deep_copy_kernel",
        "register_deep_copy_op_c_code", "register_view_op_c_code", "view_op",
    ),
    "theano.compile.debugmode": ("DebugMode",),
    "theano.compile.executable": ("Function",),
    "theano.compile.from_function": ("FromFunctionOp", "as_op"),
    "theano.compile.maker": ("FunctionMaker",),
    "theano.compile.mode": (
        "FAST_COMPILE", "FAST_RUN", "OPT_FAST_COMPILE", "OPT_FAST_RUN", "OPT_FAST_RUN_STABLE", "OPT_MERGE", "OPT_NONE",
        "OPT_O2", "OPT_O3", "OPT_STABILIZE", "OPT_UNSAFE", "Mode", "exclude", "get_default_mode", "get_mode",
        "local_useless", "predefined_linkers", "predefined_modes", "predefined_optimizers", "register_linker",
        "register_mode", "register_optimizer",
    ),
    "theano.compile.monitormode": ("MonitorMode",),
    "theano.compile.nanguardmode": ("NanGuardMode",),
    "theano.compile.print_current": ("PrintCurrentFunctionGraph",),
    "theano.graph.aliasing": ("DestroyHandler",),
    "theano.graph.features": ("Supervisor",),
    "theano.rewriting.userdefined": ("AddDestroyHandler", "AddFeatureOptimizer", "optdb"),
    "theano.runtime.profile": ("ProfileStats", "explain_compile"),
}  # fmt: skip

#: Its other modules, which are loaded on attribute access.
_MODULES = (
    "arguments", "closed_graph", "compiling", "expression", "key", "pickling", "profiling", "program_cache",
    "program_source", "registered_code", "request",
)  # fmt: skip

__getattr__, __dir__ = layers.lazily(
    globals(),
    {
        **{name: f"{module}:{name}" for module, names in _COMPILER.items() for name in names},
        **{module.rpartition(".")[2]: module for module in _COMPILER if module.startswith(__name__)},
        **{name: f"{__name__}.{name}" for name in _MODULES},
    },
)

# What the packages below ask the compiler and the lowering table, which are loaded to answer.
for _answer in (
    extension("graph.op.table_answer", lambda *args: named("theano.lowering.table:kernel_on_cpu")(*args)),
    extension("graph.op.c_thunk_maker", lambda *args: named("theano.compile.compiling:make_c_thunk")(*args)),
    extension("runtime.link.accepter", lambda *args: named("theano.compile.accepted:Accepted")(*args)),
    # Its rules come before those of the layers above, whichever are loaded first.
    extension("rewriting.families.places", "theano.compile.builders", 0),
    extension(layers.RULES, "theano.compile.builders", None),
    extension(layers.RULES, "theano.compile.graph_printing", None),
):
    _answer.enter()

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

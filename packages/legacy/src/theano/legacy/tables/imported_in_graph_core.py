"""Old spellings: names that older modules held because they imported them, and programs took from there."""

from __future__ import annotations

OLD_NAMES = {
    "theano.compile": {
        "theano.compile.function_module": "DUPLICATE",
        "theano.gof": "gof=.",
        "theano.gof.graph": "graph=.",
        "theano.gradient.absent": "DisconnectedType NullType",
        "importlib": "importlib=.",
        "theano.legacy.functions": (
            "alias_root check_equal convert_function_input fgraph_updated_vars get_info_on_inputs "
            "infer_reuse_pattern orig_function rebuild_collect_shared register_checker std_fgraph view_tree_set"
        ),
        "theano.legacy.gone": "ScanProfileStats",
        "theano.legacy.nodes": "io_connection_pattern",
    },
    "theano.compile.builders": {
        "theano.compile": "optdb",
        "theano.gof": "gof=.",
        "theano.legacy.functions": "orig_function",
        "theano.legacy.nodes": "io_connection_pattern",
    },
    "theano.compile.debugmode": {
        "theano.compile.copy_ops": "OutputGuard",
        "theano.compile.executable": "Function",
        "theano.compile.maker": "FunctionMaker",
        "theano.compile.mode": "register_mode",
        "theano.gof": "gof=.",
        "theano.gof.graph": "graph=.",
        "theano.gof.utils": "utils=.",
        "theano.legacy.functions": "infer_reuse_pattern std_fgraph",
        "theano.legacy.helpers": "get_unbound_function",
        "theano.legacy.linking": "raise_with_op",
        "theano.settings": "change_flags",
    },
    "theano.compile.function_module": {
        "theano.compile.inputs": "In SymbolicInput SymbolicOutput",
        "theano.compile.ops": "deep_copy_op view_op",
        "theano.gof": "gof=.",
        "theano.gof.graph": "graph=.",
        "theano.graph.traverse": "is_same_graph",
        "theano.settings": "config",
    },
    "theano.compile.io": {
        "theano.compile.shared": "SharedVariable",
        "theano.gof": "gof=.",
    },
    "theano.compile.mode": {
        "theano.gof": "gof=.",
        "theano.graph.features": "Supervisor",
    },
    "theano.compile.nanguardmode": {
        "theano.compile.mode": "get_mode",
    },
    "theano.compile.ops": {
        "theano.gof": "gof=.",
    },
    "theano.compile.pfunc": {
        "theano.compile": "Out",
        "theano.compile.inputs": "In",
        "theano.compile.shared": "shared SharedVariable",
        "theano.errors": "UnusedInputError",
        "theano.graph.variable": "Constant Variable",
        "theano.runtime.profile": "ProfileStats",
        "theano.settings": "config",
    },
    "theano.compile.profiling": {
        "theano.gof.graph": "graph=.",
    },
    "theano.compile.sharedvalue": {
        "theano.compile.shared": "Container",
        "theano.gof.type": "generic",
        "theano.gof.utils": "utils=.",
        "theano.graph.variable": "Variable",
    },
    "theano.configdefaults": {
        "theano.configparser": "THEANO_FLAGS_DICT TheanoConfigParser",
        "theano.legacy.types": "maybe_add_to_os_environ_pathlist",
        "theano.settings": "AddConfigVar",
        "theano.settings.kinds": "BoolParam ConfigParam EnumStr FloatParam IntParam StrParam",
    },
    "theano.gof": {
        "theano.gof.utils": "object2",
        "theano.legacy.gone": "HideC",
        "theano.legacy.helpers": "hashtype",
    },
    "theano.gof.cc": {
        "theano.compat": "PY3",
    },
    "theano.gof.cmodule": {
        "theano.compat": "decode PY3",
        "theano.gof.compilelock": "compilelock=.",
        "theano.legacy.helpers": "decode_iter local_bitwidth",
        "theano.legacy.utilities": "flatten hash_from_code",
    },
    "theano.gof.compiledir": {
        "theano.legacy.utilities": "flatten",
        "theano.settings": "config",
    },
    "theano.gof.compilelock": {
        "theano.settings": "config",
    },
    "theano.gof.destroyhandler": {
        "theano.errors": "InconsistencyError",
        "theano.gof.graph": "graph=.",
        "theano.gof.toolbox": "toolbox=.",
        "theano.settings": "config",
    },
    "theano.gof.fg": {
        "theano.gof.graph": "graph=.",
        "theano.gof.toolbox": "toolbox=.",
        "theano.gof.utils": "utils=.",
        "theano.legacy.utilities": "get_variable_trace_string",
        "theano.settings": "config",
    },
    "theano.gof.graph": {
        "collections": "deque OrderedDict",
    },
    "theano.gof.null_type": {
        "theano.graph.type": "Type",
    },
    "theano.gof.op": {
        "theano.legacy.compiler": "GCC_compiler",
    },
    "theano.gof.optdb": {
        "theano.compat": "DefaultOrderedDict",
    },
    "theano.gof.params_type": {
        "theano.errors": "MethodNotDefined",
        "theano.graph.enum_type": "EnumType",
        "theano.graph.type": "Type",
    },
    "theano.gof.sched": {
        "theano.legacy.ordering": "list_of_nodes",
    },
    "theano.gof.type": {
        "theano.errors": "MethodNotDefined",
        "theano.gof.graph": "graph=.",
        "theano.gof.utils": "object2 utils=.",
        "theano.graph.op": "Op",
        "theano.settings": "change_flags",
    },
    "theano.gof.utils": {
        "theano.compat": "PY3",
    },
    "theano.gof.vm": {
        "theano.gof.lazylinker_c": "lazylinker_c=.",
        "theano.gof.link": "link=.",
        "theano.settings": "config",
    },
    "theano.gradient": {
        "theano.compile.copy_ops": "ViewOp",
    },
    "theano.printing": {
        "theano.compile.debugmode": "debugmode=.",
        "theano.compile.executable": "Function",
        "theano.compile.shared": "SharedVariable",
        "theano.gof": "gof=.",
        "theano.gof.graph": "Apply",
        "theano.graph.op": "Op",
        "theano.settings": "config",
    },
}

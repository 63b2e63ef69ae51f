"""Documented spellings of graph-core: what `theano.layers.spellings` makes modules and names of.

They are the interface that Theano documents, and lead to things of this layer. theano-legacy has all others.
"""

from __future__ import annotations

OLD_NAMES = {
    "theano": {
        "theano.graph.external_op": "OpenMPOp",
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker Linker LocalLinker=Linker OpWiseCLinker PerformLinker",
    },
    "theano.compile": {
        "theano.compile.builders": "inline_ofg_expansion",
    },
    "theano.compile.io": {
        "theano.compile.inputs": "In SymbolicInput SymbolicOutput",
    },
    "theano.compile.mode": {
        "theano.compile.print_current": "PrintCurrentFunctionGraph",
        "theano.rewriting.userdefined": "AddDestroyHandler AddFeatureOptimizer",
    },
    "theano.compile.ops": {
        "theano.compile.from_function": "as_op FromFunctionOp load_back=_load",
        "theano.compile.copy_ops": (
            "deep_copy_op DeepCopyOp OutputGuard register_deep_copy_op_c_code register_view_op_c_code view_op ViewOp"
        ),
    },
    "theano.compile.sharedvalue": {
        "theano.compile.shared": "generic_constructor shared shared_constructor SharedVariable",
    },
    "theano.configparser": {
        "theano.settings": (
            "AddConfigVar BoolParam change_flags config ConfigParam EnumStr FloatParam IntParam StrParam "
            "TheanoConfigParser=Config TheanoConfigWarning TypedParam"
        ),
    },
    "theano.gof": {
        "theano.compile.shared": "Container",
        "theano.errors": "InconsistencyError MethodNotDefined MissingInputError",
        "theano.graph": "Apply Constant FunctionGraph Generic generic Op PureOp=Op Type Variable",
        "theano.graph.aliasing": "DestroyHandler",
        "theano.graph.enum_type": "CEnumType EnumList EnumType",
        "theano.graph.external_op": "COp=ExternalCOp OpenMPOp",
        "theano.graph.features": (
            "Bookkeeper Feature History NodeFinder NoOutputFromInplace PrintListener ReplacementDidntRemovedError "
            "ReplaceValidate Validator"
        ),
        "theano.graph.params_type": "Params ParamsType",
        "theano.graph.traverse": "view_roots",
        "theano.rewriting": "Query",
        "theano.rewriting.userdefined": (
            "DB EquilibriumDB EquilibriumOptimizer inplace_optimizer local_optimizer LocalOptGroup LocalOptimizer "
            "MergeOptimizer NavigatorOptimizer OpRemove OpSub Optimizer optimizer PatternSub SeqOptimizer SequenceDB "
            "TopoOptimizer"
        ),
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker Linker LocalLinker=Linker OpWiseCLinker PerformLinker",
        "theano.runtime.interpreter": "WrapLinker WrapLinkerMany",
    },
    "theano.gof.fg": {
        "theano.errors": "InconsistencyError MissingInputError CachedConstantError=InconsistencyError",
        "theano.graph.fgraph": "FunctionGraph",
    },
    "theano.gof.graph": {
        "theano.graph.apply": "Apply",
        "theano.graph.clone": "clone clone_get_equiv",
        "theano.graph.traverse": "as_string is_same_graph op_as_string view_roots",
        "theano.graph.variable": "Constant Variable",
    },
    "theano.gof.op": {
        "theano.compile.test_values": (
            "debug_assert debug_error_message get_debug_values get_test_value missing_test_message"
        ),
        "theano.graph.c_contract": "CLinkerObject CLinkerOp",
        "theano.graph.external_op": "COp=ExternalCOp OpenMPOp",
        "theano.graph.op": "Op PureOp=Op",
    },
    "theano.gof.opt": {
        "theano.rewriting.userdefined.graph_rewriters": "Updater",
        "theano.graph.source": "copy_stack_trace",
        "theano.rewriting": "check_stack_trace CheckStrackTraceFeature=CheckStackTraceFeature",
        "theano.rewriting.userdefined": (
            "EquilibriumOptimizer FromFunctionLocalOptimizer FromFunctionOptimizer in2out inplace_optimizer "
            "local_optimizer LocalOptGroup LocalOptimizer MergeOptimizer NavigatorOptimizer OpRemove OpSub Optimizer "
            "optimizer out2in PatternSub SeqOptimizer TopoOptimizer"
        ),
    },
    "theano.gof.optdb": {
        "theano.rewriting": "Query",
        "theano.rewriting.userdefined": "DB EquilibriumDB SequenceDB",
    },
    "theano.gof.params_type": {
        "theano.graph.params_type": "Params ParamsType",
    },
    "theano.gof.toolbox": {
        "theano.errors": "BadOptimization",
        "theano.graph.features": (
            "AlreadyThere Bookkeeper Feature History NodeFinder NoOutputFromInplace PreserveNames "
            "PreserveVariableAttributes PrintListener ReplacementDidntRemovedError ReplaceValidate Validator"
        ),
    },
    "theano.gof.type": {
        "theano.graph.c_contract": "CLinkerType",
        "theano.graph.cdata_type": "CDataType",
        "theano.graph.enum_type": "CEnumType EnumList EnumType",
        "theano.graph.type": "Generic PureType=Type Type",
    },
    "theano.gof.utils": {
        "theano.errors": "MethodNotDefined",
        "theano.graph.variable": "scratchpad=Scratchpad",
    },
    "theano.graph.basic": {
        "theano.gof.graph": "*",
        "theano.graph.traverse": "applys_between orphans_between vars_between=variables_between",
    },
    "theano.graph.fg": {
        "theano.gof.fg": "*",
    },
    "theano.graph.op": {
        "theano.compile.test_values": "compute_test_value missing_test_message",
    },
    "theano.graph.opt": {
        "theano.gof.opt": "*",
        "theano.rewriting.userdefined": "GlobalOptimizer=Optimizer",
    },
    "theano.graph.optdb": {
        "theano.gof.optdb": "*",
    },
    "theano.graph.toolbox": {
        "theano.gof.toolbox": "*",
        "theano.graph.features": "ReplacementDidNotRemoveError=ReplacementDidntRemovedError",
        "theano.graph.traverse": "is_same_graph",
    },
    "theano.graph.utils": {
        "theano.errors": "TestValueError",
        "theano.gof.utils": "*",
        "theano.graph.variable": "Scratchpad",
    },
}

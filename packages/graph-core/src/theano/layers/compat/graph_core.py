"""Old spellings of graph-core: what `theano.layers.compat` makes modules and names of."""

from __future__ import annotations

OLD_NAMES = {
    "theano": {
        "builtins": "object2=object",
        "sys": "sys=.",
        "theano": "theano=.",
        "theano.gof.opt": "opt=.",
        "theano.gof.toolbox": "toolbox=.",
        "theano.gof.utils": "utils=.",
        "theano.graph.external_op": "OpenMPOp",
        "theano.layers.compat.helpers": "disable_log_handler has_handlers PY3",
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker Linker LocalLinker=Linker OpWiseCLinker PerformLinker",
    },
    "theano.compat": {
        "builtins": "ifilter=filter imap=map izip=zip",
        "collections": "defaultdict DefaultOrderedDict=defaultdict DictMixin=UserDict OrderedDict UserDict",
        "functools": "partial reduce",
        "itertools": "chain izip_longest=zip_longest zip_longest",
        "logging": "logging=.",
        "pickle": "cPickle=. pickle=.",
        "sys": "maxsize sys=.",
        "theano.layers.compat.helpers": (
            "b cmp decode decode_iter decode_with disable_log_handler exc_message get_unbound_function "
            "has_handlers integer_types logging_default_handler operator_div PY3 string_types theano_logger"
        ),
    },
    "theano.compile.function_module": {
        "theano.compile.aliasing": "insert_deepcopy",
        "theano.compile.executable": "DUPLICATE Function",
        "theano.compile.maker": "FunctionMaker",
        "theano.errors": "AliasedMemoryError UnusedInputError",
        "theano.graph.features": "Supervisor",
    },
    "theano.compile.io": {
        "theano.compile.inputs": "In Out SymbolicInput SymbolicOutput",
    },
    "theano.compile.ops": {
        "theano.compile.from_function": "as_op FromFunctionOp",
        "theano.compile.copy_ops": (
            "deep_copy_op DeepCopyOp OutputGuard register_deep_copy_op_c_code register_view_op_c_code view_op ViewOp"
        ),
    },
    "theano.compile.pfunc": {
        "theano.compile.function": "pfunc=function",
        "theano.compile.inputs": "Param",
    },
    "theano.compile.sharedvalue": {
        "theano.compile.shared": "generic_constructor shared shared_constructor SharedVariable",
    },
    "theano.configdefaults": {
        "theano.settings": "config",
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
        "theano.graph.c_contract": "CLinkerObject CLinkerOp CLinkerType",
        "theano.graph.cdata_type": "CDataType",
        "theano.graph.enum_type": "CEnumType EnumList EnumType",
        "theano.graph.external_op": "COp=ExternalCOp ExternalCOp OpenMPOp",
        "theano.graph.features": (
            "Bookkeeper Feature History NodeFinder NoOutputFromInplace PreserveVariableAttributes PrintListener "
            "ReplacementDidntRemovedError ReplaceValidate Validator"
        ),
        "theano.graph.params_type": "Params ParamsType",
        "theano.graph.traverse": "view_roots",
        "theano.rewriting": "Query",
        "theano.rewriting.userdefined": (
            "CheckStackTraceOptimization DB EquilibriumDB EquilibriumOptimizer inplace_optimizer local_optimizer "
            "LocalGroupDB LocalOptGroup LocalOptimizer MergeOptimizer NavigatorOptimizer OpKeyOptimizer OpRemove "
            "OpSub Optimizer optimizer PatternSub ProxyDB SeqOptimizer SequenceDB TopoOptimizer"
        ),
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker Linker LocalLinker=Linker OpWiseCLinker PerformLinker",
        "theano.runtime.interpreter": "WrapLinker WrapLinkerMany",
    },
    "theano.gof.cc": {
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker OpWiseCLinker",
    },
    "theano.gof.destroyhandler": {
        "theano.graph.aliasing": "DestroyHandler",
    },
    "theano.gof.fg": {
        "theano.errors": "InconsistencyError MissingInputError",
        "theano.graph.fgraph": "FunctionGraph",
    },
    "theano.gof.graph": {
        "theano.graph.apply": "Apply",
        "theano.graph.clone": "clone clone_get_equiv",
        "theano.graph.traverse": (
            "ancestors as_string equal_computations inputs io_toposort is_in_ancestors is_same_graph "
            "list_of_nodes op_as_string ops=applys_between orphans=orphans_between variables=variables_between "
            "view_roots"
        ),
        "theano.graph.variable": "Constant Variable",
    },
    "theano.gof.link": {
        "theano.compile.shared": "Container",
        "theano.runtime.link": "Linker LocalLinker=Linker PerformLinker",
        "theano.runtime.interpreter": "WrapLinker WrapLinkerMany",
    },
    "theano.gof.op": {
        "theano.compile.test_values": (
            "compute_test_value debug_assert debug_error_message get_debug_values get_test_value missing_test_message"
        ),
        "theano.errors": "TestValueError",
        "theano.graph.c_contract": "CLinkerOp",
        "theano.graph.external_op": "COp=ExternalCOp ExternalCOp get_io_macros get_sub_macros OpenMPOp",
        "theano.graph.op": "Op PureOp=Op",
    },
    "theano.gof.opt": {
        "theano.graph.source": "copy_stack_trace",
        "theano.rewriting": "check_stack_trace CheckStackTraceFeature local_rule rule",
        "theano.rewriting.userdefined": (
            "CheckStackTraceOptimization EquilibriumOptimizer FromFunctionLocalOptimizer FromFunctionOptimizer "
            "GlobalOptimizer=Optimizer in2out inplace_optimizer local_optimizer LocalOptGroup LocalOptimizer "
            "MergeOptimizer NavigatorOptimizer OpKeyOptimizer OpRemove OpSub Optimizer optimizer out2in "
            "PatternSub pre_greedy_local_optimizer SeqOptimizer TopoOptimizer"
        ),
    },
    "theano.gof.optdb": {
        "theano.rewriting": "Query",
        "theano.rewriting.userdefined": "DB EquilibriumDB LocalGroupDB ProxyDB SequenceDB TopoDB",
    },
    "theano.gof.params_type": {
        "theano.graph.params_type": "Params ParamsType",
    },
    "theano.gof.sched": {
        "theano.graph.schedule": "posort sort_apply_nodes sort_schedule_fn",
        "theano.layers.compat.helpers": "key_to_cmp",
    },
    "theano.gof.toolbox": {
        "theano.graph.features": (
            "AlreadyThere Bookkeeper Feature History NodeFinder NoOutputFromInplace PreserveNames "
            "PreserveVariableAttributes PrintListener ReplacementDidntRemovedError ReplaceValidate Supervisor "
            "Validator"
        ),
    },
    "theano.gof.type": {
        "theano.graph.c_contract": "CLinkerObject CLinkerType",
        "theano.graph.cdata_type": "CDataType",
        "theano.graph.enum_type": "CEnumType EnumList EnumType",
        "theano.graph.type": "CType Generic generic PureType=Type Type",
    },
    "theano.gof.utils": {
        "builtins": "object2=object",
        "theano.errors": "MethodNotDefined",
        "theano.graph.variable": "scratchpad=Scratchpad",
        "theano.layers.compat.helpers": (
            "apply_across_args difference from_return_values hashtype LOCAL_BITWIDTH PYTHON_INT_BITWIDTH "
            "to_return_values uniq"
        ),
    },
    "theano.gof.vm": {
        "theano.runtime.link": "VM_Linker",
    },
    "theano.link": {},
    "theano.link.basic": {
        "theano.compile.shared": "Container",
        "theano.runtime.link": "Linker LocalLinker=Linker PerformLinker",
        "theano.runtime.interpreter": "WrapLinker WrapLinkerMany",
    },
    "theano.link.c": {},
    "theano.link.c.basic": {
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker OpWiseCLinker",
    },
    "theano.link.c.interface": {
        "theano.graph.c_contract": "CLinkerObject CLinkerOp CLinkerType",
    },
    "theano.link.vm": {
        "theano.runtime.link": "VM_Linker VMLinker=VM_Linker",
    },
    "theano.version": {
        "theano": "theano=. full_version=__version__ short_version=__version__ version=__version__",
        "theano.layers.compat.helpers": "git_revision release",
    },
}

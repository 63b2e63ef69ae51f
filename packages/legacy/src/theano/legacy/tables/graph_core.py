"""Old spellings of graph-core: what `theano.layers.spellings` makes modules and names of."""

from __future__ import annotations

OLD_NAMES = {
    "theano": {
        "builtins": "object2=object",
        "sys": "sys=.",
        "theano": "theano=.",
        "theano.gof.opt": "opt=.",
        "theano.gof.toolbox": "toolbox=.",
        "theano.legacy.helpers": "disable_log_handler has_handlers logging_default_handler PY3 theano_logger",
        "theano.legacy.values": "logging_default_formatter",
        "theano.compile.pfunc": "pfunc=.",
    },
    "theano.compat": {
        "theano.legacy.types": "maybe_add_to_os_environ_pathlist",
        "builtins": "ifilter=filter imap=map izip=zip",
        "collections": "defaultdict DefaultOrderedDict=defaultdict DictMixin=UserDict OrderedDict UserDict",
        "functools": "partial reduce",
        "itertools": "chain izip_longest=zip_longest zip_longest",
        "logging": "logging=.",
        "pickle": "cPickle=. pickle=.",
        "sys": "maxsize sys=.",
        "theano.legacy.helpers": (
            "b cmp decode decode_iter decode_with disable_log_handler exc_message get_unbound_function has_handlers "
            "integer_types logging_default_handler operator_div PY3 string_types theano_logger"
        ),
        "io": "BytesIO StringIO",
    },
    # Copies of other packages, in Theano 0.6 to 0.8.
    "theano.compat.python2x": {
        "builtins": "all any",
        "collections": "Counter DefaultOrderedDict=defaultdict defaultdict deque DictMixin=UserDict OrderedDict",
        "functools": "partial",
        "itertools": "combinations itertools_product=product product",
        "sys": "maxsize",
        "io": "BytesIO StringIO",
    },
    "theano.compat.six": {
        "six": "*",
    },
    "theano.compat.six.moves": {
        "six.moves": (
            "BaseHTTPServer SimpleHTTPServer UserDict UserList UserString _thread builtins cPickle cStringIO "
            "configparser copyreg filter filterfalse getcwd html_parser http_client input intern map queue range "
            "reduce reload_module shlex_quote socketserver StringIO urllib urllib_error urllib_parse xrange zip "
            "zip_longest"
        ),
    },
    "theano.compat.six.moves.urllib": {
        "urllib.error": "error=.",
        "urllib.parse": "parse=.",
        "urllib.request": "request=.",
    },
    "theano.compat.six.moves.urllib.parse": {
        "urllib.parse": "*",
    },
    "theano.compat.six.moves.urllib.error": {
        "urllib.error": "*",
    },
    "theano.compat.six.moves.urllib.request": {
        "urllib.request": "*",
    },
    "theano.gof.python25": {
        "theano.compat.python2x": "*",
    },
    "theano.compile.compiledir": {
        "theano.gof.compiledir": "*",
    },
    "theano.compile.compilelock": {
        "theano.gof.compilelock": "*",
        "theano.legacy.gone": "ThreadFileLocks",
    },
    "theano.compile.debugmode": {
        "theano.legacy.types": (
            "char_from_number check_eq DataDestroyed default_make_thunk NoDuplicateOptWarningFilter"
        ),
        "theano.legacy.gone": "str_diagnostic",
    },
    "theano.compile.function.pfunc": {
        "theano.compile.pfunc": "*",
    },
    "theano.compile.function.types": {
        "theano.compile.function_module": "*",
    },
    "theano.compile.function_module": {
        "theano.legacy.functions": (
            "alias_root check_equal convert_function_input fgraph_updated_vars get_info_on_inputs infer_reuse_pattern "
            "orig_function register_checker std_fgraph view_tree_set _constructor_Function _constructor_FunctionMaker "
            "_pickle_Function"
        ),
        "theano.legacy.values": "NODEFAULT",
        "theano.compile.aliasing": "insert_deepcopy",
        "theano.compile.executable": "DUPLICATE Function",
        "theano.compile.maker": "FunctionMaker",
        "theano.errors": "AliasedMemoryError UnusedInputError",
        "theano.graph.features": "Supervisor",
    },
    "theano.compile.io": {
        "theano.compile.inputs": "Out",
    },
    "theano.compile.mode": {
        "theano.rewriting.userdefined": "optdb",
    },
    "theano.compile.ops": {
        "theano.legacy.values": "expandable_types",
    },
    "theano.compile.pfunc": {
        "theano.legacy.functions": "iter_over_pairs pfunc rebuild_collect_shared",
        "theano.compile.inputs": "Param",
    },
    "theano.compile.profiling": {
        "theano.legacy.gone": "register_profiler_printer ScanProfileStats",
    },
    "theano.configdefaults": {
        "theano.legacy.settings": (
            "default_compiledir default_compiledirname filter_mode filter_vm_lazy floatX_convert get_home_dir "
            "good_seed_param is_valid_check_preallocated_output_param split_version warn_default"
        ),
        "theano.settings": "config",
        "theano.legacy.gone": (
            "add_basic_configvars add_caching_dir_configvars add_compile_configvars add_deprecated_configvars "
            "add_dnn_configvars add_error_and_warning_configvars add_experimental_configvars add_magma_configvars "
            "add_metaopt_configvars add_multiprocessing_configvars add_optimizer_configvars add_scan_configvars "
            "add_tensor_configvars add_testvalue_and_checking_configvars add_traceback_configvars add_vm_configvars "
            "check_mkl_openmp ContextsParam default_blas_ldflags default_cuda_include default_dnn_base_path "
            "default_dnn_bin_path default_dnn_inc_path default_dnn_lib_path deprecated_gpuarray_sync DeviceParam "
            "filter_base_compiledir filter_compiledir get_cuda_root safe_no_dnn_algo_bwd safe_no_dnn_workmem "
            "safe_no_dnn_workmem_bwd try_blas_flag warn_cxx"
        ),
        "theano.legacy.helpers": "local_bitwidth python_int_bitwidth short_platform",
    },
    "theano.configparser": {
        "theano.legacy.settings": (
            "_config_var_list config_files_from_theanorc fetch_val_for_key get_config_hash parse_config_string "
            "THEANO_FLAGS_DICT"
        ),
        "theano.legacy.gone": "ConfigAccessViolation ContextsParam DeviceParam",
    },
    "theano.d3viz.d3viz": {
        "theano.legacy.types": "replace_patterns safe_json",
    },
    "theano.d3viz.formatting": {
        "theano.legacy.types": (
            "apply_label apply_profile broadcastable_to_str dict_to_pdnode dtype_to_char pydot_imported type_to_str "
            "var_label var_tag"
        ),
        "theano.printing.picture": "pydot_imported_msg",
    },
    "theano.gof": {
        "theano.graph.c_contract": "CLinkerObject CLinkerOp CLinkerType",
        "theano.graph.cdata_type": "CDataType",
        "theano.graph.external_op": "ExternalCOp",
        "theano.graph.features": "PreserveVariableAttributes",
        "theano.gof.fg": "CachedConstantError",
        "theano.legacy.rewriters": "CheckStackTraceOptimization LocalGroupDB OpKeyOptimizer ProxyDB",
    },
    "theano.gof.callcache": {
        "theano.legacy.callcache": "CallCache",
    },
    "theano.gof.cc": {
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker OpWiseCLinker",
        "theano": "theano=.",
        "theano.settings": "config",
        "theano.gof": "cmodule graph link utils",
        "theano.gof.callcache": "CallCache",
        "theano.gof.compilelock": "get_lock release_lock",
        "theano.legacy.gone": (
            "apply_policy code_gen CodeBlock failure_code failure_code_init get_c_cleanup get_c_declare get_c_extract "
            "get_c_extract_out get_c_init get_c_sync get_module_cache get_nothing get_persistent_module_cache HideC "
            "struct_gen struct_variable_codeblocks"
        ),
    },
    "theano.gof.cmodule": {
        "theano.legacy.compiler": "GCC_compiler",
        "theano.legacy.gone": (
            "Compiler debug_counter dlimport dlimport_workdir DynamicModule ExtFunction gcc_llvm gcc_version "
            "get_gcc_shared_library_arg get_module_cache get_module_hash get_safe_part "
            "icc_module_compile_str is_same_entry KeyData last_access_time module_name_from_dir ModuleCache "
            "std_include_dirs std_lib_dirs std_lib_dirs_and_libs std_libs try_march_flag"
        ),
        "theano.legacy.helpers": "get_lib_extension",
        "theano.settings": "config",
        "theano.errors": "MissingGXX=NoCompilerError",
    },
    "theano.gof.compiledir": {
        "theano.legacy.gone": (
            "basecompiledir_ls basecompiledir_purge cleanup compiledir_purge print_compiledir_content print_title"
        ),
    },
    "theano.gof.compilelock": {
        "theano.legacy.gone": (
            "force_unlock get_lock lock lock_ctx refresh_lock release_lock set_lock_status Unlocker"
        ),
    },
    "theano.gof.cutils": {
        "theano.legacy.gone": "compile_cutils",
    },
    "theano.gof.destroyhandler": {
        "theano.legacy.functions": "fast_inplace_check",
        "theano.errors": "ProtocolError=InconsistencyError",
        "theano.graph.aliasing": "DestroyHandler",
    },
    "theano.gof.fg": {
        "theano.gradient": "NullType",
    },
    "theano.gof.graph": {
        "builtins": "default_leaf_formatter=str",
        "theano.legacy.values": "NoParams",
        "theano.legacy.gone": "nodes_constructed",
        "theano.graph.traverse": "equal_computations",
        "theano.legacy.nodes": "default_node_formatter io_connection_pattern Node",
        "theano.legacy.ordering": (
            "ancestors general_toposort inputs io_toposort is_in_ancestors list_of_nodes ops orphans stack_search "
            "variables variables_and_orphans"
        ),
        "theano.settings": "config",
        "theano.gof": "utils",
        "theano": "theano=.",
    },
    "theano.gof.lazylinker_c": {
        "theano.legacy.gone": "try_import try_reload",
    },
    "theano.gof.link": {
        "theano.legacy.linking": (
            "add_clear_storage gc_helper log_thunk_trace map_storage raise_with_op streamline thunk_hook"
        ),
        "theano.compile.shared": "Container",
        "theano.runtime.link": "Linker LocalLinker=Linker PerformLinker",
        "theano.runtime.interpreter": "WrapLinker WrapLinkerMany",
        "theano": "theano=.",
        "theano.gof": "graph utils",
        "theano.graph": "Type",
    },
    "theano.gof.null_type": {
        "theano.gradient": "NullType",
        "theano.legacy.values": "null_type",
    },
    "theano.gof.op": {
        "theano.legacy.gone": "apply_meth simple_meth",
        "theano.compile.test_values": "compute_test_value",
        "theano.errors": "TestValueError",
        "theano.graph.external_op": "ExternalCOp get_io_macros get_sub_macros",
        "theano": "theano=.",
        "theano.settings": "config",
        "theano.gof": "graph utils",
        "theano.graph.fgraph": "FunctionGraph",
    },
    "theano.gof.opt": {
        "theano.legacy.rewriters": "CheckStackTraceOptimization OpKeyOptimizer pre_greedy_local_optimizer",
        "theano.legacy.rewriting": (
            "ChangeTracker check_chain is_same_graph_with_merge LocalMetaOptimizer "
            "LocalMetaOptimizerSkipAssertionError merge_dict pre_constant_merge"
        ),
        "theano.legacy.gone": "GraphToGPULocalOptGroup inherit_stack_trace MergeFeature _metadict",
        "theano.rewriting": "CheckStackTraceFeature",
        "theano.rewriting.userdefined": "GlobalOptimizer=Optimizer",
        "theano": "theano=.",
        "theano.settings": "config",
        "theano.gof": "graph op toolbox unify utils",
        "theano.gof.destroyhandler": "dh=.",
        "theano.errors": "InconsistencyError",
        "logging": "logging=.",
    },
    "theano.gof.optdb": {
        "theano.legacy.rewriters": "LocalGroupDB ProxyDB TopoDB",
        "theano.settings": "config",
        "theano.gof": "opt",
    },
    "theano.gof.sched": {
        "theano.legacy.helpers": "key_to_cmp",
        "theano.legacy.ordering": (
            "_toposort io_toposort make_dependence_cmp make_depends posort reverse_dict sort_apply_nodes "
            "sort_schedule_fn"
        ),
        "theano.legacy.utilities": "memodict",
        "theano.compat": "cmp",
    },
    "theano.gof.toolbox": {
        "theano.legacy.gone": "GetCheckpoint LambdExtract",
        "theano.graph.features": "Supervisor",
        "theano": "theano=.",
        "theano.settings": "config",
        "theano.gof": "graph",
    },
    "theano.gof.type": {
        "theano.legacy.types": "CDataTypeConstant SingletonType",
        "theano.graph.c_contract": "CLinkerObject",
        "theano.graph.type": "CType generic",
    },
    "theano.gof.unify": {
        "theano.legacy.unify": "*",
    },
    "theano.gof.utils": {
        "theano.legacy.gone": "MetaObject",
        "theano.legacy.values": "undef",
        "builtins": "object2=object",
        "theano.legacy.helpers": (
            "apply_across_args difference from_return_values hashtype LOCAL_BITWIDTH PYTHON_INT_BITWIDTH "
            "to_return_values uniq"
        ),
        "theano.legacy.utilities": (
            "ABORT add_tag_trace ANY_TYPE comm_guard D deprecated FAILURE FALL_THROUGH flatten "
            "get_variable_trace_string give_variables_names hash_from_code hash_from_file hist Keyword memoize "
            "remove RETRY simple_extract_stack type_guard unique"
        ),
        "theano.legacy.ordering": "toposort",
        "theano.settings": "config",
    },
    "theano.gof.vm": {
        "theano.legacy.gone": "calculate_reallocate_info CVM Loop LoopGC Stack VM",
        "theano.legacy.vm_linker": "VM_Linker",
    },
    "theano.graph.basic": {
        "theano.legacy.ordering": "graph_inputs=inputs walk",
    },
    "theano.graph.callcache": {
        "theano.gof.callcache": "*",
    },
    "theano.graph.destroyhandler": {
        "theano.gof.destroyhandler": "*",
    },
    "theano.graph.null_type": {
        "theano.gof.null_type": "*",
    },
    "theano.graph.op": {
        "theano.legacy.utilities": "get_test_values",
        "theano.legacy.gone": "lquote_macro",
    },
    "theano.graph.sched": {
        "theano.gof.sched": "*",
    },
    "theano.graph.toolbox": {
        "theano.legacy.rewriting": "is_same_graph_with_merge",
    },
    "theano.graph.type": {
        "theano.legacy.types": "CDataTypeConstant",
    },
    "theano.graph.unify": {
        "theano.gof.unify": "*",
        "theano.gof.utils": "comm_guard Keyword type_guard",
    },
    "theano.graph.utils": {
        "theano.legacy.gone": "AssocList MetaType ValidatingScratchpad",
    },
    "theano.link": {},
    "theano.link.basic": {
        "theano.compile.shared": "Container",
        "theano.runtime.link": "Linker LocalLinker=Linker PerformLinker",
        "theano.runtime.interpreter": "WrapLinker WrapLinkerMany",
    },
    "theano.link.c": {},
    "theano.link.c.basic": {
        "theano.gof.cc": "*",
        "theano.runtime.dual": "DualLinker",
        "theano.runtime.link": "CLinker OpWiseCLinker",
    },
    "theano.link.c.cmodule": {
        "theano.gof.cmodule": "*",
        "theano.legacy.gone": "add_blas_configvars check_mkl_openmp default_blas_ldflags try_blas_flag",
    },
    "theano.link.c.cutils": {
        "theano.gof.cutils": "*",
    },
    "theano.link.c.cvm": {
        "theano.legacy.gone": "CVM",
    },
    "theano.link.c.exceptions": {
        "theano.errors": "MissingGXX=NoCompilerError",
    },
    "theano.link.c.interface": {
        "theano.legacy.gone": "HideC",
        "theano.graph.c_contract": "CLinkerObject CLinkerOp CLinkerType",
    },
    "theano.link.c.lazylinker_c": {
        "theano.gof.lazylinker_c": "*",
    },
    "theano.link.jax": {
        "theano.legacy.gone": "JAXLinker",
    },
    "theano.link.jax.jax_linker": {
        "theano.legacy.gone": "JAXLinker",
    },
    "theano.link.utils": {
        "theano.legacy.linking": "add_clear_storage gc_helper map_storage raise_with_op streamline",
        "theano.legacy.gone": "register_thunk_trace_excepthook",
    },
    "theano.link.vm": {
        "theano.legacy.gone": "calculate_reallocate_info Loop LoopGC Stack VM",
        "theano.legacy.vm_linker": "VM_Linker VMLinker=VM_Linker",
    },
    "theano.printing": {
        "theano.legacy.descriptions": "hex_digest min_informative_str position_independent_str var_descriptor",
        "theano.printing.print_op": "_print_fn",
        "theano.legacy.types": "Node",
    },
    "theano.utils": {
        "theano.compat": "cmp DefaultOrderedDict exc_message get_unbound_function",
        "theano.gof.utils": "*",
        "theano.legacy.helpers": "apply_across_args",
        "theano.legacy.types": "maybe_add_to_os_environ_pathlist NoDuplicateOptWarningFilter",
        "theano.legacy.utilities": "add_excepthook Singleton",
    },
    "theano.version": {
        "theano": "theano=. full_version=__version__ short_version=__version__ version=__version__",
        "theano.legacy.helpers": "git_revision release",
    },
}

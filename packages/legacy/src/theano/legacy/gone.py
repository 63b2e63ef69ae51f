"""Names of internals that have no meaning here: an older program may hold one; to use it tells what takes its place.

A table's ``theano.legacy.gone:name`` leads here. What replaces a group of names is said once, in `INSTEAD`; an
upper layer has a table of its own, of which `names_gone` makes its module's ``__getattr__``.

Examples
--------
>>> import theano.legacy.gone as gone
>>> isinstance(3, gone.ModuleCache)
False
>>> gone.ModuleCache("folder")
Traceback (most recent call last):
NotImplementedError: ModuleCache is not part of this Theano: compiled code is kept by theano.cache ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

#: By what to do instead, the names.
INSTEAD = {
    "compiled code is kept by theano.cache (see `theano-cache --help`)": (
        "debug_counter print_title "
        "ModuleCache KeyData get_module_cache get_persistent_module_cache get_module_hash get_safe_part is_same_entry "
        "last_access_time module_name_from_dir dlimport dlimport_workdir "
        "cleanup compiledir_purge basecompiledir_ls basecompiledir_purge print_compiledir_content "
        "filter_compiledir filter_base_compiledir"
    ),
    "the cache of compiled code needs no lock": (
        "ThreadFileLocks force_unlock lock_ctx get_lock release_lock set_lock_status lock refresh_lock Unlocker"
    ),
    "the C compiler is found and called by theano.toolchain (see `python -m theano.doctor`)": (
        "Compiler icc_module_compile_str gcc_llvm gcc_version try_march_flag std_libs std_lib_dirs "
        "std_include_dirs std_lib_dirs_and_libs get_gcc_shared_library_arg warn_cxx compile_cutils "
        "try_import try_reload"
    ),
    "C code is made by theano.codegen; write an op in C with c_code, or with theano.graph.external_op.COp": (
        "CodeBlock failure_code failure_code_init code_gen struct_gen get_nothing get_c_declare get_c_init "
        "get_c_extract get_c_extract_out get_c_cleanup get_c_sync apply_policy struct_variable_codeblocks "
        "ExtFunction DynamicModule HideC make_declare make_checks make_alloc make_loop make_reordered_loop "
        "make_loop_careduce inc_code"
    ),
    "BLAS is called by theano.tensor.blas (see `python -m theano.doctor` for the library in use)": (
        "detect_macos_sdot_bug cblas_header_text blas_header_text mkl_threads_text openblas_threads_text "
        "blas_header_version ____gemm_code ger_c_code gemv_c_code check_force_gemv_init use_c_ger use_c_gemv "
        "make_c_ger_destructive make_c_gemv_destructive use_scipy_ger make_ger_destructive check_mkl_openmp "
        "default_blas_ldflags try_blas_flag add_blas_configvars"
    ),
    "flags are declared in theano.settings.flags (see docs/library/config.md)": (
        "add_basic_configvars add_dnn_configvars add_magma_configvars add_compile_configvars add_tensor_configvars "
        "add_traceback_configvars add_experimental_configvars add_error_and_warning_configvars "
        "add_testvalue_and_checking_configvars add_multiprocessing_configvars add_optimizer_configvars "
        "add_metaopt_configvars add_vm_configvars add_deprecated_configvars add_scan_configvars "
        "add_caching_dir_configvars ConfigAccessViolation"
    ),
    "the libgpuarray back-end was removed": (
        "DeviceParam ContextsParam deprecated_gpuarray_sync get_cuda_root default_cuda_include safe_no_dnn_workmem "
        "safe_no_dnn_workmem_bwd safe_no_dnn_algo_bwd default_dnn_base_path default_dnn_inc_path "
        "default_dnn_lib_path default_dnn_bin_path GraphToGPULocalOptGroup"
    ),
    "programs are run by the machine, theano.loader": (
        "VM Loop LoopGC Stack CVM calculate_reallocate_info register_thunk_trace_excepthook"
    ),
    "equal nodes are merged by theano.rewriting.merge": "MergeFeature _metadict",
    "theano.graph.features.History has the methods checkpoint and revert": "GetCheckpoint LambdExtract",
    "copy traces with theano.graph.source.copy_stack_trace": "inherit_stack_trace nodes_constructed",
    "derive from theano.graph.op.Op and list its parameters in __props__": (
        "MetaObject MetaType simple_meth apply_meth lquote_macro"
    ),
    "set attributes of the tag; theano.graph.variable.Scratchpad is its class": "ValidatingScratchpad",
    "a dictionary takes what can be hashed": "AssocList",
    "a loop's profile is part of its function's: theano.function(..., profile=True)": "ScanProfileStats",
    "derive from theano.compile.profiling.ProfileStats": "register_profiler_printer",
    "Theano has no JAX back-end": "JAXLinker",
    "an error of DebugMode says it all in its text": "str_diagnostic",
}  # fmt: skip

class Gone(type):
    """The class of these names: each is a class, so that ``isinstance`` may ask for it."""

    instead: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError with what to use instead."""
        raise NotImplementedError(f"{cls.__name__} is not part of this Theano: {cls.instead}")


def _forget(self: Any, state: Any) -> None:
    """Leave what a pickle of an older version says of an instance: the graph of a function held some."""


def names_gone(namespace: dict[str, Any], instead: Mapping[str, str]) -> Callable[[str], Gone]:
    """Return a module's ``__getattr__`` for names that are gone.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``.
    instead : dict from str to str
        By what to do instead, the names.

    Examples
    --------
    >>> find = names_gone({}, {"use a list": "Array Row"})
    >>> find("Row")()
    Traceback (most recent call last):
     ...
    NotImplementedError: Row is not part of this Theano: use a list
    """
    known = {name: text for text, names in instead.items() for name in names.split()}

    def __getattr__(name: str) -> Gone:
        if name not in known:
            raise AttributeError(f"module {namespace.get('__name__')!r} has no attribute {name!r}")
        text = known[name]
        said = {"__doc__": f"Not part of this Theano: {text}.", "instead": text, "__setstate__": _forget}
        made = Gone(name, (), said)
        namespace[name] = made
        return made

    return __getattr__


__getattr__ = names_gone(globals(), INSTEAD)

"""Names of internals that have no meaning here: an older program may hold one; to use it tells what takes its place.

A table's ``theano.layers.compat.gone:name`` leads here. What replaces a group of names is said once, in `INSTEAD`.

Examples
--------
>>> import theano.layers.compat.gone as gone
>>> isinstance(3, gone.ModuleCache)
False
>>> gone.ModuleCache("folder")
Traceback (most recent call last):
NotImplementedError: ModuleCache is not part of this Theano: compiled code is kept by theano.cache ...
"""

from __future__ import annotations

from typing import Any, NoReturn

#: By what to do instead, the names.
INSTEAD = {
    "compiled code is kept by theano.cache (see `theano-cache --help`)": (
        "ModuleCache KeyData get_module_cache get_persistent_module_cache get_module_hash get_safe_part is_same_entry "
        "last_access_time module_name_from_dir dlimport dlimport_workdir "
        "cleanup compiledir_purge basecompiledir_ls basecompiledir_purge print_compiledir_content "
        "filter_compiledir filter_base_compiledir"
    ),
    "the cache of compiled code needs no lock": (
        "force_unlock lock_ctx get_lock release_lock set_lock_status lock refresh_lock Unlocker"
    ),
    "the C compiler is found and called by theano.toolchain (see `python -m theano.doctor`)": (
        "Compiler GCC_compiler icc_module_compile_str gcc_llvm gcc_version try_march_flag std_libs std_lib_dirs "
        "std_include_dirs std_lib_dirs_and_libs get_gcc_shared_library_arg get_lib_extension warn_cxx compile_cutils "
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
        "default_blas_ldflags try_blas_flag"
    ),
}  # fmt: skip

_INSTEAD_OF = {name: instead for instead, names in INSTEAD.items() for name in names.split()}


class Gone(type):
    """The class of these names: each is a class, so that ``isinstance`` may ask for it."""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError with what to use instead."""
        raise NotImplementedError(f"{cls.__name__} is not part of this Theano: {_INSTEAD_OF[cls.__name__]}")


def __getattr__(name: str) -> Gone:
    if name not in _INSTEAD_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = Gone(name, (), {"__doc__": f"Not part of this Theano: {_INSTEAD_OF[name]}."})
    return found

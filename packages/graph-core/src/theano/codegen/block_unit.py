"""Units of nested blocks to machine code: in this process, else in the cache, else through the compiler.

Unlike kernels these units may use Python's headers and NumPy's, and each holds one block: what two users write may
not go together in one file. A unit whose ops and types all have a version is kept in the cache under the digest of its
text, all options, compiler, Python and the versions. One that has none is compiled in each process anew.
"""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
import threading
from collections.abc import Sequence
from dataclasses import replace

from theano.cache.names import EntryName
from theano.cache.store import Cache, CacheSettings, open_cache
from theano.cache.trust import process_is_privileged
from theano.cache.turns import turn
from theano.codegen.blocks import FORMAT, Block, without_comments
from theano.codegen.key import digest_parts
from theano.codegen.unit import current_toolchain, load_built, no_place
from theano.errors import KernelCompileError, NoCompilerError
from theano.graph.signals import let_signals_through
from theano.loader.module import Library
from theano.records import NamedTuple
from theano.toolchain.build import CompilerFaultError, Job, Span, build
from theano.toolchain.description import Toolchain, ToolchainSettings
from theano.toolchain.find import cxx_command
from theano.toolchain.library import problem_of_library
from theano.toolchain.select import confirm, forget, hangs, reconsider


class LoadedBlock(NamedTuple):
    """The functions of a unit, as addresses, and the library that holds them."""

    library: Library
    new: int
    run: int
    failed: int
    delete: int


_SYMBOLS = tuple(f"theano_block_{name}" for name in LoadedBlock._fields[1:])
#: Never unloaded: what users write may have left addresses of its code or data anywhere.
_loaded: dict[str, LoadedBlock] = {}
_lock = threading.Lock()


def _renew_lock() -> None:
    """Another thread may have held the lock when this process was forked."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def cxx_toolchain(wanted: str, settings: ToolchainSettings, store: Cache) -> Toolchain:
    """Return what C++ is compiled with.

    Parameters
    ----------
    wanted : str
        The command that an op or a type asks for; empty for the C++ compiler that belongs to the C compiler in use.
    settings : ToolchainSettings
    store : Cache

    Raises
    ------
    NoCompilerError
        No such compiler was found.
    """
    usual = current_toolchain(settings, store)
    if not usual.can_compile:
        raise NoCompilerError("no C++ compiler found; units with C++ code of ops are only looked up with one")
    command = wanted or cxx_command(usual.compiler)
    return current_toolchain(replace(settings, compiler=command), store)


def compile_blocks(
    blocks: Sequence[Block], toolchain: ToolchainSettings | None = None, cache: CacheSettings | None = None
) -> list[LoadedBlock]:
    """Return the machine code of units, in the same order; those that are missing are compiled side by side.

    Raises
    ------
    NoCompilerError
        No compiler was found.
    KernelCompileError
        The compiler refused one of them.
    """
    settings, store = toolchain or ToolchainSettings(), open_cache(cache)
    found: dict[str, LoadedBlock] = {}
    missing: dict[str, dict[str, tuple[Block, Job]]] = {}
    keys = []
    for block in blocks:
        tools = cxx_toolchain(block.compiler, settings, store)
        job = _job(block, tools)
        keys.append(job.stem)
        loaded = _find(job.stem, block, store)
        if loaded is not None:
            found[job.stem] = loaded
        else:
            missing.setdefault(block.compiler, {})[job.stem] = (block, job)
    for wanted, jobs in missing.items():
        found.update(_compile_in_turn(jobs, cxx_toolchain(wanted, settings, store), store))
    return [found[key] for key in keys]


def _compile_in_turn(jobs: dict[str, tuple[Block, Job]], tools: Toolchain, store: Cache) -> dict[str, LoadedBlock]:
    """Compile what no other process of this computer has compiled meanwhile."""
    found: dict[str, LoadedBlock] = {}

    def others_have() -> bool:
        for key, (block, _) in jobs.items():
            loaded = _find(key, block, store)
            if loaded is not None:
                found[key] = loaded
        return len(found) == len(jobs)

    kept = all(block.version for block, _ in jobs.values())
    with turn(store.root if kept else "", jobs, others_have) as needed:
        return _compile(jobs, tools, store) if needed else found


def _job(block: Block, tools: Toolchain) -> Job:
    needs = block.needs
    extra = [
        f"-I{sysconfig.get_path('include')}",
        *(f"-I{folder}" for folder in needs.header_dirs),
        *needs.compile_args,
        *(f"-L{folder}" for folder in needs.lib_dirs),
        *(f"-Wl,-rpath,{folder}" for folder in needs.lib_dirs if os.name == "posix"),
        *(f"-l{name}" for name in needs.libraries),
    ]
    python = f"{sys.implementation.cache_tag} {getattr(sys, 'abiflags', '')}"
    code = without_comments(block.text)
    key = digest_parts(
        ["block", FORMAT, tools.identity, python, code, *extra, "", *needs.no_compile_args, repr(block.version)]
    )
    export = 'extern "C" __attribute__((visibility("default")))'
    text = f'{block.text}\n{export} const char theano_unit_key[] = "{key}";\n'
    span = Span(1, text.count("\n") + 1, block.name)
    return Job(key, text, (span,), "c++", tuple(extra), needs.no_compile_args)


def _find(key: str, block: Block, store: Cache) -> LoadedBlock | None:
    with _lock:
        loaded = _loaded.get(key)
    if loaded is None and block.version:
        for _, path, data in store.units(key):
            try:
                if problem_of_library(data):
                    raise ValueError(path)
                return _keep(key, Library(path, key))
            except (OSError, ValueError, LookupError) as error:
                let_signals_through(error)
                store.discard(path)
    return loaded


def _keep(key: str, library: Library) -> LoadedBlock:
    made = LoadedBlock(library, *map(library.symbol, _SYMBOLS))
    with _lock:
        return _loaded.setdefault(key, made)


def _compile(
    jobs: dict[str, tuple[Block, Job]], tools: Toolchain, store: Cache, again: bool = True
) -> dict[str, LoadedBlock]:
    """Compile, publish and load; once more if the place or a compiler that has not been seen to work is in doubt."""
    try:
        if hung := hangs(tools, store, digest_parts):
            name = shlex.join(tools.compiler.argv)
            raise CompilerFaultError(f"the C++ compiler {name} hangs: {hung}", timed_out=True)
        return _build_and_load(jobs, tools, store)
    except KernelCompileError:
        if tools.proven:
            raise
        # It has only said that it could compile: is it the compiler's fault or that of the text?
    except CompilerFaultError as error:
        if not again or (tools.proven and not error.timed_out):
            refused = NoCompilerError(str(error))
            refused.only_this = tools.proven and not error.timed_out
            raise refused from error
        problem = error
    except OSError as error:
        let_signals_through(error)
        if not again or store.is_private:
            raise no_place(error) from error
        store.give_up(error)
        return _compile(jobs, tools, store, again=False)
    better = reconsider(tools, store, privileged=process_is_privileged(), digest=digest_parts)
    if tools.proven and better.compiler.argv == tools.compiler.argv:
        raise NoCompilerError(str(problem)) from problem
    return _compile(jobs, better, store, again=False)


def _build_and_load(jobs: dict[str, tuple[Block, Job]], tools: Toolchain, store: Cache) -> dict[str, LoadedBlock]:
    found = {}
    with store.stage() as folder:
        paths = build(tools, [job for _, job in jobs.values()], folder)
        # Loaded before it is published: whatever others then do to the directory, this process has it.
        libraries = [
            load_built(path, job, tools, _SYMBOLS) for path, (_, job) in zip(paths, jobs.values(), strict=True)
        ]
        # The output of a replaced compiler must not be stored under the name of the previous one.
        unchanged = tools.compiler.is_unchanged
        if not unchanged:
            forget()
        elif not tools.proven:
            confirm(tools, store, digest_parts)
        for (key, (block, job)), path, library in zip(jobs.items(), paths, libraries, strict=True):
            found[key] = _keep(key, library)
            if block.version and unchanged:
                _publish(store, path, key, job.text)
    return found


def _publish(store: Cache, path: str, key: str, text: str) -> EntryName | None:
    try:
        return store.publish_unit(path, key, (), text)[0]
    except OSError as error:
        let_signals_through(error)
        store.give_up(error)
        return None

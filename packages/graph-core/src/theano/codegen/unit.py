"""Kernels to addresses: in this process, else in the cache, else through the compiler.

A unit is one C file with several kernels. Kernels that are missing are gathered, spread over as many
units as there are cores and compiled side by side; the cache keeps, for each kernel, in which unit it
is, so that the next function that needs one of them finds it alone.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import threading
import weakref
from collections.abc import Iterable, Sequence
from time import perf_counter

from theano.cache.names import UNIT, EntryName, digest_of
from theano.cache.store import Cache, CacheSettings, create_trusted, open_cache
from theano.cache.trust import process_is_privileged
from theano.cache.turns import turn
from theano.codegen.key import digest_parts, kernel_key, symbol_of
from theano.codegen.unit_text import write_unit
from theano.errors import KernelCompileError, NoCompilerError
from theano.graph.kernel import Kernel
from theano.graph.signals import let_signals_through
from theano.loader.abi import abi_text
from theano.loader.module import Library
from theano.records import field, record
from theano.toolchain.build import (
    BuildEnvironmentError,
    CompilerFaultError,
    Job,
    build,
    core_count,
    fault,
)
from theano.toolchain.description import Toolchain, ToolchainSettings
from theano.toolchain.library import problem_of_library
from theano.toolchain.messages import readable
from theano.toolchain.select import (
    NOTHING_FOUND,
    confirm,
    find_toolchain,
    forget,
    hangs,
    reconsider,
)

UNITS_KEPT = 64
"""How many units stay loaded without a function that needs them, for the next one that does."""
KERNELS_PER_UNIT = 4
"""Fewer than this do not make another unit worth its fixed cost (about 25 ms)."""
CALL_COST = 1300
"""To compile a call of a function of our maths takes as long as this many characters of a loop. (Measured: gcc then
runs through 909 and 887 million instructions for the two units of 19 kernels; 1,054 and 799 by their lengths alone.)"""
LOADER_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "loader")


class KernelAddress(int):
    """The address of a compiled kernel, which keeps the library that holds it loaded.

    Examples
    --------
    >>> KernelAddress(4096, None) == 4096
    True
    """

    unit: LoadedUnit | None
    key: str

    def __new__(cls, address: int, unit: LoadedUnit | None, key: str = "") -> KernelAddress:
        """Make the number; `int` is immutable, so not in ``__init__``."""
        self = super().__new__(cls, address)
        self.unit = unit
        self.key = key
        return self


@record(eq=False)
class LoadedUnit:
    """A unit of the cache that is loaded into this process."""

    name: EntryName
    path: str
    library: Library

    def kernel(self, key: str) -> KernelAddress:
        """Return the address of one of its kernels."""
        return KernelAddress(self.library.symbol(symbol_of(key)), self, key)


@record
class Counts:
    """What `compile_kernels` has done in this process, for profiles and tests."""

    asked: int = 0
    in_process: int = 0
    from_cache: int = 0
    compiled: int = 0
    units_built: int = 0
    seconds_looking: float = 0.0
    seconds_compiling: float = 0.0


@record
class _Loaded:
    """What this process has loaded. The lock is held for no input or output.

    A unit stays loaded while the address of a kernel in it is referenced, or it is one of those used last.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    kernels: weakref.WeakValueDictionary[str, LoadedUnit] = field(default_factory=weakref.WeakValueDictionary)
    units: weakref.WeakValueDictionary[EntryName, LoadedUnit] = field(default_factory=weakref.WeakValueDictionary)
    recent: dict[EntryName, LoadedUnit] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)

    def use(self, unit: LoadedUnit) -> None:
        """Note that a unit is wanted, with the lock held."""
        self.recent.pop(unit.name, None)
        self.recent[unit.name] = unit
        if len(self.recent) > UNITS_KEPT:
            del self.recent[next(iter(self.recent))]


_loaded = _Loaded()


def _renew_lock() -> None:
    """Another thread may have held the lock when this process was forked."""
    _loaded.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def compile_kernels(
    kernels: Sequence[Kernel],
    toolchain: ToolchainSettings | None = None,
    cache: CacheSettings | None = None,
) -> list[KernelAddress]:
    """Return the addresses of the kernels' machine code, in the same order.

    Parameters
    ----------
    kernels : sequence of Kernel
        May repeat themselves.
    toolchain : ToolchainSettings, optional
        The user's wishes about compiling.
    cache : CacheSettings, optional
        Where compiled code is kept.

    Returns
    -------
    list of KernelAddress
        Each is an int; units stay loaded at least as long as these objects live.

    Raises
    ------
    NoCompilerError
        The kernels are not all in the cache's reach and cannot be compiled here.
    KernelCompileError
        The compiler refused one of them.

    Examples
    --------
    >>> k = Kernel("do nothing", "int KERNEL(th_ctx *ctx) { return ctx == 0; }")
    >>> first, second = compile_kernels([k, k])
    >>> first == second
    True
    """
    if not kernels:
        return []
    store = open_cache(cache)
    tools = current_toolchain(toolchain, store)
    abi = abi_text()
    distinct = {id(kernel): kernel for kernel in kernels}  # nodes share them
    key_of = {number: kernel_key(kernel, abi, tools.identity) for number, kernel in distinct.items()}
    keys = [key_of[id(kernel)] for kernel in kernels]
    wanted = dict(zip(keys, kernels, strict=True))
    start = perf_counter()
    found = _from_process(wanted)
    in_process = len(found)
    for key in wanted:
        if key not in found:
            address = _from_cache(store, key)
            if address is not None:
                found[key] = address
    between = perf_counter()
    missing = {key: kernel for key, kernel in wanted.items() if key not in found}
    try:
        units = _compile_missing(missing, tools, store, found) if missing else 0
    except _Doubt as doubt:
        better = reconsider(tools, store, privileged=process_is_privileged(), digest=digest_parts)
        if tools.proven and better.compiler.argv == tools.compiler.argv:
            raise NoCompilerError(str(doubt.__cause__)) from doubt.__cause__  # it works, but these are too much for it
        return compile_kernels(kernels, toolchain, cache)
    with _loaded.lock:
        counts = _loaded.counts
        counts.asked += len(wanted)
        counts.in_process += in_process
        compiled = len(missing) if units else 0  # another process may have done it meanwhile
        counts.from_cache += len(wanted) - compiled - in_process
        counts.compiled += compiled
        counts.units_built += units
        counts.seconds_looking += between - start
        counts.seconds_compiling += perf_counter() - between
    return [found[key] for key in keys]


def find_kernels(
    keys: Sequence[str], units: Sequence[str] = (), cache: CacheSettings | None = None
) -> list[KernelAddress] | None:
    """Return the addresses of kernels by their keys, without anything to compile them from.

    Parameters
    ----------
    keys : list of str
    units : list of str
        File names of units that probably hold them.
    cache : CacheSettings, optional
        Where compiled code is kept.

    Returns
    -------
    list of KernelAddress or None
        None if one of them is not there.
    """
    store = open_cache(cache)
    start = perf_counter()
    found = _from_process(keys)
    in_process = len(found)
    loaded = _load_units(store, units) if in_process < len(keys) else []
    for key in keys:
        if key not in found:
            address = _from_units(loaded, key) or _from_cache(store, key)
            if address is None:
                return None
            found[key] = address
    with _loaded.lock:
        counts = _loaded.counts
        counts.asked += len(keys)
        counts.in_process += in_process
        counts.from_cache += len(keys) - in_process
        counts.seconds_looking += perf_counter() - start
    return [found[key] for key in keys]


def current_toolchain(settings: ToolchainSettings | None = None, store: Cache | None = None) -> Toolchain:
    """Return the toolchain that kernels are compiled with.

    Raises
    ------
    NoCompilerError
        No compiler was found.
    """
    return find_toolchain(
        settings or ToolchainSettings(),
        store or open_cache(),
        privileged=process_is_privileged(),
        digest=digest_parts,
    )


def compile_counts() -> Counts:
    """Return a copy of what has been done so far in this process."""
    with _loaded.lock:
        counts = _loaded.counts
        return Counts(*(getattr(counts, name) for name in Counts.__match_args__))


def drop_unused_units() -> int:
    """Unload the units of which no `KernelAddress` object is left, and return how many.

    Most go by themselves; this is for those that were kept for the next function.
    """
    with _loaded.lock:
        before = len(_loaded.units)
        _loaded.recent.clear()
        return before - len(_loaded.units)


# -- finding -----------------------------------------------------------------------------------


def _load_units(store: Cache, files: Sequence[str]) -> list[LoadedUnit]:
    """Load units by their file names, those that are there and right."""
    loaded = []
    for file in files:
        name = EntryName.parse(file)
        if name is None or name.kind != UNIT:
            continue
        with _loaded.lock:
            unit = _loaded.units.get(name)
        for folder, _ in store.folders() if unit is None else ():
            path = os.path.join(folder, name.relative)
            unit = _load(store, path, name)
            if unit is not None:
                break
        if unit is not None:
            loaded.append(unit)
    return loaded


def _from_units(units: Sequence[LoadedUnit], key: str) -> KernelAddress | None:
    """Return a kernel of one of some units."""
    return next((found for unit in units if (found := _register(unit, key)) is not None), None)


def _from_process(wanted: Iterable[str]) -> dict[str, KernelAddress]:
    with _loaded.lock:
        units = {key: unit for key in wanted if (unit := _loaded.kernels.get(key)) is not None}
        for unit in units.values():
            _loaded.use(unit)
    return {key: unit.kernel(key) for key, unit in units.items()}


def _from_cache(store: Cache, key: str) -> KernelAddress | None:
    for name, path in store.references(key):
        with _loaded.lock:
            unit = _loaded.units.get(name)
        unit = unit or _load(store, path, name)
        if unit is None:
            continue
        address = _register(unit, key)
        if address is not None:
            return address
    return None


def _load(store: Cache, path: str, name: EntryName) -> LoadedUnit | None:
    """Load a unit; None if it is not there, not right, not whole, or the system or the key inside says no."""
    data = store.read(path, name)
    if data is None:
        return None
    try:
        if problem_of_library(data):
            raise ValueError(path)
        return _keep(LoadedUnit(name, path, Library(path, name.key)))
    except (OSError, ValueError) as error:
        let_signals_through(error)
        store.discard(path)
        return None


def _keep(unit: LoadedUnit) -> LoadedUnit:
    """Note that a unit is loaded; return the one that was there before if there was."""
    with _loaded.lock:
        return _loaded.units.setdefault(unit.name, unit)


def _register(unit: LoadedUnit, key: str) -> KernelAddress | None:
    """Note that this process has the kernel; None if the unit does not hold it after all."""
    try:
        address = unit.kernel(key)
    except LookupError:
        return None
    with _loaded.lock:
        _loaded.kernels.setdefault(key, unit)
        _loaded.use(unit)
    return address


# -- compiling ---------------------------------------------------------------------------------


class _Doubt(Exception):
    """A compiler that has not been seen to compile anything has failed, or one that has took too long.

    It is its own fault, or that of the text.
    """


def _compile_missing(
    missing: dict[str, Kernel], tools: Toolchain, store: Cache, found: dict[str, KernelAddress]
) -> int:
    """Compile, publish and load; return the number of units.

    The directory may fail in mid-run (disk full, removed by another). It is tried twice, then a
    private temporary one; if that fails too, nothing can be compiled in this process. A compiler that is at fault
    itself is tried twice: perhaps memory was short.
    """
    if not tools.can_compile:
        raise NoCompilerError(f"{NOTHING_FOUND}; {len(missing)} kernels are not in the pre-filled cache")
    if problem := hangs(tools, store, digest_parts):
        raise _Doubt from CompilerFaultError(f"the C compiler {shlex.join(tools.compiler.argv)} hangs: {problem}")
    with turn(store.root, missing, lambda: _others_have_compiled(missing, store, found)) as own:
        return _compile_here(missing, tools, store, found) if own else 0


def _others_have_compiled(missing: Iterable[str], store: Cache, found: dict[str, KernelAddress]) -> bool:
    """Look once more for kernels that were missing; say whether all are there now."""
    addresses = {}
    for key in missing:
        address = _from_cache(store, key)
        if address is None:
            return False
        addresses[key] = address
    found.update(addresses)
    return True


def _compile_here(missing: dict[str, Kernel], tools: Toolchain, store: Cache, found: dict[str, KernelAddress]) -> int:
    """Compile, publish and load, as `_compile_missing` does, whatever other processes do."""
    shards = _shards(missing, tools)
    for attempt in range(3):
        try:
            _build_and_load(shards, tools, store, found)
            return len(shards)
        except (KernelCompileError, OSError) as error:
            let_signals_through(error)
            if not tools.proven and isinstance(error, KernelCompileError | BuildEnvironmentError):
                raise _Doubt from error
            if isinstance(error, KernelCompileError):
                raise
            if isinstance(error, CompilerFaultError):
                if error.timed_out:
                    raise _Doubt from error
                if attempt > 0:
                    raise NoCompilerError(str(error)) from error
                continue
            if store.is_private and attempt > 0:
                raise no_place(error) from error
            if attempt > 0 or create_trusted(store.root) is not None:
                store.give_up(error)
    raise AssertionError("unreachable")


def no_place(error: OSError) -> NoCompilerError:
    """Return the error that says that there is nowhere to compile."""
    what = "space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "place"
    return NoCompilerError(f"no {what} left to compile: {error.strerror or error}")


def load_built(path: str, job: Job, tools: Toolchain, symbols: Iterable[str]) -> Library:
    """Load a library that was just compiled.

    Raises
    ------
    CompilerFaultError
        It is not what was to be compiled.
    OSError
        The place forbids it.
    """
    try:
        library = Library(path, job.stem)
        for symbol in symbols:
            library.symbol(symbol)
    except (OSError, ValueError, LookupError) as error:
        let_signals_through(error)
        if isinstance(error, OSError) and re.search("map segment|not permitted|Permission denied", str(error)):
            raise
        command = tools.command(job.source, job.stem + ".so", (), job.language, job.extra, job.without)
        what = f"ended well, but what it made cannot be used: {readable(str(error).replace(path, job.stem + '.so'))}"
        raise fault(tools, command, what) from error
    return library


def _build_and_load(
    shards: list[dict[str, Kernel]], tools: Toolchain, store: Cache, found: dict[str, KernelAddress]
) -> None:
    units = [write_unit(shard, tools) for shard in shards]
    unpublished: OSError | None = None
    with store.stage() as folder:
        paths = build(tools, [unit.job for unit in units], folder, include=(LOADER_FOLDER,))
        # Loaded before it is published: whatever others then do to the directory, this process has it.
        libraries = [
            load_built(path, unit.job, tools, map(symbol_of, shard))
            for path, unit, shard in zip(paths, units, shards, strict=True)
        ]
        # The output of a replaced compiler must not be stored under the name of the previous one.
        unchanged = tools.compiler.is_unchanged
        if not unchanged:
            forget()
        elif not tools.proven:
            confirm(tools, store, digest_parts)
        for shard, unit, staged, library in zip(shards, units, paths, libraries, strict=True):
            with open(staged, "rb") as file:
                name, path = EntryName(unit.key, digest_of(file.read()), UNIT), staged
            try:
                if unchanged:
                    name, path = store.publish_unit(staged, unit.key, shard, unit.job.text)
            except OSError as error:
                let_signals_through(error)
                unpublished = error
            loaded = _keep(LoadedUnit(name, path, library))
            for key in shard:
                address = _register(loaded, key)
                if address is None:
                    raise OSError(None, "a unit that was just compiled lacks a kernel", path)
                found[key] = address
    if unpublished is not None:
        store.give_up(unpublished)


def _shards(missing: dict[str, Kernel], tools: Toolchain) -> list[dict[str, Kernel]]:
    """Spread kernels over units so that these take about equally long, always in the same way."""
    cores = max(1, tools.settings.jobs or core_count())
    count = max(1, min(cores, len(missing) // KERNELS_PER_UNIT))
    shards: list[dict[str, Kernel]] = [{} for _ in range(count)]
    sizes = [0] * count
    costs = {key: _cost(kernel) for key, kernel in missing.items()}
    # The longest first, each to the shard with least so far.
    for key in sorted(missing, key=lambda key: (-costs[key], key)):
        least = sizes.index(min(sizes))
        shards[least][key] = missing[key]
        sizes[least] += costs[key]
    order = {key: position for position, key in enumerate(missing)}
    return [dict(sorted(shard.items(), key=lambda item: order[item[0]])) for shard in shards]


_INLINED = re.compile(r"\bth_\w+(?<!_called)\(")


def _cost(kernel: Kernel) -> int:
    """Return how long a kernel takes to compile, in characters of a plain loop: calls of our maths are written out."""
    cost = len(kernel.source) + CALL_COST * len(_INLINED.findall(kernel.source))
    return (cost if "for (" in kernel.source else cost // 3) + 200

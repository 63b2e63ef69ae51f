"""Contexts: devices that were started, by the names that programs give them, and the programs loaded on each."""

from __future__ import annotations

import base64
import ctypes
import json
import os
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from theano.cache.names import digest_of
from theano.cache.store import CacheSettings, open_cache
from theano.gpuarray.array import GpuArray, context_name_of, device_name
from theano.gpuarray.dialect import movers, prelude
from theano.gpuarray.drivers import Driver, start
from theano.gpuarray.errors import ContextNotDefined, DeviceError, DeviceMemoryError
from theano.gpuarray.exchange import started
from theano.gpuarray.kernels.library import COUNTS, FAULTS, library
from theano.gpuarray.libraries import use_cublas, use_cudnn, use_cusolver
from theano.graph.parameters import Pointer
from theano.loader.module import add_device
from theano.lowering.targets import Target, targets
from theano.settings import config

GPU = "gpu"
"""The name of the target whose entries of the lowering table are this layer's, whatever the device."""


PROGRAMS_KEPT = 64
"""Programs that stay loaded for the next function although none needs them."""


class LoadedProgram:
    """A program on a device, loaded as long as a reference to this object exists.

    Parameters
    ----------
    key : str
    functions : dict
        The address of each function, by name.
    unload : callable
        To be called when the device does not work with it any more.
    dropped : list of callable
        A queue for these: the last reference may be dropped in any thread, which cannot wait.
    """

    def __init__(self, key: str, functions: dict[str, int], unload: Callable[[], Any], dropped: list[Any]):
        self.key, self.functions, self._unload, self._dropped = key, functions, unload, dropped

    def __del__(self) -> None:
        functions, unload = self.functions, self._unload

        def leave() -> None:
            unload()
            for kernel in functions.values():
                library().th_gpu_kernel_free(kernel)

        self._dropped.append(leave)


class GpuContext:
    """A device that was started.

    Parameters
    ----------
    name : str or None
        That of the context; None is the default one.
    driver : Driver

    Attributes
    ----------
    device : str
        What the loader calls it.
    devname : str
        The device's own name.
    """

    def __init__(self, name: str | None, driver: Driver):
        self.name, self.driver = name, driver
        self.device = device_name(name)
        self.devname = driver.name
        self._loaded: WeakValueDictionary[str, LoadedProgram] = WeakValueDictionary()
        self._recent: dict[str, LoadedProgram] = {}
        self._dropped: list[Callable[[], None]] = []
        self._lock = Lock()
        add_device(self.device, driver.gpu, GpuArray)
        started[self.device] = driver
        targets.register(self.device, Target(GPU, self.device))
        self._movers = self.functions(*movers())
        for number, pointer in enumerate(self._movers):
            library().th_gpu_set_mover(driver.gpu, number, pointer)
        library().th_gpu_set_capture(driver.gpu, int(config.gpuarray.capture))
        #: Whether products are computed by cuBLAS.
        self.has_cublas = driver.language == "cuda" and use_cublas(driver.gpu)
        #: Whether matrices are factorised by cuSOLVER.
        self.has_cusolver = driver.language == "cuda" and use_cusolver(driver.gpu)
        #: Whether convolutions and pooling are computed by cuDNN.
        self.has_cudnn = driver.language == "cuda" and use_cudnn(driver.gpu)

    # -- programs ---------------------------------------------------------------------------------------------------

    def functions(self, text: str, names: Sequence[str]) -> list[Pointer]:
        """Return functions of a program, which is compiled if it is neither loaded nor in the cache.

        Parameters
        ----------
        text : str
            In the language of `theano.gpuarray.dialect`, without the prelude.
        names : list of str

        Raises
        ------
        DeviceCompileError
            The device's compiler refuses it.
        """
        words = prelude(self.driver.language)
        key = digest_of("\n".join((self.driver.identity, " ".join(names), words, text)).encode())
        with self._lock:
            program = self._known(key)
            if program is None:
                binary = self.driver.compile(words + text)
                self._keep(key, binary, names)
                program = self._load(key, binary, names)
            return [self._pointer(program, name) for name in names]

    def find(self, key: str, name: str) -> int:
        """Return the address of a function of a program that some process has compiled; 0 if it is missing."""
        with self._lock:
            program = self._known(key)
            return self._pointer(program, name) if program is not None and name in program.functions else 0

    def _known(self, key: str) -> LoadedProgram | None:
        """Return a program that is loaded, or is now, out of the cache."""
        program = self._loaded.get(key)
        if program is None:
            for text in open_cache(_cache_settings()).plans(key):
                kept = json.loads(text)
                return self._load(key, base64.b64decode(kept["code"]), kept["functions"])
        return program

    def _pointer(self, program: LoadedProgram, name: str) -> Pointer:
        """Return a function of a program, which stays loaded while it is referenced, or is among the last ones."""
        self._recent.pop(program.key, None)
        self._recent[program.key] = program
        if len(self._recent) > PROGRAMS_KEPT:
            del self._recent[next(iter(self._recent))]
        return Pointer(program.functions[name], f"{GPU}:{self.device}/{program.key}/{name}", program)

    def _load(self, key: str, binary: bytes, names: Sequence[str]) -> LoadedProgram:
        self._unload_dropped()
        handles, unload = self.driver.load(binary, names)
        made = [library().th_gpu_kernel_new(self.driver.gpu, handle) for handle in handles]
        program = self._loaded[key] = LoadedProgram(key, dict(zip(names, made, strict=True)), unload, self._dropped)
        return program

    def _unload_dropped(self) -> None:
        """Unload the unused programs, after their pending work."""
        if not self._dropped:
            return
        library().th_gpu_wait(self.driver.gpu)  # the next wait for a value reports its failure
        library().th_gpu_forget_recordings(self.driver.gpu)
        while self._dropped:
            self._dropped.pop()()

    def _keep(self, key: str, binary: bytes, names: Sequence[str]) -> None:
        text = json.dumps({"functions": list(names), "code": base64.b64encode(binary).decode()})
        open_cache(_cache_settings()).add_plan(key, text)

    # -- what it does -----------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Return what the device has counted, `theano.gpuarray.kernels.library.COUNTS`."""
        numbers = (ctypes.c_int64 * len(COUNTS))()
        library().th_gpu_read_counts(self.driver.gpu, numbers)
        return dict(zip(COUNTS, numbers, strict=True))

    def wait(self) -> None:
        """Wait until all that was asked for is done.

        Raises
        ------
        DeviceError
            Something of it failed.
        """
        if library().th_gpu_wait(self.driver.gpu):
            raise DeviceError(f"{self.devname}: {library().th_gpu_error(self.driver.gpu).decode()}")

    def trim(self) -> None:
        """Return free memory of the pool to the driver, and unload unused programs."""
        with self._lock:
            self._recent.clear()
            self._unload_dropped()
        library().th_gpu_trim(self.driver.gpu)

    def set_limit(self, size: int, fail_in: int = 0) -> None:
        """Set how many bytes of memory may be taken (0: no end); for tests, which allocation from now on fails."""
        library().th_gpu_set_limit(self.driver.gpu, size)
        self.fail("allocate", fail_in)

    def fail(self, what: str, n: int = 1) -> None:
        """Let the n-th call of a kind from now on fail, for tests; 0: none.

        Parameters
        ----------
        what : {'allocate', 'launch', 'copy', 'wait'}
        n : int
        """
        library().th_gpu_set_fault(self.driver.gpu, FAULTS.index(what), n)

    def preallocate(self, amount: float) -> None:
        """Take memory now from which arrays are then made; what does not fit there is asked for as ever.

        Parameters
        ----------
        amount : float
            Below 0: no memory is kept, each array is asked for anew; below 1: a share of the device's memory; else MiB.
            It is at most as much as the driver gives at once, and is taken only once.

        Raises
        ------
        DeviceMemoryError
            There is not as much.
        """
        size = int(amount * self.driver.total_memory) if amount < 1 else int(amount * 2**20)
        size = -1 if amount < 0 else min(size, self.driver.largest_allocation)
        if library().th_gpu_preallocate(self.driver.gpu, size):
            said = library().th_gpu_error(self.driver.gpu).decode()
            raise DeviceMemoryError(f"{self.devname} has no {size} bytes at once: {said}")

    def __repr__(self) -> str:
        return f"<context {self.name} on {self.devname}>"


def _cache_settings() -> CacheSettings:
    """Return where programs are kept: with all compiled code, or where the flag ``gpuarray.cache_path`` says."""
    common = CacheSettings.from_config(config)
    usual = os.path.join(config.compiledir, "gpuarray_kernels") if config.compiledir else ""
    path = config.gpuarray.cache_path
    return common if path in ("", usual) else CacheSettings(path, common.readonly, common.size_cap)


_contexts: dict[str | None, GpuContext] = {}


def init_dev(device: str, name: str | None = None) -> GpuContext:
    """Start a device as a context, and return that.

    Parameters
    ----------
    device : str
        ``cuda``, ``cudaN``, ``opencl`` or ``openclN:M``.
    name : str, optional
        Under which programs know it; None is the default context.

    Raises
    ------
    GpuUnavailableError
        The device cannot be used; the message says what lacks.
    """
    return reg_context(name, GpuContext(name, start(device)))


def reg_context(name: str | None, context: GpuContext) -> GpuContext:
    """Make a context known under a name.

    Raises
    ------
    ValueError
        The name has another context.
    """
    if _contexts.setdefault(name, context) is not context:
        raise ValueError(f"there is a context named {name} already: {_contexts[name]}")
    return context


def get_context(name: str | None) -> GpuContext:
    """Return the context of a name.

    Raises
    ------
    ContextNotDefined
        No device was started under it.

    Examples
    --------
    >>> get_context("moon")
    Traceback (most recent call last):
     ...
    theano.gpuarray.errors.ContextNotDefined: no device was started as 'moon'; there are: none
    """
    if name not in _contexts:
        there = ", ".join(repr(known) for known in _contexts) or "none"
        raise ContextNotDefined(f"no device was started as {name!r}; there are: {there}")
    return _contexts[name]


def list_contexts() -> Iterator[str | None]:
    """Return the names of all contexts."""
    return iter(list(_contexts))


def is_started(name: str | None) -> bool:
    """Return whether a device was started under a name."""
    return name in _contexts


def find_pointer(name: str) -> int:
    """Return the address of a device function by its name (``device/key/function``); 0 if it is not here."""
    device, key, function = name.split("/")
    context = _contexts.get(context_name_of(device))
    return 0 if context is None else context.find(key, function)


def identity() -> str:
    """Return what programs with device functions depend on: the devices that were started."""
    return "; ".join(f"{name}: {context.driver.identity}" for name, context in sorted(_contexts.items(), key=str))

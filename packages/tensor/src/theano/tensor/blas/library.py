"""Finds BLAS routines without linking to any library.

In this order: what the flag ``blas.ldflags`` names; the OpenBLAS that came with NumPy and is in the process anyway (its
names are a wheel's private affair, so each is probed and one is tried out); the routines that SciPy hands to Cython
code; none. A routine is the address of a Fortran-style function.
"""

from __future__ import annotations

import ctypes
import glob
import importlib
import os
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from theano.graph.parameters import Pointer
from theano.settings import config

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
# Prefix, suffix and width of integers in the builds of OpenBLAS that NumPy's wheels have carried.
_SPELLINGS = (("scipy_", "_64_", 64), ("", "_64_", 64), ("", "64_", 64), ("scipy_", "_", 32), ("", "_", 32))
_LIBRARY_WORDS = ("openblas", "libblas", "libcblas", "mkl_rt", "blis")


@dataclass(frozen=True)
class BlasLibrary:
    """Where BLAS comes from.

    Attributes
    ----------
    source : str
        What to call it in a report.
    path : str
        The shared object; "" if none was found.
    integers : int
        Bits of the integers that the routines take.
    addresses : dict from (routine, dtype) to int
        ``("gemm", "float64")`` and so on.
    example : str
        One symbol, as it is spelled.
    core : str
        The CPU that the library has chosen its kernels for, in its own words; "" if it does not say.
    """

    source: str
    path: str = ""
    integers: int = 32
    addresses: dict[tuple[str, str], int] = field(default_factory=dict)
    example: str = ""
    core: str = ""

    def address(self, routine: str, dtype: str) -> int:
        """Return the address of a routine, or 0."""
        found = self.addresses.get((routine, dtype), 0)
        return Pointer(found, f"blas:{routine}:{dtype}") if found else 0

    @property
    def identity(self) -> str:
        """What tells this library from others, as far as kernels are concerned."""
        return f"{self.source} {self.integers} {sorted(self.addresses)}"


def _routines() -> list[tuple[str, str, str]]:
    """Return (routine, dtype, Fortran name); complex dot products return in ways that compilers disagree about."""
    found = []
    for dtype, letter in _LETTERS.items():
        is_complex = dtype.startswith("complex")
        found += [("gemm", dtype, f"{letter}gemm"), ("gemv", dtype, f"{letter}gemv")]
        found.append(("ger", dtype, f"{letter}geru" if is_complex else f"{letter}ger"))
        if not is_complex:
            found.append(("dot", dtype, f"{letter}dot"))
    return found


def _loaded_libraries() -> list[str]:
    """Return the paths of shared objects in this process whose names speak of BLAS, NumPy's own first."""
    import numpy  # only a process that multiplies asks

    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = dict.fromkeys(line.split(maxsplit=5)[-1].strip() for line in maps if "/" in line)
    except OSError:
        folder = os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), "numpy.libs")
        files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        paths = dict.fromkeys(os.path.join(folder, f) for f in files)
    known = [p for p in paths if any(word in os.path.basename(p).lower() for word in _LIBRARY_WORDS)]
    return sorted(known, key=lambda p: ("numpy" not in p, p))


def _in_process() -> BlasLibrary | None:
    for path in _loaded_libraries():
        try:
            # Bound locally and only if it is there already: two builds of OpenBLAS with global names crash.
            library = ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 0) | getattr(os, "RTLD_LOCAL", 0))
        except OSError:
            continue
        found = _probe("the library NumPy has loaded", path, library)
        if found is not None:
            return found
    return None


def _probe(source: str, path: str, library: ctypes.CDLL) -> BlasLibrary | None:
    """Return the routines of a library under the first spelling in which they work."""
    for prefix, suffix, integers in _SPELLINGS:
        addresses = {}
        for routine, dtype, name in _routines():
            symbol = getattr(library, f"{prefix}{name}{suffix}", None)
            if symbol is not None:
                addresses[routine, dtype] = ctypes.cast(symbol, ctypes.c_void_p).value or 0
        example = f"{prefix}dgemm{suffix}"
        found = BlasLibrary(source, path, integers, addresses, example, _core_name(library, prefix, suffix))
        if _multiplies(found):
            return found
    return None


def _configured(ldflags: str) -> BlasLibrary | None:
    """Return the library that options of a linker name: ``-L`` folder, ``-l`` name, or the path of a file."""
    if not ldflags.strip():
        return None
    tried = []
    for path in _named_files(shlex.split(ldflags)):
        try:
            library = ctypes.CDLL(path, mode=getattr(os, "RTLD_LOCAL", 0))
        except OSError as error:
            tried.append(str(error))
            continue
        found = _probe(f"blas.ldflags={ldflags}", path, library)
        if found is not None:
            return found
        tried.append(f"{path}: no working dgemm found in it")
    said = "; ".join(tried) or "no library of that name was found"
    warnings.warn(
        f"theano.config.blas.ldflags = {ldflags!r} gives no BLAS ({said}). What NumPy or SciPy brought along is used "
        "instead. Name a shared library, as in '-L/opt/openblas/lib -lopenblas', or leave the flag empty.",
        stacklevel=4,
    )
    return None


def _named_files(words: list[str]) -> list[str]:
    """Return the shared objects that the options of a linker may mean, the likeliest first."""
    from ctypes.util import find_library  # it brings in modules that run programs, and few set the flag

    folders = [word[2:] for word in words if word.startswith("-L")]
    folders += [word.split(",", 2)[2] for word in words if word.startswith("-Wl,-rpath,")]
    found = [word for word in words if not word.startswith("-")]
    for name in (word[2:] for word in words if word.startswith("-l")):
        for folder in folders:
            found += sorted(glob.glob(os.path.join(glob.escape(folder), f"lib{name}.so*")), key=len)
            found += sorted(glob.glob(os.path.join(glob.escape(folder), f"lib{name}.dylib")))
        somewhere = find_library(name)
        found += [somewhere] if somewhere else []
    return list(dict.fromkeys(found))


def _core_name(library: ctypes.CDLL, prefix: str, suffix: str) -> str:
    """Return what OpenBLAS calls the CPU that it works for; the name of a function has one underscore less."""
    ask = getattr(library, f"{prefix}openblas_get_corename{suffix.removeprefix('_')}", None)
    if ask is None:
        return ""
    ask.restype, ask.argtypes = ctypes.c_char_p, []
    return (ask() or b"").decode("ascii", "replace")


def _from_scipy() -> BlasLibrary | None:
    try:
        module: Any = importlib.import_module("scipy.linalg.cython_blas")
    except ImportError:
        return None
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    addresses = {}
    for routine, dtype, name in _routines():
        capsule = module.__pyx_capi__.get(name)
        # Only the usual integers are understood: another signature says so in the capsule's name.
        if capsule is not None and b"int *" in (get_name(capsule) or b""):
            addresses[routine, dtype] = get_pointer(capsule, get_name(capsule)) or 0
    found = BlasLibrary("scipy.linalg.cython_blas", module.__file__ or "", 32, addresses, "dgemm")
    return found if _multiplies(found) else None


def _multiplies(library: BlasLibrary) -> bool:
    """Try out one routine: a wrong guess about its integers must not wait for the user's data."""
    address = library.address("gemm", "float64")
    if not address:
        return False
    integer = ctypes.c_int64 if library.integers == 64 else ctypes.c_int32
    # In Fortran's order: (1 2) by ((3), (4)) = 11. The high words of 32-bit integers read as 64 would not be 0.
    sizes = (integer * 8)(1, 1, 2, 1, 2, 1, -1, -1)
    one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
    a, b, c = (ctypes.c_double * 2)(1.0, 2.0), (ctypes.c_double * 2)(3.0, 4.0), (ctypes.c_double * 1)(0.0)

    def size(i: int) -> Any:
        return ctypes.byref(sizes, i * ctypes.sizeof(integer))

    order = ctypes.c_char(b"N")
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13, ctypes.c_size_t, ctypes.c_size_t)(address)
    by = ctypes.byref
    call(*[ctypes.cast(p, ctypes.c_void_p) for p in (
        by(order), by(order), size(0), size(1), size(2), by(one),
        by(a), size(3), by(b), size(4), by(zero), by(c), size(5),
    )], 1, 1)  # fmt: skip
    return bool(c[0] == 11.0)


_instead: ContextVar[BlasLibrary | None] = ContextVar("the BLAS of another process", default=None)


@contextmanager
def blas_elsewhere(linked: bool) -> Iterator[None]:
    """Let nodes be lowered for another process: one that is linked to a BLAS, or one without any.

    Examples
    --------
    >>> with blas_elsewhere(linked=False):
    ...     find_blas().addresses
    {}
    """
    here = {(routine, dtype): 1 for routine, dtype, _ in _routines()} if linked else {}
    token = _instead.set(BlasLibrary("linked" if linked else "none: own loops", addresses=here))
    try:
        yield
    finally:
        _instead.reset(token)


def is_elsewhere() -> bool:
    """Return whether nodes are lowered for another process."""
    return _instead.get() is not None


def linked_name(pointer: str) -> str | None:
    """Return what a linker calls the routine of ``routine:dtype``, of BLAS or LAPACK; None: it knows it not.

    Examples
    --------
    >>> linked_name("gemm:float64"), linked_name("ger:complex64"), linked_name("potrf:float32")
    ('dgemm_', 'cgeru_', 'spotrf_')
    """
    routine, _, dtype = pointer.partition(":")
    known = {(r, d): name for r, d, name in _routines()}
    letter = _LETTERS.get(dtype)
    name = known.get((routine, dtype)) or (f"{letter}{routine}" if letter else None)
    return f"{name}_" if name else None


def find_blas() -> BlasLibrary:
    """Return the BLAS that the flag ``blas.ldflags`` names, else the best of this process.

    Without any it is one that has no routines.

    Examples
    --------
    >>> find_blas() is find_blas()
    True
    """
    return _instead.get() or _find(config.blas.ldflags)


@cache
def _find(ldflags: str) -> BlasLibrary:
    return _configured(ldflags) or _in_process() or _from_scipy() or BlasLibrary("none: own loops")


def find_pointer(name: str) -> int:
    """Return the address of ``routine:dtype``."""
    routine, _, dtype = name.partition(":")
    return find_blas().address(routine, dtype)


def describe_blas() -> str:
    """Return one line about the BLAS in use, for ``theano.doctor``."""
    library = find_blas()
    if not library.addresses:
        return "none found; matrix products run in plain loops. Install SciPy, or a NumPy wheel, for fast ones."
    core = f", kernels for {library.core}" if library.core else ""
    return f"{library.source}: {library.path} ({library.example}, {library.integers}-bit integers{core})"

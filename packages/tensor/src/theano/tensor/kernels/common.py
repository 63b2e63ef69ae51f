"""What all kernels of this package share: dtypes, C text read from ``c/``, and the library built ahead."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any

from theano.graph.apply import Apply
from theano.graph.kernel import Builtin
from theano.graph.parameters import Nothing, Parameters, Pointer, header
from theano.lowering.accepts import dtype_of, ndim_of
from theano.messages import logger
from theano.scalar.dtypes import DTYPE_CODES
from theano.settings import config
from theano.tensor.kernels import reduction

if TYPE_CHECKING:
    from theano.graph.op import Op
    from theano.graph.variable import Variable

__all__ = [
    "DTYPE_CODES", "LEVELS", "VIEW_NS", "Ready", "c_text", "driver", "dtype_of", "find_driver", "is_view",
    "library_level", "library_path", "library_paths", "library_vectors", "ndim_of", "normal_axes", "nothing", "ones_of",
    "pattern_of", "ready", "title", "works_in_place",
]  # fmt: skip

Params = Callable[[Any, Apply], Parameters | None]

_HERE = os.path.dirname(os.path.abspath(__file__))

@cache
def c_text(file: str) -> str:
    """Return the text of a file of ``c/``, to stand as a support block of generated kernels.

    Files of the folder that it includes stand in their places, as does the header that is written from a declaration.

    Examples
    --------
    >>> "th_collapse" in c_text("loops.h")
    True
    """
    if file == "reduction.h":
        return header(vars(reduction), "reduction.py").replace("#pragma once\n#include <stdint.h>\n", "")
    with open(os.path.join(_HERE, "c", file), encoding="ascii") as source:
        text = source.read()
    return re.sub(r'^#include "(\w+\.h)"(?: /\*.*\*/)?$', lambda include: c_text(include[1]), text, flags=re.MULTILINE)


LEVELS = {"baseline": "_kernels", "v3": "_kernels_v3", "v4": "_kernels_v4"}
"""The levels of x86-64 instructions that the C library is built for, and its name for each, the least first."""


#: The folder of this layer's package, which contains its C library.
_PACKAGE = os.path.dirname(_HERE)


@cache
def library_paths(package: str = _PACKAGE) -> dict[str, str]:
    """Return where the C library of a layer is for each level that was built and that this CPU has.

    Parameters
    ----------
    package : str
        The folder of the kernel in the layer's package; this layer's by default.

    Examples
    --------
    >>> set(library_paths()) <= set(LEVELS)
    True
    """
    try:
        # A compiled module; without it nothing compiled can run at all.
        from theano.loader.module import cpu_level
    except ImportError:
        return {}
    here = {"v3": 3, "v4": 4}
    found = {}
    for level, name in LEVELS.items():
        if (files := _files(package, name)) and here.get(level, 0) <= cpu_level():
            found[level] = files[0]
    return found


def _files(package: str, name: str) -> list[str]:
    stem = os.path.join(package, name)
    return [path for suffix in EXTENSION_SUFFIXES if os.path.isfile(path := stem + suffix)]


def library_level(package: str = _PACKAGE) -> str | None:
    """Return the level that suits this CPU and the flag ``cpu_level``, or None if no C library of one was built.

    A wheel has all levels; a working copy has that of the CPU on which it was installed.
    """
    highest = config.cpu_level
    levels = list(LEVELS)
    allowed = levels if highest == "auto" else levels[: levels.index(highest) + 1]
    found = next((level for level in reversed(library_paths(package)) if level in allowed), None)
    if found is None:
        _warn_of_missing_level(package, highest)
    return found


@cache
def _warn_of_missing_level(package: str, highest: str) -> None:
    """Say once that a layer was built for other CPUs, if it was built: what it computes now runs in Python."""
    built = [level for level, name in LEVELS.items() if _files(package, name)]
    if built:
        logger.warning(
            f"The C kernels in {package} were built for {', '.join(built)} alone, and cpu_level={highest} on this CPU "
            "allows none of these: their work runs in Python. Install the layer again on this machine, or with the "
            "environment variable THEANO_LEVELS=all."
        )


def library_path(package: str = _PACKAGE) -> str | None:
    """Return the path of the C library of that level, or None."""
    level = library_level(package)
    return None if level is None else library_paths(package)[level]


def library_vectors() -> str:
    """Return the vector instructions that the C library of that level was compiled to multiply with; "" without one.

    Examples
    --------
    >>> library_vectors() in ("AVX-512", "AVX2", "NEON", "vectors of 128 bits", "")
    True
    """
    path = library_path()
    return ctypes.string_at(int(_library(path).symbol("th_vectors"))).decode() if path is not None else ""


DRIVERS = ("th_reduce", "th_conv_elementwise")
"""The library's functions that generated kernels call: they walk over arrays, and call back what was generated."""


def find_driver(symbol: str) -> int:
    """Return the address of the function of that name, without its family."""
    path = library_path()
    return driver(path, symbol) if path is not None and symbol in DRIVERS else 0


def driver(path: str, symbol: str) -> Pointer:
    """Return a driver's address in the library at ``path``."""
    return Pointer(int(_library(path).symbol(symbol)), f"drivers:{symbol}")


@cache
def _library(path: str) -> Any:
    """Return the library, which stays where it is."""
    from theano.loader.module import Library  # a compiled module; without it, no path to load exists

    return Library(path)


class Ready:
    """What nodes become for which the library has a kernel: its name, and a function that reads its parameters.

    Parameters
    ----------
    symbol : str
        The kernel's name in the library.
    params : callable
        From an op and its node to the kernel's parameters, or None if it cannot compute this node. The first
        line of its docstring says what the kernel computes.
    work : float or callable
        As for `Builtin`, or a function of the op.
    lazy : bool
        As for `Builtin`.
    package : str
        The folder of the package whose library has the kernel.

    Examples
    --------
    >>> Ready("th_kernel_copy", lambda op, node: nothing).symbol
    'th_kernel_copy'
    """

    def __init__(
        self, symbol: str, params: Params, work: float | Callable[[Any], float] = 0.5, lazy: bool = False,
        package: str = _PACKAGE,
    ):  # fmt: skip
        self.symbol, self.params, self.work, self.lazy, self.package = symbol, params, work, lazy, package
        self.__doc__ = params.__doc__

    def __call__(self, op: Any, node: Apply) -> Builtin | None:
        """Return the kernel with the parameters of a node; None without the library."""
        path, params = library_path(self.package), self.params(op, node)
        if path is None or params is None:
            return None
        work = self.work(op) if callable(self.work) else self.work
        return Builtin(path, self.symbol, params, work, lazy=self.lazy)


def ready(
    symbol: str, work: float | Callable[[Any], float] = 0.5, lazy: bool = False, package: str = _PACKAGE
) -> Callable[[Params], Ready]:
    """Make a function that reads the parameters of a kernel into what nodes become, a `Ready`."""
    return lambda params: Ready(symbol, params, work, lazy, package)


nothing = Nothing()
"""The parameters of kernels that need none."""

VIEW_NS = 0.0
"""The work of a kernel for each element where it touches none."""


def ones_of(variable: Variable) -> int:
    """Return the axes that are 1 long by the type of a variable, as bits."""
    return sum(1 << axis for axis, one in enumerate(pattern_of(variable)) if one)


def pattern_of(variable: Variable) -> tuple[bool, ...]:
    """Return the broadcast pattern of a tensor variable; that of a scalar is empty."""
    return tuple(getattr(variable.type, "broadcastable", ()))


def works_in_place(op: Op, output: int = 0) -> bool:
    """Return whether the op declares that it overwrites an input to make this output."""
    return bool(op.destroy_map.get(output))


def is_view(op: Op, output: int = 0) -> bool:
    """Return whether the op declares that this output shares an input's memory."""
    return bool(op.view_map.get(output))


def title(op: Op, node: Apply) -> str:
    """Return the node in the user's words."""
    return f"{op}({', '.join(map(str, node.inputs))})"


def normal_axes(axis: Any, ndim: int) -> list[int]:
    """Return the axes named by an op (None, an integer or several) in increasing order.

    Examples
    --------
    >>> normal_axes(None, 2), normal_axes(-1, 3), normal_axes((2, 0), 3)
    ([0, 1], [2], [0, 2])
    """
    if axis is None:
        return list(range(ndim))
    axes = [axis] if isinstance(axis, int) else list(axis)
    return sorted({int(a) % ndim for a in axes}) if ndim else []

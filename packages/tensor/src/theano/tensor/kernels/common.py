"""What all kernels of this package share: dtypes, C text read from ``c/``, and the library built ahead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from struct import pack
from typing import Any

from theano.codegen.kernel import Builtin, Pointer
from theano.graph.apply import Apply
from theano.graph.canonical import register_fact
from theano.settings import config

_HERE = os.path.dirname(os.path.abspath(__file__))

DTYPE_CODES = {
    name: code
    for code, name in enumerate(
        "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
    )
}
"""The element types that compiled code knows, as abi.h numbers them."""


@cache
def c_text(file: str) -> str:
    """Return the text of a file of ``c/``, to stand as a support block of generated kernels.

    Files of the folder that it includes stand in their places.

    Examples
    --------
    >>> "th_collapse" in c_text("loops.h")
    True
    """
    with open(os.path.join(_HERE, "c", file), encoding="ascii") as source:
        text = source.read()
    return re.sub(r'^#include "(\w+\.h)"$', lambda include: c_text(include[1]), text, flags=re.MULTILINE)


LEVELS = {"baseline": "_kernels", "v3": "_kernels_v3", "v4": "_kernels_v4"}
"""The levels of x86-64 instructions that the C library is built for, and its name for each, the least first."""


@cache
def library_paths() -> dict[str, str]:
    """Return where the C library of this layer is for each level that was built and that this CPU has.

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
        stem = os.path.join(os.path.dirname(_HERE), name)
        files = [path for suffix in EXTENSION_SUFFIXES if os.path.isfile(path := stem + suffix)]
        if files and here.get(level, 0) <= cpu_level():
            found[level] = str(files[0])
    return found


register_fact("levels of the kernel library", lambda: " ".join(library_paths()))


def library_level() -> str | None:
    """Return the level that suits this CPU and the flag ``cpu_level``, or None if no C library was built."""
    highest = config.cpu_level
    levels = list(LEVELS)
    allowed = levels if highest == "auto" else levels[: levels.index(highest) + 1]
    return next((level for level in reversed(library_paths()) if level in allowed), None)


def library_path() -> str | None:
    """Return the path of the C library of that level, or None."""
    level = library_level()
    return None if level is None else library_paths()[level]


def builtin(symbol: str, *params: int, work: float = 0.5) -> Builtin | None:
    """Return a kernel of the library, with integers for parameters; None without the library."""
    path = library_path()
    if path is None:
        return None
    pointers = tuple((8 * i, p.name) for i, p in enumerate(params) if isinstance(p, Pointer))
    return Builtin(path, symbol, packed(params), work, pointers)


def packed(params: Iterable[int]) -> bytes:
    """Return parameters as a kernel reads them: 64 bits each, the last bit of a mask of 64 axes being the sign.

    Examples
    --------
    >>> packed([1 << 63]) == packed([-(1 << 63)])
    True
    """
    words = [p - 2**64 if p >= 2**63 else p for p in params]
    return pack(f"={len(words)}q", *words)


def dtypes_of(variables: Any) -> list[str] | None:
    """Return the dtypes of variables, or None if compiled code does not know one of them."""
    dtypes = [dtype_of(v) for v in variables]
    return dtypes if all(d in DTYPE_CODES for d in dtypes) else None


VIEW_NS = 0.0
"""The work of a kernel for each element where it touches none."""


def are_known(node: Apply, variables: Any = None) -> bool:
    """Return whether compiled code knows the dtypes of some variables, by default those of all a node has."""
    return dtypes_of([*node.inputs, *node.outputs] if variables is None else variables) is not None


def same_dtype(*variables: Any) -> bool:
    """Return whether variables have one dtype."""
    return len({dtype_of(v) for v in variables}) == 1


def is_convertible(source: Any, target: Any) -> bool:
    """Return whether copy.c converts between two dtypes: everything but complex numbers to others."""
    return dtype_of(target).startswith("complex") or not dtype_of(source).startswith("complex")


def ones_of(variable: Any) -> int:
    """Return the axes that are 1 long by the type of a variable, as bits."""
    return sum(1 << axis for axis, one in enumerate(pattern_of(variable)) if one)


def is_integer(dtype: str) -> bool:
    """Return whether a dtype can index."""
    return dtype.startswith(("int", "uint"))


def dtype_of(variable: Any) -> str:
    """Return the dtype of a variable, or "" where there is none."""
    return str(getattr(variable.type, "dtype", ""))


def pattern_of(variable: Any) -> tuple[bool, ...]:
    """Return the broadcast pattern of a tensor variable; that of a scalar is empty."""
    return tuple(getattr(variable.type, "broadcastable", ()))


def ndim_of(variable: Any) -> int:
    """Return the number of dimensions of a tensor variable, or 0 for a scalar."""
    return int(getattr(variable.type, "ndim", 0))


def works_in_place(op: Any, output: int = 0) -> bool:
    """Return whether the op declares that it overwrites an input to make this output."""
    return bool(op.destroy_map.get(output))


def is_view(op: Any, output: int = 0) -> bool:
    """Return whether the op declares that this output shares an input's memory."""
    return bool(op.view_map.get(output))


def title(op: Any, node: Apply) -> str:
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

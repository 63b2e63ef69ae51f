"""Kernels that programs write themselves: text that is compiled for a device, and launched from Python.

The text is in OpenCL C, in CUDA C++, or in the words that libgpuarray had for both (``dialect/users.h``): ``KERNEL``,
``GLOBAL_MEM``, ``LID_0``, ``GID_0``, ``LDIM_0``, ``GDIM_0``, ``local_barrier()``, ``ga_float``. It runs in the order of
all else that the device does.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from theano.gpuarray.array import GpuArray
from theano.gpuarray.context import GpuContext, get_context
from theano.gpuarray.dialect import text_of
from theano.gpuarray.errors import DeviceCompileError
from theano.gpuarray.kernels.library import library

SIZE, SSIZE = "size", "ssize"
"""The dtypes of lengths and of strides among the arguments of a kernel: ``ga_size`` and ``ga_ssize``."""

_NAMED = {SIZE: np.dtype("uint64"), SSIZE: np.dtype("int64")}
#: The default work-group size, which every device supports.
_GROUP = 64
#: As many arguments as a launch has room for.
_MOST = 47


class GpuKernel:
    """A kernel of a program's own, compiled for a device.

    Parameters
    ----------
    source : str
        The program. An error of its compiler is raised when the kernel is made.
    name : str
        Of the function in it.
    types : sequence
        For each argument `GpuArray` (the function is given a pointer to the beginning of the array's memory; the array
        begins ``offset`` bytes behind), a dtype, or `SIZE` or `SSIZE`.
    context : GpuContext, str or None
        The device, or the name of its context.
    **options
        Properties of the types in use (``have_double``, ...); they change nothing.

    Attributes
    ----------
    context : GpuContext
    numargs : int

    Raises
    ------
    DeviceCompileError
        The device's compiler refuses the text.
    ContextNotDefined
        No device was started under that name.
    TypeError
        A type is none of these.
    ValueError
        There are too many arguments.

    Examples
    --------
    >>> GpuKernel("", "add", [object()])
    Traceback (most recent call last):
     ...
    TypeError: argument 0 of the kernel add: <object object at 0x...> is neither GpuArray nor a dtype
    """

    def __init__(self, source: str, name: str, types: Sequence[object], context: Any = None, **options: object):
        self.name = name
        self.types = [_type_of(kind, name, k) for k, kind in enumerate(types)]
        if len(self.types) > _MOST:
            raise ValueError(f"the kernel {name} takes {len(self.types)} arguments; there is room for {_MOST}")
        self.context: GpuContext = context if isinstance(context, GpuContext) else get_context(context)
        try:
            (self._pointer,) = self.context.functions(users_text(source), (name,))
        except DeviceCompileError as problem:
            raise DeviceCompileError(f"the kernel {name}: {problem}", problem.text) from problem

    @property
    def numargs(self) -> int:
        """How many arguments it takes."""
        return len(self.types)

    def __call__(self, *args: Any, n: int | None = None, gs: Any = None, ls: Any = None, shared: int = 0) -> None:
        """Launch it; this returns at once.

        Parameters
        ----------
        *args : GpuArray or number
            As the types say.
        n : int, optional
            How many work-items there are at least, in place of ``gs``, or of both sizes.
        gs, ls : int or sequence of int
            How many groups of work-items, and how many work-items in a group, along up to three axes.
        shared : int
            Bytes of local memory whose size the text leaves open (``GA_DECL_SHARED_PARAM``).

        Raises
        ------
        TypeError
            The arguments are other ones, or an array is on another device.
        ValueError
            The size is invalid, or the device refuses the launch.
        """
        if len(args) != len(self.types):
            raise TypeError(f"the kernel {self.name} takes {len(self.types)} arguments, not {len(args)}")
        kept = [self._argument(k, kind, value) for k, (kind, value) in enumerate(zip(self.types, args, strict=True))]
        bytes_of = (ctypes.c_int64 * len(kept))(*(0 if isinstance(x, int) else x.nbytes for x in kept))
        values = (ctypes.c_void_p * len(kept))(*(x if isinstance(x, int) else x.ctypes.data for x in kept))
        sizes = (ctypes.c_int64 * 6)(*self._sizes(n, gs, ls))
        if library().th_gpu_call_kernel(self._pointer, sizes, shared, len(kept), bytes_of, values):
            said = library().th_gpu_error(self.context.driver.gpu).decode()
            raise ValueError(f"{self.context.devname} refused to launch the kernel {self.name}: {said}")

    def _argument(self, k: int, kind: Any, value: Any) -> Any:
        """Return an argument as the launch takes it: the address of an array's memory, or a number as an array."""
        if kind is not GpuArray:
            return np.asarray(value).astype(kind, casting="same_kind" if isinstance(value, np.generic) else "unsafe")
        if not isinstance(value, GpuArray) or value.device != self.context.device:
            where = f"on {value.device}" if isinstance(value, GpuArray) else f"a {type(value).__name__}"
            raise TypeError(f"argument {k} of the kernel {self.name} is an array on {self.context.device}, not {where}")
        return int(value.memory[0])

    def _sizes(self, n: int | None, gs: Any, ls: Any) -> tuple[int, ...]:
        group = _three(ls, "ls") if ls is not None else (_GROUP, 1, 1) if n is not None else None
        if group is not None and n is not None and gs is None:
            return (max(-(-n // (group[0] * group[1] * group[2])), 1), 1, 1, *group)
        if group is None or gs is None:
            raise ValueError(f"the kernel {self.name} is launched with n, or with both gs and ls")
        return (*_three(gs, "gs"), *group)


@cache
def users_text(source: str) -> str:
    """Return a text in the words that people use as one in those of `theano.gpuarray.dialect`.

    Examples
    --------
    >>> users_text("#include <cluda.h>").endswith("// cluda.h is here already")
    True
    """
    known = re.sub(r'#\s*include\s*["<]cluda\.h[">]', "// cluda.h is here already", source)
    return text_of("users.h") + known


def _type_of(kind: Any, name: str, k: int) -> Any:
    if kind is GpuArray or kind == "*":
        return GpuArray
    try:
        return _NAMED[kind] if isinstance(kind, str) and kind in _NAMED else np.dtype(kind)
    except TypeError:
        raise TypeError(f"argument {k} of the kernel {name}: {kind!r} is neither GpuArray nor a dtype") from None


def _three(size: Any, what: str) -> tuple[int, int, int]:
    lengths = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
    if not 1 <= len(lengths) <= 3 or any(length < 1 for length in lengths):
        raise ValueError(f"{what} is one to three numbers of at least 1, not {size!r}")
    first, second, third = (*map(int, lengths), 1, 1)[:3]
    return first, second, third

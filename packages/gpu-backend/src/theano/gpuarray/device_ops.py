"""Ops of users whose kernels are their own text: what they derive from, and the types and words that they name.

A kernel's text stays as it was written for libgpuarray (`theano.gpuarray.programs`). What launches it is the op's
``perform``, in Python: the C interface of libgpuarray, which `c_code` would call, is gone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from theano.errors import MethodNotDefined
from theano.gpuarray.array import GpuArray
from theano.gpuarray.context import GpuContext
from theano.gpuarray.programs import SIZE, SSIZE, GpuKernel
from theano.gpuarray.variables import GpuArrayType
from theano.graph import Op, Type
from theano.graph.external_op import ExternalCOp

if TYPE_CHECKING:
    from theano.graph.annotations import Node, Storage, Value, Values

_WORDS = {
    "bool": "ga_bool", "int8": "ga_byte", "uint8": "ga_ubyte", "int16": "ga_short", "uint16": "ga_ushort",
    "int32": "ga_int", "uint32": "ga_uint", "int64": "ga_long", "uint64": "ga_ulong",
    "float16": "ga_half", "float32": "ga_float", "float64": "ga_double",
}  # fmt: skip


class GpuContextType(Type):
    """The type of contexts: what an op's parameter is whose kernels need the device.

    Examples
    --------
    >>> gpu_context_type.filter("dev0")
    Traceback (most recent call last):
     ...
    TypeError: a context is wanted, not 'dev0'
    """

    def filter(self, data: str, strict: bool = False, allow_downcast: bool | None = None) -> GpuContext:
        """Return a context as it is.

        Raises
        ------
        TypeError
            It is none.
        """
        if not isinstance(data, GpuContext):
            raise TypeError(f"a context is wanted, not {data!r}")
        return data

    @staticmethod
    def values_eq(a: Value, b: Value) -> bool:
        """Return whether two contexts are the same."""
        return a is b

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


gpu_context_type = GpuContextType()


def get_dtype(s: Any) -> np.dtype[Any]:
    """Return the dtype that a word for an argument's type means: arrays and lengths are passed as whole numbers.

    Examples
    --------
    >>> get_dtype("float32"), get_dtype("*"), get_dtype("ssize")
    (dtype('float32'), dtype('uint64'), dtype('int64'))
    """
    if s is GpuArray or s == "*":
        return np.dtype("uint64")
    return {SIZE: np.dtype("uint64"), SSIZE: np.dtype("int64")}.get(s) or np.dtype(s)


class UserKernel:
    """A kernel's text and its description.

    Parameters
    ----------
    code : str or list of str
        The program.
    params : sequence
        The types of its arguments, as `GpuKernel` takes them.
    name : str
        Of the function in it.
    flags : dict or str
        What `get_flags` returns, or a word for each.
    codevar, objvar, fname, sname : str, optional
        What C code calls the text, the kernel and the functions that launch it.

    Examples
    --------
    >>> k = UserKernel("KERNEL void f(GLOBAL_MEM ga_float *x) {}", [GpuArray], "f", UserKernel.get_flags("float32"))
    >>> k.objvar, k.flags
    ('f_obj', {'have_double': False, 'have_small': False, 'have_complex': False, 'have_half': False})
    """

    def __init__(
        self,
        code: str | Sequence[str],
        params: Sequence[object],
        name: str,
        flags: object,
        codevar: str | None = None,
        objvar: str | None = None,
        fname: str | None = None,
        sname: str | None = None,
    ):
        self.code, self.params, self.name, self.flags = code, list(params), name, flags
        self.codevar, self.objvar = codevar or f"{name}_code", objvar or f"{name}_obj"
        self.fname, self.sname = fname or f"{name}_call", sname or f"{name}_scall"

    @staticmethod
    def get_flags(*types: str) -> dict[str, bool]:
        """Return what a device has to be able to do for numbers of these dtypes."""
        kinds = [get_dtype(each) for each in types if not isinstance(each, Type)]
        kinds += [np.dtype(getattr(each, "dtype", "uint64")) for each in types if isinstance(each, Type)]
        return {
            "have_double": any(kind in ("float64", "complex128") for kind in kinds),
            "have_small": any(kind.itemsize < 4 for kind in kinds),
            "have_complex": any(kind.kind == "c" for kind in kinds),
            "have_half": any(kind == "float16" for kind in kinds),
        }

    @property
    def text(self) -> str:
        """The program as one text."""
        return self.code if isinstance(self.code, str) else "\n".join(self.code)

    def on(self, context: GpuContext | str | None) -> GpuKernel:
        """Return it as a kernel of a device, which is launched by calling it."""
        return _compiled(self.text, self.name, tuple(self.params), context)


@lru_cache(maxsize=512)
def _compiled(text: str, name: str, params: tuple[Any, ...], context: Any) -> GpuKernel:
    return GpuKernel(text, name, params, context)


class GpuKernelBase(Op):
    """What ops with kernels of their own derive from.

    They say ``gpu_kernels(node, name)``, a list of `UserKernel`, and ``perform``, which launches them: `launchers` has
    them, compiled, by their names.

    Attributes
    ----------
    params_type : Type
        `gpu_context_type`: ``perform`` is given the context last.

    Examples
    --------
    >>> class Nothing(GpuKernelBase):
    ...     __props__ = ()
    >>> Nothing().gpu_kernels(None, "")
    Traceback (most recent call last):
     ...
    theano.errors.MethodNotDefined: Nothing does not define gpu_kernels
    """

    params_type = gpu_context_type

    def gpu_kernels(self, node: object, name: str) -> Sequence[UserKernel]:
        """Return the kernels of a node."""
        raise MethodNotDefined("gpu_kernels", type(self), type(self).__name__)

    def get_params(self, node: Node) -> GpuContext:
        """Return the context of the first output on a device, or of the first input on one.

        Raises
        ------
        TypeError
            No variable of the node is on a device.
        """
        for v in (*node.outputs, *node.inputs):
            if isinstance(v.type, GpuArrayType):
                return v.type.context
        raise TypeError(f"no variable of {node} is on a device")

    def launchers(self, node: Node) -> dict[str, GpuKernel]:
        """Return the kernels of a node as they run on its device, by name; they are compiled once."""
        context = GpuKernelBase.get_params(self, node)
        return {kernel.name: kernel.on(context) for kernel in self.gpu_kernels(node, "node")}

    def perform(
        self, node: Node, inputs: Values, output_storage: Storage, *params: Any
    ) -> None:
        """Launch the kernels: ops say it, since the C interface of libgpuarray that their ``c_code`` called is gone."""
        raise MethodNotDefined("perform", type(self), f"{type(self).__name__}, whose kernels Python launches,")

    def kernel_version(self, node: Any) -> tuple[Any, ...]:
        """Return a version for the key of compiled code, which changes nothing: the text of a kernel is its key."""
        return (3, self.c_code_cache_version_apply(node))


class CGpuKernelBase(GpuKernelBase):
    r"""An op whose kernels are in files, below lines ``#kernel name : types : flags`` of a ``#section kernels``.

    ``DTYPE_INPUT_0``, ``DTYPE_OUTPUT_0`` and so on stand for the types of a node's variables. What launches them is
    ``perform``, as for `GpuKernelBase`; sections with C for the host are read, and not used.

    Parameters
    ----------
    func_files : str or list of str
        Paths; those that are not absolute begin at the file of the class.
    func_name : str, optional
        The name of a function in C; it is not called.

    Attributes
    ----------
    code_sections : dict from str to str

    Raises
    ------
    ValueError
        A section of kernels is missing, or a line of it is not of this form.

    Examples
    --------
    >>> kernels_in("#kernel fill : *, size, float32 :\nKERNEL void fill() {}\n")
    [('fill', ['*', 'size', 'float32'], '', 'KERNEL void fill() {}\n')]
    """

    def __init__(self, func_files: str | Sequence[str], func_name: str | None = None):
        self.func_files = [
            ExternalCOp.get_path.__func__(type(self), f)  # type: ignore[attr-defined]  # relative to this class's file
            for f in ([func_files] if isinstance(func_files, str) else func_files)
        ]
        self.func_name = func_name
        self.load_c_code(self.func_files)

    def load_c_code(self, func_files: Sequence[str]) -> None:
        """Read files."""
        self.code_sections: dict[str, str] = {}
        for path in func_files:
            with open(path, encoding="utf-8") as file:
                _, *parts = _SECTION_LINE.split(file.read())
            for name, text in zip(parts[::2], parts[1::2], strict=True):
                self.code_sections[name] = self.code_sections.get(name, "") + text
        if "kernels" not in self.code_sections:
            raise ValueError(f"{', '.join(map(str, func_files))} has no #section kernels")
        kernels_in(self.code_sections["kernels"])

    def gpu_kernels(self, node: Any, name: str) -> list[UserKernel]:
        """Return the kernels of the file, with the dtypes of a node."""
        words = "".join(
            f"#define DTYPE_{side}_{k} {_WORDS[v.type.dtype]}\n"
            for side, variables in (("INPUT", node.inputs), ("OUTPUT", node.outputs))
            for k, v in enumerate(variables)
            if getattr(v.type, "dtype", None) in _WORDS
        )
        return [
            UserKernel(words + text, [GpuArray if kind == "*" else kind for kind in kinds], kernel, flags)
            for kernel, kinds, flags, text in kernels_in(self.code_sections["kernels"])
        ]


_SECTION_LINE = re.compile(r"^#section[ \t]+(\w+)[ \t]*\n?", re.MULTILINE)
_KERNEL_LINE = re.compile(r"^#kernel\b[ \t]*(.*)\n?", re.MULTILINE)


def kernels_in(section: str) -> list[tuple[str, list[str], str, str]]:
    """Return the kernels of a section of a file: name, types of arguments, flags and text of each.

    Raises
    ------
    ValueError
        A line that begins a kernel is not of the form ``#kernel name : types : flags``.

    Examples
    --------
    >>> kernels_in("#kernel f")
    Traceback (most recent call last):
     ...
    ValueError: a kernel begins with a line '#kernel name : types : flags', not '#kernel f'
    """
    _, *parts = _KERNEL_LINE.split(section)
    found = []
    for line, text in zip(parts[::2], parts[1::2], strict=True):
        fields = [field.strip() for field in line.split(":")]
        if len(fields) not in (2, 3) or not fields[0].isidentifier():
            raise ValueError(f"a kernel begins with a line '#kernel name : types : flags', not '#kernel {line}'")
        kinds = [kind.strip() for kind in fields[1].split(",") if kind.strip()]
        found.append((fields[0], kinds, (*fields, "")[2], text))
    return found

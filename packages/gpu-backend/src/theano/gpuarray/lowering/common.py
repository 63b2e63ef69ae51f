"""What all entries for devices share: the target, device functions for a node, and shipped text for a dtype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from theano.gpuarray.array import context_name_of
from theano.gpuarray.context import GPU, get_context
from theano.gpuarray.dialect import device_blocks, in_dialect, text_of
from theano.gpuarray.errors import DeviceCompileError
from theano.graph.parameters import Pointer
from theano.lowering.table import like_cpu
from theano.lowering.targets import CPU, Target
from theano.scalar.c import support
from theano.scalar.ctypes import c_type, compute_type, storage_support
from theano.scalar.dtypes import is_complex
from theano.tensor.device.ops import is_number_of_host
from theano.tensor.kernels.common import title

if TYPE_CHECKING:
    from theano.graph.annotations import Node

TARGET = Target(GPU, GPU)
"""What the entries are for; which of the devices of this target is meant, the types of a node's outputs say."""

on_device = partial(like_cpu, target=TARGET)
"""`theano.lowering.table.like_cpu`: an entry for devices, whose operands the tensor layer's entry describes."""

MOST_AXES = 32
"""As many as the struct of a launch has room for, in kernels of any number of axes."""


def functions(node: Node, text: str, names: Sequence[str]) -> list[Pointer | int]:
    """Return device functions for a node; where it is not on a device yet, and only its kind is asked about, zeros."""
    device = node.outputs[0].type.device
    if device == CPU.device:
        return [0] * len(names)
    try:
        return list(get_context(context_name_of(device)).functions(text, names))
    except DeviceCompileError as problem:
        raise DeviceCompileError(f"{title(node.op, node)}: {problem}", problem.text) from problem


def bits(numbers: Iterable[int]) -> int:
    """Return a number whose bits of these numbers are set.

    Examples
    --------
    >>> bits([0, 2])
    5
    """
    return sum(1 << n for n in numbers)


def numbers_of_host(node: Node) -> tuple[int, ...]:
    """Return the inputs that are single numbers of the host's: they go along with the launch, without a transfer."""
    return tuple(i for i, v in enumerate(node.inputs) if is_number_of_host(v))


def multiply_add(dtype: str) -> dict[str, str]:
    """Return the macro that multiplies and adds, in one rounding where the compute type of a dtype is a float.

    Examples
    --------
    >>> multiply_add("float16")
    {'MULTIPLY_ADD(x, y, z)': 'fmaf(x, y, z)'}
    """
    fused = {
        "float16": "fmaf(x, y, z)", "float32": "fmaf(x, y, z)", "float64": "fma(x, y, z)",
        "complex64": "th_multiply_add_c64(x, y, z)", "complex128": "th_multiply_add_c128(x, y, z)",
    }  # fmt: skip
    return {"MULTIPLY_ADD(x, y, z)": fused.get(dtype, "(x) * (y) + (z)")}


def sums_and_products(dtype: str) -> dict[str, str]:
    """Return macros for what has no operator where numbers are complex: zero, sums, products, a number of two parts.

    Examples
    --------
    >>> sums_and_products("float32")["PLUS(x, y)"], sums_and_products("complex64")["PLUS(x, y)"]
    ('((x) + (y))', 'th_add_c64(x, y)')
    """
    names = ("NONE", "PLUS(x, y)", "TIMES(x, y)", "FROM_PARTS(p)")
    if not is_complex(dtype):
        return dict(zip(names, ("0", "((x) + (y))", "((x) * (y))", "((COMPUTE)(p)[0])"), strict=True))
    own, make = ("c64", "CMPLXF") if dtype == "complex64" else ("c128", "CMPLX")
    forms = (f"{make}(0, 0)", f"th_add_{own}(x, y)", f"th_mul_{own}(x, y)", f"{make}((p)[0], (p)[1])")
    return dict(zip(names, forms, strict=True))


def shipped(file: str, dtype: str, uses: Sequence[str] = (), **words: object) -> str:
    r"""Return a file of the dialect for numbers of one dtype.

    Parameters
    ----------
    file : str
    dtype : str
        What ``NUMBER`` (as stored), ``COMPUTE``, ``LOAD`` and ``STORE`` stand for.
    uses : sequence of str
        Functions of the scalar layer, such as ``exp``: ``EXP`` stands for that of the dtype.
    **words
        Further macros.

    Examples
    --------
    >>> "#define NUMBER uint16_t\n#define COMPUTE float\n" in shipped("reduce_argmax.cl", "float16", AXES=2)
    True
    """
    narrow = dtype == "float16"
    suffix = {"float64": "f64", "complex64": "c64", "complex128": "c128"}.get(dtype, "f32")
    uses_more = ("add", "mul") if is_complex(dtype) else ()
    blocks = device_blocks((*storage_support(dtype), *support([f"{name}_{suffix}" for name in (*uses, *uses_more)])))
    assert blocks is not None, "what shipped kernels use has a device form"
    macros = {
        "NUMBER": c_type(dtype), "COMPUTE": compute_type(dtype),
        "LOAD(x)": "th_load_f16(x)" if narrow else "(x)", "STORE(x)": "th_store_f16(x)" if narrow else "(x)",
        **{f"{name.upper()}(x)": f"th_{name}_{suffix}(x)" for name in uses}, **words,
    }  # fmt: skip
    text = "".join(f"{block}\n" for block in dict.fromkeys(blocks))
    return in_dialect(text + "".join(f"#define {name} {value}\n" for name, value in macros.items()) + text_of(file))

"""The language of device functions: C99 without its library, and a few words that OpenCL C and CUDA C++ both know.

``opencl.h`` and ``cuda.h`` define these words: ``KERNEL``, ``GLOBAL``, ``LOCAL``, ``BARRIER()``, ``GLOBAL_ID()``, the
integer types of C99, and the functions of a number's bits. ``common.h`` has what follows from them. With that, the
functions of the scalar layer are device functions as they are written: a number is the same on a device and on the CPU.
Complex numbers, which neither language has, are structs; ``complex.h`` has what C's library has for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache

from theano.scalar.c import snippets
from theano.scalar.c.widths import written_out

#: In the order of ``abi.h``.
DTYPES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

LANGUAGES = ("opencl", "cuda")

_HERE = os.path.dirname(os.path.abspath(__file__))
#: Blocks of the scalar layer that the preludes have in a form of their own.
_REPLACED = frozenset({"inline", "fma", "bits_f64", "bits_f32", "wide", "cmplx", "half"})
#: What no device has: wider floats; and what only compilers of the CPU know.
_FOREIGN = re.compile(r"\blong double\b|\b__asm__\b|#include")
# Of the C library, beyond what OpenCL C and CUDA C++ have under the same name: names of C for float.
_FLOAT_NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
    " erf erfc tgamma lgamma round nearbyint"
).split()
_FLOAT_PAIRS = ("pow", "hypot", "atan2")


@cache
def text_of(file: str) -> str:
    """Return a file of this folder."""
    with open(os.path.join(_HERE, file), encoding="ascii") as source:
        return source.read()


@cache
def prelude(language: str) -> str:
    """Return what stands before every program in a language.

    Examples
    --------
    >>> "#define KERNEL __kernel" in prelude("opencl"), "#define KERNEL __kernel" in prelude("cuda")
    (True, False)
    """
    floats = ""
    if language == "opencl":
        floats = "".join(f"#define {name}f(x) {name}((float)(x))\n" for name in _FLOAT_NAMES)
        floats += "".join(f"#define {name}f(x, y) {name}((float)(x), (float)(y))\n" for name in _FLOAT_PAIRS)
        floats += half_by_bits()
    return text_of(f"{language}.h") + floats + text_of("common.h")


def half_by_bits() -> str:
    """Return the conversions of half precision for languages that have none."""
    return f"{snippets()['half'].text}\n"


_COMPLEX = {"float _Complex": "th_c64", "double _Complex": "th_c128"}


@cache
def _complex_library() -> str:
    return written_out(text_of("complex.h"))


def in_dialect(text: str) -> str:
    r"""Return device functions with the dialect's types for C's complex ones, and what these need before it.

    Examples
    --------
    >>> in_dialect("float x;")
    'float x;'
    >>> in_dialect("float _Complex x;").endswith("\nth_c64 x;")
    True
    """
    if "_Complex" not in text:
        return text
    for in_c, here in _COMPLEX.items():
        text = text.replace(in_c, here)
    return _complex_library() + text


@cache
def _names() -> dict[str, str]:
    return {snippet.text: name for name, snippet in snippets().items()}


def device_blocks(support: Iterable[str]) -> tuple[str, ...] | None:
    """Return blocks of C that scalar operations call as a device compiles them, or None if one has no such form.

    Examples
    --------
    >>> from theano.scalar.c import support
    >>> [block.split("(")[0].split()[-1] for block in device_blocks(support(["exp_plain_f32"]))][-1]
    'th_exp_plain_f32'
    >>> device_blocks(support(["gammainc_f64"])) is None
    True
    """
    kept = []
    for block in support:
        if _names().get(block) in _REPLACED:
            continue
        if _FOREIGN.search(re.sub(r"/\*.*?\*/", "", block, flags=re.DOTALL)) and _names().get(block) != "rare":
            return None
        kept.append(block)
    return tuple(kept)


@cache
def movers() -> tuple[str, tuple[str, ...]]:
    """Return the program that moves elements, and its kernels in the order of ``th_gpu_movers``."""
    text = text_of("move.cl")
    sizes = [1 << k for k in range(5)]
    # Sums wrap around: whole numbers of one size are all the same.
    sums = [name.removeprefix("u") for name in DTYPES]
    return text, (
        *(f"copy{n}" for n in sizes), *(f"transpose{n}" for n in sizes), *(f"fill{n}" for n in sizes),
        *(f"add_{name}" for name in sums),
    )  # fmt: skip


def is_foreign(lines: Iterable[str]) -> bool:
    """Return whether statements have something that no device has."""
    return any(_FOREIGN.search(line) for line in lines)

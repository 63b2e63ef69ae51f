"""The C that scalar operations are made of: small blocks, included only where used.

The ``.h`` files of this folder are C, cut into blocks by comments of the form
``/* @snippet NAME needs NAME ... */``. A block of ``exp_fN`` is written once and made into
``exp_f64`` and ``exp_f32``: `theano.scalar.c.widths` says how. A generated kernel includes the
blocks that its expression uses, and those that they need, and nothing else.

Examples
--------
>>> from theano.scalar.c import support, symbol
>>> symbol("exp", "float32")
('th_exp_f32', 'exp_f32')
>>> blocks = support(["exp_plain_f64"])
>>> [block.split("(")[0].split()[-1] for block in blocks][-1]
'th_exp_plain_f64'
>>> support([])
()
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache

from theano.scalar.c.widths import blocks, written_out

_HERE = os.path.dirname(os.path.abspath(__file__))
_MARK = re.compile(r"^/\* @snippet (\w+)(?: needs ([\w ]+?))? \*/$")
# In this order: a block may only need blocks that stand before it or in an earlier file.
_FILES = (
    "base.h",
    "rare.h",
    "wide.h",
    "exponential.h",
    "logarithm.h",
    "trigonometric.h",
    "inverse.h",
    "power.h",
    "error_function.h",
    "gamma.h",
    "bessel.h",
    "bessel_first.h",
    "bessel_order.h",
    "incomplete_gamma.h",
    "incomplete_beta.h",
    "normal.h",
    "integer.h",
    "floating.h",
    "complex.h",
    "classic.h",
)
_SUFFIX = {
    "bool": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "f32", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
}  # fmt: skip
# What <math.h> and <complex.h> give, and how they spell it per compute dtype.
_LIBM_REAL = frozenset(
    ("exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh"
     " arctanh arctan2 pow ceil floor trunc rint round fabs hypot fmod copysign erf erfc tgamma lgamma j0 j1").split()
)  # fmt: skip
_LIBM_COMPLEX = frozenset(
    ("exp log sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh pow"
     " real imag abs arg conj").split()
)  # fmt: skip


class Snippet:
    """A named block of C and the names of the blocks that it needs.

    Examples
    --------
    >>> snippets()["log1p_pair_f64"].needs
    ('log_split_f64',)
    """

    def __init__(self, name: str, needs: tuple[str, ...], write: Callable[[], str]):
        self.name, self.needs, self._write = name, needs, write

    @cached_property
    def text(self) -> str:
        """Without the line that names the block; written out when it is first asked for."""
        return self._write().partition("\n")[2].strip("\n") + "\n"


@lru_cache(maxsize=1)
def snippets() -> dict[str, Snippet]:
    """All blocks, by name, in the order in which they may be emitted.

    Examples
    --------
    >>> "tanh_f64" in snippets()
    True
    """
    found: dict[str, Snippet] = {}
    for file in _FILES:
        for first, write in blocks(_source(file)):
            mark = _MARK.match(first)
            if mark is None:  # what the file says at its head
                continue
            name, needs = mark.group(1), tuple((mark.group(2) or "").split())
            unknown = [need for need in needs if need not in found]
            if unknown or name in found:
                raise ValueError(f"{file}: block {name!r} repeats a name or needs later blocks {unknown}")
            found[name] = Snippet(name, needs, write)
    return found


def header(file: str) -> str:
    """Return a header of this folder, with what it says once for 64 and 32 bits written for both.

    Examples
    --------
    >>> "double th_exp_f64(double x)" in header("exponential.h"), "float th_exp_f32(float x)" in header("exponential.h")
    (True, True)
    """
    return written_out(_source(file))


def _source(file: str) -> str:
    with open(os.path.join(_HERE, file), encoding="ascii") as text:
        return text.read()


def support(names: Iterable[str]) -> tuple[str, ...]:
    """The text of the named blocks and of all that they need, in dependency order.

    Parameters
    ----------
    names : iterable of str
        Names of blocks.

    Returns
    -------
    tuple of str
        Each block once; blocks come after those that they need.

    Examples
    --------
    >>> len(support(["exp_f64", "tanh_f64"])) < len(support(["exp_f64"])) + len(support(["tanh_f64"]))
    True
    """
    table = snippets()
    wanted: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending.extend(table[name].needs)
    return tuple(snippet.text for snippet in table.values() if snippet.name in wanted)


def symbol(function: str, dtype: str) -> tuple[str, str | None] | None:
    """How a function is called in C for one dtype.

    Parameters
    ----------
    function : str
        NumPy's name of the function, or the name of a helper of this folder.
    dtype : str
        The dtype in which the operation computes.

    Returns
    -------
    tuple of (str, str or None), or None
        The C name and the block that defines it (None: the C library does).
        None altogether if this dtype has no such function.

    Examples
    --------
    >>> symbol("ceil", "float32")
    ('ceilf', None)
    >>> symbol("floor_div", "int16")
    ('th_floor_div_i16', 'floor_div_i16')
    >>> symbol("no_such", "float64") is None
    True
    """
    block = f"{function}_{_SUFFIX[dtype]}"
    if block in snippets():
        return f"th_{block}", block
    spelled = libm(function, dtype)
    if spelled is not None:
        return spelled, None
    if dtype in ("complex64", "complex128") and function in _LIBM_COMPLEX:
        short = re.sub("^arc", "a", function)
        named = short if short == "conj" else f"c{short}"
        return named + ("f" if dtype == "complex64" else ""), None
    return None


def names() -> list[str]:
    """Return the names by which a C form may call functions.

    Examples
    --------
    >>> {"arctan", "sigmoid", "log1p"} <= set(names())
    True
    """
    suffix = re.compile(f"_({'|'.join(set(_SUFFIX.values()))})$")
    return sorted({suffix.sub("", block) for block in snippets() if suffix.search(block)} | _LIBM_REAL | _LIBM_COMPLEX)


def libm(function: str, dtype: str) -> str | None:
    """Return what the C library calls a function of real floats, or None if it has none.

    Examples
    --------
    >>> libm("arctan2", "float32"), libm("sigmoid", "float64")
    ('atan2f', None)
    """
    if function not in _LIBM_REAL or dtype not in ("float64", "float32", "float16"):
        return None
    return re.sub("^arc", "a", function) + ("" if dtype == "float64" else "f")

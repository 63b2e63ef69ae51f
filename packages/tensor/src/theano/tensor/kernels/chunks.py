"""Loops that read and write bytes in chunks, so that a compiler fills its vectors with the wide numbers beside them.

GCC takes as many elements at a time as the narrowest operand fills a vector with. Beside one operand of bytes, float64
then takes eight registers for each value, and all of them spill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from theano.codegen.text import CText
from theano.scalar.ctypes import compute_type
from theano.tensor.kernels.body import Body

CHUNK = 128
"""Elements that are converted at a time: their buffer stays in the first cache."""


def wide_type(body: Body, dtypes: Iterable[str]) -> str:
    """Return the C type that stands for bytes in a loop, or "" where they stay what they are.

    Parameters
    ----------
    body : Body
        What is computed. Converting pays where it calls functions that a compiler can widen.
    dtypes : iterable of str
        Those of all operands.

    Examples
    --------
    >>> from theano.scalar import exp
    >>> from theano.tensor.kernels.body import body_of
    >>> body = body_of(exp, ["x"], ["float64"], ["y"], ["float64"])
    >>> wide_type(body, ["float64", "bool", "float64"])
    'int64_t'
    """
    sizes = {np.dtype(dtype).itemsize for dtype in dtypes}
    widest = max(sizes)
    if 1 not in sizes or widest not in (4, 8) or not body.support or body.sequential:
        return ""
    return f"int{8 * widest}_t"


def is_narrow(dtype: str, wide: str) -> bool:
    """Return whether a loop takes numbers of a dtype as `wide_type` says."""
    return bool(wide) and np.dtype(dtype).itemsize == 1


def type_in_loop(dtype: str, wide: str) -> str:
    """Return the C type of a number in a loop.

    Examples
    --------
    >>> type_in_loop("bool", "int64_t"), type_in_loop("float32", "int64_t"), type_in_loop("bool", "")
    ('int64_t', 'float', 'uint8_t')
    """
    return wide if is_narrow(dtype, wide) else compute_type(dtype)


@contextmanager
def elements(
    c: CText, index: str, count: str, vector: int, read: Sequence[str], written: Sequence[str], wide: str
) -> Iterator[str]:
    """Write a loop over elements in which ``NAME_wide[INDEX]`` holds what each narrow operand has.

    Parameters
    ----------
    c : CText
    index, count : str
        The loop's variable, and how many elements come.
    vector : int
        How many of them are taken at a time; the remainder is for the caller.
    read, written : sequence of str
        Names of narrow operands. Without any, the loop is a plain one.
    wide : str
        The C type of the buffers.

    Yields
    ------
    str
        Where the element is, in operands that are not narrow.
    """
    if not (read or written):
        c("TH_INDEPENDENT")
        with c.block(f"for (int64_t {index} = 0; {index} < {_whole(count, vector)}; ++{index})"):
            yield index
        return
    with c.block(f"for (int64_t from = 0; from < {_whole(count, vector)}; from += {CHUNK})"):
        c(f"const int64_t some = {count} - from < {CHUNK} ? {count} - from : {CHUNK};")
        loop = f"for (int64_t {index} = 0; {index} < {_whole('some', vector)}; ++{index})"
        c.extend(f"{wide} {name}_wide[{CHUNK}];" for name in (*read, *written))
        for name in read:
            c(loop, f"    {name}_wide[{index}] = {name}[from + {index}];")
        c("TH_INDEPENDENT")
        with c.block(loop):
            yield f"from + {index}"
        for name in written:
            c(loop, f"    {name}[from + {index}] = {name}_wide[{index}];")


def _whole(count: str, vector: int) -> str:
    """Return how many elements whole vectors hold."""
    return count if vector == 1 else f"({count} & -{vector})"

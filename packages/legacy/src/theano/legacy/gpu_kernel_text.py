"""Pieces of the text of kernels: loads of half precision, sums and softmax by a group of work-items.

Programs put them into kernels of their own (`theano.gpuarray.programs`), which are in libgpuarray's words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Manner = Callable[[str, str], str]


def work_dtype(dtype: str) -> str:
    """Return in which dtype kernels compute with numbers of ``dtype``.

    Examples
    --------
    >>> work_dtype("float16"), work_dtype("float64")
    ('float32', 'float64')
    """
    return "float32" if dtype == "float16" else dtype


def load_w(dtype: str) -> str:
    """Return what makes of a stored number one to compute with.

    Examples
    --------
    >>> load_w("float16"), load_w("float32")
    ('ga_half2float', '')
    """
    return "ga_half2float" if dtype == "float16" else ""


def write_w(dtype: str) -> str:
    """Return what makes of a computed number one to store.

    Examples
    --------
    >>> write_w("float16"), write_w("float32")
    ('ga_float2half', '')
    """
    return "ga_float2half" if dtype == "float16" else ""


def nvcc_kernel(name: str, params: Sequence[str], body: Any) -> str:
    """Return the text of a kernel.

    Parameters
    ----------
    name : str
    params : list of str
        Declarations of its arguments.
    body : str, or lists of str in lists
        Statements.

    Examples
    --------
    >>> print(nvcc_kernel("f", ["GLOBAL_MEM ga_float *x"], ["x[0] = 1", ["x[1] = 2;"]]))
    KERNEL void f(GLOBAL_MEM ga_float *x)
    {
    x[0] = 1;
    x[1] = 2;
    }
    """
    lines = "\n".join(_statement(line) for line in _flat(body))
    return f"KERNEL void {name}({', '.join(params)})\n{{\n{lines}\n}}"


def _flat(body: Any) -> list[str]:
    return [body] if isinstance(body, str) else [line for part in body for line in _flat(part)]


def _statement(line: str) -> str:
    text = line.strip()
    return text if not text or text[-1] in ";{}" or text.startswith("#") else f"{text};"


def code_version(version: Any) -> Callable[[Any], Any]:
    """Return a decorator that gives a function an attribute ``code_version``.

    Examples
    --------
    >>> code_version((1,))(nvcc_kernel).code_version
    (1,)
    """

    def decorate(f: Any) -> Any:
        f.code_version = version
        return f

    return decorate


def inline_reduce(N: str, buf: str, pos: str, count: str, manner_fn: Manner) -> str:
    """Return statements that take the first N numbers of local memory together, into the first one.

    Parameters
    ----------
    N, buf, pos, count : str
        How many numbers; where they are; the number of a work-item, and how many there are.
    manner_fn : callable
        From the texts of two numbers to that of both together.

    Examples
    --------
    >>> "x[p] = (x[p]) + (x[th_n])" in inline_reduce("n", "x", "p", "c", lambda a, b: f"({a}) + ({b})")
    True
    """
    mine, pair = f"{buf}[{pos}]", f"{buf}[th_left - 1 - {pos}]"
    return f"""{{
    local_barrier();
    for (int th_n = {pos} + {count}; th_n < {N}; th_n += {count})
        {mine} = {manner_fn(mine, f"{buf}[th_n]")};
    local_barrier();
    for (int th_left = {N} < {count} ? {N} : {count}; th_left > 1; th_left = (th_left + 1) / 2) {{
        if ({pos} < th_left / 2)
            {mine} = {manner_fn(mine, pair)};
        local_barrier();
    }}
}}"""


def _sum(a: str, b: str) -> str:
    return f"({a}) + ({b})"


def _product(a: str, b: str) -> str:
    return f"({a}) * ({b})"


def _largest(a: str, b: str) -> str:
    return f"({a}) > ({b}) || ({a}) != ({a}) ? ({a}) : ({b})"


def _smallest(a: str, b: str) -> str:
    return f"({a}) < ({b}) || ({a}) != ({a}) ? ({a}) : ({b})"


def inline_reduce_max(N: str, buf: str, pos: str, count: str) -> str:
    """Return statements for the largest of N numbers (`inline_reduce`).

    Examples
    --------
    >>> "local_barrier" in inline_reduce_max("n", "x", "p", "c")
    True
    """
    return inline_reduce(N, buf, pos, count, _largest)


def inline_reduce_sum(N: str, buf: str, pos: str, count: str) -> str:
    """Return statements for the sum of N numbers (`inline_reduce`).

    Examples
    --------
    >>> "local_barrier" in inline_reduce_sum("n", "x", "p", "c")
    True
    """
    return inline_reduce(N, buf, pos, count, _sum)


def inline_reduce_min(N: str, buf: str, pos: str, count: str) -> str:
    """Return statements for the smallest of N numbers (`inline_reduce`).

    Examples
    --------
    >>> "local_barrier" in inline_reduce_min("n", "x", "p", "c")
    True
    """
    return inline_reduce(N, buf, pos, count, _smallest)


def inline_reduce_prod(N: str, buf: str, pos: str, count: str) -> str:
    """Return statements for the product of N numbers (`inline_reduce`).

    Examples
    --------
    >>> "local_barrier" in inline_reduce_prod("n", "x", "p", "c")
    True
    """
    return inline_reduce(N, buf, pos, count, _product)


def _exp(dtype: str) -> str:
    return "exp" if dtype == "float64" else "expf"


def _word(dtype: str) -> str:
    return "ga_double" if dtype == "float64" else "ga_float"


def inline_softmax(
    N: str, buf: str, buf2: str, threadPos: str, threadCount: str, dtype: str = "float32"
) -> str:
    """Return statements that make of N numbers in local memory their softmax.

    Parameters
    ----------
    N, buf, buf2, threadPos, threadCount : str
        How many numbers; where they are; local memory for as many; the number of a work-item, and how many there are.
    dtype : str
        Of the numbers in local memory.

    Examples
    --------
    >>> "expf" in inline_softmax("n", "x", "y", "p", "c")
    True
    """
    each = f"for (int th_k = {threadPos}; th_k < {N}; th_k += {threadCount})"
    word = _word(dtype)
    return f"""{{
    {each}
        {buf2}[th_k] = {buf}[th_k];
    {inline_reduce_max(N, buf2, threadPos, threadCount)}
    {word} th_largest = {buf2}[0];
    local_barrier();
    {each}
        {buf2}[th_k] = {buf}[th_k] = {_exp(dtype)}({buf}[th_k] - th_largest);
    {inline_reduce_sum(N, buf2, threadPos, threadCount)}
    {word} th_total = {buf2}[0];
    local_barrier();
    {each}
        {buf}[th_k] /= th_total;
    local_barrier();
}}"""


def inline_reduce_fixed_shared(
    N: str, buf: str, x: str, stride_x: str, load_x: str, pos: str, count: str, manner_fn: Manner,
    manner_init: Callable[[str], str], b: str = "", stride_b: str = "", load_b: str = "", dtype: str = "float32",
) -> str:  # fmt: skip
    """Return statements that take N numbers of global memory together, into the first one of local memory.

    Parameters
    ----------
    N, buf, pos, count
        As of `inline_reduce`; ``buf`` has room for a number of each work-item.
    x, stride_x, load_x : str
        Where the numbers are, how many places from one to the next, and what makes of a stored one one to compute with.
    manner_fn : callable
        As of `inline_reduce`.
    manner_init : callable
        From the text of a number to that of what is taken.
    b, stride_b, load_b : str
        Likewise of what is added to each number first.
    dtype : str
        Of the numbers in local memory.

    Examples
    --------
    >>> "b[th_k * sb]" in inline_reduce_fixed_shared("n", "l", "x", "s", "", "p", "c", _sum, str, "b", "sb")
    True
    """
    number = f"{load_x}({x}[th_k * {stride_x}])"
    if b:
        number += f" + {load_b}({b}[th_k * {stride_b}])"
    taken, word = manner_init(number), _word(dtype)
    return f"""{{
    local_barrier();
    if ({pos} < {N}) {{
        int th_k = {pos};
        {word} th_mine = {taken};
        for (th_k += {count}; th_k < {N}; th_k += {count}) {{
            {word} th_next = {taken};
            th_mine = {manner_fn("th_mine", "th_next")};
        }}
        {buf}[{pos}] = th_mine;
    }}
    {inline_reduce(f"({N} < {count} ? {N} : {count})", buf, pos, count, manner_fn)}
}}"""


def inline_reduce_fixed_shared_max(
    N: str, buf: str, x: str, stride_x: str, load_x: str, pos: str, count: str, b: str = "", stride_b: str = "",
    load_b: str = "", dtype: str = "float32",
) -> str:  # fmt: skip
    """Return statements for the largest of N numbers of global memory (`inline_reduce_fixed_shared`).

    Examples
    --------
    >>> "local_barrier" in inline_reduce_fixed_shared_max("n", "l", "x", "s", "", "p", "c")
    True
    """
    return inline_reduce_fixed_shared(
        N, buf, x, stride_x, load_x, pos, count, _largest, str, b, stride_b, load_b, dtype
    )


def inline_softmax_fixed_shared(
    N: str, buf: str, x: str, stride_x: str, load_x: str, sm: str, sm_stride: str, write_sm: str, threadPos: str,
    threadCount: str, b: str = "", stride_b: str = "", load_b: str = "", dtype: str = "float32",
) -> str:  # fmt: skip
    """Return statements that write the softmax of N numbers of global memory to global memory.

    Parameters
    ----------
    N, buf, x, stride_x, load_x, b, stride_b, load_b, dtype
        As of `inline_reduce_fixed_shared`.
    sm, sm_stride, write_sm : str
        Where the results go, how many places from one to the next, and what makes of a computed number a stored one.
    threadPos, threadCount : str
        The number of a work-item, and how many there are.

    Examples
    --------
    >>> "expf" in inline_softmax_fixed_shared("n", "l", "x", "1", "", "y", "1", "", "p", "c")
    True
    """
    exp, word = _exp(dtype), _word(dtype)
    more = (b, stride_b, load_b, dtype)
    number = f"{load_x}({x}[th_k * {stride_x}])" + (f" + {load_b}({b}[th_k * {stride_b}])" if b else "")
    total = inline_reduce_fixed_shared(
        N, buf, x, stride_x, load_x, threadPos, threadCount, _sum, lambda a: f"{exp}({a} - th_largest)", *more
    )
    return f"""{{
    {inline_reduce_fixed_shared_max(N, buf, x, stride_x, load_x, threadPos, threadCount, *more)}
    {word} th_largest = {buf}[0];
    local_barrier();
    {total}
    {word} th_total = {buf}[0];
    local_barrier();
    for (int th_k = {threadPos}; th_k < {N}; th_k += {threadCount})
        {sm}[th_k * {sm_stride}] = {write_sm}({exp}({number} - th_largest) / th_total);
    local_barrier();
}}"""
